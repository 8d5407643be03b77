//! Tasks that ask where they run, for how they divide their work.

#[millstream::program]
pub mod program {
    use millstream::on_gpu;

    #[task]
    pub fn squares(data: &mut [u32], from: u32) -> u64 {
        let most = if on_gpu() { 3 } else { 10 };
        if data.len() <= most {
            let mut sum = 0;
            for (i, x) in data.iter_mut().enumerate() {
                *x = (from + i as u32).wrapping_mul(from + i as u32);
                sum += *x as u64;
            }
            return sum;
        }
        let half = data.len() / 2;
        let (low, high) = data.split_at_mut(half);
        let x = spawn!(squares(low, from));
        let y = spawn!(squares(high, from + half as u32));
        sync!();
        x + y
    }

    /// In a task that is called, and in a parallel loop.
    #[task]
    pub fn called(data: &mut [u32]) -> u64 {
        let mut sum = squares(data, 7);
        #[parallel]
        for part in data.chunks_mut(5) {
            sum += if millstream::on_gpu() { squares(part, 1) } else { squares(part, 1) };
        }
        sum
    }
}

millstream_tests::cases! {
    squares(&mut [0; 100], 3);
    squares(&mut [0; 2], 1);
    called(&mut [1; 33]);
}
