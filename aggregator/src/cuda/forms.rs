//! How the kernels of dispatches are launched: with how many blocks at most, and with how much shared memory beside what they declare.
//!
//! Slices that elements walk through are brought into shared memory (`device/direct.cu`), a slice of each lane, and the lanes whose slices find no room
//! wait for the others. As many lanes of a multiprocessor are at work either way, but where they are those of few warps each instruction does more. So such
//! a kernel has a second form, with as much memory as lets two blocks fit. It is slower where the slices of all lanes find room without: half as many warps
//! wait for memory side by side. What a dispatch says of that is what the next one of its kernel goes by.

use super::driver::Kernel;
use crate::error::RunError;
use millstream_channels_kernel::cuda::abi::{MOST_BLOCKS, kernel};
use std::sync::atomic::{AtomicBool, Ordering};

/// Blocks of a multiprocessor that have more memory: with one alone a multiprocessor's units idle half of the time.
const FAR_BLOCKS: u32 = 2;

/// Bytes for a warp's slices that are worth a try, at most, and in which steps: more than its share of the stage in any case.
const MOST_ROOM: u32 = 16 << 10;
const STEP: u32 = 512;

/// How a kernel is launched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Form {
    /// Blocks.
    pub blocks: u32,
    /// Bytes of shared memory of each beside what the kernel declares.
    pub shared: u32,
}

impl Form {
    /// With no more memory than the kernel declares.
    #[must_use]
    pub const fn near(blocks: u32) -> Self {
        Self { blocks, shared: 0 }
    }
}

/// How a kernel may be launched.
#[derive(Debug)]
pub struct Forms {
    near: Form,
    far: Option<Form>,
    /// Whether the last dispatch found room without more memory.
    is_near: AtomicBool,
}

impl Forms {
    /// With so many blocks at most, and maybe another way for slices that are longer.
    #[must_use]
    pub fn new(blocks: u32, far: Option<Form>) -> Self {
        Self {
            near: Form::near(blocks.min(MOST_BLOCKS)),
            far: far.map(|far| Form {
                blocks: far.blocks.min(MOST_BLOCKS),
                ..far
            }),
            is_near: AtomicBool::new(false),
        }
    }

    /// Has no more blocks than these from now on.
    pub fn limit(&mut self, blocks: u32) {
        self.near.blocks = blocks;
        if let Some(far) = &mut self.far {
            far.blocks = blocks;
        }
    }

    /// For a dispatch that could use so many blocks.
    pub(super) fn of(&self, blocks: u32) -> Form {
        // Relaxed: a guess. Pairs with the store in `saw`.
        let near = self.is_near.load(Ordering::Relaxed);
        let form = self.far.filter(|_| !near).unwrap_or(self.near);
        Form {
            blocks: blocks.clamp(1, form.blocks.max(1)),
            ..form
        }
    }

    /// Takes in what a dispatch said: whether the stage alone had no room for all lanes' slices.
    pub(super) fn saw(&self, walks_far: bool) {
        if self.far.is_some() {
            // Relaxed: pairs with the load in `of`.
            self.is_near.store(!walks_far, Ordering::Relaxed);
        }
    }

    /// Forgets what dispatches said.
    pub(super) fn forget(&self) {
        // Relaxed: as in `saw`.
        self.is_near.store(false, Ordering::Relaxed);
    }
}

/// Of a kernel whose blocks have such a stage: how much memory more a block may have so that [`FAR_BLOCKS`] fit, if that is worth it.
pub(super) fn far_bytes(kernel: &Kernel, stage: u32) -> Result<Option<u32>, RunError> {
    let warps = kernel::BLOCK / kernel::WARP;
    let least = stage / warps + stage / warps / 4;
    for room in (least..=MOST_ROOM).rev().step_by(STEP as usize) {
        // Some warps' slices are in the stage.
        let shared = (warps - stage / room) * room;
        if kernel.allow(shared)? && kernel.occupancy(kernel::BLOCK, shared)? >= FAR_BLOCKS {
            return Ok(Some(shared));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dispatch_goes_by_what_the_last_one_said() {
        let far = Form {
            blocks: 20,
            shared: 64,
        };
        let forms = Forms::new(40, Some(far));
        assert_eq!(forms.of(100), far, "nothing is known");
        forms.saw(false);
        assert_eq!(forms.of(100), Form::near(40));
        assert_eq!(forms.of(0), Form::near(1));
        forms.saw(true);
        assert_eq!(forms.of(7).shared, far.shared);
        assert_eq!(forms.of(7).blocks, 7);
    }

    #[test]
    fn what_walks_through_nothing_has_one_form() {
        let forms = Forms::new(MOST_BLOCKS + 1, None);
        for said in [true, false] {
            forms.saw(said);
            assert_eq!(forms.of(u32::MAX), Form::near(MOST_BLOCKS));
        }
    }
}
