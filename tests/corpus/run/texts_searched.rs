//! Texts: search, words, palindromes and a parser.

#[millstream::program]
pub mod program {
    const HAY: &[u8] = b"abracadabra, abracadabra! The cat sat on the abracadabra mat. 42 + 17 * (3 - 1) = 76";

    fn failure<const M: usize>(p: &[u8; M]) -> [usize; M] {
        let mut f = [0; M];
        let mut k = 0;
        for i in 1..M {
            while k > 0 && p[k] != p[i] { k = f[k - 1]; }
            if p[k] == p[i] { k += 1; }
            f[i] = k;
        }
        f
    }
    fn kmp<const M: usize>(text: &[u8], p: &[u8; M]) -> usize {
        let f = failure(p);
        let mut k = 0;
        text.iter().filter(|&&c| {
            while k > 0 && p[k] != c { k = f[k - 1]; }
            if p[k] == c { k += 1; }
            if k == M { k = f[k - 1]; true } else { false }
        }).count()
    }
    fn naive(text: &[u8], p: &[u8]) -> usize { text.windows(p.len()).filter(|w| w == &p).count() }
    fn words(text: &[u8]) -> usize { text.split(|c| !c.is_ascii_alphabetic()).filter(|w| !w.is_empty()).count() }
    fn is_palindrome(s: &[u8]) -> bool { s.iter().eq(s.iter().rev()) }
    fn longest_palindrome(s: &[u8]) -> &[u8] {
        let mut best = &s[..0];
        for i in 0..s.len() { for j in i + 1..=s.len() { if j - i > best.len() && is_palindrome(&s[i..j]) { best = &s[i..j]; } } }
        best
    }
    fn histogram(text: &[u8]) -> [u32; 26] {
        let mut h = [0; 26];
        for c in text.iter().filter(|c| c.is_ascii_alphabetic()).map(|c| c.to_ascii_lowercase()) { h[(c - b'a') as usize] += 1; }
        h
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Token { Num(i64), Op(u8), Open, Close, End }
    struct Lexer<'a> { text: &'a [u8], pos: usize }
    impl<'a> Lexer<'a> {
        fn peek(&self) -> Option<u8> { self.text.get(self.pos).copied() }
        fn next_token(&mut self) -> Result<Token, usize> {
            while self.peek().is_some_and(|c| c.is_ascii_whitespace()) { self.pos += 1; }
            let Some(c) = self.peek() else { return Ok(Token::End) };
            Ok(match c {
                b'0'..=b'9' => {
                    let mut n = 0i64;
                    while let Some(d @ b'0'..=b'9') = self.peek() { n = n * 10 + i64::from(d - b'0'); self.pos += 1; }
                    Token::Num(n)
                }
                b'+' | b'-' | b'*' | b'/' => { self.pos += 1; Token::Op(c) }
                b'(' => { self.pos += 1; Token::Open }
                b')' => { self.pos += 1; Token::Close }
                _ => return Err(self.pos),
            })
        }
    }
    struct Parser<'a> { lexer: Lexer<'a>, current: Token }
    impl<'a> Parser<'a> {
        fn new(text: &'a [u8]) -> Result<Self, usize> {
            let mut lexer = Lexer { text, pos: 0 };
            let current = lexer.next_token()?;
            Ok(Self { lexer, current })
        }
        fn advance(&mut self) -> Result<Token, usize> {
            let next = self.lexer.next_token()?;
            Ok(std::mem::replace(&mut self.current, next))
        }
        fn expr(&mut self, min: u8) -> Result<i64, usize> {
            let mut left = match self.advance()? {
                Token::Num(n) => n,
                Token::Op(b'-') => -self.expr(9)?,
                Token::Open => { let v = self.expr(0)?; match self.advance()? { Token::Close => v, _ => return Err(self.lexer.pos) } }
                _ => return Err(self.lexer.pos),
            };
            while let Token::Op(op) = self.current {
                let prec = match op { b'+' | b'-' => 1, _ => 2 };
                if prec <= min { break; }
                self.advance()?;
                let right = self.expr(prec)?;
                left = match op { b'+' => left + right, b'-' => left - right, b'*' => left * right, b'/' => left.checked_div(right).ok_or(self.lexer.pos)?, _ => unreachable!() };
            }
            Ok(left)
        }
    }
    fn eval(text: &[u8]) -> Result<i64, usize> { Parser::new(text)?.expr(0) }

    #[task]
    pub fn count(text: &[u8], lo: usize, hi: usize) -> u32 {
        if hi - lo < 8 { return (lo..hi).filter(|&i| text[i..].starts_with(b"ab")).count() as u32; }
        let mid = lo.midpoint(hi);
        let a = spawn!(count(text, lo, mid));
        let b = spawn!(count(text, mid, hi));
        sync!();
        a + b
    }
    #[task]
    pub fn run() -> (usize, usize, usize, usize, u32, Result<i64, usize>, Result<i64, usize>, Result<i64, usize>) {
        let n = spawn!(count(HAY, 0, HAY.len()));
        sync!();
        let h = histogram(HAY);
        assert_eq!(h.iter().position(|&x| x == *h.iter().max().unwrap()), Some(0));
        (kmp(HAY, b"abra"), naive(HAY, b"abra"), words(HAY), longest_palindrome(HAY).len(), n, eval(b"42 + 17 * (3 - 1)"), eval(b"1 / 0"), eval(b"-2 * -(3 + 4"))
    }
}

millstream_tests::cases! {
    run();
}
