//! Moves of a board as an iterator that a method gives; alpha and beta.

#[millstream::program]
pub mod program {
    const W: u32 = 7;
    const H: u32 = 6;

    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    #[repr(u8)]
    pub enum Player { First, Second }
    impl Player { const fn other(self) -> Self { match self { Self::First => Self::Second, Self::Second => Self::First } } }
    impl std::ops::Not for Player { type Output = Self; fn not(self) -> Self { self.other() } }

    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
    struct Board { mine: u64, all: u64 }

    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    pub struct Score(i32);
    impl std::ops::Neg for Score { type Output = Score; fn neg(self) -> Score { Score(-self.0) } }
    impl Score { const MIN: Self = Score(-1000); const MAX: Self = Score(1000); const DRAW: Self = Score(0); }

    const ORDER: [u32; 7] = [3, 2, 4, 1, 5, 0, 6];

    impl Board {
        const BOTTOM: u64 = { let mut m = 0; let mut c = 0; while c < W { m |= 1 << (c * (H + 1)); c += 1; } m };
        fn can_play(&self, col: u32) -> bool { self.all & (1 << (H - 1) << (col * (H + 1))) == 0 }
        fn play(self, col: u32) -> Self {
            let all = self.all | (self.all + (1 << (col * (H + 1))));
            Board { mine: self.mine ^ self.all, all }
        }
        fn won(&self) -> bool {
            let other = self.mine ^ self.all;
            [1, H, H + 1, H + 2].iter().any(|&d| { let m = other & (other >> d); m & (m >> (2 * d)) != 0 })
        }
        fn moves(self) -> impl Iterator<Item = Board> { ORDER.into_iter().filter(move |&c| self.can_play(c)).map(move |c| self.play(c)) }
        fn threats(&self) -> i32 { (self.mine.count_ones() as i32) - ((self.mine ^ self.all).count_ones() as i32) + (self.all & Self::BOTTOM).count_ones() as i32 }
    }

    fn negamax(b: Board, depth: u32, mut alpha: Score, beta: Score) -> Score {
        if b.won() { return -Score(100 + depth as i32); }
        if depth == 0 { return Score(b.threats()); }
        let mut best = None;
        for child in b.moves() {
            let score = -negamax(child, depth - 1, -beta, -alpha);
            best = best.max(Some(score));
            alpha = alpha.max(score);
            if alpha >= beta { break; }
        }
        best.unwrap_or(Score::DRAW)
    }

    #[task]
    pub fn search(mine: u64, all: u64, depth: u32) -> i32 {
        let b = Board { mine, all };
        if b.won() { return -100 - depth as i32; }
        if depth <= 3 {
            let Score(s) = negamax(b, depth, Score::MIN, Score::MAX);
            return s;
        }
        let mut worst = i32::MAX;
        for Board { mine, all } in b.moves() { worst = worst.min(spawn!(search(mine, all, depth - 1))); }
        sync!();
        if worst == i32::MAX { 0 } else { -worst }
    }
    #[task]
    pub fn who(n: u32) -> Player {
        let mut p = Player::First;
        for _ in 0..n { p = !p; }
        p
    }
}

millstream_tests::cases! {
    search(0, 0, 6);
    search(1, 129, 5);
    who(3);
}
