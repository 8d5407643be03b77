//! What host and device share of a graph's run.

use super::{
    Line, codes, preamble,
    record::{Member, Shared, Structure, structs},
};
use crate::status;

/// As [`Line`], of twice the width.
#[repr(C, align(128))]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WideLine(pub u64);

impl Shared for WideLine {
    fn declared(name: &str) -> String {
        format!("alignas({}) u64 {name}", align_of::<Self>())
    }
}

structs! {
    /// The words of a ring, each in a line of the cache of its own. All positions are 0 at the start.
    RingWords {
        /// What may be allocated: `width` less `tail - head`, but for what was asked for and is being given back.
        room: Line,
        /// What may be taken: what is published less `control_head`, likewise.
        ready: Line,
        /// Data array: the first position that is not free again.
        head: WideLine,
        /// Data array: the first position that is not allocated.
        tail: WideLine,
        /// Control array: the first position that is not taken.
        control_head: WideLine,
        /// Control array: the first position that is not reserved.
        reserve_tail: WideLine,
    }

    /// A ring: where it lies, and how large it is.
    Ring {
        /// Its words.
        words: u64 = "RingWords*",
        /// The control array: slots, in the order in which they are published, each with a bit that turns over each time round. Twice the width.
        control: u64 = "u32*",
        /// A bit for each slot, `group` of them a word.
        done: u64 = "u64*",
        /// For each stretch, how often slots of it were done, in all rounds. Behind `done`.
        freed: u64 = "u32*",
        /// Slots.
        width: u32,
        /// Slots that share a word of `done`, at most 64.
        group: u32,
        /// Words of `done` that are a stretch: the slots of one are counted together.
        stretch: u32,
        /// Not used.
        spare: u32,
        /// Elements that each block can keep where there is no room.
        keeps: u64,
    }

    /// A wavefront of a block, for timelines.
    Wave {
        /// When it was taken, by the GPU's clock.
        begin: u64,
        /// When all that it emitted had been brought away, or kept.
        end: u64,
        /// The node.
        node: u32,
        /// How many elements.
        count: u32,
        /// The block's number.
        block: u32,
        /// Not used.
        spare: u32,
    }

    /// How far a graph's run is. Lies in device memory.
    FlowState {
        /// Groups of lanes that wait for room in the middle of a body.
        waiting: u32,
        /// The host's request for a pause was seen. 0 when the kernel starts.
        pausing: u32,
        /// In mapped host memory: not 0 when the kernel is to end where it can go on.
        asked: u64 = "u32*",
        /// When a block last looked at it, by the GPU's clock.
        looked: u64,
        /// For each block and each channel: elements that it keeps, for they found no room.
        held: u64 = "u32*",
        /// For each node: elements that it has run.
        ran: u64 = "u64*",
        /// Wavefronts, of all nodes.
        wavefronts: u64,
        /// Elements that blocks keep, when the kernel has ended.
        kept: u64,
        /// For each channel: elements that made room for others.
        dropped: u64 = "u64*",
        /// The scalar fields of the element in whose body a check failed,
        told: u64 = "u64*",
        /// and one more than its node; 0 if that is not known.
        teller: u64,
        /// Where wavefronts are written down, if the kernel was made to,
        waves: u64 = "Wave*",
        /// how many find room,
        waves_room: u32,
        /// and how many there were: those that found no room are not there.
        waves_kept: u32,
        /// Elements that some kernel of the device is still to run, or is running.
        alive: WideLine,
        /// Blocks that find nothing to do; the upper half counts how often one did again. 0 when the kernel starts.
        idle: Line,
        /// Why the kernel ends. 0 when it starts.
        stop: Line,
    }
}

// A word that many wait for shares its line with nothing: the device aligns such a member, but what follows it is right behind.
const _: () =
    assert!(std::mem::offset_of!(FlowState, alive) == 128 && size_of::<FlowState>() == 512);

/// The bit of an entry of the control array that says of which time round it is: set in the first one.
pub const TAG: u32 = 1 << 31;

/// Words of done bits that are a stretch: a warp that looks at a count of each of its stretches sees 131,072 slots in one look.
pub const STRETCH: u32 = 64;

/// A ring's marks of what is done: words of bits, and counts of stretches behind them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Marks {
    /// Words of `done`.
    pub words: u32,
    /// Counts of `freed`.
    pub stretches: u32,
}

impl Marks {
    /// The marks of a ring of so many slots, `group` of them a word, `stretch` words a stretch.
    #[must_use]
    pub const fn of(width: u32, group: u32, stretch: u32) -> Self {
        let words = width.div_ceil(group);
        Self {
            words,
            stretches: words.div_ceil(stretch),
        }
    }

    /// Where the counts begin, in bytes behind the first word of bits.
    #[must_use]
    pub const fn freed(self) -> u64 {
        8 * self.words as u64
    }

    /// Bytes of all.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.freed() + 4 * self.stretches as u64
    }
}

/// Why a graph's kernel ended, if no status says more.
pub mod stop {
    /// It has not.
    pub const GOES_ON: u32 = 0;
    /// Nothing is alive.
    pub const ALL_DONE: u32 = 1;
    /// The host asked.
    pub const PAUSED: u32 = 2;
    /// Something is alive, and no block finds anything to do.
    pub const STANDS_STILL: u32 = 3;
}

/// How a graph's kernel goes on.
pub mod how {
    /// Until nothing is alive, or it stands still: cooperative.
    pub const PERSISTENT: u32 = 0;
    /// Until a block finds nothing to do: the host thread starts it again.
    pub const ONCE: u32 = 1;
    /// The same, after one that found nothing: nothing upstream can add any more.
    pub const LAST: u32 = 2;
}

/// The device's declarations of all this.
pub(in crate::cuda) fn header() -> String {
    let mut out = preamble();
    // The control record also has the addresses of what only programs of tasks have.
    let control = super::Control::structure();
    for Member { declared, .. } in &control.members {
        if let Some((name, _)) = declared.split_once('*')
            && !matches!(name, "u32" | "u64")
        {
            out += &format!("struct {name};\n");
        }
    }
    for structure in [
        control,
        RingWords::structure(),
        Ring::structure(),
        Wave::structure(),
        FlowState::structure(),
    ] {
        out += &structure.text();
    }
    out += &codes(status::ALL);
    out += &format!("#define RING_TAG {TAG:#x}u\n");
    out += &format!(
        "enum Stop : u32 {{ GOES_ON = {}, ALL_DONE = {}, PAUSED = {}, STANDS_STILL = {} }};\n\
         enum How : u32 {{ PERSISTENT = {}, ONCE = {}, LAST = {} }};\n",
        stop::GOES_ON,
        stop::ALL_DONE,
        stop::PAUSED,
        stop::STANDS_STILL,
        how::PERSISTENT,
        how::ONCE,
        how::LAST
    );
    out
}
