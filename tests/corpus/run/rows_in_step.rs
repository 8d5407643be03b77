//! Rows and parts of slices in step with others that run backwards.

#[millstream::program]
pub mod program {
    #[task]
    pub fn a(n: u32) -> (u32, u32, u32, u32) {
        let d = [1u32, 2, 3, 4, 5, 6, n, 8];
        let m = Mat::new(&d, 4, 2);
        let mut t = 0;
        for (a, b) in m.row_iter().zip(m.row_iter().rev()) {
            t = t * 5 + a[0] * b[1];
        }
        let mut u = 0;
        for (w, c) in d.windows(3).zip(d.chunks(3).rev()) {
            u = u * 7 + w[0] * c[0] + c.len() as u32;
        }
        let v: u32 = d
            .chunks_exact(3)
            .rev()
            .zip(d.iter().take(6).rev())
            .map(|(c, x)| c[0] * x)
            .sum();
        let mut k = [0u32; 8];
        for ((i, x), y) in k
            .iter_mut()
            .rev()
            .enumerate()
            .zip(d.iter().skip(n as usize))
        {
            *x = y * 10 + i as u32;
        }
        (t, u, v, k[7] * 1000 + k[6])
    }
}

millstream_tests::cases! {
    a(5);
}
