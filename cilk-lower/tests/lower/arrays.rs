//! Small arrays in registers.

use super::{In, agrees, apart::apart, source::program};
use millstream_cilk_lower::lower::lower;
use millstream_graph::{
    flow::Flow,
    ir::{Function, LocalId, Operand, Rvalue, StmtKind},
    text::print_levelized,
};

/// The one segment of the first task; what is left of its slots and loops.
fn left(body: &str) -> (usize, usize) {
    let lowered = lower(&program(body)).unwrap();
    let body = &apart(&lowered).tasks[0].segments[0].body;
    let loops = Flow::new(body).back_edges().len();
    if std::env::var_os("SHOW").is_some() {
        println!("{}", print_levelized(&lowered));
    }
    (body.slots.len(), loops)
}

/// Products of blocks: the block is in registers, and one loop is left, over the blocks.
const BLOCKS: &str = "
    fn mul(a: &[u64], b: &[u64]) -> [[u64; 4]; 4] {
        let mut c = [[0; 4]; 4];
        for i in 0..4 { for j in 0..4 { for k in 0..4 { c[i][j] += a[i * 4 + k] * b[k * 4 + j]; } } }
        c
    }
    #[task]
    pub fn blocks(data: &mut [u64]) {
        for i in 0..data.len() / 16 {
            let c = mul(&data[i * 16..i * 16 + 16], &data[0..16]);
            for x in 0..4 { for y in 0..4 { data[i * 16 + x * 4 + y] = c[x][y]; } }
        }
    }
";

#[test]
fn blocks_are_in_registers() {
    assert_eq!(left(BLOCKS), (0, 1));
    let data = (1..33).map(|i| i * i % 11).collect();
    agrees(&program(BLOCKS), "blocks", &[In::Slice(data)]);
}

/// What is copied and zeroed with holes, read before it is written on some way, and counted in other ways.
const SHAPES: &str = "
    struct Pair { a: u8, b: u32 }
    fn swapped(p: [Pair; 2]) -> [Pair; 2] { let q = p; [q[1], q[0]] }
    #[task]
    pub fn shapes(data: &mut [u64]) {
        let mut pairs = [Pair { a: 1, b: 2 }, Pair { a: 3, b: 4 }];
        let mut rows = [[0u64; 3]; 2];
        let mut k = 6;
        while k > 0 {
            k -= 1;
            rows[k / 3][k % 3] = data[k];
            if data[k] == 3 { continue; }
            if k == 1 { break; }
        }
        rows[1] = rows[0];
        if data[0] > 2 { pairs = swapped(pairs); }
        for p in 0..2 { data[6] += (pairs[p].a as u64) * 10 + pairs[p].b as u64 * (p as u64 + 1); }
        for row in 0..2 { for col in 0..3 { data[7] = data[7] * 3 + rows[row][col]; } }
    }
";

#[test]
fn holes_breaks_and_other_steps() {
    assert_eq!(left(SHAPES), (0, 0));
    for first in 0..5 {
        let data = vec![first, 3, 1, 4, 1, 3, 0, 1];
        agrees(&program(SHAPES), "shapes", &[In::Slice(data)]);
    }
}

#[test]
fn arrays_that_are_named_by_what_is_not_known_stay_and_so_do_their_loops() {
    let stay = |body: &str| {
        let body = format!("#[task] pub fn f(data: &mut [u64]) {{ {body} }} {SUM}");
        agrees(&program(&body), "f", &[In::Slice(vec![2, 5, 7, 1])]);
        left(&body)
    };
    let known = "let mut a = [0; 4]; for i in 0..4 { a[i] = data[i]; }";
    assert_eq!(stay(&format!("{known} data[0] = a[1] + a[3];")), (0, 0));
    // Loops whose bounds say nothing of `data` are there twice.
    assert_eq!(
        stay(&format!("{known} data[0] = a[data[0] as usize];")),
        (1, 2)
    );
    assert_eq!(
        stay(&format!(
            "{known} for i in 0..data.len() {{ data[0] += a[i]; }}"
        )),
        (1, 4)
    );
    assert_eq!(stay(&format!("{known} data[0] = sum(&a);")).0, 1);
    let many = "let mut a = [0; 17]; for i in 0..17 { a[i] = i as u64; } data[0] = a[3] + a[16];";
    assert_eq!(stay(many), (1, 1));
}

/// A loop within one that was written out stands there as often.
#[test]
fn loops_in_loops_that_are_written_out_stay_where_the_whole_would_be_large() {
    let step = "h = ((h ^ x ^ b[j]).wrapping_mul(31) + (h >> 7)) ^ (h << 3);".repeat(8);
    let body = format!(
        "#[task] pub fn f(data: &mut [u64]) {{
            let (mut a, mut b) = ([0; 14], [0; 14]);
            for i in 0..14 {{ a[i] = data[i % 4]; b[i] = data[i % 3] + i as u64; }}
            let mut h = 1;
            for i in 0..14 {{ let x = a[i]; for j in 0..14 {{ if h % 5 != x {{ {step} }} }} }}
            data[0] = h;
        }}"
    );
    agrees(&program(&body), "f", &[In::Slice(vec![2, 5, 7, 1])]);
    let lowered = lower(&program(&body)).unwrap();
    let stmts = apart(&lowered).tasks[0].segments[0].body.stmts().count();
    assert!(stmts < 4096, "{stmts} statements");
}

/// Where it is used, so that it takes no register from one block to the next.
#[test]
fn an_address_is_computed_where_it_is_used() {
    let source = "#[task] pub fn f(data: &mut [u64], k: usize) {
        let mut a = [0u64; 4];
        for i in 0..data.len() { a[i % 4] += data[i]; }
        if k > 9 { data[0] = a[k % 4]; } else { data[1] = a[k / 2 % 4]; }
    }";
    let values = [In::Slice(vec![2, 5, 7, 1, 8]), In::Bits(7)];
    agrees(&program(source), "f", &values);
    let lowered = lower(&program(source)).unwrap();
    let body = &apart(&lowered).tasks[0].segments[0].body;
    assert!(!body.slots.is_empty());
    for block in &body.blocks {
        let mut here = Vec::new();
        for stmt in &block.stmts {
            let at = |o: &Operand| matches!(o, Operand::Local(l) if addresses(body).contains(l));
            for used in stmt.kind.operands().iter().filter(|o| at(o)) {
                assert!(here.contains(used), "{}", print_levelized(&lowered));
            }
            if let StmtKind::Assign { dst, .. } = stmt.kind {
                here.push(Operand::Local(dst));
            }
        }
    }
}

/// The locals that have slots' addresses.
fn addresses(body: &Function) -> Vec<LocalId> {
    let of_slots = body.stmts().filter_map(|s| match s.kind {
        StmtKind::Assign {
            dst,
            value: Rvalue::SlotAddr(_),
        } => Some(dst),
        _ => None,
    });
    of_slots.collect()
}

const SUM: &str = "
    fn sum(of: &[u64]) -> u64 {
        if of.len() == 0 { return 0; }
        of[0] + sum(&of[1..])
    }
";
