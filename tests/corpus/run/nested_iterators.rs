//! Chains that run over what their items have, one behind another, and beside ranges and what adaptors make; folds that end early; sums whose type their
//! items say.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy)]
    pub struct Part {
        pub x: [i32; 2],
        pub k: i32,
    }

    #[task]
    fn leaf(i: usize, j: usize) -> u64 {
        (i * 10 + j) as u64
    }

    #[task]
    pub fn spawned(a: &[i32], n: usize) -> (u64, [u64; 6]) {
        let mut sum = 0;
        for (i, j) in (0..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
            if (i + j) % 3 == 0 {
                continue;
            }
            if i * j > 9 {
                break;
            }
            sum += spawn!(leaf(i, j));
        }
        for x in a.iter().chain(&[7, 8]) {
            sum += spawn!(leaf(*x as usize, 0));
        }
        let mut out = [0; 6];
        for (k, (i, j)) in (0..2).flat_map(|i| (0..3).map(move |j| (i, j))).enumerate() {
            out[k] = spawn!(leaf(i, j));
        }
        sync!();
        (sum, out)
    }

    #[task]
    pub fn flat(a: &[i32], n: usize) -> (i32, i32, i32, [usize; 3], i32) {
        let mut grid = [[1, 2, 3], [4, 5, 6], [7, 8, 9]];
        let (mut s, mut t) = (0, 0);
        'out: for (i, x) in grid.iter().flatten().enumerate() {
            if *x == 2 {
                continue;
            }
            if *x == 3 {
                continue 'out;
            }
            if i > 6 {
                break 'out;
            }
            s = s * 3 + x;
        }
        for x in grid.iter().skip(1).flat_map(|r| r.iter().rev().take(2)) {
            if *x == 9 {
                break;
            }
            t = t * 10 + x;
        }
        grid.iter_mut().flatten().for_each(|x| *x += 1);
        for x in grid.iter_mut().flatten() {
            *x *= 2;
        }
        let best = *grid.iter().flatten().max().unwrap() + grid.iter().flatten().copied().min().unwrap();
        let at = grid.iter().flatten().position(|&x| x == 10).unwrap_or(99);
        let mut calls = 0;
        let taken: usize = (0..4)
            .flat_map(|i| (0..4).map(move |j| (i, j)))
            .inspect(|_| calls += 1)
            .take(6)
            .map(|(i, j)| i * 4 + j)
            .sum();
        let deep = (0..n)
            .flat_map(|i| (i..n).flat_map(move |j| (j..n).map(move |k| i + j * k)))
            .take_while(|&x| x < 9)
            .count();
        let parts = [Part { x: [1, 2], k: 3 }, Part { x: [4, 5], k: 6 }];
        let scaled = parts
            .iter()
            .flat_map(|v| {
                let k = v.k;
                v.x.iter().map(move |x| x * k)
            })
            .fold(0, |h, x| h * 7 + x);
        let slices = [a, &a[..a.len() / 2]].iter().flat_map(|p| p.iter()).count() as i32;
        (s, t, best * 100 + at as i32, [taken, calls, deep], scaled + slices)
    }

    #[task]
    pub fn options(a: &[i32]) -> (i32, usize, i32, u32) {
        let some = [Some(1), None, Some(3)];
        let tried: [Result<i32, u8>; 3] = [Ok(1), Err(2), Ok(4)];
        let s = some.iter().flatten().sum::<i32>() + tried.iter().flatten().sum::<i32>() + tried.into_iter().flatten().max().unwrap_or(0);
        let grid: [[Option<i32>; 2]; 2] = [[Some(1), None], [None, Some(5)]];
        let edges = [(0usize, 1usize), (1, 2), (3, 4)];
        let degree = |v: usize| edges.iter().flat_map(|&(a, b)| [a, b]).filter(|&w| w == v).count() as u32;
        let doubled = grid.iter().flat_map(|r| r.iter().flatten()).map(|x| x * 2).sum();
        let halves = a.iter().flat_map(|&x| (x % 2 == 0).then_some(x / 2)).count();
        (s, grid.iter().flatten().flatten().count() + halves, doubled, (0..5).map(degree).fold(0, |h, d| h * 3 + d))
    }

    #[task]
    pub fn triple(n: usize) -> Option<(usize, usize, usize)> {
        (1..n).flat_map(|a| (a..n).map(move |b| (a, b))).find_map(|(a, b)| {
            let c2 = a * a + b * b;
            let c = c2.isqrt();
            if c * c != c2 {
                return None;
            }
            Some((a, b, c))
        })
    }

    #[task]
    pub fn chained(a: &[i32]) -> (i32, i32, bool, i32, i32) {
        let s = a.iter().chain([10, 20].iter()).skip(2).step_by(2).fold(0, |h: i32, x| h.wrapping_mul(3) + x);
        let t = a
            .iter()
            .copied()
            .filter(|x| x % 2 == 1)
            .chain(a.iter().map(|x| x * 2))
            .take(7)
            .fold(0, |h: i32, x| h.wrapping_mul(5) + x);
        let u = a.iter().take_while(|x| **x < 4).chain(&[100]).chain(a.iter().rev()).any(|&x| x == 6);
        let mut w = 0;
        'x: for i in (0..3).chain(10..13).chain([7, 8].into_iter()) {
            if i == 1 {
                continue;
            }
            if i == 12 {
                continue 'x;
            }
            if i == 8 {
                break 'x;
            }
            w = w * 2 + i;
        }
        let most = std::iter::once(3).chain(a.iter().copied()).max().unwrap();
        (s, t, u, w, most)
    }

    #[task]
    pub fn beside(a: &[i32]) -> (i32, i32, i32, u32, i32) {
        let weights = [1, 2, 3];
        let p = a
            .iter()
            .zip(1..)
            .filter(|(x, _)| **x > 2)
            .map(|(x, i)| x * i)
            .zip((0..).map(|k| k * k))
            .fold(0, |s: i32, (p, q)| s.wrapping_mul(2) + p + q);
        let q = a
            .iter()
            .filter(|x| **x % 2 == 1)
            .zip(weights.iter().map(|x| x * 10))
            .zip(&weights)
            .fold(0, |s, ((p, q), r)| s * 2 + p + q + r);
        let mut b = [0; 8];
        for (d, s) in b.iter_mut().zip(a.iter().map(|x| x * x)) {
            *d = s;
        }
        for (i, d) in (10..).zip(b.iter_mut()) {
            *d += i;
        }
        for (d, i) in b.iter_mut().zip((0..8).rev()) {
            *d -= i;
        }
        let r = b.iter().rev().fold(0, |s: i32, x| s.wrapping_mul(2) + x);
        let edge = (250u8..=255).zip(a).map(|(i, x)| i as u32 * *x as u32).sum::<u32>()
            + a.iter().filter(|x| **x > 1).zip((3..=u8::MAX).rev()).map(|(x, i)| *x as u32 * i as u32).sum::<u32>();
        let t = a.iter().map(|x| x * 2).zip(a.iter().skip(1)).map(|(p, q)| p * q).sum::<i32>()
            + a.iter().zip(a.iter().skip(1).map(|x| x + 1)).map(|(p, q)| p * q).sum::<i32>();
        (p, q, r, edge, t)
    }

    #[task]
    pub fn turned(a: &[i32]) -> (i32, Option<usize>) {
        let s = a.iter().map(|x| x * 2).filter(|x| *x > 4).rev().take(2).fold(0, |h, x| h * 100 + x);
        (s, a.iter().map(|x| x + 1).rev().position(|x| x == 10))
    }

    #[task]
    pub fn tried(a: &[i32]) -> (Option<usize>, Option<i32>, Result<u32, i32>) {
        let p = a.iter().try_fold(1usize, |s, &x| {
            if x == 9 {
                return None;
            }
            Some(s * x as usize)
        });
        let q = a.iter().try_fold(0i32, |s, &x| s.checked_add(x * 100_000_000));
        let r: Result<u32, i32> = a.iter().try_fold(0, |s, &x| if x < 10 { Ok(s + x as u32) } else { Err(x) });
        (p, q, r)
    }

    #[task]
    pub fn each(a: &[i32]) -> Result<(), i32> {
        a.iter().enumerate().try_for_each(|(i, &x)| if i < 5 { Ok(()) } else { Err(x) })
    }

    #[task]
    pub fn held(a: &[i32], n: usize) -> (usize, usize, bool) {
        let r = 2..n;
        let s = r.clone().map(|i| i * i).sum::<usize>();
        let t = r.clone().zip(a.iter()).map(|(i, x)| i * *x as usize).sum::<usize>();
        let mut u = 0;
        for i in r.clone().filter(|i| i % 2 == 0) {
            u += i;
        }
        for i in r.rev() {
            u = u * 10 + i;
        }
        let q = 0..=n;
        (s + t, u, q.clone().all(|x| x < 6) && q.contains(&3))
    }

    #[task]
    pub fn sums(a: &[i32]) -> (i32, usize, f32) {
        let s = a.iter().sum();
        let c = a.iter().map(|x| *x as usize).sum();
        let f = a.iter().map(|&x| x as f32).product();
        (s, c, f)
    }
}

millstream_tests::cases! {
    spawned(&[3, 1], 6);
    spawned(&[], 0);
    flat(&[3, 1, 4, 1, 5], 5);
    flat(&[], 0);
    options(&[2, 3, 4]);
    triple(30);
    triple(4);
    chained(&[3, 1, 4, 1, 5, 9, 2, 6]);
    chained(&[]);
    beside(&[3, 1, 4, 1, 5, 9, 2, 6]);
    beside(&[1]);
    turned(&[3, 1, 4, 1, 5, 9, 2, 6]);
    turned(&[]);
    tried(&[3, 1, 4, 1, 5, 9, 2, 6]);
    tried(&[3, 1, 14]);
    tried(&[]);
    each(&[1, 2, 3]);
    each(&[1, 2, 3, 4, 5, 6]);
    held(&[3, 1, 4, 1, 5], 5);
    held(&[3], 9);
    sums(&[3, 1, 4]);
    sums(&[]);
}
