//! Rows of a product, a child each, over flat slices.

#[millstream::program]
pub mod program {
    #[task]
    pub fn row(a: &[f32], b: &[f32], out: &mut [f32]) {
        let n = out.len();
        for j in 0..n {
            let mut sum = 0.0;
            for k in 0..a.len() {
                sum += a[k] * b[k * n + j];
            }
            out[j] = sum;
        }
    }

    #[task]
    pub fn multiply(a: &[f32], b: &[f32], c: &mut [f32], n: usize) {
        assert_eq!(a.len(), n * n);
        let mut rest = c;
        let mut i = 0;
        while rest.len() >= n {
            let (line, tail) = rest.split_at_mut(n);
            spawn!(row(&a[i * n..(i + 1) * n], b, line));
            rest = tail;
            i += 1;
        }
        sync!();
    }
}

millstream_tests::cases! {
    multiply(&[1.0, 2.0, 3.0, 4.0], &[0.5, -1.0, 0.25, 8.0], &mut [0.0; 4], 2);
}
