//! Programs for runs under pressure: trees whose tasks spawn none or very many children, in each of the ways that a segment reserves room.
//!
//! The emulated stress (`tests/emulate/stress.rs`) runs small ones of them in every interleaving, that on a GPU (`tests/stress.rs`) runs large ones.

/// A program and its call.
#[derive(Clone, Debug)]
pub struct Tried {
    /// Its name.
    pub name: String,
    /// The source.
    pub source: String,
    /// The task.
    pub task: String,
    /// Its arguments, as `Debug` text.
    pub args: Vec<String>,
}

impl Tried {
    /// A call of a program of this file.
    #[must_use]
    pub fn new(name: &str, args: &[u64]) -> Self {
        let (_, source, task) = PROGRAMS.iter().find(|(n, ..)| *n == name).unwrap();
        Self {
            name: name.to_owned(),
            source: (*source).to_owned(),
            task: (*task).to_owned(),
            args: args.iter().map(ToString::to_string).collect(),
        }
    }
}

/// Whether bugs are planted to see that tests find them: that is a test of the tests, which every commit need not run again. Says so if not.
#[must_use]
pub fn plants() -> bool {
    let is_asked = std::env::var_os("MILLSTREAM_STRESS").is_some();
    if !is_asked {
        eprintln!("SKIPPED: MILLSTREAM_STRESS=60 plants bugs");
    }
    is_asked
}

/// Name, source and first task of each.
pub const PROGRAMS: [(&str, &str, &str); 16] = [
    ("queens", QUEENS, "place"),
    ("tree", TREE, "tree"),
    ("fib", FIB, "fib"),
    ("wide", WIDE, "wide"),
    ("marks", MARKS, "marks"),
    ("phases", PHASES, "phases"),
    ("late", LATE, "late"),
    ("chains", CHAINS, "chains"),
    ("effects", EFFECTS, "effects"),
    ("spawner", SPAWNER, "spawner"),
    ("pieces", PIECES, "all"),
    ("rays", RAYS, "rays"),
    ("hubs", HUBS, "hubs"),
    ("counters", COUNTERS, "counters"),
    ("kinds", KINDS, "pairs"),
    ("boards", BOARDS, "place"),
];

/// n-queens by bits: as many children as a loop finds, their results gathered. Its tiles are tried.
const QUEENS: &str = "#[millstream::program] mod queens {
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
}";

/// A tree by a hash, and a continuation that does something with the sum. Its tiles are counted.
const TREE: &str = "#[millstream::program] mod tree {
    fn hash(x: u32) -> u32 {
        let a = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
        let b = (a ^ (a >> 15)).wrapping_mul(0x846c_a68b);
        b ^ (b >> 16)
    }
    #[task] pub fn tree(x: u32, depth: u32) -> u64 {
        if depth == 0 { return 1; }
        let n = hash(x) % 7;
        let mut sum = 0u64;
        let mut i = 0;
        while i < n {
            sum += spawn!(tree(hash(x).wrapping_add(i), depth - 1));
            i += 1;
        }
        sync!();
        sum.wrapping_mul(3).wrapping_add(x as u64)
    }
}";

/// Children of a fixed number, which are never given back, and frames.
const FIB: &str = "#[millstream::program] mod fib {
    #[task] pub fn fib(n: u32) -> u64 {
        if n < 2 { return n as u64; }
        let x = spawn!(fib(n - 1));
        let y = spawn!(fib(n - 2));
        sync!();
        x.wrapping_mul(y).wrapping_add(x + y)
    }
}";

/// Kinds of tasks that spawn each other, so that a level has several: `odd` and `even` have children of a known number, `pairs` stores two of them at
/// once, `paper` and the others in loops too, and `left` and `right` have no frames.
pub const KINDS: &str = "#[millstream::program] mod kinds {
    fn hash(x: u32) -> u32 {
        let a = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
        let b = (a ^ (a >> 15)).wrapping_mul(0x846c_a68b);
        b ^ (b >> 16)
    }
    #[task] pub fn odd(n: u32) -> u64 {
        if n < 2 { return 1; }
        let (a, b) = (spawn!(odd(n - 1)), spawn!(even(n - 2)));
        sync!();
        a.wrapping_add(b.wrapping_mul(3))
    }
    #[task] pub fn even(n: u32) -> u64 {
        if n < 2 { return 2; }
        let (a, b) = (spawn!(even(n - 1)), spawn!(odd(n - 1)));
        sync!();
        a ^ b.wrapping_add(1)
    }
    #[task] pub fn pairs(x: u32, depth: u32) -> u64 {
        let h = hash(x);
        if depth == 0 || h % 9 == 0 { return x as u64; }
        let (a, b) = (spawn!(pairs(h, depth - 1)), spawn!(pairs(h ^ 7, depth - 1)));
        let (c, d) = (spawn!(triples(h ^ 9, depth - 1)), spawn!(triples(h ^ 5, depth - 1)));
        sync!();
        a.wrapping_mul(3) ^ b.wrapping_add(c).wrapping_mul(d | 1)
    }
    #[task] pub fn triples(x: u32, depth: u32) -> u64 {
        let h = hash(x ^ 1);
        if depth == 0 || h % 5 < 2 { return x as u64; }
        let (a, b) = (spawn!(pairs(h, depth - 1)), spawn!(triples(h ^ 3, depth - 1)));
        let (c, d) = (spawn!(triples(h ^ 2, depth - 1)), spawn!(triples(h ^ 9, depth - 1)));
        sync!();
        a ^ b.wrapping_mul(5).wrapping_add(c.wrapping_mul(3) ^ d)
    }
    #[task] pub fn paper(n: u32) -> u64 {
        if n == 0 { return 1; }
        let (a, b, c) = (spawn!(paper(n - 1)), spawn!(paper(n - 1)), spawn!(scissors(n - 1)));
        sync!();
        a.wrapping_mul(3) ^ b.wrapping_add(c)
    }
    #[task] pub fn scissors(n: u32) -> u64 {
        if n == 0 { return 2; }
        let (a, b) = (spawn!(stone(n - 1)), spawn!(paper(n - 1)));
        sync!();
        a.wrapping_mul(5) ^ b
    }
    #[task] pub fn stone(n: u32) -> u64 {
        if n == 0 { return 3; }
        let mut all = 0u64;
        for i in 0..n % 3 + 1 { all = all.wrapping_add(spawn!(scissors(n - 1 - i.min(n - 1)))); }
        for _ in 0..n % 2 { all = all.wrapping_add(spawn!(paper(n / 2))); }
        sync!();
        all.wrapping_mul(7)
    }
    #[task] pub fn left(x: u32, levels: u32) -> u64 {
        if levels == 0 { return 1; }
        let h = hash(x);
        let mut total = 1u64;
        for i in 0..h % 3 { total += spawn!(right(h.wrapping_add(i), levels - 1)); }
        for i in 0..(h >> 8) % 3 { total += spawn!(left(h.wrapping_sub(i), levels - 1)); }
        sync!();
        total
    }
    #[task] pub fn right(x: u32, levels: u32) -> u64 {
        if levels == 0 { return 2; }
        let h = hash(x ^ 5);
        let mut total = 2u64;
        for i in 0..h % 4 { total += spawn!(left(h.wrapping_add(i), levels - 1)); }
        sync!();
        total
    }
}";

/// n-queens by the columns of the rows above, an array, which no private stack holds: inside the blocks its tiles are tried in place.
const BOARDS: &str = "#[millstream::program] mod boards {
    #[task] pub fn place(columns: [u8; 12], row: u8, all: u8) -> u64 {
        if row == all { return 1; }
        let mut count = 0u64;
        for column in 0..all {
            let free = (0..row).all(|r| {
                let (other, apart) = (columns[r as usize], row - r);
                other != column && other + apart != column && column + apart != other
            });
            if free {
                let mut next = columns;
                next[row as usize] = column;
                count += spawn!(place(next, row + 1, all));
            }
        }
        sync!();
        count
    }
}";

/// The first task and three of `4 * most` others spawn up to `most` children, the rest up to two, so that a level has little more than the one
/// before; results are gathered. A `most` beyond 2^20 marks the first.
const WIDE: &str = "#[millstream::program] mod wide {
    fn hash(x: u32) -> u32 {
        let a = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
        let b = (a ^ (a >> 15)).wrapping_mul(0x846c_a68b);
        b ^ (b >> 16)
    }
    #[task] pub fn wide(x: u32, depth: u32, most: u32) -> u64 {
        if depth == 0 { return x as u64; }
        let h = hash(x);
        let m = most & 0xf_ffff;
        let n = if h % (4 * m) < 3 || most > 1 << 20 { (h >> 3) % m } else { (h >> 10) % 3 };
        let mut sum = 1u64;
        for i in 0..n {
            sum += spawn!(wide(h.wrapping_mul(i | 1).wrapping_add(i), depth - 1, m));
        }
        sync!();
        sum
    }
}";

/// The same shape without results: tasks mark what they saw. Two kinds of children.
const MARKS: &str = "#[millstream::program] mod marks {
    use std::sync::atomic::{AtomicU64, Ordering};
    fn hash(x: u32) -> u32 {
        let a = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
        let b = (a ^ (a >> 15)).wrapping_mul(0x846c_a68b);
        b ^ (b >> 16)
    }
    #[task] pub fn marks(x: u32, depth: u32, most: u32, seen: &AtomicU64) {
        seen.fetch_add((x % 1000) as u64 + 1, Ordering::Relaxed);
        if depth == 0 { return; }
        let h = hash(x);
        let m = most & 0xf_ffff;
        let n = if h % (4 * m) < 3 || most > 1 << 20 { (h >> 3) % m } else { (h >> 9) % 3 };
        for i in 0..n {
            if (h ^ i) % 3 == 0 {
                spawn!(end(h.wrapping_add(i), seen));
            } else {
                spawn!(marks(h.wrapping_mul(i | 1).wrapping_add(i), depth - 1, m, seen));
            }
        }
    }
    #[task] pub fn end(x: u32, seen: &AtomicU64) {
        seen.fetch_add((x % 77) as u64, Ordering::Relaxed);
    }
}";

/// Syncs in a loop: rounds of children, each round as many as the one before counted.
const PHASES: &str = "#[millstream::program] mod phases {
    fn hash(x: u32) -> u32 {
        let a = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
        let b = (a ^ (a >> 15)).wrapping_mul(0x846c_a68b);
        b ^ (b >> 16)
    }
    #[task] pub fn phases(x: u32, depth: u32, most: u32) -> u64 {
        if depth == 0 { return (hash(x) % 5) as u64; }
        let mut n = hash(x) % most;
        let mut all = 0u64;
        for round in 0..3 {
            let mut sum = 0u64;
            for i in 0..n {
                sum += spawn!(phases(x.wrapping_add(i * 31 + round), depth - 1, 3));
            }
            sync!();
            all = all.wrapping_mul(7).wrapping_add(sum);
            n = (sum % (most as u64)) as u32;
        }
        all
    }
}";

/// After its children, some tasks spawn many more than any before: few of them run together, and none finds room.
const LATE: &str = "#[millstream::program] mod late {
    #[task] pub fn late(x: u32, depth: u32, most: u32) -> u64 {
        if depth == 0 { return (x % 5) as u64; }
        let mut first = 0u64;
        for i in 0..2 {
            first += spawn!(late(x * 2 + i, depth - 1, most));
        }
        sync!();
        let n = if depth == 2 { most - x } else { 1 };
        let mut then = first;
        for i in 0..n {
            then += spawn!(late(x + i, 0, 1));
        }
        sync!();
        then.wrapping_mul(3) ^ first
    }
}";

/// Deep and narrow: several chains side by side, each with a frame and a leaf at every level.
const CHAINS: &str = "#[millstream::program] mod chains {
    #[task] pub fn chains(count: u32, depth: u32) -> u64 {
        let mut sum = 0u64;
        for i in 0..count {
            sum += spawn!(chain(depth + i % 7, i));
        }
        sync!();
        sum
    }
    #[task] pub fn chain(depth: u32, x: u32) -> u64 {
        if depth == 0 { return x as u64; }
        let below = spawn!(chain(depth - 1, x.wrapping_mul(5).wrapping_add(1)));
        let beside = spawn!(leaf(x));
        sync!();
        below.wrapping_mul(3) ^ beside
    }
    #[task] pub fn leaf(x: u32) -> u64 {
        (x % 10) as u64
    }
}";

/// As many children as memory says while they are spawned, with an effect before each: elements are given up between two of them.
const EFFECTS: &str = "#[millstream::program] mod effects {
    use std::sync::atomic::{AtomicU64, Ordering};
    fn hash(x: u32) -> u32 {
        let a = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
        let b = (a ^ (a >> 15)).wrapping_mul(0x846c_a68b);
        b ^ (b >> 16)
    }
    #[task] pub fn effects(x: u32, depth: u32, most: u32, seen: &[AtomicU64]) -> u64 {
        if depth == 0 { return (x % 7) as u64; }
        let h = hash(x);
        let m = most & 0xf_ffff;
        let n = if h % (4 * m) < 3 || most > 1 << 20 { (h >> 3) % m } else { (h >> 9) % 3 };
        let (mut i, mut own, mut all) = (0, h as u64, 0u64);
        while i < n && seen[0].fetch_add(1, Ordering::Relaxed) < 1 << 60 {
            own = own.wrapping_mul(31).wrapping_add(seen[1].load(Ordering::Relaxed));
            if (h ^ i) % 4 == 0 {
                seen[2].fetch_add(own % 1000, Ordering::Relaxed);
                spawn!(end(own as u32, seen));
            }
            all += spawn!(effects(h.wrapping_mul(i | 1).wrapping_add(i), depth - 1, m, seen));
            i += 1;
        }
        sync!();
        seen[2].fetch_add(own % 1000, Ordering::Relaxed);
        all.wrapping_mul(3) ^ own
    }
    #[task] pub fn end(x: u32, seen: &[AtomicU64]) {
        seen[2].fetch_add((x % 77) as u64, Ordering::Relaxed);
    }
}";

/// One task that spawns all others, and marks each before.
const SPAWNER: &str = "#[millstream::program] mod spawner {
    use std::sync::atomic::{AtomicU64, Ordering};
    #[task] pub fn child(i: u64, sum: &AtomicU64) {
        sum.fetch_add(i, Ordering::Relaxed);
    }
    #[task] pub fn spawner(n: u64, marks: &mut [u8], seen: &AtomicU64, sum: &AtomicU64) {
        let mut i = 0;
        while seen.fetch_add(1, Ordering::Relaxed) < n {
            marks[i % marks.len()] += 1;
            spawn!(child(i as u64, sum));
            i += 1;
        }
    }
}";

/// A loop whose rounds are shared out: a piece has others, or rounds, as many of each as data says. Its tiles are counted, of two kinds at once.
const PIECES: &str = "#[millstream::program] mod pieces {
    use std::sync::atomic::{AtomicU32, Ordering};
    #[task] pub fn mark(at: u32, seen: &[AtomicU32]) {
        seen[at as usize % seen.len()].fetch_add(at | 1, Ordering::Relaxed);
    }
    #[task] pub fn all(n: u32, seen: &[AtomicU32]) {
        for at in 0..n {
            spawn!(mark(at, seen));
        }
    }
}";

/// Recursions with frames, many side by side: of each level some wait while others and all below them run.
const RAYS: &str = "#[millstream::program] mod rays {
    #[task] pub fn ray(x: u32, depth: u32) -> u64 {
        if depth == 0 { return x as u64; }
        let h = (x ^ (x >> 15)).wrapping_mul(0x2c1b_3c6d);
        let (mut mirrored, mut refracted) = (0u64, 0u64);
        if h >> 8 & 3 != 0 { mirrored = spawn!(ray(h, depth - 1)); }
        if h >> 12 & 1 != 0 { refracted = spawn!(ray(h ^ 77, depth - 1)); }
        sync!();
        mirrored.wrapping_mul(3) ^ refracted.wrapping_add(x as u64)
    }
    #[task] pub fn pixel(x: u32) -> u64 {
        let color = spawn!(ray(x, 10));
        sync!();
        color.wrapping_mul(5)
    }
    #[task] pub fn rays(pixels: u32) -> u64 {
        let mut sum = 0u64;
        for x in 0..pixels {
            sum += spawn!(pixel(x));
        }
        sync!();
        sum
    }
}";

/// Loops that only spawn, of none to very many turns: two kinds of children a turn, one of which waits, and reads of memory; by counters of several types,
/// within other loops, one behind another, and before a sync that nothing follows.
const HUBS: &str = "#[millstream::program] mod hubs {
    fn hash(x: u32) -> u32 {
        let a = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
        let b = (a ^ (a >> 15)).wrapping_mul(0x846c_a68b);
        b ^ (b >> 16)
    }
    #[task] pub fn leaf(x: u32, by: i32) -> u64 {
        if x % 16 == 3 {
            let more = spawn!(leaf(hash(x) | 4, by - 1));
            sync!();
            return more.wrapping_mul(3);
        }
        (x as u64).wrapping_add(by as u64)
    }
    #[task] pub fn hubs(x: u32, depth: u32, most: u32, data: &[u32]) -> u64 {
        if depth == 0 { return data[x as usize % data.len()] as u64; }
        let h = hash(x);
        let n = if depth > 100 { h % most } else if h % 64 == 0 { h % (most / 32 + 1) } else { h % 3 };
        let below = if depth > 100 { depth - 101 } else { depth - 1 };
        let (mut sum, mut greatest) = (0u64, 0u64);
        let mut i = 0usize;
        while i < n as usize {
            sum += spawn!(hubs(h ^ data[i % data.len()].wrapping_mul(i as u32), below, most, data));
            greatest = greatest.max(spawn!(leaf(h.wrapping_add(i as u32), i as i32)));
            i += 1;
        }
        for row in 0..h % 3 {
            for column in -(row as i32)..n as i32 / 2 {
                sum += spawn!(leaf(h ^ row, column));
                sum += spawn!(leaf(h ^ 1, column - 1));
            }
        }
        sync!();
        sum.wrapping_mul(5) ^ greatest.wrapping_add(i as u64)
    }
}";

/// Loops that only spawn whose counters are asked for later, begin beyond their limits, or are counted on where there is another turn alone.
const COUNTERS: &str = "#[millstream::program] mod counters {
    fn hash(x: u32) -> u32 {
        let a = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
        let b = (a ^ (a >> 15)).wrapping_mul(0x846c_a68b);
        b ^ (b >> 16)
    }
    #[task] pub fn behind(x: u32, depth: u32, most: u32) -> u64 {
        if depth == 0 { return x as u64; }
        let (h, mut sum) = (hash(x), 0u64);
        let (b, c, d) = (h % most, (h >> 7) % most, (h >> 13) % most);
        let below = if depth > 1 && h % 9 < 8 { 0 } else { depth - 1 };
        let mut i = h % 3;
        while i < b { sum += spawn!(behind(h ^ i, below, most)); i += 1; }
        let q = i ^ 5;
        while i < c { sum += spawn!(behind(h ^ i.wrapping_mul(q), below, most)); i += 1; }
        let q = i ^ 7;
        while i < d { sum += spawn!(behind(h ^ i.wrapping_mul(q), below, most)); i += 1; }
        sync!();
        sum.wrapping_mul(3).wrapping_add(i as u64)
    }
    #[task] pub fn turned(x: u32, depth: u32, most: u32) -> u64 {
        if depth == 0 { return x as u64; }
        let (h, mut sum, mut i) = (hash(x), 0u64, 0u32);
        let m = h % most;
        let below = if h % 9 < 8 { 0 } else { depth - 1 };
        for j in 0..h % 3 {
            if j == 1 { i = j; } else { i = 2 * j; }
            loop {
                sum += spawn!(turned(h ^ i, below, most));
                if i < m { i += 1; } else { break; }
            }
        }
        while { let c = i < m; i += 1; c } { sum += spawn!(turned(h.wrapping_add(i), below, most)); }
        sync!();
        sum.wrapping_mul(3).wrapping_add(i as u64)
    }
    #[task] pub fn counters(x: u32, depth: u32, most: u32) -> u64 {
        let mut all = 0u64;
        for i in 0..x {
            all += spawn!(behind(i, depth, most));
            all += spawn!(turned(i, depth, most));
        }
        sync!();
        all
    }
}";
