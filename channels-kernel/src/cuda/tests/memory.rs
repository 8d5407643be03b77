//! Segments reach channels through their worker alone: no name of the device's stands in them, and on another memory they touch that.

use super::*;
use crate::cuda::abi::kernel::CHANNELS;
use std::process::Command;

#[test]
fn no_segment_names_the_device_s_channels() {
    for (name, text) in all() {
        let source = generated(text).1.source;
        let end = source.find("extern \"C\" __device__ __noinline__ void run_0(");
        let segments = &source[source.find("// Task `").unwrap()..end.unwrap()];
        assert!(segments.contains("W::Memory::channels"), "{name}");
        assert!(!segments.contains(CHANNELS), "{name}");
        assert!(!segments.contains("DeviceMemory"), "{name}");
    }
}

/// The entry of `fib` on stacks of the program's own. Those of the device are nowhere: who looked for one of their arrays would fall.
const OTHERS: &str = r#"
#include <cstdio>
static Channels own;
static Control own_control;
struct OwnMemory {
  static constexpr const Channels* channels = &own;
  static Control* control() { return &own_control; }
  template <class T> static void combine_add(T* to, T x) { *to += x; }
};
static u64 results[8], x[8], y[8], leaves[64];
// Eight elements, and room for as many children of each.
static u32 numbers[32] = {5, 9, 2, 7, 1, 3, 8, 4}, destinations[32], waiting[8], kept[8], none;
static u64 counters[MAX_GROUPS];
int main() {
  own.control = &own_control;
  own.memory = (ptr)results;
  own.t0_fib = {numbers, destinations};
  own.t0_fib_frame = {x, y, kept};
  own.t0_fib_1 = {waiting};
  for (u32& each : own.each) each = ~0u;
  own_control.counter = counters;
  own_control.leaves = leaves;
  own_control.cancel = &none;
  own_control.watchdog = ~0ull;
  const unsigned stuck = launch(1, [] {
    Shared& sh = shared();
    if (thread_id() == 0) {
      sh.dispatch = {};
      sh.dispatch.count = 8;
      for (u32 i = 0; i < MAX_PUSHES; i++) {
        sh.dispatch.base[i] = t0_fib_entry::stack_of(i) == 0 ? 8 : 0;
        sh.dispatch.room[i] = 24;
      }
      sh.full = sh.local = 0;
    }
    __syncthreads();
    run_scanned<t0_fib_entry, OwnMemory>(0, 1);
  });
  u32 sum = 0, frames = 0;
  for (u32 i = 8; i < 32; i++) sum += numbers[i];
  for (u32 frame : waiting) frames += frame;
  printf("%u %u %u %u %llu\n", stuck, own_control.status, sum, frames, results[0]);
}
"#;

#[test]
fn a_segment_on_another_memory_touches_that() {
    let source = generated(shared::FIB).1.source;
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (folder.path().join("own.cpp"), folder.path().join("own"));
    let emulator = include_str!("../../../../tests/src/emulator/emulate.h");
    std::fs::write(&from, format!("{emulator}{source}{OTHERS}")).unwrap();
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
    let flags = ["-std=c++20", "-O1", "-w", "-fno-strict-aliasing", "-o"];
    let Ok(output) = Command::new(compiler)
        .args(flags)
        .args([&to, &from])
        .output()
    else {
        return eprintln!("SKIPPED: no C++ compiler");
    };
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let output = Command::new(&to).output().unwrap();
    // The children of 5, 9, 2, 7, 3, 8 and 4 are those less 1 and less 2, but for the three that are less than 2 and so are leaves; seven frames wait, by their numbers; and 1 is its own result.
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0 0 53 21 1\n");
}
