//! Constants of structs that hold references, and of integers of 128 bits that are computed.

#[millstream::program]
pub mod program {
    const ALL: [Piece; 2] = [LONG, Piece { cells: &[(5, 5)], score: 1 }];
    const LONG: Piece = Piece { cells: &[(0, 1), (1, 2)], score: 3 };

    #[derive(Clone, Copy)]
    struct Piece {
        cells: &'static [(i32, i32)],
        score: u32,
    }

    #[task]
    pub fn pieces(n: usize) -> (i32, i32) {
        let mut all = 0;
        for piece in &ALL {
            for (x, y) in piece.cells {
                all += x * y + piece.score as i32;
            }
        }
        for piece in ALL.iter().rev() {
            all = all * 2 + piece.score as i32;
        }
        let (one, best) = (&ALL[n], ALL.iter().max_by_key(|p| p.score).unwrap());
        (all + LONG.cells.len() as i32, one.cells[0].0 * 100 + ALL[0].cells[1].1 * 10 + best.cells[0].1)
    }

    #[derive(Clone, Copy)]
    pub struct Rule<'a> {
        pub of: &'a [u32],
        pub name: &'a [u8; 2],
        pub add: u32,
    }

    static RULES: &[Rule] = &[Rule { of: &[1, 2, 3], name: b"ab", add: 5 }, Rule { of: &[], name: b"cd", add: 1 }];
    const FIRST: &Rule = &Rule { of: &[7], name: b"ef", add: BASE * 2 };
    const BASE: u32 = 4;

    fn total(rules: &[Rule]) -> u32 {
        rules.iter().map(|r| r.of.iter().sum::<u32>() + r.add).sum()
    }

    fn named(name: &[u8]) -> Option<&'static [u32]> {
        for rule in RULES {
            if rule.name == name {
                return Some(rule.of);
            }
        }
        None
    }

    #[task]
    pub fn child(rule: Rule, n: u32) -> u32 {
        rule.of.iter().sum::<u32>() * n + rule.add
    }

    #[task]
    pub fn rules(n: u32) -> (u32, u32, u32) {
        let mut all = 0;
        for (i, rule) in RULES.iter().enumerate() {
            all += spawn!(child(*rule, n + i as u32));
        }
        let kept = &RULES[0];
        let rest: &[Rule] = &RULES[1..];
        sync!();
        (
            all + kept.add + kept.of[2],
            total(RULES) * 100 + total(rest) + child(*FIRST, 2),
            named(b"ab").map_or(0, |of| of[1]) + named(b"xx").map_or(10, |of| of[0]) + RULES.len() as u32,
        )
    }

    mod shapes {
        #[derive(Clone, Copy, PartialEq)]
        pub enum Kind {
            Line,
            Square,
        }

        pub struct Turned(pub &'static [(i8, i8)], pub u8);

        pub struct Shape {
            pub kind: Kind,
            pub turns: [Turned; 2],
        }

        impl Shape {
            pub const LINE: Shape =
                Shape { kind: Kind::Line, turns: [Turned(&[(0, 0), (0, 1)], 1), Turned(&[(0, 0), (1, 0)], 2)] };
            pub const ALL: [Self; 2] =
                [Self::LINE, Self { kind: Kind::Square, turns: [Turned(&[(3, 3)], 3), Turned(&[], SIZE)] }];

            pub fn cells(&self, turn: usize) -> &'static [(i8, i8)] {
                self.turns[turn % 2].0
            }
        }

        const SIZE: u8 = 9;
    }

    #[task]
    pub fn turned(n: usize) -> (i32, usize, u8) {
        use shapes::{Kind, Shape};
        let shape = &Shape::ALL[n];
        let sum = shape.cells(1).iter().map(|c| c.0 as i32 * 3 + c.1 as i32).sum();
        let lines = Shape::ALL.iter().filter(|s| s.kind == Kind::Line).count();
        (sum, lines + Shape::LINE.cells(2).len(), shapes::Shape::ALL[1].turns[1].1 + shape.turns[0].1)
    }

    const MASK: u128 = u128::MAX >> 24;
    const STEP: u128 = (1442695040888963407 << 64) | 5;
    const PRIME: u64 = (1 << 61) - 1;
    const SQUARE: u128 = PRIME as u128 * PRIME as u128 % 10u128.pow(30);
    const LOW: i128 = -(1 << 100) / 7 + (-3 as i128);
    const SHIFTED: i128 = (SMALL as i128) << 90 >> 3;
    const SMALL: i16 = -5;

    fn halves(x: u128) -> [u64; 2] {
        [(x >> 64) as u64, x as u64]
    }

    #[task]
    pub fn wide(n: u64) -> [[u64; 2]; 4] {
        let x = (n as u128).wrapping_mul(STEP) & MASK;
        [halves(x ^ !MASK), halves(SQUARE * n as u128), halves(LOW as u128), halves((SHIFTED - n as i128) as u128)]
    }
}

millstream_tests::cases! {
    pieces(0);
    pieces(1);
    rules(3);
    turned(0);
    turned(1);
    wide(6_364_136_223_846_793_005);
}
