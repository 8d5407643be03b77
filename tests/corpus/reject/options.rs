//! A program option that is misspelled.

#[millstream::program(unchequed)]
pub mod program {
    #[task]
    pub fn run() {}
}

//~ 3:23: there is no program option `unchequed`
//~   help: did you mean `unchecked`?
