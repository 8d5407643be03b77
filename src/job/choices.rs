//! What a run was done with, and why: what the user asked for, and what was chosen.

use super::{Job, spec::Place};
use millstream_aggregator::{Aggregator, Bytes, Device, Policy, RunReport};
use serde::Serialize;

/// Something that a run was done with.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub struct Choice {
    /// What: `device`, `threads`, `memory`, `aggregator`.
    pub what: &'static str,
    /// Which or how much.
    pub value: String,
    /// Who said so, or why it was chosen.
    pub why: String,
}

const ASKED: &str = "asked for";

impl Job {
    /// What a run of this job on this device was done with.
    #[must_use]
    pub fn choices(&self, device: &Device, report: &RunReport) -> Vec<Choice> {
        let spec = &self.spec;
        let choice = |what, value: String, why: &str| Choice {
            what,
            value,
            why: why.into(),
        };
        let is_gpu = device.gpu().is_some();
        let why = match (spec.device, is_gpu) {
            (Place::Auto, false) if spec.threads.is_some() => "the device that has threads",
            (Place::Auto, true) => "the best that was found",
            (Place::Auto, false) => "no GPU was found, or the environment says so",
            (Place::Cpu | Place::Cuda(_), _) => ASKED,
        };
        let mut out = vec![choice("device", device.name().into(), why)];
        if !is_gpu {
            let asked = spec.threads.is_some();
            let from = if asked {
                ASKED
            } else {
                "as many as the machine runs at once"
            };
            let why = match report.left_out {
                0 => from.into(),
                n => format!("{from}, less {n} for which the memory is too little"),
            };
            let threads = device.threads() - report.left_out;
            out.push(choice("threads", threads.to_string(), &why));
        }
        let why = match (spec.memory, is_gpu) {
            (Some(_), _) => ASKED,
            (None, true) if report.modest => "enough inside the blocks",
            (None, true) => "half of what is free, 16 GiB at most",
            (None, false) => "a quarter of what is free",
        };
        out.push(choice("memory", Bytes(report.budget).to_string(), why));
        if is_gpu {
            let (value, why) = match spec.aggregator.unwrap_or_default() {
                Aggregator::Auto if report.early => (
                    "auto",
                    "a thread of the host where there is no kernel for narrow levels yet, or none as the program is too large",
                ),
                Aggregator::Auto => (
                    "auto",
                    "one block while levels are narrow, a thread of the host where they are not",
                ),
                Aggregator::Persistent => ("persistent", ASKED),
                Aggregator::HostThread => ("host", ASKED),
            };
            out.push(choice("aggregator", value.into(), why));
            let inside = &report.subtrees;
            let (value, why) = match spec.policy.unwrap_or_default() {
                Policy::Device => ("device", ASKED),
                Policy::Block if inside.count == 0 => (
                    "device",
                    "no task was one for blocks, they found no room, or their kernel was not there",
                ),
                Policy::Block => ("block", ASKED),
                Policy::Auto if inside.recalls > 0 => (
                    "block and device",
                    "blocks ran what they can, but did not always find room",
                ),
                Policy::Auto if inside.private => (
                    "block",
                    "tasks that spawn their own kind alone and gather have private stacks there",
                ),
                Policy::Auto if inside.framed => (
                    "block",
                    "tasks wait and spawn their own kind again: each block has levels of its own",
                ),
                Policy::Auto if inside.count > 0 => {
                    ("block", "memory was little, or the tree narrow")
                }
                Policy::Auto => (
                    "device",
                    "memory was enough for wide dispatches, no task was one for blocks, or their kernel was not there",
                ),
            };
            out.push(choice("policy", value.into(), why));
        }
        out
    }
}
