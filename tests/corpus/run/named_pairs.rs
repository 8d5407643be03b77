//! Pairs that `zip` and `enumerate` give under one name, or none, here and where a function gives the iterator; and names that mean two things.
#[millstream::program]
pub mod program {
    fn both<'a>(a: &'a [u32], b: &'a [u32]) -> impl Iterator<Item = (&'a u32, &'a u32)> {
        a.iter().zip(b)
    }

    fn counted<'a>(a: &'a [u32]) -> impl Iterator<Item = (usize, u32)> + use<'a> {
        a.iter().copied().enumerate()
    }

    #[task]
    pub fn given(a: &[u32], b: &[u32]) -> (u32, u32, u32, usize, u32) {
        let mut products = 0;
        for (x, y) in both(a, b) {
            products += x * y;
        }
        let mut firsts = 0;
        for pair in both(a, b) {
            firsts = firsts * 3 + pair.0;
        }
        let mut weighed = 0;
        for (i, (x, y)) in both(a, b).enumerate() {
            weighed += (x - y) * i as u32;
        }
        let mut places = 0;
        for (i, x) in counted(a) {
            places += i * x as usize;
        }
        (products, firsts, weighed, places, both(b, a).map(|(x, y)| x * 10 + y).sum())
    }

    #[task]
    pub fn named(a: &mut [u32], b: &[u32]) -> (u32, u32, u32) {
        let mut rounds = 0;
        for _ in a.iter().zip(b) {
            rounds += 1;
        }
        for pair in a.iter_mut().zip(b) {
            *pair.0 += *pair.1;
        }
        for (i, pair) in a.iter_mut().zip(b).enumerate() {
            *pair.0 = *pair.0 * 2 + pair.1 + i as u32;
        }
        #[parallel]
        for pair in a.iter_mut().enumerate() {
            *pair.1 += pair.0 as u32;
        }
        let mut last = (0, 0);
        for mut pair in a.iter().copied().enumerate().rev() {
            pair.0 += 1;
            last = pair;
        }
        let mut sum = 0;
        for (counted, y) in a.iter().enumerate().zip(b) {
            sum += counted.0 as u32 * counted.1 + y;
        }
        (rounds, last.1 + last.0 as u32, sum)
    }

    #[derive(Clone, Copy, PartialEq, Debug)]
    #[repr(u8)]
    pub enum Op {
        Nothing = 0,
        Match = b'=',
        Gap = 1 << 3 | 1,
        Next,
    }

    /// A task and its parameter have one name.
    #[task]
    pub fn grown(grown: u32, n: u32) -> (u32, Op) {
        if n == 0 {
            let op = match grown % 4 {
                0 => Op::Nothing,
                1 => Op::Match,
                2 => Op::Gap,
                _ => Op::Next,
            };
            return (grown * 100 + op as u32, op);
        }
        let a = spawn!(self::grown(grown * 2 + 1, n - 1));
        let b = self::grown(grown + n, n - 1);
        sync!();
        (a.0 + b.0, if a.0 % 2 == 0 { a.1 } else { b.1 })
    }
}

millstream_tests::cases! {
    given(&[3, 1, 4, 1], &[2, 7, 1]);
    given(&[], &[1]);
    named(&mut [3, 1, 4, 1, 5], &[2, 7, 1]);
    named(&mut [], &[]);
    grown(1, 0);
    grown(2, 3);
    grown(5, 6);
}
