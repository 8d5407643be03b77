//! Fields of a local struct and single variables are lent by `&mut`.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug)]
    pub struct Pair {
        pub left: u64,
        pub right: u64,
    }

    #[task]
    pub fn set(to: &mut u64, value: u64) {
        *to += value * value;
    }

    #[task]
    pub fn lend(n: u64) -> (Pair, u64) {
        let mut p = Pair { left: 1, right: 2 };
        let mut single = 3;
        spawn!(set(&mut p.left, n));
        spawn!(set(&mut p.right, n + 1));
        spawn!(set(&mut single, n + 2));
        sync!();
        p.left += single;
        (p, single)
    }
}

millstream_tests::cases! {
    lend(1);
    lend(9);
}
