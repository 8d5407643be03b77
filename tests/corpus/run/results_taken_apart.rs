//! Names for parts of a child's result, by tuples and structs, one in the other.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Score(pub i32);

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Bounds {
        pub low: i32,
        pub high: Score,
    }

    #[task]
    pub fn search(n: u32) -> (Score, u64) {
        if n == 0 {
            return (Score(1), 1);
        }
        let (Score(a), nodes) = spawn!(search(n - 1));
        sync!();
        (Score(n as i32 - a), nodes + 1)
    }

    #[task]
    pub fn bounds(n: i32) -> Bounds {
        if n == 0 {
            return Bounds {
                low: 3,
                high: Score(4),
            };
        }
        let Bounds {
            low,
            high: Score(h),
        } = spawn!(bounds(n - 1));
        let Bounds { high, .. } = spawn!(bounds(n / 2));
        sync!();
        Bounds {
            low: low.min(n),
            high: Score(h.max(high.0) + n),
        }
    }

    #[task]
    pub fn first(n: u32) -> u64 {
        let (_, nodes) = spawn!(search(n));
        let Bounds { low: l, .. } = spawn!(bounds(n as i32));
        sync!();
        nodes * 10 + l as u64
    }
}

millstream_tests::cases! {
    search(0);
    search(7);
    bounds(9);
    first(4);
}
