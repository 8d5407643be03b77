//! The interpreter's memory: a table of allocations, and pointers into it that are checked at each access.

use super::machine::Trap;
use crate::ty::Scalar;
use std::{collections::VecDeque, fmt};

const OFFSET_BITS: u32 = 40;
const MAX_IDS: usize = 1 << (64 - OFFSET_BITS);
/// Numbers of freed allocations are used again only beyond this many, so that a stale pointer is found.
const FRESH_IDS: usize = 1 << 20;

/// What is wrong with an access to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Problem {
    /// No allocation has this number.
    NotAllocated,
    /// The memory is gone.
    Freed,
    /// Beyond the end of the allocation.
    OutOfBounds,
    /// The address is not a multiple of the scalar's size.
    Misaligned,
    /// A write to a constant.
    ReadOnly,
    /// Nobody wrote these bytes.
    Undefined,
    /// A `bool` that is neither 0 nor 1.
    NotABool,
    /// Source and destination of a copy overlap in part.
    Overlap,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAllocated => "there is no such memory",
            Self::Freed => "the memory is gone",
            Self::OutOfBounds => "out of bounds",
            Self::Misaligned => "misaligned",
            Self::ReadOnly => "constants cannot be written",
            Self::Undefined => "nothing was written there yet",
            Self::NotABool => "a bool that is neither 0 nor 1",
            Self::Overlap => "source and destination overlap",
        })
    }
}

#[derive(Debug, Default)]
struct Allocation {
    bytes: Vec<u8>,
    /// Whether each byte was written; empty if all were.
    written: Vec<bool>,
    align: u64,
    constant: bool,
    live: bool,
}

/// All allocations; the index is the number. Number 0 is never live, so that a null pointer is wild.
#[derive(Debug)]
pub(super) struct Memory {
    table: Vec<Allocation>,
    free: VecDeque<usize>,
    live_bytes: u64,
    limit: u64,
}

const fn split(address: u64) -> (usize, u64) {
    (
        (address >> OFFSET_BITS) as usize,
        address & ((1 << OFFSET_BITS) - 1),
    )
}

impl Memory {
    pub(super) fn new(limit: u64) -> Self {
        Self {
            table: vec![Allocation::default()],
            free: VecDeque::new(),
            live_bytes: 0,
            limit,
        }
    }

    pub(super) const fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
    }

    fn add(&mut self, allocation: Allocation) -> u64 {
        self.live_bytes += allocation.bytes.len() as u64;
        let reuse = if self.table.len() < FRESH_IDS {
            None
        } else {
            self.free.pop_front()
        };
        let id = reuse.unwrap_or_else(|| {
            self.table.push(Allocation::default());
            self.table.len() - 1
        });
        assert!(
            id < MAX_IDS,
            "more than {MAX_IDS} allocations live at one time"
        );
        self.table[id] = allocation;
        (id as u64) << OFFSET_BITS
    }

    /// Memory of the host's; it counts for the limit, but is never refused.
    pub(super) fn host(&mut self, bytes: Vec<u8>, align: u64) -> u64 {
        self.add(Allocation {
            bytes,
            written: Vec::new(),
            align,
            constant: false,
            live: true,
        })
    }

    pub(super) fn constant(&mut self, bytes: Vec<u8>, align: u64) -> u64 {
        self.add(Allocation {
            bytes,
            written: Vec::new(),
            align,
            constant: true,
            live: true,
        })
    }

    /// Memory of a slot: its bytes are undefined.
    pub(super) fn slot(&mut self, size: u64, align: u64) -> Result<u64, Trap> {
        let no_number = self.table.len() >= MAX_IDS && self.free.is_empty();
        if self.live_bytes.saturating_add(size) > self.limit || no_number {
            return Err(Trap::Memory);
        }
        let n = size as usize;
        Ok(self.add(Allocation {
            bytes: vec![0; n],
            written: vec![false; n],
            align,
            constant: false,
            live: true,
        }))
    }

    pub(super) fn free(&mut self, address: u64) {
        let id = split(address).0;
        let Some(allocation) = self.table.get_mut(id).filter(|a| a.live) else {
            return;
        };
        self.live_bytes -= allocation.bytes.len() as u64;
        *allocation = Allocation::default();
        self.free.push_back(id);
    }

    pub(super) fn rest(&self, address: u64) -> &[u8] {
        let (id, offset) = split(address);
        self.table
            .get(id)
            .and_then(|a| a.bytes.get(offset as usize..))
            .unwrap_or(&[])
    }

    /// The allocation and the place in it of an access to `size` bytes.
    fn check(&self, address: u64, size: u64, write: bool) -> Result<(usize, usize), Trap> {
        let (id, offset) = split(address);
        let wild = |problem| {
            Err(Trap::Wild {
                address,
                size,
                problem,
            })
        };
        match self.table.get(id) {
            None => wild(Problem::NotAllocated),
            Some(_) if id == 0 => wild(Problem::NotAllocated),
            Some(a) if !a.live => wild(Problem::Freed),
            Some(a) if offset + size > a.bytes.len() as u64 => wild(Problem::OutOfBounds),
            Some(a) if write && a.constant => wild(Problem::ReadOnly),
            Some(_) => Ok((id, offset as usize)),
        }
    }

    /// The same for a scalar, which has to be aligned.
    fn check_scalar(&self, ty: Scalar, address: u64, write: bool) -> Result<(usize, usize), Trap> {
        let size = ty.size();
        let (id, at) = self.check(address, size, write)?;
        if !(at as u64).is_multiple_of(size) || self.table[id].align < size {
            return Err(Trap::Wild {
                address,
                size,
                problem: Problem::Misaligned,
            });
        }
        Ok((id, at))
    }

    pub(super) fn load(&self, ty: Scalar, address: u64) -> Result<u64, Trap> {
        let (id, at) = self.check_scalar(ty, address, false)?;
        let (allocation, size) = (&self.table[id], ty.size() as usize);
        let wild = |problem| {
            Err(Trap::Wild {
                address,
                size: ty.size(),
                problem,
            })
        };
        if !allocation.written.is_empty() && !allocation.written[at..at + size].iter().all(|w| *w) {
            return wild(Problem::Undefined);
        }
        let mut bytes = [0; 8];
        bytes[..size].copy_from_slice(&allocation.bytes[at..at + size]);
        match u64::from_le_bytes(bytes) {
            bits if ty == Scalar::Bool && bits > 1 => wild(Problem::NotABool),
            bits => Ok(bits),
        }
    }

    pub(super) fn store(&mut self, ty: Scalar, address: u64, bits: u64) -> Result<(), Trap> {
        let (id, at) = self.check_scalar(ty, address, true)?;
        let (allocation, size) = (&mut self.table[id], ty.size() as usize);
        allocation.bytes[at..at + size].copy_from_slice(&bits.to_le_bytes()[..size]);
        allocation.wrote(at, size);
        Ok(())
    }

    pub(super) fn zero(&mut self, address: u64, size: u64) -> Result<(), Trap> {
        if size > 0 {
            let (id, at) = self.check(address, size, true)?;
            let (allocation, size) = (&mut self.table[id], size as usize);
            allocation.bytes[at..at + size].fill(0);
            allocation.wrote(at, size);
        }
        Ok(())
    }

    /// The bytes of an element's array; undefined ones (the padding of structs) are zero.
    pub(super) fn bytes(&self, address: u64, size: u64) -> Result<Vec<u8>, Trap> {
        let (id, at) = self.check(address, size, false)?;
        Ok(self.table[id].bytes[at..at + size as usize].to_vec())
    }

    /// Copies bytes, undefined ones (the padding of structs) too: they stay undefined.
    pub(super) fn copy(&mut self, dst: u64, src: u64, size: u64) -> Result<(), Trap> {
        if size == 0 || (dst == src && self.check(src, size, false).is_ok()) {
            return Ok(());
        }
        let (from, from_at) = self.check(src, size, false)?;
        let (to, to_at) = self.check(dst, size, true)?;
        let n = size as usize;
        if from == to && from_at.abs_diff(to_at) < n {
            return Err(Trap::Wild {
                address: dst,
                size,
                problem: Problem::Overlap,
            });
        }
        let source = &self.table[from];
        let bytes = source.bytes[from_at..from_at + n].to_vec();
        let written = source
            .written
            .get(from_at..from_at + n)
            .map(<[bool]>::to_vec);
        let target = &mut self.table[to];
        target.bytes[to_at..to_at + n].copy_from_slice(&bytes);
        match written {
            Some(written) if !target.written.is_empty() => {
                target.written[to_at..to_at + n].copy_from_slice(&written)
            }
            _ => target.wrote(to_at, n),
        }
        Ok(())
    }
}

impl Allocation {
    fn wrote(&mut self, at: usize, size: usize) {
        if !self.written.is_empty() {
            self.written[at..at + size].fill(true);
        }
    }
}
