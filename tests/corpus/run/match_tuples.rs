//! `match` on tuples, bools and structs.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy)]
    struct Cell {
        kind: u8,
        on: bool,
    }

    #[task]
    pub fn pairs(a: i32, b: bool) -> i32 {
        match (a, b) {
            (0, _) => 0,
            (x, true) if x > 10 => x,
            (1 | 2, true) => 12,
            (x, false) => -x,
            (_, true) => 99,
        }
    }

    #[task]
    pub fn cell(kind: u8, on: bool) -> u32 {
        let c = Cell { kind, on };
        match c {
            Cell { on: false, .. } => 0,
            Cell { kind: 0, .. } => 1,
            Cell { kind, on: true } => kind as u32 * 10,
        }
    }

    #[task]
    pub fn flag(b: bool) -> u32 {
        match b {
            true => 1,
            false => 2,
        }
    }
}

millstream_tests::cases! {
    pairs(0, true);
    pairs(11, true);
    pairs(2, true);
    pairs(5, false);
    pairs(5, true);
    cell(3, false);
    cell(0, true);
    cell(3, true);
    flag(true);
    flag(false);
}
