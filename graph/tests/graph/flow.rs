//! Small graphs, written as lists of targets, against what can be seen in them, and random ones against definitions.

use millstream_graph::{flow::*, ir::*};
use std::collections::BTreeMap;

fn ids(blocks: impl IntoIterator<Item = usize>) -> Vec<BlockId> {
    blocks.into_iter().map(BlockId::new).collect()
}

fn flow(targets: &[&[usize]]) -> Flow {
    Flow::from_targets(targets.iter().map(|t| ids(t.iter().copied())))
}

fn set(blocks: &BlockSet) -> Vec<usize> {
    blocks.iter().map(BlockId::index).collect()
}

/// A loop with a branch in it whose one arm is a loop of one block, and a block that nothing reaches.
fn nested() -> Flow {
    flow(&[&[1], &[2, 6], &[3, 4], &[3, 5], &[5], &[1], &[], &[5]])
}

#[test]
fn orders_and_edges() {
    let flow = nested();
    assert_eq!(flow.order(), ids([0, 1, 2, 3, 4, 5, 6]));
    assert_eq!(flow.sources(BlockId(5)), ids([3, 4, 7]));
    assert_eq!(flow.targets(BlockId(3)), ids([3, 5]));
    let back: Vec<_> = flow.back_edges().iter().map(|(a, b)| (a.0, b.0)).collect();
    assert_eq!(back, [(3, 3), (5, 1)]);
    assert_eq!(flow.edges().count(), 10);
    assert!(Flow::from_targets([[]; 0]).order().is_empty());
}

#[test]
fn loops() {
    let flow = nested();
    assert_eq!(set(&flow.cyclic()), [1, 2, 3, 4, 5]);
    let inside = |header, from: &[usize]| {
        set(&flow.natural_loop(BlockId(header), ids(from.iter().copied())))
    };
    // Block 7 reaches the back edge as well, though nothing reaches it.
    assert_eq!(inside(1, &[5]), [1, 2, 3, 4, 5, 7]);
    assert_eq!(inside(3, &[3]), [3]);
    let all = flow.loops().into_iter();
    let all: Vec<_> = all
        .map(|l| (l.header.0, l.latches, set(&l.blocks)))
        .collect();
    assert_eq!(all[0], (1, ids([5]), vec![1, 2, 3, 4, 5, 7]));
    assert_eq!(all[1..], [(3, ids([3]), vec![3])]);
    let components = flow.components();
    assert_eq!(components.iter().filter(|c| c.cyclic).count(), 1);
    let place: BTreeMap<BlockId, usize> = components
        .iter()
        .enumerate()
        .flat_map(|(i, c)| c.blocks.iter().map(move |b| (*b, i)))
        .collect();
    assert!(flow.edges().all(|(from, to)| place[&to] <= place[&from]));
}

#[test]
fn what_reaches_what() {
    let flow = nested();
    assert_eq!(flow.reach(ids([2]), |_| true), ids([2, 3, 4, 5, 1, 6]));
    assert_eq!(flow.reach(ids([2, 2]), |b| b.0 != 5), ids([2, 3, 4, 5]));
    assert_eq!(set(&flow.reaching(ids([4]))), [0, 1, 2, 3, 4, 5, 7]);
    assert_eq!(set(&flow.reaching(ids([7]))), [7]);
}

/// Numbers that look random, from one that is not 0.
fn numbers(mut seed: u32) -> impl FnMut() -> usize {
    move || {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        seed as usize
    }
}

/// A block dominates another if that one cannot be reached without it, and is cyclic if its targets reach it.
#[test]
fn dominators_and_cycles_by_definition() {
    for seed in 1..200 {
        let mut next = numbers(seed);
        let count = 1 + next() % 12;
        let mut targets: Vec<Vec<BlockId>> = Vec::new();
        for _ in 0..count {
            let arms = next() % 3;
            targets.push((0..arms).map(|_| BlockId::new(next() % count)).collect());
        }
        let flow = Flow::from_targets(targets);
        let (dominators, cyclic) = (flow.dominators(), flow.cyclic());
        for by in ids(0..count) {
            let again = flow.reach(flow.targets(by).iter().copied(), |_| true);
            assert_eq!(cyclic.contains(by), again.contains(&by), "{flow:?}");
            let without = flow.reach([BlockId(0)], |b| b != by);
            for block in ids(0..count) {
                let avoids = block != by && by.0 != 0 && without.contains(&block);
                assert_eq!(
                    dominators.dominates(by, block),
                    !avoids,
                    "{by} {block} {flow:?}"
                );
            }
        }
    }
}

/// The locals of a small program of sets: what may have been visited, and what must have been.
#[test]
fn states_are_passed_along_the_edges() {
    let flow = nested();
    let with = |block: BlockId, mut seen: Vec<bool>| {
        seen[block.index()] = true;
        seen
    };
    let join = |keep: fn(bool, bool) -> bool| {
        move |a: &mut Vec<bool>, b: Vec<bool>| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a = keep(*a, b))
        }
    };
    let may = flow.forward_all(vec![false; 8], with, join(|a, b| a | b));
    let must = flow.forward_all(vec![false; 8], with, join(|a, b| a & b));
    let ones = |s: &Option<Vec<bool>>| {
        let s = s.as_ref()?;
        Some((0..8).filter(|i| s[*i]).collect::<Vec<_>>())
    };
    assert_eq!(ones(&may[1]), Some(vec![0, 1, 2, 3, 4, 5]));
    assert_eq!(ones(&must[1]), Some(vec![0]));
    assert_eq!(ones(&must[5]), Some(vec![0, 1, 2]));
    assert_eq!(ones(&may[7]), None);
    let ahead = flow.backward(
        &vec![false; 8],
        |b, seen| seen[b.index()] = true,
        |a, b| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a |= *b);
        },
    );
    assert_eq!(ones(&Some(ahead[3].clone())), Some(vec![1, 2, 3, 4, 5, 6]));
    assert_eq!(ones(&Some(ahead[6].clone())), Some(vec![6]));
}
