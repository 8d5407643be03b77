//! Parts of slices, from either end, in step with others; searches and sorts by closures.

#[millstream::program]
pub mod program {
    #[task]
    pub fn a(s: &[u32], q: &[u32]) -> (u32, u32, u32, u32, u32, u32) {
        let a = s
            .iter()
            .zip(s.iter().skip(1))
            .filter(|(a, b)| a < b)
            .count() as u32;
        let b: u32 = s.iter().zip(q.iter().rev()).map(|(a, b)| a * b).sum();
        let c: u32 = s.iter().skip(2).zip(q).map(|(a, b)| a * b).sum();
        let mut d = 0;
        for (i, (x, y)) in s.iter().skip(1).zip(q.iter().rev().skip(1)).enumerate() {
            d = d * 3 + x * y + i as u32;
        }
        let e: u32 = s
            .iter()
            .take(3)
            .zip(q.iter().rev().take(2))
            .map(|(x, y)| x * 10 + y)
            .sum();
        let f: u32 = s
            .iter()
            .copied()
            .rev()
            .zip(q.iter().copied().skip(100))
            .map(|(x, y)| x * y)
            .sum();
        (a, b, c, d, e, f)
    }
    #[task]
    pub fn b(s: &[u32]) -> (bool, bool, u32) {
        let p = s.iter().zip(s.iter().rev()).all(|(a, b)| a == b);
        let mut o = [0u32; 5];
        for (o, x) in o.iter_mut().skip(1).zip(s.iter().rev().copied()) {
            *o = x;
        }
        (p, p, o[1] * 1000 + o[2] * 100 + o[4])
    }
    #[task]
    pub fn c(s: &[u32]) -> (u32, usize, u32, Option<u32>) {
        let mut t = 0;
        for (i, x) in s
            .iter()
            .rev()
            .enumerate()
            .skip(1)
            .step_by(2)
            .take_while(|(_, x)| **x < 9)
        {
            t += i as u32 * x;
        }
        let u = s.iter().map(|x| x * 2).step_by(3).count();
        let v: u32 = s.iter().filter(|x| **x > 1).step_by(2).sum();
        (t, u, v, s.iter().rev().copied().find(|&x| x < 3))
    }
    #[task]
    pub fn d(
        mut a: [u32; 8],
    ) -> (
        [u32; 8],
        [u32; 8],
        [u32; 8],
        Result<usize, usize>,
        Result<usize, usize>,
        Result<usize, usize>,
        Option<u32>,
        bool,
    ) {
        let mut p = a;
        p.sort_by(|a, b| b.cmp(a));
        let mut q = a;
        q.sort_by(|x, y| (x % 3).cmp(&(y % 3)).then(y.cmp(x)));
        a.copy_within(1..5, 2);
        let r = a;
        a.sort();
        let w = r.get(2..4).map(|w| w[0] + w[1]);
        let x = r.get(7..9).is_none();
        (
            p,
            q,
            r,
            a.binary_search(&4),
            a.binary_search_by(|p| p.cmp(&7)),
            a.binary_search_by_key(&18, |x| x * 2),
            w,
            x,
        )
    }
    #[task]
    pub fn e(a: [u32; 2]) -> (u32, u32, u32) {
        let [x, ..] = a;
        let (ref y, z @ [.., w]) = (x + 1, a);
        let m = a.iter().map(|v| v.max(y)).sum::<u32>();
        (m, z[0] + w, *a.iter().min().unwrap().max(&3))
    }
}

millstream_tests::cases! {
    a(&[3, 1, 4, 1, 5, 9, 2, 6], &[2, 7, 1, 8]);
    b(&[3, 1, 4, 1, 3]);
    c(&[3, 1, 4, 1, 5, 9, 2, 6]);
    d([3, 1, 4, 1, 5, 9, 2, 6]);
    e([2, 9]);
}
