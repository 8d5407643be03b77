//! A levelized program as the lowering has it: tasks with their segments in them, to be looked at and to be broken.

use millstream_graph::{
    ir::FunctionKind,
    levelized::{Levelized, LoweredSegment, LoweredTask, Push, Tasks},
};

/// The tasks whose graph it is.
pub(super) fn apart(lowered: &Levelized) -> Tasks {
    let tasks = lowered.tasks().map(|(t, task)| LoweredTask {
        func: lowered.func(t),
        name: task.name.clone(),
        combine: task.combine,
        element: lowered.element(t).to_vec(),
        frame: lowered.frame(t).to_vec(),
        segments: lowered
            .segments(t)
            .map(|segment| LoweredSegment {
                body: segment.body.clone(),
                ret: segment.ret,
                pushes: segment
                    .pushes()
                    .map(|p| Push {
                        stack: lowered.role(p.stack),
                        max: p.max,
                    })
                    .collect(),
            })
            .collect(),
    });
    let mut program = lowered.program.clone();
    program
        .functions
        .retain(|f| f.kind != FunctionKind::Segment);
    Tasks {
        tasks: tasks.collect(),
        program,
    }
}

/// The task of that name.
pub(super) fn task(lowered: &Levelized, name: &str) -> LoweredTask {
    let mut tasks = apart(lowered).tasks.into_iter();
    tasks.find(|t| t.name == name).expect("a task of that name")
}
