//! One picture for all versions of a task.
//!
//! The lowering makes a version of a task for each way its result is combined, and a version that adds may need no frame where
//! the one that stores does. The graph shows the task: the version with the most segments, to which all spawns go.

use crate::{
    ir::{FuncId, StmtKind, TaskId},
    levelized::{Levelized, Push, StackRef},
};
use std::collections::BTreeMap;

/// The program with one version of each task.
pub(super) fn merge(program: &Levelized) -> Levelized {
    let mut kept: BTreeMap<&str, TaskId> = BTreeMap::new();
    for (i, task) in program.tasks.iter().enumerate() {
        let best = kept.entry(task.source_name()).or_insert(TaskId::new(i));
        if program[*best].segments.len() < task.segments.len() {
            *best = TaskId::new(i);
        }
    }
    let version = |task: TaskId| kept[program[task].source_name()];
    let mut order: Vec<TaskId> = kept.values().copied().collect();
    order.sort();
    let number = |task: TaskId| {
        order
            .iter()
            .position(|t| *t == version(task))
            .map_or(task, TaskId::new)
    };
    let func = |func: FuncId| {
        program
            .task_of(func)
            .map_or(func, |t| program[version(t)].func)
    };

    let tasks = order.iter().map(|&t| {
        let mut task = program[t].clone();
        task.name = program[t].source_name().to_owned();
        for segment in &mut task.segments {
            for stmt in segment.body.blocks.iter_mut().flat_map(|b| &mut b.stmts) {
                if let StmtKind::Spawn { func: callee, .. } = &mut stmt.kind {
                    *callee = func(*callee);
                }
            }
            let mut pushes: Vec<Push> = Vec::new();
            for push in &segment.pushes {
                let stack = match push.stack {
                    StackRef::Entry(t) => StackRef::Entry(number(t)),
                    StackRef::Frame(t) => StackRef::Frame(number(t)),
                    StackRef::Continuation(t, s) => StackRef::Continuation(number(t), s),
                    StackRef::Channel(c) => StackRef::Channel(c),
                };
                match pushes.iter_mut().find(|p| p.stack == stack) {
                    Some(same) => same.max = same.max.zip(push.max).map(|(a, b)| a + b),
                    None => pushes.push(Push {
                        stack,
                        max: push.max,
                    }),
                }
            }
            segment.pushes = pushes;
            segment.body.name = segment.body.name.replace(&program[t].name, &task.name);
        }
        task
    });
    let tasks = tasks.collect();
    Levelized {
        program: program.program.clone(),
        tasks,
    }
}
