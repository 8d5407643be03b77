//! A child that is spawned where nobody comes to, which is seen only when the turns of loops are counted.
#[millstream::program]
pub mod program {
    #[task]
    pub fn count(n: u32, mut most: u32) -> u32 {
        if n == 0 {
            return most;
        }
        let mut w = 0u32;
        while w < 4 {
            w += 1;
            let _ = spawn!(count(n - 1, w));
            if let Some(_) = (0..4i64).find(|_| 0 >= w) {
                most = most.max(spawn!(count(n / 2, 1)));
            }
        }
        sync!();
        most
    }
}
millstream_tests::cases! {
    count(0, 3);
    count(3, 2);
}
