//! One program on every engine.

use super::{choices::Choices, function::Sample, types::Mode};
use crate::{
    cubins,
    engine::{gpus, is_memory},
    value::{Argument, Piece, argument, show, show_lent},
};
use millstream_aggregator::{
    CpuOptions, Device, ErasedArg, ErasedCall, Loaded, MemoryArg, RunError, RunReport,
};
use millstream_cilk_lower::{
    Parsed,
    lower::{decide, lower},
    parse_file, parse_module, read_file, rust,
};
use millstream_graph::{
    fault::Fault,
    interp::{ArgValue, Interp, InterpError, Limits},
    ir::{FuncId, Program},
};
use quote::ToTokens;
use std::{collections::BTreeMap, fmt::Write as _, sync::Arc};

/// A program that takes longer than this in the interpreter is left out.
pub(super) const LIMITS: Limits = Limits {
    steps: 150_000,
    depth: 10_000,
    memory: 64 << 20,
};
/// A budget that every program has room in.
pub(super) const PLENTY: u64 = 256 << 20;

/// Devices of the CPU by their settings: threads, width and memory. A GPU's are made for each program: a device keeps the last ones loaded,
/// with the memory of their modules.
#[derive(Debug, Default)]
pub struct Devices {
    cpus: BTreeMap<(u32, Option<u64>, u64), Device>,
}

impl Devices {
    pub(super) fn get(&mut self, threads: u32, width: Option<u64>, memory: u64) -> &Device {
        self.cpus
            .entry((threads, width, memory))
            .or_insert_with(|| {
                let options = CpuOptions {
                    threads: Some(threads),
                    memory: Some(memory),
                    width,
                    ..CpuOptions::default()
                };
                Device::cpu_with(options).unwrap()
            })
    }
}

/// What came of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// All engines agree: how many tasks ran, and whether a check failed.
    Agreed {
        /// Tasks of all calls.
        tasks: u64,
        /// Whether a check of the program failed.
        fault: bool,
        /// Device runs that a small budget ended.
        out_of_memory: u32,
    },
    /// It runs for too long.
    TooLong,
    /// They do not, or the program was refused: what happened.
    Failed(String),
}

/// Result and memory of a call, as text.
pub(super) type Outcome = Vec<String>;

/// Runs a program in the interpreter, and on devices with settings that depend on `seed`.
pub fn check(sample: &Sample, seed: u64, devices: &mut Devices) -> Verdict {
    match try_check(sample, seed, devices) {
        Ok(verdict) => verdict,
        Err(message) => Verdict::Failed(message),
    }
}

fn try_check(sample: &Sample, seed: u64, devices: &mut Devices) -> Result<Verdict, String> {
    let program = parse_file(&sample.source, "random.rs", None).map_err(|e| match e {
        millstream_cilk_lower::SourceError::Source(all) => {
            format!("the front end refuses it:\n{}", places(&all))
        }
        e => format!("the front end refuses it: {e}"),
    })?;
    let levelized = Arc::new(lower(&program).map_err(|e| e.to_string())?);
    if let Some(arch) = cubins::elsewhere() {
        cubins::compile(&levelized, arch, false)?;
    }
    let func = program
        .find(&sample.task)
        .ok_or("the first task is not there")?;
    let mut expected = Vec::new();
    let mut tasks = 0;
    for call in &sample.calls {
        match interpret(&program, func, call) {
            Ok((outcome, ran)) => {
                tasks += ran;
                expected.push(Ok(outcome));
            }
            Err(InterpError::Fault(fault)) => expected.push(Err(fault)),
            Err(
                InterpError::StepLimit(_)
                | InterpError::RecursionLimit(_)
                | InterpError::MemoryLimit(_),
            ) => return Ok(Verdict::TooLong),
            Err(e) => return Err(format!("interpreter: {e}")),
        }
    }
    let good: Vec<(&Vec<String>, &Outcome)> = sample
        .calls
        .iter()
        .zip(&expected)
        .filter_map(|(c, e)| Some((c, e.as_ref().ok()?)))
        .collect();
    let bad = sample
        .calls
        .iter()
        .zip(&expected)
        .find_map(|(c, e)| Some((c, e.as_ref().err()?)));
    let mut c = Choices::seeded(seed ^ 0x5eed);
    let mut out_of_memory = 0;
    // What is compiled for one CPU device is for all of them.
    let loaded = devices.get(1, None, PLENTY).load(&levelized);
    let case = Case {
        program: &program,
        loaded: &loaded.map_err(|e| e.to_string())?,
        func,
        good,
        bad,
        tasks,
        other_tasks: decide::asks(&program),
    };
    for turn in 0..2 {
        let threads = c.pick(&[1, 2, 4, 16]);
        let width = c.pick(&[None, Some(1), Some(2), Some(3), Some(8)]);
        let small = turn == 1 && c.chance(40);
        let memory = if small { 1 << (8 + c.below(8)) } else { PLENTY };
        let settings = format!("cpu, {threads} threads, width {width:?}, {memory} bytes");
        out_of_memory +=
            u32::from(case.check(devices.get(threads, width, memory), &settings, small, true)?);
        if turn == 0 || small {
            // Tables of a GPU's run take some memory of themselves.
            let memory = if small {
                1 << (15 + c.below(3))
            } else {
                PLENTY
            };
            for (name, device) in gpus(Some(memory)) {
                let settings = format!("{name}, {memory} bytes");
                case.check(&device, &settings, small, !case.other_tasks)?;
            }
        }
    }
    Ok(Verdict::Agreed {
        tasks,
        fault: bad.is_some(),
        out_of_memory,
    })
}

/// A program with calls, and what the interpreter made of them.
struct Case<'a> {
    program: &'a Program,
    loaded: &'a Loaded,
    func: FuncId,
    good: Vec<(&'a Vec<String>, &'a Outcome)>,
    /// A call whose check fails.
    bad: Option<(&'a Vec<String>, &'a Fault)>,
    tasks: u64,
    /// Whether a GPU runs others: loops that are tasks of their own on a CPU.
    other_tasks: bool,
}

impl Case<'_> {
    /// Whether a device makes the same of them; true if it has not enough memory for it, which only a `small` one may.
    fn check(
        &self,
        device: &Device,
        settings: &str,
        small: bool,
        same_tasks: bool,
    ) -> Result<bool, String> {
        let mut out_of_memory = false;
        if !self.good.is_empty() {
            let calls: Vec<&Vec<String>> = self.good.iter().map(|g| g.0).collect();
            match launch(device, self.loaded, self.program, self.func, &calls) {
                Err(e) if small && is_memory(&e) => out_of_memory = true,
                Err(e) => return Err(format!("{settings}: {e}")),
                Ok((found, report)) => {
                    judge(&self.good, &found).map_err(|m| format!("{settings}: {m}"))?;
                    if same_tasks && report.total != self.tasks && self.bad.is_none() {
                        return Err(format!(
                            "{settings}: {} tasks ran, not {}",
                            report.total, self.tasks
                        ));
                    }
                    if report.workers.len() <= 1 && report.peak > device.memory() {
                        return Err(format!("{settings}: took {} bytes", report.peak));
                    }
                }
            }
        }
        if let Some((call, fault)) = self.bad {
            match launch(device, self.loaded, self.program, self.func, &[call]) {
                Err(RunError::Fault(_)) => {}
                Err(e) if small && is_memory(&e) => {}
                Err(e) => return Err(format!("{settings}: {e}; in the interpreter: {fault}")),
                Ok((found, _)) => {
                    return Err(format!(
                        "{settings}: {found:?}; in the interpreter: {fault}"
                    ));
                }
            }
        }
        Ok(out_of_memory)
    }
}

pub(super) fn places(all: &millstream_cilk_lower::Diagnostics) -> String {
    let mut out = String::new();
    for d in &all.0 {
        let at = d.span.start();
        let _ = writeln!(out, "{}:{}: {}", at.line, at.column, d.message);
    }
    out
}

fn judge(expected: &[(&Vec<String>, &Outcome)], found: &[Outcome]) -> Result<(), String> {
    for ((call, expected), found) in expected.iter().zip(found) {
        if *expected != found {
            return Err(format!(
                "call({})\n  interpreter: {}\n  device:      {}",
                call.join(", "),
                expected.join(" | "),
                found.join(" | ")
            ));
        }
    }
    Ok(())
}

fn arguments(program: &Program, func: FuncId, call: &[String]) -> Vec<Argument> {
    let params = &program[func].params;
    call.iter()
        .zip(params)
        .map(|(text, p)| argument(text, &p.ty, &program.structs))
        .collect()
}

/// Result and lent memory as text.
fn outcome(
    program: &Program,
    func: FuncId,
    arguments: &[Argument],
    result: &[u8],
    mut memory: impl Iterator<Item = Vec<u8>>,
) -> Outcome {
    let mut out = vec![show(result, &program[func].ret, &program.structs)];
    for lent in arguments.iter().filter_map(|a| a.memory.as_ref()) {
        out.push(show_lent(&memory.next().unwrap(), lent, &program.structs));
    }
    out
}

pub(super) fn interpret(
    program: &Program,
    func: FuncId,
    call: &[String],
) -> Result<(Outcome, u64), InterpError> {
    let mut interp = Interp::new(program).with_limits(LIMITS);
    let arguments = arguments(program, func, call);
    let mut memory = Vec::new();
    let mut args = Vec::new();
    for piece in arguments.iter().flat_map(|a| &a.pieces) {
        args.push(match piece {
            Piece::Scalar(bits) => ArgValue::Scalar(*bits),
            Piece::Blob(bytes) => ArgValue::Blob(bytes.clone()),
            Piece::Memory(bytes) => {
                memory.push((interp.alloc(bytes.clone(), 8), bytes.len()));
                ArgValue::Scalar(memory[memory.len() - 1].0)
            }
        });
    }
    let result = interp.call(func, &args)?;
    let images = memory
        .into_iter()
        .map(|(address, len)| interp.read(address)[..len].to_vec());
    Ok((
        outcome(program, func, &arguments, &result, images),
        interp.stats().tasks,
    ))
}

/// Memory that arguments lend, in words, so that it is aligned for every scalar.
pub(super) struct Lending(Vec<(Vec<u64>, usize)>);

impl Lending {
    pub(super) fn new(arguments: &[Argument]) -> Self {
        let words = |bytes: &[u8]| {
            let word = |c: &[u8]| c.iter().rev().fold(0, |w, b| w << 8 | u64::from(*b));
            bytes.chunks(8).map(word).collect::<Vec<u64>>()
        };
        let pieces = arguments.iter().flat_map(|a| &a.pieces);
        let lent = pieces.filter_map(|p| match p {
            Piece::Memory(b) => Some((words(b), b.len())),
            _ => None,
        });
        Self(lent.collect())
    }

    pub(super) fn args(&mut self, arguments: &[Argument]) -> Vec<ErasedArg<'_>> {
        let mut lent = self.0.iter_mut();
        let pieces = arguments.iter().flat_map(|a| &a.pieces);
        let args = pieces.map(|piece| match piece {
            Piece::Scalar(bits) => ErasedArg::Scalar(*bits),
            Piece::Blob(bytes) => ErasedArg::Blob(bytes.clone()),
            Piece::Memory(_) => {
                ErasedArg::Memory(MemoryArg::exclusive(&mut lent.next().unwrap().0))
            }
        });
        args.collect()
    }

    /// What became of it.
    pub(super) fn images(self) -> impl Iterator<Item = Vec<u8>> {
        self.0.into_iter().map(|(words, len)| {
            words
                .into_iter()
                .flat_map(u64::to_le_bytes)
                .take(len)
                .collect()
        })
    }
}

/// All calls of a program that is loaded already, in one run.
pub(super) fn launch(
    device: &Device,
    loaded: &Loaded,
    program: &Program,
    func: FuncId,
    calls: &[&Vec<String>],
) -> Result<(Vec<Outcome>, RunReport), RunError> {
    let arguments: Vec<Vec<Argument>> = calls.iter().map(|c| arguments(program, func, c)).collect();
    let mut memory: Vec<Lending> = arguments.iter().map(|a| Lending::new(a)).collect();
    let mut erased: Vec<ErasedCall<'_>> = arguments
        .iter()
        .zip(&mut memory)
        .map(|(arguments, memory)| ErasedCall::new(memory.args(arguments)))
        .collect();
    let task = loaded.program().find(&program[func].name).unwrap();
    let report = device.launch(loaded, task, &mut erased)?;
    let results: Vec<Vec<u8>> = erased.into_iter().map(|c| c.result).collect();
    let found = arguments
        .iter()
        .zip(results)
        .zip(memory)
        .map(|((arguments, result), memory)| {
            outcome(program, func, arguments, &result, memory.images())
        });
    Ok((found.collect(), report))
}

/// A program, and its module as plain Rust. What its loops need is found in `crate::rounds`.
pub(super) fn plain(source: &str) -> Option<(Program, String)> {
    let (mut module, options) = read_file(source, None).ok()?;
    let Parsed { program, loops } = parse_module(&module, options, "random.rs").ok()?;
    rust::elision(&mut module, &loops);
    module.attrs.clear();
    let text = module.into_token_stream().to_string();
    Some((
        program,
        text.replace(":: millstream :: __private", "crate :: rounds"),
    ))
}

/// What stands above elisions in a file of Rust: what the macros of the language are there, and what the library has for programs.
#[must_use]
pub fn elision_head() -> String {
    let mut out = "#![allow(warnings)]\nmacro_rules! spawn { ($e:expr) => { $e } }\nmacro_rules! sync { () => {} }\n".to_owned();
    for (module, own) in [
        ("rounds", include_str!("../../../src/rounds.rs")),
        ("mat", include_str!("../../../src/mat.rs")),
    ] {
        out += &format!("mod {module} {{\n{}}}\n", own.replace("//!", "//"));
    }
    out
}

/// An elision as a module of such a file, by the program's seed.
#[must_use]
pub fn elision_module(seed: u64, module: &str) -> String {
    let head = "pub mod program {";
    let module = module.replace(head, &format!("{head} use crate::mat::{{Mat, MatMut}};"));
    format!("mod p{seed} {{\n{module}}}\n")
}

/// What brings the names of a program into sight. Values name variants as `Debug` does.
pub(super) fn names(source: &str) -> String {
    let mut out = "    use program::*;\n    use std::sync::atomic::*;\n".to_owned();
    for owner in ["E0", "E1"] {
        if source.contains(&format!("pub enum {owner} ")) {
            let _ = writeln!(out, "    use program::{owner}::*;");
        }
    }
    out
}

/// A Rust file that prints the outcome of each call by the serial elision, and what the interpreter says of each. None if the program
/// faults or runs for too long.
#[must_use]
pub fn elision(sample: &Sample) -> Option<(String, Vec<String>)> {
    let (program, mut text) = plain(&sample.source)?;
    let func = program.find(&sample.task)?;
    if sample.mode == Mode::Checked {
        return None;
    }
    text += "\npub fn calls() {\n";
    text += &names(&sample.source);
    let mut expected = Vec::new();
    for call in &sample.calls {
        let (outcome, _) = interpret(&program, func, call).ok()?;
        expected.push(outcome.join(" | "));
        text += "    {\n";
        let (mut args, mut shown) = (Vec::new(), vec!["r".to_owned()]);
        for (i, (value, param)) in call.iter().zip(&program[func].params).enumerate() {
            let arg = rust_argument(value, &param.ty);
            let _ = writeln!(text, "        let mut a{i}{};", arg.0);
            args.push(format!("{}a{i}", arg.1));
            if !arg.1.is_empty() {
                shown.push(format!("a{i}"));
            }
        }
        let _ = writeln!(
            text,
            "        let r = {}({});",
            sample.task,
            args.join(", ")
        );
        let format = vec!["{:?}"; shown.len()].join(" | ");
        let _ = writeln!(
            text,
            "        println!(\"{format}\", {});\n    }}",
            shown.join(", ")
        );
    }
    text += "}\n";
    Some((text, expected))
}

/// The declaration of an argument behind its name, and how it is borrowed.
pub(super) fn rust_argument(
    value: &str,
    ty: &millstream_graph::ty::Type,
) -> (String, &'static str) {
    use millstream_graph::ty::{Scalar, Type};
    let atomic = |s: &Scalar| match s {
        Scalar::U32 => "AtomicU32",
        Scalar::I64 => "AtomicI64",
        _ => "AtomicU64",
    };
    match ty {
        Type::Slice { mutable, elem } => {
            let borrow = if *mutable { "&mut " } else { "&" };
            if let Type::Atomic(s) = &**elem {
                let inner = value.trim_matches(['[', ']']);
                let new: Vec<String> = inner
                    .split(", ")
                    .filter(|v| !v.is_empty())
                    .map(|v| format!("{}::new({v})", atomic(s)))
                    .collect();
                return (
                    format!(": Vec<{}> = vec![{}]", atomic(s), new.join(", ")),
                    borrow,
                );
            }
            (format!(" = vec!{value}"), borrow)
        }
        Type::Ref { mutable, target } => {
            let borrow = if *mutable { "&mut " } else { "&" };
            match &**target {
                Type::Atomic(s) => (format!(" = {}::new({value})", atomic(s)), borrow),
                _ => (format!(" = {value}"), borrow),
            }
        }
        _ => (format!(" = {value}"), ""),
    }
}
