//! Helpers as device functions.

use super::{
    body::{Body, Role},
    names,
    plan::Plan,
    regions::{self, Crew, Version},
    types::ctype,
    writer::Writer,
};
use millstream_graph::{
    flow::{CallGraph, Liveness},
    ir::{Arg, FuncId, Function, FunctionKind, Operand, StmtKind, TaskId},
    ty::PieceKind,
};

/// The C++ type that a helper returns: its one scalar piece, or nothing; any other result goes to memory.
pub(super) fn result_type(plan: &Plan, function: &Function) -> &'static str {
    match function
        .ret
        .pieces(&plan.program.program.structs)
        .as_slice()
    {
        [piece] if piece.offset == 0 => match piece.kind {
            PieceKind::Scalar(ty) => ctype(ty),
            PieceKind::Blob(_) => "void",
        },
        _ => "void",
    }
}

/// How a helper gives its result.
pub(super) enum Given {
    Nothing,
    /// As a value of this C++ type.
    Value(&'static str),
    /// To memory whose address it gets.
    Memory,
}

pub(super) fn given(plan: &Plan, function: &Function) -> Given {
    let ty = result_type(plan, function);
    if returns_to_memory(plan, function) {
        Given::Memory
    } else if ty == "void" {
        Given::Nothing
    } else {
        Given::Value(ty)
    }
}

fn returns_to_memory(plan: &Plan, function: &Function) -> bool {
    result_type(plan, function) == "void"
        && !function
            .ret
            .pieces(&plan.program.program.structs)
            .is_empty()
}

/// How a text of a helper begins.
pub(super) fn signature(
    plan: &Plan,
    id: FuncId,
    function: &Function,
    apart: bool,
    version: Version,
) -> String {
    let served = matches!(version, Version::Served(_));
    let mut params = vec!["[[maybe_unused]] Thread& w".to_owned()];
    if served {
        params.push("u64* parts, u32 part, u32 all_parts".to_owned());
    }
    for arg in &function.args {
        params.push(match arg {
            Arg::Local(l) => format!(
                "{} {}",
                ctype(function.locals[l.index()].ty),
                names::local(function, *l)
            ),
            Arg::Slot(s) => format!("ptr from_{}", names::slot(function, *s)),
        });
    }
    if returns_to_memory(plan, function) && !served {
        params.push("ptr result".to_owned());
    }
    let result = match served {
        true => "void",
        false => result_type(plan, function),
    };
    let kind = if apart { "__noinline__ " } else { "" };
    format!(
        "[[maybe_unused]] static __device__ {kind}{result} {}({})",
        name(function, id, version),
        params.join(", ")
    )
}

/// What a text of a helper is called.
pub(super) fn name(function: &Function, id: FuncId, version: Version) -> String {
    let name = names::helper(function, id);
    match version {
        Version::Plain => name,
        Version::First(crew) => format!("{name}_of_{}", crew.name()),
        Version::Served(crew) => format!("{name}_rounds_by_{}", crew.name()),
        Version::Met => format!("{name}_together"),
    }
}

/// What threads want of their stacks where helpers call themselves: the compiler does not say then.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recursion {
    /// Bytes beside such calls, by task: what a segment keeps there, and what other helpers do.
    bases: Vec<u64>,
    /// Bytes that a call of a helper takes that may call itself, at most.
    pub call: u64,
}

impl Recursion {
    /// Bytes beside such calls in a run that begins with this task, or in any.
    #[must_use]
    pub fn base(&self, plan: &Plan, entry: Option<TaskId>) -> u64 {
        let reached = entry.map(|task| plan.reached(task));
        let may = |task: usize| reached.as_ref().is_none_or(|r| r[task]);
        let bases = self.bases.iter().enumerate();
        let bases = bases.filter(|(task, _)| may(*task));
        bases.map(|(_, base)| *base).max().unwrap_or(0)
    }
}

/// Bytes of a frame beside variables: the way back, and registers that are saved. For `sm_90` frames are less than half of what is reckoned with this:
/// 40 bytes for one that keeps a number, 288 where a dozen and three small arrays live across calls.
const FRAME: u64 = 256;
/// The same of a kernel, in which a body stands.
const KERNEL_FRAME: u64 = 1024;

/// What the program wants of a thread's stack; none if no helper calls itself.
#[must_use]
pub(super) fn recursion(plan: &Plan) -> Option<Recursion> {
    // What a crew's first lane has in local memory lies where all of the crew see it.
    let slots = |f: &Function| {
        let code = Crew::Lane.code(f);
        code.slots.iter().map(|s| s.layout.size + 16).sum::<u64>()
    };
    // What the compiler makes of a body has more values at once than that has.
    let call = |f: &Function| {
        let values = (2 * Liveness::new(f, None).most(f)).min(f.locals.len());
        FRAME + 8 * values as u64 + slots(f)
    };
    let calls = CallGraph::of_calls(&plan.program.program);
    let called: Vec<_> = helpers(plan, &calls).collect();
    let (own, others): (Vec<_>, Vec<_>) =
        called.iter().partition(|(id, _)| calls.is_recursive(*id));
    let call = own.iter().map(|(_, f)| call(f)).max()?;
    // They may all lie on one way.
    let by_lanes = |id| {
        let mut texts = plan.regions.texts(id);
        plan.regions.is_plain(id) || texts.any(|version| version.crew() == Crew::Lane)
    };
    let others = others.iter().filter(|(id, _)| by_lanes(*id));
    let apart = apart(plan, &calls);
    let frame = |id: &FuncId| FRAME * u64::from(apart[id.index()]);
    let others = others.map(|(id, f)| slots(f) + frame(id)).sum::<u64>();
    // Bodies that call helpers stand in the kernel of workers with levels, all of them.
    let framed = plan.has_framed().then(|| {
        let segments = plan.program.all_segments();
        segments.map(|(_, s)| slots(s.body)).sum::<u64>()
    });
    let base = |task: TaskId| {
        let own = plan.regions.crew_of(task) == Crew::Lane;
        let segments = plan.program.segments(task).filter(|_| own);
        let segments = segments.map(|s| slots(s.body)).max();
        KERNEL_FRAME + framed.or(segments).unwrap_or(0) + others
    };
    Some(Recursion {
        bases: plan.program.tasks().map(|(t, _)| base(t)).collect(),
        call,
    })
}

/// The helpers that are called. Those of a graph are too by who asks what a channel has, so all of them stay.
fn helpers<'a>(plan: &'a Plan, calls: &CallGraph) -> impl Iterator<Item = (FuncId, &'a Function)> {
    let program = &plan.program.program;
    let segments = plan.program.all_segments().map(|s| s.1);
    let mut called = vec![!program.channels.is_empty(); program.functions.len()];
    for stmt in segments.flat_map(|s| s.body.stmts()) {
        if let StmtKind::Call { func, .. } = stmt.kind {
            called[func.index()] = true;
            let beyond = calls.reached(func).into_iter();
            called.iter_mut().zip(beyond).for_each(|(c, b)| *c |= b);
        }
    }
    let all = program.functions.iter().enumerate();
    all.filter(move |(i, f)| called[*i] && f.kind == FunctionKind::Helper)
        .map(|(i, f)| (FuncId::new(i), f))
}

/// So many statements NVRTC may write again where a helper is called. It puts a body in the place of each call otherwise: of a tree of hashes by SHA-256, to which
/// one byte after the other is given, it made 2.4 MB of machine code in 19 s, and makes 0.3 MB in 1.5 s.
const COPIED: usize = 600;

/// Which helpers stand once, and are called: those that call themselves, and those whose copies would be too much.
fn apart(plan: &Plan, calls: &CallGraph) -> Vec<bool> {
    let program = &plan.program.program;
    let called = |f: &Function| {
        let called = f.stmts().filter_map(|stmt| match stmt.kind {
            StmtKind::Call { func, .. } => Some(func.index()),
            _ => None,
        });
        called.collect::<Vec<_>>()
    };
    let mut places = vec![0usize; program.functions.len()];
    let segments = plan.program.all_segments().map(|s| s.1.body);
    let bodies = helpers(plan, calls).map(|(_, f)| f).chain(segments);
    for func in bodies.flat_map(called) {
        places[func] += 1;
    }
    let mut apart = vec![false; places.len()];
    // With all that stands in them.
    let mut sizes = vec![0; places.len()];
    for &id in calls.callees_first() {
        let (i, function) = (id.index(), &program[id]);
        let within = called(function).into_iter().filter(|f| !apart[*f]);
        sizes[i] = function.stmts().count() + within.map(|f| sizes[f]).sum::<usize>();
        // What lanes do together is written for each crew.
        let is_alone = !function.rounds && plan.regions.texts(id).next().is_none();
        let copied = sizes[i] * places[i].saturating_sub(1);
        apart[i] = calls.is_recursive(id) || is_alone && copied > COPIED;
    }
    apart
}

/// Writes all helpers.
pub(super) fn write(plan: &Plan, out: &mut Writer) {
    let calls = CallGraph::of_calls(&plan.program.program);
    let apart = apart(plan, &calls);
    let versions = |id: FuncId| {
        let plain = plan.regions.is_plain(id).then_some(Version::Plain);
        plain.into_iter().chain(plan.regions.texts(id))
    };
    let all = || {
        let each = |(id, f)| versions(id).map(move |version| (id, version.of(f), version));
        helpers(plan, &calls).flat_map(each)
    };
    for (id, function, version) in all() {
        let text = signature(plan, id, &function, apart[id.index()], version);
        out.line(&format!("{text};"));
    }
    for (id, function, version) in all() {
        let recursive = calls.is_recursive(id);
        out.blank();
        let function = &*function;
        let text = signature(plan, id, function, apart[id.index()], version);
        out.open(&format!("{text} {{"));
        if plan.regions.is_met(id) && matches!(version, Version::First(_)) {
            regions::write_first_met(plan, id, function, out);
            out.close("}");
            continue;
        }
        let role = Role::Helper {
            func: id,
            recursive,
            version,
        };
        let mut body = Body::new(plan, function, role, out);
        body.declare();
        if recursive {
            let leave = body.leave();
            body.out.line(&format!("if (!w.enter({})) {leave};", id.0));
        }
        for arg in &function.args {
            match arg {
                Arg::Slot(s) => {
                    let name = names::slot(function, *s);
                    body.out.line(&format!(
                        "copy_bytes({name}, from_{name}, {});",
                        function.slots[s.index()].layout.size
                    ));
                }
                Arg::Local(l) if body.hidden.is_local(*l) => {
                    let name = names::local(function, *l);
                    body.out.line(&format!("{name} = hidden({name});"));
                }
                Arg::Local(_) => {}
            }
        }
        body.blocks();
        out.generated();
        out.close("}");
    }
}

impl Body<'_, '_> {
    /// `return` of a helper.
    pub(super) fn helper_returns(&mut self, values: &[Operand]) {
        if !returns_to_memory(self.plan, self.function) {
            let text = match (self.result_type(), values) {
                ("void", _) | (_, []) => "return;".to_owned(),
                (_, [value, ..]) if self.hidden.is_result(*value) => {
                    format!("return hidden({});", self.operand(*value))
                }
                (_, [value, ..]) => format!("return {};", self.operand(*value)),
            };
            self.out.line(&text);
            return;
        }
        // Lanes that meet come to the same, and the first of them gives it.
        let is_met = matches!(self.role, Role::Helper { version, .. } if version == Version::Met);
        if is_met {
            self.out.open("if (OfWarp::leads()) {");
        }
        let pieces = self.function.ret.pieces(&self.plan.program.program.structs);
        for (piece, value) in pieces.iter().zip(values) {
            let (at, value) = (format!("result + {}", piece.offset), self.operand(*value));
            let text = match piece.kind {
                PieceKind::Scalar(_) => format!("store({at}, {value});"),
                PieceKind::Blob(layout) => format!("copy_bytes({at}, {value}, {});", layout.size),
            };
            self.out.line(&text);
        }
        if is_met {
            self.out.close("}");
        }
        self.out.line("return;");
    }
}
