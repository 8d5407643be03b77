//! The ring's CUDA text on fibers, in interleavings drawn by lot: the history of every operation is what a ring promises, and planted bugs are found.
//!
//! Needs a C++ compiler, `c++` or `CXX`; without one nothing of it runs.

use millstream_tests::{
    emulator::{self, Measured, Passing, RingEmulator},
    history,
};

/// Rings of all kinds, by width, group and stretch; blocks have 8 threads.
const RINGS: [(u32, u32, u32); 11] = [
    (1, 1, 64),
    (2, 1, 1),
    (3, 2, 1),
    (7, 3, 2),
    (8, 1, 8),
    (12, 1, 4),
    (16, 16, 64),
    (24, 4, 2),
    (33, 5, 2),
    (100, 3, 3),
    (100, 64, 1),
];

/// Plays so many interleavings of each ring: the first that is not as promised.
fn wrong(ring: &RingEmulator, seeds: u64) -> Option<String> {
    for seed in 1..=seeds {
        for (width, group, stretch) in RINGS {
            let passing = Passing {
                width,
                group,
                stretch,
                blocks: 1 + seed as u32 % 6,
                elements: 40 + 4 * u64::from(width),
                seed,
                apart: seed % 2 == 0,
                switches: [2, 8, 40][seed as usize % 3],
            };
            let played = ring
                .play(passing)
                .and_then(|events| history::check(&events));
            if let Err(why) = played {
                return Some(format!("{passing:?}: {why}"));
            }
        }
    }
    None
}

#[test]
fn histories_are_what_a_ring_promises() {
    if emulator::is_there() {
        let ring = RingEmulator::with_change(|text| text).unwrap();
        assert_eq!(wrong(&ring, 30), None);
    }
}

/// What is taken out of the text, or put into it, and has to be found.
const BUGS: [(&str, &str, &str); 7] = [
    (
        "a consumer does not wait for its entries",
        "!= places.tag(i)) pause(20)",
        "== 2u) pause(20)",
    ),
    (
        "entries of the last round count",
        "% 2 ^ 1) * RING_TAG",
        "* 0 + 1) * RING_TAG",
    ),
    (
        "done bits do not turn over",
        "turn % 2 ? ~marks : marks",
        "marks",
    ),
    (
        "a stretch that the head stands in is believed by its count",
        "far = far && slot % stretch == 0;",
        "if (const u32 rest = stretch - slot % stretch; rest < stretch && far && GLOBAL_LOAD(&r.freed[slot / stretch]) == (u32)(turn + 1) * stretch) {
           end += rest;
           slot = (slot + rest) % r.width;
           turn += slot == 0;
           continue;
         }
         far = far && slot % stretch == 0;",
    ),
    (
        "counts of the last round count",
        "== (u32)(turn + 1) * own",
        ">= own",
    ),
    (
        "a gate lets too many pass",
        "const u32 got = (u32)max_of(had, 0);",
        "const u32 got = (u32)max_of(had, 1);",
    ),
    (
        "what is free is counted twice",
        "fetch_add(&r.words->room, more,",
        "fetch_add(&r.words->room, 2 * more,",
    ),
];

#[test]
fn planted_bugs_are_found() {
    if !emulator::is_there() {
        return;
    }
    for (name, from, to) in BUGS {
        let ring = RingEmulator::with_change(|text| {
            assert!(text.contains(from), "{name}");
            text.replace(from, to)
        });
        match wrong(&ring.unwrap(), 60) {
            Some(why) => println!("{name}: {why}"),
            None => panic!("{name}: not found"),
        }
    }
}

/// What puts the text's accesses in order.
const FENCE: &str = "__nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);";

/// The orders of the text, each by what stands before it and behind it. Without it two accesses of some run are a race. Those of `ring_take` are not among
/// them: they keep a consumer from an entry of two rounds ago, and here loads see the newest.
const ORDERS: [(&str, &str, &str, &str); 9] = [
    (
        "`talloc`, between its gate and its places",
        "if (got == 0) return 0;\n  ",
        FENCE,
        "\n  // Both",
    ),
    (
        "`talloc`, behind its places",
        "(u64)got, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);\n  ",
        FENCE,
        "\n  return got;\n}\n\n// Some",
    ),
    (
        "`enq` publishes what was written",
        "// Release: pairs with the fence in `ring_await`.\n  ",
        FENCE,
        "\n",
    ),
    (
        "a consumer has seen its entry",
        "ring_await(ring, places, i) : 0;\n        ",
        "ring_seen();",
        "\n",
    ),
    (
        "a consumer has read its element",
        "}\n        ",
        "ring_read();",
        "\n        ring_tfree",
    ),
    (
        "who moves `head` has seen what is done",
        "`ring_read` and `ring_seen`.\n  ",
        FENCE,
        "\n",
    ),
    (
        "who moves `head` hears of what other lanes have seen",
        "if constexpr (!ALONE) ",
        "__syncwarp();",
        "\n  if (lane == 0) {\n    // Release",
    ),
    (
        "who moves `head` tells of it",
        "if constexpr (!ALONE) ",
        FENCE,
        "\n    const u32 more = (u32)(end - head);",
    ),
    (
        "lanes meet before one marks for others",
        "FN void ring_read() {\n  ",
        "__syncwarp();",
        "\n",
    ),
];

#[test]
fn no_access_of_a_ring_is_unordered() {
    if emulator::is_there() {
        let ring = RingEmulator::watched(|text| text).unwrap();
        assert_eq!(wrong(&ring, 40), None);
    }
}

#[test]
fn each_order_that_is_taken_out_is_found() {
    if !emulator::is_there() {
        return;
    }
    for (name, before, order, behind) in ORDERS {
        let ring = RingEmulator::watched(|text| {
            let right = format!("{before}{order}{behind}");
            assert_eq!(text.matches(&right).count(), 1, "{name}");
            text.replace(&right, &format!("{before};{behind}"))
        });
        match wrong(&ring.unwrap(), 40) {
            Some(why) if why.contains("a race") => println!("{name}: {why}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn what_rings_are_measured_by_passes_each_element_once() {
    if !emulator::is_there() {
        return;
    }
    for (lie, whole) in [(0, true), (1, true), (2, true), (1, false)] {
        let measured = Measured::new(lie, whole).unwrap();
        for kernel in 0..3 {
            let mut yields = 0;
            for seed in 1..=6 {
                for (width, group, stretch) in RINGS {
                    let passing = Passing {
                        width,
                        group,
                        stretch,
                        blocks: 1 + seed as u32 % 3,
                        elements: 40 + 4 * u64::from(width),
                        seed,
                        apart: false,
                        switches: 4,
                    };
                    let [count, sum, wrong, yielded] = measured.pass(kernel, passing).unwrap();
                    let n = passing.elements;
                    let expected = (n, n * (n - 1) / 2, 0);
                    assert_eq!((count, sum, wrong), expected, "{kernel}, {passing:?}");
                    yields += yielded;
                }
            }
            // Most of these rings are narrower than what is passed at once.
            assert!(yields > 0, "kernel {kernel}");
        }
    }
}
