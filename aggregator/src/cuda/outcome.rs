//! What came of a run: the error that it ended with, or the report.

use super::{
    launcher::Launcher,
    run::{Counts, Run},
    timeline::{self, Spans},
};
use crate::{
    error::RunError,
    report::{RunReport, StackReport},
    timeline::What,
};
use millstream_channels_kernel::cuda::{
    abi::{Control, status},
    plan::{Source, StackKind},
};
use millstream_graph::fault::{Fault, FaultValue};
use std::time::Duration;

impl<L: Launcher> Run<'_, L> {
    /// The error that a run ended with, if it did.
    pub(super) fn ended(&self, control: &Control, counts: &Counts) -> Result<(), RunError> {
        let plan = self.plan();
        let (site, depth, budget) = (
            control.site as usize,
            u64::from(counts.level),
            self.arena.tables.size,
        );
        match control.status {
            status::OK => Ok(()),
            status::FAULT => Err(self.fault(site, control.values)),
            status::CHANNEL_FULL => {
                let site = site.min(plan.stacks.len() - 1);
                let stack = &plan.stacks[site];
                let task = plan.program[stack.task].source_name().to_owned();
                let pushes = plan
                    .sources
                    .iter()
                    .flat_map(|s| &s.pushes)
                    .filter(|p| p.stack as usize == site);
                let most = pushes.map(|p| p.max).max().flatten();
                let looped = plan
                    .sources
                    .iter()
                    .flat_map(|s| &s.pushes)
                    .any(|p| p.stack as usize == site && p.max.is_none());
                Err(if looped && stack.kind == StackKind::Entry {
                    RunError::ChannelFull {
                        task,
                        depth,
                        channel: plan.stack_name(site as u32),
                        limit: self.arena.capacities[site],
                        budget,
                    }
                } else {
                    RunError::OutOfMemory {
                        task,
                        depth,
                        need: u64::from(most.unwrap_or(1)) * stack.element_bytes(),
                        budget,
                    }
                })
            }
            status::LEVELS_FULL => {
                let task = plan.program[self.task].source_name().to_owned();
                Err(RunError::TooManyLevels {
                    task,
                    levels: u64::from(counts.reached),
                    budget,
                })
            }
            status::STACK_OVERFLOW => {
                let function = plan
                    .program
                    .program
                    .functions
                    .get(site)
                    .map_or_else(String::new, |f| f.name.clone());
                Err(RunError::StackOverflow { function })
            }
            status::CANCELLED => Err(RunError::Cancelled),
            status::WATCHDOG => Err(RunError::Watchdog {
                limit: self.settings.watchdog,
                depth,
                dispatches: counts.dispatches,
                channels: self.channels(counts),
            }),
            other => Err(RunError::Stuck {
                state: format!("status {other}, channels: {}", self.channels(counts)),
            }),
        }
    }

    fn fault(&self, site: usize, values: [u64; 2]) -> RunError {
        let plan = self.plan();
        let Some(site) = self.launcher.kernels().sites.get(site) else {
            return RunError::Stuck {
                state: format!("check {site} failed, which the program does not have"),
            };
        };
        RunError::Fault(Fault {
            kind: site.kind.clone(),
            values: site
                .types
                .iter()
                .zip(values)
                .map(|(ty, bits)| FaultValue { ty: *ty, bits })
                .collect(),
            function: site.function.clone(),
            file: plan.program.program.file.clone(),
            span: site.span,
        })
    }

    fn channels(&self, counts: &Counts) -> String {
        let plan = self.plan();
        let one = |(i, peak): (usize, &u32)| {
            format!(
                "{} {peak} of {}",
                plan.stack_name(i as u32),
                self.arena.capacities[i]
            )
        };
        counts
            .peak
            .iter()
            .enumerate()
            .map(one)
            .collect::<Vec<_>>()
            .join(", ")
    }

    pub(super) fn report(self, counts: Counts) -> RunReport {
        let plan = self.plan();
        let Counts {
            records, leaves, ..
        } = counts;
        let counts_of = plan
            .sources
            .iter()
            .zip(&counts.consumed)
            .filter(|(source, _)| source.is_entry());
        let ran = |(source, n): (&Source, &u64)| {
            (
                plan.program[source.task].source_name().to_owned(),
                n + leaves.by_stack[source.stack as usize],
            )
        };
        let tasks = crate::report::by_name(counts_of.map(ran));
        let levels = counts.elements.len().max(
            leaves
                .by_level
                .iter()
                .rposition(|n| *n > 0)
                .map_or(0, |last| last + 1),
        );
        let at = |counts: &[u64], level| counts.get(level).copied().unwrap_or(0);
        let elements: Vec<u64> = (0..levels)
            .map(|l| at(&counts.elements, l) + at(&leaves.by_level, l))
            .collect();
        let (mut nodes, node_of) = timeline::nodes(plan);
        let sources = counts.consumed.iter().zip(&counts.lanes);
        for (&node, (consumed, lanes)) in node_of.iter().zip(sources) {
            nodes[node].elements += consumed;
            // Of what the kernel did by itself nobody counted them.
            if !counts.unseen {
                nodes[node].lanes.join(*lanes);
            }
        }
        nodes.retain(|n| n.elements > 0);
        let peaks = plan.stacks.iter().zip(&counts.peak).zip(0..);
        let peaks = peaks.map(|((stack, &peak), s)| StackReport {
            name: plan.stack_name(s),
            element_bytes: stack.bytes(&self.arena.once),
            peak: peak.into(),
        });
        let kernels = self.launcher.kernels();
        let mut report = RunReport {
            leaves: leaves.by_stack.iter().sum(),
            kernels: kernels.described.lock().clone(),
            nodes,
            stacks: peaks.filter(|s| s.peak > 0).collect(),
            total: tasks.iter().map(|(_, n)| n).sum(),
            tasks,
            levels: match elements.iter().take_while(|n| **n > 0).count() as u64 {
                counted if counted < u64::from(self.arena.tables.room.known) => counted,
                _ => u64::from(counts.reached).max(leaves.deepest),
            },
            elements,
            dispatches: counts.dispatches,
            narrow: counts.narrow,
            compared: counts.compared,
            early: counts.early,
            subtrees: counts.workers.report,
            peak: plan
                .stacks
                .iter()
                .zip(&counts.peak)
                .map(|(s, n)| s.bytes(&self.arena.once) * u64::from(*n))
                .sum(),
            budget: self.arena.tables.size,
            compiling: kernels.compiling,
            copying: self.host.took(What::Copy),
            running: counts.kernel,
            ..RunReport::default()
        };
        let spans = || records.as_ref()?.spans.as_ref();
        let in_kernel = match counts.unseen {
            true => spans().and_then(Spans::blocked),
            false => Some(Duration::ZERO),
        };
        report.blocked = in_kernel.map(|b| b + counts.blocked);
        let mut host = self.host;
        if let Some(spans) = records.and_then(|r| r.spans) {
            host.add(What::Compile, kernels.compiled, kernels.compiling);
            spans.tell(&mut report, counts.roots.into(), host);
        }
        report.sum_lanes();
        report
    }
}
