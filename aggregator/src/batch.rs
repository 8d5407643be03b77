//! A batch: entry elements of one task, off any stack, with a result slot for each.
//!
//! The calls of a run are a batch, and so is what a worker donates. Whoever runs a batch lets the elements return to its slots; when
//! all is done, the owner alone moves the results to where they belong. So compiled code stores and combines without atomics.

use crate::{
    memory::Region,
    plan::{CombinedPiece, Plan, ResultPlan},
};
use millstream_graph::{ir::Combine, ty::Scalar};
use std::time::Duration;

/// Elements of one task.
#[derive(Debug)]
pub(crate) struct Batch {
    /// The task.
    pub(crate) task: usize,
    /// How many elements.
    pub(crate) count: u64,
    /// The bytes of each field, element after element. The return address, if there is one, points into `results`.
    pub(crate) fields: Vec<Vec<u8>>,
    /// Where the results are to go in the end; empty for the calls of a run.
    destinations: Vec<u64>,
    results: Option<Region>,
    /// The owner's level that the elements were taken from.
    pub(crate) level: usize,
    /// Depth of the elements in the run's tree of tasks.
    pub(crate) depth: u64,
    /// The task that they all descend from: the one called, or the kernel of a graph's node.
    pub(crate) root: usize,
    /// What the batch counts toward its owner's memory.
    pub(crate) bytes: u64,
    /// How long whoever acquired it took for it.
    pub(crate) took: Duration,
}

impl Batch {
    /// A batch of such elements, whose last field gets the addresses of result slots if the task returns something.
    pub(crate) fn new(
        plan: &Plan,
        task: usize,
        count: u64,
        fields: Vec<Vec<u8>>,
        level: usize,
        (depth, root): (u64, usize),
    ) -> Self {
        let bytes = count * plan.batch_bytes(task);
        let mut batch = Self {
            task,
            count,
            fields,
            destinations: Vec::new(),
            results: None,
            level,
            depth,
            root,
            bytes,
            took: Duration::ZERO,
        };
        if let Some(result) = &plan.tasks[task].result {
            let region = Region::new((count * result.stride) as usize);
            let base = region.address() as u64;
            let field = batch
                .fields
                .last_mut()
                .expect("the return address is a field");
            batch.destinations = field
                .chunks_exact(8)
                .map(|a| u64::from_ne_bytes(a.try_into().expect("eight bytes")))
                .collect();
            for (i, address) in (0..count).zip(field.chunks_exact_mut(8)) {
                address.copy_from_slice(&(base + i * result.stride).to_ne_bytes());
            }
            batch.results = Some(region);
            batch.reset(result);
        }
        batch
    }

    /// Sets the slots that are combined into to what changes nothing.
    fn reset(&self, result: &ResultPlan) {
        let Some(region) = &self.results else {
            return;
        };
        for piece in &result.combined {
            let identity = identity(piece.way, piece.ty).to_ne_bytes();
            let size = piece.ty.size() as usize;
            for i in 0..self.count {
                let at = i * result.stride + piece.offset;
                // SAFETY: slot `i` lies within the region of `count` strides, which this batch owns, and the piece in the slot; nothing runs
                // it yet. The bits of a scalar of `size` bytes are the first ones (the host is little-endian, as the language's memory is).
                unsafe {
                    let piece = region.address().add(at as usize);
                    std::ptr::copy_nonoverlapping(identity.as_ptr(), piece, size);
                }
            }
        }
    }

    /// Gives the elements their own return addresses again, for an owner who takes the batch back as it was.
    pub(crate) fn restore(&mut self) {
        if self.results.is_some() {
            let field = self
                .fields
                .last_mut()
                .expect("the return address is a field");
            *field = self
                .destinations
                .iter()
                .flat_map(|a| a.to_ne_bytes())
                .collect();
        }
    }

    /// The memory of a result.
    pub(crate) fn result(&self, result: &ResultPlan, i: u64) -> &[u8] {
        assert!(i < self.count, "a result for each element");
        let Some(region) = &self.results else {
            return &[];
        };
        // SAFETY: slot `i` lies within the region; nobody runs the batch while its owner reads. The bytes were zero or written.
        unsafe {
            std::slice::from_raw_parts(
                region.address().add((i * result.stride) as usize),
                result.size as usize,
            )
        }
    }

    /// Moves all results to where they belong. The batch is done, and the caller is its owner.
    pub(crate) fn apply(&self, plan: &Plan) {
        let Some(result) = &plan.tasks[self.task].result else {
            return;
        };
        for (i, &to) in (0..).zip(&self.destinations) {
            let from = self.result(result, i);
            let to = to as *mut u8;
            if result.combined.is_empty() {
                // SAFETY: the destination is memory for one result of this task: a slot of a frame of the owner's, or of a batch that the
                // owner runs. It lives, since the level that the element was taken from is not drained before this batch is back, and
                // only the owner writes to it.
                unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
            }
            for CombinedPiece { way, ty, offset } in &result.combined {
                let at = *offset as usize;
                // SAFETY: as above; at this place of a result lies a scalar of this type, aligned as its type asks.
                unsafe { combine(*way, *ty, to.add(at), from.as_ptr().add(at)) };
            }
        }
    }
}

/// Bits that change nothing when they are combined with in the way of one scalar.
fn identity(op: Combine, ty: Scalar) -> u64 {
    let ones = u64::MAX >> (64 - ty.bits());
    let (lowest, highest) = if ty.is_signed() {
        (1 << (ty.bits() - 1), ones >> 1)
    } else {
        (0, ones)
    };
    match (op, ty) {
        (Combine::Add, Scalar::F32) => u64::from((-0.0f32).to_bits()),
        (Combine::Add, Scalar::F64) => (-0.0f64).to_bits(),
        // The lesser and the greater of floats is the one that is a number.
        (Combine::Min | Combine::Max, Scalar::F32) => u64::from(f32::NAN.to_bits()),
        (Combine::Min | Combine::Max, Scalar::F64) => f64::NAN.to_bits(),
        (Combine::Store | Combine::Add | Combine::Or | Combine::Xor | Combine::Each(_), _) => 0,
        (Combine::And, _) => ones,
        (Combine::Min, _) => highest,
        (Combine::Max, _) => lowest,
    }
}

macro_rules! by_type {
    ($ty:expr, $to:expr, $from:expr, $ints:expr, $bools:expr, $floats:expr) => {
        match $ty {
            Scalar::Bool => by_type!(@ bool, $to, $from, $bools),
            Scalar::I8 => by_type!(@ i8, $to, $from, $ints),
            Scalar::I16 => by_type!(@ i16, $to, $from, $ints),
            Scalar::I32 => by_type!(@ i32, $to, $from, $ints),
            Scalar::I64 | Scalar::Isize => by_type!(@ i64, $to, $from, $ints),
            Scalar::U8 => by_type!(@ u8, $to, $from, $ints),
            Scalar::U16 => by_type!(@ u16, $to, $from, $ints),
            Scalar::U32 => by_type!(@ u32, $to, $from, $ints),
            Scalar::U64 | Scalar::Usize | Scalar::Ptr => by_type!(@ u64, $to, $from, $ints),
            Scalar::F32 => by_type!(@ f32, $to, $from, $floats),
            Scalar::F64 => by_type!(@ f64, $to, $from, $floats),
        }
    };
    (@ $t:ty, $to:expr, $from:expr, $op:expr) => {{
        // SAFETY: the caller vouches for both addresses and their type.
        unsafe {
            let (to, from) = ($to.cast::<$t>(), $from.cast::<$t>());
            let combined: fn($t, $t) -> $t = $op;
            to.write(combined(to.read(), from.read()));
        }
    }};
}

/// Combines what `to` holds with what `from` holds in the way of one scalar.
///
/// # Safety
/// Both hold a scalar of this type, aligned; nobody else touches `to`.
unsafe fn combine(op: Combine, ty: Scalar, to: *mut u8, from: *const u8) {
    match op {
        Combine::Store | Combine::Each(_) => by_type!(ty, to, from, |_, b| b, |_, b| b, |_, b| b),
        Combine::Add => by_type!(
            ty,
            to,
            from,
            |a, b| a.wrapping_add(b),
            |a, b| a | b,
            |a, b| a + b
        ),
        Combine::Or => by_type!(ty, to, from, |a, b| a | b, |a, b| a | b, |_, b| b),
        Combine::And => by_type!(ty, to, from, |a, b| a & b, |a, b| a & b, |_, b| b),
        Combine::Xor => by_type!(ty, to, from, |a, b| a ^ b, |a, b| a ^ b, |_, b| b),
        Combine::Min => by_type!(ty, to, from, |a, b| a.min(b), |a, b| a & b, |a, b| a.min(b)),
        Combine::Max => by_type!(ty, to, from, |a, b| a.max(b), |a, b| a | b, |a, b| a.max(b)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_changes_nothing() {
        let ops = [
            Combine::Add,
            Combine::Or,
            Combine::And,
            Combine::Xor,
            Combine::Min,
            Combine::Max,
        ];
        for ty in Scalar::ALL {
            for op in ops {
                if matches!(ty, Scalar::Ptr)
                    || (ty.is_float() && !matches!(op, Combine::Add | Combine::Min | Combine::Max))
                {
                    continue;
                }
                let samples: &[u64] = match ty {
                    Scalar::Bool => &[0, 1],
                    Scalar::F32 => &[0, 0x3f80_0000, 0xbf80_0000, 0x7f80_0000],
                    _ => &[0, 1, 0x7f, 0x80, 0xff, 0x4000_0000_0000_0000],
                };
                for &sample in samples {
                    let mask = u64::MAX >> (64 - ty.size() * 8);
                    let (mut to, from) = (sample & mask, identity(op, ty));
                    // SAFETY: both are eight bytes, aligned.
                    unsafe { combine(op, ty, (&raw mut to).cast(), (&raw const from).cast()) };
                    assert_eq!(to, sample & mask, "{op:?} of {ty}");
                }
            }
        }
    }
}
