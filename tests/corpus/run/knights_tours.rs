//! Knight's tours counted by backtracking with a visited set.
#[millstream::program]
pub mod program {
    const MOVES: [(i8, i8); 8] = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];

    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Square {
        pub x: i8,
        pub y: i8,
    }

    impl Square {
        fn step(self, (dx, dy): (i8, i8), n: i8) -> Option<Square> {
            let next = Square { x: self.x + dx, y: self.y + dy };
            let inside = (0..n).contains(&next.x) && (0..n).contains(&next.y);
            inside.then_some(next)
        }

        fn bit(self, n: i8) -> u64 {
            1 << (self.y * n + self.x)
        }
    }

    #[task]
    pub fn tours(at: Square, seen: u64, n: i8) -> u64 {
        let seen = seen | at.bit(n);
        if seen.count_ones() == (n * n) as u32 {
            return 1;
        }
        let mut total = 0;
        for step in MOVES {
            if let Some(next) = at.step(step, n) && seen & next.bit(n) == 0 {
                total += spawn!(tours(next, seen, n));
            }
        }
        sync!();
        total
    }
}
millstream_tests::cases! {
    // All but the last row of a board of five by five.
    tours(program::Square { x: 0, y: 0 }, 0x1f0_0000, 5);
}
