//! A graph as a file that can be run.

use super::{
    error::{Problem, Result},
    source::Loaded,
    spec::Spec,
};
use millstream_graph::{
    graph::{Graph, Names, Written, WrittenChannel, WrittenKernel, WrittenTask},
    text::print_program,
};
use ron::{extensions::Extensions, ser::PrettyConfig};
use serde::Serialize;
use std::path::Path;

/// What a RON file describes; see `file`.
#[derive(Serialize)]
enum Run {
    Graph(File),
}

#[derive(Serialize)]
struct File {
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ir: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    channels: Names<String, WrittenChannel>,
    kernels: Names<String, WrittenKernel>,
    #[serde(skip_serializing_if = "Names::is_empty")]
    tasks: Names<String, WrittenTask>,
}

/// The graph of a job, whose file is to lie in this folder. Of tasks the program stands in it: what their segments are is not in the source.
pub(super) fn graph(
    graph: &Graph,
    spec: &Spec,
    loaded: &Loaded,
    folder: Option<&Path>,
) -> Result<String> {
    let written = Written::from(graph);
    let ir = match graph.tasks().len() {
        0 => spec.ir.as_ref().map(|_| &loaded.program),
        _ => Some(&loaded.lowered.program),
    };
    let file = File {
        source: ir.is_none().then(|| source(&spec.source.path, folder)),
        ir: ir.map(print_program),
        name: written.name,
        channels: written.channels,
        kernels: written.kernels,
        tasks: written.tasks,
    };
    let pretty = PrettyConfig::default()
        .depth_limit(4)
        .compact_arrays(true)
        .escape_strings(false)
        .extensions(Extensions::IMPLICIT_SOME | Extensions::UNWRAP_VARIANT_NEWTYPES);
    let text = ron::ser::to_string_pretty(&Run::Graph(file), pretty);
    text.map_err(|e| Problem::new(format!("the graph cannot be written as RON: {e}")).into())
}

/// How a file in that folder names the source.
fn source(path: &Path, folder: Option<&Path>) -> String {
    let named = match (folder, path.parent()) {
        (Some(folder), Some(own)) if same(folder, own) => path.file_name().map(Path::new),
        _ => None,
    };
    let absolute = || path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    match (named, folder) {
        (Some(name), _) => name.display().to_string(),
        (None, Some(_)) => absolute().display().to_string(),
        (None, None) => path.display().to_string(),
    }
}

fn same(a: &Path, b: &Path) -> bool {
    let whole = |p: &Path| match p.as_os_str().is_empty() {
        true => Path::new(".").canonicalize(),
        false => p.canonicalize(),
    };
    matches!((whole(a), whole(b)), (Ok(a), Ok(b)) if a == b)
}
