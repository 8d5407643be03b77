//! A record of each decision of a run and of what came of it, and their comparison with the policy, one by one.
//!
//! The persistent kernel writes its own, by `policy.cu` and by `levels.cu`, when its text was made with `Options::records`; the host thread keeps
//! those that it took itself. Decisions depend on what came of those before, which differs from run to run where memory is short, so two runs
//! cannot be compared with each other. Instead the specification ([`policy`](super::policy)) is told what came of each dispatch, and has to
//! decide what was decided. What came of it is looked at too: more cannot be pushed than there was room for, and what found no room
//! has to lie where the level still is.
//!
//! | difference | why it is meant |
//! |---|---|
//! | a narrow run says no rooms | it has room for many times what it pushes, and asks nobody |
//! | with records, estimates of narrow levels are divided exactly | the hardware's approximate division, which is used without, is nowhere specified |

use super::policy::{Decision, Done, Policy, Run};
use millstream_channels_kernel::cuda::Plan;
use std::fmt;

/// Words of a record before those of its pushes.
const HEAD: usize = 8;

/// What was decided, and what came of it.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Record {
    run: Run,
    done: Done,
    /// A warp did it by itself.
    narrow: bool,
}

/// The records of a run, in the order of its dispatches.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Records {
    all: Vec<Record>,
    /// A kernel had no room for more of them.
    is_cut: bool,
}

/// A decision that the policy would not have taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Difference {
    number: usize,
    record: Record,
    what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            number,
            record,
            what,
        } = self;
        write!(f, "decision {number}, {record:?}: {what}")
    }
}

/// Bytes of so many records: a count, and each as `Record` in `device/policy.cu`.
pub(super) fn bytes(plan: &Plan, records: u32) -> u64 {
    4 * (2 + u64::from(records) * (HEAD + 3 * plan.pushes()) as u64)
}

/// What stands before records that are yet to be written: how many there are, and how many find room.
pub(super) fn header(records: u32) -> [u8; 8] {
    (u64::from(records) << 32).to_le_bytes()
}

impl Records {
    /// One that the host decided.
    pub(super) fn push(&mut self, run: Run, done: Done) {
        if !self.is_cut {
            self.all.push(Record {
                run,
                done,
                narrow: false,
            });
        }
    }

    /// Those that a kernel wrote.
    pub(super) fn take_in(&mut self, plan: &Plan, words: &[u32]) {
        let size = HEAD + 3 * plan.pushes();
        for one in words[2..].chunks_exact(size).take(words[0] as usize) {
            if !self.is_cut {
                self.all.push(Record::new(plan, one));
            }
        }
        self.is_cut |= words[0] as usize > words[2..].len() / size;
    }

    /// Lets the policy of the run's beginning decide everything again. How many decisions were the same, or the first that was not.
    pub(super) fn compare(&self, mut policy: Policy<'_>) -> Result<u64, Difference> {
        for (number, record) in self.all.iter().enumerate() {
            let differs = |what: String| Difference {
                number,
                record: record.clone(),
                what,
            };
            let mut decision = policy.decide();
            while matches!(decision, Decision::Move(_)) {
                decision = policy.decide();
            }
            let Decision::Run(run) = decision else {
                return Err(differs(format!("the policy says {decision:?}")));
            };
            let room = if record.narrow {
                &run.room
            } else {
                &record.run.room
            };
            let decided = Run {
                room: room.clone(),
                ..record.run.clone()
            };
            if run != decided {
                return Err(differs(format!("the policy says {run:?}")));
            }
            policy.fits(&run, &record.done).map_err(differs)?;
            policy.take(&run, &record.done, 0);
        }
        Ok(self.all.len() as u64)
    }
}

impl Record {
    fn new(plan: &Plan, words: &[u32]) -> Self {
        let source = words[1] as usize;
        let pushes = &plan.sources[source].pushes;
        let part = |i: usize| words[HEAD + i * plan.pushes()..][..pushes.len()].to_vec();
        let mut counters = vec![0; plan.groups()];
        for (push, pushed) in pushes.iter().zip(part(0)) {
            counters[push.group as usize] = pushed / push.ratio;
        }
        Self {
            narrow: words[0] != 0,
            run: Run {
                source,
                level: words[2],
                first: words[3],
                count: words[4],
                base: part(1),
                room: part(2),
            },
            done: Done {
                limit: u32::MAX,
                left: words[5],
                bottom: words[6],
                moves: words[7],
                counters,
            },
        }
    }
}
