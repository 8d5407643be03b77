//! Random programs whose tasks spawn none or very many children: what memory under pressure is tried with.

use crate::stress::Tried;

/// A small generator of numbers, so that a seed is a program.
struct Lots(u64);

impl Lots {
    /// Less than `n`.
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % n
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}

/// How the results of a program's tasks go to their parents.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Results {
    /// They are gathered.
    Gathered,
    /// There are none; tasks add to a common counter.
    Counted,
}

/// The program of a seed, and its call: the first task spawns up to `most` children, so do some others, the rest a few, and levels are hardly wider
/// than the one before.
#[must_use]
pub fn swarm(seed: u64, most: u32) -> Tried {
    let mut lots = Lots(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    lots.below(2);
    let results = if lots.below(3) == 0 {
        Results::Counted
    } else {
        Results::Gathered
    };
    let tasks = 1 + lots.below(4);
    let all: String = (0..tasks)
        .map(|t| task(&mut lots, t, tasks, results))
        .collect();
    let source = format!(
        "#[millstream::program] mod swarm {{
    use std::sync::atomic::{{AtomicU64, Ordering}};
    fn hash(x: u32) -> u32 {{
        let a = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
        let b = (a ^ (a >> 15)).wrapping_mul(0x846c_a68b);
        b ^ (b >> 16)
    }}
{all}}}"
    );
    let depth = 2 + lots.below(8);
    // The lowest bit over 2^20 marks the first task, which spawns many for sure.
    let mut args = vec![
        seed.to_string(),
        depth.to_string(),
        (most | 1 << 21).to_string(),
    ];
    if results == Results::Counted {
        args.push("0".into());
    }
    Tried {
        name: format!("swarm {seed}"),
        source,
        task: "t0".into(),
        args,
    }
}

/// How a task goes through its children: the head of the loop, and how it goes on.
const LOOPS: [(&str, &str); 3] = [
    ("for i in 0..n {", "}"),
    ("let mut i = 0; while i < n {", "i += 1; }"),
    (
        "let mut left = n; while left > 0 { let i = left - 1;",
        "left -= 1; }",
    ),
];

fn task(lots: &mut Lots, number: u64, tasks: u64, results: Results) -> String {
    let counted = results == Results::Counted;
    let (seen, result) = if counted {
        (", seen: &AtomicU64", "")
    } else {
        ("", " -> u64")
    };
    let few = 2 + lots.below(2);
    let join = lots.of(&[
        "all += CHILD;",
        "all ^= CHILD;",
        "all = all.max(CHILD);",
        "all |= CHILD;",
    ]);
    let spawn = |lots: &mut Lots, x: &str| {
        let child = format!(
            "spawn!(t{}({x}, depth - 1, m{}))",
            lots.below(tasks),
            if counted { ", seen" } else { "" }
        );
        if counted {
            format!("{child};")
        } else {
            join.replace("CHILD", &child)
        }
    };
    let (head, tail) = LOOPS[lots.below(3) as usize];
    let x = "h.wrapping_mul(i | 1).wrapping_add(i)";
    let inside = if lots.below(2) == 0 {
        spawn(lots, x)
    } else {
        format!(
            "if (h ^ i) % 3 == 0 {{ {} }} else {{ {} }}",
            spawn(lots, x),
            spawn(lots, x)
        )
    };
    // In the loop something is done beside it, and how often it turns may be told by memory: then nobody can count what is spawned beforehand.
    let way = if counted { lots.below(3) } else { 0 };
    let (head, inside, tail) = match way {
        1 => (
            head,
            format!("seen.fetch_add((h ^ i) as u64 % 7, Ordering::Relaxed); {inside}"),
            tail,
        ),
        2 => (
            "let mut i = 0; while i < n && seen.fetch_add(1, Ordering::Relaxed) < 1 << 60 {",
            inside,
            "i += 1; }",
        ),
        _ => (head, inside, tail),
    };
    // Another child now and then, beside the loop's.
    let beside = if lots.below(3) == 0 {
        format!("if h % 8 == 1 {{ {} }}", spawn(lots, "h ^ 5"))
    } else {
        String::new()
    };
    let (leaf, begin, end) = if counted {
        (
            "return;",
            "seen.fetch_add((x % 1000) as u64 + 1, Ordering::Relaxed);",
            "",
        )
    } else {
        (
            "return (x % 1000) as u64;",
            "let mut all = (x % 7) as u64;",
            lots.of(&[
                "sync!(); all",
                "sync!(); all.wrapping_mul(3).wrapping_add(h as u64)",
                "sync!(); (all >> 1) ^ (x as u64)",
            ]),
        )
    };
    let again = if !counted && lots.below(4) == 0 {
        format!(
            "sync!(); all = all.wrapping_mul(5); if all % 8 == 3 {{ {} }}",
            spawn(lots, "h ^ 9")
        )
    } else {
        String::new()
    };
    format!(
        "    #[task] pub fn t{number}(x: u32, depth: u32, most: u32{seen}){result} {{
        {begin}
        if depth == 0 {{ {leaf} }}
        let h = hash(x.wrapping_add({number}));
        let m = most & 0xf_ffff;
        let n = if h % (4 * m) < 3 || most > 1 << 20 {{ (h >> 3) % m }} else {{ (h >> 10) % {few} }};
        {head} {inside} {tail}
        {beside}
        {again}
        {end}
    }}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::prepare;

    #[test]
    fn every_swarm_is_a_program() {
        for seed in 1..40 {
            let tried = swarm(seed, 300);
            assert!(
                prepare(&tried.source, &tried.name).is_ok(),
                "{}",
                tried.source
            );
        }
    }
}
