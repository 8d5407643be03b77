//! What lies in a block's shared memory, and how much: what who decides has to know, levels that are kept near, and a stage for children, or for slices that
//! elements walk through, which is what the rest leaves. The text asserts the sums.

use super::{
    abi::{self, MOST_BLOCKS, kernel},
    plan::{Mode, Plan},
};

/// Bytes of shared memory in which a block stages children, or slices that elements walk through, at most.
const STAGE_BYTES: u64 = 40 << 10;

/// Shared memory that a block has without asking for more.
pub(super) const SHARED_BYTES: u64 = 48 << 10;

/// And at least.
const LEAST_STAGE: u64 = 2 << 10;

/// For what a worker with levels has beside all that, and for what the linker adds.
const FRAMED_BYTES: u64 = 256;

/// For the levels that a persistent kernel keeps near, and what the compiler adds.
const LEVEL_BYTES: u64 = 8 << 10;

/// So many of them are kept near, whatever they take.
const LEAST_NEAR: u64 = 4;

/// And so many at most: what is not shared memory is cache, or holds children until they are written.
const MOST_NEAR: u64 = 64;
const STAGED_NEAR: u64 = 16;

impl Plan {
    /// The most groups of pushes, and elements a thread, of segments that are scanned.
    pub(super) fn scanned(&self) -> (u64, u64) {
        let scanned = self.sources.iter().filter_map(|s| match s.mode {
            Mode::Scanned { items, .. } => Some((s, items)),
            Mode::Team { .. } => Some((s, 1)),
            Mode::Tried { .. } | Mode::Direct { .. } | Mode::Master => None,
        });
        scanned.fold((1, 1), |(g, i), (s, items)| {
            (g.max(s.groups.len() as u64), i.max(u64::from(items)))
        })
    }

    /// Bytes of a block's shared memory: `Shared` in `channel.cu`; `Policy` in `policy.cu`; and of workers `Own` in `own.cu`, and what is found for them.
    fn shared_parts(&self) -> (u64, u64, u64) {
        let warps = u64::from(kernel::BLOCK / kernel::WARP);
        let (groups, items) = self.scanned();
        let sums = groups * (4 * warps * items + 8) + 8 * self.groups() as u64;
        let leaves = 4 * self.pushes() as u64;
        let shared = abi::Dispatch::new(self).bytes()
            + sums
            + u64::from(MOST_BLOCKS) / 4
            + (16 + leaves) * warps
            + 100;
        let policy = abi::Standing::new(self).bytes()
            + 4 * self.stacks.len() as u64
            + self.near(true) * self.place_bytes()
            + 96;
        // The control record begins and ends with a line of its own.
        let own = abi::Channels::new(self).bytes().next_multiple_of(128)
            + size_of::<abi::Control>() as u64
            + 16 * self.stacks.len() as u64
            + 12 * self.sources.len() as u64
            + 272;
        let own = own.next_multiple_of(128);
        (shared, policy, own)
    }

    /// Bytes of a block's stage: what the rest of its shared memory leaves.
    #[must_use]
    pub fn stage_bytes(&self) -> u64 {
        let (shared, policy, own) = self.shared_parts();
        let decides = match self.has_framed() {
            true => policy + own + FRAMED_BYTES,
            false => policy.max(own),
        };
        SHARED_BYTES
            .saturating_sub(shared + decides)
            .clamp(LEAST_STAGE, STAGE_BYTES)
            & !63
    }

    /// Of a program whose channels take much of a block's shared memory no worker has levels.
    pub(super) fn limit_framed(&mut self) {
        let (shared, policy, own) = self.shared_parts();
        if shared + policy + own + FRAMED_BYTES + LEAST_STAGE > SHARED_BYTES {
            self.framed.fill(false);
        }
    }

    /// Levels that lie in shared memory; where that is a stage too, fewer.
    pub(super) fn near(&self, staged: bool) -> u64 {
        let most = if staged { STAGED_NEAR } else { MOST_NEAR };
        let levels = (LEVEL_BYTES / self.place_bytes()).clamp(LEAST_NEAR, most);
        1 << levels.ilog2()
    }

    /// Bytes of a level that lies in shared memory: `Place` in `policy.cu`.
    fn place_bytes(&self) -> u64 {
        (abi::Level::new(self).bytes() + 12 * self.stacks.len() as u64).next_multiple_of(8)
    }
}
