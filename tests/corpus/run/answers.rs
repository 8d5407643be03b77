//! Children whose results are, or are part of, the value that a task ends with: they come with the task's last sync.
#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU64, Ordering};

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Pair {
        pub l: u32,
        pub r: u64,
    }

    /// What is returned is chosen, with children in some of the ways.
    #[task]
    pub fn chosen(n: u32) -> u32 {
        if n % 3 == 1 {
            return match n.checked_sub(4) {
                None => 1,
                Some(m) if m > 20 => spawn!(chosen(m - 1)) + spawn!(chosen(m / 2)),
                Some(m) => 2 * spawn!(chosen(m)),
            };
        }
        return if n > 2 { spawn!(chosen(n - 1)) } else { n + 5 };
    }

    #[task]
    pub fn even(n: u32) -> bool {
        if n == 0 {
            return true;
        }
        spawn!(odd(n - 1))
    }

    #[task]
    pub fn odd(n: u32) -> bool {
        if n == 0 {
            return false;
        }
        return spawn!(even(n - 1));
    }

    #[task]
    pub fn fib(n: u32) -> u64 {
        if n < 2 { n as u64 } else { spawn!(fib(n - 1)) + spawn!(fib(n - 2)) }
    }

    #[task]
    pub fn gcd(a: u64, b: u64) -> u64 {
        match b {
            0 => a,
            _ => spawn!(gcd(b, a % b)),
        }
    }

    #[task]
    pub fn find(data: &[u32], x: u32, from: usize) -> Option<usize> {
        if data.is_empty() {
            return None;
        }
        let m = data.len() / 2;
        if data[m] == x {
            return Some(from + m);
        }
        if x < data[m] {
            spawn!(find(&data[..m], x, from))
        } else {
            spawn!(find(&data[m + 1..], x, from + m + 1))
        }
    }

    #[task]
    pub fn pair(n: u32) -> Pair {
        if n == 0 {
            return Pair { l: 1, r: 2 };
        }
        Pair { l: n + spawn!(pair(n - 1)).l, r: spawn!(fib(n)) }
    }

    #[task]
    pub fn checked(n: u32) -> Result<u64, u32> {
        if n == 7 {
            return Err(n);
        }
        if n == 0 {
            return Ok(1);
        }
        Ok(spawn!(fib(n)).max(spawn!(checked(n - 1))?.wrapping_mul(3)))
    }

    #[task]
    pub fn bump(x: &mut u64, n: u64) -> u64 {
        *x += n;
        n * 2
    }

    /// What stands before the child is evaluated before it.
    #[task]
    pub fn before(mut x: u64, count: &AtomicU64) -> u64 {
        let x = &mut x;
        *x + count.fetch_add(1, Ordering::Relaxed) * 1000 + spawn!(bump(x, 5))
    }

    fn more(x: &mut u64) -> u64 {
        *x += 10;
        *x
    }

    /// A name is what it was where it stands, whatever changes it later.
    #[task]
    pub fn changed(n: u64) -> (u64, u64, u64, u64) {
        let mut a = n;
        if n < 5 {
            return (a, { a = 100; a }, spawn!(gcd(n, 6)), a);
        }
        let sum = n / 2;
        (a + (more(&mut a) + spawn!(gcd(n, 6))), a, sum + ({ a += 7; a } + spawn!(gcd(n, 4))), a)
    }

    #[task]
    pub fn last(n: u32, out: &mut [u32]) {
        if n == 0 {
            return;
        }
        out[n as usize] += n;
        if n > 3 {
            return spawn!(last(n - 2, out));
        }
        match n {
            1 => {}
            _ => spawn!(last(n - 1, out)),
        }
    }

    #[task]
    pub fn array(n: u64) -> [u64; 3] {
        if n == 0 {
            return [1, 2, 3];
        }
        [spawn!(gcd(n * 6, 4)), n, spawn!(array(n - 1))[1]]
    }

    #[task]
    pub fn tuple(n: u64) -> (u64, bool) {
        if n == 0 { (3, true) } else { (spawn!(gcd(n, 12)), !spawn!(tuple(n - 1)).1) }
    }

    #[task]
    pub fn nested(n: u64) -> u64 {
        for i in 0..n {
            if i * i > n {
                return i + spawn!(gcd(i, n));
            }
        }
        {
            if n > 3 {
                let k = n * 2;
                match k {
                    9 => k,
                    k => {
                        let less = 1;
                        spawn!(nested(k)) - less
                    }
                }
            } else {
                let k = spawn!(gcd(7, n));
                let twice = 2;
                sync!();
                k * twice + spawn!(gcd(8, n)) * 3
            }
        }
    }

    /// A task that only hands on what its child gives, of several kinds.
    #[task]
    pub fn handed(n: u32) -> Pair {
        if n == 0 { Pair { l: 7, r: 8 } } else { spawn!(handed(n - 1)) }
    }

    #[task]
    pub fn all(n: u32, data: &[u32], count: &AtomicU64) -> (u64, u64, Pair, [u64; 3], (u64, bool), Pair) {
        let e = spawn!(even(n));
        let g = spawn!(gcd(1071, 462));
        let i = spawn!(find(data, 30, 0));
        let p = spawn!(pair(n));
        let c = spawn!(checked(6));
        let d = spawn!(checked(n));
        let b = spawn!(before(n as u64, count));
        let a = spawn!(array(n as u64));
        let t = spawn!(tuple(n as u64));
        let h = spawn!(handed(n));
        sync!();
        let i = i.map_or(99, |i| i as u64);
        let c = c.unwrap_or(5);
        let d = match d {
            Ok(d) => d,
            Err(e) => e as u64 + 1000,
        };
        (e as u64 + 10 * g + 1000 * i, c * 10000 + d + b, p, a, t, h)
    }
}
millstream_tests::cases! {
    chosen(40);
    chosen(2);
    chosen(1);
    all(0, &[1u32, 30], &std::sync::atomic::AtomicU64::new(5));
    all(10, &[1u32, 2, 4, 8, 10, 20, 30, 40], &std::sync::atomic::AtomicU64::new(0));
    changed(3);
    changed(12);
    even(1001);
    fib(15);
    last(9, &mut [0u32; 10]);
    nested(2);
    nested(5);
    nested(40);
}
