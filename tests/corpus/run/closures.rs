//! Closures with a name are parts of what calls them.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Place {
        pub x: i32,
        pub y: i32,
    }

    #[task]
    pub fn child(n: u64) -> u64 {
        n + 1
    }

    /// What a closure names is what stood there, whatever has its name where it is called.
    #[task]
    pub fn names(a: &[i32], w: usize) -> (i32, usize, i32) {
        let at = |x: usize, y: usize| a[y * w + x];
        let corner = || at(0, 0);
        let first = at(w - 1, 0);
        let w = 0;
        let a = [7, 7];
        let in_block = {
            let at = |x: usize| at(x, 1) + a[x];
            at(1)
        };
        (first + corner(), w, in_block + at(w, 0))
    }

    /// It writes what it captures, and ends with what its loops and branches give.
    #[task]
    pub fn writes(a: &mut [u32], limit: u32) -> (u32, u32) {
        let (mut calls, mut most) = (0, 0);
        let mut put = |i: usize, x: u32| {
            calls += 1;
            for y in a[i..].iter_mut() {
                if *y > limit {
                    break;
                }
                *y += x;
            }
            if a[i] > most {
                most = a[i];
            }
            most
        };
        let all = put(0, 1) + put(1, 2) * 100;
        put(2, 3);
        (all + calls, most)
    }

    /// As what a chain takes: with items that are there themselves, and that are references.
    #[task]
    pub fn in_chains(a: &[i32], places: &[Place], limit: i32) -> (usize, usize, i32, i32) {
        let odd = |x: &&i32| **x % 2 != 0;
        let small = |x: &i32| *x < limit;
        let norm = |&Place { x, y }: &Place| x * x + y * y;
        let add = |all: i32, x: &i32| -> i32 { all.wrapping_mul(3) + x };
        let odds = a.iter().filter(odd).count();
        let smalls = a.iter().copied().filter(small).count();
        (odds, smalls, a.iter().fold(1, add), places.iter().map(norm).max().unwrap_or(limit))
    }

    #[task]
    pub fn beside_children(a: &[u64], out: &mut [u64]) -> u64 {
        let twice = |x: u64| 2 * x;
        let mut all = 0;
        for &x in a {
            all += spawn!(child(twice(x)));
        }
        #[parallel]
        for (i, o) in out.iter_mut().enumerate() {
            *o = twice(a[i % a.len()]) + twice(i as u64);
        }
        sync!();
        twice(all)
    }
}

millstream_tests::cases! {
    names(&[1, 2, 3, 4], 2);
    writes(&mut [1, 2, 3, 9, 4], 5);
    in_chains(&[1, 2, 3, 4, -5], &[program::Place { x: 1, y: 2 }, program::Place { x: -3, y: 0 }], 3);
    in_chains(&[], &[], 3);
    beside_children(&[1, 2, 3], &mut [0; 5]);
}
