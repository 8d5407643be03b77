//! What of the command is about GPUs: what `lower` prints for them, and what `doctor` says of them.

use crate::{
    Failure,
    doctor::{line, probe},
};
use millstream::{Bytes, CudaOptions, Device, job::Job};
use millstream_aggregator::cuda as device;
use millstream_channels_kernel::cuda::{
    self, Options, Plan,
    flow::{FlowPlan, Spawning},
    nvrtc::{self, Arch, How, NvrtcError},
};
use std::{collections::BTreeSet, process::Command};

pub(crate) use nvrtc::leave;

/// Ends the process, if only code for runs to come is still compiled: another process does that. What was printed has to be flushed before.
pub(crate) fn leave_if_only_compiling(code: u8) {
    let mut other = match std::env::current_exe() {
        Ok(path) => Command::new(path),
        Err(error) => return tracing::debug!(%error, "this program does not know where it lies"),
    };
    match nvrtc::hand_over(other.arg("take-over")) {
        Ok(true) => leave(code.into()),
        Ok(false) => {}
        Err(error) => tracing::debug!(%error, "no process takes over what is compiled"),
    }
}

/// Compiles what another process handed over.
pub(crate) fn take_over() -> Result<(), Failure> {
    let done = nvrtc::take_over(std::io::stdin().lock());
    done.map(|_| ()).map_err(|error| {
        Failure::Other(format!(
            "what another process hands over is not compiled: {error}"
        ))
    })
}

/// The channel memory that CUDA C++ is written for, if it matters: a program's choice of scans and tiles does not depend on it.
const MEMORY: u64 = 1 << 30;

/// The text that the CUDA device compiles; of a graph with kernels that spawn, both texts.
pub(crate) fn text(job: &Job) -> Result<String, Failure> {
    texts(job, true)
}

fn texts(job: &Job, all: bool) -> Result<String, Failure> {
    let options = Options::default();
    let Some(flow) = job.flow() else {
        if job.lowered().is_empty() {
            let name = &job.program().name;
            return Err(Failure::Other(format!(
                "the program `{name}` has no task: what a GPU runs of its kernels depends on the graph; name its RON file"
            )));
        }
        return Ok(cuda::generate(&Plan::new(job.lowered(), MEMORY), options).source);
    };
    let of = (&flow.graph, &flow.levelized, &flow.kernels);
    let plan = FlowPlan::of(of.0, of.1, of.2).map_err(|e| Failure::Other(e.to_string()))?;
    let source = cuda::flow::generate(&plan, options).source;
    let Some(spawning) = Spawning::of(of.0, of.1, of.2).filter(|_| all) else {
        return Ok(source);
    };
    let tasks = cuda::generate(&Plan::new(&spawning.program, MEMORY), options).source;
    Ok(format!(
        "{source}\n// A text of its own: the kernels that spawn, as a program of tasks.\n{tasks}"
    ))
}

/// PTX of it.
pub(crate) fn ptx(job: &Job, arch: u32) -> Result<String, Failure> {
    let source = texts(job, false)?;
    let ptx = nvrtc::find().and_then(|n| n.ptx(&source, Arch(arch), how(job)));
    ptx.map_err(refused)
}

/// Machine code of it.
pub(crate) fn cubin(job: &Job, arch: u32) -> Result<Vec<u8>, Failure> {
    let source = texts(job, false)?;
    let compiled = nvrtc::find().and_then(|n| n.compile_cached(&source, Arch(arch), how(job)));
    compiled.map(|c| c.cubin).map_err(refused)
}

fn how(job: &Job) -> How {
    How {
        fast_math: job.lowered().program.options.fast_math,
        check: false,
        ..How::default()
    }
}

fn refused(error: NvrtcError) -> Failure {
    Failure::Other(error.to_string())
}

/// What there is of the CUDA device, and whether it works if all of it is there.
pub(crate) fn doctor() -> (String, bool) {
    let mut out = String::from("CUDA device\n");
    let mut missing = BTreeSet::new();
    let mut gpus = Vec::new();
    match device::driver_version().and_then(|version| Ok((version, device::devices()?))) {
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
