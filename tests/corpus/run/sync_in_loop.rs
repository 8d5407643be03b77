//! A sync in a loop: what the loop keeps lives in the frame.

#[millstream::program]
pub mod program {
    #[task]
    pub fn step(x: u64, i: u64) -> u64 {
        x * 31 + i
    }

    #[task]
    pub fn chain(n: u64) -> u64 {
        let mut x = 7;
        let mut trace = [0u64; 4];
        for i in 0..n {
            let y = spawn!(step(x, i));
            sync!();
            x = y;
            trace[i as usize % 4] ^= y;
        }
        x + trace[0] + trace[3]
    }
}

millstream_tests::cases! {
    chain(0);
    chain(1);
    chain(50);
}
