//! Slices of arrays as slices of what these hold and the other way round, and several places of a slice at once; methods of numbers, `Option`s, `Result`s and
//! atomics that Rust has had for less long.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU32, Ordering};

    #[task]
    pub fn flat(rows: &mut [[u32; 4]], n: u32) -> (u32, usize, u32) {
        let (chunks, rest) = rows.as_flattened().as_chunks::<3>();
        let first: u32 = chunks.iter().map(|[x, y, z]| x * y + z).sum();
        let left = rest.len();
        let (begin, chunks): (&[u32], &[[u32; 5]]) = rows.as_flattened().as_rchunks();
        let second = begin.iter().sum::<u32>() * 100 + chunks[0][4];
        for x in rows.as_flattened_mut() {
            *x += n;
        }
        let (chunks, rest) = rows.as_flattened_mut().as_chunks_mut::<3>();
        for [x, _, z] in chunks {
            std::mem::swap(x, z);
        }
        rest.fill(n);
        (first, left, second)
    }

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Body {
        pub at: i32,
        pub speed: i32,
    }

    #[task]
    pub fn places(n: usize) -> (i32, bool, bool) {
        let mut all = [Body { at: 1, speed: 2 }, Body { at: 3, speed: 4 }, Body { at: 5, speed: 6 }];
        if let Ok([a, b]) = all.get_disjoint_mut([n, 0]) {
            std::mem::swap(&mut a.speed, &mut b.speed);
            a.at += b.at;
        }
        let same = all.get_disjoint_mut([1, 1]).is_err();
        let outside = all.get_disjoint_mut([1, 3]).is_err();
        let [x, y, _] = all.each_mut();
        x.at += 10 * y.at;
        let refs = all.each_ref();
        (refs.map(|b| b.at * 7 + b.speed).iter().sum(), same, outside)
    }

    #[task]
    pub fn casts(a: u32, b: i64) -> (i32, u64, u8, isize) {
        (a.cast_signed(), b.cast_unsigned(), (b as i8).cast_unsigned(), (a as usize).cast_signed())
    }

    #[task]
    pub fn options(n: u32) -> (Option<u32>, Option<u32>, Option<u32>, u32, (Option<u32>, Option<bool>)) {
        let mut kept = Some(n);
        let before = kept.take_if(|x| *x > 9);
        let taken = kept.take_if(|x| { *x += 1; *x > 3 });
        let mut seen = 0;
        let fine: Result<u32, u32> = if n > 5 { Err(n) } else { Ok(n) };
        let other = Some(n).inspect(|x| seen += *x).and(fine.inspect(|x| seen += 3 * *x).inspect_err(|e| seen += 100 * *e).ok());
        (before, taken, kept.or(other), seen, Some((n, n > 3)).filter(|(n, _)| *n != 4).unzip())
    }

    #[task]
    pub fn turned(n: u32) -> (Result<Option<u32>, u8>, Option<Result<u32, u8>>, Option<Result<u32, u8>>) {
        let some: Option<Result<u32, u8>> = match n {
            0 => None,
            1 => Some(Err(7)),
            n => Some(Ok(n)),
        };
        let fine: Result<Option<u32>, u8> = match n {
            0 => Ok(None),
            1 => Err(8),
            n => Ok(Some(n)),
        };
        (some.transpose(), fine.transpose(), Some(Ok(fine.map_or(9, |x| x.unwrap_or(5)))))
    }

    #[task]
    pub fn updates(n: u32) -> (Result<u32, u32>, bool, u32) {
        let a = AtomicU32::new(n);
        let old = a.fetch_update(Ordering::SeqCst, Ordering::Relaxed, |x| if x < 9 { Some(x * 2) } else { None });
        let failed = a.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |x| x.checked_sub(10)).is_err();
        (old, failed, a.load(Ordering::SeqCst))
    }

    #[derive(Clone, Copy, PartialEq, Debug)]
    struct Mod<const P: u64>(u64);

    impl<const P: u64> Mod<P> {
        fn new(x: u64) -> Self {
            Mod(x % P)
        }
    }

    impl<const P: u64> std::ops::Add for Mod<P> {
        type Output = Self;
        fn add(self, other: Self) -> Self {
            Self::new(self.0 + other.0)
        }
    }

    impl<const P: u64> std::ops::Mul for Mod<P> {
        type Output = Self;
        fn mul(self, other: Self) -> Self {
            Self::new(self.0 * other.0)
        }
    }

    fn horner<const P: u64>(factors: &[u64], x: Mod<P>) -> Mod<P> {
        factors.iter().fold(Mod(0), |all, &factor| Mod(factor) + all * x)
    }

    /// What the number of a copy is the other operand says.
    #[task]
    pub fn operands(n: u64) -> (u64, u64, bool, u64) {
        let x = Mod::<101>::new(n);
        let small: Mod<7> = Mod(4);
        let (y, z) = (Mod(5) * x + Mod::new(204), Mod(6) * small);
        (y.0, z.0, Mod(3) == small || Mod::new(n) != x, horner(&[1, 2, 3], x).0)
    }
}

millstream_tests::cases! {
    flat(&mut [[1, 2, 3, 4], [5, 6, 7, 8]], 10);
    flat(&mut [[1, 2, 3, 4], [5, 6, 7, 8], [9, 1, 2, 3]], 1);
    places(2);
    places(0);
    casts(3_000_000_000, -5);
    options(3);
    options(12);
    turned(0);
    turned(1);
    turned(2);
    updates(4);
    updates(15);
    operands(99);
}
