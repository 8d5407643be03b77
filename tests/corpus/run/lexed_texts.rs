//! A lexer by patterns of slices, orders of structs with arrays, pairs of `self` and another.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    pub struct K {
        pub pri: u32,
        pub name: [u8; 3],
        pub o: Option<i8>,
    }
    #[task]
    pub fn run(_s: &[u32], n: u32) -> (K, [K; 3], bool, Result<usize, usize>) {
        let mut ks = [
            K {
                pri: 3,
                name: [1, 2, 3],
                o: None,
            },
            K {
                pri: 3,
                name: [1, 2, 2],
                o: Some(-1),
            },
            K {
                pri: n,
                name: *b"abc",
                o: Some(4),
            },
        ];
        let m = *ks.iter().max().unwrap();
        ks.sort();
        let b = ks.windows(2).all(|w| w[0] <= w[1]) && ks[0] < ks[2];
        let f = ks.binary_search_by(|k| k.pri.cmp(&3).then_with(|| k.name.cmp(&[1, 2, 3])));
        (m, ks, b, f)
    }
    #[derive(Clone, Copy, PartialEq, Debug)]
    enum Tok {
        Num(i64),
        Op(u8),
        End,
    }
    #[derive(Clone, Copy)]
    struct Lex<'a> {
        rest: &'a [u8],
    }
    impl<'a> Lex<'a> {
        fn next(self) -> (Tok, Lex<'a>) {
            match self.rest {
                [] => (Tok::End, self),
                [b' ', rest @ ..] => Lex { rest }.next(),
                [d @ b'0'..=b'9', ..] => {
                    let mut v = (*d - b'0') as i64;
                    let mut r = &self.rest[1..];
                    while let [d @ b'0'..=b'9', tail @ ..] = r {
                        v = v * 10 + (d - b'0') as i64;
                        r = tail;
                    }
                    (Tok::Num(v), Lex { rest: r })
                }
                [op, rest @ ..] => (Tok::Op(*op), Lex { rest }),
            }
        }
    }
    fn atom(l: Lex) -> (i64, usize) {
        match l.next() {
            (Tok::Num(n), r) => (n, r.rest.len()),
            (Tok::Op(b'('), r) => {
                let (v, left) = sum(r);
                (v, left - 1)
            }
            (Tok::Op(b'-'), r) => {
                let (v, left) = atom(r);
                (-v, left)
            }
            _ => (0, 0),
        }
    }
    fn prod(l: Lex) -> (i64, usize) {
        let (mut v, mut left) = atom(l);
        loop {
            let at = Lex {
                rest: &l.rest[l.rest.len() - left..],
            };
            match at.next() {
                (Tok::Op(op @ (b'*' | b'/')), r) => {
                    let (w, k) = atom(r);
                    v = if op == b'*' { v * w } else { v / w };
                    left = k;
                }
                _ => break (v, left),
            }
        }
    }
    fn sum(l: Lex) -> (i64, usize) {
        let (mut v, mut left) = prod(l);
        loop {
            let at = Lex {
                rest: &l.rest[l.rest.len() - left..],
            };
            if let (Tok::Op(op @ (b'+' | b'-')), r) = at.next() {
                let (w, k) = prod(r);
                if op == b'+' {
                    v += w
                } else {
                    v -= w
                }
                left = k;
            } else {
                break (v, left);
            }
        }
    }
    #[task]
    pub fn text(t: &[u8]) -> (i64, usize) {
        sum(Lex { rest: t })
    }
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum Sh {
        Rock,
        Paper,
        Scissors,
    }
    use Sh::*;
    impl Sh {
        fn of(n: u32) -> Sh {
            [Rock, Paper, Scissors][(n % 3) as usize]
        }
        fn beats(&self, o: &Sh) -> bool {
            matches!(
                (self, o),
                (Rock, Scissors) | (Paper, Rock) | (Scissors, Paper)
            )
        }
    }
    #[task]
    pub fn pois(n: u32, s: u32) -> [u32; 3] {
        if n == 1 {
            let (a, b) = (Sh::of(s), Sh::of(s / 3));
            return match (a.beats(&b), b.beats(&a)) {
                (true, _) => [1, 0, 0],
                (_, true) => [0, 1, 0],
                _ => [0, 0, 1],
            };
        }
        let a = spawn!(pois(n / 2, s * 3 + 1));
        let b = spawn!(pois(n - n / 2, s * 5 + 2));
        sync!();
        let mut o = [0; 3];
        for ((o, x), y) in o.iter_mut().zip(a).zip(b) {
            *o = x + y;
        }
        o
    }
}

millstream_tests::cases! {
    run(&[10, 3, 7, 3], 3);
    text(b"  12+3*(4-1)");
    pois(20, 7);
}
