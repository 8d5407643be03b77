//! The ring's CUDA text by itself: for kernels that are written by hand, as those that measure it and those that test it.

use super::{abi::flow, abi::kernel};
use std::fmt::Write as _;

/// A translation unit of the ring's text and what stands behind it.
#[must_use]
pub fn unit(body: &str) -> String {
    let mut out = String::from("// The ring channel, and kernels around it.\n");
    for (name, value) in [
        ("WARP", kernel::WARP),
        ("BLOCK", kernel::BLOCK),
        ("STAGE_BYTES", 16),
    ] {
        // The emulator of the tests has smaller ones. Writing to a string cannot fail.
        let _ = writeln!(out, "#ifndef {name}\n#define {name} {value}u\n#endif");
    }
    out += include_str!("device/prelude.cu");
    out += "\n";
    out += &flow::header();
    out += include_str!("device/stop.cu");
    out += include_str!("device/ring.cu");
    out += body;
    out
}
