//! In a parallel loop results gather in numbers.

#[millstream::program]
pub mod program {
    use std::ops::AddAssign;

    #[derive(Clone, Copy, PartialEq, Debug, Default)]
    pub struct Tally {
        pub wins: u32,
        pub losses: u32,
    }

    impl AddAssign for Tally {
        fn add_assign(&mut self, other: Self) {
            self.wins += other.wins;
            self.losses += other.losses;
        }
    }

    #[task]
    pub fn play(n: u32) -> Tally {
        Tally { wins: n, losses: 1 }
    }

    #[task]
    pub fn all(n: u32) -> Tally {
        let mut tally = Tally::default();
        #[parallel]
        for i in 0..n {
            tally += spawn!(play(i));
        }
        tally
    }
}

//~ 30:22: `tally` is changed by several rounds of a parallel loop at once
//~   help: here numbers gather, each in a variable of its own: `let r = spawn!(..); sync!();`, and then `x += r.x;` for each field; or leave out `#[parallel]`
