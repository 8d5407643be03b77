//! Searches whose `Option` is taken apart or asked, and closures that use what is lent to them as a reference.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Stone {
        pub weight: i32,
        pub worth: u64,
    }

    fn odd(x: &i32) -> bool {
        *x % 2 != 0
    }

    fn total(row: &[i32]) -> i32 {
        row.iter().sum()
    }

    #[task]
    pub fn child(n: u64) -> u64 {
        n + 1
    }

    /// What a closure has is a reference, also where the loop has the item itself.
    #[task]
    pub fn lent(a: &[i32], b: &[i32], n: usize) -> (usize, usize, usize, usize, usize, i32, usize) {
        let passed = a.iter().copied().filter(|x| odd(x)).count();
        let range = (0..n).filter(|i| (1..5).contains(i)).count();
        let among = a.iter().copied().filter(|x| b.contains(x)).count();
        let matched = a.iter().filter(|x| matches!(**x, 1..=3 | 7)).count();
        let hidden = a.iter().copied().filter(|x| b.iter().any(|x| *x > 3) && *x > 0).count();
        let rows = [[1, 2], [3, 4], [-5, 1]];
        let sum = rows.iter().copied().filter(|row| total(row) > 0).map(|row| row[0]).sum::<i32>();
        let pairs = a
            .iter()
            .copied()
            .enumerate()
            .inspect(|(i, x)| assert!(*i < 100 && *x != 77))
            .filter(|(i, x)| {
                let z = x;
                *i > 0 && odd(z) && a[*i] == *x
            })
            .count();
        (passed, range, among, matched, hidden, sum, pairs)
    }

    /// Fields behind a reference are references, lent or not.
    #[task]
    pub fn behind(stones: &[Stone], pairs: &[[u32; 2]], limits: &[i32]) -> (usize, u64, usize) {
        let heavy = stones.iter().filter(|Stone { weight, .. }| limits[*weight as usize % limits.len()] > *weight).count();
        let worth = stones.iter().skip_while(|Stone { worth, .. }| twice(*worth) < 8).map(|s| s.worth).sum::<u64>();
        let rising = pairs.iter().filter(|[a, b]| *a < *b).count();
        (heavy, worth, rising)
    }

    fn twice(x: u64) -> u64 {
        2 * x
    }

    #[task]
    pub fn taken(a: &[i32], x: i32) -> (usize, i32, usize, i32, i32) {
        let first = if let Some(i) = a.iter().position(|&y| y == x) { i } else { 99 };
        let Some(&large) = a.iter().find(|y| **y > x) else {
            return (first, 0, 0, 0, 0);
        };
        let place = match a.iter().enumerate().max_by_key(|(_, y)| **y) {
            None => 99,
            Some((i, _)) => i,
        };
        let kind = match a.iter().position(|&y| y < 0) {
            Some(0) => 1,
            Some(1..=2) => 2,
            Some(_) => 3,
            _ => 4,
        };
        let kind = match a.iter().find(|y| **y > 3) {
            Some(&4) => kind + 10,
            Some(&y @ 5..9) if x < 4 => kind + y,
            None => kind + 30,
            Some(y) => kind + *y,
        };
        let mut all = kind;
        if let Some(y) = a.iter().copied().min() {
            all += y;
        } else if x > 0 {
            all -= 1;
        }
        if let Some(2..) = a.iter().position(|&y| y == 1) {
            all *= 2;
        }
        (first, large, place, kind, all)
    }

    /// Until all are even: rounds, and how often one is left out.
    #[task]
    pub fn rounds(a: &mut [u32]) -> (u32, u32) {
        let (mut rounds, mut left) = (0, 0);
        'all: while let Some(i) = a.iter().position(|x| x % 2 == 1) {
            rounds += 1;
            a[i] += 3;
            for &x in a.iter() {
                if x > 40 {
                    break 'all;
                }
                if x == 12 {
                    left += 1;
                    continue 'all;
                }
            }
        }
        (rounds, left)
    }

    /// What is done with what was found stands in the task: it leaves loops and the task, spawns and syncs.
    #[task]
    pub fn leaves(a: &[i32], n: u64) -> (u64, u64) {
        let (mut all, mut other) = (0, 0);
        'rows: for (i, row) in a.chunks(3).enumerate() {
            if let Some(j) = row.iter().position(|&x| x > 5) {
                if j == 2 {
                    continue 'rows;
                }
                all += spawn!(child((i * 3 + j) as u64));
            } else {
                other += 1;
                continue;
            }
            match row.iter().copied().find(|x| *x < 0) {
                Some(-1) => break,
                Some(x) if x < -9 => {
                    sync!();
                    return (all, other);
                }
                Some(_) => {
                    let y = spawn!(child(n));
                    sync!();
                    other += y;
                }
                None => {}
            }
            if let None = row.iter().find(|x| **x == 7) {
                other += 100;
            }
            let Some(&last) = row.iter().rev().find(|x| **x % 2 == 0) else {
                break 'rows;
            };
            other += last as u64;
        }
        sync!();
        (all, other)
    }

    /// Children in the ways through a `match`, a search's too.
    #[task]
    pub fn chosen(a: &[u64], n: u32) -> u64 {
        let x = if let Some(i) = a.iter().position(|&v| v > 2) {
            spawn!(child(i as u64))
        } else {
            0
        };
        let y = match a {
            [] => 3,
            [v, ..] => spawn!(child(*v)),
        };
        let z = match n {
            0 => spawn!(child(7)),
            1 | 2 => {
                let m = n as u64 * 3;
                spawn!(child(m))
            }
            _ => 1,
        };
        let mut best = 0;
        for &v in a {
            match a.get(v as usize) {
                Some(&w) if w > 3 => best = best.max(spawn!(child(w))),
                Some(_) => continue,
                None => break,
            }
        }
        sync!();
        x * 1000 + y * 100 + z * 10 + best
    }

    #[task]
    pub fn side_by_side(rows: &mut [u32], a: &[u32]) -> u32 {
        let mut sum = 0;
        #[parallel]
        for row in rows.chunks_mut(4) {
            let Some(free) = row.iter().position(|x| *x == 0) else {
                continue;
            };
            row[free] = match a.iter().find(|x| **x > free as u32) {
                Some(x @ 0..=2) => x + 10,
                Some(&x) => x,
                None => 1,
            };
            sum += row[free];
        }
        sum
    }

    #[task]
    pub fn asked(a: &[i32], n: usize) -> (i32, i32, usize, i64, i64, bool, bool, bool, i32) {
        let most = a.iter().max().copied().unwrap_or(-1);
        let least = a.iter().copied().min().unwrap_or_default();
        let place = a.iter().position(|&x| x == 3).unwrap_or_else(|| n + 1);
        let mapped = a.iter().position(|&x| x == 4).map_or(-1, |i| i as i64);
        let twice = a.iter().min_by_key(|x| x.abs()).map(|&x| x as i64).map(|x| x * 2).unwrap_or(7);
        let some = a.iter().find(|x| **x > 4).is_some_and(|x| odd(x));
        let none = a.iter().find(|x| **x > 4).copied().is_none_or(|x| odd(&x));
        let there = a.iter().max().cloned().is_some();
        let other = a.iter().find(|x| **x > 8).map_or_else(|| -7, |x| x - 1);
        (most, least, place, mapped, twice, some, none, there, other)
    }

    /// Tuples are ordered by the first of their fields that differ.
    #[task]
    pub fn keys(stones: &[Stone], a: (u32, i32), b: (u32, i32)) -> (Stone, i32, [bool; 4], bool) {
        let first = *stones.iter().min_by_key(|s| (s.weight, s.worth)).unwrap();
        let (_, last) = stones.iter().map(|s| (s.worth, s.weight)).max().unwrap();
        let nested = ((a.0, 1), a.1) < ((b.0, 1), b.1);
        (first, last, [a < b, a <= b, a > b, a >= b], nested)
    }

    /// By value, out of an array that stands there; and a spawn behind a search.
    #[task]
    pub fn arrays(a: &[i32], n: u64) -> (i32, i32, u64) {
        let k = [3, 1, 4];
        let sum: i32 = k.into_iter().rev().map(|x| x * 2).sum();
        let mut way = 0;
        for (dx, dy) in [(0, 1), (1, 0), (0, -1)].into_iter() {
            way = way * 3 + dx * 2 + dy;
        }
        let mut all = 0;
        if let Some(i) = a.iter().position(|&x| x > 2) {
            all += spawn!(child(i as u64 + n));
        }
        for (i, &x) in a.iter().enumerate().filter(|(i, x)| **x > 1 && *i < 4) {
            let y = spawn!(child(i as u64));
            sync!();
            all += y * x as u64;
        }
        sync!();
        (sum, way, all)
    }
}

millstream_tests::cases! {
    lent(&[3, -1, 4, 1, -5, 9, 2, 6], &[1, 2, 3, 7], 9);
    lent(&[3, -1, 4, 1], &[1, 2, 8], 3);
    behind(&[program::Stone { weight: 1, worth: 3 }, program::Stone { weight: 4, worth: 5 }], &[[1, 2], [2, 1]], &[3, 4, 2]);
    taken(&[3, -1, 4, 1, -5, 9, 2, 6], 2);
    taken(&[3, 1, 4, 1], 4);
    taken(&[-3, 1, 4, 1], 3);
    taken(&[5, 1], 3);
    taken(&[], 3);
    rounds(&mut [2, 9, 4, 7]);
    rounds(&mut [1, 39, 3]);
    rounds(&mut []);
    leaves(&[1, 6, 2, 0, 0, 0, 1, 1, 8, 7, -3, 4, 6, 6, 4, -1, 8, 9, 9, 9, 9], 5);
    leaves(&[1, 6, 2, 7, 7, 7, 8, 8, 8], 5);
    leaves(&[8, 0, 0, 1, 6, -20, 7], 5);
    chosen(&[1, 2, 5, 0], 2);
    chosen(&[], 0);
    chosen(&[1], 3);
    side_by_side(&mut [1, 0, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0], &[1, 2, 5]);
    asked(&[3, -1, 4, 1, 5], 9);
    asked(&[2, 9], 9);
    asked(&[], 4);
    keys(&[program::Stone { weight: 2, worth: 3 }, program::Stone { weight: 1, worth: 5 }, program::Stone { weight: 1, worth: 4 }, program::Stone { weight: 7, worth: 5 }], (1, 2), (1, 3));
    keys(&[program::Stone { weight: 2, worth: 3 }], (1, 2), (1, 2));
    keys(&[program::Stone { weight: 2, worth: 3 }], (3, 2), (1, 9));
    arrays(&[1, 2, 3, 4, 5], 5);
    arrays(&[1], 5);
}
