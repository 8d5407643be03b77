//! What the generated code and its host share. Everything is said once, here: the host reads and writes by it, and [`header`] is the device's
//! declaration of the same, made from it, in which each member's place is asserted.

pub mod flow;
mod record;

use crate::cuda::plan::Plan;
pub use crate::status;
pub use record::{Count, Field, Value};
use record::{Member, Places, Shared, Structure, count, declared, records, structs};

structs! {
    /// What a run shares with its host; lies in device memory. Pointers are device addresses.
    Control {
        /// One of the codes: set once, by compare-exchange from `OK`.
        status: u32,
        /// Which check, stack or helper that is about.
        site: u32,
        /// Values of a failed check, zero-extended.
        values: [u64; 2],
        /// How deep a recursive helper may go.
        max_depth: u32,
        /// How many marks `waiting` has room for.
        marks: u32,
        /// Nanoseconds that one dispatch may take.
        watchdog: u64,
        /// In mapped host memory: not 0 when the run is to end.
        cancel: u64 = "u32*",
        /// When a thread last looked at it, by the GPU's clock; 0 at the start.
        looked: u64,
        /// Units that this dispatch has reserved, for each group of pushes; 0 at the start.
        counter: u64 = "u64*",
        /// Of the persistent kernel: what is known of the first levels, `Channels::known` of them.
        levels: u64 = "Level*",
        /// Of the persistent kernel: what waits at the levels above the one that it is at, a stack of marks.
        waiting: u64 = "Mark*",
        /// For each stack, then for each of the first levels: children that ended where they were spawned; then how many levels there are, if some did
        /// below those. 0 at the start.
        leaves: u64 = "u64*",
        /// Out: how many dispatches.
        dispatches: u64,
        /// Out: those of them that one warp did by itself.
        narrow: u64,
        /// In mapped host memory: what the host-thread aggregator hears of a dispatch.
        mailbox: u64 = "Mailbox*",
        /// The tiles that found no room, where a segment gives them back.
        tiles: u64 = "Tiles*",
        /// Where the master of parallel regions tells the other blocks what to do.
        regions: u64 = "Regions*",
        /// Of the persistent kernel: dispatches begun, so that who waits sees that the run goes on; 0 at the start.
        beat: u32,
        /// Regions begun, for the same; 0 at the start.
        regions_begun: u32,
        /// Out: 1 if the persistent kernel ended because the dispatch that it published is the host's to launch.
        over: u32,
        /// Tiles taken in this dispatch beyond the first of each block; 0 at the start.
        ticket: u32,
        /// Tiles given back for want of room; 0 at the start.
        given: u32,
        /// Units that were reserved when the first tile found no room; all ones at the start.
        limit: u32,
        /// 1 if slices that elements walk through found no room in a block's stage; 0 at the start.
        walks_far: u32,
        /// 1 while a block reserves of several groups at once; 0 at the start.
        taken: u32,
        /// Of the persistent kernel: the number of the dispatch that is published; 0 at the start.
        epoch: Line,
        /// Blocks that have finished it; 0 at the start.
        arrived: Line,
    }

    /// The parallel region that is being served. All is 0 at the start.
    Regions {
        /// Which one.
        which: u32,
        /// Blocks of a crew of blocks.
        crew: u32,
        /// So many such crews there are.
        crews: u32,
        /// Not used.
        spare: u32,
        /// Its arguments.
        args: [u64; 32],
        /// What its rounds gather.
        gathered: [u64; 16],
        /// Counts regions of a dispatch.
        turn: Line,
        /// Blocks that have served it.
        arrived: Line,
    }

    /// Elements that a worker offers to others, where they lie.
    Gift {
        /// `GIFT_NONE`, `GIFT_OFFERED` or `GIFT_TAKEN`.
        state: u32,
        /// The stack.
        stack: u32,
        /// The lowest one, by the run's numbers.
        first: u32,
        /// How many.
        count: u32,
    }

    /// Elements of a stack that a worker leaves.
    Rest {
        /// The lowest one, by the worker's numbers.
        first: u32,
        /// How many.
        count: u32,
    }

    /// Where the elements that wait at a level begin in a stack, or end: of levels above the one that the run is at. A stack of them, by level, then by
    /// stack: where what waits above ends, unless it is there that these begin; the beginning; and the end. Of frames and continuations there is only the
    /// beginning: they end where the levels below begin, and have no gaps.
    Mark {
        /// The level, what it is (0 the beginning, 1 the end, 2 where what waits above ends), and the stack: `(level * 3 + kind) * STACKS + stack`.
        what: u32,
        /// The element's number.
        at: u32,
    }
}

/// Arguments of a region, at most.
pub const REGION_ARGS: usize = 31;
/// Variables that its rounds gather in, at most.
pub const REGION_GATHERS: usize = 15;
/// Blocks that take single rounds of a region, or whose warps do, at most;
pub const REGION_BLOCKS: u32 = 1024;
/// and where they have local memory, which is then where all of the crew see it.
pub const HOLDING_BLOCKS: u32 = 256;

/// A word that many wait for, in a line of the cache of its own.
#[repr(C, align(128))]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Line(pub u32);

impl Shared for Line {
    fn declared(name: &str) -> String {
        format!("alignas({}) u32 {name}", align_of::<Self>())
    }
}

records! {
    /// A run of elements, for all blocks of a dispatch. Of one that moves tiles, `level` is how many do, `base` begins with the stack and
    /// `room` with the elements of a tile.
    Dispatch {
        /// Which channel feeds it, and so which segment; `SOURCES` if tiles are moved.
        source: u32,
        /// 1: there is no more work.
        stop: u32,
        /// The level of the elements.
        level: u32,
        /// The lowest one.
        first: u32,
        /// How many.
        count: u32,
        /// Counts dispatches: what the host waits for.
        number: u32,
        /// For each push of the segment: the first free element of the stack.
        base: u32 [Pushes],
        /// And how many more it holds.
        room: u32 [Pushes],
    }

    /// How far a run is: what kernel and host hand each other, with the levels.
    Standing {
        /// Elements consumed.
        consumed: u64 [Sources],
        /// The level that it is at.
        level: u32,
        /// Levels that were reached.
        reached: u32,
        /// How many marks there are of what waits above.
        marks: u32,
        /// And the fewest that there were since it was handed over: those are as they were.
        kept: u32,
        /// Levels that the run is expected to have.
        expected: u32,
        /// Elements that a run may take: few after one that found no room for any.
        most: u32,
        /// Whether anything has run yet: otherwise nothing is known of any level, and nothing waits.
        begun: u32,
        /// Where the level's elements begin in each stack,
        lo: u32 [Stacks],
        /// and where they end.
        hi: u32 [Stacks],
        /// Where those end that wait above: below the level's there may be free places.
        floor: u32 [Stacks],
        /// Where the elements of all levels end.
        top: u32 [Stacks],
        /// So many of the last ones are of the next level, which has not begun.
        young: u32 [Stacks],
        /// Most of them at once.
        peak: u32 [Stacks],
        /// The most pushes of an element that were seen, where they depend on data.
        average: u32 [Sources],
    }

    /// What is known of a level, if it is one of the first.
    Level {
        /// What was pushed from it, in all.
        pushed: f32 [Stacks],
        /// What an element of the next level and all below it pushed.
        below: f32 [Stacks],
        /// Entry elements consumed.
        elements: u64,
    }

    /// What a dispatch of the host-thread aggregator came to.
    Mailbox {
        /// The dispatch that is done: written last.
        number: u32,
        /// `Control::status`.
        status: u32,
        /// `Control::limit`.
        limit: u32,
        /// `Control::walks_far`.
        walks_far: u32,
        /// Where the elements lie that were not consumed, once they have been moved together.
        bottom: u32,
        /// How many they are.
        left: u32,
        /// How many tiles are to be moved to make that so.
        moves: u32,
        /// `Control::counter`.
        counter: u32 [Groups],
    }

    /// Tiles of a run that were given back for want of room, and what moves where, so that what was not consumed lies together.
    Tiles {
        /// Those that were given back, `Control::given` of them.
        given: u32 [Given],
        /// Which tile moves,
        from: u32 [Given],
        /// and to whose place.
        to: u32 [Given],
    }

    /// What stands before the records of decisions.
    Records {
        /// How many were to be kept; those that found no room are not there.
        kept: u32,
        /// How many find room.
        room: u32,
    }

    /// A decision of the persistent kernel, what came of it, and when: for timelines, and for tests.
    Record {
        /// When it was taken, by the GPU's clock.
        begin: u64,
        /// When its work was done.
        end: u64,
        /// 1: one warp did it by itself.
        narrow: u32,
        /// As in `Dispatch`.
        source: u32,
        /// As in `Dispatch`.
        level: u32,
        /// As in `Dispatch`.
        first: u32,
        /// As in `Dispatch`.
        count: u32,
        /// As in `Mailbox`.
        left: u32,
        /// As in `Mailbox`.
        bottom: u32,
        /// As in `Mailbox`.
        moves: u32,
        /// For each push of the segment: how many elements.
        pushed: u32 [Pushes],
        /// As in `Dispatch`.
        base: u32 [Pushes],
        /// As in `Dispatch`.
        room: u32 [Pushes],
    }

    /// What a block did when, for timelines. They lie behind a `Records` of their own.
    Share {
        /// When it began, by the GPU's clock.
        begin: u64,
        /// When it had nothing more to do.
        end: u64,
        /// What that was: one of [`share`].
        what: u32,
        /// As in `Dispatch`; of a worker 0.
        source: u32,
        /// As in `Dispatch`; of a worker the roots'.
        level: u32,
        /// Of a batch and of a gift: how many it has. Of a dispatch nobody counts them.
        elements: u32,
        /// The block's number.
        block: u32,
    }

    /// What the workers of a subtree dispatch share: elements of one entry channel, the *roots*, and where in each stack there is room for what comes of
    /// them.
    Crew {
        /// The roots' stack.
        stack: u32,
        /// The lowest of them.
        first: u32,
        /// How many.
        count: u32,
        /// Their level.
        level: u32,
        /// How many a worker takes at a time,
        batch: u32,
        /// and how often there are some.
        batches: u32,
        /// Where the first worker's range of each stack begins,
        base: u32 [Stacks],
        /// and how many elements each has.
        share: u32 [Stacks],
        /// Where each stack ended before: what workers leave comes to lie there, right above what waits.
        end: u32 [Stacks],
        /// What each worker offers: a `Gift` each, of zeros at the start.
        gifts: u64,
        /// What each worker has of each stack when it ends: a `Rest` each.
        rests: u64,
        /// Of workers with levels: where there is room for the first one's marks of what waits,
        marks: u64,
        /// and for how many of each.
        marks_each: u32,
        /// Not used.
        spare: u32,
        /// Out: elements consumed, the roots among them.
        consumed: u64 [Sources],
        /// Out: dispatches.
        dispatches: u64,
        /// Out: elements that were offered,
        donated: u64,
        /// and elements that others took.
        acquired: u64,
        /// Out: the most elements at once of each worker, added up.
        peak: u32 [Stacks],
        /// Out, of `gather`: elements of each stack that are left.
        returned: u32 [Stacks],
        /// Batches of roots that were taken, and beyond.
        ticket: u32,
        /// Batches and gifts that are not done; `batches` at the start.
        alive: u32,
        /// Gifts that nobody has taken.
        offered: u32,
        /// Workers that have nothing to do.
        hungry: u32,
        /// Out: 1 if a worker found no room, so that all of them stopped.
        recall: u32,
    }

    /// The module's global that the host fills. The device knows the arrays by the names of channels and fields.
    Channels {
        /// The control record's address.
        control: u64,
        /// Where the run's memory begins: short return addresses count from there.
        memory: u64,
        /// Where the array of each field begins, stack by stack.
        fields: u64 [Fields],
        /// Elements that each stack holds.
        capacity: u32 [Stacks],
        /// For each field that children inherit: 0 if it is kept once, else all ones.
        each: u32 [Inherited],
        /// Of so many levels, the first ones, it is known what they push.
        known: u32,
        /// Where records of decisions go; 0 if none are kept.
        records: u64,
        /// Where the shares of blocks go; 0 if none are kept.
        shares: u64,
        /// What is bound to the kernels of a graph that these tasks were; programs of tasks have none.
        uniforms: u64 [Uniforms],
    }
}

/// Most blocks of a dispatch.
pub const MOST_BLOCKS: u32 = 2048;

// A word that many wait for shares its line with nothing; what is alone in a record of 32-bit words has no gap behind it.
const _: () = {
    let (epoch, arrived) = (
        std::mem::offset_of!(Control, epoch),
        std::mem::offset_of!(Control, arrived),
    );
    assert!(epoch.is_multiple_of(128) && arrived == epoch + 128);
    assert!(size_of::<Control>() == arrived + 128 && align_of::<Control>() == 128);
    assert!(std::mem::offset_of!(Control, taken) < epoch);
};

/// What the declarations begin with.
fn preamble() -> String {
    String::from(
        "// What host and device share.\n\
         // NVRTC before 13.5 cannot say where a member lies. A layout of C is the same there as here, and a newer one is asked on every commit.\n\
         #if defined(__CUDACC_RTC__) && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ < 1305\n\
         #define LIES_AT(type, member, bytes) static_assert(true, \"\")\n\
         #else\n\
         #define LIES_AT(type, member, bytes) static_assert(__builtin_offsetof(type, member) == bytes, \"the host has \" #type \"::\" #member \" elsewhere\")\n\
         #endif\n\
         #define TAKES(type, bytes) static_assert(sizeof(type) == bytes, \"the host's \" #type \" has another size\")\n",
    )
}

/// The codes as an enumeration.
fn codes(all: &[(&str, u32)]) -> String {
    let listed = |sign: &str, between: &str| {
        let codes = all
            .iter()
            .map(|(name, code)| format!("{name} {sign} {code}"));
        codes.collect::<Vec<_>>().join(between)
    };
    format!(
        "enum Code : u32 {{ {} }};\nstatic_assert({}, \"the host's codes\");\n",
        listed("=", ", "),
        listed("==", " && ")
    )
}

/// The device's declarations of all this.
#[must_use]
pub fn header(plan: &Plan) -> String {
    let mut out = preamble();
    for structure in [
        Mailbox::structure(plan),
        Standing::structure(plan),
        Level::structure(plan),
        Tiles::structure(plan),
        Mark::structure(),
        Regions::structure(),
        Control::structure(),
        Dispatch::structure(plan),
        Records::structure(plan),
        Record::structure(plan),
        Share::structure(plan),
        Crew::structure(plan),
        Gift::structure(),
        Rest::structure(),
    ] {
        out += &structure.text();
    }
    let share = format!(
        "enum ShareKind : u32 {{ OF_DISPATCH = {}, OF_BATCH = {}, OF_GIFT = {} }};\n",
        share::DISPATCH,
        share::BATCH,
        share::GIFT
    );
    out + &codes(status::ALL) + &share
}

/// What a [`Share`] is.
pub mod share {
    /// A block's part of a dispatch.
    pub const DISPATCH: u32 = 0;
    /// A worker's batch, roots or a gift, with all that came of it.
    pub const BATCH: u32 = 1;
    /// What a worker offered to others.
    pub const GIFT: u32 = 2;
}

/// Names of the kernels.
pub mod kernel {
    /// The persistent aggregator: cooperative, unless it is launched with one block. Its parameters are the address of a
    /// [`Dispatch`](super::Dispatch) record, and a word that says whether it is to end with a run that one block does not do.
    pub const PERSISTENT: &str = "persistent";
    /// A subtree dispatch: its parameter is the address of a [`Crew`](super::Crew) record.
    pub const WORKERS: &str = "workers";
    /// The same of tasks with frames.
    pub const FRAMED: &str = "framed";
    /// Brings together what workers left: its parameters are that address, and how many workers there were.
    pub const GATHER: &str = "gather";
    /// One dispatch of the source of that number: its parameter is the [`Dispatch`](super::Dispatch) record, by value.
    #[must_use]
    pub fn dispatch(source: usize) -> String {
        format!("dispatch_{source}")
    }
    /// A graph's run: its parameter is a word, one of [`how`](super::flow::how).
    pub const FLOW: &str = "run_graph";
    /// The global of a graph's module that the host fills: words of 64 bits, as `FlowPlan::global` lays them out.
    pub const GRAPH: &str = "device_flow";
    /// The module's global that the host fills: [`Channels`](super::Channels).
    pub const CHANNELS: &str = "device_channels";
    /// Threads of a block.
    pub const BLOCK: u32 = 256;
    /// Threads of a warp.
    pub const WARP: u32 = 32;
}
