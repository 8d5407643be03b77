// check(-3)
// `assert_ne!` names the value.

#[millstream::program]
pub mod program {
    #[task]
    pub fn check(a: i8) {
        assert_ne!(a, -3);
    }
}

//~ assertion failed: a != -3: both are -3, in `check` at corpus/fault/assert_differ.rs:8:9
