//! `Pair { b: 7, ..base }` of structs with parameters: the base says them, or the fields, or what is wanted.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Square<const N: usize> {
        pub cells: [[u8; N]; N],
        pub used: u32,
    }

    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct Pair<A, B> {
        pub a: A,
        pub b: B,
    }

    impl<A: Copy, B: Copy> Pair<A, B> {
        fn with(self, a: A) -> Self {
            Self { a, ..self }
        }

        fn turned(self, b: A, a: B) -> Pair<B, A> {
            let other = Pair { a: self.b, b: self.a };
            if true { Pair { b, ..other } } else { Pair { a, ..other } }
        }
    }

    #[derive(Clone, Copy, Debug, Default)]
    struct Counted<T>(T, u32);

    fn twice<T: Copy>(x: T) -> Pair<T, T> {
        Pair { a: x, b: x }
    }

    #[task]
    pub fn filled(square: Square<3>, row: usize) -> Square<3> {
        if row == 3 {
            return square;
        }
        let next = Square { used: square.used + 1, ..square };
        let mut cells = next.cells;
        cells[row][(row * 2) % 3] = row as u8 + 1;
        spawn!(filled(Square { cells, ..next }, row + 1))
    }

    #[task]
    pub fn pairs(n: u32) -> (u64, Pair<u32, u8>, Pair<u64, u32>, i16) {
        let p: Pair<u32, u64> = Pair { a: n, b: 2 };
        let q = Pair { b: 7, ..p };
        let r: Pair<u32, u8> = Pair { a: 4, ..Default::default() };
        let s = Pair { a: n as u64, b: 1u32, ..Default::default() };
        let t = Pair { a: 300, ..twice(-1i16) };
        let behind = &q;
        let u = Pair { a: q.a + 1, ..*behind };
        let held = [p, q, u];
        let sum: u64 = held.iter().map(|h| Pair { a: 1, ..*h }).map(|h| h.b + h.a as u64).sum();
        let c = Counted { 0: n as u8, ..Counted(9, 5) };
        let nested = Pair { a: Pair { a: 1, ..r }, ..twice(r) };
        let v = r.turned(n, 3);
        (sum + u.with(3).b + (c.0 as u64 + c.1 as u64), Pair { b: v.a + nested.a.b, ..nested.b }, s, t.a + t.b)
    }

    #[task]
    pub fn open(n: u8) -> Pair<u8, u8> {
        let first = twice(1);
        let mut second = Pair { b: 2, ..first };
        second.a += n;
        Pair { b: first.b + second.b, ..second }
    }
}

millstream_tests::cases! {
    filled(program::Square { cells: [[0; 3]; 3], used: 0 }, 0usize);
    filled(program::Square { cells: [[9; 3]; 3], used: 4 }, 1usize);
    pairs(0);
    pairs(250);
    open(7);
}
