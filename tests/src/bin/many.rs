//! Prints a program of many tasks, to see how long its kernels take to compile.
//!
//! ```console
//! $ cargo run -p millstream-tests --bin many 60 > sixty.rs
//! $ MILLSTREAM_CACHE=$(mktemp -d) CUDA_CACHE_DISABLE=1 millstream run sixty.rs --entry 't0(8, 5)' --device cuda:0
//! ```

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let count = std::env::args().nth(1).ok_or("how many tasks?")?;
    print!("{}", millstream_tests::many::program(count.parse()?));
    Ok(())
}
