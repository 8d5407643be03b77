//! Karatsuba multiplication of polynomials on slices.
#[millstream::program]
pub mod program {
    fn school(a: &[i64], b: &[i64], out: &mut [i64]) {
        out.fill(0);
        for (i, x) in a.iter().enumerate() {
            out[i..].iter_mut().zip(b).for_each(|(o, y)| *o += x * y);
        }
    }

    /// `out` is twice as long as `a` and `b`, whose length is a power of two; `tmp` four times.
    #[task]
    pub fn multiply(a: &[i64], b: &[i64], out: &mut [i64], tmp: &mut [i64]) {
        let n = a.len();
        if n <= 16 {
            school(a, b, out);
            return;
        }
        let h = n / 2;
        let (a0, a1) = a.split_at(h);
        let (b0, b1) = b.split_at(h);
        let (mid, rest) = tmp.split_at_mut(n);
        let (sums, rest) = rest.split_at_mut(n);
        let (sa, sb) = sums.split_at_mut(h);
        for ((s, x), y) in sa.iter_mut().zip(a0).zip(a1) {
            *s = x + y;
        }
        sb.iter_mut().zip(b0.iter().zip(b1)).for_each(|(s, (x, y))| *s = x + y);
        // What is left is the scratch memory of the three, one after another.
        let (lo, hi) = out.split_at_mut(n);
        multiply(sa, sb, mid, rest);
        multiply(a0, b0, lo, rest);
        multiply(a1, b1, hi, rest);
        for (m, (x, y)) in mid.iter_mut().zip(lo.iter().zip(hi.iter())) {
            *m -= x + y;
        }
        out[h..].iter_mut().zip(mid.iter()).for_each(|(o, m)| *o += *m);
    }

    /// The same with the three side by side: `tmp` is 6 n long for each level.
    #[task]
    pub fn wide(a: &[i64], b: &[i64], out: &mut [i64], tmp: &mut [i64], cut: usize) {
        let n = a.len();
        if n <= cut {
            multiply(a, b, out, tmp);
            return;
        }
        let h = n / 2;
        let (a0, a1) = a.split_at(h);
        let (b0, b1) = b.split_at(h);
        let (mid, rest) = tmp.split_at_mut(n);
        let (sums, rest) = rest.split_at_mut(n);
        let (sa, sb) = sums.split_at_mut(h);
        #[parallel]
        for ((s, x), y) in sa.iter_mut().zip(a0).zip(a1) {
            *s = x + y;
        }
        #[parallel]
        for ((s, x), y) in sb.iter_mut().zip(b0).zip(b1) {
            *s = x + y;
        }
        let third = rest.len() / 3;
        let (t0, rest) = rest.split_at_mut(third);
        let (t1, t2) = rest.split_at_mut(third);
        let (lo, hi) = out.split_at_mut(n);
        spawn!(wide(sa, sb, mid, t0, cut));
        spawn!(wide(a0, b0, lo, t1, cut));
        spawn!(wide(a1, b1, hi, t2, cut));
        sync!();
        #[parallel]
        for (m, (x, y)) in mid.iter_mut().zip(lo.iter().zip(hi.iter())) {
            *m -= x + y;
        }
        #[parallel]
        for (o, m) in out[h..].iter_mut().zip(mid.iter()) {
            *o += *m;
        }
    }
}

millstream_tests::cases! {
    wide(&[3; 64], &[-2; 64], &mut [0; 128], &mut [0; 2048], 16);
    wide(&[3, -1, 2, 7], &[-2, 4, 5, 6], &mut [1; 8], &mut [0; 16], 2);
    multiply(&[1; 32], &[2; 32], &mut [0; 64], &mut [0; 256]);
}
