//! Machines with and without what a GPU needs: a driver of a few lines stands for NVIDIA's, and what is missing is named.

use crate::support::{Ended, Folder, command, ended};
use std::process::{Command, Stdio};

/// As much of the driver as is asked before anything runs; it has one GPU, on which nothing does.
const DRIVER: &str = r#"
#include <stddef.h>
#include <string.h>
int cuInit(unsigned flags) { return 0; }
int cuDriverGetVersion(int *version) { *version = 12080; return 0; }
int cuDeviceGetCount(int *count) { *count = 1; return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return ordinal == 0 ? 0 : 101; }
int cuDeviceGetName(char *name, int size, int device) { strncpy(name, "Pretended GPU", size); return 0; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = (size_t)8 << 30; return 0; }
int cuDeviceGetAttribute(int *value, int which, int device) {
  *value = which == 75 ? 9 : which == 76 ? 0 : which == 16 ? 7 : 1;
  return 0;
}
int cuGetErrorString(int code, const char **text) { *text = "a pretended error"; return 0; }
int cuCtxCreate_v2(void **context, unsigned flags, int device) { return 2; }
"#;

/// The rest of a driver: its memory is this computer's, it logs what is loaded and launched in a file, and its kernels do nothing.
const IDLE_DRIVER: &str = r#"
#include <stdio.h>
#include <stdlib.h>
typedef unsigned long long Address;
static int made(void **handle) { *handle = malloc(16); return 0; }
static int note(const char *what, const char *name) {
  FILE *log = fopen(getenv("PRETENDED_LOG"), "a");
  fprintf(log, "%s %s\n", what, name);
  fclose(log);
  return 0;
}
int cuCtxCreate_v2(void **context, unsigned flags, int device) { return made(context); }
int cuCtxDestroy_v2(void *context) { return 0; }
int cuCtxSetCurrent(void *context) { return 0; }
int cuCtxSetLimit(int limit, size_t value) { return 0; }
int cuEventCreate(void **event, unsigned flags) { return made(event); }
int cuEventDestroy_v2(void *event) { return 0; }
int cuEventElapsedTime(float *time, void *start, void *end) { *time = 1; return 0; }
int cuEventRecord(void *event, void *stream) { return 0; }
int cuEventSynchronize(void *event) { return 0; }
int cuStreamCreate(void **stream, unsigned flags) { return made(stream); }
int cuStreamDestroy_v2(void *stream) { return 0; }
int cuStreamQuery(void *stream) { return 0; }
int cuStreamSynchronize(void *stream) { return 0; }
int cuMemGetInfo_v2(size_t *free, size_t *total) { *free = *total = 64 << 20; return 0; }
int cuMemAlloc_v2(Address *at, size_t bytes) { *at = (Address)aligned_alloc(256, (bytes + 255) & ~(size_t)255); return 0; }
int cuMemFree_v2(Address at) { free((void *)at); return 0; }
int cuMemHostAlloc(void **at, size_t bytes, unsigned flags) { *at = calloc(1, bytes); return 0; }
int cuMemHostGetDevicePointer_v2(Address *at, void *from, unsigned flags) { *at = (Address)from; return 0; }
int cuMemFreeHost(void *at) { free(at); return 0; }
int cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes, void *stream) { memcpy((void *)to, from, bytes); return 0; }
int cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes, void *stream) { memcpy(to, (void *)from, bytes); return 0; }
int cuMemsetD8Async(Address at, unsigned char value, size_t bytes, void *stream) { memset((void *)at, value, bytes); return 0; }
int cuModuleLoadData(void **module, const void *image) { made(module); return note("load", "module"); }
int cuLinkCreate_v2(unsigned count, int *options, void **values, void **state) { return made(state); }
int cuLinkAddData_v2(void *state, int type, void *data, size_t size, const char *name, unsigned count, int *options, void **values) { return 0; }
int cuLinkComplete(void *state, void **image, size_t *size) { *size = 16; made(image); return note("link", "parts"); }
int cuLinkDestroy(void *state) { return 0; }
int cuFuncGetAttribute(int *value, int which, void *function) { *value = 1; return 0; }
int cuModuleUnload(void *module) { return 0; }
int cuModuleGetFunction(void **function, void *module, const char *name) { *function = strdup(name); return 0; }
int cuModuleGetGlobal_v2(Address *at, size_t *bytes, void *module, const char *name) {
  *bytes = 1 << 16;
  *at = (Address)calloc(1, *bytes);
  return note("global", name);
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads, size_t shared) { *blocks = 2; return 0; }
int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                   void *stream, void **params, void **extra) {
  return note("launch", function);
}
// NVRTC asks for the driver's own cache. There is nothing in this table but its size.
int cuGetExportTable(const void **table, const void *id) { static size_t none[1] = {8}; *table = none; return 0; }
int cuLaunchCooperativeKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz,
                              unsigned shared, void *stream, void **params) {
  return note("cooperative", function);
}
"#;

fn run(t: &Folder, env: &[(&str, &str)], args: &[&str]) -> Ended {
    let mut command = command(&t.path(""));
    command
        .env_remove("MILLSTREAM_DEVICE")
        .envs(env.iter().copied())
        .args(args);
    let ended = ended(&command.output().unwrap());
    assert!(!ended.err.contains("panicked"), "{args:?}: {}", ended.err);
    ended
}

/// The folder of the pretended driver; none, aloud, where there is no C compiler.
fn driver(t: &Folder) -> Option<String> {
    driver_of(t, DRIVER)
}

fn driver_of(t: &Folder, text: &str) -> Option<String> {
    t.write("driver.c", text);
    let cc = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let built = Command::new(cc)
        .args(["-shared", "-fPIC", "-w", "-o"])
        .args([t.path("libcuda.so"), t.path("driver.c")])
        .status();
    if !built.is_ok_and(|s| s.success()) {
        eprintln!("SKIPPED: no C compiler");
        return None;
    }
    std::fs::copy(t.path("libcuda.so"), t.path("libcuda.so.1")).unwrap();
    Some(t.path("").display().to_string())
}

const NO_NVRTC: (&str, &str) = ("MILLSTREAM_NVRTC", "/nowhere/libnvrtc.so");

#[test]
fn without_a_driver_the_cpu_runs_and_the_gpu_is_said_to_be_missing() {
    let t = Folder::new();
    let off = ("MILLSTREAM_CUDA", "off");
    let doctor = run(
        &t,
        &[off, NO_NVRTC, ("MILLSTREAM_CACHE", "/some/folder")],
        &["doctor"],
    );
    assert_eq!(doctor.code, Some(0), "{}", doctor.err);
    for text in [
        "turned off",
        "the NVIDIA driver for CUDA 12.0",
        "/nowhere/libnvrtc.so",
        "pip install nvidia-cuda-nvrtc",
        "/some/folder",
        "programs run on the CPU",
    ] {
        assert!(doctor.out.contains(text), "{text}: {}", doctor.out);
    }
    let refused = run(
        &t,
        &[off],
        &["run", "fib.rs", "--entry", "fib(10)", "--device", "cuda:0"],
    );
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.err.contains("cannot run on `cuda:0`") && refused.err.contains("millstream doctor"),
        "{}",
        refused.err
    );
    let auto = run(
        &t,
        &[off],
        &[
            "run", "fib.rs", "--entry", "fib(10)", "--device", "auto", "-v",
        ],
    );
    assert_eq!(auto.code, Some(0), "{}", auto.err);
    assert!(
        auto.out.contains("fib(10) = 55") && auto.out.contains("on cpu"),
        "{}",
        auto.out
    );
}

#[test]
fn the_environment_names_the_device_that_auto_is() {
    let t = Folder::new();
    let fib = |device: &str, args: &[&str]| {
        let all = [&["run", "fib.rs", "--entry", "fib(10)", "-q"], args].concat();
        run(
            &t,
            &[("MILLSTREAM_CUDA", "off"), ("MILLSTREAM_DEVICE", device)],
            &all,
        )
    };
    assert_eq!(
        (fib("cpu", &[]).code, fib("auto", &[]).code),
        (Some(0), Some(0))
    );
    let none = fib("cuda:3", &[]);
    assert_eq!(none.code, Some(1), "{}", none.out);
    let wrong = fib("gpu", &[]);
    assert!(
        wrong.code == Some(1) && wrong.err.contains("MILLSTREAM_DEVICE=gpu names no device"),
        "{}",
        wrong.err
    );
    // What the command says goes before it.
    assert_eq!(
        (
            fib("cuda:3", &["--device", "cpu"]).code,
            fib("gpu", &["--threads", "1"]).code
        ),
        (Some(0), Some(0))
    );
}

#[test]
fn with_a_driver_and_no_nvrtc_that_is_what_is_missing() {
    let t = Folder::new();
    let Some(folder) = driver(&t) else { return };
    let library = ("LD_LIBRARY_PATH", folder.as_str());
    let doctor = run(&t, &[library, NO_NVRTC], &["doctor"]);
    assert_eq!(doctor.code, Some(0), "{}", doctor.err);
    for text in [
        "CUDA 12.8",
        "Pretended GPU, sm_90, 7 multiprocessors, 8 GiB",
        "pip install nvidia-cuda-nvrtc",
        "programs run on the CPU",
    ] {
        assert!(doctor.out.contains(text), "{text}: {}", doctor.out);
    }
    assert!(
        !doctor.out.contains("the NVIDIA driver for"),
        "{}",
        doctor.out
    );
    let refused = run(
        &t,
        &[library, NO_NVRTC],
        &["run", "fib.rs", "--entry", "fib(10)", "--device", "cuda"],
    );
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.err.contains("NVRTC was not found"),
        "{}",
        refused.err
    );
    let auto = run(
        &t,
        &[library, NO_NVRTC],
        &["run", "fib.rs", "--entry", "fib(10)", "-q"],
    );
    assert_eq!(
        (auto.code, auto.out.as_str()),
        (Some(0), "55\n"),
        "{}",
        auto.err
    );
}

#[test]
fn a_gpu_that_has_all_and_does_not_work_is_an_error() {
    let t = Folder::new();
    let Some(folder) = driver(&t) else { return };
    let library = ("LD_LIBRARY_PATH", folder.as_str());
    let doctor = run(&t, &[library], &["doctor"]);
    if doctor.out.contains("missing") {
        return eprintln!("SKIPPED: no NVRTC");
    }
    assert_eq!(doctor.code, Some(1), "{}", doctor.out);
    assert!(
        doctor.out.contains("DOES NOT WORK") && doctor.out.contains("a pretended error"),
        "{}",
        doctor.out
    );
    let refused = run(
        &t,
        &[library],
        &[
            "run",
            "fib.rs",
            "--entry",
            "fib(10)",
            "--device",
            "cuda:0",
            "--aggregator",
            "host",
        ],
    );
    assert!(
        refused.code == Some(1) && refused.err.contains("making a context"),
        "{}",
        refused.err
    );
    let absent = run(
        &t,
        &[library],
        &["run", "fib.rs", "--entry", "fib(10)", "--device", "cuda:7"],
    );
    assert!(
        absent.code == Some(1) && absent.err.contains("looking for device 7"),
        "{}",
        absent.err
    );
}

#[test]
fn programs_are_printed_as_cuda_and_compiled_for_gpus_that_are_not_there() {
    let t = Folder::new();
    let out = t.good(&["lower", "fib.rs", "--emit", "cuda"]);
    for word in ["talloc", "enq", "deq", "tfree", "#line", "fib.rs"] {
        assert!(out.contains(word), "{word}");
    }
    let without = run(&t, &[NO_NVRTC], &["lower", "fib.rs", "--emit", "ptx"]);
    assert!(
        without.code == Some(1) && without.err.contains("pip install nvidia-cuda-nvrtc"),
        "{}",
        without.err
    );
    let wrong = run(
        &t,
        &[],
        &["lower", "fib.rs", "--emit", "ptx", "--arch", "hopper"],
    );
    assert_eq!(wrong.code, Some(2), "{}", wrong.err);
    let ptx = run(
        &t,
        &[],
        &["lower", "fib.rs", "--emit", "ptx", "--arch", "sm_80"],
    );
    if ptx.err.contains("NVRTC was not found") {
        return eprintln!("SKIPPED: no NVRTC");
    }
    assert!(ptx.out.contains(".target sm_80"), "{}", ptx.err);
    let no_file = run(&t, &[], &["lower", "fib.rs", "--emit", "cubin"]);
    assert!(
        no_file.code == Some(1) && no_file.err.contains("-o FILE"),
        "{}",
        no_file.err
    );
    t.good(&["lower", "fib.rs", "--emit", "cubin", "-o", "fib.cubin"]);
    assert!(t.read("fib.cubin").starts_with(b"\x7fELF"));
}

const SMALL: &str = "#[millstream::program]
mod small {
    #[task]
    pub fn count(n: u32) -> u64 {
        n as u64 + 1
    }
}
";

/// What becomes of a program's kernels, shown by a driver whose kernels do nothing, so that its runs come to nothing.
#[test]
fn a_first_run_does_not_wait_for_the_persistent_kernel_and_the_next_has_it() {
    let t = Folder::new();
    // The context can be made here.
    let text = DRIVER.replace(
        "int cuCtxCreate_v2(void **context, unsigned flags, int device) { return 2; }\n",
        "",
    );
    let Some(folder) = driver_of(&t, &(text + IDLE_DRIVER)) else {
        return;
    };
    t.write("small.rs", SMALL);
    let log = t.path("log");
    let again = |aggregator: &str| {
        let _ = std::fs::remove_file(&log);
        let env = [
            ("LD_LIBRARY_PATH", folder.as_str()),
            ("PRETENDED_LOG", log.to_str().unwrap()),
            ("MILLSTREAM_CACHE", &t.path("cache").display().to_string()),
        ];
        let args = [
            "run",
            "small.rs",
            "--entry",
            "count(1)",
            "--device",
            "cuda:0",
            "--aggregator",
            aggregator,
        ];
        let ended = run(&t, &env, &args);
        let lines = std::fs::read_to_string(&log).unwrap_or_default();
        (ended, lines.lines().map(str::to_owned).collect::<Vec<_>>())
    };
    let (first, lines) = again("auto");
    if first.err.contains("NVRTC was not found") {
        return eprintln!("SKIPPED: no NVRTC");
    }
    assert_eq!(
        lines,
        ["load module", "global device_channels", "launch dispatch_0"],
        "{}",
        first.err
    );
    assert!(
        first.err.contains("dispatch 1 ended without a word"),
        "{}",
        first.err
    );
    // All come into the cache, the host thread's kernels and the two parts of the persistent one, whether this process is there still or not.
    let start = std::time::Instant::now();
    loop {
        let cached = std::fs::read_dir(t.path("cache"))
            .unwrap()
            .map(|f| f.unwrap().path());
        let cached: Vec<_> = cached.collect();
        let is_cubin = |f: &std::path::PathBuf| f.extension().is_some_and(|e| e == "cubin");
        if cached.len() == 3 && cached.iter().all(is_cubin) {
            break;
        }
        assert!(start.elapsed().as_secs() < 60, "{cached:?}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let part = ["load module", "global device_channels"];
    let (_, lines) = again("auto");
    let linked = ["link parts", part[0], part[1]];
    assert_eq!(lines, [&linked[..], &part, &["launch persistent"]].concat());
    // Each aggregator has its own kernels alone.
    let (_, lines) = again("host");
    assert_eq!(lines, [&part[..], &["launch dispatch_0"]].concat());
    let (_, lines) = again("persistent");
    assert_eq!(lines, [&linked[..], &["cooperative persistent"]].concat());
}

#[test]
fn two_processes_that_compile_the_same_at_once_both_end_right() {
    let t = Folder::new();
    t.write("small.rs", SMALL);
    let cache = t.path("cache");
    let start = |out: &str| {
        command(&t.path(""))
            .env("MILLSTREAM_CACHE", &cache)
            .args(["lower", "small.rs", "--emit", "cubin", "-o", out])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let both = [start("one.cubin"), start("two.cubin")].map(|p| p.wait_with_output().unwrap());
    if both
        .iter()
        .any(|o| ended(o).err.contains("NVRTC was not found"))
    {
        return eprintln!("SKIPPED: no NVRTC");
    }
    for output in &both {
        assert!(output.status.success(), "{}", ended(output).err);
    }
    let code = t.read("one.cubin");
    assert!(code.starts_with(b"\x7fELF") && code == t.read("two.cubin"));
    let kept = || -> Vec<_> {
        let files = std::fs::read_dir(&cache).unwrap();
        files.map(|f| f.unwrap().path()).collect()
    };
    let [file] = &kept()[..] else {
        panic!("{:?}", kept())
    };
    // A third finds it; and makes it anew if it is broken.
    let before = std::fs::read(file).unwrap();
    assert!(before.starts_with(&code));
    std::fs::write(file, &before[..before.len() / 2]).unwrap();
    assert!(start("three.cubin").wait().unwrap().success());
    assert_eq!(t.read("three.cubin"), code);
    assert_eq!(std::fs::read(file).unwrap(), before);
}

#[cfg(feature = "cuda")]
#[test]
fn what_is_no_kernel_is_not_taken_over() {
    let t = Folder::new();
    t.write("texts", "90 0 0 0 0 100\nshort");
    let texts = std::fs::File::open(t.path("texts")).unwrap();
    let mut command = command(&t.path("."));
    let ended = ended(&command.arg("take-over").stdin(texts).output().unwrap());
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    let why = "what another process hands over is not compiled: a text ends early";
    assert!(ended.err.contains(why), "{}", ended.err);
}
