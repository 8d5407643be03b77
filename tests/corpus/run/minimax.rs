//! Minimax of tic-tac-toe, by two tasks that call each other, and counts of games.
#[millstream::program]
pub mod program {
    const LINES: [u16; 8] = [0o7, 0o70, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124];

    fn won(side: u16) -> bool {
        for line in LINES {
            if side & line == line { return true; }
        }
        false
    }

    #[task]
    pub fn maximize(x: u16, o: u16) -> i8 {
        if won(o) { return -1; }
        if (x | o) == 0o777 { return 0; }
        let mut best = i8::MIN;
        for i in 0..9u16 {
            if (x | o) >> i & 1 == 0 {
                best = best.max(spawn!(minimize(x | 1 << i, o)));
            }
        }
        sync!();
        best
    }

    #[task]
    pub fn minimize(x: u16, o: u16) -> i8 {
        if won(x) { return 1; }
        if (x | o) == 0o777 { return 0; }
        let mut best = i8::MAX;
        for i in 0..9u16 {
            if (x | o) >> i & 1 == 0 {
                best = best.min(spawn!(maximize(x, o | 1 << i)));
            }
        }
        sync!();
        best
    }

    /// Games that X wins, that O wins, drawn games.
    #[task]
    pub fn games(own: u16, other: u16, turn: bool) -> [u32; 3] {
        if won(other) {
            return if turn { [0, 1, 0] } else { [1, 0, 0] };
        }
        if own | other == 0o777 {
            return [0, 0, 1];
        }
        let mut parts = [[0u32; 3]; 9];
        for i in 0..9 {
            if (own | other) & (1 << i) == 0 {
                parts[i] = spawn!(games(other, own | (1 << i), !turn));
            }
        }
        sync!();
        let mut sum = [0; 3];
        for p in &parts {
            for k in 0..3 { sum[k] += p[k]; }
        }
        sum
    }

    #[task]
    pub fn tictactoe(x: u16, o: u16) -> (i8, [u32; 3]) {
        let value = spawn!(maximize(x, o));
        let all = spawn!(games(x, o, true));
        sync!();
        (value, all)
    }
}

millstream_tests::cases! {
    tictactoe(0o21, 0o102);
}
