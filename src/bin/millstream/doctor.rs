//! `millstream doctor`: what devices and libraries a machine has, what is missing and what to install.

use crate::{Failure, report::print};
use millstream::{Bytes, CudaOptions, Device, default_memory};
use millstream_aggregator::cuda;
use millstream_channels_kernel::cuda::nvrtc;
use millstream_cilk_lower::{lower, parse_file};
use std::{
    collections::BTreeSet,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

/// A program that shows whether a device works.
const PROBE: &str = "#[millstream::program] mod probe {
    #[task] pub fn fib(n: u32) -> u64 {
        if n < 2 { return n as u64; }
        let x = spawn!(fib(n - 1));
        let y = spawn!(fib(n - 2));
        sync!();
        x + y
    }
}";

pub(crate) fn doctor() -> Result<(), Failure> {
    let (cpu, cpu_works) = cpu();
    let (cuda, cuda_works) = cuda();
    print(&format!(
        "millstream {}\n\n{cpu}\n{cuda}\n{}",
        env!("CARGO_PKG_VERSION"),
        tools()
    ))?;
    match (cpu_works, cuda_works) {
        (false, _) => Err(Failure::Other("the CPU device does not work".into())),
        (_, false) => Err(Failure::Other(
            "the CUDA device has all that it needs and does not work".into(),
        )),
        _ => Ok(()),
    }
}

/// A line of a section.
fn line(out: &mut String, name: &str, value: impl std::fmt::Display) {
    let _ = writeln!(out, "  {name:<12}{value}");
}

fn cpu() -> (String, bool) {
    let mut out = String::from("CPU device\n");
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|l| {
        l.strip_prefix("model name")?
            .split_once(':')
            .map(|(_, m)| m.trim().to_owned())
    });
    line(
        &mut out,
        "processor",
        model.unwrap_or_else(|| std::env::consts::ARCH.into()),
    );
    line(&mut out, "caches", caches());
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kilobytes = |key: &str| {
        memory.lines().find_map(|l| {
            l.strip_prefix(key)?
                .trim()
                .trim_end_matches("kB")
                .trim()
                .parse::<u64>()
                .ok()
        })
    };
    if let (Some(total), Some(free)) = (kilobytes("MemTotal:"), kilobytes("MemAvailable:")) {
        line(
            &mut out,
            "memory",
            format!("{}, {} available", Bytes(total << 10), Bytes(free << 10)),
        );
    }
    line(
        &mut out,
        "channels",
        format!("{} unless --memory says otherwise", Bytes(default_memory())),
    );
    line(&mut out, "Cranelift", cranelift());
    match Device::cpu()
        .map_err(|e| e.to_string())
        .and_then(|device| probe(&device).map(|()| device.threads()))
    {
        Ok(threads) => {
            line(&mut out, "threads", threads);
            line(&mut out, "state", "works");
            (out, true)
        }
        Err(error) => {
            line(&mut out, "state", format!("DOES NOT WORK: {error}"));
            (out, false)
        }
    }
}

/// Compiles and runs a small program.
fn probe(device: &Device) -> Result<(), String> {
    let program = parse_file(PROBE, "probe", None).map_err(|e| e.to_string())?;
    let lowered = Arc::new(lower::lower(&program).map_err(|e| e.to_string())?);
    let loaded = device.load(&lowered).map_err(|e| e.to_string())?;
    let task = lowered.find("fib").ok_or("the probe has no task")?;
    let mut calls = [millstream_aggregator::ErasedCall::new(vec![
        millstream_aggregator::ErasedArg::Scalar(10),
    ])];
    device
        .launch(&loaded, task, &mut calls)
        .map_err(|e| e.to_string())?;
    match calls[0].result[..] {
        [55, 0, 0, 0, 0, 0, 0, 0] => Ok(()),
        ref wrong => Err(format!("fib(10) came out as the bytes {wrong:?}")),
    }
}

fn caches() -> String {
    let read = |path: PathBuf| fs::read_to_string(path).ok().map(|t| t.trim().to_owned());
    let cache = |i: u32| {
        let folder = Path::new("/sys/devices/system/cpu/cpu0/cache").join(format!("index{i}"));
        let kind = read(folder.join("type")).filter(|k| k != "Instruction")?;
        let mark = if kind == "Data" { "d" } else { "" };
        Some(format!(
            "L{}{mark} {}",
            read(folder.join("level"))?,
            read(folder.join("size"))?
        ))
    };
    let all: Vec<String> = (0..8).filter_map(cache).collect();
    if all.is_empty() {
        "unknown".into()
    } else {
        all.join(", ")
    }
}

fn cranelift() -> String {
    use cranelift_codegen::settings;
    let found = cranelift_native::builder()
        .map_err(str::to_owned)
        .and_then(|b| {
            let flags = settings::Flags::new(settings::builder());
            b.finish(flags).map_err(|e| e.to_string())
        });
    match found {
        Ok(isa) => {
            let features: Vec<String> = isa
                .isa_flags()
                .iter()
                .filter(|f| f.as_bool() == Some(true))
                .map(|f| f.name.to_owned())
                .collect();
            format!("{}, {}", isa.triple(), features.join(" "))
        }
        Err(e) => format!("does not know this machine: {e}"),
    }
}

/// What there is of the CUDA device, and whether it works if all of it is there.
fn cuda() -> (String, bool) {
    let mut out = String::from("CUDA device\n");
    let mut missing = BTreeSet::new();
    let mut gpus = Vec::new();
    match cuda::driver_version().and_then(|version| Ok((version, cuda::devices()?))) {
        Ok(((major, minor), found)) => {
            line(&mut out, "driver", format!("CUDA {major}.{minor}"));
            for gpu in &found {
                let about = format!(
                    "{}, sm_{}, {} multiprocessors, {}",
                    gpu.name,
                    gpu.arch,
                    gpu.multiprocessors,
                    Bytes(gpu.memory)
                );
                line(&mut out, &format!("cuda:{}", gpu.ordinal), about);
            }
            if found.is_empty() {
                missing.insert("a GPU: the driver finds none");
            }
            gpus = found;
        }
        Err(why) => {
            line(&mut out, "driver", why);
            missing.insert("the NVIDIA driver for CUDA 12.0 or newer (your system's package, or https://www.nvidia.com/drivers)");
        }
    }
    match nvrtc::find() {
        Ok(found) => {
            let archs = found.archs();
            let range = archs
                .first()
                .zip(archs.last())
                .map(|(a, b)| format!(", {a} to {b}"))
                .unwrap_or_default();
            let (major, minor) = found.version();
            line(
                &mut out,
                "NVRTC",
                format!("{major}.{minor} at {}{range}", found.path().display()),
            );
        }
        Err(error) => {
            line(&mut out, "NVRTC", error);
            missing.insert(
                "NVRTC 12.8 or newer (`pip install nvidia-cuda-nvrtc`; no CUDA toolkit is needed)",
            );
        }
    }
    match nvrtc::cache_folder() {
        Some(folder) => line(&mut out, "cubin cache", folder.display()),
        None => line(&mut out, "cubin cache", "off"),
    }
    for what in &missing {
        line(&mut out, "missing", what);
    }
    if !missing.is_empty() {
        line(&mut out, "state", "cannot be used; programs run on the CPU");
        return (out, true);
    }
    let mut works = true;
    for gpu in &gpus {
        let state = match Device::cuda_with(CudaOptions {
            ordinal: gpu.ordinal,
            // All kernels are to be tried.
            early: false,
            ..CudaOptions::default()
        })
        .map_err(|e| e.to_string())
        .and_then(|device| probe(&device))
        {
            Ok(()) => "works".to_owned(),
            Err(error) => {
                works = false;
                format!("DOES NOT WORK: {error}")
            }
        };
        line(&mut out, &format!("state of {}", gpu.ordinal), state);
    }
    (out, works)
}

fn tools() -> String {
    let mut out = String::from("Tools\n");
    let found = std::env::var_os("PATH").and_then(|path| {
        let names = if cfg!(windows) { "dot.exe" } else { "dot" };
        std::env::split_paths(&path)
            .map(|p| p.join(names))
            .find(|p| p.is_file())
    });
    let graphviz = found.map_or_else(
        || "not found; only needed to draw what `lower --emit dot` prints (`--emit svg` needs nothing)".to_owned(),
        |p| p.display().to_string(),
    );
    line(&mut out, "Graphviz", graphviz);
    out
}
