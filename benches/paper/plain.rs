//! Table 4 of the channels paper; and the programs without tasks that it takes: loops over arrays, by rayon's threads or as CUDA kernels.

use super::{
    super::{
        nvidia::{Gpu, Param},
        ours::source,
        program::{Contestant, Input, Program},
        rayon_join::Rayon,
    },
    figure::{Figure, at, bars, exactly, linear, logarithmic, series},
    lab::{How, Lab, Spread, number},
};
use millstream_channels_kernel::cuda::nvrtc::Arch;
use rayon::{
    iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator},
    slice::ParallelSliceMut,
};
use std::time::Instant;

/// The kernels of a GPU.
pub(crate) const CUDA: &str = include_str!("plain.cu");
const HERE: &str = include_str!("plain.rs");

/// A board with some rows placed: attacked columns, and diagonals to the left and right.
type Board = [u32; 3];

/// Boards with so many rows placed, for threads that take one each.
fn boards(n: u32, rows: u32) -> Vec<Board> {
    let all: u32 = (1 << n) - 1;
    let mut boards = vec![[0; 3]];
    for _ in 0..rows {
        let mut next = Vec::new();
        for [columns, left, right] in boards {
            let mut free = all & !(columns | left | right);
            while free != 0 {
                let queen = free & free.wrapping_neg();
                free ^= queen;
                next.push([columns | queen, (left | queen) << 1, (right | queen) >> 1]);
            }
        }
        boards = next;
    }
    boards
}

/// Placements of the rows that are left: a loop that goes back by a stack of its own.
fn placements(all: u32, [columns, left, right]: Board) -> u64 {
    if columns == all {
        return 1;
    }
    let mut stack = [[0; 4]; 32];
    stack[0] = [all & !(columns | left | right), columns, left, right];
    let (mut depth, mut found) = (1, 0);
    while depth > 0 {
        let [free, columns, left, right] = stack[depth - 1];
        if free == 0 {
            depth -= 1;
            continue;
        }
        let queen = free & free.wrapping_neg();
        stack[depth - 1][0] = free ^ queen;
        let columns = columns | queen;
        if columns == all {
            found += 1;
            continue;
        }
        let (left, right) = ((left | queen) << 1, (right | queen) >> 1);
        stack[depth] = [all & !(columns | left | right), columns, left, right];
        depth += 1;
    }
    found
}

fn queens_on_threads(n: u32, rows: u32) -> u64 {
    let all = (1 << n) - 1;
    let boards = boards(n, rows);
    boards.par_iter().map(|b| placements(all, *b)).sum()
}

fn queens_on_gpu(gpu: &Gpu, n: u32, rows: u32) -> Result<u64, String> {
    let boards = boards(n, rows);
    let (count, all) = (boards.len() as u32, (1 << n) - 1);
    let boards = gpu.words(boards.as_flattened())?;
    let placements = gpu.words(&[0; 2])?;
    let mut params = [
        Param::Words(boards),
        Param::Number(count),
        Param::Number(all),
        Param::Words(placements),
    ];
    // SAFETY: these are the kernel's parameters; it reads three words a board and adds to the two of the sum.
    unsafe { gpu.launch(gpu.kernel("queens")?, count, &mut params) }?;
    let mut sum = [0; 2];
    placements.read(&mut sum)?;
    boards.free()?;
    placements.free()?;
    Ok(u64::from(sum[1]) << 32 | u64::from(sum[0]))
}

/// The ordinary product, a row at a time.
fn product_on_threads(n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    c.par_chunks_mut(n).enumerate().for_each(|(i, row)| {
        row.fill(0.0);
        for (x, b) in a[i * n..][..n].iter().zip(b.chunks(n)) {
            for (sum, y) in row.iter_mut().zip(b) {
                *sum += x * y;
            }
        }
    });
}

/// The ordinary product of matrices that lie on the GPU: seconds for the kernel.
fn product_on_gpu(gpu: &Gpu, n: usize, a: &[f32], b: &[f32], c: &mut [f32]) -> Result<f64, String> {
    let words = |values: &[f32]| Vec::from_iter(values.iter().map(|v| v.to_bits()));
    let (a, b) = (gpu.words(&words(a))?, gpu.words(&words(b))?);
    let out = gpu.words(&words(c))?;
    let mut params = [
        Param::Words(a),
        Param::Words(b),
        Param::Words(out),
        Param::Number(n as u32),
    ];
    let kernel = gpu.kernel("product")?;
    let start = Instant::now();
    // SAFETY: these are the kernel's parameters, matrices of `n` rows and columns; a thread computes each element.
    unsafe { gpu.launch(kernel, (n * n) as u32, &mut params) }?;
    gpu.wait()?;
    let seconds = start.elapsed().as_secs_f64();
    let mut bits = vec![0; c.len()];
    out.read(&mut bits)?;
    for memory in [a, b, out] {
        memory.free()?;
    }
    c.iter_mut()
        .zip(bits)
        .for_each(|(c, bits)| *c = f32::from_bits(bits));
    Ok(seconds)
}

/// Lines of these functions of a text, without remarks and empty ones: from the function's name to the brace that ends it.
fn lines(text: &str, functions: &[&str]) -> usize {
    let mut count = 0;
    for function in functions {
        let mut rest = text
            .lines()
            .skip_while(|line| !line.contains(&format!(" {function}(")) || line.ends_with(';'));
        let first = rest.next().unwrap_or_default();
        let indent = first.len() - first.trim_start().len();
        let ends = |line: &str| line.len() > indent && &line[indent..] == "}" && line.trim() == "}";
        let inside = rest.take_while(|line| !ends(line)).map(str::trim);
        let code = inside.filter(|line| !line.is_empty() && !line.starts_with("//"));
        count += 2 + code.count();
    }
    count
}

/// One of the two beside the other.
struct Row {
    ours: Program,
    plain: &'static str,
    our_lines: usize,
    plain_lines: usize,
    /// Milliseconds.
    took: Spread,
}

/// **Channels, Table 4.** Code size and speed of programs of tasks beside programs without. Held: sizes. Lines of code without remarks, of the functions alone,
/// and what the host does for a plain kernel; dispatches, of which a plain program has one; milliseconds, of queens with the boards' first rows that the
/// plain program makes on the host, of products without copies.
pub(crate) fn figure(lab: &Lab) -> Result<Figure, String> {
    let mut figure = Figure::new(
        "tasks beside plain kernels",
        &[
            "tasks",
            "plain",
            "lines_tasks",
            "lines_plain",
            "lines_saved_percent",
            "dispatches_tasks",
            "dispatches_plain",
            "ms_tasks_median",
            "ms_tasks_min",
            "ms_tasks_max",
            "ms_plain_median",
            "ms_plain_min",
            "ms_plain_max",
            "times_as_fast",
        ],
    );
    figure.say(match lab.is_gpu() {
        true => "Channels paper, Table 4. Plain: a CUDA kernel a board with the first rows placed, which goes back by a stack in shared memory; a product by tiles of 16 x 16 in shared \
                 memory, a thread an element. Their time is by the host's clock, launch included.",
        false => "Channels paper, Table 4. Plain: rayon's loop over boards with the first rows placed, each a loop that goes back by a stack of its own; a product row by row, a loop over rows.",
    });
    let rows = rows(lab)?;
    let (mut tasks, mut plain, mut ratio) = (Vec::new(), Vec::new(), Vec::new());
    for (row, i) in rows.iter().zip(0u32..) {
        let ours = lab.run(row.ours, How::default())?;
        let (ms, theirs) = (ours.times, row.took);
        let saved = 100.0 * (1.0 - row.our_lines as f64 / row.plain_lines as f64);
        let faster = theirs.median / ms.median;
        let mut values = vec![
            row.ours.to_string(),
            row.plain.to_owned(),
            row.our_lines.to_string(),
            row.plain_lines.to_string(),
            number(saved),
            ours.report.dispatches.to_string(),
            "1".to_owned(),
        ];
        values.extend(ms.cells());
        values.extend(theirs.cells());
        values.push(number(faster));
        figure.row(values);
        tasks.push(at(i.into(), ms));
        plain.push(at(i.into(), theirs));
        ratio.push(exactly(i.into(), faster));
    }
    let groups: Vec<String> = rows.iter().map(|r| r.ours.to_string()).collect();
    let of = |count: fn(&Row) -> usize| {
        let points = rows.iter().zip(0u32..);
        points
            .map(|(row, i)| exactly(i.into(), count(row) as f64))
            .collect()
    };
    let code = vec![
        series("tasks", of(|r| r.our_lines)),
        series("plain", of(|r| r.plain_lines)),
    ];
    figure.panels = vec![
        bars(
            "Time",
            groups.clone(),
            logarithmic("ms"),
            vec![series("tasks", tasks), series("plain", plain)],
        ),
        bars(
            "Times as fast as the plain program",
            groups.clone(),
            linear("times"),
            vec![series("tasks", ratio)],
        ),
        bars("Code", groups, linear("lines"), code),
    ];
    Ok(figure)
}

fn rows(lab: &Lab) -> Result<Vec<Row>, String> {
    let gpu = match lab.gpu() {
        Some(gpu) => Some(Gpu::new(gpu.ordinal, Arch(gpu.arch), CUDA)?),
        None => None,
    };
    let workloads = lab.workloads();
    let mut rows = Vec::new();
    for program in workloads {
        match program {
            Program::Queens(n) => rows.push(queens(lab, gpu.as_ref(), n)?),
            Program::Strassen(n) => {
                let took = product(lab, gpu.as_ref(), n)?;
                let plain_lines = match gpu {
                    Some(_) => lines(CUDA, &["product"]) + lines(HERE, &["product_on_gpu"]),
                    None => lines(HERE, &["product_on_threads"]),
                };
                let ordinary = ["multiply", "multiply_strip", "multiply_in_registers"];
                let seven = [
                    "strassen",
                    "square",
                    "product",
                    "sum",
                    "sum_strip",
                    "sum_of_four",
                    "strip_of_four",
                ];
                let (_, text) = source(program);
                for (ours, functions) in [
                    (Program::Multiply(n), &ordinary[..]),
                    (program, &[&seven[..], &ordinary[..]].concat()),
                ] {
                    rows.push(Row {
                        ours,
                        plain: "ordinary product",
                        our_lines: lines(text, functions),
                        plain_lines,
                        took,
                    });
                }
            }
            _ => {}
        }
    }
    Ok(rows)
}

fn queens(lab: &Lab, gpu: Option<&Gpu>, n: u32) -> Result<Row, String> {
    let ours = Program::Queens(n);
    let (expected, _) = lab.expected(ours, &mut Input::None)?;
    // Enough boards for all threads, and rows that are left for their stacks.
    let rows = if gpu.is_some() {
        n.saturating_sub(10).max(6)
    } else {
        4
    };
    let took = lab.repeat(|| {
        if let Some(gpu) = gpu {
            gpu.enter()?;
        }
        let start = Instant::now();
        let came = match gpu {
            Some(gpu) => queens_on_gpu(gpu, n, rows)?,
            None => queens_on_threads(n, rows),
        };
        let seconds = start.elapsed().as_secs_f64();
        match came == expected {
            true => Ok(seconds),
            false => Err(format!("plain {ours} came to {came}, not {expected}")),
        }
    })?;
    let ms = took.map(|s| s * 1e3);
    let (_, text) = source(ours);
    Ok(Row {
        ours,
        plain: "a loop a board",
        our_lines: lines(text, &["place", "queens"]),
        plain_lines: match gpu {
            Some(_) => lines(CUDA, &["queens"]) + lines(HERE, &["boards", "queens_on_gpu"]),
            None => lines(HERE, &["boards", "placements", "queens_on_threads"]),
        },
        took: ms,
    })
}

fn product(lab: &Lab, gpu: Option<&Gpu>, n: usize) -> Result<Spread, String> {
    let mut expected = Program::Multiply(n).input();
    Rayon::new(lab.cores())?.run(Program::Multiply(n), &mut expected, true)?;
    let (
        Input::Strassen {
            a, b, c: expected, ..
        },
        mut c,
    ) = (&expected, vec![0.0; n * n])
    else {
        return Err("a product has no matrices".into());
    };
    let took = lab.repeat(|| {
        let seconds = match gpu {
            Some(gpu) => {
                gpu.enter()?;
                product_on_gpu(gpu, n, a, b, &mut c)?
            }
            None => {
                let start = Instant::now();
                product_on_threads(n, a, b, &mut c);
                start.elapsed().as_secs_f64()
            }
        };
        // Sums in the same order, but for what a GPU contracts.
        let wrong = c
            .iter()
            .zip(expected)
            .find(|(x, y)| (**x - **y).abs() > 1e-3);
        match wrong {
            Some((x, y)) => Err(format!("the plain product has {x} for {y}")),
            None => Ok(seconds),
        }
    })?;
    Ok(took.map(|s| s * 1e3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_the_functions() {
        let text = "/// Not this.\nfn one(\n    x: u32,\n) -> u32 {\n    // Nor this.\n\n    x\n}\nfn two() {\n}\n    pub fn three() {\n        if true {\n        }\n    }\n";
        assert_eq!(lines(text, &["one"]), 5);
        assert_eq!(lines(text, &["two"]), 2);
        assert_eq!(lines(text, &["one", "three"]), 5 + 4);
    }

    #[test]
    fn boards_have_all_placements() {
        for rows in 0..=6 {
            assert_eq!(queens_on_threads(6, rows), 4);
        }
        assert_eq!(queens_on_threads(8, 3), 92);
    }

    #[test]
    fn the_kernels_compile() {
        use millstream_channels_kernel::cuda::nvrtc::{self, How};
        let nvrtc = match nvrtc::find() {
            Ok(found) => found,
            Err(why) => return eprintln!("SKIPPED: {why}"),
        };
        let how = How {
            check: true,
            ..How::default()
        };
        let compiled = nvrtc.compile(CUDA, Arch(90), how);
        compiled.unwrap_or_else(|e| panic!("{e}"));
    }
}
