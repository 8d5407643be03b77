//! Iterators beside each other of what adaptors make, and adaptors of what is drawn item by item.
#[millstream::program]
pub mod program {
    fn weighed(items: impl Iterator<Item = u64>) -> u64 {
        items.fold(0, |all, x| all * 3 + x)
    }

    /// What is given away begins with a range that a variable has.
    #[task]
    pub fn given(low: u64, high: u64) -> (u64, u64) {
        let (range, other) = (low..high, low..=high);
        let squares = other.map(|i| i * i);
        (weighed(range.map(|i| i + 1)), weighed(squares))
    }

    /// The way around through points, and back to the first.
    #[task]
    pub fn around(a: &[i32]) -> i32 {
        a.iter().zip(a.iter().skip(1).chain(a.first())).map(|(x, y)| (x - y).abs()).sum()
    }

    #[task]
    pub fn beside(a: &[u32], b: &[u32], n: usize) -> (u32, u32, u32, usize, u32) {
        let odd = || 0;
        let kept = a.iter().filter(|x| **x % 2 == 1).zip(b.iter().filter(|x| **x > 2)).map(|(x, y)| x * y).sum();
        let joined = (0..n as u32).zip(a.iter().chain(b).skip(1).step_by(2)).map(|(i, x)| i * x).sum();
        let mut tail = b.iter().copied().skip_while(|x| *x < 4).enumerate();
        let first = tail.next().map_or(odd(), |(i, x)| i as u32 * 10 + x);
        let more = tail.take(2).count();
        let mut both = a.iter().take_while(|x| **x < 9).zip(b).filter(|(x, y)| x != y);
        let (x, y) = both.next().unwrap_or((&0, &0));
        (kept, joined, first, more, x * 100 + y + both.count() as u32 * 1000)
    }

    /// The numbers in a text.
    struct Numbers<'t> {
        text: &'t [u8],
        at: usize,
    }

    impl Iterator for Numbers<'_> {
        type Item = u32;

        fn next(&mut self) -> Option<u32> {
            while !self.text.get(self.at)?.is_ascii_digit() {
                self.at += 1;
            }
            let mut number = 0;
            while let Some(digit @ b'0'..=b'9') = self.text.get(self.at) {
                number = number * 10 + u32::from(digit - b'0');
                self.at += 1;
            }
            Some(number)
        }
    }

    /// How often a number is followed by a greater one, and the sum of the last run of equal ones.
    #[task]
    pub fn read(text: &[u8]) -> (u32, u32) {
        let mut numbers = Numbers { text, at: 0 }.peekable();
        let (mut rises, mut run) = (0, 0);
        while let Some(x) = numbers.next() {
            rises += numbers.peek().is_some_and(|y| *y > x) as u32;
            run = x;
            while let Some(y) = numbers.next_if_eq(&x) {
                run += y;
            }
        }
        (rises, run)
    }

    /// What is looked at is there still.
    #[task]
    pub fn looked_at(a: &[u32], n: u32) -> (u32, u32, u32, u32) {
        let mut grows = std::iter::successors(Some(n), |x| Some(x * 2)).peekable();
        let (first, again) = (*grows.peek().unwrap(), *grows.peek().unwrap());
        let taken = grows.next().unwrap() * 100 + grows.next_if(|x| *x > 4).unwrap_or(0) * 10 + *grows.peek().unwrap();
        let mut parts = a.split(|x| *x == 0).map(|part| part.len() as u32).take(3).peekable();
        let mut lengths = 0;
        while let Some(x) = parts.next() {
            lengths = lengths * 10 + x;
            if parts.peek().is_none() {
                lengths *= 7;
            }
        }
        (first, again, taken, lengths + parts.peek().copied().unwrap_or(1))
    }
}

millstream_tests::cases! {
    given(2, 6);
    given(3, 3);
    read(b"3, 14 14 9; 9 9 ");
    read(b"none");
    looked_at(&[1, 2, 0, 3, 0, 0, 4], 3);
    looked_at(&[], 2);
    around(&[3, 9, 4]);
    around(&[5]);
    around(&[]);
    beside(&[1, 5, 2, 7, 9, 3], &[1, 8, 3, 4, 2], 9);
    beside(&[4], &[4], 1);
    beside(&[], &[6, 1], 2);
}
