//! Parts of slices: from behind, between elements, with what they end with, and as arrays; one value so many times.
#[millstream::program]
pub mod program {
    /// Of a number in digits, three at a time from the last on.
    #[task]
    pub fn groups(digits: &[u32], size: usize) -> ([u32; 4], usize) {
        let mut out = [0; 4];
        for (slot, group) in out.iter_mut().zip(digits.rchunks(size)) {
            *slot = group.iter().fold(0, |all, digit| all * 10 + digit);
        }
        let whole = digits.rchunks_exact(size).map(|group| group[0] as usize).sum();
        (out, whole)
    }

    #[task]
    pub fn words(text: &[u8]) -> (usize, usize, u32) {
        let lines = text.split_inclusive(|b| *b == b'\n').map(|line| line.len()).fold(0, |all, len| all * 10 + len);
        let last = text.rsplit(|b| *b == b' ').next().map_or(0, |word| word.len());
        let turned = text.rsplit(|b| *b == b'\n').fold(1, |all, line| all * 7 + line.len() as u32);
        (lines, last, turned)
    }

    fn header(bytes: &[u8]) -> Option<(u16, &[u8])> {
        let (head, rest) = bytes.split_first_chunk::<2>()?;
        Some((u16::from_be_bytes(*head), rest))
    }

    #[task]
    pub fn arrays(bytes: &[u8]) -> (u16, usize, u32, u8, u8) {
        let (number, rest) = header(bytes).map_or((0, 99), |(number, rest)| (number, rest.len()));
        let word = bytes.first_chunk::<4>().map_or(0, |word| u32::from_le_bytes(*word));
        let end = if let Some([a, _, c]) = bytes.last_chunk::<3>() { a ^ c } else { 0 };
        let sum = match bytes.split_last_chunk::<2>() {
            Some((before, [x, y])) => before.len() as u8 + x + y,
            None => 7,
        };
        (number, rest, word, end, sum)
    }

    #[task]
    pub fn repeated(a: &[u32], count: usize) -> (u32, u32) {
        let weighed = a.iter().zip(std::iter::repeat_n(3, count)).map(|(x, by)| x * by).sum();
        (weighed, std::iter::repeat_n(5, count).chain(std::iter::once(1)).fold(0, |all, x| all * 2 + x))
    }
}
millstream_tests::cases! {
    groups(&vec![1, 2, 3, 4, 5, 6, 7], 3);
    groups(&vec![], 2);
    words(b"one two\nthree four\n\nlast word");
    words(b"line\n");
    arrays(&vec![1, 2, 3, 4, 5]);
    arrays(&vec![9]);
    repeated(&vec![4, 5, 6], 2);
}
