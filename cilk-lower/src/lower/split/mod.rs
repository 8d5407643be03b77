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

use super::{alike, bounds, held, reduce, restart, simplify, unroll};
use millstream_graph::{
    ir::{Combine, FuncId, Function, LocalId, Program, SegmentId},
    levelized::LoweredTask,
};
use plan::Plan;

/// A task that is split, for devices that are wide and for others. Its pushes are not counted yet.
#[derive(Debug)]
pub(crate) struct Split<'a> {
    program: &'a Program,
    id: (FuncId, Combine),
    function: Function,
    ret: Option<LocalId>,
    /// Without restart points.
    plain: LoweredTask,
    /// Whether it wants them where the device is wide, and elsewhere.
    wide: bool,
    narrow: bool,
}

impl<'a> Split<'a> {
    /// Splits a task.
    pub(crate) fn new(program: &'a Program, id: (FuncId, Combine)) -> Self {
        let mut function = program[id.0].clone();
        let ret = plan::add_return_address(program, &mut function)
            .map(|address| reduce::forward(&mut function, &program.structs, address, id.1));
        let plain = split_at_syncs(program, id, function.clone(), ret);
        let may = restart::insert(&mut function);
        let wanted = |wide| {
            let mut segments = plain.segments.iter();
            may && segments.any(|s| restart::is_wanted(program, s, wide))
        };
        Self {
            wide: wanted(true),
            narrow: wanted(false),
            program,
            id,
            function,
            ret,
            plain,
        }
    }

    /// Whether it is another on wide devices.
    pub(crate) fn differs(&self) -> bool {
        let mut segments = self.plain.segments.iter();
        self.wide != self.narrow
            || !self.narrow && segments.any(|s| restart::spawns_in_a_loop(&s.body))
    }

    /// With restart points where it wants them.
    pub(crate) fn form(&self, wide: bool) -> LoweredTask {
        if if wide { self.wide } else { self.narrow } {
            split_at_syncs(self.program, self.id, self.function.clone(), self.ret)
        } else {
            self.plain.clone()
        }
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
    alike::rejoin(&mut function, ret);
    addresses::sink(&mut function);
    simplify::tidy(&mut function, ret);
    let plan = Plan::new(program, &function, ret);
    let segments = (0..plan.starts.len()).map(|i| {
        let mut segment = segment::make(&function, &plan, SegmentId::new(i));
        segment.ret = unroll::unroll(&mut segment.body, segment.ret);
        bounds::remove(&mut segment.body, segment.ret);
        held::keep(&mut segment.body, segment.ret);
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
