//! Devices: what programs are loaded on and launched.

use crate::{
    args::ErasedCall,
    buffer::{Buffer, Pod},
    cpu::{self, CpuDevice, CpuLoaded, CpuOptions},
    cuda::{CudaCancel, CudaDevice, CudaLoaded, flow::CudaGraph},
    dump::Dump,
    error::RunError,
    flow::{CpuGraph, GraphCall, GraphProgram, Running},
    gpus::{CudaOptions, DeviceInfo},
    live::Live,
    native::Native,
    policy::Bytes,
    report::RunReport,
};
use millstream_graph::{ir::TaskId, levelized::Levelized};
use std::{
    fmt,
    sync::{Arc, atomic::AtomicU32},
    time::Duration,
};

/// Something that runs programs: the CPU or a GPU. A clone is the same device.
#[derive(Clone)]
pub struct Device {
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    Cpu(CpuDevice),
    Cuda(CudaDevice),
}

/// A program on a device, compiled. A clone is the same.
#[derive(Clone, Debug)]
pub struct Loaded {
    kind: LoadedKind,
}

#[derive(Clone, Debug)]
enum LoadedKind {
    Cpu(Arc<CpuLoaded>),
    Cuda(Arc<CudaLoaded>),
}

impl Loaded {
    /// The program.
    #[must_use]
    pub fn program(&self) -> &Arc<Levelized> {
        match &self.kind {
            LoadedKind::Cpu(loaded) => loaded.program(),
            LoadedKind::Cuda(loaded) => loaded.program(),
        }
    }

    /// How long it took to compile.
    #[must_use]
    pub fn compiling(&self) -> Duration {
        match &self.kind {
            LoadedKind::Cpu(loaded) => loaded.compiling(),
            LoadedKind::Cuda(loaded) => loaded.compiling(),
        }
    }
}

/// A graph of channels on a device, compiled. A clone is the same.
#[derive(Clone, Debug)]
pub struct LoadedGraph {
    kind: GraphKind,
}

#[derive(Clone, Debug)]
enum GraphKind {
    Cpu(CpuDevice, CpuGraph),
    Cuda(CudaDevice, Arc<CudaGraph>),
}

impl LoadedGraph {
    /// The graph and what was made of it.
    #[must_use]
    pub fn program(&self) -> &Arc<GraphProgram> {
        match &self.kind {
            GraphKind::Cpu(_, graph) => graph.program(),
            GraphKind::Cuda(_, graph) => graph.program(),
        }
    }

    /// How long it took to compile.
    #[must_use]
    pub fn compiling(&self) -> Duration {
        match &self.kind {
            GraphKind::Cpu(_, graph) => graph.compiling(),
            GraphKind::Cuda(_, graph) => graph.compiling(),
        }
    }

    /// Runs the graph while `with` feeds and drains it, and waits until it is done: when `with` has returned, nothing more is sent. What it
    /// returns comes with a report of the run.
    ///
    /// # Errors
    /// If the arguments do not fit the graph, a node fails, the graph cannot go on, or an output was not drained; else the error of `with`.
    pub fn run<R>(
        &self,
        call: GraphCall<'_>,
        with: impl FnOnce(&Running<'_>) -> Result<R, RunError>,
    ) -> Result<(R, RunReport), RunError> {
        match &self.kind {
            GraphKind::Cpu(device, graph) => device.run_graph(graph, call, with),
            GraphKind::Cuda(device, graph) => device.run_graph(graph, call, with),
        }
    }
}

/// Stops runs of a device from another thread. A clone stops the same device's.
#[derive(Clone, Debug)]
pub struct Cancel {
    kind: CancelKind,
}

#[derive(Clone, Debug)]
enum CancelKind {
    Cpu(Arc<AtomicU32>),
    Cuda(CudaCancel),
}

impl Cancel {
    /// Ends the run in progress, or the next one if there is none, with [`RunError::Cancelled`]. On the CPU it does nothing else, so that
    /// a signal handler may call it.
    pub fn cancel(&self) {
        match &self.kind {
            CancelKind::Cpu(stop) => cpu::cancel(stop),
            CancelKind::Cuda(cancel) => cancel.cancel(),
        }
    }
}

impl Device {
    /// The best device of this machine: the first GPU if there is one that works, else the CPU. What was found is logged. The environment
    /// may say otherwise: `MILLSTREAM_DEVICE` is `auto`, `cpu`, or `cuda:` and a number.
    ///
    /// # Errors
    /// If the environment names a device that is not there.
    pub fn auto() -> Result<Self, RunError> {
        Self::auto_with(CpuOptions::default(), CudaOptions::default())
    }

    /// The best device of this machine, as [`Device::auto`], by the settings for its kind.
    ///
    /// # Errors
    /// As [`Device::auto`], and if the settings for the device make no sense.
    pub fn auto_with(cpu: CpuOptions, cuda: CudaOptions) -> Result<Self, RunError> {
        let wanted = std::env::var("MILLSTREAM_DEVICE").unwrap_or_default();
        match (
            wanted.as_str(),
            wanted.strip_prefix("cuda:").map(str::parse),
        ) {
            ("" | "auto", _) => {}
            ("cpu", _) => return Self::cpu_with(cpu),
            ("cuda", _) => return Self::cuda_with(cuda),
            (_, Some(Ok(ordinal))) => return Self::cuda_with(CudaOptions { ordinal, ..cuda }),
            _ => {
                return Err(RunError::Device(format!(
                    "MILLSTREAM_DEVICE={wanted} names no device: it may be auto, cpu, or cuda:0"
                )));
            }
        }
        match Self::cuda_with(cuda) {
            Ok(device) => {
                tracing::info!(
                    device = device.name(),
                    gpu = device.gpu().map(|g| g.name.as_str()),
                    "a GPU was found"
                );
                Ok(device)
            }
            Err(error) => {
                tracing::info!(why = %error, "no GPU can be used; the CPU runs programs");
                Self::cpu_with(cpu).map_err(|refused| match refused {
                    // What the user can mend is said: why the device that is built does not work.
                    RunError::NotBuilt { .. } => error,
                    _ => refused,
                })
            }
        }
    }

    /// The CPU, with all of its threads.
    ///
    /// # Errors
    /// If this build has none: feature `cpu`.
    pub fn cpu() -> Result<Self, RunError> {
        Self::cpu_with(CpuOptions::default())
    }

    /// The CPU, by these settings. Threads are made when a run first needs them.
    ///
    /// # Errors
    /// As [`Device::cpu`], and if they make no sense: no thread, no memory, wavefronts of no element.
    pub fn cpu_with(options: CpuOptions) -> Result<Self, RunError> {
        CpuDevice::with(options).map(|device| Self {
            kind: Kind::Cpu(device),
        })
    }

    /// The GPU of that number, as the driver counts.
    ///
    /// # Errors
    /// If there is no driver, no NVRTC or no such GPU, or this build has no such device (feature `cuda`); the error says what to install.
    pub fn cuda(ordinal: u32) -> Result<Self, RunError> {
        Self::cuda_with(CudaOptions {
            ordinal,
            ..CudaOptions::default()
        })
    }

    /// A GPU, by these settings.
    ///
    /// # Errors
    /// As [`Device::cuda`], and if it cannot run the aggregator that is asked for.
    pub fn cuda_with(options: CudaOptions) -> Result<Self, RunError> {
        CudaDevice::with(options).map(|device| Self {
            kind: Kind::Cuda(device),
        })
    }

    /// Its name: `cpu`, `cuda:0`.
    #[must_use]
    pub fn name(&self) -> &str {
        match &self.kind {
            Kind::Cpu(_) => "cpu",
            Kind::Cuda(device) => device.name(),
        }
    }

    /// What its code is made for: the target and the features of this computer's processor that are used, or `sm_90`.
    #[must_use]
    pub fn target(&self) -> String {
        match &self.kind {
            Kind::Cpu(_) => Native::target(),
            Kind::Cuda(device) => format!("sm_{}", device.info().arch),
        }
    }

    /// How many threads of the host run tasks: none for a GPU.
    #[must_use]
    pub fn threads(&self) -> u32 {
        match &self.kind {
            Kind::Cpu(device) => device.threads(),
            Kind::Cuda(_) => 0,
        }
    }

    /// The GPU, if it is one.
    #[must_use]
    pub fn gpu(&self) -> Option<&DeviceInfo> {
        match &self.kind {
            Kind::Cpu(_) => None,
            Kind::Cuda(device) => Some(device.info()),
        }
    }

    /// Bytes that a run's channels may take.
    #[must_use]
    pub fn memory(&self) -> u64 {
        match &self.kind {
            Kind::Cpu(device) => device.memory(),
            Kind::Cuda(device) => device.memory(),
        }
    }

    /// A handle that ends runs of this device.
    #[must_use]
    pub fn cancel_handle(&self) -> Cancel {
        let kind = match &self.kind {
            Kind::Cpu(device) => CancelKind::Cpu(device.stop_word().clone()),
            Kind::Cuda(device) => CancelKind::Cuda(device.cancel_handle()),
        };
        Cancel { kind }
    }

    /// Watches runs of this device from any thread.
    #[must_use]
    pub fn live(&self) -> Live {
        match &self.kind {
            Kind::Cpu(device) => device.live(),
            Kind::Cuda(device) => device.live(),
        }
    }

    /// What its last run was at, if that was stopped or could not go on, or what can be seen of the one in progress: see [`Live::dump`].
    #[must_use]
    pub fn dump(&self) -> Option<Dump> {
        self.live().dump()
    }

    /// Compiles a program for this device, unless it is loaded already.
    ///
    /// # Errors
    /// If the program cannot be compiled.
    pub fn load(&self, program: &Arc<Levelized>) -> Result<Loaded, RunError> {
        let kind = match &self.kind {
            Kind::Cpu(device) => LoadedKind::Cpu(device.load(program)?),
            Kind::Cuda(device) => LoadedKind::Cuda(device.load(program)?),
        };
        Ok(Loaded { kind })
    }

    /// Compiles a graph for this device. Its program is compiled once.
    ///
    /// # Errors
    /// If it cannot be compiled, or this device runs no graphs.
    pub fn load_graph(&self, program: &Arc<GraphProgram>) -> Result<LoadedGraph, RunError> {
        let kind = match &self.kind {
            Kind::Cpu(device) => GraphKind::Cpu(device.clone(), device.load_graph(program)?),
            Kind::Cuda(device) => GraphKind::Cuda(device.clone(), device.load_graph(program)?),
        };
        Ok(LoadedGraph { kind })
    }

    /// Runs calls of a task, all in one run, and waits for it. The results are in the calls afterwards. A program that was loaded on another
    /// device is loaded on this one first.
    ///
    /// # Errors
    /// If the arguments do not fit the task, or the run ends without a result.
    pub fn launch(
        &self,
        loaded: &Loaded,
        task: TaskId,
        calls: &mut [ErasedCall<'_>],
    ) -> Result<RunReport, RunError> {
        let report = self.launch_told(loaded, task, calls, true)?;
        Ok(report.unwrap_or_default())
    }

    /// The same for who does not ask what the run did: of a small one finding that out is a good part.
    ///
    /// # Errors
    /// As [`launch`](Self::launch).
    pub fn launch_untold(
        &self,
        loaded: &Loaded,
        task: TaskId,
        calls: &mut [ErasedCall<'_>],
    ) -> Result<(), RunError> {
        self.launch_told(loaded, task, calls, false).map(drop)
    }

    /// Either of them.
    pub(crate) fn launch_told(
        &self,
        loaded: &Loaded,
        task: TaskId,
        calls: &mut [ErasedCall<'_>],
        told: bool,
    ) -> Result<Option<RunReport>, RunError> {
        match (&self.kind, &loaded.kind) {
            (Kind::Cpu(device), LoadedKind::Cpu(loaded)) => {
                device.launch(&device.adopt(loaded)?, task, calls, told)
            }
            (Kind::Cuda(device), LoadedKind::Cuda(loaded)) => {
                device.launch(loaded, task, calls).map(Some)
            }
            _ => self.launch_told(&self.load(loaded.program())?, task, calls, told),
        }
    }

    /// A buffer with a copy of these values.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn buffer<T: Pod>(&self, values: &[T]) -> Result<Buffer<T>, RunError> {
        let mut buffer = self.zeros(values.len())?;
        buffer.try_write(values)?;
        Ok(buffer)
    }

    /// A buffer of so many zeros.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn zeros<T: Pod>(&self, len: usize) -> Result<Buffer<T>, RunError> {
        let none = || {
            let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
            RunError::Device(format!("no memory for a buffer of {}", Bytes(bytes)))
        };
        match &self.kind {
            Kind::Cpu(_) => Buffer::on_cpu(len).ok_or_else(none),
            Kind::Cuda(device) => {
                let bytes = len.checked_mul(size_of::<T>()).ok_or_else(none)?;
                Ok(Buffer::on_cuda(device.zeros(bytes as u64)?, len))
            }
        }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Device");
        out.field("name", &self.name())
            .field("memory", &self.memory());
        match &self.kind {
            Kind::Cpu(device) => out.field("threads", &device.threads()),
            Kind::Cuda(device) => out.field("gpu", device.info()),
        };
        out.finish_non_exhaustive()
    }
}
