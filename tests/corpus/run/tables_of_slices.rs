//! Constants that hold slices, alone and in tuples; byte strings as patterns; and references to references where one is taken.
#[millstream::program]
pub mod program {
    #[derive(Clone, Copy)]
    struct Edge {
        to: usize,
        length: u32,
    }

    const NEAR: [&[usize]; 5] = [&[1, 4], &[0, 2], &[1, 3, 0], &[], &[2]];
    const ROADS: &[&[Edge]] = &[&[Edge { to: 1, length: 5 }, Edge { to: 2, length: 9 }], &[Edge { to: 2, length: 1 }], &[]];
    static RULES: [(u8, &[u8], &[u32]); 3] = [(b'A', b"AB", &[1, 2]), (b'B', b"A", &[]), (b'C', b"CACB", &[7])];
    const NAMES: [&[u8]; 3] = [b"add", b"sub", b"negate"];

    mod inner {
        pub const WEIGHTS: [&[i8]; 2] = [&[-1, 2], &[3]];

        pub fn of(row: usize) -> i32 {
            WEIGHTS[row].iter().map(|x| i32::from(*x)).sum()
        }
    }

    use inner::WEIGHTS;

    fn rule(letter: u8) -> &'static [u8] {
        RULES.iter().find(|(of, ..)| *of == letter).map_or(&[], |&(_, by, _)| by)
    }

    fn grown(letter: u8, steps: u32) -> u64 {
        match steps {
            0 => 1,
            _ => rule(letter).iter().map(|&next| grown(next, steps - 1)).sum(),
        }
    }

    fn farthest(from: usize) -> u32 {
        ROADS[from].iter().map(|road| road.length + farthest(road.to)).max().unwrap_or(0)
    }

    /// How many ways of so many steps there are.
    #[task]
    pub fn ways(row: &[usize], steps: u32) -> u64 {
        if steps == 0 {
            return 1;
        }
        let mut all = 0;
        for &next in row {
            all += spawn!(ways(NEAR[next], steps - 1));
        }
        sync!();
        all
    }

    #[task]
    pub fn tables(from: usize, steps: u32) -> (u64, u64, u32, i32, usize) {
        let all = spawn!(ways(NEAR[from], steps));
        sync!();
        let rows = NEAR.iter().enumerate().map(|(i, row)| (i + 1) * row.iter().sum::<usize>()).sum::<usize>();
        let longest = NAMES.iter().map(|name| name.len()).max().unwrap_or(0);
        let mut numbers = 0;
        for (_, _, row) in RULES {
            numbers = numbers * 3 + row.len();
        }
        let weights = inner::of(0) * 10 + inner::of(1) + i32::from(inner::WEIGHTS[1][0]) + i32::from(WEIGHTS[0][1]);
        (all, grown(b'C', steps), farthest(0), weights, rows * 100 + longest * 10 + numbers + RULES[2].2.len() + NEAR.len())
    }

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum Op {
        Add,
        Less,
        Call(usize),
        Unknown,
    }

    fn op(name: &[u8]) -> Op {
        match name {
            b"add" | b"plus" => Op::Add,
            b"sub" | b"neg" if name.len() == 3 => Op::Less,
            b"" => Op::Unknown,
            [b'f', rest @ ..] => Op::Call(rest.len()),
            _ => Op::Unknown,
        }
    }

    fn length(name: &[u8]) -> usize {
        name.len()
    }

    #[task]
    pub fn named(text: &[u8]) -> (Op, u32, usize, Option<usize>) {
        let names = [text, b"add", &text[1..], b"fgh"];
        let adds = names.iter().filter(|name| op(name) == Op::Add).count() as u32;
        let lengths = names.iter().map(|name| length(name)).sum();
        let pair = [text[0], text[1]];
        let is_it = if let b"su" = &pair { 10 } else { 20 };
        (op(text), adds + is_it, lengths, NAMES.iter().position(|name| *name == text))
    }
}
millstream_tests::cases! {
    tables(0, 3);
    tables(2, 4);
    named(b"sub");
    named(b"plus");
    named(b"fibonacci");
}
