//! Prints the machine code of each segment of a program: `cargo run --release --example code -- FILE.rs`.

use millstream_channels_kernel::cpu::CompiledProgram;
use std::time::Instant;
use tracing_subscriber::{filter::Targets, layer::SubscriberExt, util::SubscriberInitExt};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let log = tracing_subscriber::fmt::layer()
        .without_time()
        .with_ansi(false);
    let code = Targets::new().with_target("millstream::code", tracing::Level::TRACE);
    tracing_subscriber::registry().with(log).with(code).init();
    let file = std::env::args().nth(1).ok_or("which file?")?;
    let program = millstream_cilk_lower::parse_file(&std::fs::read_to_string(&file)?, &file, None)?;
    let levelized = millstream_cilk_lower::lower::lower(&program)?;
    let start = Instant::now();
    let code = CompiledProgram::compile(&levelized)?;
    println!(
        "{} stacks, compiled and printed in {:?}",
        code.layouts().stacks.len(),
        start.elapsed()
    );
    Ok(())
}
