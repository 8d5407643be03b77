//! `peekable` over references, whose `peek` gives references to these; and `as_ref` of what holds references.
#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum Token {
        Number(i64),
        Plus,
        Times,
    }

    #[task]
    pub fn runs(a: &[u32]) -> u64 {
        let mut items = a.iter().peekable();
        let mut all = 0;
        while let Some(x) = items.next() {
            let mut count = 1;
            while items.peek() == Some(&x) {
                items.next();
                count += 1;
            }
            if let Some(&&next) = items.peek() {
                all += u64::from(next > *x);
            }
            all = all * 100 + u64::from(*x) * 10 + count;
        }
        all
    }

    #[task]
    pub fn merge(a: &[u32], b: &[u32], out: &mut [u32]) {
        let (mut x, mut y) = (a.iter().peekable(), b.iter().peekable());
        for slot in out {
            let left = match (x.peek(), y.peek()) {
                (Some(p), Some(q)) => **p <= **q,
                (p, None) => p.is_some(),
                (None, Some(_)) => false,
            };
            *slot = if left { x.next() } else { y.next() }.copied().unwrap_or(0);
        }
    }

    fn value(tokens: &[Token; 5]) -> i64 {
        let mut tokens = tokens.iter().peekable();
        let (mut sum, mut product) = (0, 1);
        while let Some(token) = tokens.next() {
            let Token::Number(x) = token else { continue };
            product *= x;
            if !matches!(tokens.peek(), Some(Token::Times)) {
                sum += product;
                product = 1;
            }
        }
        sum
    }

    fn words(text: &[u8]) -> u32 {
        let mut letters = text.iter().peekable();
        let mut count = 0;
        while letters.peek().is_some() {
            while letters.next_if(|b| b.is_ascii_alphabetic()).is_some() {}
            count += 1;
            letters.next();
        }
        count
    }

    #[task]
    pub fn others(a: &[u32], n: i64) -> (i64, u32, u32, u32) {
        use Token::{Number, Plus, Times};
        let mut parts = a.chunks(2).peekable();
        let mut all = 0;
        while let Some(part) = parts.next() {
            all = all * 10 + part[0] + parts.peek().map_or(0, |next| next.len() as u32);
        }
        let (first, part) = (a.first(), a.get(1..3));
        let second = match first.as_ref() {
            Some(x) if **x > 3 => **x,
            Some(x) => **x + part.as_ref().map_or(0, |part| part.len() as u32),
            None => 77,
        };
        (value(&[Number(n), Times, Number(3), Plus, Number(4)]), words(b"ab cd e"), all, second)
    }
}
millstream_tests::cases! {
    runs(&vec![1, 1, 2, 2, 2, 3, 1]);
    runs(&vec![]);
    merge(&vec![1, 4, 6, 9], &vec![2, 4, 5], &mut vec![0; 7]);
    others(&vec![1, 3, 2, 7, 7], 2);
    others(&vec![], 5);
}
