//! `return` and `?` in closures, which leave these alone; and functions under another name.

#[millstream::program]
pub mod program {
    fn double(x: i32) -> i32 {
        x * 2
    }

    fn same<T>(x: T) -> T {
        x
    }

    fn asked<F: Fn(i32) -> Option<i32>>(f: F, x: i32) -> i32 {
        let y = f(x);
        y.unwrap_or(-1)
    }

    fn all(a: &[i32], f: impl Fn(i32) -> bool) -> bool {
        for &x in a {
            if !f(x) {
                return false;
            }
        }
        true
    }

    #[task]
    pub fn early(a: &[i32], n: usize) -> (i32, usize, i32, usize) {
        let sign = |x: i32| {
            if x < 3 {
                return -1;
            }
            if x == 4 {
                return 0;
            }
            1
        };
        let mut sum = 0;
        #[parallel]
        for i in 0..n {
            sum += sign(i as i32);
        }
        let kept = a
            .iter()
            .filter(|&&x| {
                if x == 1 {
                    return true;
                }
                x % 3 == 0
            })
            .count();
        let inner = |i: usize| {
            let g = |j: usize| {
                if j > 2 {
                    return 7;
                }
                j
            };
            if i == 3 {
                return g(i) * 100;
            }
            g(i)
        };
        let k = n as i32;
        let root = asked(
            |x| {
                for i in 0..x {
                    if i * i > k {
                        return Some(i);
                    }
                }
                None
            },
            10,
        );
        let positive = all(a, |x| loop {
            if x > 0 {
                return true;
            }
            break false;
        });
        (sum * 10 + a.iter().map(|&x| sign(x)).sum::<i32>(), kept, root * 10 + positive as i32, (0..n).map(inner).sum())
    }

    #[task]
    pub fn nothing(a: &[i32], n: usize) -> (Option<i32>, Option<u64>, u64, bool) {
        let pair = |i: usize| -> Option<i32> { Some(*a.get(i)? * 10 + *a.get(i + 1)?) };
        let far = |i: usize| {
            let y = a.get(i)?;
            let z = a.get(*y as usize)?;
            Some(*z as u64)
        };
        let less = far(n).and_then(|q| {
            let w = q.checked_sub(1)?;
            if w > 5 {
                return None;
            }
            Some(w)
        });
        // What a closure says that it gives is what its body is of.
        let wide = (0..n).map(|i| -> u64 { 1 << (i + 38) }).max().unwrap_or(0);
        let macros = |i: usize| matches!(a.get(i)?, 3..).then_some(());
        (pair(n).or(pair(0)), less, wide, macros(0).is_some() && macros(99).is_none())
    }

    #[task]
    pub fn faults(a: &[i32], n: usize) -> Result<i32, u8> {
        let step = |x: i32| -> Result<i32, u8> {
            let y = a.get(x as usize).ok_or(7u8)?;
            if *y == 9 {
                return Err(9);
            }
            Ok(*y)
        };
        let mut at = 0;
        for _ in 0..n {
            at = step(at)?;
        }
        let rest = a
            .iter()
            .map(|&x| step(x))
            .filter_map(|r| {
                let v = r.ok()?;
                (v > 2).then_some(v)
            })
            .sum::<i32>();
        Ok(at + rest)
    }

    #[task]
    pub fn names(a: &[i32]) -> i32 {
        let f = double;
        let g = |x| f(x) + 1;
        let h = g;
        let k = same;
        h(3) + a.iter().copied().map(f).sum::<i32>() + k(4)
    }
}

millstream_tests::cases! {
    early(&[3, 1, 4, 1, 5, 9, 2, 6], 5);
    early(&[-3], 0);
    nothing(&[3, 1, 4, 1, 5, 9, 2, 6], 3);
    nothing(&[3], 0);
    nothing(&[], 1);
    faults(&[3, 1, 4, 1, 5, 9, 2, 6], 2);
    faults(&[4, 1, 5, 1, 3, 9, 2, 6], 9);
    faults(&[4, 1, 5, 1, 5, 9, 2, 6], 3);
    names(&[3, 1, 4]);
}
