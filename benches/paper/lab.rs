//! The device of the experiments: programs that are run on it, checked, and how often.

use super::super::{
    held::Ready,
    program::{Contestant, Input, Program},
    rayon_join::Rayon,
};
use millstream_aggregator::{
    Aggregator, CpuOptions, CudaOptions, Device, Observe, Policy, RunError, RunReport,
    cuda::DeviceInfo,
};
use std::{
    cell::RefCell,
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// Rounds of what is quick, and of what is slow at least.
const ROUNDS: usize = 9;
const LEAST_ROUNDS: usize = 3;
/// What is measured for longer than this is measured no more.
const ENOUGH: Duration = Duration::from_millis(1200);
/// A level of one element of the persistent kernel of one block takes long.
const WATCHDOG: Duration = Duration::from_secs(30);

/// What was measured several times.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Spread {
    pub(crate) least: f64,
    pub(crate) median: f64,
    pub(crate) most: f64,
}

impl Spread {
    pub(crate) fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let at = |i: usize| values.get(i).copied().unwrap_or(f64::NAN);
        Self {
            least: at(0),
            median: at(values.len() / 2),
            most: at(values.len().saturating_sub(1)),
        }
    }

    /// The same in another measure, which may turn it round: seconds as elements a second.
    pub(crate) fn map(self, f: impl Fn(f64) -> f64) -> Self {
        let (a, b) = (f(self.least), f(self.most));
        Self {
            least: a.min(b),
            median: f(self.median),
            most: a.max(b),
        }
    }

    /// Median, least and most for a row.
    pub(crate) fn cells(self) -> [String; 3] {
        [self.median, self.least, self.most].map(number)
    }
}

/// A number with as many digits as say something.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 1000.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

/// How a program is run; what is not said is as the library chooses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct How {
    /// Threads of the CPU, or blocks of the GPU.
    pub(crate) units: Option<u32>,
    /// Bytes of channels.
    pub(crate) memory: Option<u64>,
    pub(crate) aggregator: Aggregator,
    /// On which tier a GPU runs tasks. A timeline tells what runs across the device.
    pub(crate) policy: Policy,
    pub(crate) observe: Observe,
}

/// What a program took.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    /// Milliseconds.
    pub(crate) times: Spread,
    /// Of the last round.
    pub(crate) report: RunReport,
}

/// The device.
pub(crate) struct Lab {
    pub(crate) quick: bool,
    gpu: Option<DeviceInfo>,
    cores: u32,
    /// What each program comes to.
    expected: RefCell<BTreeMap<String, (u64, u64)>>,
}

impl Lab {
    /// The CPU, or the GPU of that number.
    pub(crate) fn new(ordinal: Option<u32>, quick: bool) -> Result<Self, String> {
        let gpu = match ordinal {
            Some(ordinal) => {
                let device = Device::cuda(ordinal).map_err(|e| e.to_string())?;
                device.gpu().cloned()
            }
            None => None,
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from) as u32;
        Ok(Self {
            quick,
            gpu,
            cores,
            expected: RefCell::default(),
        })
    }

    /// What is measured.
    pub(crate) fn name(&self) -> String {
        match &self.gpu {
            Some(gpu) => format!(
                "{}, sm_{}, {} multiprocessors",
                gpu.name, gpu.arch, gpu.multiprocessors
            ),
            None => format!("the CPU, {} threads at most", self.cores),
        }
    }

    pub(crate) fn gpu(&self) -> Option<&DeviceInfo> {
        self.gpu.as_ref()
    }

    pub(crate) const fn is_gpu(&self) -> bool {
        self.gpu.is_some()
    }

    pub(crate) const fn cores(&self) -> u32 {
        self.cores
    }

    /// Rounds at most.
    pub(crate) const fn rounds(&self) -> usize {
        if self.quick { 2 } else { ROUNDS }
    }

    pub(crate) fn how_often(&self) -> String {
        match self.quick {
            true => format!("{} rounds", self.rounds()),
            false => format!(
                "{LEAST_ROUNDS} to {ROUNDS} rounds, for {} s or longer",
                ENOUGH.as_secs_f64()
            ),
        }
    }

    /// Numbers of compute units to try: threads, or blocks.
    pub(crate) fn units(&self) -> Vec<u32> {
        let most = match &self.gpu {
            Some(gpu) => 4 * gpu.multiprocessors,
            None => self.cores,
        };
        let times = if self.is_gpu() { 4 } else { 2 };
        let powers = std::iter::successors(Some(1), |n| Some(times * n));
        let mut units: Vec<u32> = powers.take_while(|n| *n < most).collect();
        if let Some(gpu) = &self.gpu {
            units.extend([gpu.multiprocessors, 2 * gpu.multiprocessors]);
        }
        units.push(most);
        units.sort_unstable();
        units.dedup();
        units
    }

    /// The workloads of the channels paper, as large as they have to be to be measured here.
    pub(crate) fn workloads(&self) -> Vec<Program> {
        use Program::{Fib, Queens, Sort, Strassen};
        match (self.quick, self.gpu.is_some()) {
            (true, _) => vec![Fib(22), Queens(8), Sort(20_000), Strassen(128)],
            (false, false) => vec![Fib(35), Queens(13), Sort(1_000_000), Strassen(512)],
            (false, true) => vec![Fib(38), Queens(14), Sort(10_000_000), Strassen(2048)],
        }
    }

    /// A tree of which nobody knows where it is deep.
    pub(crate) const fn irregular(&self) -> Program {
        match self.quick {
            true => Program::Unbalanced(1, 100),
            false => Program::TREE,
        }
    }

    pub(crate) fn device(&self, how: How) -> Result<Device, RunError> {
        match &self.gpu {
            Some(gpu) => Device::cuda_with(CudaOptions {
                ordinal: gpu.ordinal,
                memory: Some(how.memory.unwrap_or(8 << 30)),
                aggregator: how.aggregator,
                policy: how.policy,
                early: false,
                observe: how.observe,
                watchdog: WATCHDOG,
                blocks: how.units,
                ..CudaOptions::default()
            }),
            None => Device::cpu_with(CpuOptions {
                threads: Some(how.units.unwrap_or(self.cores)),
                memory: how.memory,
                observe: how.observe,
                ..CpuOptions::default()
            }),
        }
    }

    /// Runs a program until its time is known, and checks what it comes to. None if its channels find no room.
    pub(crate) fn try_run(&self, program: Program, how: How) -> Result<Option<Measured>, String> {
        let failed = |e: RunError| format!("{program}: {e}");
        let mut input = program.input();
        let expected = self.expected(program, &mut input)?;
        let device = self.device(how).map_err(failed)?;
        let mut ready = Ready::new(&device, program, &input)?;
        let answer = match ready.run(&mut input) {
            Ok((_, answer)) => answer,
            Err(
                RunError::OutOfMemory { .. }
                | RunError::ChannelFull { .. }
                | RunError::TooManyLevels { .. },
            ) => return Ok(None),
            Err(e) => return Err(failed(e)),
        };
        let came = (answer, input.digest());
        if came != expected {
            return Err(differs(program, came, expected));
        }
        let (mut times, start) = (Vec::new(), Instant::now());
        loop {
            let (report, _) = ready.run(&mut input).map_err(failed)?;
            times.push(report.running.as_secs_f64() * 1e3);
            if self.enough(times.len(), start.elapsed()) {
                let times = Spread::of(times);
                return Ok(Some(Measured { times, report }));
            }
        }
    }

    /// The same, where there has to be room.
    pub(crate) fn run(&self, program: Program, how: How) -> Result<Measured, String> {
        let measured = self.try_run(program, how)?;
        measured.ok_or_else(|| format!("{program}: no memory for its channels by {how:?}"))
    }

    /// Runs a program once after a warm-up, and checks what it comes to: for what is counted, or seen in a timeline.
    pub(crate) fn once(&self, program: Program, how: How) -> Result<RunReport, String> {
        let failed = |e: RunError| format!("{program} by {how:?}: {e}");
        let mut input = program.input();
        let expected = self.expected(program, &mut input)?;
        let device = self.device(how).map_err(failed)?;
        let mut ready = Ready::new(&device, program, &input)?;
        ready.run(&mut input).map_err(failed)?;
        let (report, answer) = ready.run(&mut input).map_err(failed)?;
        let came = (answer, input.digest());
        match came == expected {
            true => Ok(report),
            false => Err(differs(program, came, expected)),
        }
    }

    /// Measures anything until its time is known; it checks itself, and gives what it took in seconds.
    pub(crate) fn repeat(
        &self,
        mut once: impl FnMut() -> Result<f64, String>,
    ) -> Result<Spread, String> {
        once()?;
        let (mut times, start) = (Vec::new(), Instant::now());
        while !self.enough(times.len(), start.elapsed()) {
            times.push(once()?);
        }
        Ok(Spread::of(times))
    }

    const fn enough(&self, rounds: usize, spent: Duration) -> bool {
        rounds >= self.rounds() || rounds >= LEAST_ROUNDS && spent.as_millis() >= ENOUGH.as_millis()
    }

    /// What a program comes to, by rayon.
    pub(crate) fn expected(
        &self,
        program: Program,
        input: &mut Input,
    ) -> Result<(u64, u64), String> {
        if let Some(known) = self.expected.borrow().get(&program.to_string()) {
            return Ok(*known);
        }
        input.reset();
        let answer = Rayon::new(self.cores)?.run(program, input, true)?.answer;
        let came = (answer, input.digest());
        input.reset();
        self.expected.borrow_mut().insert(program.to_string(), came);
        Ok(came)
    }
}

fn differs(program: Program, came: (u64, u64), expected: (u64, u64)) -> String {
    format!("{program} came to {came:?}, with rayon to {expected:?}")
}
