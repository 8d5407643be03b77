//! Programs whose tasks spawn in loops, and do nothing else there: children that nobody can count, more of them than find room beside each other. Depth
//! first, each needs next to nothing.

use crate::stress::Tried;

/// Each program with a call in which, but for two of them, some task spawns about `most` children or half as many.
#[must_use]
pub fn spawners(most: u64) -> Vec<Tried> {
    let calls = [
        ("star", STAR, "star", vec![most.to_string()]),
        (
            "kinds",
            KINDS,
            "kinds",
            vec![most.to_string(), "0".to_owned()],
        ),
        (
            "twice",
            TWICE,
            "twice",
            vec![(most / 16).to_string(), "3".to_owned()],
        ),
        (
            "unbalanced",
            UNBALANCED,
            "node",
            vec!["7".to_owned(), most.to_string(), "6".to_owned()],
        ),
        (
            "search",
            SEARCH,
            "search",
            vec!["1".to_owned(), most.to_string(), "2".to_owned()],
        ),
        (
            "queens",
            QUEENS,
            "place",
            ["127", "0", "0", "0"].map(str::to_owned).to_vec(),
        ),
        (
            "orders",
            ORDERS,
            "orders",
            ["6", "0", "0"].map(str::to_owned).to_vec(),
        ),
        (
            "joined",
            JOINED,
            "joined",
            vec!["3".to_owned(), most.to_string(), "4".to_owned()],
        ),
    ];
    let tried = calls.into_iter().map(|(name, source, task, args)| Tried {
        name: name.to_owned(),
        source: format!("#[millstream::program] mod spawners {{ {HASH} {source} }}"),
        task: task.to_owned(),
        args,
    });
    tried.collect()
}

const HASH: &str = "
    fn hash(x: u32) -> u32 {
        let a = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
        let b = (a ^ (a >> 15)).wrapping_mul(0x846c_a68b);
        b ^ (b >> 16)
    }
";

/// One task spawns all, and gathers what they give.
const STAR: &str = "
    #[task] pub fn child(n: u64) -> u64 {
        let mut x = n;
        let mut i = 0;
        while i < n % 7 { x = 3 * x + 1; i += 1; }
        x
    }
    #[task] pub fn star(n: u64) -> u64 {
        let mut total = 0;
        let mut i = 0;
        while i < n { total += spawn!(child(n - i)); i += 1 + i % 2; }
        sync!();
        total
    }
";

/// Two kinds of children without a result, by turns, of which one has a child of the other kind.
const KINDS: &str = "
    use std::sync::atomic::{AtomicU64, Ordering};
    #[task] pub fn one(i: u32, seen: &AtomicU64) { seen.fetch_add(i as u64, Ordering::Relaxed); }
    #[task] pub fn other(i: u32, by: u64, seen: &AtomicU64) {
        spawn!(one(i ^ 5, seen));
        seen.fetch_add(by, Ordering::Relaxed);
    }
    #[task] pub fn kinds(n: u32, seen: &AtomicU64) {
        let mut i = 0;
        while i < n {
            if hash(i) % 3 == 0 { spawn!(one(i, seen)); } else { spawn!(other(i, 3, seen)); }
            i += 1 + hash(i) % 2;
        }
    }
";

/// Several spawns a turn, in a loop within a loop, in recursion, and leaves where they are spawned.
const TWICE: &str = "
    #[task] pub fn twice(n: u64, depth: u64) -> u64 {
        if depth == 0 { return n ^ 1; }
        let mut best = 0u64;
        let mut i = 0;
        while i * i < n {
            let mut j = i;
            while j * i < n && j < i + 9 {
                best = best.max(spawn!(twice((n >> 5) ^ j, depth - 1)));
                best = best.max(spawn!(twice(n >> 6, depth.saturating_sub(2))));
                j += 1 + i % 3;
            }
            i += 1;
        }
        sync!();
        best
    }
";

/// A tree of which some nodes have very many children, by a hash.
const UNBALANCED: &str = "
    #[task] pub fn node(x: u32, most: u32, depth: u32) -> u64 {
        if depth == 0 { return 1; }
        let h = hash(x);
        let n = if h % (2 * most) < 2 || depth == 6 { h % most + most / 2 } else { h % 3 };
        let mut sum = 1;
        let mut i = 0;
        while i < n {
            sum += spawn!(node(h.wrapping_add(i), most, depth - 1));
            i += 1 + i % 2;
        }
        sync!();
        sum
    }
";

/// Loops that end early, by data.
const SEARCH: &str = "
    #[task] pub fn search(x: u32, most: u32, depth: u32) -> u32 {
        if depth == 0 { return hash(x) % 1000; }
        let mut found = 0u32;
        let mut i = 0;
        loop {
            if hash(x ^ i) % most == 3 || i > 4 * most { break; }
            found ^= spawn!(search(hash(x).wrapping_add(i), 3, depth - 1));
            if i % 5 == 0 { found ^= spawn!(search(i, 5, depth / 2)); }
            i += 1;
        }
        sync!();
        found
    }
";

const QUEENS: &str = "
    #[task] pub fn place(all: u32, columns: u32, left: u32, right: u32) -> u64 {
        if columns == all { return 1; }
        let mut free = all & !(columns | left | right);
        let mut count = 0u64;
        while free != 0 {
            let bit = free & free.wrapping_neg();
            free ^= bit;
            count += spawn!(place(all, columns | bit, (left | bit) << 1, (right | bit) >> 1));
        }
        sync!();
        count
    }
";

/// All orders of some items, and what they come to: one result that is stored last of all counts.
const ORDERS: &str = "
    #[task] pub fn orders(n: u32, used: u32, at: u32) -> u64 {
        if at == n { return (used ^ 1) as u64; }
        let mut sum = 0u64;
        let mut i = 0;
        while i < n {
            if used >> i & 1 == 0 { sum += spawn!(orders(n, used | 1 << i, at + 1)); }
            i += 1;
        }
        sync!();
        sum.wrapping_mul(3).wrapping_add(at as u64)
    }
";

/// What children give is used, and then more are spawned.
const JOINED: &str = "
    #[task] pub fn joined(x: u32, most: u32, depth: u32) -> u64 {
        if depth == 0 { return (x % 5) as u64; }
        let n = if depth == 4 { most } else { hash(x) % 3 };
        let mut all = 0u64;
        let mut i = 0;
        while i < n { all += spawn!(joined(hash(x ^ i), most, depth - 1)); i += 1; }
        sync!();
        let more = all % 4;
        let mut last = 1u64;
        let mut i = 0;
        while i < more { last ^= spawn!(joined(i as u32, most, depth / 2)); i += 1; }
        sync!();
        all.wrapping_mul(last | 1)
    }
";
