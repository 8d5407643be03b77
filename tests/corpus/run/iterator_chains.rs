//! Chains of an iterator's methods, in heads of loops and as values.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Stone {
        pub weight: i32,
        pub worth: u64,
    }

    fn double(x: u32) -> u32 {
        x.wrapping_mul(2)
    }

    #[task]
    pub fn sums(a: &[i32], b: &[i32], n: usize) -> (i64, i32, usize, i32, u64, u32) {
        let product: i64 = a.iter().zip(b).map(|(x, y)| *x as i64 * *y as i64).sum();
        let odd = a.iter().filter(|x| **x % 2 != 0).copied().sum::<i32>();
        let even_places = a.iter().enumerate().filter(|(i, x)| *i % 2 == 0 && **x > 0).count();
        let most = a.iter().copied().max().unwrap_or(i32::MIN);
        let digits = (0..n).fold(7u64, |all, i| {
            all.wrapping_mul(31).wrapping_add(i as u64)
        });
        let most = a.iter().fold(most, |most, &x| if x > 3 { most } else { 0 } + 1);
        let doubled = (1..=n as u32).map(double).product::<u32>();
        (product, odd, even_places, most, digits, doubled)
    }

    #[task]
    pub fn questions(a: &[i32], limit: i32) -> (bool, bool, usize, bool, i32, i32, usize) {
        let any = a.iter().any(|&x| x > limit);
        let all = a.iter().all(|x| *x > limit);
        let place = a.iter().position(|&x| x == limit).unwrap_or(a.len());
        let none = a.iter().find(|&&x| x == limit).is_none();
        let least = *a.iter().min().unwrap();
        let nearest = *a.iter().min_by_key(|x| (**x - limit).abs()).unwrap();
        let (last, _) = a.iter().enumerate().max_by_key(|&(_, x)| x.abs()).unwrap();
        (any, all, place, none, least, nearest, last)
    }

    #[task]
    pub fn heads(a: &[u32], out: &mut [u32]) -> u32 {
        let mut sum = 0u32;
        for x in a.iter().skip(1).take(5).map(|x| x * 2) {
            if x == 6 {
                continue;
            }
            sum += x;
        }
        for (i, x) in out.iter_mut().enumerate().filter(|(i, _)| i % 2 == 1) {
            *x += i as u32;
        }
        'outer: for i in (0..a.len()).filter(|&i| a[i] > 2) {
            for j in (0..i).rev().skip_while(|j| *j > 4) {
                if a[j] == a[i] {
                    continue 'outer;
                }
                if a[j] > 100 {
                    break 'outer;
                }
                sum = sum.wrapping_mul(3).wrapping_add(j as u32);
            }
        }
        out.iter_mut().for_each(|x| *x += 1);
        sum.wrapping_add(
            a.chunks(3)
                .map(|row| row.iter().product::<u32>())
                .sum::<u32>(),
        )
    }

    /// No item after those that are taken is looked at.
    #[task]
    pub fn taken(a: &[u32], n: usize) -> u32 {
        let first = (0..1000).take(n).map(|i| a[i]).sum::<u32>();
        let some = (0..100).filter(|i| a[*i] > 1).take(2).map(|i| i as u32).sum::<u32>();
        first + some * 1000
    }

    #[task]
    pub fn floats(a: &[f32], stones: &[Stone]) -> (u32, f32, u64, f64, bool) {
        let sum: f32 = a.iter().sum();
        let most = a.iter().copied().fold(f32::MIN, f32::max);
        let worth = stones.iter().map(|s| s.worth).max().unwrap_or(0);
        let product: f64 = a.iter().map(|&x| x as f64).take_while(|x| *x < 5.0).product();
        let lighter = stones.iter().find(|s| s.weight < 0).is_some();
        (sum.to_bits(), most, worth, product, lighter)
    }

    /// A name of the closure's hides one around it, and what it makes anew hides that.
    #[task]
    pub fn names(a: &[u32]) -> u32 {
        let x = 100;
        let plain: u32 = a.iter().filter(|y| **y < x).map(|x| x + 1).sum();
        let anew = a
            .iter()
            .filter(|x| {
                let x = **x + 1;
                let y = &x;
                *y > 3
            })
            .count();
        let nested: u32 = (0..3u32)
            .map(|i| a.iter().map(|x| x * i).filter(|x| x % 2 == 0).sum::<u32>())
            .sum();
        plain * 10_000 + anew as u32 * 1000 + nested + x
    }

    #[task]
    pub fn queens(n: usize, row: usize, columns: [usize; 8]) -> u64 {
        if row == n {
            return 1;
        }
        let mut ways = 0u64;
        for c in (0..n).filter(|&c| {
            (0..row).all(|r| columns[r] != c && columns[r].abs_diff(c) != row - r)
        }) {
            let mut next = columns;
            next[row] = c;
            ways += spawn!(queens(n, row + 1, next));
        }
        sync!();
        ways
    }
}

millstream_tests::cases! {
    sums(&[3, -1, 4, 1, -5, 9, 2, 6], &[1, 2, 3, 4, 5, 6, 7, 8], 5);
    sums(&[], &[], 0);
    questions(&[3, -1, 4, 1, -5, 9, 2, 6, -9], 2);
    questions(&[7], 9);
    heads(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 3, 200, 5], &mut [0; 4]);
    heads(&[], &mut []);
    taken(&[3, 1, 4, 1, 5], 3);
    taken(&[0, 2, 2], 0);
    floats(&[1.5, 2.0, 7.0], &[program::Stone { weight: -1, worth: 5 }, program::Stone { weight: 2, worth: 3 }]);
    floats(&[], &[]);
    names(&[1, 2, 3, 4, 5]);
    queens(6, 0, [0; 8]);
}
