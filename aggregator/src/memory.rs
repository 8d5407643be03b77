//! Memory that compiled code writes to: the arrays of a worker's stacks, and plain aligned regions.
//!
//! A worker's stacks lie in address space that is reserved once and never moves, since children hold addresses of frames. The
//! system gives a page when it is first touched, so what a program costs is what it uses.

use memmap2::{MmapMut, MmapOptions};
use millstream_channels_kernel::layout::{Layouts, StackLayout, stride};
use std::{
    alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error},
    io,
    ptr::NonNull,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

/// Bytes at a fixed address, aligned to 64, zero at first.
#[derive(Debug)]
pub(crate) struct Region {
    base: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the region owns its bytes; whoever holds the region decides who touches them.
unsafe impl Send for Region {}
// SAFETY: as above; a shared region hands out nothing but its address.
unsafe impl Sync for Region {}

impl Region {
    /// A region of so many bytes; none if there is no memory for it.
    pub(crate) fn try_new(bytes: usize) -> Option<Self> {
        let layout = Layout::from_size_align(bytes.max(1), 64).ok()?;
        // SAFETY: the layout's size is not 0.
        let base = unsafe { alloc_zeroed(layout) };
        Some(Self {
            base: NonNull::new(base)?,
            layout,
        })
    }

    pub(crate) fn new(bytes: usize) -> Self {
        Self::try_new(bytes).unwrap_or_else(|| handle_alloc_error(Layout::new::<u8>()))
    }

    pub(crate) const fn address(&self) -> *mut u8 {
        self.base.as_ptr()
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: allocated in `try_new` with this layout.
        unsafe { dealloc(self.base.as_ptr(), self.layout) };
    }
}

/// The arrays of one worker's stacks.
#[derive(Debug)]
pub(crate) struct StackMemory {
    /// Keeps the address space.
    map: MmapMut,
    fields: Vec<*mut u8>,
    /// How many elements each stack has room for from where its arrays begin now.
    capacity: Vec<u64>,
    /// How many elements were taken away in front of that: [`drop_first`](Self::drop_first).
    gone: Vec<u64>,
    /// What it takes of the process's [`SPACE`]; behind `map`, so that it is given back when the map is gone.
    _share: SpaceShare,
}

// SAFETY: the pointers point into `map`, which moves with them and keeps its address.
unsafe impl Send for StackMemory {}

/// Where a stack's capacity ends in its last step: a skew, so that the arrays do not start at the same cache set.
const SKEW: u64 = 200;
const STEP: u64 = 1024;
/// A worker reserves no more address space than this times its budget, or [`LEAST_SPACE`].
const SPACE_FACTOR: u64 = 4;
const LEAST_SPACE: u64 = 1 << 32;

/// Address space that stacks may take in this process: half of what a program has on the machines with the least of it, as threads, other libraries and a
/// GPU's driver want some too. A machine of many cores with much memory would use all of it up by one program.
static SPACE: Space = Space::new(1 << 46);
/// A worker takes no more of what is left than one part in so many, or [`LEAST_SPACE`]: so there is always some for the next one.
const SPACE_PARTS: u64 = 64;

/// Address space, of which some is taken.
#[derive(Debug)]
struct Space {
    bytes: u64,
    taken: AtomicU64,
}

/// So much of a [`Space`], which has it back when this is dropped.
#[derive(Debug)]
struct SpaceShare {
    of: &'static Space,
    bytes: u64,
}

impl Space {
    const fn new(bytes: u64) -> Self {
        let taken = AtomicU64::new(0);
        Self { bytes, taken }
    }

    /// As much of `wanted` as a worker may have.
    fn take(&'static self, wanted: u64) -> SpaceShare {
        let part = |taken: u64| {
            let left = self.bytes.saturating_sub(taken);
            wanted.min((left / SPACE_PARTS).max(LEAST_SPACE))
        };
        // Relaxed, here and in `SpaceShare::drop`: a number that nothing else goes by.
        let take = |taken: u64| Some(taken + part(taken));
        let before = self.taken.fetch_update(Relaxed, Relaxed, take);
        let bytes = part(before.unwrap_or_else(|taken| taken));
        SpaceShare { of: self, bytes }
    }
}

impl Drop for SpaceShare {
    fn drop(&mut self) {
        self.of.taken.fetch_sub(self.bytes, Relaxed);
    }
}

impl StackMemory {
    /// Reserves room for stacks that hold `budget` bytes in all, each of them alone if address space allows.
    pub(crate) fn reserve(layouts: &Layouts, budget: u64) -> io::Result<Self> {
        let count = layouts.stacks.len().max(1) as u64;
        let most = budget.saturating_mul(SPACE_FACTOR).max(LEAST_SPACE);
        let share = SPACE.take(most.min(budget.saturating_mul(count)));
        let mut each = budget.min((share.bytes / count).max(1 << 20));
        let (map, fields, capacity) = loop {
            match Self::map(layouts, each) {
                Ok(mapped) => break mapped,
                Err(error) if each < 1 << 20 => return Err(error),
                Err(_) => each /= 2,
            }
        };
        Ok(Self {
            map,
            fields,
            gone: vec![0; capacity.len()],
            capacity,
            _share: share,
        })
    }

    /// Each stack's arrays, of so many bytes: the addresses of their fields, and how many elements each stack holds.
    fn map(layouts: &Layouts, bytes_each: u64) -> io::Result<(MmapMut, Vec<*mut u8>, Vec<u64>)> {
        let (mut at, mut fields, mut capacity) = (0u64, Vec::new(), Vec::new());
        for stack in &layouts.stacks {
            let most = (bytes_each / stack.element_bytes()).clamp(1, u64::from(u32::MAX));
            let room = (most.next_multiple_of(STEP) + SKEW).min(u64::from(u32::MAX));
            let (offsets, size) = stack.offsets(room);
            fields.extend(offsets.into_iter().map(|o| at + o));
            capacity.push(most);
            at += size;
        }
        debug_assert_eq!(fields.len(), layouts.fields as usize);
        let len = usize::try_from(at.max(1)).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let mut map = MmapOptions::new().len(len).no_reserve_swap().map_anon()?;
        let base = map.as_mut_ptr();
        let fields = fields
            .into_iter()
            .map(|o| base.wrapping_add(o as usize))
            .collect();
        Ok((map, fields, capacity))
    }

    /// Base address of each field's array, for compiled code.
    pub(crate) const fn fields(&self) -> *const *mut u8 {
        self.fields.as_ptr()
    }

    /// Lets a field's array be another's: that of a ring, whose elements run where they lie.
    pub(crate) fn point(&mut self, field: usize, array: *mut u8) {
        self.fields[field] = array;
    }

    /// The values of a field of the first `count` elements of a stack.
    pub(crate) fn values(
        &self,
        layout: &StackLayout,
        stack: usize,
        field: usize,
        count: u64,
    ) -> &[u8] {
        assert!(
            count <= self.capacity[stack],
            "elements lie within their stack"
        );
        let bytes = count as usize * stride(&layout.fields[field]) as usize;
        // SAFETY: as in `copy_out`.
        unsafe {
            std::slice::from_raw_parts(self.fields[layout.first_field as usize + field], bytes)
        }
    }

    /// Takes the first `count` of `all` elements of a stack away: its arrays begin with the others from now on. Those move to where the arrays were at first as
    /// soon as they are no more than what is gone, so that an element moves once at most for each that was taken.
    pub(crate) fn drop_first(&mut self, layout: &StackLayout, stack: usize, count: u64, all: u64) {
        assert!(
            count <= all && all <= self.capacity[stack],
            "elements lie within their stack"
        );
        for (field, i) in layout.fields.iter().zip(layout.first_field as usize..) {
            // SAFETY: the field's array goes on for `capacity` elements (asserted).
            self.fields[i] = unsafe { self.fields[i].add((count * stride(field)) as usize) };
        }
        self.gone[stack] += count;
        self.capacity[stack] -= count;
        if all - count <= self.gone[stack] {
            self.move_back(layout, stack, all - count);
        }
    }

    /// Lets the arrays of a stack of so many elements begin where they did at first, so that it has all its room.
    pub(crate) fn move_back(&mut self, layout: &StackLayout, stack: usize, count: u64) {
        let gone = std::mem::take(&mut self.gone[stack]);
        if gone == 0 {
            return;
        }
        assert!(
            count <= self.capacity[stack],
            "elements lie within their stack"
        );
        self.capacity[stack] += gone;
        for (field, i) in layout.fields.iter().zip(layout.first_field as usize..) {
            let stride = stride(field) as usize;
            // SAFETY: the array began so many elements before, and both places lie in it (asserted); nobody else touches it.
            unsafe {
                let first = self.fields[i].sub(gone as usize * stride);
                std::ptr::copy(self.fields[i], first, count as usize * stride);
                self.fields[i] = first;
            }
        }
    }

    /// How many elements a stack can hold at most, as it lies now.
    pub(crate) fn capacity(&self, stack: usize) -> u64 {
        self.capacity[stack]
    }

    /// Gives touched pages back to the system, where that is known how. What the stacks hold is lost.
    pub(crate) fn release(&mut self) {
        #[cfg(target_os = "linux")]
        {
            // SAFETY: the map is private and anonymous and no element is live: its owner holds it mutably between two runs, so that bytes
            // which turn to zero are nobody's.
            let released = unsafe {
                self.map
                    .unchecked_advise(memmap2::UncheckedAdvice::DontNeed)
            };
            if let Err(error) = released {
                tracing::debug!(%error, "stack memory is kept");
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = &self.map;
    }

    /// Copies elements out of a stack, each field behind one another; see [`Self::copy_in`].
    pub(crate) fn copy_out(
        &self,
        layouts: &Layouts,
        stack: usize,
        first: u64,
        count: u64,
        to: &mut [Vec<u8>],
    ) {
        let layout = &layouts.stacks[stack];
        assert!(
            first + count <= self.capacity[stack],
            "elements lie within their stack"
        );
        for ((field, bytes), i) in layout
            .fields
            .iter()
            .zip(to)
            .zip(layout.first_field as usize..)
        {
            let stride = stride(field) as usize;
            // SAFETY: the field's array has `capacity` strides at this address, and `first + count` is at most that. The elements are
            // on the stack, so compiled code wrote them; bytes of padding were zero when mapped or written before.
            let from = unsafe {
                std::slice::from_raw_parts(
                    self.fields[i].add(first as usize * stride),
                    count as usize * stride,
                )
            };
            bytes.clear();
            bytes.extend_from_slice(from);
        }
    }

    /// Writes elements to a stack: `count` of them from number `skip` of what [`Self::copy_out`] gave.
    pub(crate) fn copy_in(
        &mut self,
        layouts: &Layouts,
        stack: usize,
        first: u64,
        from: &[Vec<u8>],
        skip: u64,
        count: u64,
    ) {
        let layout = &layouts.stacks[stack];
        assert!(
            first + count <= self.capacity[stack],
            "elements lie within their stack"
        );
        for ((field, bytes), i) in layout
            .fields
            .iter()
            .zip(from)
            .zip(layout.first_field as usize..)
        {
            let stride = stride(field) as usize;
            let bytes = &bytes[skip as usize * stride..(skip + count) as usize * stride];
            // SAFETY: the destination lies in the field's array (asserted above) and is as long as `bytes`, which is other memory.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    bytes.as_ptr(),
                    self.fields[i].add(first as usize * stride),
                    bytes.len(),
                )
            };
        }
    }

    /// Copies the frame references `first..first + to.len()` of a continuation stack.
    pub(crate) fn read_frames(&self, layouts: &Layouts, stack: usize, first: u64, to: &mut [u32]) {
        let field = layouts.stacks[stack].first_field as usize;
        assert!(
            first + to.len() as u64 <= self.capacity[stack],
            "elements lie within their stack"
        );
        // SAFETY: a continuation stack has one field, of `u32`; the elements lie in its array (asserted) and were pushed by compiled code.
        unsafe {
            std::ptr::copy_nonoverlapping(
                self.fields[field].cast::<u32>().add(first as usize),
                to.as_mut_ptr(),
                to.len(),
            )
        };
    }

    /// Puts frame references on a continuation stack.
    pub(crate) fn write_frames(
        &mut self,
        layouts: &Layouts,
        stack: usize,
        first: u64,
        from: &[u32],
    ) {
        let field = layouts.stacks[stack].first_field as usize;
        assert!(
            first + from.len() as u64 <= self.capacity[stack],
            "elements lie within their stack"
        );
        // SAFETY: as in `read_frames`.
        unsafe {
            std::ptr::copy_nonoverlapping(
                from.as_ptr(),
                self.fields[field].cast::<u32>().add(first as usize),
                from.len(),
            )
        };
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends there")]
mod tests {
    use super::*;
    use std::thread;

    /// Of a machine with terabytes of memory and 256 cores.
    const BUDGET: u64 = 1 << 40;
    const WORKERS: usize = 256;

    #[test]
    fn workers_leave_space_for_the_next() {
        static SPACE: Space = Space::new(1 << 46);
        let first: Vec<SpaceShare> = (0..WORKERS).map(|_| SPACE.take(4 * BUDGET)).collect();
        assert_eq!(first[0].bytes, 1 << 40);
        assert!(first.is_sorted_by(|a, b| a.bytes >= b.bytes && b.bytes >= LEAST_SPACE));
        assert!(first.iter().map(|share| share.bytes).sum::<u64>() < SPACE.bytes);
        // Who wants little has it however many there are.
        assert_eq!(SPACE.take(1 << 20).bytes, 1 << 20);
        drop(first);
        assert_eq!(SPACE.taken.load(Relaxed), 0);
        assert_eq!(SPACE.take(1 << 36).bytes, 1 << 36);
    }

    /// Whatever is taken of a stack at a time, and put on it between, its elements stay what they are, in order, and it never writes to its neighbour.
    #[test]
    fn what_is_taken_from_the_front_leaves_the_rest_and_the_room() {
        const MARK: u64 = 0x5a69_7b8c_9dae_bf31;
        let layouts = Layouts::new(&crate::testing::program());
        let mut memory = StackMemory::reserve(&layouts, 1 << 12).unwrap();
        let stack = (0..layouts.stacks.len())
            .max_by_key(|s| layouts.stacks[*s].fields.len())
            .unwrap();
        let layout = layouts.stacks[stack].clone();
        let whole = memory.capacity(stack);
        assert!(layout.fields.len() > 1 && whole > 64, "{whole}");
        let values_of = |layout: &StackLayout, number: u64| {
            let bytes = |f: &_| number.to_le_bytes()[..stride(f) as usize].to_vec();
            layout.fields.iter().map(bytes).collect::<Vec<_>>()
        };
        let values = |number| values_of(&layout, number);
        let others = || (0..layouts.stacks.len()).filter(|other| *other != stack);
        // The first and the last element of each other stack.
        let ends = |memory: &StackMemory, other| [0, memory.capacity(other) - 1];
        for other in others() {
            let values = values_of(&layouts.stacks[other], MARK);
            for at in ends(&memory, other) {
                memory.copy_in(&layouts, other, at, &values, 0, 1);
            }
        }
        let (mut next, mut held, mut moves) = (0, std::collections::VecDeque::new(), 0);
        for round in 0..500u64 {
            let room = memory.capacity(stack) - held.len() as u64;
            for _ in 0..room.min(round * 7 % 31) {
                let at = held.len() as u64;
                memory.copy_in(&layouts, stack, at, &values(next), 0, 1);
                held.push_back(next);
                next += 1;
            }
            let all = held.len() as u64;
            let taken = all.min(round * 5 % 23);
            memory.drop_first(&layout, stack, taken, all);
            held.drain(..taken as usize);
            moves += u64::from(memory.gone[stack] == 0);
            if round % 50 == 49 {
                memory.move_back(&layout, stack, held.len() as u64);
                assert_eq!(memory.capacity(stack), whole);
            }
            assert_eq!(memory.capacity(stack) + memory.gone[stack], whole);
            for f in 0..layout.fields.len() {
                let expected = held.iter().flat_map(|n| values(*n).swap_remove(f));
                let found = memory.values(&layout, stack, f, held.len() as u64);
                assert!(
                    found.iter().copied().eq(expected),
                    "round {round}, field {f}"
                );
            }
        }
        for other in others() {
            let layout = &layouts.stacks[other];
            for (f, mark) in values_of(layout, MARK).iter().enumerate() {
                let all = memory.values(layout, other, f, memory.capacity(other));
                assert!(all.starts_with(mark) && all.ends_with(mark), "{other} {f}");
            }
        }
        // Both ways were gone.
        assert!(next > 1000 && (10..490).contains(&moves), "{next} {moves}");
    }

    /// Without a share of its own each worker took four times the budget, and the process had no address space left.
    #[test]
    #[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
    fn a_large_machine_has_address_space_for_a_thread() {
        let layouts = Layouts::new(&crate::testing::program());
        let reserve = |_| StackMemory::reserve(&layouts, BUDGET).unwrap();
        let all: Vec<StackMemory> = (0..WORKERS).map(reserve).collect();
        let stack = thread::Builder::new().stack_size(1 << 30);
        stack.spawn(|| {}).unwrap().join().unwrap();
        drop(all);
    }
}
