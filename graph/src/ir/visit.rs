//! Who reads what: visitors of the operands of values, statements and terminators, and of the blocks that terminators name.

use super::{BlockId, LocalId, Operand, Rvalue, StmtKind, Terminator};

impl Operand {
    /// The local that it reads, if it is one.
    #[must_use]
    pub const fn local(self) -> Option<LocalId> {
        match self {
            Self::Local(id) => Some(id),
            Self::Const(..) => None,
        }
    }

    /// Puts another local in the place of the one that it reads.
    pub fn rename(&mut self, to: impl Fn(LocalId) -> LocalId) {
        if let Self::Local(id) = self {
            *id = to(*id);
        }
    }
}

impl Rvalue {
    /// Calls `f` on each operand.
    pub fn each_operand(&self, f: &mut impl FnMut(Operand)) {
        match self {
            Self::Use(a) | Self::Unary(_, a) | Self::Cast(_, a) | Self::Bitcast(_, a) => f(*a),
            Self::Load { addr, .. } => f(*addr),
            Self::Binary(_, a, b) => {
                f(*a);
                f(*b);
            }
            Self::MulAdd(a, b, c) | Self::Select(a, b, c) => {
                f(*a);
                f(*b);
                f(*c);
            }
            Self::PtrAdd { base, index, .. } => {
                f(*base);
                f(*index);
            }
            Self::SlotAddr(_)
            | Self::DataAddr(_)
            | Self::Wide
            | Self::Lanes
            | Self::Uniform { .. }
            | Self::FrameLoad(_)
            | Self::FrameAddr(_) => {}
        }
    }

    /// Calls `f` on each operand, to change it.
    pub fn operands_mut(&mut self, mut f: impl FnMut(&mut Operand)) {
        match self {
            Self::Use(a) | Self::Unary(_, a) | Self::Cast(_, a) | Self::Bitcast(_, a) => f(a),
            Self::Load { addr, .. } => f(addr),
            Self::Binary(_, a, b) => {
                f(a);
                f(b);
            }
            Self::MulAdd(a, b, c) | Self::Select(a, b, c) => {
                f(a);
                f(b);
                f(c);
            }
            Self::PtrAdd { base, index, .. } => {
                f(base);
                f(index);
            }
            Self::SlotAddr(_)
            | Self::DataAddr(_)
            | Self::Wide
            | Self::Lanes
            | Self::Uniform { .. }
            | Self::FrameLoad(_)
            | Self::FrameAddr(_) => {}
        }
    }
}

impl StmtKind {
    /// Calls `f` on each operand that is read.
    pub fn each_operand(&self, f: &mut impl FnMut(Operand)) {
        match self {
            Self::Assign { value, .. } => value.each_operand(f),
            Self::Store { addr, value, .. } => {
                f(*addr);
                f(*value);
            }
            Self::Copy { dst, src, .. } => {
                f(*dst);
                f(*src);
            }
            Self::Zero { dst, .. } => f(*dst),
            Self::Call { args, ret_addr, .. } => {
                args.iter().for_each(|a| f(*a));
                ret_addr.iter().for_each(|a| f(*a));
            }
            Self::Spawn {
                args, dest, leaf, ..
            } => {
                args.iter().for_each(|a| f(*a));
                dest.iter().for_each(|d| f(d.addr));
                leaf.iter().for_each(|l| f(*l));
            }
            Self::Emit { args, .. } => args.iter().for_each(|a| f(*a)),
            Self::Check { cond, values, .. } => {
                f(*cond);
                values.iter().for_each(|a| f(*a));
            }
            Self::Atomic { addr, args, .. } => {
                f(*addr);
                args.iter().for_each(|a| f(*a));
            }
            Self::FrameAlloc => {}
            Self::FrameStore { value, .. } => f(*value),
        }
    }

    /// Calls `f` on each operand that is read, to change it.
    pub fn operands_mut(&mut self, mut f: impl FnMut(&mut Operand)) {
        match self {
            Self::Assign { value, .. } => value.operands_mut(f),
            Self::Store { addr, value, .. } => {
                f(addr);
                f(value);
            }
            Self::Copy { dst, src, .. } => {
                f(dst);
                f(src);
            }
            Self::Zero { dst, .. } => f(dst),
            Self::Call { args, ret_addr, .. } => {
                args.iter_mut().for_each(&mut f);
                ret_addr.iter_mut().for_each(f);
            }
            Self::Spawn {
                args, dest, leaf, ..
            } => {
                args.iter_mut().for_each(&mut f);
                dest.iter_mut().for_each(|d| f(&mut d.addr));
                leaf.iter_mut().for_each(f);
            }
            Self::Emit { args, .. } => args.iter_mut().for_each(f),
            Self::Check { cond, values, .. } => {
                f(cond);
                values.iter_mut().for_each(f);
            }
            Self::Atomic { addr, args, .. } => {
                f(addr);
                args.iter_mut().for_each(f);
            }
            Self::FrameAlloc => {}
            Self::FrameStore { value, .. } => f(value),
        }
    }

    /// The operands that are read.
    #[must_use]
    pub fn operands(&self) -> Vec<Operand> {
        let mut out = Vec::new();
        self.each_operand(&mut |o| out.push(o));
        out
    }

    /// Segments only: whether it needs the frame to be there.
    #[must_use]
    pub const fn uses_frame(&self) -> bool {
        matches!(
            self,
            Self::FrameStore { .. }
                | Self::Assign {
                    value: Rvalue::FrameLoad(_) | Rvalue::FrameAddr(_),
                    ..
                }
        )
    }

    /// The local that is written, if one is.
    #[must_use]
    pub const fn def(&self) -> Option<LocalId> {
        match self {
            Self::Assign { dst, .. } => Some(*dst),
            Self::Call { dst, .. } | Self::Atomic { dst, .. } => *dst,
            _ => None,
        }
    }

    /// The local that is written, if one is, to change it.
    pub const fn def_mut(&mut self) -> Option<&mut LocalId> {
        match self {
            Self::Assign { dst, .. } => Some(dst),
            Self::Call { dst, .. } | Self::Atomic { dst, .. } => dst.as_mut(),
            _ => None,
        }
    }

    /// Puts other locals in the place of those that it reads and writes.
    pub fn rename(&mut self, to: impl Fn(LocalId) -> LocalId) {
        self.operands_mut(|o| o.rename(&to));
        if let Some(dst) = self.def_mut() {
            *dst = to(*dst);
        }
    }
}

impl Terminator {
    /// Calls `f` on each operand that is read.
    pub fn each_operand(&self, f: &mut impl FnMut(Operand)) {
        match self {
            Self::Branch { cond: value, .. } | Self::Switch { value, .. } => f(*value),
            Self::Return(values) => values.iter().for_each(|v| f(*v)),
            Self::Goto(_)
            | Self::Sync(_)
            | Self::Room { .. }
            | Self::Continue(_)
            | Self::Unreachable => {}
        }
    }

    /// Calls `f` on each operand that is read, to change it.
    pub fn operands_mut(&mut self, mut f: impl FnMut(&mut Operand)) {
        match self {
            Self::Branch { cond: value, .. } | Self::Switch { value, .. } => f(value),
            Self::Return(values) => values.iter_mut().for_each(f),
            Self::Goto(_)
            | Self::Sync(_)
            | Self::Room { .. }
            | Self::Continue(_)
            | Self::Unreachable => {}
        }
    }

    /// The operands that are read.
    #[must_use]
    pub fn operands(&self) -> Vec<Operand> {
        let mut out = Vec::new();
        self.each_operand(&mut |o| out.push(o));
        out
    }

    /// Calls `f` on each block it may go to.
    pub fn targets_mut(&mut self, mut f: impl FnMut(&mut BlockId)) {
        match self {
            Self::Goto(b) | Self::Sync(b) => f(b),
            Self::Branch { then, other, .. } | Self::Room { then, other, .. } => {
                f(then);
                f(other);
            }
            Self::Switch { arms, other, .. } => {
                arms.iter_mut().for_each(|(_, b)| f(b));
                f(other);
            }
            Self::Return(_) | Self::Continue(_) | Self::Unreachable => {}
        }
    }

    /// The blocks it may go to, one for each arm.
    pub fn targets(&self) -> impl DoubleEndedIterator<Item = BlockId> + '_ {
        let (arms, one, other) = match self {
            Self::Goto(b) | Self::Sync(b) => (&[][..], Some(*b), None),
            Self::Branch { then, other, .. } | Self::Room { then, other, .. } => {
                (&[][..], Some(*then), Some(*other))
            }
            Self::Switch { arms, other, .. } => (&arms[..], None, Some(*other)),
            Self::Return(_) | Self::Continue(_) | Self::Unreachable => (&[][..], None, None),
        };
        arms.iter().map(|(_, b)| *b).chain(one).chain(other)
    }
}
