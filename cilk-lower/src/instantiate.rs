//! A graph of kernels as a program that devices run.
//!
//! Each kernel that runs on the device becomes a task of its own, whose element is that of the channel it consumes. What it emits goes to the
//! graph's channels instead of its ports, and its other parameters are *uniforms*: pieces that the graph gives, numbered over all of its kernels in
//! order. So a kernel that spawns and syncs is lowered as a task is, and its tasks with it.

use crate::lower::{LowerError, lower};
use millstream_graph::{
    graph::{Body, ChannelKey, Graph, GraphError, Kernel, KernelKey, element_fields},
    ir::{
        Arg, ChannelDef, ChannelId, FuncId, Function, FunctionKind, Local, LocalId, Operand,
        Program, Rvalue, Span, Stmt, StmtKind, TaskId, UniformId,
    },
    levelized::Levelized,
    ty::{Field, PieceKind, Scalar},
};
use std::collections::BTreeMap;

/// A graph's kernels, ready to be compiled.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The tasks that its kernels became, and those that they spawn.
    pub program: Levelized,
    /// The graph's channels, by the ids that the program has for them.
    pub channels: Vec<ChannelKey>,
    /// The kernels that run on the device, each with its task, in the graph's order.
    pub kernels: Vec<(KernelKey, TaskId)>,
}

impl Instance {
    /// The id of a channel of the graph.
    #[must_use]
    pub fn channel(&self, key: ChannelKey) -> Option<ChannelId> {
        let at = self.channels.iter().position(|c| *c == key);
        at.map(ChannelId::new)
    }
}

/// Why a graph has no program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InstantiateError {
    /// Something is wrong with the graph.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// A fault of the lowering.
    #[error(transparent)]
    Lower(#[from] LowerError),
}

/// Makes the program of a graph.
///
/// # Errors
/// If the graph is not one of this program, with all that is wrong with it.
pub fn instantiate(program: &Program, graph: &Graph) -> Result<Instance, InstantiateError> {
    graph.checked(program)?;
    let channels: Vec<ChannelKey> = graph.channels().map(|(key, _)| key).collect();
    let ids: BTreeMap<ChannelKey, ChannelId> = channels
        .iter()
        .enumerate()
        .map(|(i, key)| (*key, ChannelId::new(i)))
        .collect();
    let mut made = without_kernels(program);
    for (key, channel) in graph.channels() {
        let element = graph.element(key, program);
        made.channels.push(ChannelDef {
            name: channel.name.clone(),
            fields: element.map_or_else(Vec::new, |ty| element_fields(&ty, &program.structs)),
        });
    }
    let mut nodes = Vec::new();
    for (key, kernel) in graph.kernels() {
        let Body::Device(name) = &kernel.body else {
            continue;
        };
        let Some(function) = program.find(name) else {
            continue;
        };
        let ports: Vec<ChannelId> = kernel.produces.iter().map(|c| ids[c]).collect();
        let mut function = program[function].clone();
        renumber(&mut function, program, &made);
        let task = task(&mut made, function, kernel, &ports);
        nodes.push((key, task));
    }
    let lowered = lower(&made)?;
    let kernels = nodes
        .into_iter()
        .filter_map(|(key, func)| Some((key, lowered.task_of(func)?)))
        .collect();
    Ok(Instance {
        program: lowered,
        channels,
        kernels,
    })
}

/// The program's tasks and helpers; nothing names a kernel.
fn without_kernels(program: &Program) -> Program {
    let mut out = program.clone();
    out.functions.retain(|f| f.kind != FunctionKind::Kernel);
    let mut functions = out.functions.clone();
    for function in &mut functions {
        renumber(function, program, &out);
    }
    out.functions = functions;
    out
}

/// Lets a function of a program name the functions of the one that was made of it.
fn renumber(function: &mut Function, program: &Program, made: &Program) {
    for stmt in function.blocks.iter_mut().flat_map(|b| &mut b.stmts) {
        if let StmtKind::Call { func, .. } | StmtKind::Spawn { func, .. } = &mut stmt.kind {
            *func = made.find(&program[*func].name).unwrap_or(*func);
        }
    }
}

/// Adds the task that a kernel of the graph becomes, and its uniforms.
fn task(made: &mut Program, function: Function, kernel: &Kernel, ports: &[ChannelId]) -> FuncId {
    let mut task = function;
    task.kind = FunctionKind::Task;
    task.name = made.free_name(kernel.name.clone(), ".node");
    for stmt in task.blocks.iter_mut().flat_map(|b| &mut b.stmts) {
        if let StmtKind::Emit { channel, .. } = &mut stmt.kind {
            *channel = ports[channel.index()];
        }
    }
    let bound = task.params.split_off(1);
    let element = task.params[0].ty.pieces(&made.structs).len();
    let arrivals = task.args.split_off(element);
    let uniforms = bound.iter().flat_map(|p| {
        let name = format!("{}.{}", kernel.name, p.name);
        Field::pieces(&name, &p.ty, &made.structs)
    });
    let uniforms: Vec<Field> = uniforms.collect();
    let mut stmts = Vec::new();
    for (arrival, uniform) in arrivals.into_iter().zip(uniforms) {
        let id = UniformId::new(made.uniforms.len());
        bind(&mut task, arrival, id, uniform.kind, &mut stmts);
        made.uniforms.push(uniform);
    }
    let entry = &mut task.blocks[0].stmts;
    stmts.append(entry);
    *entry = stmts;
    made.functions.push(task);
    FuncId::new(made.functions.len() - 1)
}

/// Lets a piece of a parameter come from a uniform.
fn bind(task: &mut Function, arrival: Arg, id: UniformId, kind: PieceKind, stmts: &mut Vec<Stmt>) {
    let mut add = |kind| {
        let span = Span::default();
        stmts.push(Stmt { kind, span });
    };
    let mut pointer = || {
        let (name, ty) = (None, Scalar::Ptr);
        task.locals.push(Local { name, ty });
        LocalId::new(task.locals.len() - 1)
    };
    match (arrival, kind) {
        (Arg::Slot(slot), PieceKind::Blob(layout)) => {
            let (src, dst) = (pointer(), pointer());
            let value = Rvalue::Uniform {
                id,
                ty: Scalar::Ptr,
            };
            add(StmtKind::Assign { dst: src, value });
            let value = Rvalue::SlotAddr(slot);
            add(StmtKind::Assign { dst, value });
            add(StmtKind::Copy {
                dst: Operand::Local(dst),
                src: Operand::Local(src),
                size: layout.size,
            });
        }
        (Arg::Local(dst), PieceKind::Scalar(ty)) => add(StmtKind::Assign {
            dst,
            value: Rvalue::Uniform { id, ty },
        }),
        (Arg::Local(_), PieceKind::Blob(_)) | (Arg::Slot(_), PieceKind::Scalar(_)) => {
            unreachable!("the verifier has seen that each piece has a place of its kind")
        }
    }
}
