//! The compiled program: function pointers, and what its error sites mean.

use super::{
    abi::{ContinuationFn, EntryFn},
    segment, selects,
    unit::Unit,
};
use crate::layout::Layouts;
use cranelift_jit::JITModule;
use cranelift_module::ModuleError;
use millstream_graph::{
    fault::{Fault, FaultValue},
    ir::{CheckKind, SegmentId, Span, TaskId},
    levelized::Levelized,
    ty::Scalar,
};
use std::sync::Mutex;

/// Why a program could not be compiled.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// Cranelift has no code generator for this computer.
    #[error("no code generator for this computer: {0}")]
    Host(String),
    /// A function could not be compiled.
    #[error("`{function}` could not be compiled: {source}")]
    Function {
        /// The function.
        function: String,
        /// What Cranelift says.
        source: Box<ModuleError>,
    },
    /// The module as a whole could not be set up or linked.
    #[error("the program's machine code could not be linked: {0}")]
    Module(#[from] Box<ModuleError>),
}

/// A check in compiled code; its index is the `site` of a [`WorkerContext`](super::abi::WorkerContext).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckSite {
    /// What it checks.
    pub kind: CheckKind,
    /// Where it stands in the source.
    pub span: Span,
    /// The function it stands in, as the user named it.
    pub function: String,
    /// Types of the values of its message.
    pub types: Vec<Scalar>,
}

/// A levelized program as machine code. The code is freed on drop: no function pointer got from here may be called after that.
pub struct CompiledProgram {
    layouts: Layouts,
    file: String,
    functions: Vec<String>,
    sites: Vec<CheckSite>,
    segments: Vec<TaskCode>,
    /// Owns the code and the program's constants; taken only by drop. The mutex makes the program `Sync` and is never locked.
    module: Mutex<Option<JITModule>>,
}

/// Machine code of a task.
pub(super) struct TaskCode {
    pub(super) entry: EntryFn,
    /// Of segment 1 and up.
    pub(super) continuations: Vec<ContinuationFn>,
}

impl CompiledProgram {
    /// Compiles a program that the verifier and the lowering's checker accept.
    ///
    /// # Errors
    /// If Cranelift does not know this computer, or refuses a function.
    pub fn compile(program: &Levelized) -> Result<Self, CompileError> {
        let _span = tracing::debug_span!("compile", program = program.program.name).entered();
        let program = &selects::selected(program);
        let layouts = Layouts::new(program);
        let mut unit = Unit::new(program, &layouts)?;
        let mut ids = Vec::new();
        for (task, lowered) in program.tasks() {
            let segments = (0..lowered.segments.len())
                .map(|s| segment::compile(&mut unit, task, SegmentId::new(s)));
            ids.push(segments.collect::<Result<Vec<_>, _>>()?);
        }
        unit.compile_helpers()?;
        let (module, sites) = unit.finish()?;
        let code = |id| module.get_finalized_function(id);
        let segments = ids.iter().map(|ids| TaskCode {
            // SAFETY: `segment::compile` gives the first segment the signature of `EntryFn`; the code is finalized.
            entry: unsafe { std::mem::transmute::<*const u8, EntryFn>(code(ids[0])) },
            // SAFETY: and the others that of `ContinuationFn`.
            continuations: ids[1..]
                .iter()
                .map(|&id| unsafe { std::mem::transmute::<*const u8, ContinuationFn>(code(id)) })
                .collect(),
        });
        let segments = segments.collect();
        let functions = program
            .program
            .functions
            .iter()
            .map(|f| f.name.clone())
            .collect();
        let file = program.program.file.clone();
        tracing::debug!(sites = sites.len(), "compiled");
        Ok(Self {
            layouts,
            file,
            functions,
            sites,
            segments,
            module: Mutex::new(Some(module)),
        })
    }

    /// The layouts of the program's channel stacks.
    #[must_use]
    pub const fn layouts(&self) -> &Layouts {
        &self.layouts
    }

    /// Code of a task's entry segment.
    #[must_use]
    pub fn entry(&self, task: TaskId) -> EntryFn {
        self.segments[task.index()].entry
    }

    /// Code of a continuation segment.
    ///
    /// # Panics
    /// If the segment is the entry, or not of this task.
    #[must_use]
    pub fn continuation(&self, task: TaskId, segment: SegmentId) -> ContinuationFn {
        assert!(segment.0 > 0, "the entry segment is not a continuation");
        self.segments[task.index()].continuations[segment.index() - 1]
    }

    /// What the check of that number is.
    #[must_use]
    pub fn site(&self, site: u32) -> &CheckSite {
        &self.sites[site as usize]
    }

    /// The error of a failed check: `site` and `values` as compiled code left them in the worker's context.
    #[must_use]
    pub fn fault(&self, site: u32, values: [u64; 2]) -> Fault {
        let site = self.site(site);
        let values = site
            .types
            .iter()
            .zip(values)
            .map(|(&ty, bits)| FaultValue { ty, bits })
            .collect();
        Fault {
            kind: site.kind.clone(),
            values,
            function: site.function.clone(),
            file: self.file.clone(),
            span: site.span,
        }
    }

    /// Name of a function: of the helper that used up the thread's stack.
    #[must_use]
    pub fn function_name(&self, index: u32) -> &str {
        &self.functions[index as usize]
    }
}

impl Drop for CompiledProgram {
    fn drop(&mut self) {
        let module = self
            .module
            .get_mut()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(module) = module.take() {
            // SAFETY: this type's contract: nobody calls its functions once it is dropped, so none of them is running.
            unsafe { module.free_memory() }
        }
    }
}

impl std::fmt::Debug for CompiledProgram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CompiledProgram")
            .field("file", &self.file)
            .field("tasks", &self.segments.len())
            .finish_non_exhaustive()
    }
}
