//! One graph of kernels on every engine: by the interpreter, one element after another, and by devices.

use super::{
    choices::Choices,
    kernel::GraphSample,
    run::{Devices, LIMITS, Lending, PLENTY, Verdict, names, places, plain, rust_argument},
    types::Mode,
};
use crate::{
    emulator::FlowEmulator,
    value::{Argument, Piece, argument, image, show, show_lent},
};
use millstream_aggregator::{
    GraphCall, GraphProgram, RunError, RunReport, Running,
    cuda::flow::{FlowSettings, run_graph},
};
use millstream_channels_kernel::cuda::flow::FlowPlan;
use millstream_cilk_lower::{SourceError, instantiate::instantiate, lower::decide, parse_file};
use millstream_graph::{
    fault::Fault,
    graph::{Channel, ChannelKey, Graph, Kernel, KernelKey, WhenFull},
    interp::{ArgValue, InterpError, SerialGraph},
    ir::{Param, Program},
    ty::{PieceKind, Structs, Type},
};
use std::{fmt::Write as _, sync::Arc, time::Duration};

/// What came of a graph: the memory that each node was lent, and the elements of each output in an order of their own.
type Outcome = Vec<String>;

/// A sample's program and graph.
struct Built<'s> {
    sample: &'s GraphSample,
    program: Program,
    graph: Graph,
    channels: Vec<ChannelKey>,
    nodes: Vec<KernelKey>,
}

impl<'s> Built<'s> {
    fn new(sample: &'s GraphSample) -> Result<Self, String> {
        let program = parse_file(&sample.source, "random.rs", None).map_err(|e| match e {
            SourceError::Source(all) => format!("the front end refuses it:\n{}", places(&all)),
            e => format!("the front end refuses it: {e}"),
        })?;
        let mut graph = Graph::new("random");
        let consumed = |i: usize| sample.nodes.iter().any(|n| n.consumes == i);
        let add = |(i, (name, element)): (usize, &(String, String))| {
            let output = !consumed(i);
            graph.add_channel(Channel {
                input: true,
                output,
                full: WhenFull::Grow,
                ..Channel::new(name, element)
            })
        };
        let channels: Vec<ChannelKey> = sample.channels.iter().enumerate().map(add).collect();
        let nodes = sample.nodes.iter().map(|node| {
            graph.add_kernel(Kernel {
                name: node.name.clone(),
                consumes: Some(channels[node.consumes]),
                produces: node.produces.iter().map(|c| channels[*c]).collect(),
                args: node.args.clone(),
                ..Kernel::device(&node.kernel)
            })
        });
        let nodes = nodes.collect();
        Ok(Self {
            sample,
            program,
            graph,
            channels,
            nodes,
        })
    }

    const fn structs(&self) -> &Structs {
        &self.program.structs
    }

    fn element(&self, channel: usize) -> Type {
        self.graph
            .element(self.channels[channel], &self.program)
            .unwrap()
    }

    /// The parameters of a node that are bound, with their values as text.
    fn bound(&self, node: usize) -> impl Iterator<Item = (&Param, &String)> {
        let node = &self.sample.nodes[node];
        let kernel = self.program.find(&node.kernel).unwrap();
        let params = self.program[kernel].params[1..].iter();
        params
            .filter(|p| !matches!(p.ty, Type::Channel(_)))
            .zip(&node.args)
    }

    fn arguments(&self, node: usize) -> Vec<Argument> {
        self.bound(node)
            .map(|(param, text)| argument(text, &param.ty, self.structs()))
            .collect()
    }

    fn outputs(&self) -> impl Iterator<Item = usize> + '_ {
        let output = |i: &usize| {
            self.graph
                .channel(self.channels[*i])
                .is_some_and(|c| c.output)
        };
        (0..self.channels.len()).filter(output)
    }

    /// The outcome as text.
    fn outcome(&self, memory: Vec<Vec<Vec<u8>>>, outputs: Vec<Vec<Vec<u8>>>) -> Outcome {
        let mut out = Vec::new();
        for (node, images) in memory.iter().enumerate() {
            let arguments = self.arguments(node);
            let lent = arguments.iter().filter_map(|a| a.memory.as_ref());
            out.extend(
                lent.zip(images)
                    .map(|(l, image)| show_lent(image, l, self.structs())),
            );
        }
        for (channel, elements) in self.outputs().zip(outputs) {
            let ty = self.element(channel);
            let shown = elements.iter().map(|e| show(e, &ty, self.structs()));
            let mut shown: Vec<String> = shown.collect();
            shown.sort();
            out.push(format!("[{}]", shown.join(", ")));
        }
        out
    }

    /// What the interpreter makes of it, and how many elements were consumed and tasks ran.
    fn interpret(&self) -> Result<(Outcome, u64), InterpError> {
        let mut serial = SerialGraph::new(&self.program, &self.graph);
        serial.interp.set_limits(LIMITS);
        let mut memory: Vec<Vec<(u64, usize)>> = Vec::new();
        for (node, key) in self.nodes.iter().enumerate() {
            let arguments = self.arguments(node);
            let mut lent = Vec::new();
            let args = arguments
                .iter()
                .flat_map(|a| &a.pieces)
                .map(|piece| match piece {
                    Piece::Scalar(bits) => ArgValue::Scalar(*bits),
                    Piece::Blob(bytes) => ArgValue::Blob(bytes.clone()),
                    Piece::Memory(bytes) => {
                        lent.push((serial.interp.alloc(bytes.clone(), 8), bytes.len()));
                        ArgValue::Scalar(lent[lent.len() - 1].0)
                    }
                });
            let args = args.collect();
            serial.bind(*key, args);
            memory.push(lent);
        }
        for (channel, text) in &self.sample.first {
            let value = argument(text, &self.element(*channel), self.structs());
            let pieces = value.pieces.into_iter().map(|piece| match piece {
                Piece::Scalar(bits) => ArgValue::Scalar(bits),
                Piece::Blob(bytes) | Piece::Memory(bytes) => ArgValue::Blob(bytes),
            });
            serial.send(self.channels[*channel], pieces.collect());
        }
        let consumed = serial.run()?;
        let outputs = self.outputs().map(|c| {
            let ty = self.element(c);
            let elements = serial.take(self.channels[c]);
            elements
                .iter()
                .map(|e| assembled(e, &ty, self.structs()))
                .collect()
        });
        let outputs = outputs.collect();
        let read = |&(at, len): &(u64, usize)| serial.interp.read(at)[..len].to_vec();
        let memory = memory
            .iter()
            .map(|m| m.iter().map(read).collect())
            .collect();
        Ok((
            self.outcome(memory, outputs),
            consumed + serial.interp.stats().tasks,
        ))
    }

    /// The graph with what was made of it for devices.
    fn made(&self) -> Result<GraphProgram, String> {
        let made = instantiate(&self.program, &self.graph).map_err(|e| e.to_string())?;
        Ok(GraphProgram {
            graph: self.graph.clone(),
            source: Arc::new(self.program.clone()),
            levelized: Arc::new(made.program),
            kernels: made.kernels,
        })
    }

    /// Sends the first elements, and takes what comes to the outputs.
    fn feed(&self, running: &Running<'_>) -> Result<Vec<Vec<Vec<u8>>>, RunError> {
        for (channel, text) in &self.sample.first {
            let element = image(text, &self.element(*channel), self.structs());
            running.send(self.channels[*channel], &element)?;
        }
        running.close();
        let mut outputs = Vec::new();
        for channel in self.outputs() {
            let size = self.element(channel).layout(self.structs()).size as usize;
            let mut elements = Vec::new();
            while let Some(bytes) = running.receive(self.channels[channel], 1000)? {
                elements.extend(bytes.chunks(size).map(<[u8]>::to_vec));
            }
            outputs.push(elements);
        }
        Ok(outputs)
    }

    /// What comes of it where `run` runs a call while it is fed and drained, and how many tasks ran, the kernels' among them.
    fn launch(
        &self,
        run: impl FnOnce(GraphCall<'_>, &Self) -> Result<(Vec<Vec<Vec<u8>>>, RunReport), RunError>,
    ) -> Result<(Outcome, u64), RunError> {
        let arguments: Vec<Vec<Argument>> =
            (0..self.nodes.len()).map(|n| self.arguments(n)).collect();
        let mut lent: Vec<Lending> = arguments.iter().map(|a| Lending::new(a)).collect();
        let mut call = GraphCall::default();
        for ((key, memory), arguments) in self.nodes.iter().zip(&mut lent).zip(&arguments) {
            call.args.insert(*key, memory.args(arguments));
        }
        let (outputs, report) = run(call, self)?;
        let memory = lent.into_iter().map(|l| l.images().collect()).collect();
        Ok((self.outcome(memory, outputs), report.total))
    }
}

/// The memory of a value from its pieces.
fn assembled(pieces: &[ArgValue], ty: &Type, structs: &Structs) -> Vec<u8> {
    let mut out = vec![0; ty.layout(structs).size as usize];
    for (piece, value) in ty.pieces(structs).into_iter().zip(pieces) {
        let at = piece.offset as usize;
        match (piece.kind, value) {
            (PieceKind::Blob(_), ArgValue::Blob(bytes)) => {
                out[at..at + bytes.len()].copy_from_slice(bytes);
            }
            (PieceKind::Scalar(s), ArgValue::Scalar(bits)) => {
                let size = s.size() as usize;
                out[at..at + size].copy_from_slice(&bits.to_le_bytes()[..size]);
            }
            _ => panic!("a piece is not what its type says"),
        }
    }
    out
}

/// Runs a graph in the interpreter, and on devices with settings that depend on `seed`.
pub fn check_graph(sample: &GraphSample, seed: u64, devices: &mut Devices) -> Verdict {
    match try_check(sample, seed, devices) {
        Ok(verdict) => verdict,
        Err(message) => Verdict::Failed(message),
    }
}

/// What the interpreter says; none if it runs for too long.
type Expected = Option<Result<(Outcome, u64), Fault>>;

fn expected(built: &Built<'_>) -> Result<Expected, String> {
    match built.interpret() {
        Ok(outcome) => Ok(Some(Ok(outcome))),
        Err(InterpError::Fault(fault)) => Ok(Some(Err(fault))),
        Err(
            InterpError::StepLimit(_)
            | InterpError::RecursionLimit(_)
            | InterpError::MemoryLimit(_),
        ) => Ok(None),
        Err(e) => Err(format!("interpreter: {e}")),
    }
}

fn judge(
    expected: &Result<(Outcome, u64), Fault>,
    found: Result<(Outcome, u64), RunError>,
    settings: &str,
) -> Result<(), String> {
    match (expected, found) {
        (Err(_), Err(RunError::Node { error, .. })) if matches!(*error, RunError::Fault(_)) => {
            Ok(())
        }
        (Err(fault), found) => Err(format!(
            "{settings}: {found:?}; in the interpreter: {fault}"
        )),
        (Ok(_), Err(e)) => Err(format!("{settings}: {e}")),
        (Ok(expected), Ok(found)) if *expected == found => Ok(()),
        (Ok((expected, tasks)), Ok((found, ran))) => Err(format!(
            "{settings}: {ran} tasks ran, not {tasks}\n  interpreter: {}\n  device:      {}",
            expected.join(" | "),
            found.join(" | ")
        )),
    }
}

fn try_check(sample: &GraphSample, seed: u64, devices: &mut Devices) -> Result<Verdict, String> {
    let built = Built::new(sample)?;
    let Some(expected) = expected(&built)? else {
        return Ok(Verdict::TooLong);
    };
    let made = Arc::new(built.made()?);
    let mut c = Choices::seeded(seed ^ 0x5eed);
    for _ in 0..2 {
        let threads = c.pick(&[1, 2, 4]);
        let width = c.pick(&[None, Some(1), Some(3)]);
        let settings = format!("cpu, {threads} threads, width {width:?}");
        let device = devices.get(threads, width, PLENTY);
        let found = built.launch(|call, built| {
            let loaded = device.load_graph(&made)?;
            loaded.run(call, |running| built.feed(running))
        });
        judge(&expected, found, &settings)?;
    }
    Ok(Verdict::Agreed {
        tasks: expected.as_ref().map_or(0, |(_, tasks)| *tasks),
        fault: expected.is_err(),
        out_of_memory: 0,
    })
}

/// Runs a graph on the emulator of a GPU, in interleavings that depend on `seed`. Gives how many elements were
/// consumed; none if it runs for too long.
///
/// # Errors
/// If it is not as the interpreter says.
pub fn emulate_graph(sample: &GraphSample, seed: u64) -> Result<Option<u64>, String> {
    let mut built = Built::new(sample)?;
    let made = built.made()?;
    // Loops that a CPU runs where they are may be tasks of a GPU.
    built.program = decide::decide(&built.program, true);
    let Some(expected) = expected(&built)? else {
        return Ok(None);
    };
    let mut c = Choices::seeded(seed ^ 0x5eed);
    let (blocks, stage) = (c.pick(&[1, 2, 3]), c.pick(&[256, 1024, 4096]));
    let plan = FlowPlan::of(&made.graph, &made.levelized, &made.kernels);
    let least = plan.map_err(|e| e.to_string())?.least_stage();
    let stage = stage.max(least as u32);
    let mut emulator = FlowEmulator::of_graph(&made, blocks, stage)?;
    for turn in 0..3 {
        emulator.draw(seed + turn, 8);
        let settings = FlowSettings {
            memory: 64 << 20,
            watchdog: Duration::from_secs(20),
            host_thread: turn == 2,
            timeline: None,
        };
        let found = built.launch(|call, built| {
            run_graph(&mut emulator, settings, &made, call, |running| {
                built.feed(running)
            })
        });
        let how = format!("emulator, {blocks} blocks, a stage of {stage} bytes, turn {turn}");
        judge(&expected, found, &how)?;
    }
    Ok(expected.ok().map(|(_, ran)| ran))
}

/// A Rust file that prints the outcome of a graph by the serial elision, and what the interpreter says of it. None if it faults or runs for
/// too long. The file finds `Channel` and `Element` under `crate::channel`.
#[must_use]
pub fn graph_elision(sample: &GraphSample) -> Option<(String, String)> {
    let built = Built::new(sample).ok()?;
    if sample.mode == Mode::Checked {
        return None;
    }
    let (expected, _) = built.interpret().ok()?;
    let (_, text) = plain(&sample.source)?;
    let mut text = text.replacen('{', "{ use crate::channel::{Channel, Element};", 1);
    text += "pub fn calls() {\n    use crate::channel::Channel;\n";
    text += &names(&sample.source);
    for (i, (_, element)) in sample.channels.iter().enumerate() {
        let _ = writeln!(text, "    let c{i} = Channel::<{element}>::new();");
    }
    for (channel, value) in &sample.first {
        let _ = writeln!(text, "    c{channel}.emit({value});");
    }
    let (mut turns, mut shown) = (Vec::new(), Vec::new());
    for (i, node) in sample.nodes.iter().enumerate() {
        let mut ports = node.produces.iter();
        let mut values = built.bound(i).enumerate();
        let kernel = built.program.find(&node.kernel)?;
        let mut args = vec!["e".to_owned()];
        for param in &built.program[kernel].params[1..] {
            if matches!(param.ty, Type::Channel(_)) {
                args.push(format!("c{}.clone()", ports.next()?));
                continue;
            }
            let (k, (_, value)) = values.next()?;
            let (declaration, borrow) = rust_argument(value, &param.ty);
            let _ = writeln!(text, "    let a{i}_{k}{declaration};");
            args.push(format!("{borrow}a{i}_{k}"));
            if !borrow.is_empty() {
                shown.push(format!("format!(\"{{:?}}\", a{i}_{k})"));
            }
        }
        turns.push(format!(
            "c{}.run(|e| {}({}))",
            node.consumes,
            node.kernel,
            args.join(", ")
        ));
    }
    let _ = writeln!(text, "    while {} {{}}", turns.join(" | "));
    for channel in built.outputs() {
        let _ = writeln!(
            text,
            "    let mut o{channel} = Vec::new();\n    c{channel}.run(|e: {}| o{channel}.push(format!(\"{{e:?}}\")));\n    o{channel}.sort();",
            sample.channels[channel].1
        );
        shown.push(format!("format!(\"[{{}}]\", o{channel}.join(\", \"))"));
    }
    let _ = writeln!(
        text,
        "    let shown: Vec<String> = vec![{}];\n    println!(\"{{}}\", shown.join(\" | \"));\n}}",
        shown.join(", ")
    );
    Some((text, expected.join(" | ")))
}
