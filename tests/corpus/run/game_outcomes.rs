//! All games of tic-tac-toe: boards of an enum, outcomes as enums in enums, and `Option`s of tuples in an array.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum Square {
        #[default]
        Empty,
        X,
        O,
    }

    impl Square {
        fn other(self) -> Self {
            use Square::*;
            match self {
                X => O,
                O => X,
                Empty => Empty,
            }
        }
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum Outcome {
        Draw,
        Win(Square),
    }

    const LINES: [[usize; 3]; 8] =
        [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]];

    fn winner(b: &[Square; 9]) -> Option<Square> {
        LINES
            .iter()
            .map(|l| l.map(|i| b[i]))
            .find(|[x, y, z]| *x != Square::Empty && x == y && y == z)
            .map(|[x, ..]| x)
    }

    #[derive(Clone, Copy, Debug, PartialEq, Default)]
    pub struct Tally {
        pub x: u32,
        pub o: u32,
        pub draws: u32,
        pub nodes: u32,
    }

    impl std::ops::Add for Tally {
        type Output = Self;
        fn add(self, Tally { x, o, draws, nodes }: Self) -> Self {
            Tally { x: self.x + x, o: self.o + o, draws: self.draws + draws, nodes: self.nodes + nodes }
        }
    }

    #[task]
    pub fn play(board: [Square; 9], turn: Square) -> (Outcome, Tally) {
        if let Some(w) = winner(&board) {
            let mut t = Tally { nodes: 1, ..Tally::default() };
            match w {
                Square::X => t.x = 1,
                Square::O => t.o = 1,
                Square::Empty => unreachable!("nobody wins with nothing"),
            }
            return (Outcome::Win(w), t);
        }
        let mut results: [Option<(Outcome, Tally)>; 9] = [None; 9];
        let mut some = false;
        for (i, _) in board.iter().enumerate().filter(|(_, s)| matches!(s, Square::Empty)) {
            let mut next = board;
            next[i] = turn;
            some = true;
            let r = spawn!(play(next, turn.other()));
            sync!();
            results[i] = Some(r);
        }
        if !some {
            return (Outcome::Draw, Tally { draws: 1, nodes: 1, ..Default::default() });
        }
        let mut best = Outcome::Win(turn.other());
        let mut all = Tally { nodes: 1, ..Default::default() };
        for (outcome, tally) in results.iter().flatten() {
            all = all + *tally;
            best = match (best, *outcome) {
                (b @ Outcome::Win(w), _) if w == turn => b,
                (_, o @ Outcome::Win(w)) if w == turn => o,
                (Outcome::Draw, _) | (_, Outcome::Draw) => Outcome::Draw,
                (b, _) => b,
            };
        }
        (best, all)
    }

    #[task]
    pub fn from_moves(moves: &[u8]) -> (Outcome, Tally) {
        let mut board = [Square::Empty; 9];
        let mut turn = Square::X;
        for &m in moves {
            board[m as usize] = turn;
            turn = turn.other();
        }
        let r = spawn!(play(board, turn));
        sync!();
        r
    }
}
millstream_tests::cases! { from_moves(&[4, 0, 2, 6]); from_moves(&[0, 4, 8, 1, 7]); from_moves(&[0, 1, 2, 4, 3, 5, 7, 6, 8]); }
