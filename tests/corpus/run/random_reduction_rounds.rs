//! Results that come in different rounds: one is looked at before the other child is there, or comes to nothing by an early return.

#[millstream::program]
pub mod program {
    #[task]
    pub fn copied(n: u32) -> u32 {
        if n == 0 {
            return 1;
        }
        let x = spawn!(copied(n - 1));
        sync!();
        let first = x;
        let y = spawn!(copied(n - 1));
        sync!();
        first + y
    }

    #[task]
    pub fn between(n: u32) -> u32 {
        if n == 0 {
            return 1;
        }
        let x = spawn!(between(n - 1));
        sync!();
        let y = spawn!(between(n - 1));
        let first = x;
        sync!();
        first + y
    }

    #[task]
    pub fn left_aside(n: u32, odd: bool) -> u32 {
        if n == 0 {
            return 1;
        }
        let x = spawn!(left_aside(n - 1, !odd));
        sync!();
        let first = x;
        let y = spawn!(left_aside(n - 1, odd));
        sync!();
        if odd {
            return n;
        }
        first + y
    }
}

millstream_tests::cases! {
    copied(0);
    copied(4);
    between(5);
    left_aside(5, false);
    left_aside(5, true);
}
