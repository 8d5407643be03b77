//! Random graphs without cycles, of channels so narrow that everybody waits all the time. Each is run by the rules and reckoned without them.

use super::testing::{Built, device, longs};
use millstream_graph::graph::{ChannelKey, Predicate, WhenFull};
use std::{sync::Mutex, thread};

/// Random numbers.
struct Lot(u64);

impl Lot {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % n
    }
}

/// What a node does with an element, in plain Rust: which of its channels get what.
fn reckoned(kind: usize, n: u64) -> Vec<(usize, u64)> {
    match kind {
        0 if n.is_multiple_of(3) => vec![(0, n)],
        0 => vec![(0, n), (1, n + 1), (1, n + 2)],
        _ => vec![(0, n)],
    }
}

/// Builds and runs the graph of a seed, and compares what came out with what should have.
fn run(seed: u64) {
    let mut lot = Lot(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let received = Mutex::new(Vec::new());
    let mut built = Built::default();
    let count = 2 + lot.below(5);
    let mut channels = Vec::new();
    for i in 0..count {
        let most = [200, 5, 5, 5][lot.below(4)];
        let width = 1 + lot.below(most) as u32;
        let channel = built.channel(&format!("c{i}"), "u64", width);
        built.with(channel, |c| {
            c.group = 1 + lot.below(width.min(64) as usize) as u32;
            c.priority = lot.below(3) as i32;
            c.predicate = match lot.below(4) {
                0 => Predicate::AtLeast(1 + lot.below(width as usize) as u32),
                1 => Predicate::Any,
                _ => Predicate::Full,
            };
            c.full = if lot.below(5) == 0 {
                WhenFull::Grow
            } else {
                WhenFull::Wait
            };
            c.input = i == 0;
        });
        channels.push(channel);
    }
    // A node consumes its channel and produces into later ones; the last channel has a host node that takes all.
    let mut nodes = Vec::new();
    for i in 0..count - 1 {
        let kind = lot.below(4);
        let mut later = || i + 1 + lot.below(count - 1 - i);
        let into = [later(), later()];
        let keys: Vec<ChannelKey> = into.iter().map(|&c| channels[c]).collect();
        let node = match kind {
            0 => built.node("both", channels[i], &keys),
            1 => built.node("pass", channels[i], &keys[..1]),
            2 => built.node("slow", channels[i], &keys[..1]),
            _ => {
                built.host(
                    &format!("n{i}"),
                    Some(channels[i]),
                    &keys[..1],
                    |batch, out| {
                        out[0].extend_from_slice(batch);
                        Ok(true)
                    },
                );
                nodes.push((kind, into));
                continue;
            }
        };
        built.graph.kernel_mut(node).unwrap().name = format!("n{i}");
        nodes.push((kind, into));
    }
    built.host("sink", Some(channels[count - 1]), &[], |batch, _| {
        received.lock().unwrap().extend(longs(batch));
        Ok(true)
    });
    // What nothing comes into a graph may not have.
    let mut fed = vec![false; count];
    fed[0] = true;
    for (i, (kind, into)) in nodes.iter().enumerate() {
        if fed[i] {
            fed[into[0]] = true;
            fed[into[1]] |= *kind == 0;
        }
    }
    if !fed.iter().all(|&f| f) {
        return;
    }
    let threads = 1 + lot.below(4) as u32;
    let sent: Vec<u64> = (0..lot.below(300) as u64).collect();
    let done = built.run(&device(threads), |run| {
        thread::scope(|scope| {
            let halves = sent.split_at(sent.len() / 2);
            for half in [halves.0, halves.1] {
                let bytes: Vec<u8> = half.iter().flat_map(|n| n.to_ne_bytes()).collect();
                let channel = channels[0];
                scope.spawn(move || run.send(channel, &bytes));
            }
        });
        run.wait_for_done()
    });
    if let Err(error) = done {
        panic!("seed {seed}, {threads} threads: {error}");
    }
    let mut waiting = vec![Vec::new(); count];
    waiting[0] = sent;
    for i in 0..count - 1 {
        for n in std::mem::take(&mut waiting[i]) {
            for (port, n) in reckoned(nodes[i].0, n) {
                waiting[nodes[i].1[port]].push(n);
            }
        }
    }
    let (mut got, mut want) = (
        received.into_inner().unwrap(),
        waiting.swap_remove(count - 1),
    );
    got.sort_unstable();
    want.sort_unstable();
    assert_eq!(got, want, "seed {seed}, {threads} threads");
}

#[test]
fn random_graphs_lose_nothing_and_end() {
    let cases = std::env::var("MILLSTREAM_CASES").map_or(60, |n| n.parse().unwrap());
    for seed in 0..cases {
        run(seed);
    }
}
