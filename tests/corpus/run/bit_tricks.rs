//! Gray codes, Morton codes and parity over a tree of tasks.

#[millstream::program]
pub mod program {
    fn spread(x: u32) -> u64 {
        let mut x = x as u64;
        x = (x | x << 16) & 0x0000_ffff_0000_ffff;
        x = (x | x << 8) & 0x00ff_00ff_00ff_00ff;
        x = (x | x << 4) & 0x0f0f_0f0f_0f0f_0f0f;
        x = (x | x << 2) & 0x3333_3333_3333_3333;
        (x | x << 1) & 0x5555_5555_5555_5555
    }

    #[task]
    pub fn morton(x: u32, y: u32, size: u32) -> u64 {
        if size == 1 {
            return spread(x) | spread(y) << 1;
        }
        let h = size / 2;
        let mut hash = 0;
        hash ^= spawn!(morton(x, y, h));
        hash ^= spawn!(morton(x + h, y, h));
        hash ^= spawn!(morton(x, y + h, h));
        hash ^= spawn!(morton(x + h, y * 3 + h, h));
        sync!();
        hash.rotate_left(5) ^ (x ^ x >> 1) as u64
    }
}

millstream_tests::cases! {
    morton(3, 5, 1);
    morton(1, 2, 8);
}
