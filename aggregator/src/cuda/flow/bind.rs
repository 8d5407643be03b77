//! What a graph's kernels are bound to: their arguments as words, and the memory of the host that they reach.

use crate::{
    args::{self, ErasedArg},
    cuda::{copies::Copies, flow::FlowLauncher},
    error::RunError,
};
use millstream_graph::{
    graph::{Graph, KernelKey},
    ir::Program,
    ty::{PieceKind, Type},
};
use std::collections::BTreeMap;

/// The arguments of a graph's kernels: one for each piece of a kernel's bound parameters.
pub type GraphArgs<'a> = BTreeMap<KernelKey, Vec<ErasedArg<'a>>>;

/// The arguments of all kernels, checked.
#[derive(Debug)]
pub(super) struct Bound {
    /// The bytes of each piece, kernel by kernel.
    pieces: Vec<Vec<Vec<u8>>>,
    pub(super) copies: Copies,
}

impl Bound {
    /// Checks arguments by the kernels of a program.
    pub(super) fn new(
        source: &Program,
        graph: &Graph,
        given: &GraphArgs<'_>,
        home: u64,
    ) -> Result<Self, RunError> {
        let (mut pieces, mut regions, mut owners) = (Vec::new(), Vec::new(), Vec::new());
        for (key, kernel) in graph.kernels() {
            let Some(function) = kernel.function().and_then(|f| source.find(f)) else {
                continue;
            };
            let mut bound = source[function].clone();
            bound.params.remove(0);
            bound.params.retain(|p| !matches!(p.ty, Type::Channel(_)));
            let given = given.get(&key).map_or(&[][..], |args| &args[..]);
            let count = bound
                .params
                .iter()
                .map(|p| p.ty.pieces(&source.structs).len())
                .sum();
            let mut fields = vec![Vec::new(); count];
            args::push(
                &bound,
                &source.structs,
                given,
                home,
                &mut fields,
                Some(&mut regions),
            )?;
            owners.resize(regions.len(), pieces.len());
            pieces.push(fields);
        }
        let copies = Copies::new(regions, owners);
        Ok(Self { pieces, copies })
    }

    /// Brings everything to the device; gives the word of each uniform, and where the copies lie. `kinds` says what each is.
    pub(super) fn place(
        &mut self,
        launcher: &mut impl FlowLauncher,
        kinds: &[PieceKind],
    ) -> Result<(Vec<u64>, u64), RunError> {
        let blob = |kind: &PieceKind| match kind {
            PieceKind::Blob(layout) => layout.size.next_multiple_of(16),
            PieceKind::Scalar(_) => 0,
        };
        let blobs: u64 = kinds.iter().map(blob).sum();
        let base = launcher.copies(self.copies.bytes() + blobs)?;
        self.copies.place(base, &mut self.pieces);
        // SAFETY: the caller lends the memory for the whole run, and the copy has its place.
        unsafe { self.copies.copy(launcher, base, false) }?;
        // Arrays lie behind the copies, and are known by their addresses.
        let mut at = base + self.copies.bytes();
        let mut words = Vec::new();
        for (bytes, kind) in self.pieces.iter().flatten().zip(kinds) {
            words.push(match kind {
                PieceKind::Scalar(_) => bytes.iter().rev().fold(0, |w, b| w << 8 | u64::from(*b)),
                PieceKind::Blob(_) => at,
            });
            if let PieceKind::Blob(_) = kind {
                // SAFETY: there is room; the bytes live until they are waited for.
                unsafe { launcher.copy_in(at, bytes.as_ptr(), bytes.len()) }?;
                at += blob(kind);
            }
        }
        launcher.wait("copying the arguments")?;
        if words.is_empty() {
            words.push(0);
        }
        Ok((words, base))
    }
}
