//! A function of the IR inside a function of Cranelift: where its registers, slots and blocks went, and what its end means.
//!
//! Inlining is a [`Body`] within a [`Gen`] that already has one: it has registers, slots and blocks of its own and ends by a jump.

use super::{
    abi::WorkerContext,
    channel::Channels,
    lanes::{self, Lanes},
    segment::ElementLoop,
    unit::Unit,
};
use cranelift_codegen::{
    ir::{
        AbiParam, Block, FuncRef, InstBuilder, MemFlagsData, Signature, StackSlot, StackSlotData,
        StackSlotKind, Type, UserFuncName, Value,
        immediates::{Ieee32, Ieee64},
        types,
    },
    isa::TargetFrontendConfig,
};
use cranelift_frontend::{FunctionBuilder, Variable};
use cranelift_module::{FuncId as ClifFunc, Module};
use millstream_graph::{
    flow::Flow,
    ir::{Arg, BlockId, FuncId, Function, LocalId, Operand, Rvalue, SlotId, StmtKind, UniformId},
    ty::{Layout, PieceKind, Scalar},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    mem::offset_of,
};

/// The register type of a scalar. A `bool` is a byte, 0 or 1.
pub(super) const fn clif(ty: Scalar) -> Type {
    match ty {
        Scalar::Bool | Scalar::I8 | Scalar::U8 => types::I8,
        Scalar::I16 | Scalar::U16 => types::I16,
        Scalar::I32 | Scalar::U32 => types::I32,
        Scalar::I64 | Scalar::Isize | Scalar::U64 | Scalar::Usize | Scalar::Ptr => types::I64,
        Scalar::F32 => types::F32,
        Scalar::F64 => types::F64,
    }
}

/// Flags of every access: addresses are checked by the program or promised by it, and aligned by their types.
pub(super) const MEMORY: MemFlagsData = MemFlagsData::trusted();

/// Where a slot lies.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Stack(StackSlot),
    /// In the field of that number of the element that is being consumed.
    Element(u32),
    /// In a register: nothing but whole loads and stores touch it.
    Register(Variable),
}

/// Where a value is that stays the same throughout the element loop. The register allocator would write one that it spills back at
/// every turn of the loop; one that is put aside is only read, and may be changed on a rare path.
#[derive(Clone, Copy)]
pub(super) enum Kept {
    Register(Value),
    Aside(StackSlot),
}

/// What the end of a body is.
#[derive(Clone, Copy)]
pub(super) enum Exit {
    /// The task ends; the next element follows.
    Segment,
    /// The machine function returns.
    Helper { ret_addr: Option<Value> },
    /// Execution goes on behind the call that was inlined.
    Inlined {
        after: Block,
        dst: Option<Variable>,
        ret_addr: Option<Value>,
    },
}

/// A function of the IR as part of a machine function.
pub(super) struct Body<'p> {
    pub(super) func: &'p Function,
    pub(super) exit: Exit,
    /// The function's name as the user knows it.
    pub(super) name: &'p str,
    pub(super) vars: Vec<Variable>,
    pub(super) slots: Vec<Place>,
    /// Locals that only ever hold the address of a slot that is a register.
    pub(super) aliases: BTreeMap<LocalId, SlotId>,
    pub(super) flow: Flow,
    /// Loops that take several turns at once, by their headers, and where they are entered.
    pub(super) lanes: BTreeMap<BlockId, (Lanes<'p>, Block)>,
    blocks: Vec<Block>,
}

/// The writer of one machine function.
pub(super) struct Gen<'g, 'p> {
    pub(super) b: FunctionBuilder<'g>,
    pub(super) unit: &'g mut Unit<'p>,
    /// The worker's context: the first parameter. In segments it lies on the stack: only rare paths ask for it, by [`Gen::ctx`].
    ctx: Value,
    ctx_slot: Option<StackSlot>,
    /// Address of the cancel flag, in functions with loops.
    pub(super) cancel: Option<Kept>,
    /// Cold: leaves the machine function, the context's status having been set.
    pub(super) stop: Block,
    pub(super) body: Option<Body<'p>>,
    /// The channel stacks, in segments.
    pub(super) channels: Option<Channels>,
    /// The loop over elements, in segments.
    pub(super) elements: Option<ElementLoop>,
    /// What a graph gives, in segments: put aside, so that no element asks the context.
    pub(super) uniforms: BTreeMap<UniformId, StackSlot>,
    refs: BTreeMap<ClifFunc, FuncRef>,
}

impl<'g, 'p> Gen<'g, 'p> {
    /// Starts in the entry block.
    pub(super) fn new(mut b: FunctionBuilder<'g>, unit: &'g mut Unit<'p>) -> Self {
        b.func.name = UserFuncName::default();
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        let ctx = b.block_params(entry)[0];
        let stop = b.create_block();
        b.set_cold_block(stop);
        Self {
            b,
            unit,
            ctx,
            ctx_slot: None,
            cancel: None,
            stop,
            body: None,
            channels: None,
            elements: None,
            uniforms: BTreeMap::new(),
            refs: BTreeMap::new(),
        }
    }

    pub(super) fn finish(mut self, config: TargetFrontendConfig) {
        self.b.seal_all_blocks();
        self.b.finalize(config);
    }

    /// The body that is being written.
    ///
    /// # Panics
    /// Outside of one.
    pub(super) fn body(&self) -> &Body<'p> {
        self.body.as_ref().expect("statements stand in bodies")
    }

    pub(super) fn load_cancel(&mut self, polls: bool, register: bool) {
        if polls {
            let address = self.b.ins().load(
                types::I64,
                MEMORY,
                self.ctx,
                offset_of!(WorkerContext, cancel) as i32,
            );
            self.cancel = Some(self.keep(address, register));
        }
    }

    /// Keeps a value in a register or on the stack.
    pub(super) fn keep(&mut self, value: Value, register: bool) -> Kept {
        if register {
            Kept::Register(value)
        } else {
            Kept::Aside(self.put_aside(value))
        }
    }

    /// Changes a value that was put aside.
    pub(super) fn change(&mut self, kept: Kept, value: Value) {
        match kept {
            Kept::Register(_) => unreachable!("a register stays as it is"),
            Kept::Aside(slot) => {
                self.b.ins().stack_store(types::I64, value, slot, 0);
            }
        }
    }

    pub(super) fn kept(&mut self, kept: Kept) -> Value {
        match kept {
            Kept::Register(value) => value,
            Kept::Aside(slot) => self.b.ins().stack_load(types::I64, types::I64, slot, 0),
        }
    }

    /// The worker's context.
    pub(super) fn ctx(&mut self) -> Value {
        match self.ctx_slot {
            Some(slot) => self.b.ins().stack_load(types::I64, types::I64, slot, 0),
            None => self.ctx,
        }
    }

    /// Keeps a value on the stack, where it costs the element loop no register.
    pub(super) fn put_aside(&mut self, value: Value) -> StackSlot {
        let slot = self.stack_slot(Layout { size: 8, align: 8 });
        self.b.ins().stack_store(types::I64, value, slot, 0);
        slot
    }

    pub(super) fn put_ctx_aside(&mut self) {
        self.ctx_slot = Some(self.put_aside(self.ctx));
    }

    /// Makes registers, slots and blocks for a function. `element` has the first field's number if its blobs lie in a channel element.
    pub(super) fn enter(
        &mut self,
        func: &'p Function,
        name: &'p str,
        exit: Exit,
        element: Option<u32>,
    ) -> Option<Body<'p>> {
        let (registers, aliases) = register_slots(func);
        let vars = func
            .locals
            .iter()
            .map(|l| self.b.declare_var(clif(l.ty)))
            .collect();
        let mut slots: Vec<Option<Place>> = vec![None; func.slots.len()];
        if let Some(first) = element {
            for (i, arg) in func.args.iter().enumerate() {
                if let Arg::Slot(slot) = arg {
                    slots[slot.index()] = Some(Place::Element(first + i as u32));
                }
            }
        }
        let slots = slots.into_iter().enumerate().map(|(i, place)| match place {
            Some(place) => place,
            None if registers.contains(&SlotId::new(i)) => {
                let ty = func.slots[i].scalar.map_or(types::I64, clif);
                Place::Register(self.b.declare_var(ty))
            }
            None => Place::Stack(self.stack_slot(func.slots[i].layout)),
        });
        let slots = slots.collect();
        // The last target of a block stands right behind it: where the first is a leaf's end, that is the way on.
        let flow = Flow::from_targets(func.blocks.iter().map(|b| b.term.targets().rev()));
        let blocks = func.blocks.iter().map(|_| self.b.create_block()).collect();
        let lanes = lanes::find(func)
            .into_iter()
            .map(|(header, lanes)| (header, (lanes, self.b.create_block())))
            .collect();
        self.body.replace(Body {
            func,
            exit,
            name,
            vars,
            slots,
            aliases,
            flow,
            lanes,
            blocks,
        })
    }

    pub(super) fn stack_slot(&mut self, layout: Layout) -> StackSlot {
        let size = u32::try_from(layout.size).unwrap_or(u32::MAX);
        let align = layout.align.trailing_zeros() as u8;
        self.b
            .create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, size, align))
    }

    /// Hands the arguments over: a scalar to its register, a blob by copy to its slot.
    pub(super) fn bind_args(&mut self, args: &[Value]) {
        let func = self.body().func;
        for (arg, &value) in func.args.iter().zip(args) {
            match *arg {
                Arg::Local(local) => self.set(local, value),
                Arg::Slot(slot) => {
                    let to = self.slot_addr(slot);
                    self.copy_bytes(to, value, func.slots[slot.index()].layout);
                }
            }
        }
    }

    /// Writes all blocks; what was written so far falls into the first.
    pub(super) fn blocks(&mut self) {
        let func = self.body().func;
        let order = self.body().flow.order().to_vec();
        let entry = self.block(BlockId(0));
        self.b.ins().jump(entry, &[]);
        for id in order {
            let block = self.block(id);
            let lanes = self.body.as_mut().and_then(|b| b.lanes.get(&id).cloned());
            if let Some((lanes, entry)) = lanes {
                self.vector_loops(&lanes, entry, block);
            }
            self.b.switch_to_block(block);
            for stmt in &func.blocks[id.index()].stmts {
                self.stmt(stmt);
            }
            self.terminator(id, &func.blocks[id.index()].term);
        }
    }

    pub(super) fn block(&self, id: BlockId) -> Block {
        self.body().blocks[id.index()]
    }

    pub(super) fn set(&mut self, local: LocalId, value: Value) {
        let var = self.body().vars[local.index()];
        self.b.def_var(var, value);
    }

    pub(super) fn constant(&mut self, ty: Scalar, bits: u64) -> Value {
        match ty {
            Scalar::F32 => self.b.ins().f32const(Ieee32::with_bits(bits as u32)),
            Scalar::F64 => self.b.ins().f64const(Ieee64::with_bits(bits)),
            _ => {
                let mask = if ty.size() == 8 {
                    u64::MAX
                } else {
                    (1 << (ty.size() * 8)) - 1
                };
                self.b.ins().iconst(clif(ty), (bits & mask) as i64)
            }
        }
    }

    pub(super) fn operand(&mut self, operand: Operand) -> Value {
        match operand {
            Operand::Const(ty, bits) => self.constant(ty, bits),
            Operand::Local(local) => {
                let var = self.body().vars[local.index()];
                self.b.use_var(var)
            }
        }
    }

    pub(super) fn type_of(&self, operand: Operand) -> Scalar {
        self.body().func.type_of(operand)
    }

    pub(super) fn slot_addr(&mut self, slot: SlotId) -> Value {
        match self.body().slots[slot.index()] {
            Place::Stack(s) => self.b.ins().stack_addr(types::I64, s, 0),
            Place::Element(field) => self.element_addr(field),
            // Only the statement that makes an alias of it asks.
            Place::Register(_) => self.b.ins().iconst(types::I64, 0),
        }
    }

    /// Leaves the machine function if `bad` holds; `say` writes the reason to the context, in a cold block.
    pub(super) fn leave_if(&mut self, bad: Value, say: impl FnOnce(&mut Self)) {
        let (cold, ok) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(bad, cold, &[], ok, &[]);
        self.leave(cold, ok, say);
    }

    /// The same unless `good` holds.
    pub(super) fn leave_unless(&mut self, good: Value, say: impl FnOnce(&mut Self)) {
        let (cold, ok) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(good, ok, &[], cold, &[]);
        self.leave(cold, ok, say);
    }

    fn leave(&mut self, cold: Block, ok: Block, say: impl FnOnce(&mut Self)) {
        self.b.set_cold_block(cold);
        self.b.switch_to_block(cold);
        say(self);
        let stop = self.stop;
        self.b.ins().jump(stop, &[]);
        self.b.switch_to_block(ok);
    }

    /// Writes status and site to the context.
    pub(super) fn say(&mut self, status: u32, site: u32) {
        let ctx = self.ctx();
        for (value, at) in [
            (status, offset_of!(WorkerContext, status)),
            (site, offset_of!(WorkerContext, site)),
        ] {
            let value = self.b.ins().iconst(types::I32, i64::from(value));
            self.b.ins().store(MEMORY, value, ctx, at as i32);
        }
    }

    pub(super) fn func_ref(&mut self, id: ClifFunc) -> FuncRef {
        let (module, func) = (&mut self.unit.module, &mut *self.b.func);
        *self
            .refs
            .entry(id)
            .or_insert_with(|| module.declare_func_in_func(id, func))
    }

    /// Calls a function of this process; gives its result, if it has one.
    pub(super) fn libcall(&mut self, name: &str, args: &[Value]) -> Option<Value> {
        let id = self.unit.libcall(name);
        let func = self.func_ref(id);
        let call = self.b.ins().call(func, args);
        self.b.inst_results(call).first().copied()
    }

    /// Calls a helper that is not inlined.
    pub(super) fn call(&mut self, func: FuncId, args: &[Value]) -> Option<Value> {
        let id = self.unit.helper(func);
        let func = self.func_ref(id);
        let call = self.b.ins().call(func, args);
        self.b.inst_results(call).first().copied()
    }

    /// The context, the pieces, and where the result goes unless it is one scalar.
    pub(super) fn helper_signature(unit: &Unit<'p>, func: FuncId) -> Signature {
        let program = &unit.program.program;
        let mut signature = unit.module.make_signature();
        signature.params.push(AbiParam::new(types::I64));
        let func = &program[func];
        signature.params.extend(func.args.iter().map(|arg| {
            AbiParam::new(match arg {
                Arg::Local(local) => clif(func.locals[local.index()].ty),
                Arg::Slot(_) => types::I64,
            })
        }));
        let pieces = func.ret.pieces(&program.structs);
        match pieces[..] {
            [] => {}
            [piece] if matches!(piece.kind, PieceKind::Scalar(_)) => {
                let PieceKind::Scalar(s) = piece.kind else {
                    return signature;
                };
                signature.returns.push(AbiParam::new(clif(s)));
            }
            _ => signature.params.push(AbiParam::new(types::I64)),
        }
        signature
    }

    /// A helper as a machine function of its own.
    pub(super) fn helper_body(&mut self, id: FuncId) {
        let program = self.unit.program;
        let func = &program.program[id];
        let facts = self.unit.facts[id.index()];
        let params = self
            .b
            .func
            .dfg
            .block_params(self.b.current_block().expect("in the entry block"))
            .to_vec();
        let (args, rest) = params[1..].split_at(func.args.len());
        if facts.recursive {
            let limit = self.b.ins().load(
                types::I64,
                MEMORY,
                self.ctx,
                offset_of!(WorkerContext, stack_limit) as i32,
            );
            let sp = self.b.ins().get_stack_pointer(types::I64);
            let over = self.b.ins().icmp(
                cranelift_codegen::ir::condcodes::IntCC::UnsignedLessThan,
                sp,
                limit,
            );
            self.leave_if(over, |g| g.say(super::abi::status::STACK_OVERFLOW, id.0));
        }
        self.load_cancel(facts.polls, true);
        self.enter(
            func,
            &func.name,
            Exit::Helper {
                ret_addr: rest.first().copied(),
            },
            None,
        );
        self.bind_args(args);
        self.blocks();
        self.b.switch_to_block(self.stop);
        let returns = self.b.func.signature.returns.clone();
        let zeros: Vec<Value> = returns.iter().map(|r| self.zero_of(r.value_type)).collect();
        self.b.ins().return_(&zeros);
    }

    fn zero_of(&mut self, ty: Type) -> Value {
        match ty {
            types::F32 => self.b.ins().f32const(0.0),
            types::F64 => self.b.ins().f64const(0.0),
            _ => self.b.ins().iconst(ty, 0),
        }
    }

    /// Writes a helper's body in place of its call.
    pub(super) fn inline(
        &mut self,
        func: &'p Function,
        args: &[Value],
        dst: Option<LocalId>,
        ret_addr: Option<Value>,
    ) {
        let after = self.b.create_block();
        let dst = dst.map(|d| self.body().vars[d.index()]);
        let outer = self.enter(
            func,
            &func.name,
            Exit::Inlined {
                after,
                dst,
                ret_addr,
            },
            None,
        );
        self.bind_args(args);
        self.blocks();
        self.body = outer;
        self.b.switch_to_block(after);
    }
}

/// The slots that can be registers, and the locals that hold their addresses: the slot is one scalar, each of these locals is
/// assigned only there, and is used only as the address of whole loads and stores.
fn register_slots(func: &Function) -> (BTreeSet<SlotId>, BTreeMap<LocalId, SlotId>) {
    let mut registers: BTreeSet<SlotId> = (0..func.slots.len())
        .map(SlotId::new)
        .filter(|s| func.slots[s.index()].scalar.is_some())
        .collect();
    if registers.is_empty() {
        return Default::default();
    }
    for arg in &func.args {
        if let Arg::Slot(slot) = arg {
            registers.remove(slot);
        }
    }
    let mut aliases: BTreeMap<LocalId, SlotId> = BTreeMap::new();
    let mut defs: BTreeMap<LocalId, usize> = BTreeMap::new();
    for arg in &func.args {
        if let Arg::Local(local) = arg {
            *defs.entry(*local).or_default() += 1;
        }
    }
    let stmts = || func.stmts();
    for stmt in stmts() {
        if let Some(dst) = stmt.kind.def() {
            *defs.entry(dst).or_default() += 1;
        }
        if let StmtKind::Assign {
            dst,
            value: Rvalue::SlotAddr(slot),
        } = stmt.kind
        {
            // A local that is given several addresses is no alias of any.
            if let Some(other) = aliases.insert(dst, slot) {
                registers.remove(&other);
            }
        }
    }
    for (local, slot) in &aliases {
        if defs[local] > 1 {
            registers.remove(slot);
        }
    }
    // Any use but as the whole address of a load or store of the slot's type gives the address away.
    let mut spoil = |operand: &Operand| {
        if let Operand::Local(local) = operand
            && let Some(slot) = aliases.get(local)
        {
            registers.remove(slot);
        }
    };
    let whole = |addr: &Operand, ty: Scalar, offset: u64| {
        let Operand::Local(local) = addr else {
            return false;
        };
        let slot = aliases
            .get(local)
            .and_then(|slot| func.slots[slot.index()].scalar);
        offset == 0 && slot.is_some_and(|s| clif(s) == clif(ty))
    };
    for block in &func.blocks {
        for stmt in &block.stmts {
            match &stmt.kind {
                StmtKind::Assign {
                    value: Rvalue::Load { ty, addr, offset },
                    ..
                } if whole(addr, *ty, *offset) => {}
                StmtKind::Store {
                    addr,
                    offset,
                    value,
                } if whole(addr, func.type_of(*value), *offset) => spoil(value),
                other => other.clone().operands_mut(|o| spoil(o)),
            }
        }
        block.term.clone().operands_mut(|o| spoil(o));
    }
    aliases.retain(|_, slot| registers.contains(slot));
    (registers, aliases)
}
