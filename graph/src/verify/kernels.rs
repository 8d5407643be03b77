//! Rules 24 to 26: kernels, and what is made of graphs.

use super::{Checker, passed};
use crate::{
    ir::{ChannelId, FunctionKind, Operand, UniformId},
    levelized::StackRole,
    ty::{Scalar, Structs, Type},
};

/// Whether a value of this type may be an element of a channel.
fn is_element(ty: &Type, structs: &Structs) -> bool {
    !ty.has_addresses(structs) && !ty.has_atomics(structs)
}

impl Checker<'_> {
    pub(super) fn check_params(&mut self) {
        let structs = &self.program.structs;
        let function = self.function;
        let kernel = function.kind == FunctionKind::Kernel;
        if kernel {
            match function.params.first() {
                None => self.fail("a kernel has an element"),
                Some(p) if !is_element(&p.ty, structs) => {
                    self.fail("an element has no addresses and no atomics")
                }
                Some(_) => {}
            }
            if !function.ret.is_unit() {
                self.fail("a kernel returns nothing");
            }
        }
        for param in &function.params {
            match &param.ty {
                Type::Channel(_) if !kernel => self.fail("only a kernel has channels"),
                Type::Channel(elem) if !is_element(elem, structs) => {
                    self.fail("an element has no addresses and no atomics")
                }
                _ => {}
            }
        }
    }

    pub(super) fn check_emit(&mut self, channel: ChannelId, args: &[Operand]) {
        let Some(pieces) = self.program.element(self.function, channel) else {
            return self.fail(format!("there is no channel {channel}"));
        };
        let types: Vec<Scalar> = pieces.into_iter().map(passed).collect();
        self.expect_all(args, &types, "argument");
        self.check_push(StackRole::Channel(channel));
    }

    pub(super) fn check_uniform(&mut self, id: UniformId, ty: Scalar) -> Option<Scalar> {
        if self.function.kind == FunctionKind::Kernel {
            self.fail("a kernel has parameters, not uniforms");
        }
        match self.program.uniforms.get(id.index()) {
            None => self.fail(format!("there is no uniform {id}")),
            Some(found) if passed(found.kind) != ty => {
                self.fail(format!("{id} is {}, not {ty}", passed(found.kind)));
            }
            Some(_) => {}
        }
        Some(ty)
    }
}
