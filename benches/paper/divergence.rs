//! Figure 19 of the channels paper.

use super::{
    super::{
        ours::source,
        program::{Input, Program},
    },
    figure::{Figure, bars, exactly, linear, series},
    lab::{How, Lab, number},
};
use millstream_cilk_lower::parse_file;
use millstream_graph::interp::{ArgValue, Interp, Lanes};

/// Lanes of a wavefront: of a warp of NVIDIA's.
const LANES: usize = 32;

/// **Channels, Figure 19.** How many lanes of a wavefront go the same way. Varied: whether tasks that spawn nothing share wavefronts with the others, as in
/// the paper, or are in none, as ours where they end when they are spawned. Held: sizes, wavefronts of 32, the grain of a GPU. In percent of the steps
/// of wavefronts.
///
/// It is counted by the interpreter, of the program as it was written, and so is the same on all devices: a GPU's own counters need a profiler, and a CPU has no
/// lanes.
pub(crate) fn figure(lab: &Lab) -> Result<Figure, String> {
    let mut figure = Figure::of_one_round(
        "branch divergence",
        &[
            "workload",
            "leaves",
            "percent_1_to_8_lanes",
            "percent_9_to_16",
            "percent_17_to_24",
            "percent_25_to_32",
            "percent_of_all_lanes",
            "percent_of_lanes_with_an_element",
            "steps_of_wavefronts",
        ],
    );
    figure.say(
        "Channels paper, Figure 19, counted by the interpreter: tasks of a kind and level in wavefronts of 32, in the order in which they are spawned, lanes \
         joined wherever they can be. The same on all devices: no GPU's counters were asked.",
    );
    figure.say("Leaves mixed: all tasks are elements, as in the paper. Apart: tasks that spawn nothing end where they are spawned, as ours do.");
    let programs = match lab.quick {
        true => [
            Program::Fib(12),
            Program::Queens(6),
            Program::Sort(1000),
            Program::Strassen(32),
        ],
        false => [
            Program::Fib(20),
            Program::Queens(9),
            Program::Sort(20_000),
            Program::Strassen(128),
        ],
    };
    let names = ["1 to 8 lanes", "9 to 16", "17 to 24", "25 to 32"];
    let mut drawn = names.map(|_| Vec::new());
    let mut groups = Vec::new();
    for program in programs {
        // Which programs' leaves end where they are spawned is what a run says.
        let mut kinds = vec![("mixed", false)];
        if lab.once(program, How::default())?.leaves > 0 {
            kinds.push(("apart", true));
        }
        for (leaves, apart) in kinds {
            let lanes = count(lab, program, apart)?;
            let by_active = lanes.by_active();
            let all: u64 = by_active.iter().sum();
            let percent = |steps: u64| 100.0 * steps as f64 / all.max(1) as f64;
            let quarters = by_active.chunks(LANES / 4).map(|q| percent(q.iter().sum()));
            let quarters: Vec<f64> = quarters.collect();
            for (points, quarter) in drawn.iter_mut().zip(&quarters) {
                points.push(exactly(groups.len() as f64, *quarter));
            }
            groups.push(match leaves {
                "apart" => format!("{}, apart", program.name()),
                _ => program.name().to_owned(),
            });
            let mut row = vec![program.to_string(), leaves.to_owned()];
            row.extend(quarters.into_iter().map(number));
            row.push(number(100.0 * lanes.share_of_all()));
            row.push(number(100.0 * lanes.share_of_those_there()));
            row.push(all.to_string());
            figure.row(row);
        }
    }
    let drawn = names
        .into_iter()
        .zip(drawn)
        .map(|(name, points)| series(name, points));
    figure.panels = vec![bars(
        "Lanes that take a step",
        groups,
        linear("% of the steps of wavefronts"),
        drawn.collect(),
    )];
    Ok(figure)
}

/// Runs a program in the interpreter, checked, and counts.
fn count(lab: &Lab, program: Program, leaves_apart: bool) -> Result<Lanes, String> {
    let mut input = program.input();
    let expected = lab.expected(program, &mut input)?;
    let (file, text) = source(program);
    let parsed = parse_file(text, file, None).map_err(|e| e.to_string())?;
    let mut interp = Interp::new(&parsed);
    let bytes = |words: &[u32]| {
        words
            .iter()
            .flat_map(|w| w.to_ne_bytes())
            .collect::<Vec<u8>>()
    };
    let floats = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<u32>>();
    let mut lend = |words: Vec<u32>| interp.alloc(bytes(&words), 8);
    let n = |n: usize| n as u64;
    // What is written to, and the pieces of the call.
    let (task, written, pieces) = match &input {
        Input::Sort { data, tmp, .. } => {
            let (at, len) = (
                lend(data.iter().map(|x| *x as u32).collect()),
                n(data.len()),
            );
            let tmp = lend(vec![0; tmp.len()]);
            ("sort", Some(at), vec![at, len, tmp, len])
        }
        Input::Strassen {
            n: size,
            a,
            b,
            scratch,
            ..
        } => {
            let c = lend(vec![0; a.len()]);
            let (a, b) = (lend(floats(a)), lend(floats(b)));
            let len = scratch.len();
            let scratch = lend(vec![0; len]);
            let mut pieces = Vec::new();
            for matrix in [c, a, b] {
                pieces.extend([matrix, n(*size), n(*size), n(*size)]);
            }
            pieces.extend([scratch, n(len)]);
            ("strassen", Some(c), pieces)
        }
        Input::None => match program {
            Program::Fib(n) => ("fib", None, vec![n.into()]),
            Program::Queens(n) => ("queens", None, vec![n.into()]),
            other => return Err(format!("{other} is not counted")),
        },
    };
    let func = parsed
        .find(task)
        .ok_or_else(|| format!("{file} has no task `{task}`"))?;
    interp.count_lanes(LANES, leaves_apart);
    let pieces: Vec<ArgValue> = pieces.into_iter().map(ArgValue::Scalar).collect();
    let result = interp.call(func, &pieces).map_err(|e| e.to_string())?;
    if let Some(at) = written {
        let words = interp.read(at).chunks_exact(4);
        let words = words.map(|w| u32::from_ne_bytes(w.try_into().unwrap_or_default()));
        match &mut input {
            Input::Sort { data, .. } => *data = words.map(|w| w as i32).collect(),
            Input::Strassen { c, .. } => *c = words.map(f32::from_bits).collect(),
            Input::None => {}
        }
    }
    let answer = u64::from_ne_bytes(result[..].try_into().unwrap_or_default());
    let came = (answer, input.digest());
    if came != expected {
        return Err(format!(
            "{program} came to {came:?} in the interpreter, with rayon to {expected:?}"
        ));
    }
    interp
        .take_lanes()
        .ok_or_else(|| "nothing was counted".into())
}
