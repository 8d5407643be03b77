//! Patterns of `let`, of `for` and of parameters whose cases bind the same names, and loops that take what they go over apart.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy)]
    pub enum Side {
        Left(u32, i64),
        Right(u32, i64),
    }

    fn count((Side::Left(n, _) | Side::Right(n, _)): Side) -> u32 {
        n
    }

    fn twice(n: u32) -> Result<u32, u32> {
        if n % 2 == 0 { Ok(2 * n) } else { Err(n) }
    }

    #[task]
    pub fn cases(n: u32, sorted: &[u32]) -> (u32, u32, i64, u32) {
        let (Ok(at) | Err(at)) = sorted.binary_search(&n);
        let all = [twice(n), twice(n + 1), Err(7)];
        let mut sum = 0;
        for Ok(x) | Err(x) in all {
            sum += x;
        }
        for &(Ok(x) | Err(x)) in &all {
            sum += 2 * x;
        }
        let total: u32 = all.iter().map(|(Ok(x) | Err(x))| *x).sum();
        let side = if n > 3 { Side::Left(n, -1) } else { Side::Right(n + 1, 5) };
        let (Side::Left(a, mut b) | Side::Right(a, mut b)) = side;
        b += a as i64;
        let (Ok(ref first) | Err(ref first)) = all[0];
        (at as u32 + total, sum + count(side), b, *first)
    }

    #[task]
    pub fn loops(n: u32, rows: &mut [[u32; 4]]) -> (u32, u32, u32) {
        let all = [twice(n), twice(n + 1), Err(7)];
        let mut sum = 0;
        for (i, Ok(x) | Err(x)) in all.iter().enumerate() {
            sum += *x * i as u32;
        }
        for (i, &(Ok(x) | Err(x))) in all.iter().enumerate().rev() {
            if x == 7 {
                continue;
            }
            sum += x * i as u32;
        }
        let mut ends = 0;
        for [a, .., b] in rows.iter() {
            ends += a * b;
        }
        for [a, rest @ ..] in rows.iter_mut() {
            *a += 1;
            rest[0] += *a;
        }
        for &mut [ref mut a, ..] in rows.iter_mut() {
            *a *= 2;
        }
        for whole @ [a, _, _, b] in rows.iter() {
            ends += whole[1] + *a + *b;
        }
        let mut others = 0;
        'out: for Ok(x) | Err(x) in all.into_iter().chain([Ok(1)]) {
            if x == 7 {
                others += 100;
                continue 'out;
            }
            others += x;
        }
        (sum, ends, others)
    }

    /// In parts of what is bound, and beside an iterator.
    #[task]
    pub fn parts(n: u32, more: &[u32]) -> u32 {
        let (Ok(x) | Err(x), over) = (twice(n), more.iter());
        let mut sum = x + over.sum::<u32>();
        let all = [twice(n), twice(n + 1)];
        for (a, Ok(b) | Err(b)) in [1, 2].iter().zip(all) {
            sum += a * b;
        }
        for (Ok(b) | Err(b), i) in all.into_iter().zip(0..) {
            sum += i * b;
        }
        for pair in all.windows(2) {
            let [Ok(a) | Err(a), Ok(b) | Err(b)] = pair else { continue };
            sum += a * b;
        }
        #[parallel]
        for i in 0..4u32 {
            let (Ok(a) | Err(a)) = twice(i);
            sum += a;
        }
        sum
    }

    #[task]
    pub fn tree(n: u32) -> u32 {
        if n < 2 {
            return n;
        }
        let (Ok(k) | Err(k)) = twice(n);
        let mut total = k;
        for Ok(child) | Err(child) in [twice(n / 2), twice(n / 3)] {
            total += spawn!(tree(child % n));
        }
        sync!();
        total
    }
}

millstream_tests::cases! {
    cases(3, &[1, 3, 6]);
    cases(4, &[1, 3, 6]);
    loops(5, &mut [[1, 2, 3, 4], [3, 4, 5, 6]]);
    loops(2, &mut []);
    parts(4, &[1, 2]);
    tree(40);
}
