//! Values that hold what they share are equal if what they refer to is.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq)]
    enum Tok<'a> {
        Word(&'a [u8]),
        Num(u32),
        Ref(&'a u32),
        Pair(&'a [u8], u8),
        End,
    }
    #[derive(Clone, Copy, PartialEq)]
    struct Span<'a> {
        tok: Tok<'a>,
        at: usize,
    }
    fn tok(t: &[u8]) -> Tok<'_> {
        if t.is_empty() {
            Tok::End
        } else if t[0].is_ascii_digit() {
            Tok::Num((t[0] - b'0') as u32)
        } else if t[0] == b'-' {
            Tok::Pair(&t[1..], t[0])
        } else {
            Tok::Word(&t[..2.min(t.len())])
        }
    }
    fn next<'a>(t: &'a [u8], at: &mut usize) -> Option<Span<'a>> {
        let s = Span {
            tok: tok(t.get(*at..)?),
            at: *at,
        };
        *at += 1;
        Some(s)
    }
    #[task]
    pub fn run(n: u32) -> [bool; 10] {
        let m = n;
        let k = [5, 6];
        let mut at = 0;
        let first = next(b"ab3", &mut at);
        [
            tok(b"ab") == Tok::Word(b"ab"),
            tok(b"ab") != Tok::Word(b"a"),
            tok(b"7") == Tok::Num(n + 2),
            tok(b"") == Tok::End,
            Tok::Ref(&m) == Tok::Ref(&k[0]),
            Tok::Ref(&m) == Tok::Num(5),
            tok(b"-a") == tok(b"-a"),
            Span {
                tok: tok(b"x"),
                at: 1,
            } == Span {
                tok: Tok::Word(b"x"),
                at: n as usize - 4,
            },
            first
                == Some(Span {
                    tok: Tok::Word(b"ab"),
                    at: 0,
                }),
            next(b"", &mut at) == None,
        ]
    }
}

millstream_tests::cases! {
    run(5);
    run(6);
}
