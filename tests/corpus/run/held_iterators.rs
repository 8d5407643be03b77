//! Iterators that have a name, and run where they are used.

#[millstream::program]
pub mod program {
    #[task]
    fn child(i: usize, j: usize) -> usize {
        i * j
    }

    #[task]
    pub fn moved(a: &[i32], n: usize) -> (i32, usize, i32) {
        let odd = a.iter().filter(|x| **x % 2 == 1);
        let count = odd.clone().count();
        let mut n = n as i32;
        let scaled = odd.map(move |x| x * n);
        // The closure has the old one.
        n += 100;
        let sum: i32 = scaled.clone().sum();
        let mut all = n;
        for x in scaled.rev() {
            all = all.wrapping_mul(3) + x;
        }
        (sum, count, all)
    }

    #[task]
    pub fn pairs(n: usize) -> usize {
        let mut k = n;
        let pairs = (0..k).flat_map(|i| (0..i).map(move |j| (i, j)));
        k = 0;
        let big = pairs.clone().filter(|&(i, j)| i + j > 3);
        let mut sum = k;
        for (i, j) in big {
            sum += spawn!(child(i, j));
        }
        sync!();
        if let Some((i, _)) = pairs.clone().find(|&(i, _)| i == 3) {
            sum += i * 100;
        }
        sum + pairs.count()
    }

    #[task]
    pub fn beside(a: &[i32], n: usize) -> (i32, i32, i32) {
        let first = a.iter().take(n);
        let beside = a.iter().zip(first.clone());
        let x = 3;
        let both = first.chain(a.iter().skip(6));
        let sum = beside.map(|(p, q)| p * q + x).sum::<i32>();
        let x = 1000;
        let w = a.windows(2);
        let rises = w.filter(|w| w[0] < w[1]);
        let parts = a.chunks(3);
        let most = parts.map(|p| p.iter().sum::<i32>()).max().unwrap_or(0);
        let mut b = [0; 8];
        let written = b.iter_mut().zip(a);
        for (d, s) in written {
            *d = s * 2;
        }
        let c = [5, 6, 7];
        let values = c.into_iter();
        (
            sum + both.min().unwrap_or(&x),
            rises.count() as i32 * 100 + most,
            b.iter().sum::<i32>() + values.last().unwrap_or(0),
        )
    }
}

millstream_tests::cases! {
    moved(&[3, 1, 4, 1, 5, 9, 2, 6], 5);
    moved(&[], 1);
    pairs(5);
    pairs(2);
    beside(&[3, 1, 4, 1, 5, 9, 2, 6], 3);
    beside(&[], 1);
}
