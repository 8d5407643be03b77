//! Enums and `Result`s that children return, matched in pairs, with what they lie in.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum R {
        Ok1(u32),
        Part { lo: u32, hi: Option<u32> },
        Fail([u8; 2]),
    }
    #[task]
    fn leaf(n: u32) -> R {
        match n {
            0 => R::Fail([1, 2]),
            k if k % 3 == 0 => R::Part { lo: k, hi: None },
            k if k % 3 == 1 => R::Part {
                lo: k,
                hi: Some(k * k),
            },
            k => R::Ok1(k),
        }
    }
    #[task]
    pub fn a(n: u32) -> (u32, R, [Option<R>; 4]) {
        let mut rs = [None; 4];
        for i in 0..n {
            rs[i as usize % 4] = Some(R::Fail([0, 0]));
        }
        let mut out = [R::Fail([9, 9]); 4];
        for (i, o) in out.iter_mut().enumerate() {
            *o = spawn!(leaf(i as u32));
        }
        sync!();
        let mut t = 0;
        for (r, o) in rs.iter_mut().zip(out.iter()) {
            match (r, o) {
                (Some(R::Fail([a, _])), R::Part { lo, hi: Some(h) }) => {
                    *a = *lo as u8;
                    t += h;
                }
                (Some(x), R::Ok1(_)) => *x = *o,
                (slot, R::Part { hi: None, .. }) => *slot = None,
                _ => t += 100,
            }
        }
        let last = out
            .iter()
            .rev()
            .find_map(|o| match o {
                R::Part { hi, .. } if hi.is_some() => Some(*o),
                _ => None,
            })
            .unwrap_or(R::Fail([3, 3]));
        (t, last, rs)
    }
    #[task]
    pub fn b(n: u32, d: u32) -> Result<(u32, [u32; 2]), (u8, R)> {
        if d == 0 {
            return match leaf(n) {
                R::Ok1(k) => Ok((k, [n, k])),
                R::Part { lo, hi: Some(h) } => Ok((lo, [h, 0])),
                r => Err((d as u8, r)),
            };
        }
        let x = spawn!(b(n / 2, d - 1));
        let y = spawn!(b(n - 1, d - 1));
        sync!();
        match (&x, &y) {
            (Ok((p, [q, _])), Ok((r, [_, s]))) => Ok((p + r, [*q, *s])),
            (Ok((k, arr)), Err((_, R::Part { lo, .. })))
            | (Err((_, R::Part { lo, .. })), Ok((k, arr))) => Ok((k + lo, *arr)),
            (Err(e), _) => Err(*e),
            (_, Err((_, r))) => Err((7, *r)),
        }
    }
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct L {
        pub at: usize,
        pub v: u32,
    }
    #[task]
    pub fn tot(ls: &[L], k: usize) -> [u32; 2] {
        let mut out = [0; 2];
        for i in 0..k.min(2) {
            let s: u32 = {
                let mut t = 0;
                t += spawn!(one(ls, i));
                sync!();
                t
            };
            out[i] = s;
        }
        out
    }
    #[task]
    fn one(ls: &[L], at: usize) -> u32 {
        match ls {
            [] => 0,
            [L { at: a, v }] if *a == at => *v,
            [_] => 0,
            _ => {
                let (l, r) = ls.split_at(ls.len() / 2);
                let (x, y) = (spawn!(one(l, at)), spawn!(one(r, at)));
                sync!();
                x + y
            }
        }
    }
}

millstream_tests::cases! {
    a(4);
    b(6, 2);
    tot(&[program::L { at: 0, v: 3 }, program::L { at: 1, v: 4 }, program::L { at: 0, v: 5 }], 2);
}
