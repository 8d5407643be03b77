//! Prefix sums by blocks: to each number all before it are added. The sums of blocks are numbers too, fewer: their prefix sums say what each block
//! begins with.
//!
//! ```text
//!   prefix_sum ──► each block: its sum ── all ──► prefix_sum of the sums ── done ──► each block: its numbers, from what comes before it
//! ```

#[millstream::program]
pub mod prefix_sum {
    /// Numbers that one lane adds up. Few, so that there is work for many lanes.
    const BLOCK: usize = 256;

    /// How many numbers of scratch memory are used for `n` numbers.
    pub fn scratch_len(n: usize) -> usize {
        if n <= BLOCK {
            return 0;
        }
        let blocks = n.div_ceil(BLOCK);
        blocks + scratch_len(blocks)
    }

    /// One number after the other; what all come to.
    fn scan(data: &mut [u64], before: u64) -> u64 {
        let mut sum = before;
        for x in data.iter_mut() {
            sum += *x;
            *x = sum;
        }
        sum
    }

    /// Adds to each number all that stand before it; the sum of all.
    #[task]
    pub fn prefix_sum(data: &mut [u64], scratch: &mut [u64]) -> u64 {
        if data.len() <= BLOCK {
            return scan(data, 0);
        }
        let (sums, rest) = scratch.split_at_mut(data.len().div_ceil(BLOCK));
        #[parallel]
        for (block, sum) in data.chunks(BLOCK).zip(sums.iter_mut()) {
            *sum = 0;
            for x in block {
                *sum += x;
            }
        }
        let total = spawn!(prefix_sum(sums, rest));
        sync!();
        #[parallel]
        for (i, block) in data.chunks_mut(BLOCK).enumerate() {
            let before = if i == 0 { 0 } else { sums[i - 1] };
            scan(block, before);
        }
        total
    }
}

fn main() -> Result<(), millstream::Error> {
    let mut data: Vec<u64> = (0..1_000_000).map(|i| i * i % 1009).collect();
    let expected: Vec<u64> = data
        .iter()
        .scan(0, |sum, x| {
            *sum += x;
            Some(*sum)
        })
        .collect();
    let mut scratch = vec![0; prefix_sum::scratch_len(data.len())];

    let device = millstream::Device::auto()?;
    let call = prefix_sum::call::prefix_sum(&mut data, &mut scratch);
    let (total, report) = device.run_with_report(call)?;
    assert_eq!(data, expected);
    assert_eq!(Some(&total), data.last());
    println!("{total} in all, {} tasks", report.total);
    Ok(())
}
