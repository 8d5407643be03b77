//! Each example as a Cargo example, from its source file and from its RON file, with the results of its elision.

#![allow(
    clippy::module_inception,
    dead_code,
    unreachable_pub,
    reason = "an example is a program of its own, with a `main` and a module of its name"
)]

use millstream::{
    Device,
    job::{Job, Outcome, Settings},
};
use millstream_tests::{cubins, engine};
use std::{
    fmt::Debug,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

macro_rules! examples {
    ($($name:ident)*) => {
        #[path = "../../examples"]
        pub(crate) mod examples {
            $(pub mod $name;)*
        }
        use self::examples::*;

        const EXAMPLES: &[&str] = &[$(stringify!($name)),*];
    };
}

examples! { backprop bfs fib fib_channel floyd heat histogram kmeans mandelbrot mergesort prefix_sum quadrature queens quickhull shortest sort strassen strassen64 tracer tree tsp unbalanced words }

fn folder() -> PathBuf {
    millstream_tests::root().join("examples")
}

fn file(name: &str, extension: &str) -> PathBuf {
    folder().join(format!("{name}.{extension}"))
}

/// A run of an example that can be asked for at every door, and what its elision makes of it.
#[derive(Default)]
struct Case {
    name: &'static str,
    /// The entry for the source file; the RON file has its own.
    entry: String,
    /// Buffers for the source file.
    buffers: Vec<String>,
    /// Parameters for the RON file.
    params: Vec<String>,
    /// Name, type and bytes of buffers that both are given.
    inputs: Vec<(&'static str, &'static str, Vec<u8>)>,
    /// What the elision left in some of the buffers.
    after: Vec<(&'static str, Vec<u8>)>,
    /// What the elision returned.
    result: Option<String>,
}

impl Case {
    fn new(name: &'static str, entry: impl Into<String>) -> Self {
        Self {
            name,
            entry: entry.into(),
            ..Self::default()
        }
    }

    fn params(mut self, params: &[String]) -> Self {
        self.params = params.to_vec();
        self
    }

    fn input(mut self, name: &'static str, ty: &'static str, bytes: Vec<u8>) -> Self {
        self.inputs.push((name, ty, bytes));
        self
    }

    fn buffer(mut self, buffer: impl Into<String>) -> Self {
        self.buffers.push(buffer.into());
        self
    }

    fn after(mut self, name: &'static str, bytes: Vec<u8>) -> Self {
        self.after.push((name, bytes));
        self
    }

    fn result(mut self, result: impl Debug) -> Self {
        self.result = Some(format!("{result:?}"));
        self
    }

    /// Runs it from both files.
    fn check(self) {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(format!("{name}.bin"));
        let mut settings = Settings::default();
        for (name, ty, bytes) in &self.inputs {
            std::fs::write(path(name), bytes).unwrap();
            settings
                .inputs
                .push(format!("{name}={ty}:{}", path(name).display()));
        }
        settings.outputs = self
            .after
            .iter()
            .map(|(name, _)| format!("{name}={}", path(&format!("{name}.out")).display()))
            .collect();
        let by_source = Settings {
            entry: Some(self.entry.clone()),
            buffers: self.buffers.clone(),
            ..settings.clone()
        };
        let by_ron = Settings {
            params: self.params.clone(),
            ..settings
        };
        for (on, device) in devices() {
            for (extension, settings) in [("rs", &by_source), ("ron", &by_ron)] {
                let what = format!("examples/{}.{extension} on {on}", self.name);
                let outcome = run(&file(self.name, extension), settings, Some(device));
                assert_eq!(outcome.result(), self.result.as_deref(), "{what}");
                for (name, expected) in &self.after {
                    let found = std::fs::read(path(&format!("{name}.out"))).unwrap();
                    assert!(
                        found == *expected,
                        "{what}: `{name}` is not as the elision leaves it"
                    );
                }
            }
        }
    }
}

/// Every device that tests know, made once.
fn devices() -> &'static [(String, Device)] {
    static DEVICES: OnceLock<Vec<(String, Device)>> = OnceLock::new();
    DEVICES.get_or_init(|| {
        let open = |name: &str| {
            (
                name.to_owned(),
                Job::open(&file(name, "ron"), &Settings::default())
                    .unwrap()
                    .lowered()
                    .clone(),
            )
        };
        cubins::ahead(&EXAMPLES.iter().map(|name| open(name)).collect::<Vec<_>>());
        engine::devices(None)
    })
}

/// Runs a file on a device, or on the one that the file and the settings ask for.
fn run(path: &Path, settings: &Settings, device: Option<&Device>) -> Outcome {
    let job = Job::open(path, settings).unwrap_or_else(|e| panic!("{}: {e:?}", path.display()));
    let prepared = job
        .prepare()
        .unwrap_or_else(|e| panic!("{}: {e:?}", path.display()));
    let own;
    let device = match device {
        Some(device) => device,
        None => {
            own = job.device().unwrap();
            &own
        }
    };
    prepared
        .run(device)
        .unwrap_or_else(|e| panic!("{}: {e:?}", path.display()))
}

/// Numbers that look random.
fn random() -> impl FnMut() -> u32 {
    let mut state = 1u32;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state ^ state >> 16
    }
}

macro_rules! bytes {
    ($values:expr) => {
        $values
            .iter()
            .flat_map(|x| x.to_le_bytes())
            .collect::<Vec<u8>>()
    };
}

#[test]
fn fib_queens_unbalanced_and_quadrature_return_what_their_elisions_return() {
    let param = |name: &str, value: &str| format!("{name}={value}");
    Case::new("fib", "fib(15)")
        .params(&[param("n", "15")])
        .result(fib::fib::fib(15))
        .check();
    Case::new("queens", "queens(7)")
        .params(&[param("n", "7")])
        .result(queens::queens::queens(7))
        .check();
    assert_eq!(queens::queens::queens_to(7, 3), 40);
    let (seed, branches) = (param("seed", "2"), param("branches", "9"));
    Case::new("unbalanced", "tree(2, 9)")
        .params(&[seed, branches])
        .result(unbalanced::unbalanced::tree(2, 9))
        .check();
    let area = quadrature::quadrature::quadrature(0.25, 0.5, 1e-6);
    let params = [
        param("from", "0.25"),
        param("to", "0.5"),
        param("tolerance", "1e-6"),
    ];
    Case::new("quadrature", "quadrature(0.25, 0.5, 1e-6)")
        .params(&params)
        .result(area)
        .check();
}

#[test]
fn sorts_leave_what_their_elisions_leave() {
    let mut next = random();
    let data: Vec<i32> = (0..3001).map(|_| next() as i32).collect();
    let (mut sorted, mut tmp) = (data.clone(), vec![0; data.len()]);
    sort::sort::sort(&mut sorted, &mut tmp);
    assert!(sorted.is_sorted());
    let case = Case::new("sort", "sort(&mut data, &mut tmp)")
        .buffer("tmp=like:data")
        .input("data", "i32", bytes!(data));
    case.after("data", bytes!(sorted))
        .after("tmp", bytes!(tmp))
        .check();

    let data: Vec<u64> = (0..3001).map(|_| u64::from(next()) << 20).collect();
    let (mut sorted, mut other) = (data.clone(), vec![0; data.len()]);
    mergesort::mergesort::mergesort(&mut sorted, &mut other, false);
    assert!(sorted.is_sorted());
    let case =
        Case::new("mergesort", "mergesort(&mut data, &mut other, false)").buffer("other=like:data");
    case.input("data", "u64", bytes!(data))
        .after("data", bytes!(sorted))
        .after("other", bytes!(other))
        .check();
}

macro_rules! strassen {
    ($name:ident, $real:ident) => {{
        let n = 128;
        let mut next = random();
        let mut matrix = || {
            (0..n * n)
                .map(|_| (next() % 1000) as $real / 64.0)
                .collect::<Vec<$real>>()
        };
        let (a, b) = (matrix(), matrix());
        let (mut c, mut scratch) = (vec![0.0; n * n], vec![0.0; 31 * n * n]);
        let off = {
            use millstream::{Mat, MatMut};
            let (a, b) = (Mat::new(&a, n, n), Mat::new(&b, n, n));
            $name::$name::with_check(MatMut::new(&mut c, n, n), a, b, &mut scratch)
        };
        let mats =
            format!("Mat::new(&mut c, {n}, {n}), Mat::new(&a, {n}, {n}), Mat::new(&b, {n}, {n})");
        let entry = format!("with_check({mats}, &mut scratch)");
        let zeros = |name: &str, n: usize| format!("{name}=zeros:{n}");
        let case = Case::new(stringify!($name), entry)
            .buffer(zeros("c", n * n))
            .buffer(zeros("scratch", 31 * n * n));
        let case = case
            .params(&[format!("n={n}")])
            .input("a", stringify!($real), bytes!(a))
            .input("b", stringify!($real), bytes!(b));
        case.after("c", bytes!(c)).result(off).check();
    }};
}

#[test]
fn strassen_has_the_bits_of_its_elision() {
    strassen!(strassen, f32);
    strassen!(strassen64, f64);
}

/// Programs that divide their work more finely on a GPU have the same results by that.
#[test]
fn what_is_divided_as_for_a_gpu_has_the_same_results() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["sort", "strassen", "strassen64"] {
        let text = std::fs::read_to_string(file(name, "rs")).unwrap();
        let asks = "millstream::on_gpu()";
        assert!(text.contains(asks), "{name}");
        let source = folder.path().join(format!("{name}.rs"));
        let ron = folder.path().join(format!("{name}.ron"));
        std::fs::write(&source, text.replace(asks, "true")).unwrap();
        std::fs::copy(file(name, "ron"), &ron).unwrap();
        let results = [&ron, &file(name, "ron")].map(|path| {
            let written = folder.path().join("written.bin");
            let buffer = if name == "sort" { "data" } else { "c" };
            let settings = Settings {
                params: vec!["n=256".into()],
                outputs: vec![format!("{buffer}={}", written.display())],
                ..Settings::default()
            };
            let outcome = run(path, &settings, Some(&Device::cpu().unwrap()));
            let result = outcome.result().map(str::to_owned);
            (result, std::fs::read(&written).unwrap())
        });
        assert_eq!(results[0], results[1], "{name}");
    }
}

/// They are to stay one program, for two types.
#[test]
fn the_two_strassens_differ_in_their_type_alone() {
    let read = |name: &str| std::fs::read_to_string(file(name, "rs")).unwrap();
    let program = |text: String| {
        text.split_once("#[millstream::program]")
            .unwrap()
            .1
            .split_once("fn main")
            .unwrap()
            .0
            .to_owned()
    };
    let (single, double) = (program(read("strassen")), program(read("strassen64")));
    assert_eq!(
        single
            .replace("mod strassen ", "mod strassen64 ")
            .replace("type Real = f32", "type Real = f64"),
        double
    );
}

#[test]
fn trees_tours_ways_and_hulls_are_those_of_their_elisions() {
    let mut next = random();
    // Each node is the child of one before it: two children each, until there are no more.
    let nodes: Vec<tree::tree::Node> = (0..100u32)
        .map(|i| tree::tree::Node {
            value: next().into(),
            first_child: 2 * i + 1,
            children: (99 - (2 * i).min(99)).min(2),
        })
        .collect();
    let image: Vec<u8> = nodes
        .iter()
        .flat_map(|n| {
            [
                &n.value.to_le_bytes()[..],
                &n.first_child.to_le_bytes()[..],
                &n.children.to_le_bytes()[..],
            ]
            .concat()
        })
        .collect();
    assert_eq!(tree::tree::depth(&nodes, 0), 7);
    Case::new("tree", "sum(&nodes, 0)")
        .input("nodes", "Node", image)
        .result(tree::tree::sum(&nodes, 0))
        .check();

    let n = 8;
    let distances: Vec<u16> = (0..n * n).map(|_| (next() >> 20) as u16).collect();
    let case = Case::new("tsp", format!("tsp(&distances, {n})")).params(&[format!("n={n}")]);
    case.input("distances", "u16", bytes!(distances))
        .result(tsp::tsp::tsp(&distances, n))
        .check();

    let n = 40;
    let edges: Vec<u32> = (0..n * n)
        .map(|_| {
            if next() & 3 == 0 {
                next() >> 16
            } else {
                u32::MAX
            }
        })
        .collect();
    let (mut ways, mut scratch) = (edges.clone(), vec![0; floyd::floyd::scratch_len(n)]);
    let shortened = floyd::floyd::floyd(&mut ways, &mut scratch, n);
    let mut shortest = edges.clone();
    for (k, i, j) in (0..n * n * n).map(|at| (at / n / n, at / n % n, at % n)) {
        let way = shortest[i * n + k].saturating_add(shortest[k * n + j]);
        shortest[i * n + j] = way.min(shortest[i * n + j]);
    }
    assert_eq!(ways, shortest);
    let entry = format!("floyd(&mut distances, &mut scratch, {n})");
    let case = Case::new("floyd", entry).params(&[format!("n={n}")]);
    case.buffer(format!("scratch=zeros:{}", scratch.len()))
        .input("distances", "u32", bytes!(edges))
        .after("distances", bytes!(ways))
        .result(shortened)
        .check();

    // So few that one task does what is to be done, and so many that lanes share it.
    for n in [500, 6000] {
        let mut points: Vec<quickhull::quickhull::Point> = (0..n)
            .map(|_| quickhull::quickhull::Point {
                x: (next() >> 18) as i16,
                y: (next() >> 20) as i16,
            })
            .collect();
        let before = points.clone();
        let (mut tmp, mut starts) = (points.clone(), vec![0; n / 64 + 3]);
        let corners = quickhull::quickhull::quickhull(&mut points, &mut tmp, &mut starts);
        assert_eq!(
            corners,
            corners_of(before.iter().map(|p| (p.x, p.y)).collect())
        );
        let image = |points: &[quickhull::quickhull::Point]| {
            bytes!(points.iter().flat_map(|p| [p.x, p.y]).collect::<Vec<i16>>())
        };
        let call = "quickhull(&mut points, &mut tmp, &mut starts)";
        Case::new("quickhull", call)
            .params(&[format!("n={n}")])
            .buffer("tmp=like:points")
            .buffer(format!("starts=zeros:{}", starts.len()))
            .input("points", "Point", image(&before))
            .after("points", image(&points))
            .result(corners)
            .check();
    }
}

/// Corners of the hull of points, found in another way: along their order from left to right, and back.
fn corners_of(mut points: Vec<(i16, i16)>) -> u32 {
    points.sort_unstable();
    points.dedup();
    let (mut lower, mut upper) = (Vec::new(), Vec::new());
    let turns_left = |[a, b, c]: [(i16, i16); 3]| {
        let way = |from: (i16, i16), to: (i16, i16)| {
            let less = |a: i16, b: i16| i64::from(b) - i64::from(a);
            (less(from.0, to.0), less(from.1, to.1))
        };
        let (u, v) = (way(a, b), way(a, c));
        u.0 * v.1 - u.1 * v.0 > 0
    };
    let add = |half: &mut Vec<(i16, i16)>, p| {
        while let [.., a, b] = half[..]
            && !turns_left([a, b, p])
        {
            half.pop();
        }
        half.push(p);
    };
    points.iter().for_each(|p| add(&mut lower, *p));
    points.iter().rev().for_each(|p| add(&mut upper, *p));
    (lower.len() + upper.len()) as u32 - 2
}

#[test]
fn heat_and_kmeans_have_the_bits_of_their_elisions() {
    let mut random = 1u32;
    let mut next = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) as f32 / (1 << 24) as f32
    };
    let (width, height) = (37, 21);
    let mut plate: Vec<f32> = (0..width * height).map(|_| next()).collect();
    let before = plate.clone();
    let mut other = vec![0.0; plate.len()];
    let case = Case::new(
        "heat",
        format!("heat(&mut plate, &mut other, {width}, 9, 1e-3)"),
    )
    .params(&[format!("width={width}"), "pairs=9".into()]);
    let steps = heat::heat::heat(&mut plate, &mut other, width, 9, 1.0e-3);
    case.input("plate", "f32", bytes!(before))
        .input("other", "f32", vec![0; 4 * other.len()])
        .after("plate", bytes!(plate))
        .result(steps)
        .check();

    let mut point = || kmeans::kmeans::Point {
        x: next(),
        y: next(),
    };
    let points: Vec<_> = (0..1500).map(|_| point()).collect();
    let mut centres: Vec<_> = (0..5).map(|_| point()).collect();
    let image = |points: &[kmeans::kmeans::Point]| {
        bytes!(points.iter().flat_map(|p| [p.x, p.y]).collect::<Vec<f32>>())
    };
    let case = Case::new("kmeans", "kmeans(&points, &mut centres, &mut nearest, 6)")
        .params(&["rounds=6".into()])
        .input("points", "Point", image(&points))
        .input("centres", "Point", image(&centres))
        .input("nearest", "u32", vec![0; 4 * points.len()]);
    let mut nearest = vec![0; points.len()];
    let rounds = kmeans::kmeans::kmeans(&points, &mut centres, &mut nearest, 6);
    case.after("centres", image(&centres))
        .after("nearest", bytes!(nearest))
        .result(rounds)
        .check();
}

#[test]
fn sums_and_counts_are_those_of_one_thread() {
    let mut next = random();
    // In one block, in a few, and in so many that their sums are several blocks too.
    for n in [0, 200, 1000, 70_000] {
        let data: Vec<u64> = (0..n).map(|_| u64::from(next()) << 20).collect();
        let mut sums = data.clone();
        for i in 1..n {
            sums[i] = sums[i].wrapping_add(sums[i - 1]);
        }
        let scratch = prefix_sum::prefix_sum::scratch_len(n);
        Case::new("prefix_sum", "prefix_sum(&mut data, &mut scratch)")
            .params(&[format!("n={n}")])
            .buffer(format!("scratch=zeros:{scratch}"))
            .input("data", "u64", bytes!(data))
            .after("data", bytes!(sums))
            .result(sums.last().unwrap_or(&0))
            .check();
    }

    // Parts that are full, that end early, and of which some have nothing.
    for (n, parts) in [(4096, 16), (1000, 7), (10, 40)] {
        let data: Vec<u8> = (0..n).map(|_| (next() & next()) as u8).collect();
        let mut counts = vec![0u32; 256];
        for x in &data {
            counts[usize::from(*x)] += 1;
        }
        let tables: Vec<u32> = (0..parts * 256).map(|_| next()).collect();
        let entry = |of| format!("apart(&data, Mat::new(&mut tables, {of}, 256), &mut counts)");
        Case::new("histogram", entry(parts))
            .params(&[format!("parts={parts}")])
            .buffer("counts=zeros:256")
            .input("data", "u8", data.clone())
            .input("tables", "u32", bytes!(tables))
            .after("counts", bytes!(counts))
            .result(counts.iter().max().unwrap())
            .check();
    }
}

#[test]
fn what_is_learnt_has_the_bits_of_the_elision() {
    use millstream::MatMut;
    let (n, units) = (150, 5);
    let shapes = backprop::shapes(n, units);
    let mut memory = shapes.map(|(rows, cols)| vec![0f32; rows * cols]);
    let mut views = memory.iter_mut().zip(shapes);
    let [a, b, c, d, e, f] = std::array::from_fn(|_| {
        let (data, (rows, cols)) = views.next().unwrap();
        MatMut::new(data, rows, cols)
    });
    let wrong = backprop::backprop::learn(a, b, c, d, e, f, 6);
    let by_hand = learnt(n, units, 6);
    assert!((wrong - by_hand).abs() < 1e-4, "{wrong}, {by_hand}");
    let names = ["samples", "first", "second", "hidden", "back", "outputs"];
    let mats = names.iter().zip(shapes);
    let mats = mats.map(|(name, (rows, cols))| format!("Mat::new(&mut {name}, {rows}, {cols})"));
    let entry = format!("learn({}, 6)", mats.collect::<Vec<_>>().join(", "));
    let params = [("n", n), ("units", units), ("rounds", 6)];
    let mut case = Case::new("backprop", entry);
    case = case.params(&params.map(|(name, value)| format!("{name}={value}")));
    for (name, memory) in names.into_iter().zip(&memory) {
        case = case.buffer(format!("{name}=zeros:{}", memory.len()));
        case = case.after(name, bytes!(memory));
    }
    case.result(wrong).check();
}

/// The same in doubles, sample by sample.
fn learnt(n: usize, units: usize, rounds: usize) -> f64 {
    let squash = |x: f64| x / (1.0 + x.abs());
    let slope = |y: f64| (1.0 - y.abs()).powi(2);
    let random = |i: usize| {
        let mixed = (i as u32 ^ i as u32 >> 15).wrapping_mul(0x2c1b_3c6d);
        f64::from((mixed ^ mixed >> 12) as i32) / f64::from(1u32 << 31)
    };
    let weight = |i: usize| random(0xabcd + i);
    let mut first: Vec<[f64; 3]> = (0..units)
        .map(|i| [0, 1, 2].map(|j| 2.0 * weight(3 * i + j)))
        .collect();
    let mut second: Vec<f64> = (0..=units).map(weight).collect();
    let mut loss = 0.0;
    for _ in 0..rounds {
        let (mut steps, mut step) = (vec![[0.0; 3]; units], vec![0.0; units + 1]);
        loss = 0.0;
        for i in 0..n {
            let point = [random(2 * i + 1), random(2 * i + 2), 1.0];
            let [x, y, _] = point;
            let wanted = if x * x + y * y < 0.5 { 0.8 } else { -0.8 };
            let sum = |w: &[f64; 3]| w.iter().zip(&point).map(|(w, x)| w * x).sum::<f64>();
            let mut hidden: Vec<f64> = first.iter().map(|w| squash(sum(w))).collect();
            hidden.push(1.0);
            let out = squash(second.iter().zip(&hidden).map(|(w, x)| w * x).sum());
            loss += (wanted - out).powi(2) / n as f64;
            let wrong = (wanted - out) * slope(out);
            for (j, h) in hidden.iter().enumerate() {
                step[j] += wrong * h;
                for (s, x) in steps.iter_mut().skip(j).take(1).flatten().zip(&point) {
                    *s += wrong * second[j] * slope(*h) * x;
                }
            }
        }
        let all = first.iter_mut().zip(&steps);
        let all = all.flat_map(|(w, s)| w.iter_mut().zip(s));
        for (weight, step) in all.chain(second.iter_mut().zip(&step)) {
            *weight += 2.0 / n as f64 * step;
        }
    }
    loss
}

#[test]
fn every_ron_file_gives_what_it_expects() {
    for name in EXAMPLES {
        let text = std::fs::read_to_string(file(name, "ron")).unwrap();
        assert!(
            text.contains("expect:"),
            "examples/{name}.ron expects nothing"
        );
        run(&file(name, "ron"), &Settings::default(), None);
        for (_, gpu) in devices()
            .iter()
            .filter(|(_, device)| device.gpu().is_some())
        {
            run(&file(name, "ron"), &Settings::default(), Some(gpu));
        }
    }
}

#[test]
fn every_example_is_a_cargo_example_and_holds_its_assertions() {
    if Command::new(env!("CARGO"))
        .arg("--version")
        .output()
        .is_err()
    {
        return eprintln!("SKIPPED: no cargo");
    }
    for name in EXAMPLES {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["run", "--quiet", "-p", "millstream", "--example", name]);
        // Who asks for the times of tests sets it, and cargo would build all anew for it.
        cargo.env_remove("RUSTC_BOOTSTRAP");
        if !cfg!(debug_assertions) {
            cargo.arg("--release");
        }
        let output = cargo.output().unwrap();
        let (out, err) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert!(
            output.status.success() && !out.is_empty(),
            "{name}: {out}{err}"
        );
    }
}

#[test]
fn every_example_is_tested() {
    let names = std::fs::read_dir(folder())
        .unwrap()
        .map(|f| f.unwrap().path());
    let mut sources: Vec<String> = names
        .filter(|p| p.extension().is_some_and(|e| e == "rs"))
        .map(|p| p.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    sources.sort();
    assert_eq!(sources, EXAMPLES);
}
