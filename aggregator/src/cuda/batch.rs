//! A batch: elements of a channel that are the roots of a run of tasks, and what these emit.
//!
//! It is what a graph does with a kernel that spawns ([`Spawning`](millstream_channels_kernel::cuda::flow::Spawning)). The run is that of any program, by the
//! host thread, which takes the elements of a *sink* out of their entry channel where another's would be run.

use super::{
    arena::Arena,
    copies::Copies,
    decision::{Done, Run as Chosen},
    launcher::{Kernels, Launcher},
    run::{Run, Settings},
};
use crate::{error::RunError, report::RunReport};
use millstream_channels_kernel::{cuda::plan::Plan, layout::stride};
use millstream_graph::{ir::TaskId, levelized::StackRole, ty::PieceKind};
use std::cell::RefCell;

/// Elements as channels have them: the bytes of each field, element after element.
pub type Fields = Vec<Vec<u8>>;

/// Elements that are to be run with all that comes of them.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'b> {
    /// The kernel's task.
    pub task: TaskId,
    /// How many elements there are,
    pub count: u32,
    /// and what they are.
    pub elements: &'b [Vec<u8>],
    /// What is bound to the graph's kernels.
    pub uniforms: &'b [u64],
    /// Tasks whose elements are taken out.
    pub sinks: &'b [TaskId],
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Of each sink, its elements, and how many.
    pub emitted: Vec<(Fields, u32)>,
    /// What happened; sinks are no tasks.
    pub report: RunReport,
}

/// Where the elements of sinks go.
#[derive(Debug, Default)]
pub(super) struct Outlet {
    /// The source of each sink.
    sinks: Vec<usize>,
    pub(super) uniforms: Vec<u64>,
    taken: RefCell<Vec<(Fields, u32)>>,
}

impl Outlet {
    fn new(plan: &Plan, batch: Batch<'_>) -> Self {
        let source = |sink: &TaskId| {
            let stack = plan.number_of(StackRole::Entry(*sink), false);
            plan.sources.iter().position(|s| s.stack == stack)
        };
        let fields = |s: &usize| {
            let stack = &plan.stacks[plan.sources[*s].stack as usize];
            (vec![Vec::new(); stack.fields.len()], 0)
        };
        let sinks: Vec<usize> = batch.sinks.iter().filter_map(source).collect();
        Self {
            taken: RefCell::new(sinks.iter().map(fields).collect()),
            sinks,
            // Of a graph that binds nothing there is a word all the same.
            uniforms: batch.uniforms[..plan.program.program.uniforms.len()].to_vec(),
        }
    }
}

/// How many elements a batch of that task may have, of `most`, so that a run finds room for them; 0 if for none.
pub fn most_roots(kernels: &Kernels, memory: u64, task: TaskId, most: u32) -> u32 {
    let (plan, records) = (&kernels.plan, kernels.records);
    let fits = |roots: u32| Arena::new(plan, memory, task, roots.into(), records).is_some();
    let halves = std::iter::successors(Some(most), |n| (*n > 1).then_some(n / 2));
    halves.filter(|n| *n > 0).find(|n| fits(*n)).unwrap_or(0)
}

/// Runs a batch, and waits for it.
///
/// # Errors
/// As the run ends.
pub fn run_batch(
    launcher: &mut impl Launcher,
    settings: Settings,
    batch: Batch<'_>,
) -> Result<Ran, RunError> {
    let plan = &launcher.kernels().plan;
    let element = plan.program.element(batch.task);
    let piece = |root: usize, field: usize| {
        let size = match element[field].kind {
            PieceKind::Scalar(ty) => ty.size(),
            PieceKind::Blob(layout) => layout.size,
        } as usize;
        batch.elements[field][root * stride(&element[field]) as usize..][..size].to_vec()
    };
    let root = |root| (0..element.len()).map(|field| piece(root, field)).collect();
    let pieces = (0..batch.count as usize).map(root).collect();
    let outlet = Outlet::new(plan, batch);
    let mut run = Run::with(
        launcher,
        settings,
        batch.task,
        pieces,
        Copies::default(),
        outlet,
    )?;
    let counts = run.work(&mut [])?;
    let emitted = run.outlet.taken.take();
    let names: Vec<String> = batch
        .sinks
        .iter()
        .map(|sink| run.plan().program[*sink].name.clone())
        .collect();
    let mut report = run.report(counts);
    let is_sink = |name: &String| names.contains(name);
    report.tasks.retain(|(name, _)| !is_sink(name));
    report.nodes.retain(|node| !is_sink(&node.name));
    report.total = report.tasks.iter().map(|(_, n)| n).sum();
    Ok(Ran { emitted, report })
}

impl<L: Launcher> Run<'_, L> {
    /// Takes elements out that were chosen to be run, if they are a sink's.
    pub(super) fn take_out(&self, chosen: &Chosen) -> Result<Option<Done>, RunError> {
        let sinks = &self.outlet.sinks;
        let Some(sink) = sinks.iter().position(|s| *s == chosen.source) else {
            return Ok(None);
        };
        let stack = &self.plan().stacks[self.plan().sources[chosen.source].stack as usize];
        let (fields, count) = &mut self.outlet.taken.borrow_mut()[sink];
        for (i, field) in stack.fields.iter().enumerate() {
            let array = self.arena.fields[stack.first_field as usize + i];
            let first = array + u64::from(chosen.first) * stride(field);
            fields[i].extend(self.read(first, u64::from(chosen.count) * stride(field))?);
        }
        *count += chosen.count;
        Ok(Some(Done {
            limit: u32::MAX,
            counters: vec![0; self.plan().groups()],
            ..Done::default()
        }))
    }
}
