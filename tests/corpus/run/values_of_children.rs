//! Values that are made of several children's results: bound, gathered, stored; what is evaluated before them, between them and when they are done.
#[millstream::program]
pub mod program {
    #[task]
    pub fn fib(n: u32) -> u64 {
        if n < 2 {
            return n as u64;
        }
        let x = spawn!(fib(n - 1)) + spawn!(fib(n - 2));
        sync!();
        x
    }

    #[task]
    pub fn mix(n: u32, a: &[u64]) -> u64 {
        if n < 2 {
            return a[n as usize];
        }
        let mut t = 0;
        for i in 1..3 {
            t += spawn!(mix(n - i, a)) * a[i as usize] % 7 + 3 * spawn!(mix(n - 2, a)).max(u64::from(i));
        }
        let [x, y] = [spawn!(mix(n - 1, a)), spawn!(mix(n - 2, a))];
        let z = spawn!(mix(n - 2, a)) + a[0] * spawn!(mix(n / 2, a));
        sync!();
        t + x * y + z
    }

    #[task]
    pub fn some(n: u32) -> Option<u32> {
        if n % 3 == 0 { Some(n) } else { None }
    }

    /// Children of two kinds, with arguments that are evaluated in their order.
    #[task]
    pub fn order(n: u32) -> (u32, u32) {
        if n < 2 {
            return (n, 1);
        }
        let mut k = 0;
        let mut next = || {
            k += 1;
            n - k.min(n)
        };
        let x = next() * 1000 + spawn!(order(next())).0 * 10 + spawn!(order(next())).1;
        let y: Option<u32> = spawn!(some(n)).or(spawn!(some(n - 1)));
        sync!();
        (x % 1009, y.unwrap_or(k))
    }

    #[derive(Clone, Copy, Default)]
    struct Pair {
        sum: u32,
        list: [u32; 2],
    }

    #[task]
    pub fn halves(a: &mut [u32]) -> u32 {
        if a.len() < 2 {
            a[0] += 1;
            return a[0];
        }
        let mut pair = Pair::default();
        let (l, r) = a.split_at_mut(a.len() / 2);
        pair.sum = spawn!(halves(l)) - 2 * spawn!(halves(r));
        sync!();
        pair.list[1] = if pair.sum % 2 == 0 { spawn!(twice(pair.sum)) ^ spawn!(twice(7)) } else { 3 };
        sync!();
        pair.sum ^ a[0] ^ pair.list[1]
    }

    #[task]
    pub fn twice(n: u32) -> u32 {
        2 * n
    }

    #[task]
    pub fn both(n: u32) -> bool {
        if n < 2 {
            return n == 1;
        }
        let odd = spawn!(both(n - 1)) ^ spawn!(both(n - 2));
        let most = std::cmp::max(spawn!(twice(n)), spawn!(twice(5)));
        let sum = [spawn!(twice(n)), spawn!(twice(1))].iter().sum::<u32>();
        sync!();
        odd ^ (most + sum > 25)
    }
}
millstream_tests::cases! {
    fib(12);
    mix(5, &vec![2, 3, 5]);
    order(7);
    order(4);
    halves(&mut vec![5, 1, 4, 9, 7]);
    both(8);
}
