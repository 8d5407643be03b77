//! What the path tracer's graph is given: the scene, and the film that the picture comes to be on.

use super::tracer::{self, Ball, Hit, Light, Node, Ray, Shadow, Start, View};
use millstream::{Call, Device, Graph, image};
use std::sync::atomic::{AtomicU32, Ordering};

/// Balls of the scene.
pub const BALLS: usize = 1002;

/// What is seen: balls, and the boxes around them.
#[derive(Debug)]
pub struct Scene {
    balls: Vec<Ball>,
    nodes: Vec<Node>,
}

impl Scene {
    /// Makes it on a device.
    pub fn new(device: &Device) -> Result<Self, millstream::Error> {
        let mut balls: Vec<Ball> = (0..BALLS).map(|_| Ball::default()).collect();
        let mut nodes: Vec<Node> = (1..2 * BALLS).map(|_| Node::default()).collect();
        device.run(tracer::call::scene(&mut balls))?;
        device.run(tracer::call::boxes(&mut balls, &mut nodes, 0, 0))?;
        Ok(Self { balls, nodes })
    }
}

/// What a picture is made on.
#[derive(Debug)]
pub struct Film {
    view: View,
    /// Three for each pixel: red, green and blue, in parts of 2^16.
    sums: Vec<AtomicU32>,
    /// What of each pixel is still on its way.
    open: Vec<AtomicU32>,
    /// The pixels as a screen shows them.
    pixels: Vec<AtomicU32>,
}

impl Film {
    /// All black.
    pub fn new(width: u32, height: u32, samples: u32) -> Self {
        let zeros = |n: u32| (0..n).map(|_| AtomicU32::new(0)).collect();
        Self {
            view: View {
                width,
                height,
                samples,
            },
            sums: zeros(3 * width * height),
            open: zeros(width * height),
            pixels: zeros(width * height),
        }
    }

    /// All black again.
    pub fn clear(&self) {
        // Relaxed, and below: no run is under way.
        let all = self.sums.iter().chain(&self.open).chain(&self.pixels);
        all.for_each(|part| part.store(0, Ordering::Relaxed));
    }

    /// The picture.
    pub fn pixels(&self) -> Vec<u32> {
        let pixels = self.pixels.iter();
        pixels.map(|p| p.load(Ordering::Relaxed)).collect()
    }
}

/// The graph, which leaves the picture on the film.
pub fn graph<'a>(scene: &'a Scene, film: &'a Film) -> Graph<'a> {
    use tracer::kernel;
    let Scene { balls, nodes } = scene;
    let Film {
        view,
        sums,
        open,
        pixels,
    } = film;
    // As many paths as pixels, each with its shadow rays.
    let room = (view.width * view.height).max(1024);
    let mut graph = Graph::new("tracer");
    let rows = graph.channel::<u32>("rows").width(1024);
    let starts = graph.channel::<Start>("starts").width(room);
    let rays = graph.channel::<Ray>("rays").width(room).priority(1);
    let hits = ["matte", "metal", "glass"];
    let [matte, metal, glass] = hits.map(|name| graph.channel::<Hit>(name).width(room).priority(2));
    let shadows = graph
        .channel::<Shadow>("shadows")
        .width(2 * room)
        .priority(3);
    let lights = graph.channel::<Light>("lights").width(2 * room).priority(4);
    let frame = graph
        .kernel(kernel::frame)
        .consumes(&rows)
        .produces(&starts);
    frame.arg(*view).arg(open);
    let camera = graph
        .kernel(kernel::camera)
        .consumes(&starts)
        .produces(&rays);
    camera.arg(*view);
    let intersect = graph.kernel(kernel::intersect).consumes(&rays);
    let intersect = intersect.produces(&matte).produces(&metal).produces(&glass);
    intersect.produces(&lights).arg(balls).arg(nodes);
    let scatter = graph.kernel(kernel::matte).consumes(&matte);
    scatter
        .produces(&rays)
        .produces(&shadows)
        .arg(balls)
        .arg(open);
    let reflect = graph.kernel(kernel::metal).consumes(&metal).produces(&rays);
    reflect.arg(balls);
    let refract = graph.kernel(kernel::glass).consumes(&glass).produces(&rays);
    refract.arg(balls);
    let shadow = graph.kernel(kernel::shadow).consumes(&shadows);
    shadow.produces(&lights).arg(balls).arg(nodes);
    let accumulate = graph.kernel(kernel::accumulate).consumes(&lights);
    let accumulate = accumulate.produces(&starts).arg(*view);
    accumulate.arg(sums).arg(open).arg(pixels);
    graph.send(&rows, 0..view.height);
    graph
}

/// The call of a task that makes the picture pixel by pixel, as one kernel that loops.
pub fn paint<'a>(scene: &'a Scene, film: &'a Film) -> Call<'a, ()> {
    let Film {
        view, sums, pixels, ..
    } = film;
    let end = view.width * view.height;
    tracer::call::paint(0, end, *view, &scene.balls, &scene.nodes, sums, pixels)
}

/// The same by one thread: its serial elision.
pub fn serial(scene: &Scene, film: &Film) {
    let Film {
        view, sums, pixels, ..
    } = film;
    let end = view.width * view.height;
    tracer::paint(0, end, *view, &scene.balls, &scene.nodes, sums, pixels);
}

/// Shoots the picture that the arguments ask for: width, height, paths of each pixel, and a file to write. Without a file it is compared.
pub fn shoot(args: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let numbers: Result<Vec<u32>, _> = args.iter().take(3).map(|a| a.parse()).collect();
    let [width, height, samples] = numbers?.try_into().unwrap_or([80, 50, 4]);
    let device = Device::auto()?;
    let scene = Scene::new(&device)?;
    let film = Film::new(width, height, samples);
    graph(&scene, &film).run(&device)?;
    let pixels = film.pixels();
    match args.get(3) {
        Some(file) => std::fs::write(file, image::png(width, height, &pixels)?)?,
        None => {
            let direct = Film::new(width, height, samples);
            serial(&scene, &direct);
            assert!(pixels == direct.pixels());
        }
    }
    println!("{width} x {height} pixels, {samples} paths each");
    Ok(())
}
