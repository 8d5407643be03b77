//! `_` behind a `:`: within an `Option`, a `Result`, an array, a tuple or a reference, what follows says what it is.

#[millstream::program]
pub mod program {
    #[task]
    pub fn some(n: u32) -> u64 {
        let found: Option<_> = if n > 3 { Some(u64::from(n)) } else { None };
        let tried: Result<_, u32> = if n > 5 { Err(n) } else { Ok(u64::from(n) * 2) };
        let taken: Result<u64, _> = tried.map_err(|e| u64::from(e) + 100);
        found.unwrap_or(1) * 1000 + taken.unwrap_or_else(|e| e)
    }

    #[task]
    pub fn best(values: &[i64]) -> (i64, u32) {
        let rest: &[_] = &values[1..];
        let mut best: Option<(_, u32)> = None;
        for (i, v) in rest.iter().enumerate() {
            let better = match best {
                None => true,
                Some((b, _)) => *v > b,
            };
            if better {
                best = Some((*v, i as u32 + 1));
            }
        }
        best.unwrap_or((values[0], 0))
    }

    #[task]
    pub fn nested(n: u64) -> u64 {
        let mut kept: [Option<_>; 4] = [None; 4];
        let mut at: (Option<_>, [_; 2]) = (None, [0; 2]);
        for i in 0..n.min(4) {
            kept[i as usize] = Some(i * n);
            at.0 = Some(i as u8);
            at.1[i as usize % 2] += i;
        }
        let last: &Option<_> = &kept[3];
        let mut sum = last.unwrap_or(7);
        for k in kept {
            sum = sum * 3 + k.unwrap_or(1);
        }
        sum + u64::from(at.0.map_or(50, |b| b + 1)) + at.1[0] * at.1[1]
    }
}

millstream_tests::cases! {
    some(2);
    some(4);
    some(9);
    best(&[3, 1, 4, 1, 5, -9]);
    best(&[3]);
    nested(0);
    nested(3);
    nested(9);
}
