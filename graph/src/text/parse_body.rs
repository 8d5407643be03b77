//! Reading the text form: blocks, statements, values and terminators.

use super::{
    lex::Token,
    parse::{Parsed, Parser},
};
use crate::{
    ir::{
        AtomicOp, BinOp, Block, BlockId, ChannelId, CheckKind, Combine, DataId, Dest, FieldId,
        FuncId, LocalId, Operand, Order, Rvalue, SegmentId, SlotId, Stmt, StmtKind, Terminator,
        UnOp, UniformId,
    },
    ty::Scalar,
};

impl Parser<'_> {
    pub(super) fn block(&mut self, index: usize) -> Parsed<Block> {
        let label = BlockId::new(index).to_string();
        self.word(&label)?;
        self.punct(':')?;
        let mut stmts = Vec::new();
        loop {
            if let Some(term) = self.terminator()? {
                return Ok(Block {
                    stmts,
                    term,
                    span: self.span()?,
                });
            }
            let kind = self.stmt()?;
            stmts.push(Stmt {
                kind,
                span: self.span()?,
            });
        }
    }

    fn id(&mut self, prefix: &str, what: &str) -> Parsed<u32> {
        let digits = if let Token::Ident(text) = self.peek() {
            text.strip_prefix(prefix)
        } else {
            None
        };
        match digits.and_then(|d| d.parse().ok()) {
            Some(id) => {
                self.next();
                Ok(id)
            }
            None => self.expected(what),
        }
    }

    fn block_id(&mut self) -> Parsed<BlockId> {
        self.id("b", "a block").map(BlockId)
    }

    fn terminator(&mut self) -> Parsed<Option<Terminator>> {
        let Token::Ident(word) = self.peek() else {
            return Ok(None);
        };
        if !matches!(
            word,
            "goto" | "branch" | "switch" | "return" | "sync" | "room" | "continue" | "unreachable"
        ) {
            return Ok(None);
        }
        self.next();
        Ok(Some(match word {
            "goto" => Terminator::Goto(self.block_id()?),
            "branch" => Terminator::Branch {
                cond: self.operand()?,
                then: self.block_id()?,
                other: self.block_id()?,
            },
            "switch" => self.switch()?,
            "return" if self.at_operand() => {
                let mut values = vec![self.operand()?];
                while self.eat_punct(',') {
                    values.push(self.operand()?);
                }
                Terminator::Return(values)
            }
            "return" => Terminator::Return(Vec::new()),
            "sync" => Terminator::Sync(self.block_id()?),
            "room" => Terminator::Room {
                children: self.int()?,
                then: self.block_id()?,
                other: self.block_id()?,
            },
            "continue" => Terminator::Continue(SegmentId(self.id("s", "a segment")?)),
            _ => Terminator::Unreachable,
        }))
    }

    fn switch(&mut self) -> Parsed<Terminator> {
        let value = self.operand()?;
        self.punct('{')?;
        let mut arms = Vec::new();
        while !self.eat_word("_") {
            let bits = self.int()?;
            self.punct(':')?;
            arms.push((bits, self.block_id()?));
            self.punct(',')?;
        }
        self.punct(':')?;
        let other = self.block_id()?;
        self.punct('}')?;
        Ok(Terminator::Switch { value, arms, other })
    }

    fn stmt(&mut self) -> Parsed<StmtKind> {
        if let Token::Local(dst) = self.peek() {
            self.next();
            self.punct('=')?;
            return self.assign(LocalId(dst));
        }
        match self.ident("a statement")? {
            "store" => self.store(),
            "copy" => {
                let src = self.operand()?;
                self.arrow()?;
                Ok(StmtKind::Copy {
                    dst: self.operand()?,
                    src,
                    size: self.int()?,
                })
            }
            "zero" => Ok(StmtKind::Zero {
                dst: self.operand()?,
                size: self.int()?,
            }),
            "call" => self.call(None),
            "spawn" => self.spawn(),
            "emit" => self.emit(),
            "check" => self.check(),
            "atomic" => self.atomic(None),
            "frame_alloc" => Ok(StmtKind::FrameAlloc),
            other => Err(self.error_before(format!("expected a statement, found `{other}`"))),
        }
    }

    fn assign(&mut self, dst: LocalId) -> Parsed<StmtKind> {
        if self.eat_word("call") {
            return self.call(Some(dst));
        }
        if self.eat_word("atomic") {
            return self.atomic(Some(dst));
        }
        Ok(StmtKind::Assign {
            dst,
            value: self.rvalue()?,
        })
    }

    fn store(&mut self) -> Parsed<StmtKind> {
        let value = self.operand()?;
        self.arrow()?;
        if let Token::Field(field) = self.peek() {
            self.next();
            return Ok(StmtKind::FrameStore {
                field: FieldId(field),
                value,
            });
        }
        Ok(StmtKind::Store {
            addr: self.operand()?,
            offset: self.offset()?,
            value,
        })
    }

    fn offset(&mut self) -> Parsed<u64> {
        if self.eat_punct('+') {
            self.int()
        } else {
            Ok(0)
        }
    }

    fn callee(&mut self) -> Parsed<FuncId> {
        self.punct('@')?;
        let name = self.name("a function's name")?;
        let id = self.functions.get(&name).copied();
        id.map(FuncId)
            .ok_or_else(|| self.error_before(format!("there is no function `{name}`")))
    }

    fn operands(&mut self) -> Parsed<Vec<Operand>> {
        self.punct('(')?;
        self.list(')', Self::operand)
    }

    fn call(&mut self, dst: Option<LocalId>) -> Parsed<StmtKind> {
        let func = self.callee()?;
        let args = self.operands()?;
        let ret_addr = if self.eat(Token::Arrow) {
            Some(self.operand()?)
        } else {
            None
        };
        Ok(StmtKind::Call {
            func,
            args,
            dst,
            ret_addr,
        })
    }

    fn spawn(&mut self) -> Parsed<StmtKind> {
        let func = self.callee()?;
        let args = self.operands()?;
        let dest = if self.eat(Token::Arrow) {
            let addr = self.operand()?;
            Some(Dest {
                addr,
                combine: self.op("how the result is combined", Combine::from_name)?,
            })
        } else {
            None
        };
        let leaf = if self.eat_word("unless") {
            Some(self.operand()?)
        } else {
            None
        };
        Ok(StmtKind::Spawn {
            func,
            args,
            dest,
            leaf,
        })
    }

    fn emit(&mut self) -> Parsed<StmtKind> {
        Ok(StmtKind::Emit {
            channel: ChannelId(self.id("c", "a channel")?),
            args: self.operands()?,
        })
    }

    /// A word that is the name of one of the operations that `find` knows.
    fn op<T>(&mut self, what: &str, find: impl Fn(&str) -> Option<T>) -> Parsed<T> {
        let word = self.ident(what)?;
        find(word).ok_or_else(|| self.error_before(format!("expected {what}, found `{word}`")))
    }

    fn check(&mut self) -> Parsed<StmtKind> {
        let cond = self.operand()?;
        let kind = match self.ident("a kind of check")? {
            "bounds" => CheckKind::Bounds,
            "range_order" => CheckKind::RangeOrder,
            "range_end" => CheckKind::RangeEnd,
            "split" => CheckKind::Split,
            "lengths" => CheckKind::Lengths,
            "overflow" => CheckKind::Overflow(self.op("an operation", BinOp::from_name)?),
            "neg_overflow" => CheckKind::NegOverflow,
            "division_by_zero" => CheckKind::DivisionByZero,
            "division_overflow" => CheckKind::DivisionOverflow,
            "remainder_by_zero" => CheckKind::RemainderByZero,
            "remainder_overflow" => CheckKind::RemainderOverflow,
            "assert" => CheckKind::Assert(self.string("the assertion's text")?),
            "assert_eq" => CheckKind::AssertEq(self.string("the assertion's text")?),
            "assert_ne" => CheckKind::AssertNe(self.string("the assertion's text")?),
            "panic" => CheckKind::Panic(self.string("the message")?),
            other => {
                return Err(self.error_before(format!("expected a kind of check, found `{other}`")));
            }
        };
        Ok(StmtKind::Check {
            cond,
            kind,
            values: self.operands()?,
        })
    }

    fn atomic(&mut self, dst: Option<LocalId>) -> Parsed<StmtKind> {
        let op = self.op("an atomic operation", AtomicOp::from_name)?;
        let ty = self.scalar()?;
        let addr = self.operand()?;
        let args = self.operands()?;
        Ok(StmtKind::Atomic {
            op,
            ty,
            addr,
            args,
            dst,
            order: self.op("a memory order", Order::from_name)?,
        })
    }

    fn rvalue(&mut self) -> Parsed<Rvalue> {
        if self.at_operand() {
            return self.operand().map(Rvalue::Use);
        }
        let word = self.ident("a value")?;
        Ok(match word {
            "load" => {
                if let Token::Field(field) = self.peek() {
                    self.next();
                    return Ok(Rvalue::FrameLoad(FieldId(field)));
                }
                Rvalue::Load {
                    ty: self.scalar()?,
                    addr: self.operand()?,
                    offset: self.offset()?,
                }
            }
            "addr" => match self.peek() {
                Token::Slot(id) => {
                    self.next();
                    Rvalue::SlotAddr(SlotId(id))
                }
                Token::Field(id) => {
                    self.next();
                    Rvalue::FrameAddr(FieldId(id))
                }
                _ => Rvalue::DataAddr(DataId(
                    self.id("d", "a slot, a constant array or a field of the frame")?,
                )),
            },
            "wide" => Rvalue::Wide,
            "lanes" => Rvalue::Lanes,
            "uniform" => Rvalue::Uniform {
                id: UniformId(self.id("a", "a uniform")?),
                ty: self.scalar()?,
            },
            "ptr_add" => {
                let base = self.operand()?;
                self.punct(',')?;
                let index = self.operand()?;
                self.punct('*')?;
                Rvalue::PtrAdd {
                    base,
                    index,
                    scale: self.int()?,
                    offset: self.offset()?,
                }
            }
            "cast" => Rvalue::Cast(self.scalar()?, self.operand()?),
            "bitcast" => Rvalue::Bitcast(self.scalar()?, self.operand()?),
            "mul_add" | "select" => {
                let a = self.operand()?;
                self.punct(',')?;
                let b = self.operand()?;
                self.punct(',')?;
                let c = self.operand()?;
                if word == "select" {
                    Rvalue::Select(a, b, c)
                } else {
                    Rvalue::MulAdd(a, b, c)
                }
            }
            word => {
                if let Some(op) = UnOp::from_name(word) {
                    return Ok(Rvalue::Unary(op, self.operand()?));
                }
                let Some(op) = BinOp::from_name(word) else {
                    return Err(self.error_before(format!("expected an operation, found `{word}`")));
                };
                let a = self.operand()?;
                self.punct(',')?;
                Rvalue::Binary(op, a, self.operand()?)
            }
        })
    }

    /// Whether an operand comes next. No other word stands before a `#`.
    fn at_operand(&self) -> bool {
        match self.peek() {
            Token::Local(_) | Token::Number(..) | Token::Ident("true" | "false") => true,
            Token::Ident(_) => matches!(self.peek_second(), Token::Bits(_)),
            _ => false,
        }
    }

    fn operand(&mut self) -> Parsed<Operand> {
        let token = self.peek();
        if !self.at_operand() {
            return self.expected("a local or a constant");
        }
        let operand = match token {
            Token::Local(id) => Operand::Local(LocalId(id)),
            Token::Number(digits, suffix) => {
                match Scalar::from_name(suffix).and_then(|ty| Some((ty, constant(digits, ty)?))) {
                    Some((ty, bits)) => Operand::Const(ty, bits),
                    None => return self.expected("a constant with its type"),
                }
            }
            Token::Ident("true") => Operand::bool(true),
            Token::Ident("false") => Operand::bool(false),
            _ => {
                let ty = self.scalar()?;
                let Token::Bits(bits) = self.peek() else {
                    return self.expected("`#` and the bits");
                };
                Operand::Const(ty, bits)
            }
        };
        self.next();
        Ok(operand)
    }
}

/// The bits of a number of this type.
fn constant(digits: &str, ty: Scalar) -> Option<u64> {
    match ty {
        Scalar::Bool => None,
        Scalar::F32 => digits.parse().ok().map(|x: f32| u64::from(x.to_bits())),
        Scalar::F64 => digits.parse().ok().map(f64::to_bits),
        ty if ty.is_signed() => {
            let value: i64 = digits.parse().ok()?;
            let spare = 64 - ty.bits();
            ((value << spare) >> spare == value).then_some((value as u64) << spare >> spare)
        }
        ty => {
            let value: u64 = digits.parse().ok()?;
            let spare = 64 - ty.bits();
            (value << spare >> spare == value).then_some(value)
        }
    }
}
