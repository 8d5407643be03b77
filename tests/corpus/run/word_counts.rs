//! Tokens of a text, counted in a hash table of fixed size.
#[millstream::program]
pub mod program {
    const SLOTS: usize = 64;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Kind {
        Word,
        Number,
        Punct,
    }

    #[derive(Clone, Copy)]
    pub struct Token {
        kind: Kind,
        start: usize,
        end: usize,
    }

    fn next_token(text: &[u8], from: usize) -> Option<Token> {
        let start = from + text[from..].iter().position(|c| !c.is_ascii_whitespace())?;
        let first = text[start];
        let (kind, len) = if first.is_ascii_alphabetic() {
            (Kind::Word, text[start..].iter().take_while(|c| c.is_ascii_alphanumeric()).count())
        } else if first.is_ascii_digit() {
            (Kind::Number, text[start..].iter().take_while(|c| c.is_ascii_digit()).count())
        } else {
            (Kind::Punct, 1)
        };
        Some(Token { kind, start, end: start + len })
    }

    fn hash(word: &[u8]) -> u64 {
        word.iter().fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ u64::from(b.to_ascii_lowercase())).wrapping_mul(0x100_0000_01b3))
    }

    struct Table {
        keys: [u64; SLOTS],
        counts: [u32; SLOTS],
    }

    impl Table {
        fn new() -> Self {
            Self { keys: [0; SLOTS], counts: [0; SLOTS] }
        }

        fn add(&mut self, key: u64) {
            let mut i = key as usize % SLOTS;
            while self.counts[i] != 0 && self.keys[i] != key {
                i = (i + 1) % SLOTS;
            }
            self.keys[i] = key;
            self.counts[i] += 1;
        }
    }

    #[task]
    pub fn words(text: &[u8]) -> (u32, u32, u64) {
        let mut table = Table::new();
        let mut at = 0;
        let mut numbers = 0;
        while let Some(token) = next_token(text, at) {
            match token.kind {
                Kind::Word => table.add(hash(&text[token.start..token.end])),
                Kind::Number => {
                    let n = text[token.start..token.end].iter().fold(0u64, |n, d| n * 10 + (d - b'0') as u64);
                    numbers += n;
                }
                Kind::Punct => {}
            }
            at = token.end;
        }
        let distinct = table.counts.iter().filter(|&&c| c > 0).count() as u32;
        let most = table.counts.iter().copied().max().unwrap_or_default();
        (distinct, most, numbers)
    }

    #[task]
    pub fn lines(text: &[u8], out: &mut [u32]) {
        let Some(end) = text.iter().position(|&c| c == b'\n') else {
            return;
        };
        let (first, rest) = out.split_first_mut().unwrap();
        spawn!(lines(&text[end + 1..], rest));
        *first = words(&text[..end]).0;
    }
}
millstream_tests::cases! {
    words(b"the cat, the hat; 12 cats and 30 hats: The End.".as_slice());
    lines(b"one two\nthree three\n\n4 5 six\n".as_slice(), &mut vec![0; 6]);
}
