//! `millstream lower`

use crate::{
    Failure,
    args::{Emit, LowerArgs},
    report::print,
};
use millstream::job::{Job, Settings, write_file};
use millstream_channels_kernel::cuda::{
    self, Options, Plan,
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
    let source = || cuda::generate(&Plan::new(job.lowered(), MEMORY), Options::default()).source;
    let how = How {
        fast_math: job.lowered().program.options.fast_math,
        check: false,
    };
    let refused = |e: NvrtcError| Failure::Other(e.to_string());
    let text = match args.emit {
        Emit::Cuda => source(),
        Emit::Ptx => nvrtc::find()
            .and_then(|n| n.ptx(&source(), args.arch, how))
            .map_err(refused)?,
        Emit::Cubin => {
            let cubin = nvrtc::find()
                .and_then(|n| n.compile_cached(&source(), args.arch, how))
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
        Emit::Lowered => text::print_levelized(job.lowered()),
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

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_file(path, bytes)
        .map_err(|e| Failure::Other(format!("cannot write `{}`: {e}", path.display())))
}
