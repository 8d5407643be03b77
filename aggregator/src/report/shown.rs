//! A run's statistics as people read them: what `--stats` prints.

use super::RunReport;
use crate::{budget::LEAST_PER_WORKER, policy::Bytes};
use std::{fmt, time::Duration};

impl fmt::Display for RunReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |d: Duration| format!("{:.3} ms", d.as_secs_f64() * 1e3);
        let each = self.running.as_secs_f64() * 1e9 / self.total.max(1) as f64;
        writeln!(
            f,
            "{} tasks in {}, {each:.2} ns each",
            self.total,
            time(self.running)
        )?;
        if self.tasks.len() > 1 {
            let tasks: Vec<_> = self
                .tasks
                .iter()
                .map(|(name, n)| format!("{name} {n}"))
                .collect();
            writeln!(f, "  tasks      {}", tasks.join(", "))?;
        }
        let width = self.total as f64 / self.dispatches.max(1) as f64;
        writeln!(f, "  levels     {}", self.levels)?;
        write!(f, "  dispatches {}, {width:.1} tasks each", self.dispatches)?;
        if self.narrow > 0 {
            write!(f, "; {} by one warp", self.narrow)?;
        }
        if self.early {
            write!(f, "; the kernel for narrow ones was not there at first")?;
        }
        if self.quick {
            write!(f, "; by kernels that were compiled quickly")?;
        }
        writeln!(f)?;
        let inside = &self.subtrees;
        if inside.count > 0 {
            writeln!(
                f,
                "  subtrees   {} by {} blocks, {} wavefronts, {} elements donated, {} acquired, {} ended where a block found no room",
                inside.count,
                inside.workers,
                inside.dispatches,
                inside.donated,
                inside.acquired,
                inside.recalls
            )?;
        }
        if self.leaves > 0 {
            writeln!(
                f,
                "  leaves     {} tasks ended where they were spawned",
                self.leaves
            )?;
        }
        if self.alone > 0 {
            writeln!(
                f,
                "  alone      {} elements ran one at a time, as memory was short",
                self.alone
            )?;
        }
        writeln!(
            f,
            "  channels   {} at most, of {}",
            Bytes(self.peak),
            Bytes(self.budget)
        )?;
        if let Some(active) = self.lanes_active {
            let partial = self.partial_lanes_active.map_or_else(String::new, |p| {
                format!(", {:.1} % where a wavefront was not full", p * 100.0)
            });
            writeln!(f, "  lanes      {:.1} % active{partial}", active * 100.0)?;
        }
        if let Some(blocked) = self.blocked {
            let share = blocked.as_secs_f64() / self.running.as_secs_f64().max(1e-9);
            writeln!(
                f,
                "  blocked    {} on the aggregator, {:.1} % of the run",
                time(blocked),
                share * 100.0
            )?;
        }
        if self.left_out > 0 {
            writeln!(
                f,
                "  threads    {} more than the budget is enough for, at {} each",
                self.left_out,
                Bytes(LEAST_PER_WORKER)
            )?;
        }
        write!(
            f,
            "  compiling  {}, copying {}",
            time(self.compiling),
            time(self.copying)
        )?;
        for c in &self.channels {
            write!(f, "\n  `{}` {} elements", c.name, c.elements)?;
            if c.dropped > 0 {
                write!(f, ", of which {} were dropped,", c.dropped)?;
            }
            let (waves, ran) = (c.full + c.partial, c.elements - c.dropped);
            // What no kernel consumes is in none.
            if waves > 0 {
                let mean = ran as f64 / waves as f64;
                write!(
                    f,
                    " in {} full and {} smaller wavefronts, {mean:.1} each",
                    c.full, c.partial
                )?;
            }
            write!(
                f,
                "; {} yields, {} of {} at most",
                c.yields, c.peak, c.width
            )?;
        }
        if self.workers.len() > 1 {
            for w in &self.workers {
                let (n, busy) = (w.worker, w.busy * 100.0);
                write!(
                    f,
                    "\n  worker {n:<3} {busy:.0} % busy, {} idle, {} tasks, {} batches donated, {} acquired",
                    time(w.idle),
                    w.tasks,
                    w.donated,
                    w.acquired
                )?;
            }
        }
        Ok(())
    }
}
