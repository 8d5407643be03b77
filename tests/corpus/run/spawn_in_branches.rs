//! Different children in different branches, one sync for all.

#[millstream::program]
pub mod program {
    #[task]
    pub fn double(x: i32) -> i32 {
        x * 2
    }

    #[task]
    pub fn negate(x: i32) -> i32 {
        -x
    }

    #[task]
    pub fn choose(n: i32) -> i32 {
        let mut r = 5;
        match n {
            0 => {}
            1 => r = spawn!(double(20)),
            2 => {
                r = spawn!(negate(20));
            }
            _ => {
                let t = spawn!(double(n));
                sync!();
                r = t + 1;
            }
        }
        sync!();
        r
    }
}

millstream_tests::cases! {
    choose(0);
    choose(1);
    choose(2);
    choose(3);
}
