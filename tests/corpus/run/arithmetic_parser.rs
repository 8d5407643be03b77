//! A recursive descent parser and evaluator of arithmetic.
#[millstream::program]
pub mod program {
    #[derive(Clone, Copy)]
    struct Parser<'a> {
        text: &'a [u8],
        pos: usize,
    }

    impl<'a> Parser<'a> {
        fn new(text: &'a [u8]) -> Self {
            Self { text, pos: 0 }
        }

        fn peek(&self) -> Option<u8> {
            self.text.get(self.pos).copied()
        }

        fn bump(&mut self) -> Option<u8> {
            let c = self.peek()?;
            self.pos += 1;
            Some(c)
        }

        fn skip(&mut self) {
            while matches!(self.peek(), Some(b' ' | b'\t')) {
                self.pos += 1;
            }
        }

        fn number(&mut self) -> Option<i64> {
            let start = self.pos;
            let mut value = 0i64;
            while let Some(c @ b'0'..=b'9') = self.peek() {
                value = value.checked_mul(10)?.checked_add(i64::from(c - b'0'))?;
                self.pos += 1;
            }
            if self.pos > start { Some(value) } else { None }
        }

        fn factor(&mut self) -> Option<i64> {
            self.skip();
            match self.peek()? {
                b'(' => {
                    self.bump();
                    let value = self.expr()?;
                    self.skip();
                    if self.bump() != Some(b')') {
                        return None;
                    }
                    Some(value)
                }
                b'-' => {
                    self.pos += 1;
                    self.factor().map(|x| -x)
                }
                _ => self.number(),
            }
        }

        fn term(&mut self) -> Option<i64> {
            let mut value = self.factor()?;
            loop {
                self.skip();
                match self.peek() {
                    Some(b'*') => {
                        self.pos += 1;
                        value = value.wrapping_mul(self.factor()?);
                    }
                    Some(b'/') => {
                        self.pos += 1;
                        value = value.checked_div(self.factor()?)?;
                    }
                    _ => return Some(value),
                }
            }
        }

        fn expr(&mut self) -> Option<i64> {
            let mut value = self.term()?;
            loop {
                self.skip();
                let op = match self.peek() {
                    Some(op) if op == b'+' || op == b'-' => op,
                    _ => break Some(value),
                };
                self.bump();
                let right = self.term()?;
                value = if op == b'+' { value + right } else { value - right };
            }
        }
    }

    #[task]
    pub fn line(text: &[u8]) -> Option<i64> {
        let mut p = Parser::new(text);
        let value = p.expr()?;
        p.skip();
        if p.pos == text.len() { Some(value) } else { None }
    }

    #[task]
    pub fn sum(text: &[u8]) -> (i64, u32) {
        match text.iter().position(|&c| c == b'\n') {
            Some(end) => {
                let first = spawn!(line(&text[..end]));
                let (rest, bad) = spawn!(sum(&text[end + 1..]));
                sync!();
                match first {
                    Some(v) => (v + rest, bad),
                    None => (rest, bad + 1),
                }
            }
            None => line(text).map_or((0, 1), |v| (v, 0)),
        }
    }
}
millstream_tests::cases! {
    sum(b"1 + 2 * 3\n(4 - -5) * (2 + 1)\n7 / 0\n2 * (3\n100/7".as_slice());
}
