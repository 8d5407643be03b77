//! Closures that are lent where one is taken, `&test` and `&mut add`, and constants that ask constants of slices how long these are.

#[millstream::program]
pub mod program {
    struct Lexer<'a> {
        text: &'a [u8],
        at: usize,
    }

    impl<'a> Lexer<'a> {
        fn peek(&self) -> Option<u8> {
            self.text.get(self.at).copied()
        }

        fn take_while(&mut self, test: impl Fn(u8) -> bool) -> &'a [u8] {
            let start = self.at;
            while self.peek().is_some_and(&test) {
                self.at += 1;
            }
            &self.text[start..self.at]
        }

        fn skip(&mut self, test: &dyn Fn(&u8) -> bool) {
            self.at += self.text[self.at..].iter().take_while(|x| test(x)).count();
        }
    }

    const TEXTS: [&[u8]; 3] = [b"12 abc 7", b"  x1 2y", b"99"];
    const WEIGHTS: [u32; TEXTS.len()] = [
        TEXTS[0].len() as u32,
        TEXTS[1].len() as u32,
        LIMITS.len() as u32,
    ];
    const LIMITS: &[u32] = &[4, 9, 200, 7];
    const MOST: u32 = LIMITS[2] + LIMITS.len() as u32;

    fn words(text: &[u8]) -> (u32, u32) {
        let mut lexer = Lexer { text, at: 0 };
        let (mut numbers, mut letters) = (0, 0);
        while lexer.at < text.len() {
            lexer.skip(&|x| *x == b' ');
            numbers += lexer
                .take_while(|x| x.is_ascii_digit())
                .iter()
                .fold(0, |n, x| n * 10 + u32::from(x - b'0'));
            letters += lexer.take_while(|x| x.is_ascii_alphabetic()).len() as u32;
        }
        (numbers, letters)
    }

    #[task]
    pub fn lexed(from: usize) -> (u32, u32, u32) {
        let mut counts = [(0, 0); TEXTS.len()];
        for (i, count) in counts.iter_mut().enumerate() {
            *count = words(TEXTS[(i + from) % TEXTS.len()]);
        }
        let (mut sum, mut at) = (0, 0);
        let mut add = |(numbers, letters): &(u32, u32)| {
            at += 1;
            sum += at * (numbers + 100 * letters);
        };
        if from % 2 == 0 {
            counts.iter().for_each(&mut add);
        }
        counts.iter().rev().for_each(&mut add);
        let double = |x: u32| x * 2;
        (sum, WEIGHTS.iter().copied().map(&double).sum(), MOST)
    }

    #[task]
    pub fn moved(n: usize, by: usize) -> [u8; 8] {
        let mut a = [1, 2, 3, 4, 5, 6, 7, 8];
        a.copy_within(n.., 0);
        a.copy_within(..n, by);
        a.copy_within(by..=by + 1, 1);
        a.copy_within(..=2, 5);
        a
    }
}

millstream_tests::cases! {
    lexed(0);
    lexed(1);
    moved(3, 2);
    moved(8, 0);
}
