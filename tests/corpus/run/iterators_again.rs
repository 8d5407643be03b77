//! Iterators that begin anew: `cycle`, and copies of parts of slices; and what takes the next item if it is such a one.
#[millstream::program]
pub mod program {
    #[task]
    pub fn cycles(a: &[u32], n: usize) -> (u32, u32, u32, usize, u32, usize) {
        let weights = [3u32, 1, 4];
        let weighed = a.iter().zip(weights.iter().cycle()).map(|(x, y)| x * y).sum();
        let by_value = [1u32, 2, 3].into_iter().cycle().skip(1).take(n).fold(0, |all, x| all * 7 + x);
        let mut beside = 0;
        for (c, x) in (0..3u32).cycle().zip(a) {
            beside = beside * 4 + c * x;
        }
        let turns = a.iter().rev().enumerate().cycle();
        let turned = turns.clone().take(n).map(|(i, x)| i * *x as usize).sum::<usize>() + turns.take(2).count();
        let mut closed = (1..=2u32).cycle();
        let drawn = closed.next().unwrap() + 10 * closed.next().unwrap() + 100 * closed.next().unwrap();
        (weighed, by_value, beside, turned, drawn, a[..0].iter().cycle().count())
    }

    #[task]
    pub fn words(text: &[u8], short: usize) -> (usize, usize, Option<usize>, usize) {
        let words = text.split(|b| *b == b' ').filter(|w| w.len() > short);
        let runs = text.chunk_by(|a, b| a == b);
        let longest = words.clone().map(|w| w.len()).max();
        let mut left = text.split(|b| *b == b'a');
        let first = left.next().map_or(0, |part| part.len());
        (words.clone().count(), words.map(|w| w.len()).sum(), longest, runs.clone().count() * 100 + runs.take(2).count() + 1000 * first + left.count())
    }

    /// Words of four bytes, and what is left behind them.
    #[task]
    pub fn words_of_four(bytes: &[u8], n: usize) -> (u32, usize, usize) {
        let mut words = bytes.chunks_exact(4);
        let mut all = 0u32;
        for word in words.by_ref() {
            all = all.rotate_left(5) ^ u32::from_le_bytes(word.try_into().unwrap());
        }
        let rest = words.remainder();
        let parts = bytes.chunks_exact(n);
        (all, rest.len() * 100 + rest.first().map_or(0, |b| *b as usize), parts.remainder().len() + bytes.chunks_exact(2).remainder().len() * 10)
    }

    #[task]
    pub fn runs(a: &[u32]) -> (u32, u32) {
        let (mut items, mut runs, mut steps) = (a.iter().copied().peekable(), 0, 0);
        while let Some(x) = items.next() {
            while items.next_if_eq(&x).is_some() {}
            if let Some(y) = items.next_if(|y| *y > x) {
                steps += y - x;
            }
            runs += 1;
        }
        let half = (|x: u32| {
            if x % 2 == 1 {
                return 0;
            }
            x / 2
        })(steps);
        (runs, half)
    }
}

millstream_tests::cases! {
    cycles(&[5, 5, 6, 7, 2], 4);
    cycles(&[9], 2);
    cycles(&[], 3);
    words(b"the cat sat on  a mat", 2);
    words(b"", 0);
    runs(&[5, 5, 6, 7, 7, 2, 9, 9]);
    runs(&[1]);
    words_of_four(b"abcdefghijk", 3);
    words_of_four(b"abcd", 4);
    words_of_four(b"", 2);
}
