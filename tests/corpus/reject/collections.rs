//! What Rust's library allocates: nothing more is said of what is done with it.

#[millstream::program]
pub mod program {
    use std::collections::HashMap;

    #[task]
    pub fn count(n: u32) -> u32 {
        let mut m: HashMap<u32, u32> = HashMap::new();
        m.insert(1, n);
        m[&1]
    }
}

//~ 9:20: there is no type `HashMap` in this program
//~   help: nothing is allocated in a task: use an array, or pass a slice
//~ 9:40: there is no function `std::collections::HashMap::new` in the task language
//~   help: nothing is allocated in a task: use an array, or pass a slice
