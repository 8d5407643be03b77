//! Directions as functions that helpers take; bits that a function gives by `from_fn`.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Position { pub own: u64, pub opp: u64 }


    const NOT_A: u64 = 0xfefefefefefefefe;
    const NOT_H: u64 = 0x7f7f7f7f7f7f7f7f;

    fn north(b: u64) -> u64 { b << 8 }
    fn south(b: u64) -> u64 { b >> 8 }
    fn east(b: u64) -> u64 { (b & NOT_H) << 1 }
    fn west(b: u64) -> u64 { (b & NOT_A) >> 1 }
    fn ne(b: u64) -> u64 { north(east(b)) }
    fn nw(b: u64) -> u64 { north(west(b)) }
    fn se(b: u64) -> u64 { south(east(b)) }
    fn sw(b: u64) -> u64 { south(west(b)) }

    fn ray(from: u64, opp: u64, shift: fn(u64) -> u64) -> u64 {
        let mut line = shift(from) & opp;
        for _ in 0..5 { line |= shift(line) & opp; }
        line
    }
    impl Position {
        pub const START: Self = Self { own: 1 << 28 | 1 << 35, opp: 1 << 27 | 1 << 36 };
        fn direction(&self, f: fn(u64) -> u64) -> u64 { f(ray(self.own, self.opp, f)) & !(self.own | self.opp) }
        fn moves(&self) -> u64 {
            self.direction(north) | self.direction(south) | self.direction(east) | self.direction(west)
                | self.direction(ne) | self.direction(nw) | self.direction(se) | self.direction(sw)
        }
        fn flip_along(&self, m: u64, f: impl Fn(u64) -> u64) -> u64 {
            let line = { let mut l = f(m) & self.opp; for _ in 0..5 { l |= f(l) & self.opp; } l };
            if f(line) & self.own != 0 { line } else { 0 }
        }
        fn play(&self, m: u64) -> Self {
            let flips = self.flip_along(m, north) | self.flip_along(m, south) | self.flip_along(m, east) | self.flip_along(m, west)
                | self.flip_along(m, ne) | self.flip_along(m, nw) | self.flip_along(m, se) | self.flip_along(m, sw);
            Self { own: self.opp & !flips, opp: self.own | m | flips }
        }
        const fn pass(self) -> Self { Self { own: self.opp, opp: self.own } }
    }

    fn bits(mut b: u64) -> impl Iterator<Item = u64> {
        std::iter::from_fn(move || {
            if b == 0 { return None; }
            let low = b & b.wrapping_neg();
            b ^= low;
            Some(low)
        })
    }

    #[task]
    pub fn perft(p: Position, depth: u32, passed: bool) -> u64 {
        if depth == 0 { return 1; }
        let moves = p.moves();
        if moves == 0 {
            if passed { return 1; }
            return perft(p.pass(), depth - 1, true);
        }
        let mut nodes = 0;
        for m in bits(moves) { nodes += spawn!(perft(p.play(m), depth - 1, false)); }
        sync!();
        nodes
    }
    #[task]
    pub fn start(depth: u32) -> u64 {
        let n = spawn!(perft(Position::START, depth, false));
        sync!();
        n
    }
}

millstream_tests::cases! {
    start(5);
    start(6);
}
