//! `millstream doctor`: what devices and libraries a machine has, what is missing and what to install.

use crate::{Failure, cuda, report::print};
use millstream::{Bytes, Device, RunError, default_memory};
use millstream_cilk_lower::{lower, parse_file};
use std::{
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
    let (cuda, cuda_works) = cuda::doctor();
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
pub(crate) fn line(out: &mut String, name: &str, value: impl std::fmt::Display) {
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
    let device = match Device::cpu() {
        // What was left out is not broken.
        Err(error @ RunError::NotBuilt { .. }) => {
            line(&mut out, "state", error);
            return (out, true);
        }
        made => made.map_err(|e| e.to_string()),
    };
    if let Ok(device) = &device {
        line(&mut out, "Cranelift", device.target());
    }
    match device.and_then(|device| probe(&device).map(|()| device.threads())) {
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
pub(crate) fn probe(device: &Device) -> Result<(), String> {
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
