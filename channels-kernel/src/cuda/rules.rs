//! The numbers of the levelized policy: one source for the host, which decides by `aggregator/src/cuda/policy.rs`, and for the kernels, whose
//! text begins with them.
//!
//! The rules themselves: the deepest level that has work is drained first, entries before continuations if all of them find room, or very many do.
//! (Else what is done leaves its frames where they are, for they are given back when no continuation of the level waits, and one that waits in the
//! middle of its loop would wait for all of its siblings.) A run is as long as it and everything below it find room, as far as earlier runs of its
//! level tell; where none has been, it takes a share of the room.
//! A level that does not find room at once is divided in runs of the same length.
//!
//! The level below begins when its parents have run: of a level with entries of several tasks those that *join*, which find room as a whole beside the children that
//! wait already, with all below these. Who pushes as data says joins only where it can be given back and is not alone.

use super::stack::FEW;

/// A run may always take so many elements if they take no more than [`RESERVE`]th of the room, however many levels may follow.
pub const SMALL_SHARE: u32 = 4096;
/// Of the room that is left a run takes no more than this, by what is known: not all elements are like those before them.
pub const FILL: f32 = 0.95;
/// One part in so many of what a channel holds more is left for the levels below, whatever the estimates say.
pub const RESERVE: u32 = 16;
/// Where a channel holds no more than so many units, all of it is promised to elements that run one at a time ([`promised`]).
pub const LONE: u32 = 64;
/// Where it holds more, half of it is promised, up to so many units.
pub const LONE_HALF: u32 = 1 << 10;
/// Beyond, one part in [`RESERVE`], up to so many units.
pub const LONE_SHARE: u32 = 1 << 16;
/// And one part in so many of all that it holds at least: what is promised, runs of several cannot have, and these are what a large budget is given for.
pub const LONE_LEAST: u32 = 64;
/// An element of a segment that gives back is taken to push no less than this, whatever was seen.
pub const LEAST_PUSHED: f32 = 0.5;
/// An element that asks for room at a restart point is granted so much more than it needs there, so that it seldom asks.
pub const GRANT: u32 = 15;
/// Where nothing is known: elements that one of a segment which gives back is taken to push, and one of another.
pub const GUESS_YIELDS: u32 = 8;
/// See [`GUESS_YIELDS`].
pub const GUESS: u32 = 64;
/// Where nothing is known of a level: among how many levels the room is shared.
pub const GUESS_LEVELS: u32 = 16;
/// A run that found no room for anything is tried again with one part in so many of its elements.
pub const RETRY: u32 = 4;
/// Neighbouring children are stored together, so that a level's entries begin at a number that this divides. A power of two.
pub const NEIGHBOURS: u32 = 4;
/// A run is narrow if the channels have room for so many times what it pushes at most: then all of it is allowed, whatever the estimates say.
pub const NARROW_ROOM: u32 = 16;
/// And if it has so many elements for each lane of a warp at most.
pub const NARROW_ITEMS: u32 = 2;

/// How many elements of a channel that holds `capacity` are *promised* to elements that run one at a time, with nothing of their siblings under way, so that
/// a run goes on where nothing is left for several. A level takes at most `unit` of them. The more a channel holds, the more are promised.
#[must_use]
pub fn promised(capacity: u32, unit: u32) -> u32 {
    if capacity.div_ceil(LONE) <= unit {
        return capacity;
    }
    let part = |of: u32, most: u32| match capacity / of / most < unit {
        true => capacity / of,
        false => most * unit,
    };
    let (half, share) = (part(2, LONE_HALF), part(RESERVE, LONE_SHARE));
    (LONE * unit)
        .max(half)
        .max(share)
        .max(capacity / LONE_LEAST)
}

/// How many levels a run of a program with so many stacks may have, whatever its memory: a recursion that keeps nothing has to end too. A multiple of what
/// lies near.
#[must_use]
pub fn most_levels(stacks: usize) -> u32 {
    (u32::MAX / (3 * stacks.max(1) as u32)).min(1 << 24) & !63
}

/// Each of them as the text has it, for a program with so many stacks.
pub(super) fn definitions(stacks: usize) -> impl Iterator<Item = String> {
    [
        ("MOST_LEVELS", most_levels(stacks)),
        ("SMALL_SHARE", SMALL_SHARE),
        ("RESERVE", RESERVE),
        ("FEW", FEW as u32),
        ("LONE", LONE),
        ("LONE_HALF", LONE_HALF),
        ("LONE_SHARE", LONE_SHARE),
        ("LONE_LEAST", LONE_LEAST),
        ("GRANT", GRANT),
        ("GUESS_YIELDS", GUESS_YIELDS),
        ("GUESS", GUESS),
        ("GUESS_LEVELS", GUESS_LEVELS),
        ("RETRY", RETRY),
        ("NEIGHBOURS", NEIGHBOURS),
        ("NARROW_ROOM", NARROW_ROOM),
        ("NARROW_ITEMS", NARROW_ITEMS),
    ]
    .map(|(name, value)| format!("#define {name} {value}u"))
    .into_iter()
    .chain(
        [("FILL", FILL), ("LEAST_PUSHED", LEAST_PUSHED)]
            .map(|(name, value)| format!("#define {name} {value:?}f")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_is_promised_of_a_channel_that_holds_more() {
        for unit in [1, 2, 3, 7, 64, 1000] {
            let mut before = 0;
            for units in (1..40_000).chain([1 << 16, 1 << 20, 1 << 21, 0x7fff_ff00 / unit]) {
                let promised = promised(unit * units, unit);
                assert!(promised >= before && promised <= unit * units);
                assert!(promised >= unit * units / LONE_LEAST);
                assert!(units > LONE_SHARE || promised >= unit * units / RESERVE);
                assert!(
                    promised >= unit * units.min(LONE),
                    "{units} units of {unit}"
                );
                before = promised;
            }
        }
        // What no longer is a number of units, as no more elements have numbers.
        assert_eq!(promised(u32::MAX, 1 << 31), u32::MAX);
    }
}
