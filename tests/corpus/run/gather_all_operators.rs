//! Every way to gather.

#[millstream::program]
pub mod program {
    #[task]
    pub fn bits(i: u32) -> u32 {
        1 << (i * 7 % 20)
    }

    #[task]
    pub fn value(i: i32) -> i32 {
        (i * 37) % 23 - 11
    }

    #[task]
    pub fn gather(n: u32) -> (u32, u32, u32, u32, i32, i32, u8) {
        let (mut sum, mut or, mut and, mut xor) = (1000, 0, u32::MAX, 5);
        let (mut low, mut high) = (i32::MAX, i32::MIN);
        let mut wrapped = 250u8;
        for i in 0..n {
            sum += spawn!(bits(i));
            or |= spawn!(bits(i));
            and &= spawn!(bits(i / 2));
            xor ^= spawn!(bits(i));
            low = low.min(spawn!(value(i as i32)));
            high = high.max(spawn!(value(i as i32)));
            wrapped = wrapped.wrapping_add(spawn!(small(i)));
        }
        sync!();
        (sum, or, and, xor, low, high, wrapped)
    }

    /// The same with the child in front.
    #[task]
    pub fn behind(n: u32) -> (u32, u32, u32, u32, i32, i32, u8) {
        let (mut sum, mut or, mut and, mut xor) = (1000, 0, u32::MAX, 5);
        let (mut low, mut high) = ([i32::MAX], i32::MIN);
        let mut wrapped = 250u8;
        for i in 0..n {
            sum = spawn!(bits(i)) + sum;
            or = spawn!(bits(i)) | or;
            and = spawn!(bits(i / 2)) & and;
            xor = spawn!(bits(i)) ^ xor;
            low[0] = (2 * spawn!(value(i as i32))).min(low[0]);
            high = std::cmp::max(spawn!(value(i as i32)), high);
            wrapped = spawn!(small(i)).wrapping_add(wrapped);
        }
        sync!();
        (sum, or, and, xor, low[0], high, wrapped)
    }

    #[task]
    pub fn small(i: u32) -> u8 {
        i as u8 * 3
    }
}

millstream_tests::cases! {
    gather(0);
    gather(1);
    gather(30);
    behind(0);
    behind(30);
}
