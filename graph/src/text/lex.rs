//! The tokens of the text form.

use super::ParseError;
use std::{borrow::Cow, fmt};

/// A token; borrows its text from the source.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Token<'a> {
    Ident(&'a str),
    /// Digits, with sign, fraction and exponent if it has them, and the type behind them, which may be empty.
    Number(&'a str, &'a str),
    /// Between the quotes, escapes as written.
    Str(&'a str),
    /// `%3`
    Local(u32),
    /// `$3`
    Slot(u32),
    /// `.3`
    Field(u32),
    /// `#7fc00000`
    Bits(u64),
    Punct(char),
    /// `->`
    Arrow,
    End,
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ident(text) => write!(f, "`{text}`"),
            Self::Number(text, suffix) => write!(f, "`{text}{suffix}`"),
            Self::Str(text) => write!(f, "\"{text}\""),
            Self::Local(n) => write!(f, "`%{n}`"),
            Self::Slot(n) => write!(f, "`${n}`"),
            Self::Field(n) => write!(f, "`.{n}`"),
            Self::Bits(n) => write!(f, "`#{n:x}`"),
            Self::Punct(c) => write!(f, "`{c}`"),
            Self::Arrow => f.write_str("`->`"),
            Self::End => f.write_str("the end of the text"),
        }
    }
}

/// An error at this byte of the source.
pub(super) fn error_at(source: &str, at: usize, message: impl Into<String>) -> ParseError {
    let before = &source[..at];
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    ParseError {
        line: before.bytes().filter(|b| *b == b'\n').count() as u32 + 1,
        column: before[line_start..].chars().count() as u32 + 1,
        message: message.into(),
    }
}

/// All tokens with the byte where each starts; the last is [`Token::End`].
pub(super) fn lex(source: &str) -> Result<Vec<(Token<'_>, usize)>, ParseError> {
    let mut lexer = Lexer { source, at: 0 };
    let mut out = Vec::with_capacity(source.len() / 4);
    loop {
        lexer.skip_blank();
        let start = lexer.at;
        let token = lexer.token()?;
        out.push((token, start));
        if token == Token::End {
            return Ok(out);
        }
    }
}

struct Lexer<'a> {
    source: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    fn peek(&self, ahead: usize) -> u8 {
        self.source
            .as_bytes()
            .get(self.at + ahead)
            .copied()
            .unwrap_or(0)
    }

    /// Takes bytes while the test holds; all of them are ASCII.
    fn take(&mut self, test: impl Fn(u8) -> bool) -> &'a str {
        let start = self.at;
        while self.at < self.source.len() && test(self.peek(0)) {
            self.at += 1;
        }
        &self.source[start..self.at]
    }

    fn skip_blank(&mut self) {
        loop {
            self.take(|b| b.is_ascii_whitespace());
            if self.peek(0) != b'/' || self.peek(1) != b'/' {
                return;
            }
            self.at += self.source[self.at..]
                .find('\n')
                .unwrap_or(self.source.len() - self.at);
        }
    }

    fn token(&mut self) -> Result<Token<'a>, ParseError> {
        let next_is_digit = self.peek(1).is_ascii_digit();
        match self.peek(0) {
            0 if self.at >= self.source.len() => Ok(Token::End),
            b if b.is_ascii_alphabetic() || b == b'_' => Ok(Token::Ident(
                self.take(|b| b.is_ascii_alphanumeric() || b == b'_'),
            )),
            b if b.is_ascii_digit() || (b == b'-' && next_is_digit) => Ok(self.number()),
            b'"' => self.string(),
            b'%' if next_is_digit => self.id().map(Token::Local),
            b'$' if next_is_digit => self.id().map(Token::Slot),
            b'.' if next_is_digit => self.id().map(Token::Field),
            b'#' => {
                let start = self.at;
                self.at += 1;
                let digits = self.take(|b| b.is_ascii_hexdigit());
                let bits = u64::from_str_radix(digits, 16);
                bits.map(Token::Bits).map_err(|_| {
                    error_at(
                        self.source,
                        start,
                        "expected at most 16 hex digits after `#`",
                    )
                })
            }
            b'-' if self.peek(1) == b'>' => {
                self.at += 2;
                Ok(Token::Arrow)
            }
            b if b"(){}[]<>,:;=+*&@".contains(&b) => {
                self.at += 1;
                Ok(Token::Punct(b as char))
            }
            _ => {
                let c = self.source[self.at..].chars().next().unwrap_or(' ');
                Err(error_at(
                    self.source,
                    self.at,
                    format!("unexpected character `{}`", c.escape_debug()),
                ))
            }
        }
    }

    fn id(&mut self) -> Result<u32, ParseError> {
        let start = self.at;
        self.at += 1;
        self.take(|b| b.is_ascii_digit())
            .parse()
            .map_err(|_| error_at(self.source, start, "this number is too large"))
    }

    fn number(&mut self) -> Token<'a> {
        let start = self.at;
        self.at += 1;
        self.take(|b| b.is_ascii_digit());
        if self.peek(0) == b'.' && self.peek(1).is_ascii_digit() {
            self.at += 1;
            self.take(|b| b.is_ascii_digit());
        }
        let signed = usize::from(self.peek(1) == b'-');
        if self.peek(0) == b'e' && self.peek(1 + signed).is_ascii_digit() {
            self.at += 1 + signed;
            self.take(|b| b.is_ascii_digit());
        }
        let digits = &self.source[start..self.at];
        Token::Number(digits, self.take(|b| b.is_ascii_alphanumeric()))
    }

    fn string(&mut self) -> Result<Token<'a>, ParseError> {
        let open = self.at;
        let rest = &self.source.as_bytes()[open + 1..];
        let mut end = 0;
        loop {
            match rest.get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(_) => end += 1,
                None => return Err(error_at(self.source, open, "this string has no end")),
            }
        }
        self.at = open + end + 2;
        Ok(Token::Str(&self.source[open + 1..open + 1 + end]))
    }
}

/// The text of a string token; none if an escape is not one of ours.
pub(super) fn unescape(raw: &str) -> Option<Cow<'_, str>> {
    if !raw.contains('\\') {
        return Some(Cow::Borrowed(raw));
    }
    let mut out = String::with_capacity(raw.len());
    let mut chars = raw.chars();
    while let Some(c) = chars.next() {
        out.push(match c {
            '\\' => match chars.next()? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                c @ ('"' | '\\') => c,
                'u' => {
                    let (code, rest) = chars.as_str().strip_prefix('{')?.split_once('}')?;
                    chars = rest.chars();
                    char::from_u32(u32::from_str_radix(code, 16).ok()?)?
                }
                _ => return None,
            },
            c => c,
        });
    }
    Some(Cow::Owned(out))
}
