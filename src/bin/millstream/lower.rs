//! `millstream lower`

use crate::{
    Failure,
    args::{Emit, LowerArgs},
    cuda,
    report::print,
};
use millstream::job::{Job, Settings, write_file};
use millstream_graph::text;
use std::path::Path;

pub(crate) fn lower(args: &LowerArgs) -> Result<(), Failure> {
    let settings = Settings {
        program: args.program.clone(),
        ..Settings::default()
    };
    let mut job = Job::open(&args.file, &settings)?;
    if args.gpu {
        job.show_wide();
    }
    let text = match args.emit {
        Emit::Cuda => cuda::text(&job)?,
        Emit::Ptx => cuda::ptx(&job, args.arch)?,
        Emit::Cubin => {
            let cubin = cuda::cubin(&job, args.arch)?;
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

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_file(path, bytes)
        .map_err(|e| Failure::Other(format!("cannot write `{}`: {e}", path.display())))
}
