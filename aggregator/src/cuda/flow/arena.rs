//! The memory of a graph's run: one block of bytes on the device, and where everything lies in it.

use super::run::RingSize;
use millstream_channels_kernel::{
    cuda::{
        abi::{
            Control,
            flow::{FlowState, Marks, RingWords, STRETCH, Wave},
        },
        flow::FlowPlan,
    },
    layout::{FIELD_ALIGN, stride},
};

/// Where a channel lies, as offsets from the block's beginning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub(super) size: RingSize,
    /// See [`Ring`](millstream_channels_kernel::cuda::abi::flow::Ring).
    pub(super) words: u64,
    pub(super) control: u64,
    pub(super) done: u64,
    /// The array of each field, and the bytes of one.
    pub(super) fields: Vec<(u64, u64)>,
    /// The same of what blocks keep.
    pub(super) held: Vec<u64>,
    /// Elements that each block can keep.
    pub(super) keeps: u64,
}

/// A block can keep so many elements of a channel at most, where it emits more than there is room for.
const MOST_KEPT: u64 = 1 << 20;
/// Channels that may grow have one part in so many of what a run's memory has left,
const GROWN_SHARE: u64 = 2;
/// for so many elements more at most. A slot takes so many bytes beside its element's.
const MOST_GROWN: u64 = 1 << 27;
const SLOT_BYTES: u64 = 9;
/// One part in so many of what a run's memory has left is for that.
const KEPT_SHARE: u64 = 4;

/// Where everything lies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Arena {
    pub(super) control: u64,
    pub(super) state: u64,
    /// For each node, elements that it has run.
    pub(super) ran: u64,
    /// For each channel, elements that made room for others.
    pub(super) dropped: u64,
    /// The element in whose body a check failed: its fields.
    pub(super) told: u64,
    /// For each block and channel, elements that it keeps.
    pub(super) held: u64,
    /// The words of all rings, one behind another.
    pub(super) words: u64,
    pub(super) places: Vec<Place>,
    /// What lies before this offset is to be zero when a run begins.
    pub(super) zeroed: u64,
    /// Bytes of the block.
    pub(super) size: u64,
    /// Where wavefronts are written down, behind the block; 0 bytes where they are not.
    pub(super) waves: u64,
    pub(super) waves_bytes: u64,
}

impl Arena {
    /// Lays out a run with so many blocks and with rings of these sizes. What is left of the budget is for channels that may grow, which are as wide
    /// as they may become from the start, and where bodies may emit more than is known beforehand, for what blocks keep of it.
    pub(super) fn new(plan: &FlowPlan, blocks: u32, sizes: &[RingSize], budget: u64) -> Self {
        let least = Self::with(plan, blocks, sizes, 0);
        let left = budget.saturating_sub(least.size);
        let mut sizes = sizes.to_vec();
        let growing = sizes.iter().filter(|s| s.grows).count() as u64;
        for (size, channel) in sizes.iter_mut().zip(&plan.channels).filter(|s| s.0.grows) {
            let more = left / GROWN_SHARE / growing / (channel.bytes() + SLOT_BYTES);
            size.width = size.width.saturating_add(more.min(MOST_GROWN) as u32);
        }
        let loose = (0..sizes.len()).filter(|c| plan.is_loose(*c));
        let bytes: u64 = loose.map(|c| plan.channels[c].bytes()).sum();
        let more = (left / KEPT_SHARE).checked_div(bytes * u64::from(blocks));
        Self::with(plan, blocks, &sizes, more.unwrap_or(0).min(MOST_KEPT))
    }

    fn with(plan: &FlowPlan, blocks: u32, sizes: &[RingSize], more: u64) -> Self {
        let mut at = 0u64;
        let mut take = |bytes: u64| {
            let here = at;
            at = at.saturating_add(bytes).next_multiple_of(FIELD_ALIGN);
            here
        };
        let (count, blocks) = (plan.channels.len() as u64, u64::from(blocks));
        let control = take(size_of::<Control>() as u64);
        let state = take(size_of::<FlowState>() as u64);
        let ran = take(8 * plan.nodes.len() as u64);
        let dropped = take(8 * count);
        let fields = plan.channels.iter().map(|c| c.fields.len() as u64);
        let told = take(8 * fields.max().unwrap_or(0));
        let held = take(4 * blocks * count);
        let words = take(size_of::<RingWords>() as u64 * count);
        let mut places = Vec::new();
        for (i, size) in sizes.iter().enumerate() {
            let width = u64::from(size.width);
            places.push(Place {
                size: *size,
                words: words + i as u64 * size_of::<RingWords>() as u64,
                control: take(8 * width),
                done: take(Marks::of(size.width, size.group, STRETCH).bytes()),
                fields: Vec::new(),
                held: Vec::new(),
                keeps: 0,
            });
        }
        let zeroed = take(0);
        for (c, (place, channel)) in places.iter_mut().zip(&plan.channels).enumerate() {
            let width = u64::from(place.size.width);
            let strides = channel.fields.iter().map(stride);
            place.fields = strides.clone().map(|s| (take(s * width), s)).collect();
            place.keeps = plan.least_kept(c) + if plan.is_loose(c) { more } else { 0 };
            place.held = strides.map(|s| take(s * place.keeps * blocks)).collect();
        }
        Self {
            control,
            state,
            ran,
            dropped,
            told,
            held,
            words,
            places,
            zeroed,
            size: at,
            waves: at.next_multiple_of(FIELD_ALIGN),
            waves_bytes: 0,
        }
    }

    /// The same with room for so many wavefronts that are written down, beside the budget.
    pub(super) const fn with_waves(mut self, waves: u32) -> Self {
        self.waves_bytes = waves as u64 * size_of::<Wave>() as u64;
        self
    }

    /// Bytes of all.
    pub(super) const fn bytes(&self) -> u64 {
        self.waves + self.waves_bytes
    }

    /// The module's global, for a block at that address.
    pub(super) fn global(&self, base: u64, uniforms: &[u64]) -> Vec<u8> {
        let mut words = vec![base + self.control, base + self.state];
        for place in &self.places {
            let RingSize { width, group, .. } = place.size;
            let freed = place.done + Marks::of(width, group, STRETCH).freed();
            let at = [place.words, place.control, place.done, freed];
            words.extend(at.map(|offset| base + offset));
            words.push(u64::from(width) | u64::from(group) << 32);
            words.extend([u64::from(STRETCH), place.keeps]);
        }
        let fields = self
            .places
            .iter()
            .flat_map(|p| p.fields.iter().map(|f| f.0));
        words.extend(fields.map(|offset| base + offset));
        let held = self.places.iter().flat_map(|p| &p.held);
        words.extend(held.map(|offset| base + offset));
        words.extend(uniforms);
        words.into_iter().flat_map(u64::to_le_bytes).collect()
    }
}
