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
    capacity: Vec<u64>,
}

// SAFETY: the pointers point into `map`, which moves with them and keeps its address.
unsafe impl Send for StackMemory {}

/// Where a stack's capacity ends in its last step: a skew, so that the arrays do not start at the same cache set.
const SKEW: u64 = 200;
const STEP: u64 = 1024;
/// A worker reserves no more address space than this times its budget, or [`LEAST_SPACE`].
const SPACE_FACTOR: u64 = 4;
const LEAST_SPACE: u64 = 1 << 32;

impl StackMemory {
    /// Reserves room for stacks that hold `budget` bytes in all, each of them alone if address space allows.
    pub(crate) fn reserve(layouts: &Layouts, budget: u64) -> io::Result<Self> {
        let count = layouts.stacks.len().max(1) as u64;
        let space = budget.saturating_mul(SPACE_FACTOR).max(LEAST_SPACE);
        let mut each = budget.min((space / count).max(1 << 20));
        loop {
            match Self::map(layouts, each) {
                Ok(memory) => return Ok(memory),
                Err(error) if each < 1 << 20 => return Err(error),
                Err(_) => each /= 2,
            }
        }
    }

    fn map(layouts: &Layouts, bytes_each: u64) -> io::Result<Self> {
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
        Ok(Self {
            map,
            fields,
            capacity,
        })
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

    /// Takes the first `count` of `all` elements of a stack away: the others move to its beginning.
    pub(crate) fn drop_first(&mut self, layout: &StackLayout, stack: usize, count: u64, all: u64) {
        assert!(
            count <= all && all <= self.capacity[stack],
            "elements lie within their stack"
        );
        for (field, i) in layout.fields.iter().zip(layout.first_field as usize..) {
            let stride = stride(field) as usize;
            let (first, bytes) = (count as usize * stride, (all - count) as usize * stride);
            // SAFETY: both lie in the field's array (asserted), which nobody else touches.
            unsafe { std::ptr::copy(self.fields[i].add(first), self.fields[i], bytes) };
        }
    }

    /// How many elements a stack can hold at most.
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
