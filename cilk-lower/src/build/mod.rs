//! The builder: from typed trees to IR.
//!
//! A variable lives in registers, one for each piece of its type, unless its address is needed (it is borrowed, it awaits a child's
//! result, it holds an array): then it lives in a slot. A value of an expression is its pieces, where the piece of an array is the address
//! of its bytes; whoever keeps such a value copies the bytes.

pub(crate) mod bytes;
mod call;
mod control;
mod loops;
mod memory;
mod numeric;
mod places;
mod promoted;
mod value;

use crate::{
    diag::ir_span,
    hir::{Body, ConstId, Expr, FnId, LoopId, VarId},
    items::{ConstState, Module},
};
use millstream_graph::{
    flow::Flow,
    ir::{
        Arg, Block, BlockId, CheckKind, Data, DataId, FuncId, Function, FunctionKind, Local,
        LocalId, Operand, Param, Program, Rvalue, Slot, SlotId, Span, Stmt, StmtKind, Terminator,
    },
    ty::{Layout, PieceKind, Scalar, Structs, Type},
};
use std::collections::BTreeMap;

/// Builds the whole program from its checked bodies, in the order of the module's functions.
pub(crate) fn program(module: &Module, bodies: &[Body], file: &str) -> Program {
    let mut unit = Unit::new(module);
    for (i, item) in module.fns.iter().enumerate() {
        unit.wanted.push(Wanted {
            id: FnId(i),
            kind: item.kind,
            name: item.name.clone(),
        });
    }
    let mut functions = Vec::new();
    // Bodies may ask for the serial version of a task: the list grows while it is worked off.
    while functions.len() < unit.wanted.len() {
        let wanted = unit.wanted[functions.len()].clone();
        let body = &bodies[wanted.id.0];
        functions.push(function(&mut unit, &wanted, body));
    }
    Program {
        name: module.name.clone(),
        file: file.to_owned(),
        options: module.options,
        structs: module.structs.clone(),
        data: unit.data,
        functions,
        ..Program::default()
    }
}

/// Builds a program of one helper without arguments, whose result is the constant.
pub(crate) fn constant(module: &Module, body: &Body, ty: &Type, span: Span) -> Program {
    let mut unit = Unit::new(module);
    let mut b = Builder::new(&mut unit, body, FunctionKind::Helper, ty.clone());
    b.at = span;
    let pieces = b.value(&body.root);
    b.terminate(Terminator::Return(pieces));
    let function = b.done("constant".into(), Vec::new(), Vec::new(), span);
    let structs = module.structs.clone();
    Program {
        name: module.name.clone(),
        structs,
        data: unit.data,
        functions: vec![function],
        ..Program::default()
    }
}

/// A function of the output: of a task perhaps its serial version.
#[derive(Clone)]
struct Wanted {
    id: FnId,
    kind: FunctionKind,
    name: String,
}

/// What all functions of a program share.
struct Unit<'m> {
    module: &'m Module,
    wanted: Vec<Wanted>,
    data: Vec<Data>,
    data_of: BTreeMap<ConstId, DataId>,
}

impl<'m> Unit<'m> {
    const fn new(module: &'m Module) -> Self {
        Self {
            module,
            wanted: Vec::new(),
            data: Vec::new(),
            data_of: BTreeMap::new(),
        }
    }

    /// The function that a plain call of `id` calls: a task called without `spawn!` runs as its serial elision.
    fn callee(&mut self, id: FnId) -> FuncId {
        let item = &self.module.fns[id.0];
        if item.kind == FunctionKind::Helper {
            return FuncId::new(id.0);
        }
        let name = format!("{}.serial", item.name);
        let at = self
            .wanted
            .iter()
            .position(|w| w.name == name)
            .unwrap_or_else(|| {
                self.wanted.push(Wanted {
                    id,
                    kind: FunctionKind::Helper,
                    name,
                });
                self.wanted.len() - 1
            });
        FuncId::new(at)
    }
}

fn function(unit: &mut Unit<'_>, wanted: &Wanted, body: &Body) -> Function {
    let item = &unit.module.fns[wanted.id.0];
    let (params, ret, span) = (item.params.clone(), item.ret.clone(), ir_span(item.span));
    let mut b = Builder::new(unit, body, wanted.kind, ret);
    b.at = span;
    b.function = Some(wanted.id);
    b.alone = item.alone && wanted.kind == FunctionKind::Helper;
    let mut args = Vec::new();
    for i in 0..params.len() {
        b.parameter(VarId(i), &mut args);
    }
    let pieces = b.value(&body.root);
    b.at = ir_span(body.root.span);
    b.finish_return(pieces);
    let params = params
        .into_iter()
        .enumerate()
        .map(|(i, (_, ty))| Param {
            name: body.vars[i].name.clone(),
            ty,
        })
        .collect();
    // Of what else is called the rounds are run in turn.
    let rounds = item.rounds && (item.alone || wanted.kind == FunctionKind::Task);
    Function {
        rounds,
        team: item.team.filter(|_| rounds),
        ..b.done(wanted.name.clone(), params, args, span)
    }
}

/// Where a variable lives.
#[derive(Clone, Debug)]
enum Home {
    Registers(Vec<LocalId>),
    Memory(SlotId),
}

/// Where `break` and `continue` of a loop go.
struct Target {
    id: LoopId,
    exit: BlockId,
    next: Option<BlockId>,
    /// Gets the value of `break`.
    result: Vec<LocalId>,
}

/// A block under construction: its statements, and how it ends once that is known.
type Open = (Vec<Stmt>, Option<(Terminator, Span)>);

/// The function under construction.
struct Builder<'u, 'm> {
    unit: &'u mut Unit<'m>,
    body: &'u Body,
    kind: FunctionKind,
    /// None of a constant.
    function: Option<FnId>,
    ret: Type,
    locals: Vec<Local>,
    slots: Vec<Slot>,
    blocks: Vec<Open>,
    current: BlockId,
    homes: Vec<Option<Home>>,
    targets: Vec<Target>,
    at: Span,
    /// Whether this is a function that a wide device may run by itself.
    alone: bool,
}

impl<'u, 'm> Builder<'u, 'm> {
    fn new(unit: &'u mut Unit<'m>, body: &'u Body, kind: FunctionKind, ret: Type) -> Self {
        let homes = vec![None; body.vars.len()];
        let blocks = vec![(Vec::new(), None)];
        let current = BlockId(0);
        let (locals, slots, targets, at) = (Vec::new(), Vec::new(), Vec::new(), Span::default());
        Self {
            unit,
            body,
            kind,
            function: None,
            ret,
            locals,
            slots,
            blocks,
            current,
            homes,
            targets,
            at,
            alone: false,
        }
    }

    fn structs(&self) -> &'m Structs {
        &self.unit.module.structs
    }

    // Registers, slots and blocks.

    fn local(&mut self, ty: Scalar) -> LocalId {
        self.locals.push(Local { name: None, ty });
        LocalId::new(self.locals.len() - 1)
    }

    fn slot(&mut self, layout: Layout) -> SlotId {
        self.slots.push(Slot {
            name: None,
            layout,
            scalar: None,
        });
        SlotId::new(self.slots.len() - 1)
    }

    /// Memory for a value that has no name, and its address.
    fn temporary(&mut self, ty: &Type) -> Operand {
        let slot = self.slot(ty.layout(self.structs()));
        self.assign_new(Scalar::Ptr, Rvalue::SlotAddr(slot))
    }

    fn block(&mut self) -> BlockId {
        self.blocks.push((Vec::new(), None));
        BlockId::new(self.blocks.len() - 1)
    }

    fn switch_to(&mut self, block: BlockId) {
        self.current = block;
    }

    // Statements.

    fn emit(&mut self, kind: StmtKind) {
        let span = self.at;
        self.blocks[self.current.index()]
            .0
            .push(Stmt { kind, span });
    }

    /// Ends the block; what follows without a new block is never reached.
    fn terminate(&mut self, term: Terminator) {
        let span = self.at;
        let block = &mut self.blocks[self.current.index()];
        if block.1.is_none() {
            block.1 = Some((term, span));
        }
        self.current = self.block();
    }

    fn goto(&mut self, block: BlockId) {
        self.terminate(Terminator::Goto(block));
    }

    fn assign(&mut self, dst: LocalId, value: Rvalue) {
        self.emit(StmtKind::Assign { dst, value });
    }

    fn assign_new(&mut self, ty: Scalar, value: Rvalue) -> Operand {
        let dst = self.local(ty);
        self.assign(dst, value);
        Operand::Local(dst)
    }

    fn type_of(&self, operand: Operand) -> Scalar {
        match operand {
            Operand::Local(id) => self.locals[id.index()].ty,
            Operand::Const(ty, _) => ty,
        }
    }

    fn check(&mut self, cond: Operand, kind: CheckKind, values: Vec<Operand>) {
        self.emit(StmtKind::Check { cond, kind, values });
    }

    // Variables.

    fn home(&mut self, var: VarId) -> Home {
        if let Some(home) = &self.homes[var.0] {
            return home.clone();
        }
        let v = &self.body.vars[var.0];
        let (name, ty) = (v.name.clone(), v.ty.to_type());
        let pieces = ty.pieces(self.structs());
        let arrays = pieces.iter().any(|p| matches!(p.kind, PieceKind::Blob(_)))
            || matches!(ty, Type::Atomic(_));
        // Results of children need memory; in serial code they are plain assignments.
        let awaits = v.awaits && self.kind.spawns();
        let home = if !pieces.is_empty() && (arrays || v.addressed || awaits) {
            let slot = self.slot(ty.layout(self.structs()));
            let scalar = ty.scalar().filter(|_| !v.addressed);
            self.slots[slot.index()] = Slot {
                name: Some(name),
                layout: ty.layout(self.structs()),
                scalar,
            };
            Home::Memory(slot)
        } else {
            let scalars = pieces.iter().map(|p| match p.kind {
                PieceKind::Scalar(s) => s,
                PieceKind::Blob(_) => Scalar::Ptr,
            });
            let locals = scalars.map(|s| self.local(s)).collect::<Vec<_>>();
            for local in &locals {
                self.locals[local.index()].name = Some(name.clone());
            }
            Home::Registers(locals)
        };
        self.homes[var.0] = Some(home.clone());
        home
    }

    /// Gives a parameter its home and says where its pieces arrive.
    fn parameter(&mut self, var: VarId, args: &mut Vec<Arg>) {
        let ty = self.body.vars[var.0].ty.to_type();
        match self.home(var) {
            Home::Registers(locals) => args.extend(locals.into_iter().map(Arg::Local)),
            Home::Memory(slot) => {
                let pieces = ty.pieces(self.structs());
                if matches!(ty, Type::Array(..)) {
                    args.push(Arg::Slot(slot));
                    return;
                }
                let base = self.assign_new(Scalar::Ptr, Rvalue::SlotAddr(slot));
                for piece in pieces {
                    match piece.kind {
                        PieceKind::Scalar(s) => {
                            let local = self.local(s);
                            args.push(Arg::Local(local));
                            self.emit(StmtKind::Store {
                                addr: base,
                                offset: piece.offset,
                                value: Operand::Local(local),
                            });
                        }
                        PieceKind::Blob(layout) => {
                            let part = self.slot(layout);
                            args.push(Arg::Slot(part));
                            let src = self.assign_new(Scalar::Ptr, Rvalue::SlotAddr(part));
                            let dst = self.address(base, piece.offset);
                            self.emit(StmtKind::Copy {
                                dst,
                                src,
                                size: layout.size,
                            });
                        }
                    }
                }
            }
        }
    }

    /// Leaves the function. A task or kernel waits for its children first.
    fn finish_return(&mut self, pieces: Vec<Operand>) {
        if self.kind.spawns() {
            let next = self.block();
            self.terminate(Terminator::Sync(next));
            self.switch_to(next);
        }
        self.terminate(Terminator::Return(pieces));
    }

    fn const_bytes(&self, id: ConstId) -> (Type, Vec<u8>) {
        match &self.unit.module.consts[id.0].state {
            ConstState::Known(ty, bytes) => (ty.clone(), bytes.clone()),
            _ => (Type::unit(), Vec::new()),
        }
    }

    /// Address of a constant's memory.
    fn const_data(&mut self, id: ConstId) -> Operand {
        let (ty, bytes) = self.const_bytes(id);
        let data = match self.unit.data_of.get(&id) {
            Some(data) => *data,
            None => {
                let align = ty.layout(self.structs()).align;
                self.unit.data.push(Data {
                    name: self.unit.module.consts[id.0].name.clone(),
                    align,
                    bytes,
                });
                let data = DataId::new(self.unit.data.len() - 1);
                self.unit.data_of.insert(id, data);
                data
            }
        };
        self.assign_new(Scalar::Ptr, Rvalue::DataAddr(data))
    }

    /// The function, with the blocks that nothing reaches left out.
    fn done(mut self, name: String, params: Vec<Param>, args: Vec<Arg>, span: Span) -> Function {
        let terms = self.blocks.iter().map(|(_, term)| term.iter());
        let flow = Flow::from_targets(terms.map(|term| term.flat_map(|(t, _)| t.targets())));
        let order = flow.reach([BlockId(0)], |_| true);
        let mut number = vec![None; self.blocks.len()];
        for (new, old) in order.iter().enumerate() {
            number[old.index()] = Some(BlockId::new(new));
        }
        let blocks = order.iter().map(|id| {
            let (stmts, term) = std::mem::take(&mut self.blocks[id.index()]);
            let (mut term, span) = term.unwrap_or((Terminator::Unreachable, span));
            term.targets_mut(|b| *b = number[b.index()].unwrap_or(*b));
            Block { stmts, term, span }
        });
        let blocks = blocks.collect();
        Function {
            name,
            kind: self.kind,
            rounds: false,
            team: None,
            params,
            ret: self.ret,
            args,
            locals: self.locals,
            slots: self.slots,
            blocks,
            span,
        }
    }
}

/// Whether a later operand may change what an earlier one has read.
fn assigned_later(rest: &[Expr]) -> bool {
    rest.iter().any(|e| e.assigns)
}
