//! Parallel loops that gather by `-=` and `*=`: integers wrap around, floats are joined in the stated order.

#[millstream::program]
pub mod program {
    #[task]
    pub fn left(n: u32, from: u32) -> (u32, i8) {
        let (mut left, mut small) = (from, 100);
        #[parallel]
        for i in 0..n {
            left -= i;
        }
        #[parallel]
        for i in 0..n {
            small -= i as i8;
            if i % 3 == 0 {
                small += 5;
            }
        }
        (left, small)
    }

    #[task]
    pub fn product(n: u64) -> (u64, i16, u8) {
        let (mut odd, mut signed, mut few) = (3, -1, 1);
        #[parallel]
        for i in 0..n {
            odd *= 2 * i + 1;
        }
        #[parallel]
        for i in 0..n {
            signed *= i as i16 | 1;
            few = few * (i as u8 | 1);
        }
        (odd, signed, few)
    }

    /// All ways to write them, beside others.
    #[task]
    pub fn ways(data: &[i32]) -> (i32, i32, i32, i32, i32, u32) {
        let (mut a, mut b, mut c, mut d, mut e, mut f) = (1, 2i32, 3, 4i32, 5, 6u32);
        #[parallel]
        for &x in data {
            a = a - x;
            b = b.wrapping_sub(x);
            c = x * c;
            d = d.wrapping_mul(x);
            e = e.max(x);
            f = f.wrapping_sub(x as u32);
            f += 1;
        }
        (a, b, c, d, e, f)
    }

    #[task]
    pub fn floats(data: &[f64]) -> (u64, u64, u32, u32) {
        let (mut less, mut product, mut rounds, mut most) = (0.5f64, 1.5f64, 7u32, -1.0f32);
        #[parallel]
        for x in data {
            less -= x;
            product *= 1.0 + x * 0.001;
            rounds -= 3;
            most = most.max(*x as f32 + 1.5);
        }
        let mut one = -0.0f32;
        #[parallel]
        for x in data {
            one -= *x as f32;
        }
        (less.to_bits(), product.to_bits(), rounds, one.to_bits() ^ most.to_bits())
    }

    /// Loops in loops, whose rounds spawn.
    #[task]
    pub fn nested(n: u32) -> (u32, i64) {
        let (mut product, mut left) = (1, -1);
        #[parallel]
        for i in 0..n {
            let steps = spawn!(halves(i));
            sync!();
            product *= steps | 1;
            #[parallel]
            for j in 0..i {
                left -= i64::from(j);
                product *= j | 1;
            }
        }
        (product, left)
    }

    #[task]
    pub fn halves(n: u32) -> u32 {
        if n < 2 {
            return 1;
        }
        let half = spawn!(halves(n / 2));
        sync!();
        half + 1
    }
}

fn numbers(n: i32) -> Vec<i32> {
    (0..n).map(|i| i.wrapping_mul(7919) % 1000 | 1).collect()
}

fn floats(n: i32) -> Vec<f64> {
    numbers(n).into_iter().map(|x| f64::from(x) / 7.0).collect()
}

millstream_tests::cases! {
    left(0, 5);
    left(3, 5);
    left(3, 1);
    left(5000, 1 << 30);
    product(0);
    product(5);
    product(3000);
    ways(&[]);
    ways(&numbers(9));
    ways(&numbers(700));
    floats(&[]);
    floats(&[0.0, -0.0]);
    floats(&floats(20));
    floats(&floats(4000));
    nested(5);
    nested(60);
}
