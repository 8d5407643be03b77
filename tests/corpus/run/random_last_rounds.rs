//! A function that simplifying goes through as often as it does at most, and the last time decides a branch.

#[millstream::program]
#[allow(warnings, reason = "made by lot")]
pub mod program {
    use std::ops::{Add, BitXorAssign, Not};

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct S0 { pub f0: bool, pub f1: f64, pub f2: u32 }
    impl Add for S0 { type Output = Self; fn add(self, other: Self) -> Self { Self { f0: self.f0 ^ other.f0, f1: self.f1 + other.f1, f2: self.f2.wrapping_add(other.f2) } } }
    impl Not for S0 { type Output = Self; fn not(self) -> Self { Self { f0: !self.f0, f1: -self.f1, f2: !self.f2 } } }
    impl BitXorAssign for S0 { fn bitxor_assign(&mut self, other: Self) { *self = !*self + other; } }

    #[task]
    pub fn t0(n: u32, p0: Option<u32>, p1: &[u32], p2: &mut i64) -> u32 {
        let mut v1: [i64; 2] = [0i64; 2];
        for k in 0..2usize {
            v1[k] = ({ let b2 = n; *p2 });
        }
        let mut g4: u32 = 0u32;
        #[parallel]
        for e3 in v1.chunks(1) {
            let v6: u32 = (match (n + n) & 7 { 0 => (n + n), 1 | 2 => (match n & 7 { 0 => n, 1 | 2 => n, 3..=5 => n, _ => n }), 3..=5 => ({ let b5 = n; n }), _ => n });
            let v7: u32 = n;
            g4 += n;
            g4 += ({ let f8 = |x9: u32| (n + n); if ({ let f12 = |x13: u32| (n as u8 & 1 == 1); if (n as u8 & 1 == 1) { f12(n) } else { f12(n) } }) { f8(({ let f10 = |x11: u32| n; if (n as u8 & 1 == 1) { f10(n) } else { f10(n) } })) } else { f8(n) } });
        }
        match (((n as u64) + (n as u64)) + (n as u64)) & 15 {
            0 => {
            }
            1..=4 | 7 => {
            }
            m14 if m14 > 9 => {
                {
                    g4 = (if p1.is_empty() { 0u32 } else { p1[(match n & 7 { 0 => p1.len(), 1 | 2 => p1.len(), 3..=5 => p1.len(), _ => p1.len() }) % p1.len()] });
                    let v15: u32 = n;
                }
                let v17: u32 = ({ let b16 = (n + n); n });
                let v23: S0 = (match (({ let b19 = n; p0 })) { Some(o18) if ({ let o22: Option<bool> = None; o22 }).unwrap_or_else(|| (n as u8 & 1 == 1)) => (S0 { f0: (n as u8 & 1 == 1), f1: (n as f64 * 1000.5), f2: n } + S0 { f0: (n as u8 & 1 == 1), f1: (n as f64 * 1000.5), f2: n }), _ => S0 { f0: (n as u8 & 1 == 1), f1: (n as f64 * 1000.5), f2: n } });
            }
            _ => {
            }
        }
        if n < 1 {
            return (match &p1[..] { [] => n, [x24] => n, [x24, .., y25] => n });
        }
        t1(n - 1, &mut g4);
        #[parallel]
        for i27 in 0..2u32 {
            sync!();
            sync!();
            let v28: u32 = n;
            let v29: u32 = n;
        }
        return (if (n as u8 & 1 == 1) { (n + n) } else { n });
    }

    #[task]
    pub fn t1(n: u32, p0: &mut u32) {
        if ((match n & 7 { 0 => (n as i64), 1 | 2 => (n as i64), 3..=5 => (n as i64), _ => (n as i64) }) < ((n as i64) + (n as i64))) {
        }
        if n > 0 {
            if (match ((n as i64), (if (n as u8 & 1 == 1) { (n as u8 & 1 == 1) } else { false })) { (0, true) => (n as u8 & 1 == 1), (1.., false) => (n < n), (_, true) => (n as u8 & 1 == 1), _ => (n as u8 & 1 == 1) }) {
                let mut v30: u32 = n;
                for i31 in 0..=0u32 {
                    let v32: u32 = n;
                }
                if let Some(o33) = ((match ((if let Some(o34) = (Some(n)) { n } else { n }), (n as u8 & 1 == 1)) { (0, true) => Some(n), (1.., false) => Some(n), (_, true) => (n).checked_add(n), _ => Some(n) })) {
                } else {
                    if (match (({ let b38 = n; (n as i64) }), (n as u8 & 1 == 1)) { (0, true) => (n as u8 & 1 == 1), (1.., false) => (n as u8 & 1 == 1), (_, true) => (n as u8 & 1 == 1), _ => (n as u8 & 1 == 1) }) {
                    }
                    if ((if (n as u8 & 1 == 1) { (n as i64) } else { (n as i64) }) < (match n & 7 { 0 => (n as i64), 1 | 2 => (n as i64), 3..=5 => (n as i64), _ => (n as i64) })) {
                        let v39: u32 = n;
                        let v40: u32 = n;
                    } else if (n as u8 & 1 == 1) {
                        let mut v46: [S0; 5] = [S0 { f0: (n as u8 & 1 == 1), f1: (n as f64 * 1000.5), f2: n }, S0 { f0: (n as u8 & 1 == 1), f1: (n as f64 * 1000.5), f2: n }, ({ let f41 = |x42: u32| S0 { f0: (n as u8 & 1 == 1), f1: (n as f64 * 1000.5), f2: n }; if (n as u8 & 1 == 1) { f41(n) } else { f41(n) } }), ({ let f43 = |x44: u32| S0 { f0: (n as u8 & 1 == 1), f1: (n as f64 * 1000.5), f2: n }; if (n as u8 & 1 == 1) { f43(n) } else { f43(n) } }), (match (n as i64) { m45 if m45 > (n as i64) => S0 { f0: (n as u8 & 1 == 1), f1: (n as f64 * 1000.5), f2: 0u32 }, 0 => S0 { f0: (n as u8 & 1 == 1), f1: (n as f64 * 1000.5), f2: n }, _ => S0 { f0: (n as u8 & 1 == 1), f1: (n as f64 * 1000.5), f2: n } })];
                        { let x: S0 = v46[4]; v46.fill(x); }
                    } else {
                    }
                }
            }
        }
    }
}

millstream_tests::cases! {
    t0(0, None, &[4, 5], &mut -3);
    t0(24, Some(0), &[], &mut 0);
    t0(11, Some(7), &[1], &mut 9);
}
