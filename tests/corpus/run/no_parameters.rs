//! Tasks without parameters, and a program that is only one.

#[millstream::program]
pub mod program {
    #[task]
    pub fn seven() -> u32 {
        7
    }

    #[task]
    pub fn nothing() {}

    #[task]
    pub fn main() -> u32 {
        spawn!(nothing());
        let a = spawn!(seven());
        let b = spawn!(seven());
        sync!();
        a * b
    }
}

millstream_tests::cases! {
    main();
    seven();
    nothing();
}
