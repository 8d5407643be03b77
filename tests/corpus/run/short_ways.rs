//! Short ways of branches that only compute, within each other and behind one another, and questions that are asked if others are answered with yes or no.

#[millstream::program]
pub mod program {
    fn mix(x: u64) -> u64 {
        let a = (x ^ (x >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
        a ^ (a >> 27)
    }

    /// Each is read where its own ways meet.
    #[task]
    pub fn swaps(n: u64) -> (u64, u64, u64, bool) {
        let (mut a, mut b, mut c) = (3u64, 9u64, 27u64);
        let mut turned = false;
        for i in 0..n {
            let x = mix(i);
            if x & 1 == 0 {
                (a, b) = (b, a);
            }
            if a > b {
                (a, b, c) = (b, c, a);
            } else {
                c ^= x & 0xff;
            }
            let mut asked = x & 2 == 0;
            if asked {
                asked = b < c;
                a += 1;
            }
            turned ^= asked;
            if turned {
                b = b.wrapping_add(x >> 60);
            } else if asked {
                c = c.wrapping_sub(1);
            } else {
                a ^= 1;
            }
        }
        (a, b, c, turned)
    }

    /// What the second question leaves behind is there only if it was asked.
    #[task]
    pub fn questions(n: i32) -> (u32, u32, i32, u32) {
        let (mut asked, mut both, mut either) = (0, 0, 0u32);
        let mut left = 0i32;
        for i in -n..n {
            let (x, y) = (i * 7 % 11, i * 5 % 13);
            if x > 0 && {
                asked += 1;
                y > 3
            } {
                both += 1;
            }
            if x < -3 || {
                left = y;
                y < -3
            } {
                either += 1;
            }
            if x >= 0 && x < 5 && y >= 0 && y < 5 {
                both += 10;
            }
            if x == 7 || y == 7 || x == y || !(x > y) {
                either += 10;
            }
            if (x > 3 || y > 3) && (x < 6 || y < 6) && x != 4 {
                either ^= 1;
            }
            let mut j = 0;
            while j < x && j * j < y {
                j += 1;
            }
            left += j;
        }
        (asked, both, left, either)
    }

    #[task]
    pub fn numbers(n: u32, none: f64) -> (f64, f64, u32, i64, u8) {
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut count, mut sum, mut small) = (0u32, 0i64, 0u8);
        for i in 0..n {
            let x = if i % 5 == 0 { none } else { (i as f64 - 20.0) * 0.5 };
            if x < least {
                least = x;
            }
            if !(x <= most) {
                most = x;
                count += 1;
            }
            if x != x {
                sum -= 1;
            } else if x > 0.0 {
                sum += i as i64;
            }
            for bit in 0..8 {
                if i >> bit & 1 == 1 {
                    small = small.wrapping_add(bit);
                }
            }
            if i & 1 == 0 {
                continue;
            }
            if count > 40 && sum > 100 {
                break;
            }
        }
        (least, most, count, sum, small)
    }

    /// A child that there is or is not is no short way.
    #[task]
    pub fn tree(n: u32, bias: i32) -> i32 {
        let mut total = bias;
        let turn = if bias > 3 { -bias } else { bias + 1 };
        if n > 0 {
            total += spawn!(tree(n - 1, turn));
            if turn < 0 || n % 3 == 0 {
                total += spawn!(tree(n / 2, turn + 2));
            }
        }
        sync!();
        if total > 1000 && n % 2 == 0 {
            total -= 1000;
        }
        total
    }
}

millstream_tests::cases! {
    swaps(0);
    swaps(1000);
    questions(3);
    questions(60);
    numbers(100, f64::NAN);
    numbers(300, 4.0);
    tree(12, 0);
    tree(9, 7);
}
