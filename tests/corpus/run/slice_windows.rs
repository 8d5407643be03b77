//! Sub-slices of sub-slices, moved along in a loop.

#[millstream::program]
pub mod program {
    #[task]
    pub fn best_window(s: &[i32], width: usize) -> (usize, i32) {
        let mut best = (0, i32::MIN);
        let mut rest = s;
        let mut at = 0;
        while rest.len() >= width {
            let mut sum = 0;
            for &x in &rest[..width] {
                sum += x;
            }
            if sum > best.1 {
                best = (at, sum);
            }
            rest = &rest[1..];
            at += 1;
        }
        best
    }
}

millstream_tests::cases! {
    best_window(&[1, -2, 5, 4, -1, 3], 3);
    best_window(&[1], 2);
}
