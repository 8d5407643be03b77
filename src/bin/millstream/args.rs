//! The command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use millstream::{
    Aggregator, Observe, Policy,
    job::{Modes, Settings},
};
use std::{ffi::OsString, path::PathBuf};

const EXAMPLES: &str = "Examples:
  millstream run examples/fib.ron --set n=35
  millstream run examples/fib.rs --entry 'fib(30)' --threads 1 --stats
  millstream check examples/fib.rs
  millstream lower examples/fib.rs --emit svg -o fib.svg
  millstream doctor";

const RUN_EXAMPLES: &str = "Examples:
  millstream run examples/fib.ron --set n=35 --stats
  millstream run examples/fib.rs --entry 'fib(30)' --stats json
  millstream run examples/sort.ron --trace sort.json --plot sort.svg
  millstream run sort.rs --entry 'sort(&mut data, &mut tmp)' \\
      --input data=numbers.npy --buffer tmp=like:data --output data=sorted.npy
  millstream run sum.rs --entry 'sum(&data, data.len())' --buffer data=random:f64:1000000:1

Arguments of the entry are Rust expressions: literals, [1, 2], (1, true), P { x: 1.0 }, n + 1,
and &data or &mut data for buffers; Mat::new(&a, rows, cols) for a matrix in a flat buffer.
Buffers: zeros:TYPE:LEN, random:TYPE:LEN:SEED, iota:TYPE:LEN, like:BUFFER, values:TYPE:[1, 2];
LEN may be [ROWS, COLS] and name parameters; TYPE may be left out where the entry says it.
A RON file may say all of this; what is given here goes before it.

Exit codes: 0 done, 1 the program or its run failed, 2 the command was not understood.";

const PROFILE_EXAMPLES: &str = "Examples:
  millstream profile examples/fib.ron --set n=20
  millstream profile examples/sort.ron --set n=1000 --json

Nothing is timed: work is counted in steps, the statements of the program as it was written, so that
each run of the same call says the same. docs/profile.md has what each number is.";

const INSPECT_EXAMPLES: &str = "Examples:
  millstream run slow.ron --dump slow.json     and Ctrl-C
  millstream inspect slow.json

docs/observe.md has what stands in a dump.";

const LOWER_EXAMPLES: &str = "Examples:
  millstream lower examples/fib.rs --emit ir
  millstream lower examples/fib.rs --emit svg -o fib.svg
  millstream lower examples/fib.rs --emit dot | dot -Tpdf > fib.pdf
  millstream lower examples/fib.rs --emit cuda
  millstream lower examples/fib.rs --emit cubin --arch sm_120 -o fib.cubin";

/// Fine-grain, irregular, recursive work: programs of tasks that spawn and sync.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    /// Say more: once what is done, twice details
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Print the result alone
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a program and print its result
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunArgs),
    /// Check a program, and of a RON file its buffers and arguments, without running it
    Check(RunArgs),
    /// Run a program serially and say how parallel it is, what its critical path is, and which lines do the work
    #[command(after_help = PROFILE_EXAMPLES)]
    Profile(ProfileArgs),
    /// Print what a program is lowered to
    #[command(after_help = LOWER_EXAMPLES)]
    Lower(LowerArgs),
    /// Print what a run was at that was stopped or stuck, and what looks wrong with it
    #[command(after_help = INSPECT_EXAMPLES)]
    Inspect(InspectArgs),
    /// Measure this library beside rayon and the serial code that rustc makes of the same source
    Bench(crate::bench::Args),
    /// Say what devices and libraries were found, what is missing and what to install
    Doctor,
    /// Compile for runs to come what a process that ended hands over
    #[command(hide = true)]
    TakeOver,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// A .rs file with a program, or a .ron file that describes a run
    pub(crate) file: PathBuf,
    /// The call; without one, the only task or the one named like the program
    #[arg(short, long, value_name = "CALL")]
    entry: Option<String>,
    /// A parameter of the RON file or of the entry; may be given several times
    #[arg(short, long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// A buffer from a .npy file, or from a .bin file as TYPE:FILE.bin
    #[arg(short, long, value_name = "NAME=FILE")]
    input: Vec<String>,
    /// A buffer that is made: tmp=like:data, tmp=zeros:i32:1000, ..
    #[arg(short, long, value_name = "NAME=CONTENTS")]
    buffer: Vec<String>,
    /// A file that a buffer is written to after the run: .npy or .bin
    #[arg(short, long, value_name = "NAME=FILE")]
    output: Vec<String>,
    /// The program, where the file has several
    #[arg(long, value_name = "NAME")]
    program: Option<String>,
    /// Where to run: auto (a GPU if one works), cpu, cuda:0
    #[arg(short, long)]
    device: Option<String>,
    /// Who decides on a GPU which wavefront runs next
    #[arg(long, value_enum)]
    aggregator: Option<Who>,
    /// On which tier a GPU runs tasks
    #[arg(long, value_enum)]
    policy: Option<Tier>,
    /// Threads of the CPU device, which `auto` is then; with 1 every run is the same
    #[arg(short, long, value_parser = clap::value_parser!(u32).range(1..=i64::from(millstream::job::MOST_THREADS)))]
    threads: Option<u32>,
    /// Most memory that channels may take, such as '256 MiB'
    #[arg(short, long)]
    memory: Option<String>,
    /// Overflow ends the run with an error
    #[arg(long, conflicts_with = "unchecked")]
    checked: bool,
    /// No bounds checks
    #[arg(long)]
    unchecked: bool,
    /// Floating point may be contracted and reordered
    #[arg(long)]
    fast_math: bool,
    /// Print what the run did: tasks, levels, wavefronts, time a node, memory, workers, what was chosen and why; `--stats json`:
    /// all of it and the result as one JSON object, alone
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "text"
    )]
    pub(crate) stats: Option<Stats>,
    /// Write when each wavefront ran, for Perfetto (ui.perfetto.dev) and chrome://tracing
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Draw the run as SVG: elements of each level, elements a dispatch and what the workers did, over time
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
    /// Where to leave what the run was at if Ctrl-C ends it or it cannot go on, for `millstream inspect`; if not said, in the folder for
    /// temporary files
    #[arg(long, value_name = "FILE")]
    pub(crate) dump: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// The dump
    pub(crate) file: PathBuf,
}

/// How `--stats` is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Stats {
    /// For people
    Text,
    /// For programs: docs/observe.md has the names
    Json,
}

/// The arguments, where `--stats json` is `--stats=json`: else `--stats FILE` would take the file for a format.
pub(crate) fn joined(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut out: Vec<OsString> = Vec::new();
    for arg in args {
        match out.last_mut() {
            Some(last) if last == "--stats" && (arg == "json" || arg == "text") => {
                last.push("=");
                last.push(arg);
            }
            _ => out.push(arg),
        }
    }
    out
}

impl RunArgs {
    /// As the job takes them.
    pub(crate) fn settings(&self) -> Settings {
        let flag = |given: bool| given.then_some(true);
        Settings {
            entry: self.entry.clone(),
            program: self.program.clone(),
            params: self.set.clone(),
            inputs: self.input.clone(),
            buffers: self.buffer.clone(),
            outputs: self.output.clone(),
            device: self.device.clone(),
            threads: self.threads,
            memory: self.memory.clone(),
            aggregator: self.aggregator.map(|who| match who {
                Who::Auto => Aggregator::Auto,
                Who::Persistent => Aggregator::Persistent,
                Who::Host => Aggregator::HostThread,
            }),
            policy: self.policy.map(|tier| match tier {
                Tier::Auto => Policy::Auto,
                Tier::Device => Policy::Device,
                Tier::Block => Policy::Block,
            }),
            modes: Modes {
                checked: flag(self.checked),
                unchecked: flag(self.unchecked),
                fast_math: flag(self.fast_math),
            },
            observe: match (self.trace.is_some() || self.plot.is_some(), self.stats) {
                (true, _) => Observe::TIMELINE,
                (false, Some(_)) => Observe::Times,
                (false, None) => Observe::Counts,
            },
        }
    }
}

/// Who decides on a GPU.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Who {
    /// One block for narrow levels, a thread of the host for the others
    Auto,
    /// One kernel, whose first warp decides
    Persistent,
    /// A thread of the host, with a kernel a dispatch
    Host,
}

/// On which tier a GPU runs tasks.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Tier {
    /// Across the device; inside the blocks where memory is little or the tree narrow
    Auto,
    /// Across the device alone
    Device,
    /// Inside the blocks wherever it can be
    Block,
}

#[derive(Debug, Args)]
pub(crate) struct ProfileArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Most steps that the run may take; twenty million take about a second
    #[arg(long, value_name = "STEPS", default_value_t = 1_000_000_000)]
    pub(crate) steps: u64,
}

#[derive(Debug, Args)]
pub(crate) struct LowerArgs {
    /// A .rs file with a program, or a .ron file that names one
    pub(crate) file: PathBuf,
    /// What to print
    #[arg(short, long, value_enum, default_value_t = Emit::Lowered)]
    pub(crate) emit: Emit,
    /// The file to write; the terminal if none is given
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Segments, frames and graphs as a GPU runs them, where that is not as a CPU does: it spawns some of the tasks that are called
    #[arg(long)]
    pub(crate) gpu: bool,
    /// The GPU architecture of PTX and cubin
    #[arg(long, default_value = "sm_90", value_parser = arch)]
    pub(crate) arch: u32,
    /// The program, where the file has several
    #[arg(long, value_name = "NAME")]
    pub(crate) program: Option<String>,
}

/// `sm_90`, `90`.
fn arch(text: &str) -> Result<u32, String> {
    let number = text.strip_prefix("sm_").unwrap_or(text);
    number
        .parse()
        .map_err(|_| format!("`{text}` is no architecture: write it as sm_90"))
}

/// What `lower` prints.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Emit {
    /// The IR, before the lowering
    Ir,
    /// Segments, frames and channel stacks
    Lowered,
    /// The graph of kernels and channels, as RON
    Graph,
    /// The graph for Graphviz
    Dot,
    /// The graph, drawn
    Svg,
    /// The graph for pages: Mermaid
    Mermaid,
    /// CUDA C++, as the CUDA device compiles it
    Cuda,
    /// PTX; needs NVRTC, but no GPU
    Ptx,
    /// Machine code of a GPU; needs NVRTC, but no GPU
    Cubin,
}
