//! What innermost loops gather of neighbouring elements, of all lengths at which a device may go on in another way: sums, bits, the least and the greatest;
//! beside stores, behind checks, and where a turn looks at what was gathered before it.

#[millstream::program]
pub mod program {
    #[task]
    pub fn words(n: usize, a: &[u32]) -> (u32, u32, u32, u32, u32, u32) {
        let (mut sum, mut and, mut or) = (7u32, u32::MAX, 1);
        let (mut xor, mut least, mut most) = (5, 4_000_000_000, 3);
        for x in &a[..n] {
            sum = sum.wrapping_add(*x);
        }
        for x in &a[..n] {
            and &= x | 0x8000_0001;
            or |= x & 0x7fff_fff0;
        }
        for x in &a[..n] {
            xor ^= x;
            least = least.min(x ^ 0x8000_0000);
            most = (x ^ 0x8000_0000).max(most);
        }
        (sum, and, or, xor, least, most)
    }

    #[task]
    pub fn signed(n: usize, a: &[i32], b: &[i32]) -> (i32, i32, i32, i32) {
        let (mut least, mut most, mut dot, mut count) = (50, -50, -1, 0i32);
        for i in 0..n {
            least = least.min(a[i]);
            most = most.max(a[i] + b[i]);
        }
        for (x, y) in a[..n].iter().zip(b) {
            dot += x * y;
            count += 1;
        }
        (least, most, dot, count)
    }

    #[task]
    pub fn long(n: usize, a: &mut [u64], b: &[u64]) -> (u64, u64, i64) {
        let (mut sum, mut xor, mut less) = (1, 2, 3i64);
        for (x, y) in a[..n].iter_mut().zip(b) {
            *x += y;
            sum += *x;
            xor ^= y;
        }
        for x in b[..n].iter() {
            less = less.wrapping_add(*x as i64);
        }
        (sum, xor, less)
    }

    /// What was gathered before a turn goes into what it stores.
    #[task]
    pub fn prefix(n: usize, a: &mut [u32], b: &mut [u32]) -> (u32, u32, u32) {
        let (mut sum, mut last, mut before) = (0, 9, 0);
        for x in a[..n].iter_mut() {
            sum += *x;
            *x = sum;
        }
        for x in b[..n].iter_mut() {
            let own = *x;
            *x = last;
            last = own;
        }
        for x in b[..n].iter() {
            before = before * 3 + x;
        }
        (sum, last, before)
    }

    /// Elements that a turn stores and another loads.
    #[task]
    pub fn shifted(n: usize, by: usize, a: &mut [u32]) -> u32 {
        let mut sum = 0;
        for i in 0..n {
            a[i + by] += a[i];
            sum += a[i + by];
        }
        sum
    }

    /// The lesser and the greater of neighbours, stored.
    #[task]
    pub fn ordered(n: usize, a: &mut [i32], b: &mut [i32], c: &mut [u32]) -> u32 {
        let mut most = 0;
        for (x, y) in a[..n].iter_mut().zip(b.iter_mut()) {
            (*x, *y) = ((*x).min(*y), (*x).max(*y));
        }
        for x in c[..n].iter_mut() {
            *x = (*x).clamp(1 << 20, 1 << 31);
            most = most.max(*x);
        }
        most
    }

    /// Of bytes and of numbers of two.
    #[task]
    pub fn short(n: usize, a: &mut [u8], b: &[u8], c: &mut [i16], d: &mut [bool]) -> (u8, u8, i16, i16, i16) {
        let (mut sum, mut least, mut most) = (3u8, 200, -7i16);
        let (mut product, mut xor) = (0i16, 1);
        for (x, y) in a[..n].iter_mut().zip(b) {
            *x = x.wrapping_add(*y) ^ 0x5a;
            sum = sum.wrapping_add(*x);
        }
        for x in &a[..n] {
            least = least.min(*x | 1);
        }
        for x in c[..n].iter_mut() {
            *x = x.wrapping_mul(*x).wrapping_sub(9);
            most = most.max(*x);
        }
        for x in &c[..n] {
            product = product.wrapping_add(x.wrapping_mul(77));
            xor ^= x;
        }
        for (x, y) in d[..n].iter_mut().zip(&a[..n]) {
            *x ^= *y > 100;
        }
        (sum, least, most, product, xor)
    }

    /// A store to what does not move.
    #[task]
    pub fn running(n: usize, a: &[u32], out: &mut [u32]) -> u32 {
        let mut sum = 0;
        for i in 0..n {
            sum += a[i];
            out[0] = sum;
        }
        sum
    }
}

fn ramp() -> Vec<u32> {
    (0..70).map(|i: u32| i.wrapping_mul(2_654_435_769)).collect()
}

fn signs(by: u32) -> Vec<i32> {
    (0..70).map(|i: u32| (i.wrapping_mul(by * 2_654_435_769) as i32) >> 18).collect()
}

fn wide(by: u64) -> Vec<u64> {
    (0..70).map(|i: u64| (i + by).wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect()
}

fn bytes(by: u32) -> Vec<u8> {
    (0..70).map(|i: u32| (i.wrapping_mul(by * 2_654_435_769) >> 24) as u8).collect()
}

fn shorts() -> Vec<i16> {
    (0..70).map(|i: u32| (i.wrapping_mul(2_654_435_769) >> 16) as i16).collect()
}

millstream_tests::cases! {
    words(0, &ramp());
    words(1, &ramp());
    words(2, &ramp());
    words(3, &ramp());
    words(4, &ramp());
    words(5, &ramp());
    words(7, &ramp());
    words(8, &ramp());
    words(9, &ramp());
    words(15, &ramp());
    words(16, &ramp());
    words(17, &ramp());
    words(19, &ramp());
    words(20, &ramp());
    words(21, &ramp());
    words(32, &ramp());
    words(33, &ramp());
    words(63, &ramp());
    words(64, &ramp());
    words(67, &ramp());
    words(70, &ramp());
    signed(0, &signs(3), &signs(11));
    signed(1, &signs(3), &signs(11));
    signed(3, &signs(3), &signs(11));
    signed(4, &signs(3), &signs(11));
    signed(5, &signs(3), &signs(11));
    signed(15, &signs(3), &signs(11));
    signed(16, &signs(3), &signs(11));
    signed(17, &signs(3), &signs(11));
    signed(20, &signs(3), &signs(11));
    signed(33, &signs(3), &signs(11));
    signed(70, &signs(3), &signs(11));
    long(0, &mut wide(3), &wide(11));
    long(1, &mut wide(3), &wide(11));
    long(2, &mut wide(3), &wide(11));
    long(3, &mut wide(3), &wide(11));
    long(7, &mut wide(3), &wide(11));
    long(8, &mut wide(3), &wide(11));
    long(9, &mut wide(3), &wide(11));
    long(10, &mut wide(3), &wide(11));
    long(11, &mut wide(3), &wide(11));
    long(17, &mut wide(3), &wide(11));
    long(33, &mut wide(3), &wide(11));
    long(70, &mut wide(3), &wide(11));
    prefix(0, &mut ramp(), &mut ramp());
    prefix(1, &mut ramp(), &mut ramp());
    prefix(4, &mut ramp(), &mut ramp());
    prefix(17, &mut ramp(), &mut ramp());
    prefix(33, &mut ramp(), &mut ramp());
    shifted(50, 0, &mut ramp());
    shifted(50, 1, &mut ramp());
    shifted(50, 2, &mut ramp());
    shifted(50, 3, &mut ramp());
    shifted(50, 4, &mut ramp());
    shifted(50, 5, &mut ramp());
    shifted(50, 16, &mut ramp());
    shifted(50, 17, &mut ramp());
    ordered(0, &mut signs(3), &mut signs(7), &mut ramp());
    ordered(1, &mut signs(3), &mut signs(7), &mut ramp());
    ordered(4, &mut signs(3), &mut signs(7), &mut ramp());
    ordered(7, &mut signs(3), &mut signs(7), &mut ramp());
    ordered(16, &mut signs(3), &mut signs(7), &mut ramp());
    ordered(19, &mut signs(3), &mut signs(7), &mut ramp());
    ordered(70, &mut signs(3), &mut signs(7), &mut ramp());
    short(0, &mut bytes(3), &bytes(7), &mut shorts(), &mut [true; 70]);
    short(1, &mut bytes(3), &bytes(7), &mut shorts(), &mut [true; 70]);
    short(7, &mut bytes(3), &bytes(7), &mut shorts(), &mut [true; 70]);
    short(8, &mut bytes(3), &bytes(7), &mut shorts(), &mut [true; 70]);
    short(15, &mut bytes(3), &bytes(7), &mut shorts(), &mut [true; 70]);
    short(16, &mut bytes(3), &bytes(7), &mut shorts(), &mut [true; 70]);
    short(17, &mut bytes(3), &bytes(7), &mut shorts(), &mut [true; 70]);
    short(31, &mut bytes(3), &bytes(7), &mut shorts(), &mut [true; 70]);
    short(33, &mut bytes(3), &bytes(7), &mut shorts(), &mut [true; 70]);
    short(63, &mut bytes(3), &bytes(7), &mut shorts(), &mut [true; 70]);
    short(64, &mut bytes(3), &bytes(7), &mut shorts(), &mut [true; 70]);
    short(65, &mut bytes(3), &bytes(7), &mut shorts(), &mut [true; 70]);
    short(70, &mut bytes(3), &bytes(7), &mut shorts(), &mut [true; 70]);
    running(70, &ramp(), &mut [0; 2]);
}
