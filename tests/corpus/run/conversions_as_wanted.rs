//! `try_into`, constants of structs with parameters, and `into` as an argument of an `Option`'s method or of `fold`, where what is wanted says which is meant.
#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum Base {
        A,
        C,
    }

    impl TryFrom<u8> for Base {
        type Error = u8;
        fn try_from(letter: u8) -> Result<Self, u8> {
            match letter {
                b'a' => Ok(Base::A),
                b'c' => Ok(Base::C),
                other => Err(other),
            }
        }
    }

    #[task]
    pub fn bases(text: &[u8]) -> Result<usize, u8> {
        let mut n = 0;
        for &letter in text {
            let base: Base = letter.try_into()?;
            n += (base == Base::A) as usize;
        }
        Ok(n)
    }

    #[derive(Clone, Copy)]
    struct Set<const N: usize>([u64; N]);

    impl<const N: usize> Set<N> {
        const EMPTY: Self = Set([0; N]);

        fn with(mut self, i: usize) -> Self {
            self.0[i / 64] |= 1 << (i % 64);
            self
        }
    }

    #[task]
    pub fn sets(i: usize) -> u32 {
        let empty: Set<3> = Set::EMPTY;
        let mut all = empty.with(i).with(2);
        if i == 2 {
            all = Set::EMPTY;
        }
        all.0.iter().map(|x| x.count_ones()).sum()
    }

    #[task]
    pub fn halves(x: u64) -> (Option<u64>, Option<u32>, Option<i64>, Option<u8>) {
        let square = x as u128 * x as u128;
        let less = x as i128 - 1000;
        (u64::try_from(square).ok(), square.try_into().ok(), i64::try_from(less * less * less).ok(), u8::try_from(less).ok())
    }

    struct Twice(u64);

    impl From<u32> for Twice {
        fn from(x: u32) -> Self {
            Twice(u64::from(x) * 2)
        }
    }

    fn counted(calls: &mut u32) -> u32 {
        *calls += 1;
        *calls
    }

    #[task]
    pub fn instead(n: u32, all: &[u32]) -> [u64; 9] {
        let mut calls = n;
        let some: Option<u64> = if n > 2 { Some(3) } else { None };
        let twice: Option<Twice> = if n > 2 { Some(Twice(9)) } else { None };
        let tried: Result<u64, u8> = if n > 3 { Ok(1) } else { Err(2) };
        [
            some.unwrap_or(n.into()),
            some.unwrap_or(counted(&mut calls).into()) * 100 + u64::from(calls),
            some.map_or(n.into(), |x| x + 1),
            some.or(Some(n.into())).map_or(0, |x| x),
            twice.unwrap_or(n.into()).0,
            tried.unwrap_or((n + 7).into()),
            all.iter().map(|&x| u64::from(x)).max().unwrap_or(n.into()),
            all.iter().fold(n.into(), |sum: u64, &x| sum + u64::from(x)),
            all.iter().fold(n.into(), |all, &x| all * 3 + u64::from(x)),
        ]
    }
}

millstream_tests::cases! {
    bases(b"acca");
    bases(b"acxa");
    sets(130);
    sets(2);
    halves(1100);
    halves(65_535);
    halves(u64::MAX);
    halves(0);
    instead(1, &[4, 2, 9]);
    instead(3, &[]);
    instead(5, &[7]);
}
