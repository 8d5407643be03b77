//! Orders of arrays, slices and `Option`s, equality of `Option`s of references; types wanted of what is in one.

#[millstream::program]
pub mod program {
    fn arr<const N: usize>(x: [u32; N]) -> Option<[u32; N]> {
        if x[0] > 0 { Some(x) } else { None }
    }
    fn zero<const N: usize>() -> Option<[u8; N]> {
        Some([0; N])
    }
    fn zr<const N: usize>() -> Result<[u8; N], u32> {
        Ok([1; N])
    }
    fn zt<const N: usize>() -> ([u8; N], u32) {
        ([2; N], 1)
    }
    #[task]
    pub fn a(
        n: u32,
    ) -> (
        Option<[u8; 3]>,
        usize,
        u32,
        Option<[u32; 2]>,
        Result<u32, u8>,
    ) {
        let z: Option<[u8; 3]> = zero();
        let y: Result<[u8; 2], u32> = zr();
        let (t, k): ([u8; 4], u32) = zt();
        let ok = Ok::<u32, u8>(n);
        let no = None::<u8>;
        let so = Some::<u64>(4);
        let er = Err::<u32, u8>(3);
        let w: Option<[u8; 5]> = Some([1, 2, 3, 4, 5]);
        (
            z,
            y.unwrap().len() + t.len() + w.unwrap().len(),
            k + so.unwrap() as u32 + no.unwrap_or(1) as u32,
            arr([n, 1]),
            if n > 2 { ok } else { er },
        )
    }
    #[task]
    pub fn b(a: &[u32]) -> (bool, bool, bool, bool, bool, bool, bool) {
        (
            a.first() == Some(&3),
            a.last() != Some(&3),
            a.get(7) == None,
            a.iter().max() == Some(&3),
            a.iter().copied().min() == Some(1),
            Some(&a[0]) == a.first(),
            a.get(1).copied() == Some(1),
        )
    }
    #[task]
    pub fn c(n: u32) -> (bool, bool, bool, bool, bool, bool, bool, bool, bool) {
        let x = [n, 2];
        let y = [4u32, 3];
        let t = (n, 1.5f32);
        let u = (4u32, 2.5f32);
        let o = Some(n);
        let p: Option<u32> = None;
        (
            x < y,
            x == y,
            &x < &y,
            t < u,
            &t == &u,
            o > p,
            o < Some(9),
            &x[..] < &y[..],
            x[..1] == y[..1],
        )
    }
}

millstream_tests::cases! {
    a(3);
    b(&[3, 1, 2]);
    c(4);
}
