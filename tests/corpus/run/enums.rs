//! Enums: as values, in structs, arrays, slices and constants, in patterns and methods, with numbers of their own.

#[millstream::program]
pub mod program {
    use Turn::*;

    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum Piece {
        #[default]
        Empty,
        Black,
        White = 5,
        King,
    }

    #[derive(Debug, PartialEq)]
    #[repr(i16)]
    pub enum Turn {
        Left = -1,
        Ahead,
        Right = 300,
    }

    #[derive(Debug)]
    pub struct Cell {
        pub piece: Piece,
        pub age: u8,
    }

    const FIRST: Piece = Piece::Black;
    const ROW: [Piece; 4] = [Piece::Empty, Piece::White, Piece::King, FIRST];

    impl Piece {
        const MOST: Piece = Self::King;

        fn worth(self) -> u32 {
            match self {
                Piece::Empty => 0,
                Self::Black | Piece::White => 1,
                Piece::King => 3,
            }
        }

        fn other(self) -> Self {
            if self == Piece::Black { Self::White } else { Piece::Black }
        }
    }

    fn degrees(turn: Turn) -> i32 {
        match turn {
            Left => -90,
            Ahead => 0,
            Right => 90,
        }
    }

    fn made(number: u32) -> Piece {
        match number % 4 {
            0 => Piece::Empty,
            1 => Piece::Black,
            2 => Piece::White,
            _ => Piece::MOST,
        }
    }

    #[task]
    pub fn count(from: u32, to: u32, who: Piece) -> u32 {
        if to - from <= 2 {
            let mut sum = 0;
            for i in from..to {
                sum += match (made(i.wrapping_mul(i) / 3), who) {
                    (Piece::Empty, _) => 0,
                    (a, b) if a == b => a.worth(),
                    (Piece::King, Piece::Black) => 7,
                    (Piece::Black | Piece::White | Piece::King, _) => 100,
                };
            }
            return sum;
        }
        let middle = from + (to - from) / 2;
        let low = spawn!(count(from, middle, who));
        let high = spawn!(count(middle, to, who.other().other()));
        sync!();
        low + high
    }

    #[task]
    pub fn counts(n: u32) -> [u32; 3] {
        let black = spawn!(count(0, n, Piece::Black));
        let white = spawn!(count(0, n, Piece::White));
        sync!();
        [black, white, Piece::default() as u32]
    }

    /// Enums as arguments, in lent memory and as results.
    #[task]
    pub fn step(board: &mut [Piece], turn: Turn, cell: &mut Cell) -> (Piece, Turn) {
        for piece in board.iter_mut() {
            *piece = piece.other();
        }
        cell.piece = if cell.age > 3 { Piece::King } else { board[0] };
        (cell.piece, if turn == Left { Right } else { Left })
    }

    #[task]
    pub fn walk(n: u32) -> (u32, i32, i32, bool, u64) {
        let piece = if n > 3 { FIRST } else { Piece::default() };
        let cell = Cell {
            piece: match n {
                0 => Piece::MOST,
                1 => Piece::White,
                _ => piece,
            },
            age: 3,
        };
        let turn = if n % 2 == 0 { Turn::Left } else { Right };
        let strong = matches!(cell.piece, Piece::King | Piece::White);
        let number = turn as i32;
        let mut row = [Piece::Empty; 6];
        for (i, place) in row.iter_mut().enumerate() {
            *place = ROW[(i + n as usize) % 4];
        }
        let kings = row.iter().filter(|&&p| p == Piece::King).count() as u64;
        let Piece::King = cell.piece else {
            return (cell.piece as u32 + cell.age as u32, number, degrees(turn), strong, kings);
        };
        (1000, number, degrees(Ahead), strong, row.iter().map(|p| *p as u64).sum())
    }
}

millstream_tests::cases! {
    counts(20);
    step(&mut [program::Piece::Black, program::Piece::King], program::Turn::Left, &mut program::Cell { piece: program::Piece::White, age: 3 });
    step(&mut [program::Piece::Empty], program::Turn::Right, &mut program::Cell { piece: program::Piece::White, age: 4 });
    walk(0);
    walk(1);
    walk(2);
    walk(5);
}
