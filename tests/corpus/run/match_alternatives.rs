//! Names in patterns that are alternatives of each other.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug)]
    pub struct Move {
        pub kind: u8,
        pub by: (i32, i32),
    }

    fn far(n: i32) -> bool {
        n > 10
    }

    #[task]
    pub fn pairs(a: i32, b: i32) -> i32 {
        match (a, b) {
            (0, n) | (n, 0) => n,
            (1 | 2, n) | (n, 1 | 2) if far(n) => n * 100,
            (x @ 3..=5, y) | (y, x @ 3..=5) => x * 10 + y,
            (n, _) => -n,
        }
    }

    #[task]
    pub fn nested(m: Move, depth: u32) -> i32 {
        match m {
            Move { kind: 0 | 1, by: (0, n) | (n, 0) } => n,
            Move { kind: k @ (2 | 3), by: (n, 7) } | Move { by: (7, n), kind: k } => n + k as i32 * 1000,
            Move { by: (x, y), .. } if depth > 0 => {
                let next = spawn!(nested(Move { kind: m.kind ^ 1, by: (x - 1, y / 2) }, depth - 1));
                sync!();
                next + 1
            }
            _ => -1,
        }
    }
}

millstream_tests::cases! {
    pairs(0, 5);
    pairs(6, 0);
    pairs(1, 20);
    pairs(30, 2);
    pairs(2, 4);
    pairs(9, 3);
    pairs(1, 9);
    nested(program::Move { kind: 1, by: (4, 0) }, 3);
    nested(program::Move { kind: 3, by: (4, 7) }, 3);
    nested(program::Move { kind: 9, by: (7, 4) }, 3);
    nested(program::Move { kind: 5, by: (5, 40) }, 3);
    nested(program::Move { kind: 1, by: (5, 40) }, 9);
}
