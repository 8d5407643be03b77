//! Fibonacci numbers, a task per call.
//!
//! ```text
//!          ┌──────────── spawn ────────────┐
//!          ▼                               │
//!   [ fib entries ] ──► fib ──► [ fib frames ] ──► fib, after its sync ──► the parent's frame
//! ```

#[millstream::program]
pub mod fib {
    /// The `n`th Fibonacci number.
    #[task]
    pub fn fib(n: u32) -> u64 {
        if n < 2 {
            return n as u64;
        }
        let x = spawn!(fib(n - 1));
        let y = spawn!(fib(n - 2));
        sync!();
        x + y
    }
}

fn main() -> Result<(), millstream::Error> {
    let device = millstream::Device::auto()?;
    let answer = device.run(fib::call::fib(30))?;
    assert_eq!(answer, fib::fib(30));
    println!("fib(30) = {answer}");
    Ok(())
}
