//! Loops that never run, with spawns and syncs in them.

#[millstream::program]
pub mod program {
    #[task]
    pub fn one() -> u32 {
        1
    }

    #[task]
    pub fn never(n: u32, data: &[u32]) -> u32 {
        let mut sum = 5;
        for _ in 0..n {
            sum += spawn!(one());
            sync!();
        }
        for _ in data {
            sum += spawn!(one());
        }
        sync!();
        while sum > 100 {
            sum -= 1;
            sync!();
        }
        sync!();
        sync!();
        sum
    }
}

millstream_tests::cases! {
    never(0, &Vec::new());
    never(0, &[1, 2]);
    never(3, &[1]);
}
