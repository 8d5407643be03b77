//! Macros that stand for spawns and syncs, used several times in one task.

#[millstream::program]
pub mod program {
    macro_rules! fork {
        ($a:expr, $b:expr => $x:ident, $y:ident) => {
            let $x = spawn!($a);
            let $y = spawn!($b);
            sync!();
        };
    }
    macro_rules! join {
        ($a:expr, $b:expr) => {{
            let x = spawn!($a);
            let y = spawn!($b);
            sync!();
            (x, y)
        }};
    }
    macro_rules! both { ($($call:expr);+ $(;)?) => { $(spawn!($call);)+ sync!(); } }
    #[task]
    pub fn fib(n: u32) -> u64 {
        if n < 2 {
            return n as u64;
        }
        let (a, b) = join!(fib(n - 1), fib(n - 2));
        let (c, d) = join!(fib(n / 2), fib(n / 3));
        a + b + c - d
    }
    #[task]
    pub fn sort(a: &mut [u32], tmp: &mut [u32]) {
        if a.len() < 4 {
            a.sort();
            return;
        }
        let mid = a.len() / 2;
        let (l, r) = a.split_at_mut(mid);
        let (tl, tr) = tmp.split_at_mut(mid);
        both! { sort(l, tl); sort(r, tr) }
        let (mut i, mut j) = (0, 0);
        for t in tmp.iter_mut() {
            if j == r.len() || i < l.len() && l[i] <= r[j] {
                *t = l[i];
                i += 1;
            } else {
                *t = r[j];
                j += 1;
            }
        }
        a.copy_from_slice(tmp);
    }
    #[task]
    pub fn sort_task(n: usize) -> u32 {
        let mut a = [0u32; 64];
        for i in 0..n {
            a[i] = (i as u32 * 7919) % 101;
        }
        let mut t = [0; 64];
        both!(sort(&mut a[..n], &mut t[..n]));
        a[..n]
            .iter()
            .fold(0u32, |h, &x| h.wrapping_mul(31).wrapping_add(x))
    }
    #[task]
    pub fn joins(n: u32) -> u64 {
        fork!(fib(n), fib(n - 1) => x, y);
        let mut s = 0;
        for i in 0..3 {
            let (p, q) = join!(fib(i), fib(n - i));
            s += p * q;
        }
        fork!(fib(3), fib(n - 2) => z, w);
        x * y + s + z - w
    }
}

millstream_tests::cases! {
    joins(12);
    sort_task(40);
    sort_task(3);
}
