//! A histogram: children gather into the elements of an array and of a slice.

#[millstream::program]
pub mod program {
    #[task]
    pub fn weight(x: u32) -> u32 {
        x % 10 + 1
    }

    #[task]
    pub fn histogram(data: &[u32], out: &mut [u32]) -> [u32; 4] {
        let mut local = [100; 4];
        for &x in data {
            out[x as usize % 4] += spawn!(weight(x));
            local[x as usize / 100 % 4] += spawn!(weight(x));
        }
        sync!();
        local
    }
}

millstream_tests::cases! {
    histogram(&(0..50u32).map(|i| i * i % 397).collect::<Vec<_>>(), &mut vec![0; 4]);
}
