//! Programs whose accesses of memory are watched: whatever lanes, warps and blocks share, somebody has put in order.
//!
//! `MILLSTREAM_STRESS` says for how many seconds each program is tried, in all its budgets; two programs run once, if it is not set. If it is, all bugs are
//! planted that are listed here, else two.

use super::stress::{calls, seconds, stress};
use millstream_tests::{
    emulator::{self, Emulator},
    engine::prepare,
    on_all_cores,
};
use std::time::Duration;

#[test]
fn accesses_of_programs_in_tight_budgets_are_ordered() {
    if !emulator::is_there() {
        return;
    }
    let all = match seconds() {
        Some(_) => calls().to_vec(),
        None => calls()[1..3].to_vec(),
    };
    let wrong = on_all_cores(&all, |call| {
        let tried = &call.0;
        let prepared = prepare(&tried.source, &tried.name).unwrap();
        let mut emulator = Emulator::watched(&prepared.levelized).unwrap();
        let (tried, budgets) = call;
        let (budgets, limit) = match seconds() {
            Some(seconds) => (*budgets, Duration::from_secs(seconds)),
            None => (&budgets[2..3], Duration::ZERO),
        };
        let call = (tried.clone(), budgets);
        let seen = stress(&call, &prepared, &mut emulator, limit);
        println!("{}: {seen:?}", tried.name);
        seen.wrong.map(|wrong| format!("{}: {wrong}", tried.name))
    });
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// What is out of order: where, what stands there, and what is put in its place.
const RACES: [(&str, &str, &str, &str); 12] = [
    (
        "policy: lanes compare with the most so far before one writes",
        "wide",
        "average = max_lane(average);\n  if (lane_id() == 0 && average",
        "if (average",
    ),
    (
        "policy: what one lane chose the others read at once",
        "fib",
        "    policy_begins(p);\n  }\n  __syncwarp();",
        "    policy_begins(p);\n  }",
    ),
    (
        "narrow levels: a lane takes what another one pushes before it is there",
        "fib",
        "    __syncwarp();\n    // The next elements are under way",
        "    // The next elements are under way",
    ),
    (
        "levels: the marks are counted anew while others read how many there are",
        "tree",
        "u32 marks = p.marks;\n  __syncwarp();",
        "u32 marks = p.marks;",
    ),
    (
        "turns: the last dispatch is made while others look whether it is",
        "fib",
        "// All have seen that it is not so.\n      __syncthreads();",
        "",
    ),
    (
        "dispatch: who waited does not see what was decided",
        "fib",
        "if (GLOBAL_LOAD(at) == wanted) {\n      __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);",
        "if (GLOBAL_LOAD(at) == wanted) {",
    ),
    (
        "dispatch: the others are told before the record is written",
        "fib",
        "__nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);\n      // Release: pairs with the fence in the other blocks' `await`.\n      __nv_atomic_store_n(&c->epoch, ++epoch, __NV_ATOMIC_RELEASE, ",
        "__nv_atomic_store_n(&c->epoch, ++epoch, __NV_ATOMIC_RELAXED, ",
    ),
    (
        "dispatch: a block says that it is done before all of it is",
        "fib",
        "share_ends(sh);\n      // Release: pairs with the fence in block 0's `await`.\n      if (thread_id() == 0) {\n        __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);\n        __nv_atomic_fetch_add(&c->arrived, 1u, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);",
        "share_ends(sh);\n      // Release: pairs with the fence in block 0's `await`.\n      if (thread_id() == 0) {\n        __nv_atomic_fetch_add(&c->arrived, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);",
    ),
    (
        "tiles: of the next one its number is read while it is written",
        "queens",
        "    tile = next;\n    if (tile < tiles) __syncthreads();\n  }",
        "    tile = next;\n  }",
    ),
    (
        "workers: a gift is offered before it is written",
        "queens",
        "__nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);\n    __nv_atomic_store_n(&gift.state, (u32)GIFT_OFFERED",
        "__nv_atomic_store_n(&gift.state, (u32)GIFT_OFFERED",
    ),
    (
        "workers: a gift is gone before it is copied",
        "queens",
        "__nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);\n        __nv_atomic_store_n(&gifts[take.of].state",
        "__nv_atomic_store_n(&gifts[take.of].state",
    ),
    (
        "workers: what one lane gives away the others still look at",
        "queens",
        "// All lanes have read what the first one changes.\n  __syncwarp();",
        "",
    ),
];

#[test]
fn planted_races_are_found() {
    if !emulator::is_there() {
        return;
    }
    let seconds = seconds();
    let all: Vec<_> = RACES
        .iter()
        .take(if seconds.is_some() { RACES.len() } else { 2 })
        .collect();
    let missed = on_all_cores(&all, |(bug, program, right, wrong)| {
        let calls = calls();
        let call = calls.iter().find(|call| call.0.name == *program).unwrap();
        let prepared = prepare(&call.0.source, &call.0.name).unwrap();
        let start = std::time::Instant::now();
        let mut emulator = Emulator::watched_with_bug(&prepared.levelized, right, wrong);
        let limit = Duration::from_secs(seconds.unwrap_or(0));
        let found = stress(call, &prepared, &mut emulator, limit).wrong;
        println!("{bug}: {:.1?}: {found:?}", start.elapsed());
        found.is_none().then_some(bug)
    });
    let missed: Vec<_> = missed.into_iter().flatten().collect();
    assert!(missed.is_empty(), "not found: {missed:?}");
}
