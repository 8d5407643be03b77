//! What was compiled quickly is loaded once more when its full code is there. A driver of a few lines (`loading.c`) stands for NVIDIA's; what compiles is
//! NVRTC. Linux only: the stand-in is found by the name that is loaded already.

#![cfg(all(target_os = "linux", feature = "cuda"))]
#![allow(clippy::unwrap_used, reason = "a test ends there")]

use millstream_aggregator::{
    Aggregator, CudaOptions,
    cuda::{CudaDevice, CudaLoaded},
};
use millstream_channels_kernel::cuda::nvrtc;
use millstream_cilk_lower::{lower::lower, parse_file};
use millstream_graph::levelized::Levelized;
use std::{
    ffi::{CString, c_int},
    path::Path,
    process::Command,
    sync::Arc,
    thread,
    time::{Duration, Instant, SystemTime},
};

/// The full code is there after so long, or it does not come.
const PATIENCE: Duration = Duration::from_secs(100);

/// How many modules the stand-in has loaded.
type Modules = unsafe extern "C" fn() -> c_int;

/// Builds the stand-in and loads it; whoever looks for the driver then finds it.
fn load_driver(folder: &Path) -> Option<Modules> {
    let library = folder.join("libcuda.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/loading.c");
    let cc = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let built = Command::new(cc)
        .args(["-shared", "-fPIC", "-w", "-Wl,-soname,libcuda.so", "-o"])
        .arg(&library)
        .arg(source)
        .status();
    if !built.is_ok_and(|s| s.success()) {
        return None;
    }
    let name = CString::new(library.display().to_string()).unwrap();
    // SAFETY: it has no initialisers.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
    assert!(!handle.is_null());
    // SAFETY: the library has it, by this type.
    unsafe {
        let found = libc::dlsym(handle, c"loaded_modules".as_ptr());
        assert!(!found.is_null());
        Some(std::mem::transmute::<*mut libc::c_void, Modules>(found))
    }
}

/// A program whose loops all blocks share out, of a file that no cache has seen: its name stands in the kernels' text.
fn floyd(file: &str) -> Arc<Levelized> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/floyd.rs");
    let text = std::fs::read_to_string(path).unwrap();
    let program = parse_file(&text, file, Some("floyd")).unwrap();
    Arc::new(lower(&program).unwrap())
}

fn device(early: bool) -> CudaDevice {
    let options = CudaOptions {
        memory: Some(64 << 20),
        // What is linked is not compiled then.
        aggregator: Aggregator::HostThread,
        early,
        ..CudaOptions::default()
    };
    CudaDevice::with(options).unwrap()
}

#[test]
fn full_code_takes_the_place_of_quick_code() {
    let (folder, found) = (tempfile::tempdir().unwrap(), nvrtc::find());
    if let Err(why) = &found {
        assert!(std::env::var_os("MILLSTREAM_NVRTC").is_none(), "{why}");
        return eprintln!("SKIPPED: {why}");
    }
    if std::env::var("MILLSTREAM_TEST_DEVICE").is_ok_and(|d| d == "cuda") {
        return eprintln!("SKIPPED: on this machine nothing can stand for the driver");
    }
    let Some(modules) = load_driver(folder.path()) else {
        return eprintln!("SKIPPED: no C compiler");
    };
    // SAFETY: it takes nothing and reads a number; nothing is loaded meanwhile.
    let modules = || unsafe { modules() };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let stamp = now.unwrap().as_nanos();
    let (device, program) = (device(true), floyd(&format!("floyd-{stamp}.rs")));
    let load = |device: &CudaDevice| -> Arc<CudaLoaded> { device.load(&program).unwrap() };
    let first = load(&device);
    let is_quick = found.unwrap().is_quick();
    assert_eq!((first.is_quick(), modules()), (is_quick, 1));
    let start = Instant::now();
    let full = loop {
        let loaded = load(&device);
        if !loaded.is_quick() {
            break loaded;
        }
        assert!(Arc::ptr_eq(&loaded, &first) && modules() == 1);
        assert!(start.elapsed() < PATIENCE, "it is still quick");
        thread::sleep(Duration::from_millis(20));
    };
    // The quick code stays as long as somebody has it, and the full one is the program from now on.
    assert_eq!(modules(), 1 + i32::from(is_quick));
    drop(first);
    assert!(Arc::ptr_eq(&load(&device), &full));
    assert_eq!(modules(), 1);
    // Another device finds it, and who waits for kernels has it from the beginning.
    assert!(!load(&self::device(true)).is_quick());
    let other = floyd(&format!("floyd-{stamp}-again.rs"));
    assert!(!self::device(false).load(&other).unwrap().is_quick());
}
