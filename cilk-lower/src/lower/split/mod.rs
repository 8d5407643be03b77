//! Splits a task at its syncs into segments.
//!
//! A continuation segment starts at a sync's target and goes as far as the next syncs; blocks that several segments reach stand in each.
//! What lives across a sync goes to the task's frame: locals by a store before and a load after it, slots whole.

mod addresses;
mod frame;
mod persist;
mod plan;
mod points_to;
mod prune;
mod segment;
mod spawned;

use super::{reduce, restart, simplify, unroll};
use millstream_graph::{
    ir::{Combine, FuncId, Function, LocalId, Program, SegmentId},
    levelized::LoweredTask,
};
use plan::Plan;

/// Splits one task, with restart points where it wants them. Its pushes are not counted yet.
pub(crate) fn split(program: &Program, func: FuncId, combine: Combine) -> LoweredTask {
    let mut function = program[func].clone();
    let mut ret = plan::add_return_address(program, &mut function);
    ret = ret.map(|address| reduce::forward(&mut function, address, combine));
    let task = split_at_syncs(program, (func, combine), function.clone(), ret);
    if task.segments.iter().any(restart::is_wanted) && restart::insert(&mut function) {
        split_at_syncs(program, (func, combine), function, ret)
    } else {
        task
    }
}

fn split_at_syncs(
    program: &Program,
    (func, combine): (FuncId, Combine),
    mut function: Function,
    mut ret: Option<LocalId>,
) -> LoweredTask {
    spawned::separate(&mut function);
    ret = simplify::simplify(&mut function, ret);
    spawned::drop_tail_syncs(&mut function, combine);
    addresses::sink(&mut function);
    simplify::tidy(&mut function, ret);
    let plan = Plan::new(program, &function, ret);
    let segments = (0..plan.starts.len()).map(|i| {
        let mut segment = segment::make(&function, &plan, SegmentId::new(i));
        segment.ret = unroll::unroll(&mut segment.body, segment.ret);
        segment
    });
    let segments = segments.collect();
    let mut task = LoweredTask {
        func,
        name: function.name.clone(),
        combine,
        element: plan::element(program, &function, ret),
        frame: plan.frame,
        segments,
    };
    prune::prune(&mut task);
    task
}
