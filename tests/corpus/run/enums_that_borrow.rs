//! Enums whose variants hold references: tokens of a text, what a parser gives, and errors that say where.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug)]
    enum Token<'a> {
        End,
        Number(f64),
        Word(&'a [u8]),
        Sign(u8),
        Pair { a: &'a u32, b: [u8; 2] },
    }

    fn length(token: &Token) -> usize {
        match token {
            Token::Word(word) => word.len(),
            Token::Pair { a, b } => **a as usize + b[0] as usize,
            _ => 0,
        }
    }

    fn first(text: &[u8]) -> Option<(Token<'_>, &[u8])> {
        let text = text.trim_ascii_start();
        let until = |is_part: fn(&u8) -> bool| text.iter().position(|b| !is_part(b)).unwrap_or(text.len());
        Some(match *text.first()? {
            b'0'..=b'9' => {
                let (digits, rest) = text.split_at(until(u8::is_ascii_digit));
                (Token::Number(digits.iter().fold(0.0, |all, b| all * 10.0 + (b - b'0') as f64)), rest)
            }
            b if b.is_ascii_alphabetic() => {
                let (word, rest) = text.split_at(until(u8::is_ascii_alphanumeric));
                (Token::Word(word), rest)
            }
            sign => (Token::Sign(sign), &text[1..]),
        })
    }

    struct Tokens<'a> {
        rest: &'a [u8],
        kept: Option<Token<'a>>,
    }

    impl<'a> Iterator for Tokens<'a> {
        type Item = Token<'a>;

        fn next(&mut self) -> Option<Token<'a>> {
            if let Some(token) = self.kept.take() {
                return Some(token);
            }
            let (token, rest) = first(self.rest)?;
            self.rest = rest;
            Some(token)
        }
    }

    impl<'a> Tokens<'a> {
        fn peek(&mut self) -> Option<Token<'a>> {
            if self.kept.is_none() {
                self.kept = self.next();
            }
            self.kept
        }
    }

    #[task]
    pub fn tokens(text: &[u8], n: u32) -> (f64, usize, bool, u32) {
        let mut tokens = Tokens { rest: text, kept: None };
        let begins = matches!(tokens.peek(), Some(Token::Word(b"foo")));
        let (mut sum, mut all) = (0.0, 0);
        while let Some(token) = tokens.next() {
            all += length(&token);
            match token {
                Token::Number(x) => sum += x,
                Token::Word([b'b', ..]) => sum += 100.0,
                Token::Sign(sign) => sum += sign as f64 / 1024.0,
                Token::Word(_) | Token::Pair { .. } | Token::End => {}
            }
        }
        let pair = Token::Pair { a: &n, b: [1, 2] };
        let three = [Token::End, pair, Token::Word(b"xy")];
        all += three.iter().map(length).sum::<usize>();
        all += Tokens { rest: text, kept: Some(Token::End) }.filter(|t| !matches!(t, Token::Sign(_))).count();
        (sum, all, begins, if let Token::Pair { a, .. } = three[1] { *a } else { 0 })
    }

    #[derive(Clone, Copy)]
    enum Value<'a> {
        Null,
        Is(bool),
        Number(i64),
        Text(&'a [u8]),
        List { of: u8, items: &'a [u8] },
    }

    #[derive(Clone, Copy)]
    enum Fault<'a> {
        End,
        At(&'a [u8]),
    }

    fn value(text: &[u8]) -> Result<Value<'_>, Fault<'_>> {
        match text {
            [] => Err(Fault::End),
            b"null" => Ok(Value::Null),
            b"true" => Ok(Value::Is(true)),
            [b'"', inner @ .., b'"'] => Ok(Value::Text(inner)),
            [b'[', items @ .., b']'] => Ok(Value::List { of: text[0], items }),
            digits if digits.iter().all(u8::is_ascii_digit) => {
                Ok(Value::Number(digits.iter().fold(0, |all, b| all * 10 + (b - b'0') as i64)))
            }
            other => Err(Fault::At(other)),
        }
    }

    fn size(of: Value) -> i64 {
        match of {
            Value::Null => 0,
            Value::Is(is) => is as i64,
            Value::Number(n) => n,
            Value::Text(text) => text.len() as i64,
            Value::List { of, items } => {
                items.split(|&b| b == b',').map(|item| value(item).map_or(-1, size)).sum::<i64>() + of as i64
            }
        }
    }

    #[task]
    pub fn values(text: &[u8]) -> (i64, i64) {
        let fault = match value(text) {
            Err(Fault::At(rest)) => rest.len() as i64,
            Err(Fault::End) => -1,
            Ok(_) => 0,
        };
        (value(text).map_or(-100, size), fault)
    }
}

millstream_tests::cases! {
    tokens(b"foo + 12*bar7 ", 5);
    tokens(b" 7", 0);
    tokens(b"", 1);
    values(b"[12,null,\"abc\",true,x]");
    values(b"\"hi\"");
    values(b"zz?");
    values(b"");
}
