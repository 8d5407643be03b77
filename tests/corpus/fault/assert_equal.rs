// check(0.5; 2.5)
// `assert_eq!` names both values.

#[millstream::program]
pub mod program {
    #[task]
    pub fn check(a: f32, b: f32) {
        assert_eq!(a + 1.0, b);
    }
}

//~ assertion failed: a + 1.0 == b: left is 1.5, right is 2.5, in `check` at corpus/fault/assert_equal.rs:8:9
