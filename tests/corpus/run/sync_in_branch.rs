//! Some ways through a task sync and others do not.

#[millstream::program]
pub mod program {
    #[task]
    pub fn leaf(n: u32) -> u32 {
        n + 1
    }

    #[task]
    pub fn maybe(n: u32) -> u32 {
        let mut out = n;
        if n % 2 == 0 {
            let a = spawn!(leaf(n));
            if n % 4 == 0 {
                sync!();
                out += a;
                let b = spawn!(leaf(a));
                sync!();
                out += b;
            } else {
                sync!();
                out += a * 10;
            }
        }
        out * 2
    }
}

millstream_tests::cases! {
    maybe(1);
    maybe(2);
    maybe(4);
}
