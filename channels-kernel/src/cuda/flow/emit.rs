//! `emit`: an element goes to the stage of its port, in shared memory.

use crate::{
    cuda::{body::Body, names, types::ctype},
    layout::stride,
};
use millstream_graph::{
    ir::{ChannelId, Operand},
    levelized::Field,
    ty::PieceKind,
};

/// A channel that a kernel emits into.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::cuda) struct Port {
    /// Which channel.
    pub(super) channel: usize,
    /// Its name.
    pub(super) name: String,
    /// The fields of its elements.
    pub(super) fields: Vec<Field>,
}

/// Where the array of a field begins in the stage: a constant of the node.
pub(super) fn staged_at(port: usize, field: usize) -> String {
    format!("AT{port}_{field}")
}

impl Body<'_, '_> {
    pub(in crate::cuda) fn emit(&mut self, channel: ChannelId, args: &[Operand]) {
        let ports = self.ports;
        let Some(p) = ports.iter().position(|p| p.channel == channel.index()) else {
            return;
        };
        let name = ports[p].name.replace('\n', " ");
        self.out.open(&format!("{{  // emit into {name}"));
        self.out
            .line(&format!("const u32 e = w.template talloc<{p}>();"));
        let leave = format!("if (w.failed) {};", self.leave());
        self.out.line(&leave);
        for (f, (field, value)) in ports[p].fields.iter().zip(args).enumerate() {
            let (at, value) = (staged_at(p, f), self.operand(*value));
            let size = stride(field);
            let text = match field.kind {
                PieceKind::Scalar(ty) => {
                    let ty = ctype(ty);
                    format!("store(stage_memory() + ({at} + e * {size}), ({ty}){value});")
                }
                PieceKind::Blob(layout) => format!(
                    "copy_bytes(stage_memory() + ({at} + e * {size}), {value}, {});",
                    layout.size
                ),
            };
            self.out
                .line(&format!("{text}  // {}", names::field(field, f)));
        }
        self.out.line(&format!("w.template enq<{p}>();"));
        self.out.close("}");
    }
}
