//! Statements. What has an effect beyond the body's registers is left out (`W::RUN`) where the body only counts its pushes.

use super::{
    atomic::combine_text,
    body::{Body, Role},
    helper, names,
    rounds::FIRST_LANE,
    types::ctype,
    writer::Site,
};
use millstream_graph::{
    ir::{CheckKind, Combine, FuncId, LocalId, Operand, SegmentId, StmtKind, TaskId},
    levelized::StackRole,
    ty::PieceKind,
};

/// What has an effect, of a team: one lane does it.
const IN_FIRST_LANE: &str = "if constexpr (W::RUN) if (lane_id() == 0) ";

impl Body<'_, '_> {
    pub(super) fn stmt(&mut self, at: usize, stmt: &StmtKind) {
        match stmt {
            StmtKind::Assign { dst, value } => {
                let is_hidden = self.hidden.is_assigned(*dst, value);
                let value = match (self.rvalue(value), is_hidden) {
                    (value, true) => format!("hidden({value})"),
                    (value, false) => value,
                };
                let text = format!("{} = {value};", self.local(*dst));
                self.out.line(&text);
            }
            StmtKind::Store {
                addr,
                offset,
                value,
            } => {
                let text = format!(
                    "store({}, {});",
                    self.address(*addr, *offset),
                    self.operand(*value)
                );
                self.effect(&[text]);
            }
            StmtKind::Copy { dst, src, size } => {
                let text = format!(
                    "copy_bytes({}, {}, {size});",
                    self.operand(*dst),
                    self.operand(*src)
                );
                self.effect(&[text]);
            }
            StmtKind::Zero { dst, size } => {
                let text = format!("zero_bytes({}, {size});", self.operand(*dst));
                self.effect(&[text]);
            }
            StmtKind::Call {
                func,
                args,
                dst,
                ret_addr,
            } => self.call(*func, args, *dst, *ret_addr),
            StmtKind::Spawn {
                func,
                args,
                dest,
                leaf,
            } => self.spawn(at, *func, (args, *dest), *leaf),
            StmtKind::Emit { channel, args } => self.emit(*channel, args),
            StmtKind::Check { cond, kind, values } => self.check(*cond, kind, values),
            StmtKind::Atomic {
                op,
                ty,
                addr,
                args,
                dst,
                order,
            } => {
                let text = self.atomic(*op, *ty, *addr, args, *dst, *order);
                self.effect(&text);
            }
            StmtKind::FrameAlloc => self.frame_alloc(),
            StmtKind::FrameStore { field, value } => {
                let text = format!("{} = {};", self.frame_field(*field), self.operand(*value));
                self.effect(&[text]);
            }
        }
    }

    /// Lines that happen only when the body runs for good.
    fn effect(&mut self, lines: &[String]) {
        let guard = match self.role {
            Role::Helper { .. } | Role::Node { .. } => "",
            // Of a team, one lane.
            Role::Segment { .. } if self.is_alike() => IN_FIRST_LANE,
            Role::Segment { .. } => "if constexpr (W::RUN) ",
        };
        if let [line] = lines
            && guard.is_empty()
        {
            self.out.line(line);
        } else if let [line] = lines {
            self.out.line(&format!("{guard}{{ {line} }}"));
        } else {
            self.out.open(&format!("{guard}{{"));
            for line in lines {
                self.out.line(line);
            }
            self.out.close("}");
        }
    }

    fn call(
        &mut self,
        func: FuncId,
        args: &[Operand],
        dst: Option<LocalId>,
        ret_addr: Option<Operand>,
    ) {
        let callee = &self.plan.program.program[func];
        let mut list = vec!["w".to_owned()];
        list.extend(args.iter().map(|a| self.operand(*a)));
        list.extend(ret_addr.map(|a| self.operand(a)));
        let name = helper::name(callee, func, self.plan.regions.called(func, self.crew()));
        let call = format!("{name}({});", list.join(", "));
        let call = match dst {
            Some(dst) if self.hidden.is_local(dst) => {
                let call = call.trim_end_matches(';');
                format!("{} = hidden({call});", self.local(dst))
            }
            Some(dst) => format!("{} = {call}", self.local(dst)),
            None => call,
        };
        let leave = format!("if (w.failed) {};", self.leave());
        self.effect(&[call, leave]);
    }

    fn check(&mut self, cond: Operand, kind: &CheckKind, values: &[Operand]) {
        let types = values.iter().map(|v| self.type_of(*v)).collect();
        let site = self.out.site(Site {
            kind: kind.clone(),
            types,
            function: self.function_name(),
            span: self.out.span(),
        });
        let bits = |i: usize| {
            values.get(i).map_or_else(
                || "0".to_owned(),
                |v| format!("bits_of({})", self.operand(*v)),
            )
        };
        let element = match self.role {
            Role::Node { .. } => ", element",
            Role::Helper { .. } | Role::Segment { .. } => "",
        };
        let fault = format!(
            "w.fault({site}, {}, {}{element}); {};",
            bits(0),
            bits(1),
            self.leave()
        );
        let guard = match self.role {
            // A condition that hangs on effects is not known while counting; and where no load counts, nobody needs to know any.
            Role::Segment { .. } if self.taint.of(cond) || self.counting.is_some() => {
                "if constexpr (W::RUN) "
            }
            _ => "",
        };
        let text = format!("{guard}{{ if (!{}) {{ {fault} }} }}", self.operand(cond));
        self.out.line(&text);
    }

    fn function_name(&self) -> String {
        match self.role {
            Role::Helper { .. } => self.function.name.clone(),
            Role::Segment { task, .. } | Role::Node { task } => {
                self.plan.program[task].source_name().to_owned()
            }
        }
    }

    /// Position of a stack among the segment's pushes.
    pub(super) fn push_index(&self, stack: StackRole) -> usize {
        let Role::Segment { task, segment, .. } = self.role else {
            return 0;
        };
        let stack = self.plan.program.stack(stack);
        let mut pushes = self.plan.program.segment(task, segment).pushes();
        let found = pushes.position(|p| Some(p.stack) == stack);
        found.unwrap_or(usize::MAX)
    }

    pub(super) fn no_room(&self) -> String {
        format!(
            "if constexpr (W::FALLIBLE) {{ if (w.failed) {}; }}",
            self.leave()
        )
    }

    fn frame_alloc(&mut self) {
        let Role::Segment { task, .. } = self.role else {
            return;
        };
        let push = self.push_index(StackRole::Frame(task));
        let frame = match self.is_alike() {
            true => {
                format!("__shfl_sync(ALL_LANES, {FIRST_LANE} ? talloc(w, {push}) : 0, 0, WARP)")
            }
            false => format!("talloc(w, {push})"),
        };
        self.out
            .line(&format!("w.frame = {frame};  // this task's frame"));
        let no_room = self.no_room();
        self.out.line(&no_room);
    }

    /// `sync`: the frame goes to the continuation's channel.
    pub(super) fn continues(&mut self, to: SegmentId) {
        let Role::Segment { task, segment, .. } = self.role else {
            return;
        };
        let push = self.push_index(StackRole::Continuation(task, to));
        let channel = self.plan.channel(
            self.plan
                .number_of(StackRole::Continuation(task, to), false),
        );
        let array = if to == segment {
            "again<typename W::Memory>()".to_owned()
        } else {
            format!("ch.{channel}.frame_0")
        };
        let guard = self.guard();
        self.out.open(&format!(
            "{guard}{{  // sync: goes on in {}",
            names::segment(&self.plan.program, task, to)
        ));
        self.out.line(&format!("const u32 e = talloc(w, {push});"));
        let no_room = self.no_room();
        self.out.line(&no_room);
        self.out.line(&format!(
            "if constexpr (W::RUN) {{ {array}[e] = w.frame; enq(w, {push}, e); }}"
        ));
        self.out.close("}");
        self.out.line("return;");
    }

    /// What only one lane of a team does.
    pub(super) fn guard(&self) -> String {
        match self.is_alike() {
            true => format!("if ({FIRST_LANE}) "),
            false => String::new(),
        }
    }

    fn is_neutral(&self, combine: Combine, value: Operand) -> bool {
        matches!(value, Operand::Const(ty, bits) if combine.neutral(ty) == Some(bits))
    }

    /// The task ends: its result goes through its return address.
    pub(super) fn task_returns(&mut self, task: TaskId, values: &[Operand]) {
        let lowered = &self.plan.program[task];
        if let Some(ret) = self.ret_local() {
            let to = if self.is_short(ret) {
                format!(
                    "ch.memory + (u64){} * {}ull",
                    self.local(ret),
                    self.plan.return_unit(task)
                )
            } else {
                self.local(ret)
            };
            let mut lines = vec![format!("const ptr result = {to};")];
            let pieces = self
                .plan
                .ret(task)
                .pieces(&self.plan.program.program.structs);
            for (i, (piece, value)) in pieces.iter().zip(values).enumerate() {
                let at = if piece.offset == 0 {
                    "result".to_owned()
                } else {
                    format!("result + {}", piece.offset)
                };
                lines.push(match piece.kind {
                    PieceKind::Blob(layout) => format!(
                        "copy_bytes({at}, {}, {});",
                        self.operand(*value),
                        layout.size
                    ),
                    PieceKind::Scalar(_) if lowered.combine == Combine::Store => {
                        format!(
                            "store({at}, ({}){});",
                            ctype(self.type_of(*value)),
                            self.operand(*value)
                        )
                    }
                    PieceKind::Scalar(ty) => match self.plan.joined(task) {
                        Some(_) if self.is_neutral(lowered.combine, *value) => {
                            return self.out.line("return;  // tfree; nothing to add");
                        }
                        Some(_) => {
                            format!("w.give({at}, ({}){});", ctype(ty), self.operand(*value))
                        }
                        None => combine_text(
                            "W::Memory",
                            lowered.combine.of_piece(i),
                            self.type_of(*value),
                            &self.operand(*value),
                            &at,
                        ),
                    },
                });
            }
            self.effect(&lines);
        }
        self.out.line("return;  // tfree");
    }
}
