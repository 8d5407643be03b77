//! Integers of 128 bits that tasks are given and give: squares seen on a board, and numbers too long for 64 bits.
#[millstream::program]
pub mod program {
    const MOVES: [(i32, i32); 8] = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];

    /// Walks of a knight over a board of up to 11 by 11 that come to no square twice.
    #[task]
    pub fn walks(n: i32, (x, y): (i32, i32), seen: u128, left: u32) -> u64 {
        if left == 0 {
            return 1;
        }
        let seen = seen | 1 << (x * n + y);
        let mut sum = 0;
        for &(dx, dy) in &MOVES {
            let (x, y) = (x + dx, y + dy);
            if (0..n).contains(&x) && (0..n).contains(&y) && seen >> (x * n + y) & 1 == 0 {
                sum += spawn!(walks(n, (x, y), seen, left - 1));
            }
        }
        sync!();
        sum
    }

    #[task]
    pub fn factorial(from: u64, to: u64) -> u128 {
        if to - from < 3 {
            return (from..to).map(|x| x as u128).product();
        }
        let mid = from + (to - from) / 2;
        let (a, b) = (spawn!(factorial(from, mid)), spawn!(factorial(mid, to)));
        sync!();
        a * b
    }

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Span {
        pub least: i128,
        pub most: i128,
        pub count: u32,
    }

    /// The numbers between, halved again and again.
    #[task]
    pub fn spans(of: Span, depth: u32) -> (Span, Option<i128>, [u128; 2]) {
        let mid = (of.least + of.most) / 2;
        if depth == 0 {
            let found = (mid % 3 == 0).then_some(mid);
            return (of, found, [mid as u128, of.most as u128 >> 64]);
        }
        let low = Span { most: mid, count: of.count * 2, ..of };
        let high = Span { least: mid, count: of.count * 2 + 1, ..of };
        let a = spawn!(spans(low, depth - 1));
        let b = spawn!(spans(high, depth - 1));
        sync!();
        let all = Span {
            least: a.0.least.min(b.0.least),
            most: a.0.most.max(b.0.most),
            count: a.0.count ^ b.0.count,
        };
        (all, a.1.or(b.1), [a.2[0] ^ b.2[0], a.2[1].wrapping_mul(3) ^ b.2[1]])
    }

    /// A result that children gather in.
    #[task]
    pub fn added(x: u128, n: u32) -> u128 {
        if n == 0 {
            return x;
        }
        let mut sum = 0;
        for i in 0..n {
            sum ^= spawn!(added(x * 3 + i as u128, n - 1));
        }
        sync!();
        sum
    }
}

millstream_tests::cases! {
    walks(11, (5, 5), 0, 4);
    walks(5, (0, 0), 1 << 7, 5);
    factorial(1, 34);
    factorial(4, 4);
    spans(program::Span { least: -170141183460469231731687303715884105728, most: 99, count: 1 }, 5);
    spans(program::Span { least: -1, most: 18446744073709551617, count: 1 }, 0);
    added(340282366920938463463374607431768211455, 4);
    added(7, 5);
}
