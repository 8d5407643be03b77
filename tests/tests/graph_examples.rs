//! The examples that are graphs, on every device: what comes out is what one thread comes to without a graph.

use crate::examples::examples::{bfs, fib_channel, mandelbrot, shortest, tracer, words};
use millstream::{Channel, Device, csr::Csr};
use millstream_tests::engine;
use std::sync::atomic::AtomicU64;

/// Every device that tests know.
fn devices() -> Vec<(String, Device)> {
    engine::devices(None)
}

fn dependencies() -> Csr {
    let file = millstream_tests::root().join("examples/data/dependencies.edges");
    Csr::read(&file).unwrap()
}

#[test]
fn figure_6_adds_up_to_fib() {
    for (on, device) in devices() {
        let result = AtomicU64::new(0);
        fib_channel::graph(15, &result).run(&device).unwrap();
        assert_eq!(result.into_inner(), 610, "{on}");
    }
    // As plain Rust.
    let (calls, result) = (Channel::new(), AtomicU64::new(0));
    calls.emit(fib_channel::fib_channel::FibObj { n: 15 });
    while calls.run(|src| fib_channel::fib_channel::fib(src, calls.clone(), &result)) {}
    assert_eq!(result.into_inner(), 610);
}

#[test]
fn breadth_first_search_finds_the_steps_that_one_thread_finds() {
    let graphs = [
        dependencies(),
        Csr::rmat(9, 16, 2).unwrap(),
        Csr::grid(40, 25, 3).unwrap(),
        // No edges, and a vertex that leads to itself.
        Csr::from_edges(3, || [(1, 1, 1)]).unwrap(),
    ];
    for csr in &graphs {
        for from in [0, 1] {
            let expected = bfs::serial(csr, from);
            for (on, device) in devices() {
                let steps = bfs::unknown(csr);
                bfs::graph(csr, from, &steps).run(&device).unwrap();
                let steps = bfs::values(&steps);
                assert!(steps == expected, "{on}: {} vertices", csr.vertices());
            }
        }
    }
}

#[test]
fn shortest_paths_are_dijkstras() {
    let graphs = [
        (Csr::rmat(9, 8, 4).unwrap(), 100),
        (Csr::grid(40, 25, 5).unwrap(), 1000),
        // A long way round is shorter than the way ahead.
        (
            Csr::parse("0 1 100\n0 2 1\n2 3 1\n3 1 1\n1 0 1").unwrap(),
            2,
        ),
    ];
    for (csr, delta) in &graphs {
        let expected = shortest::serial(csr, 0);
        // As it is meant, and with all in the last channel.
        for delta in [*delta, 1] {
            for (on, device) in devices() {
                let ways = bfs::unknown(csr);
                shortest::graph(csr, 0, delta, &ways).run(&device).unwrap();
                let found = bfs::values(&ways);
                assert!(found == expected, "{on}: {} vertices", csr.vertices());
                let reached = expected.iter().filter(|w| **w != shortest::NONE);
                let most = *reached.clone().max().unwrap();
                let count = reached.count() as u32;
                let far = shortest::shortest::call::farthest(&ways);
                assert_eq!(device.run(far).unwrap(), (count, most), "{on}");
            }
        }
    }
}

#[test]
fn every_word_is_counted_by_one_of_four() {
    let licence = std::fs::read_to_string(millstream_tests::root().join("LICENSE-MIT")).unwrap();
    for text in [
        &licence[..],
        "",
        "one",
        "a b A B a-b",
        &"x".repeat(2000),
        "\u{e9}t\u{e9} ete",
    ] {
        let expected = words::serial(text);
        for (on, device) in devices() {
            let table = words::Table::new(1024);
            words::graph(text, &table).run(&device).unwrap();
            assert_eq!(table.counted(text), expected, "{on}");
            assert_eq!(table.words.into_inner() as usize, expected.len(), "{on}");
            let longest = expected.keys().map(String::len).max().unwrap_or(0);
            assert_eq!(table.longest.into_inner() as usize, longest, "{on}");
        }
    }
}

#[test]
fn a_table_that_is_full_ends_the_run_with_the_node_and_the_line() {
    for (on, device) in devices() {
        let table = words::Table::new(4);
        let error = words::graph("a b c d e f g h i", &table)
            .run(&device)
            .unwrap_err();
        let said = error.to_string();
        assert!(said.contains("the table is full"), "{on}: {said}");
        assert!(said.contains("words.rs:"), "{on}: {said}");
    }
}

#[test]
fn all_points_of_the_mandelbrot_set_are_as_computed_directly() {
    for (on, device) in devices() {
        let (steps, pixels) = mandelbrot::draw(&device, 64, 2).unwrap();
        assert_eq!(mandelbrot::wrong(mandelbrot::view(128), &steps), 0, "{on}");
        assert_eq!(pixels.len(), 64 * 40);
    }
}

#[test]
fn a_picture_has_the_pixels_that_one_thread_traces() {
    for (on, device) in devices() {
        let scene = tracer::film::Scene::new(&device).unwrap();
        let (width, height, samples) = (24, 15, 3);
        let [film, painted, direct] =
            [(); 3].map(|()| tracer::film::Film::new(width, height, samples));
        tracer::film::graph(&scene, &film).run(&device).unwrap();
        tracer::film::serial(&scene, &direct);
        let expected = direct.pixels();
        assert!(film.pixels() == expected, "{on}");
        device.run(tracer::film::paint(&scene, &painted)).unwrap();
        assert!(painted.pixels() == expected, "{on}, by a task a pixel");
        // A picture of something.
        assert!(
            expected.iter().any(|p| p & 0xff > 0x80) && expected.iter().any(|p| p & 0xff < 0x40)
        );
    }
}

/// The pixels of a picture in the docs, of 640 x 400 of them: red, green and blue.
fn shown(name: &str) -> Vec<[u8; 3]> {
    let file = std::fs::File::open(millstream_tests::root().join("docs").join(name)).unwrap();
    let mut reader = png::Decoder::new(std::io::BufReader::new(file))
        .read_info()
        .unwrap();
    assert_eq!(reader.info().size(), (640, 400));
    let mut bytes = vec![0; 640 * 400 * 3];
    reader.next_frame(&mut bytes).unwrap();
    bytes.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect()
}

fn colours(pixel: u32) -> [u8; 3] {
    let [_, red, green, blue] = pixel.to_be_bytes();
    [red, green, blue]
}

#[test]
fn the_set_in_the_docs_is_what_the_program_draws() {
    let (_, pixels) = mandelbrot::draw(&Device::cpu().unwrap(), 640, 2).unwrap();
    let drawn: Vec<[u8; 3]> = pixels.into_iter().map(colours).collect();
    assert!(
        drawn == shown("mandelbrot.png"),
        "cargo run --release --example mandelbrot -- docs/mandelbrot.png"
    );
}

/// The picture in the docs has 256 paths a pixel; here each of 80 x 50 pixels, as large as 64 of its, is made of 64.
#[test]
fn the_picture_in_the_docs_is_what_the_program_traces_but_for_noise() {
    let device = Device::cpu().unwrap();
    let scene = tracer::film::Scene::new(&device).unwrap();
    let film = tracer::film::Film::new(80, 50, 64);
    tracer::film::graph(&scene, &film).run(&device).unwrap();
    let docs = shown("tracer.png");
    let mut off = 0;
    for (i, pixel) in film.pixels().into_iter().enumerate() {
        let (x, y) = (i % 80 * 8, i / 80 * 8);
        let block = (0..64).map(|j| docs[(y + j / 8) * 640 + x + j % 8]);
        let sum = block.fold([0u32; 3], |s, p| [0, 1, 2].map(|c| s[c] + u32::from(p[c])));
        let traced = colours(pixel);
        off += (0..3)
            .map(|c| (sum[c] / 64).abs_diff(traced[c].into()))
            .sum::<u32>();
    }
    // Of 255, on the average.
    let mean = f64::from(off) / (3.0 * 80.0 * 50.0);
    assert!(mean < 6.0, "{mean}");
}
