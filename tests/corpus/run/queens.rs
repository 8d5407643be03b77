//! A task per placed queen.

#[millstream::program]
pub mod program {
    #[task]
    pub fn queens(n: u32, row: u32, columns: u32, left: u32, right: u32) -> u64 {
        if row == n {
            return 1;
        }
        let mut free = !(columns | left | right) & ((1 << n) - 1);
        let mut found = 0;
        while free != 0 {
            let bit = free & free.wrapping_neg();
            free ^= bit;
            found += spawn!(queens(n, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1));
        }
        sync!();
        found
    }
}

millstream_tests::cases! {
    queens(1, 0, 0, 0, 0);
    queens(3, 0, 0, 0, 0);
    queens(8, 0, 0, 0, 0);
}
