//! Results straight into the elements of a borrowed slice.

#[millstream::program]
pub mod program {
    #[task]
    pub fn collatz(mut n: u64) -> u32 {
        let mut steps = 0;
        while n != 1 {
            n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
            steps += 1;
        }
        steps
    }

    #[task]
    pub fn table(out: &mut [u32]) -> u32 {
        for i in 0..out.len() {
            out[i] = spawn!(collatz(i as u64 + 1));
        }
        sync!();
        let mut longest = 0;
        for &x in out.iter() {
            longest = longest.max(x);
        }
        longest
    }
}

millstream_tests::cases! {
    table(&mut vec![0; 30]);
    table(&mut vec![]);
}
