//! `millstream lower`

use crate::{
    Failure,
    args::{Emit, LowerArgs},
    report::print,
};
use millstream::job::{Job, Settings, write_file};
use millstream_channels_kernel::cuda::{
    self, Options, Plan,
    flow::FlowPlan,
    nvrtc::{self, How, NvrtcError},
};
use millstream_graph::text;
use std::path::Path;

/// The channel memory that CUDA C++ is written for, if it matters: a program's choice of scans and tiles does not depend on it.
const MEMORY: u64 = 1 << 30;

pub(crate) fn lower(args: &LowerArgs) -> Result<(), Failure> {
    let settings = Settings {
        program: args.program.clone(),
        ..Settings::default()
    };
    let job = Job::open(&args.file, &settings)?;
    let source = || cuda_text(&job);
    let how = How {
        fast_math: job.lowered().program.options.fast_math,
        check: false,
    };
    let refused = |e: NvrtcError| Failure::Other(e.to_string());
    let text = match args.emit {
        Emit::Cuda => source()?,
        Emit::Ptx => {
            let source = source()?;
            let ptx = nvrtc::find().and_then(|n| n.ptx(&source, args.arch, how));
            ptx.map_err(refused)?
        }
        Emit::Cubin => {
            let source = source()?;
            let cubin = nvrtc::find()
                .and_then(|n| n.compile_cached(&source, args.arch, how))
                .map_err(refused)?
                .cubin;
            let Some(path) = &args.output else {
                return Err(Failure::Other(
                    "machine code is no text: name a file by `-o FILE`".into(),
                ));
            };
            return write(path, &cubin);
        }
        Emit::Ir => text::print_program(job.program()),
        Emit::Lowered => text::print_levelized(job.flow().map_or(job.lowered(), |f| &f.levelized)),
        Emit::Graph => job.graph_file(args.output.as_deref().and_then(Path::parent))?,
        Emit::Dot => job.drawing().to_dot(),
        Emit::Mermaid => job.drawing().to_mermaid(),
        Emit::Svg => job.drawing().to_svg(),
    };
    let text = if text.ends_with('\n') {
        text
    } else {
        text + "\n"
    };
    match &args.output {
        Some(path) => write(path, text.as_bytes()),
        None => print(&text),
    }
}

/// The text that the CUDA device compiles.
fn cuda_text(job: &Job) -> Result<String, Failure> {
    let options = Options::default();
    let Some(flow) = job.flow() else {
        if job.lowered().tasks.is_empty() {
            let name = &job.program().name;
            return Err(Failure::Other(format!(
                "the program `{name}` has no task: what a GPU runs of its kernels depends on the graph; name its RON file"
            )));
        }
        return Ok(cuda::generate(&Plan::new(job.lowered(), MEMORY), options).source);
    };
    match FlowPlan::of(&flow.graph, &flow.levelized, &flow.kernels) {
        Ok(plan) => Ok(cuda::flow::generate(&plan, options).source),
        Err(error) => Err(Failure::Other(error.to_string())),
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_file(path, bytes)
        .map_err(|e| Failure::Other(format!("cannot write `{}`: {e}", path.display())))
}
