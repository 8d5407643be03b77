//! A record of each decision of a run and of what came of it, and their comparison with the policy, one by one.
//!
//! The persistent kernel writes its own, by `policy.cu` and by `levels.cu`, when its text was made with `Options::records`; the host thread keeps
//! those that it took itself. A timeline is made of them too, for each says when it was run. Decisions depend on what came of those before, which differs from run to run where memory is short, so two runs
//! cannot be compared with each other. Instead the specification ([`policy`](super::policy)) is told what came of each dispatch, and has to
//! decide what was decided. What came of it is looked at too: more cannot be pushed than there was room for, and what found no room
//! has to lie where the level still is.
//!
//! | difference | why it is meant |
//! |---|---|
//! | a narrow run says no rooms | it has room for many times what it pushes, and asks nobody |
//! | who decides on a device looks for room for marks now and then only | levels lie in shared memory first |
//! | with records, estimates of narrow levels are divided exactly | the hardware's approximate division, which is used without, is nowhere specified |

use super::{
    decision::{Decision, Done, Run, Worked},
    inside::Inside,
    policy::Policy,
    timeline::{By, Spans},
};
use millstream_channels_kernel::cuda::{
    Plan,
    abi::{Record as At, Records as Head, Share},
};
use std::fmt;

/// What was decided, and what came of it.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Record {
    run: Run,
    done: Done,
    /// A warp did it by itself.
    narrow: bool,
    /// Workers ran it with what came of it. What they decided is theirs.
    worked: Option<Worked>,
}

/// The records of a run, in the order of its dispatches.
#[derive(Debug)]
pub(super) struct Records {
    /// Those that are compared.
    all: Vec<Record>,
    compares: bool,
    /// When what was, if that is asked for.
    pub(super) spans: Option<Spans>,
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

/// Bytes of so many records, and of what stands before them.
pub(super) fn bytes(plan: &Plan, records: u32) -> u64 {
    Head::new(plan).bytes() + u64::from(records) * At::new(plan).bytes()
}

/// Bytes of those that a kernel has written, and of what stands before them: `words`.
pub(super) fn written(plan: &Plan, words: &[u32]) -> u64 {
    let head = Head::new(plan);
    bytes(plan, head.kept.get(words).min(head.room.get(words)))
}

/// Blocks whose shares of a dispatch are kept, for each record that is: dispatches that are wide have many, but most are narrow.
const BLOCKS: u32 = 8;

/// How many shares of blocks are kept beside so many records.
pub(super) const fn shares(records: u32) -> u32 {
    records.saturating_mul(BLOCKS)
}

/// Bytes of so many shares of blocks, and of what stands before them.
pub(super) fn share_bytes(plan: &Plan, shares: u32) -> u64 {
    Head::new(plan).bytes() + u64::from(shares) * Share::new(plan).bytes()
}

/// How many shares were written and how many found no room, by what stands before them.
pub(super) fn written_shares(plan: &Plan, words: &[u32]) -> (u32, u32) {
    let head = Head::new(plan);
    let (kept, room) = (head.kept.get(words), head.room.get(words));
    (kept.min(room), kept.saturating_sub(room))
}

/// What stands before records that are yet to be written: how many there are, and how many find room.
pub(super) fn header(plan: &Plan, records: u32) -> Vec<u8> {
    let at = Head::new(plan);
    let mut words = at.zeroed();
    at.room.set(&mut words, records);
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

impl Records {
    pub(super) const fn new(compares: bool, spans: Option<Spans>) -> Self {
        Self {
            all: Vec::new(),
            compares,
            spans,
            is_cut: false,
        }
    }

    /// One that the host decided, and when it was run.
    pub(super) fn push(&mut self, plan: &Plan, run: Run, done: Done, when: (u64, u64)) {
        if let Some(spans) = &mut self.spans {
            spans.push(plan, (&run, &done), when, By::Host);
        }
        self.keep(Record {
            run,
            done,
            narrow: false,
            worked: None,
        });
    }

    /// A subtree dispatch, what came of it, when, and of how many workers.
    pub(super) fn push_subtrees(
        &mut self,
        plan: &Plan,
        run: Run,
        worked: Worked,
        when: (u64, u64),
        workers: u32,
    ) {
        let done = Done {
            counters: vec![0; plan.groups()],
            left: run.count - worked.roots,
            ..Done::default()
        };
        if let Some(spans) = &mut self.spans {
            spans.push(plan, (&run, &done), when, By::Host);
            spans.had_workers(when, workers);
        }
        self.keep(Record {
            run,
            done,
            narrow: false,
            worked: Some(worked),
        });
    }

    /// Those that a kernel wrote which was launched and had ended at these times.
    pub(super) fn take_in(&mut self, plan: &Plan, words: &[u32], kernel: (u64, u64)) {
        let (head, at) = (Head::new(plan), At::new(plan));
        let (kept, room) = (head.kept.get(words), head.room.get(words));
        let all = words[head.words()..].chunks_exact(at.words());
        let all: Vec<&[u32]> = all.take(kept as usize).collect();
        if let (Some(spans), [first, ..], [.., last]) = (&mut self.spans, &all[..], &all[..]) {
            let ended = (kept <= room).then(|| at.end.get(last));
            spans.took(kernel, at.begin.get(first), ended);
        }
        for one in all {
            let (record, when) = (
                Record::new(plan, &at, one),
                (at.begin.get(one), at.end.get(one)),
            );
            if let Some(spans) = &mut self.spans {
                let by = if record.narrow { By::Warp } else { By::Kernel };
                spans.push(plan, (&record.run, &record.done), when, by);
            }
            self.keep(record);
        }
        if let Some(spans) = &mut self.spans {
            spans.lost(u64::from(kept.saturating_sub(room)));
        }
        self.is_cut |= kept > room;
    }

    fn keep(&mut self, record: Record) {
        if self.compares && !self.is_cut {
            self.all.push(record);
        }
    }

    /// Lets the policy of the run's beginning decide everything again. How many decisions were the same, or the first that was not.
    pub(super) fn compare(
        &self,
        mut policy: Policy<'_>,
        inside: &Inside,
    ) -> Result<u64, Box<Difference>> {
        for (number, record) in self.all.iter().enumerate() {
            let differs = |what: String| {
                Box::new(Difference {
                    number,
                    record: record.clone(),
                    what,
                })
            };
            // Moves have no record; they come before whatever has the next one.
            policy.moved();
            if let Some(worked) = &record.worked {
                let of = inside.beside(record.run.source);
                let roots = policy.roots(1, false, of, |_, _| Some(()));
                if roots.as_ref().map(|(run, ())| run) != Some(&record.run) {
                    return Err(differs(format!("the policy says {roots:?} for workers")));
                }
                policy.took(&record.run, worked);
                continue;
            }
            let decision = policy.decide();
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
    fn new(plan: &Plan, at: &At, words: &[u32]) -> Self {
        let source = at.source.get(words) as usize;
        let pushes = &plan.sources[source].pushes;
        let mut counters = vec![0; plan.groups()];
        for (push, pushed) in pushes.iter().zip(at.pushed.all(words)) {
            counters[push.group as usize] = pushed / push.ratio;
        }
        Self {
            narrow: at.narrow.get(words) != 0,
            worked: None,
            run: Run {
                source,
                level: at.level.get(words),
                first: at.first.get(words),
                count: at.count.get(words),
                base: at.base.first(words, pushes.len()),
                room: at.room.first(words, pushes.len()),
            },
            done: Done {
                limit: u32::MAX,
                left: at.left.get(words),
                bottom: at.bottom.get(words),
                moves: at.moves.get(words),
                counters,
            },
        }
    }
}
