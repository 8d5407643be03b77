//! The host's memory that a run reaches, and its copy on the device.
//!
//! Slices of a run may overlap, as shared or atomic ones do, and rows of matrices may lie between others' rows. What overlaps or touches is
//! one span of the copy, laid out as on the host, so that all arguments see one memory. Only what tasks may reach is read, and only what
//! they may write is written back: what lies between the rows of a matrix is left alone.
//!
//! Large ones go by way of pinned memory ([`staging`](super::staging)).

use super::launcher::{Machine, Rows};
use crate::{
    args::{self, ErasedCall, Region},
    error::RunError,
};
use millstream_channels_kernel::cuda::plan::Plan;
use millstream_graph::ir::TaskId;

/// Alignment that a copy keeps of its original's address.
const ALIGN: usize = 256;

/// Memory that is copied as one: from `start` to `end` on the host, at `offset` of the copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Span {
    start: usize,
    end: usize,
    offset: u64,
}

/// One copy: rows of the host's memory, and where in the device's copy they lie.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    host: *mut u8,
    offset: u64,
    rows: Rows,
}

/// What is to be copied for a run.
#[derive(Debug, Default)]
pub(super) struct Copies {
    spans: Vec<Span>,
    regions: Vec<Region>,
    /// Of each region: which call lends it.
    owners: Vec<usize>,
    bytes: u64,
}

fn end(region: &Region) -> usize {
    let last = region.rows.saturating_sub(1) * region.distance + region.bytes;
    region.address as usize + if region.rows == 0 { 0 } else { last }
}

impl Copies {
    /// A place for each region. `owners` are the numbers of the calls that lend them.
    pub(super) fn new(regions: Vec<Region>, owners: Vec<usize>) -> Self {
        let mut ranges: Vec<(usize, usize)> = regions
            .iter()
            .map(|r| (r.address as usize, end(r)))
            .collect();
        let (mut spans, mut bytes) = (Vec::new(), 0);
        for (start, end) in merged(&mut ranges) {
            // The same place in a line as on the host, so that every type is aligned as it was.
            let offset = bytes + start % ALIGN;
            spans.push(Span {
                start,
                end,
                offset: offset as u64,
            });
            bytes = (offset + (end - start)).next_multiple_of(ALIGN);
        }
        Self {
            spans,
            regions,
            owners,
            bytes: bytes as u64,
        }
    }

    /// Bytes of device memory that it takes.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Puts the addresses of the copy, which begins at `base`, into the pieces of each call.
    pub(super) fn place(&self, base: u64, calls: &mut [Vec<Vec<u8>>]) {
        for (region, owner) in self.regions.iter().zip(&self.owners) {
            let address = base + self.offset(region.address);
            calls[*owner][region.piece] = address.to_le_bytes().to_vec();
        }
    }

    /// Where the copy of an address of the host lies; any place, if nothing is copied of it.
    pub(super) fn offset(&self, address: *mut u8) -> u64 {
        let at = self.spans.partition_point(|s| s.start <= address as usize);
        at.checked_sub(1).map_or(0, |i| {
            self.spans[i].offset + (address as usize - self.spans[i].start) as u64
        })
    }

    /// The copies to make before the run, or after it.
    fn transfers(&self, after: bool) -> Vec<Transfer> {
        let wanted = || {
            self.regions
                .iter()
                .filter(|r| (r.written || !after) && r.rows > 0 && r.bytes > 0)
        };
        let mut flat: Vec<(usize, usize)> = wanted()
            .filter(|r| r.rows == 1)
            .map(|r| (r.address as usize, end(r)))
            .collect();
        let flat = merged(&mut flat).into_iter().map(|(start, end)| {
            let rows = Rows {
                count: 1,
                bytes: end - start,
                distance: end - start,
            };
            Transfer {
                host: start as *mut u8,
                offset: self.offset(start as *mut u8),
                rows,
            }
        });
        let mut out: Vec<Transfer> = flat.collect();
        out.extend(wanted().filter(|r| r.rows > 1).map(|r| {
            let rows = Rows {
                count: r.rows,
                bytes: r.bytes,
                distance: r.distance,
            };
            Transfer {
                host: r.address,
                offset: self.offset(r.address),
                rows,
            }
        }));
        out
    }

    /// Copies to device memory at `base`, or back.
    ///
    /// # Safety
    /// The regions are lent for the run, those that are written exclusively; there are [`bytes`](Self::bytes) at `base`.
    pub(super) unsafe fn copy(
        &self,
        launcher: &impl Machine,
        base: u64,
        after: bool,
    ) -> Result<(), RunError> {
        for Transfer { host, offset, rows } in self.transfers(after) {
            // SAFETY: the caller's promise; a region's rows lie in its span.
            unsafe {
                match (rows.count, after) {
                    (1, false) => launcher.copy_in(base + offset, host, rows.bytes),
                    (1, true) => launcher.copy_out(host, base + offset, rows.bytes),
                    _ => launcher.copy_rows(host, base + offset, rows, after),
                }
            }?;
        }
        Ok(())
    }
}

/// The ranges in order, those that overlap or touch as one.
fn merged(ranges: &mut [(usize, usize)]) -> Vec<(usize, usize)> {
    ranges.sort_unstable();
    let mut out: Vec<(usize, usize)> = Vec::new();
    for (start, end) in ranges.iter().copied() {
        match out.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => out.push((start, end)),
        }
    }
    out
}

/// The bytes of each call's pieces.
pub(super) type Pieces = Vec<Vec<Vec<u8>>>;

/// The pieces of each call, and the memory of the host that they lend.
pub(super) fn arguments(
    plan: &Plan,
    home: u64,
    task: TaskId,
    calls: &[ErasedCall<'_>],
) -> Result<(Pieces, Copies), RunError> {
    if plan.program.get(task).is_none() {
        return Err(RunError::BadArguments(format!(
            "the program has no task {task}"
        )));
    }
    let program = &plan.program.program;
    let (mut pieces, mut regions, mut owners) = (Vec::new(), Vec::new(), Vec::new());
    for (number, call) in calls.iter().enumerate() {
        let mut fields = vec![Vec::new(); plan.program.element(task).len()];
        args::push(
            &program[plan.program.func(task)],
            &program.structs,
            &call.args,
            home,
            &mut fields,
            Some(&mut regions),
        )?;
        owners.resize(regions.len(), number);
        pieces.push(fields);
    }
    Ok((pieces, Copies::new(regions, owners)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The device is a vector here.
    fn copy(copies: &Copies, device: &mut [u8], after: bool) {
        for Transfer { host, offset, rows } in copies.transfers(after) {
            for row in 0..rows.count {
                let at = row * rows.distance;
                // SAFETY: the regions of these tests are memory of theirs.
                let host = unsafe { std::slice::from_raw_parts_mut(host.add(at), rows.bytes) };
                let device = &mut device[offset as usize + at..][..rows.bytes];
                if after {
                    host.copy_from_slice(device)
                } else {
                    device.copy_from_slice(host)
                }
            }
        }
    }

    fn region(
        memory: &mut [u8],
        from: usize,
        rows: usize,
        bytes: usize,
        distance: usize,
        written: bool,
    ) -> Region {
        Region {
            piece: 0,
            address: memory[from..].as_mut_ptr(),
            rows,
            bytes,
            distance,
            written,
        }
    }

    #[test]
    fn what_overlaps_is_one_memory() {
        let mut memory: Vec<u8> = (0..100).collect();
        let regions = vec![
            region(&mut memory, 10, 1, 20, 20, true),
            region(&mut memory, 20, 1, 30, 30, false),
        ];
        let far = region(&mut memory, 80, 1, 5, 5, true);
        let copies = Copies::new(vec![regions[0], regions[1], far], vec![0; 3]);
        let mut device = vec![0; copies.bytes() as usize];
        copy(&copies, &mut device, false);
        let at = |r: &Region| copies.offset(r.address) as usize;
        assert_eq!(at(&regions[1]) - at(&regions[0]), 10);
        assert_eq!(device[at(&regions[1])..][..30], memory[20..50]);
        assert_eq!(device[at(&far)..][..5], memory[80..85]);
        for r in &regions {
            assert_eq!(
                at(r) % ALIGN,
                r.address as usize % ALIGN,
                "alignment is kept"
            );
        }
        device.fill(0xff);
        copy(&copies, &mut device, true);
        let written = memory
            .iter()
            .enumerate()
            .filter(|(_, b)| **b == 0xff)
            .map(|(i, _)| i);
        assert_eq!(
            written.collect::<Vec<_>>(),
            (10..30).chain(80..85).collect::<Vec<_>>(),
            "only what tasks may write comes back"
        );
    }

    #[test]
    fn between_the_rows_of_a_matrix_nothing_is_touched() {
        let mut memory: Vec<u8> = (0..64).collect();
        // Two quadrants of 8 x 8.
        let (left, right) = (
            region(&mut memory, 0, 4, 4, 8, true),
            region(&mut memory, 36, 4, 4, 8, true),
        );
        let copies = Copies::new(vec![left, right], vec![0; 2]);
        let mut device = vec![0; copies.bytes() as usize];
        copy(&copies, &mut device, false);
        let at = copies.offset(left.address) as usize;
        assert_eq!(device[at + 8..][..4], [8, 9, 10, 11]);
        assert_eq!(device[at + 12..][..4], [0; 4], "not read");
        device.fill(0xff);
        copy(&copies, &mut device, true);
        for (i, byte) in memory.iter().enumerate() {
            let inside = (i / 8 < 4) == (i % 8 < 4);
            assert_eq!(*byte == 0xff, inside, "{i}");
        }
    }

    #[test]
    fn empty_slices_need_nothing() {
        let mut memory = [1u8; 4];
        let copies = Copies::new(
            vec![
                region(&mut memory, 0, 1, 0, 0, true),
                region(&mut memory, 2, 0, 4, 4, true),
            ],
            vec![0; 2],
        );
        assert!(copies.transfers(false).is_empty() && copies.transfers(true).is_empty());
        let none = Copies::new(Vec::new(), Vec::new());
        assert_eq!((none.bytes(), none.offset(memory.as_mut_ptr())), (0, 0));
    }
}
