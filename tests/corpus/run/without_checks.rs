//! A program without bounds checks.

#[millstream::program(unchecked)]
pub mod program {
    #[task]
    pub fn dot(a: &[f32], b: &[f32]) -> f32 {
        let mut sum = 0.0;
        for i in 0..a.len() {
            sum += a[i] * b[i];
        }
        sum
    }

    #[task]
    pub fn halves(a: &[f32], b: &[f32]) -> f32 {
        let mid = a.len() / 2;
        let x = spawn!(dot(&a[..mid], &b[..mid]));
        let y = spawn!(dot(&a[mid..], &b[mid..]));
        sync!();
        x + y
    }
}

millstream_tests::cases! {
    halves(&[1.0, 2.0, 3.0], &[0.5, 0.25, 4.0]);
}
