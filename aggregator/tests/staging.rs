//! Large slices go to a GPU and back by way of pinned buffers, and arrive whole. A driver of a few lines (`staging.c`) stands for NVIDIA's; it
//! takes its time with each copy and refuses long ones. Linux only: the stand-in is found by the name that is loaded already.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test ends there")]

use millstream_aggregator::{CudaOptions, Device};
use std::{ffi::CString, path::Path, process::Command};

/// Builds the stand-in and loads it; whoever looks for the driver then finds it.
fn load_driver(folder: &Path) -> bool {
    let library = folder.join("libcuda.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/staging.c");
    let cc = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let built = Command::new(cc)
        .args([
            "-shared",
            "-fPIC",
            "-w",
            "-pthread",
            "-Wl,-soname,libcuda.so",
            "-o",
        ])
        .arg(&library)
        .arg(source)
        .status();
    if !built.is_ok_and(|s| s.success()) {
        eprintln!("SKIPPED: no C compiler");
        return false;
    }
    let name = CString::new(library.display().to_string()).unwrap();
    // SAFETY: it has no initialisers.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
    assert!(!handle.is_null());
    true
}

#[test]
fn large_buffers_come_back_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    if std::env::var("MILLSTREAM_TEST_DEVICE").is_ok_and(|d| d == "cuda")
        || !load_driver(folder.path())
    {
        return eprintln!("SKIPPED: on this machine nothing can stand for the driver");
    }
    let device = match Device::cuda_with(CudaOptions::default()) {
        Ok(device) => device,
        Err(e) if std::env::var_os("MILLSTREAM_NVRTC").is_some() => panic!("{e}"),
        Err(e) => return eprintln!("SKIPPED: {e}"),
    };
    // One that is not large, one that is just so, and some that end within a buffer.
    for len in [1000, 2 << 20, (2 << 20) + 1, (7 << 20) + 12_345] {
        let values: Vec<u64> = (0..len).map(|i| i * 0x9e37_79b9_7f4a_7c15).collect();
        let mut buffer = device.buffer(&values).unwrap();
        let mut back = buffer.try_read().unwrap();
        assert!(back == values, "{len} values");
        back.reverse();
        buffer.try_write(&back).unwrap();
        assert!(
            buffer.try_read().unwrap() == back,
            "{len} values, the other way round"
        );
    }
}
