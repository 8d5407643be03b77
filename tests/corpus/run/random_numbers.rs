//! A generator that is handed from task to task, with wrapping arithmetic.

#[millstream::program]
pub mod program {
    fn next(state: &mut u64) -> u32 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        (*state >> 32) as u32
    }

    #[task]
    pub fn inside(seed: u64, tries: u32) -> u32 {
        if tries > 64 {
            let mut s = seed;
            let other = next(&mut s) as u64 | 1;
            let a = spawn!(inside(s, tries / 2));
            let b = spawn!(inside(s * 6364136223846793005 + other, tries - tries / 2));
            sync!();
            return a + b;
        }
        let mut s = seed;
        let mut hits = 0;
        for _ in 0..tries {
            let x = next(&mut s) as f32 / u32::MAX as f32;
            let y = next(&mut s) as f32 / u32::MAX as f32;
            if x * x + y * y <= 1.0 {
                hits += 1;
            }
        }
        hits
    }
}

millstream_tests::cases! {
    inside(88172645463325252, 1000);
}
