//! Programs as users write them, through the front end.

use super::{
    In, agrees,
    apart::{apart, task},
    frames_are_for_restarts, number, simulated,
};
use millstream_cilk_lower::lower::{check::check, lower};
use millstream_graph::ir::{Program, Stmt, StmtKind, Terminator};

pub(super) fn program(body: &str) -> Program {
    let source = format!("#[millstream::program]\nmod p {{\n{body}\n}}\n");
    let file = millstream_cilk_lower::front::parse_file(&source, "p.rs", None);
    file.unwrap_or_else(|e| panic!("{e:?}\n{source}"))
}

const QUEENS: &str = "
    #[task]
    pub fn queens(board: [u8; 16], n: usize, row: usize) -> u64 {
        if row == n { return 1; }
        let mut total = 0;
        for col in 0..n {
            if safe(&board, row, col) {
                let mut next = board;
                next[row] = col as u8;
                total += spawn!(queens(next, n, row + 1));
            }
        }
        sync!();
        total
    }
    fn safe(board: &[u8], row: usize, col: usize) -> bool {
        for r in 0..row {
            let c = board[r] as usize;
            if c == col || c + (row - r) == col || col + (row - r) == c { return false; }
        }
        true
    }
";

#[test]
fn queens_from_source() {
    let program = program(QUEENS);
    assert_eq!(
        number(&agrees(
            &program,
            "queens",
            &[In::Array(vec![0; 16]), In::Bits(6), In::Bits(0)]
        )),
        4
    );
    // The helper is inlined, the board is passed by value, and only the outermost task and who finds no room have a frame.
    let lowered = lower(&program).unwrap();
    let queens = &apart(&lowered).tasks[1];
    let calls = queens
        .segments
        .iter()
        .flat_map(|s| &s.body.blocks)
        .flat_map(|b| &b.stmts);
    assert_eq!(
        calls
            .filter(|s| matches!(s.kind, StmtKind::Call { .. }))
            .count(),
        0
    );
    assert!(frames_are_for_restarts(queens));
}

/// What a task does between spawns in a loop, that may stop before any of them and go on there.
const RESTARTS: &str = "
    use std::sync::atomic::{AtomicU64, Ordering};

    #[task]
    pub fn child(value: u64, out: &mut u64) {
        *out += value;
    }

    #[task]
    pub fn square(value: u64, seen: &[AtomicU64]) -> u64 {
        seen[1].fetch_add(value, Ordering::Relaxed);
        value * value
    }

    #[task]
    pub fn effects(n: u64, out: &mut [u64], seen: &[AtomicU64]) {
        let mut at = 0;
        let mut step = 0u64;
        while at < out.len() && seen[0].fetch_add(1, Ordering::Relaxed) < n {
            out[at] += 1000;
            spawn!(child(step, &mut out[at]));
            at += 1;
            step += n;
        }
    }

    #[task]
    pub fn results(n: u64, seen: &[AtomicU64]) -> u64 {
        let mut last = [0u64; 4];
        let mut sum = 7u64;
        let mut total = 0u64;
        for i in 0..n {
            last[(i % 4) as usize] += sum;
            sum += seen[0].fetch_add(i, Ordering::Relaxed) + last[(i / 2 % 4) as usize];
            if sum % 3 != 0 {
                total += spawn!(square(i, seen));
            } else {
                spawn!(square(sum, seen));
            }
        }
        sync!();
        total ^ sum ^ last[1]
    }

    #[task]
    pub fn nested(depth: u64, n: u64, seen: &[AtomicU64]) -> u64 {
        let mut some = 0u64;
        let first = spawn!(square(n, seen));
        for i in 0..n {
            let mut j = i;
            while j > 0 {
                seen[0].fetch_add(j, Ordering::Relaxed);
                j /= 2;
                if depth > 0 {
                    some += spawn!(nested(depth - 1, j, seen));
                }
            }
            if i % 3 == 2 {
                sync!();
                seen[0].fetch_add(some & 1, Ordering::Relaxed);
            }
        }
        sync!();
        first + some * 3
    }
";

#[test]
fn a_task_that_finds_no_room_goes_on_where_it_stopped() {
    let program = program(RESTARTS);
    let none = In::Slice(vec![0; 2]);
    for n in [0, 1, 5, 9] {
        let out = In::Slice(vec![3; 7]);
        agrees(&program, "effects", &[In::Bits(n), out, none.clone()]);
        agrees(&program, "results", &[In::Bits(n), none.clone()]);
        agrees(
            &program,
            "nested",
            &[In::Bits(2), In::Bits(n), none.clone()],
        );
    }
    let lowered = lower(&program).unwrap();
    let effects = task(&lowered, "effects");
    let mut segments = effects.segments.iter();
    assert!(segments.all(|s| s.body.restarts() == Some(1)));
    assert!(frames_are_for_restarts(&effects));
}

/// A restart point that stands behind an effect: what goes on there does it again, and this is seen.
#[test]
fn an_effect_that_is_done_twice_is_seen() {
    let program = program(RESTARTS);
    let args = [In::Bits(9), In::Slice(vec![3; 7]), In::Slice(vec![0; 2])];
    let good = lower(&program).unwrap();
    let mut bad = apart(&good);
    for block in bad.tasks.iter_mut().flat_map(|t| &mut t.segments) {
        let blocks = &mut block.body.blocks;
        for i in 0..blocks.len() {
            if let Terminator::Room { then, .. } = blocks[i].term {
                let is_spawn = |s: &Stmt| matches!(s.kind, StmtKind::Spawn { .. });
                let after = &mut blocks[then.index()].stmts;
                let before = after.iter().position(is_spawn).unwrap();
                let moved: Vec<Stmt> = after.drain(..before).collect();
                blocks[i].stmts.extend(moved);
            }
        }
    }
    let bad = bad.levelized();
    let run = |lowered, seed| simulated(lowered, "effects", &args, seed);
    assert_eq!(run(&bad, 0), run(&good, 0));
    assert_ne!(run(&bad, 1), run(&good, 1));
}

#[test]
fn a_spawn_without_its_restart_point_is_found() {
    let mut bad = lower(&program(RESTARTS)).unwrap();
    let code = bad.entry(bad.find("effects").unwrap()).func;
    let blocks = &mut bad.program.functions[code.index()].blocks;
    let room = blocks.iter_mut().find_map(|b| match &mut b.term {
        Terminator::Room { children, .. } => Some(children),
        _ => None,
    });
    *room.unwrap() = 0;
    let errors: Vec<String> = check(&bad).iter().map(ToString::to_string).collect();
    let [error] = &errors[..] else {
        panic!("{errors:?}")
    };
    assert!(error.ends_with("spawns what has no room"), "{error}");
}

/// Random programs: the plain interpreter and the lowered program agree on results, buffers and the number of tasks.
#[test]
fn random_programs_agree() {
    let wanted = std::env::var("RANDOM_PROGRAMS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(300);
    // Each core has half of them: it is what takes longest here.
    let half = |first: u64| random_programs((first..).step_by(2), wanted / 2);
    let segments = std::thread::scope(|scope| {
        let even = scope.spawn(|| half(2));
        half(1) + even.join().unwrap()
    });
    assert!(
        segments > 6 * wanted,
        "{segments} segments: the programs are too tame"
    );
}

/// The first programs of these seeds, of which so many are wanted: how many segments they have.
fn random_programs(seeds: impl Iterator<Item = u64>, wanted: usize) -> usize {
    let (mut accepted, mut segments) = (0, 0);
    for (tried, seed) in seeds.enumerate() {
        if accepted == wanted {
            break;
        }
        assert!(
            tried < 40 * wanted,
            "only {accepted} programs were accepted"
        );
        let source = generate(seed);
        let Ok(program) = millstream_cilk_lower::front::parse_file(&source, "p.rs", None) else {
            continue;
        };
        println!("seed {seed}\n{source}");
        let lowered = lower(&program).unwrap();
        segments += lowered.all_segments().count();
        agrees(
            &program,
            "f0",
            &[In::Bits(3), In::Bits(seed % 7), In::Slice(vec![1; 8])],
        );
        accepted += 1;
    }
    segments
}

struct Gen {
    state: u64,
    out: String,
    /// Variables that can be read, with those of enclosing blocks; arrays apart.
    vars: Vec<String>,
    arrays: Vec<String>,
    next: u32,
    spawns: u32,
}

fn generate(seed: u64) -> String {
    let mut gen_ = Gen {
        state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15),
        out: String::new(),
        vars: vec![],
        arrays: vec![],
        next: 0,
        spawns: 0,
    };
    let mut tasks = String::new();
    for f in 0..3 {
        gen_.out.clear();
        gen_.vars = vec!["a".into()];
        gen_.arrays = vec![];
        gen_.spawns = 0;
        if gen_.below(3) == 0 {
            gen_.line("let mut w: u64 = a * 3;");
            gen_.vars.push("w".into());
        }
        gen_.line("if n == 0 { if s.len() > 0 { s[0] = s[0] + 1; } return a + 1; }");
        gen_.block(5, 0);
        let result = gen_.expr();
        gen_.line("sync!();");
        gen_.line(&format!("{result} + h({})", gen_.vars[0].clone()));
        tasks += &format!(
            "#[task]\npub fn f{f}(n: u64, a: u64, s: &mut [u64]) -> u64 {{\n{}}}\n",
            gen_.out
        );
    }
    format!(
        "#[millstream::program]\nmod p {{\n{tasks}
#[task]\npub fn fill(n: u64, v: u64, t: &mut [u64]) {{
    if n > 1 {{ let (x, y) = t.split_at_mut(2); spawn!(fill(n - 1, v + 1, x)); y[0] = v; }}
    t[1] = t[1] ^ v;
}}
fn h(x: u64) -> u64 {{ if x % 3 == 0 {{ return x / 2; }} x ^ 5 }}
}}\n"
    )
}

impl Gen {
    fn below(&mut self, n: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 20) % n
    }

    fn line(&mut self, text: &str) {
        self.out += text;
        self.out.push('\n');
    }

    fn pick(&mut self, of: fn(&Self) -> &Vec<String>) -> Option<String> {
        let n = of(self).len() as u64;
        (n > 0).then(|| {
            let i = self.below(n) as usize;
            of(self)[i].clone()
        })
    }

    fn expr(&mut self) -> String {
        let a = self.pick(|g| &g.vars).unwrap_or_else(|| "7".into());
        match self.below(7) {
            0 => self.below(9).to_string(),
            1 => format!("({a} + {})", self.below(5)),
            2 => {
                let b = self.expr();
                format!("({a} * 3 ^ {b})")
            }
            3 => format!("h({a})"),
            4 => match self.pick(|g| &g.arrays) {
                Some(array) => format!("{array}[({a} % 4) as usize]"),
                None => a,
            },
            _ => a,
        }
    }

    fn spawn(&mut self) -> String {
        self.spawns += 1;
        let f = self.below(3);
        let x = self.expr();
        format!("spawn!(f{f}(n - 1, {x}, &mut []))")
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    fn block(&mut self, statements: u64, depth: u32) {
        let (vars, arrays) = (self.vars.len(), self.arrays.len());
        for _ in 0..=self.below(statements) {
            self.statement(depth);
        }
        if depth > 0 {
            self.vars.truncate(vars);
            self.arrays.truncate(arrays);
        }
    }

    fn statement(&mut self, depth: u32) {
        let may_spawn = self.spawns < 4;
        match self.below(14) {
            0 | 1 => {
                let (name, value) = (self.fresh("v"), self.expr());
                self.line(&format!("let mut {name}: u64 = {value};"));
                self.vars.push(name);
            }
            2 => {
                let (target, value) = (self.pick(|g| &g.vars), self.expr());
                if let Some(target) = target.filter(|t| t != "a") {
                    self.line(&format!("{target} = {value};"));
                }
            }
            3 => {
                let (name, value) = (self.fresh("r"), self.expr());
                self.line(&format!("let mut {name}: [u64; 4] = [{value}; 4];"));
                self.arrays.push(name);
            }
            4 => {
                let (array, i, value) = (self.pick(|g| &g.arrays), self.expr(), self.expr());
                if let Some(array) = array {
                    self.line(&format!("{array}[({i} % 4) as usize] = {value};"));
                }
            }
            5 | 6 if may_spawn => {
                let (name, spawn) = (self.fresh("v"), self.spawn());
                self.line(&format!("let mut {name} = {spawn};"));
                if self.below(2) == 0 {
                    self.line("sync!();");
                }
                self.vars.push(name);
            }
            7 if may_spawn => {
                let (target, spawn) = (self.pick(|g| &g.vars), self.spawn());
                if let Some(target) = target.filter(|t| t != "a") {
                    self.line(&format!("{target} += {spawn};"));
                    if self.below(2) == 0 {
                        self.line("sync!();");
                    }
                }
            }
            8 if may_spawn => {
                let (array, spawn, i) = (self.pick(|g| &g.arrays), self.spawn(), self.below(4));
                if let Some(array) = array {
                    match self.below(3) {
                        0 => self.line(&format!("spawn!(fill(n % 2, {i}, &mut {array}));")),
                        _ => self.line(&format!("{array}[{i}] = {spawn};")),
                    }
                    if self.below(3) > 0 {
                        self.line("sync!();");
                    }
                }
            }
            9 | 10 if depth < 3 => {
                let cond = self.expr();
                self.line(&format!("if {cond} % 2 == 0 {{"));
                self.block(3, depth + 1);
                if self.below(2) == 0 {
                    self.line("} else {");
                    self.block(3, depth + 1);
                }
                self.line("}");
            }
            11 if depth < 2 => {
                let (i, n) = (self.fresh("i"), self.below(3));
                self.line(&format!("for {i} in 0..{n} {{"));
                self.vars.push(i);
                self.block(3, depth + 1);
                if self.below(2) == 0 {
                    self.line("sync!();");
                }
                self.vars.pop();
                self.line("}");
            }
            12 if depth > 0 => {
                let value = self.expr();
                self.line(&format!("if {value} % 5 == 1 {{ return {value}; }}"));
            }
            _ => self.line("sync!();"),
        }
    }
}

/// How many spawns of a program's segments make their child's test.
fn peeled(body: &str, args: &[u64]) -> usize {
    let program = program(body);
    for n in 0..12 {
        let bits: Vec<In> = args.iter().chain([&n]).map(|a| In::Bits(*a)).collect();
        agrees(&program, "f", &bits);
    }
    let lowered = lower(&program).unwrap();
    let stmts = lowered.all_segments().flat_map(|(_, s)| s.body.stmts());
    stmts
        .filter(|s| matches!(s.kind, StmtKind::Spawn { leaf: Some(_), .. }))
        .count()
}

#[test]
fn operands_without_a_value_end_the_task() {
    // Rust has no such operators; a way of `sum += match .. { .. => loop { return 1; } }` comes to one.
    let program = program(
        "#[task] pub fn f(n: u64) -> u64 { let (mut t, mut a) = (5, [1u64; 4]); match n {
            0 => t += return 10,
            1 => a[1] -= { a[1] = 7; return a[1] + t },
            2 => t = { a[2] = 8; a[2] } + return a[2],
            3 => t = !(return 11),
            4 => a[return 12] += 1,
            5 => t = a[1].max(return 13),
            6 => { let [x, y] = [t, return 14]; t = x + y; }
            7 => { let x: u64 = return 15; t = x; }
            _ => {} } t + a[1] }",
    );
    let expected = [10, 12, 8, 11, 12, 13, 14, 15, 6];
    for (n, expected) in expected.into_iter().enumerate() {
        let result = agrees(&program, "f", &[In::Bits(n as u64)]);
        assert_eq!(number(&result), expected, "{n}");
    }
}

#[test]
fn leaves_end_where_they_are_spawned() {
    // Added to the task's own result; stored or combined in its frame; nothing at all.
    for body in [
        "#[task] pub fn f(w: u64, n: u64) -> u64 {
            match n { 0 => { return 0; } 1 => { return w; } _ => {} }
            let a = spawn!(f(w + 1, n - 1)); let b = spawn!(f(w, n - 2)); sync!(); a + b }",
        "#[task] pub fn f(w: u64, n: u64) -> u64 {
            if n == 0 { return w; }
            let a = spawn!(f(w, n / 2)); let b = spawn!(f(w + 1, n / 3)); sync!(); a.max(b) + 1 }",
        "#[task] pub fn f(w: u64, n: u64) -> u64 {
            if n == 0 || n > 50 { return n ^ w; }
            let mut sum = w; for i in 0..n { sum ^= spawn!(f(sum_of(w, i), i)); } sync!(); sum * 3 }
         fn sum_of(a: u64, b: u64) -> u64 { a + b }",
        "#[task] pub fn f(w: u64, n: u64) { if n > w { spawn!(f(w, n - 1)); spawn!(f(w + 1, n - 2)); } }",
    ] {
        assert!(peeled(body, &[2]) > 0, "{body}");
    }
}

#[test]
fn only_what_is_cheap_and_cannot_fault_is_done_where_a_child_is_spawned() {
    for body in [
        // A check comes first.
        "#[task] pub fn f(n: u64) -> u64 {
            assert!(n < 100);
            if n < 2 { return n; }
            let a = spawn!(f(n - 1)); let b = spawn!(f(n - 2)); sync!(); a + b }",
        // The end that the task mostly comes to is work of its own.
        "#[task] pub fn f(n: u64) -> u64 {
            if n < 5 { let mut sum = 0; for i in 0..n { sum += i * i; } return sum; }
            let a = spawn!(f(n - 1)); let b = spawn!(f(n - 2)); sync!(); a + b }",
        // The order in which floats are added shows.
        "#[task] pub fn g(n: u64) -> f64 {
            if n < 2 { return 0.1 * n as f64; }
            let mut sum = 0.0; for i in 0..n { sum += spawn!(g(i)); } sync!(); sum }
         #[task] pub fn f(n: u64) -> f64 { let x = spawn!(g(n % 4)); sync!(); x + n as f64 / 7.0 }",
    ] {
        let own = peeled(body, &[]);
        assert!(own <= usize::from(body.contains("f64")), "{own} in {body}");
    }
}

#[test]
fn structs_that_gather_need_no_frame() {
    let program = program(
        "#[derive(Clone, Copy, PartialEq, Debug, Default)] pub struct Tally { sum: u64, most: u16, odd: bool }
         impl std::ops::AddAssign for Tally { fn add_assign(&mut self, o: Tally) {
            self.sum += o.sum; self.most = self.most.max(o.most); self.odd |= o.odd; } }
         #[task] pub fn f(n: u64) -> Tally {
            if n < 3 { return Tally { sum: n + 1, most: 9 - n as u16, odd: n == 1 }; }
            let mut tally = Tally { most: n as u16, ..Tally::default() };
            tally += spawn!(f(n - 1));
            if n % 2 == 0 { tally += spawn!(f(n / 2)); }
            sync!();
            tally }
         #[task] pub fn g(n: u64) -> Tally {
            let mut tally = Tally::default();
            for i in 0..n { tally += spawn!(f(i)); if i % 3 == 2 { sync!(); tally.sum %= 50; } }
            sync!();
            tally }",
    );
    for n in 0..12 {
        agrees(&program, "f", &[In::Bits(n)]);
        agrees(&program, "g", &[In::Bits(n)]);
    }
    let lowered = lower(&program).unwrap();
    let gathers = task(&lowered, "f+each_add_max_or");
    assert_eq!((gathers.frame.len(), gathers.segments.len()), (0, 1));
}
