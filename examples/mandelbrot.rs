//! The Mandelbrot set by Mariani and Silver's subdivision, as a picture.
//!
//! ```text
//!                                   ┌── quarters ──┐
//!                                   ▼              │
//!   0, 1, 2, .. ──► tile ──► [ areas ] ──► enclose ┼──► [ rows ]   ──► fill  ──► steps of each point
//!                                                  └──► [ points ] ──► point ──►  (atomics)
//! ```
//!
//! An area whose border is alike is filled, which is most of the work saved where the set is black. A branch of the set that is thinner than
//! the gap between two points could reach into an area unseen. In the part that is drawn here, `main` and the tests compare all points, none does.
//!
//! `cargo run --release --example mandelbrot -- FILE.png` writes the picture.

#[millstream::program]
pub mod mandelbrot {
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Points from the border of an area to begin with to the opposite one.
    pub const TILE: u32 = 32;
    /// An area that is no wider or no higher is not divided.
    const SMALL: u32 = 6;

    /// Colours, which those of pixels lie between: night, blue, ice, cream, gold, rust.
    const STOPS: [[u32; 3]; 6] = [
        [9, 13, 48],
        [28, 82, 158],
        [118, 196, 226],
        [250, 246, 222],
        [246, 172, 46],
        [112, 40, 32],
    ];

    /// What is drawn.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct View {
        /// The real part of the points on the left.
        pub left: f64,
        /// The imaginary part of the points on top.
        pub top: f64,
        /// From a point to the next.
        pub step: f64,
        /// Points in a row.
        pub width: u32,
        /// Rows.
        pub height: u32,
        /// Steps after which a point counts as one that stays.
        pub most: u32,
    }

    /// An area with its border: from column `x0` up to and with `x1`, from row `y0` up to and with `y1`.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Area {
        /// Its left column.
        pub x0: u32,
        /// Its top row.
        pub y0: u32,
        /// Its right column.
        pub x1: u32,
        /// Its bottom row.
        pub y1: u32,
    }

    /// A part of a row: all of its points have the same steps.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Row {
        /// Its first column.
        pub from: u32,
        /// Behind its last.
        pub to: u32,
        /// Which row.
        pub y: u32,
        /// The steps.
        pub steps: u32,
    }

    /// A point.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Point {
        /// Its column.
        pub x: u32,
        /// Its row.
        pub y: u32,
    }

    /// How many steps of `z * z + c` a point stays near, and one more: 0 is for points that nobody has asked for yet.
    pub fn steps_of(x: u32, y: u32, view: View) -> u32 {
        let (re, im) = (
            view.left + x as f64 * view.step,
            view.top - y as f64 * view.step,
        );
        let (mut a, mut b) = (0.0, 0.0);
        let mut steps = 1;
        while steps <= view.most {
            let (aa, bb) = (a * a, b * b);
            if aa + bb > 4.0 {
                return steps;
            }
            b = 2.0 * a * b + im;
            a = aa - bb + re;
            steps += 1;
        }
        steps
    }

    /// The steps of a point, which are computed unless they are known.
    fn point_steps(x: u32, y: u32, view: View, steps: &[AtomicU32]) -> u32 {
        let at = (y * view.width + x) as usize;
        // Relaxed: whoever computes a point comes to the same.
        let known = steps[at].load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
        let found = steps_of(x, y, view);
        steps[at].store(found, Ordering::Relaxed);
        found
    }

    /// The area to begin with that has this number, of those that cover the points in rows.
    #[kernel]
    pub fn tile(number: u32, areas: Channel<Area>, view: View) {
        let across = (view.width - 1).div_ceil(TILE);
        let (x0, y0) = (number % across * TILE, number / across * TILE);
        areas.emit(Area {
            x0,
            y0,
            x1: (x0 + TILE).min(view.width - 1),
            y1: (y0 + TILE).min(view.height - 1),
        });
    }

    /// Computes the border of an area. If all of it is alike, so is what it encloses (Mariani and Silver); else the area is divided.
    #[kernel]
    pub fn enclose(
        area: Area,
        areas: Channel<Area>,
        rows: Channel<Row>,
        points: Channel<Point>,
        view: View,
        steps: &[AtomicU32],
    ) {
        let Area { x0, y0, x1, y1 } = area;
        let first = point_steps(x0, y0, view, steps);
        let mut alike = true;
        for x in x0..x1 + 1 {
            alike &= point_steps(x, y0, view, steps) == first;
            alike &= point_steps(x, y1, view, steps) == first;
        }
        for y in y0 + 1..y1 {
            alike &= point_steps(x0, y, view, steps) == first;
            alike &= point_steps(x1, y, view, steps) == first;
        }
        if alike {
            for y in y0 + 1..y1 {
                rows.emit(Row {
                    from: x0 + 1,
                    to: x1,
                    y,
                    steps: first,
                });
            }
        } else if x1 - x0 <= SMALL || y1 - y0 <= SMALL {
            for y in y0 + 1..y1 {
                for x in x0 + 1..x1 {
                    points.emit(Point { x, y });
                }
            }
        } else {
            let (x, y) = ((x0 + x1) / 2, (y0 + y1) / 2);
            areas.emit(Area {
                x1: x,
                y1: y,
                ..area
            });
            areas.emit(Area {
                x0: x,
                y1: y,
                ..area
            });
            areas.emit(Area {
                x1: x,
                y0: y,
                ..area
            });
            areas.emit(Area {
                x0: x,
                y0: y,
                ..area
            });
        }
    }

    /// Fills a row of an area whose border is alike.
    #[kernel]
    pub fn fill(row: Row, view: View, steps: &[AtomicU32]) {
        for x in row.from..row.to {
            steps[(row.y * view.width + x) as usize].store(row.steps, Ordering::Relaxed);
        }
    }

    /// Computes a point of a small area.
    #[kernel]
    pub fn point(point: Point, view: View, steps: &[AtomicU32]) {
        point_steps(point.x, point.y, view, steps);
    }

    /// A colour for a number of steps: from night over blue and white to gold and back, ever more slowly.
    fn colour_of(steps: u32, most: u32) -> [u32; 3] {
        if steps > most {
            return [6, 5, 12];
        }
        let place = (steps as f32).sqrt() * 0.62;
        let stop = place as usize;
        let part = ((place - stop as f32) * 256.0) as u32;
        let (from, to) = (STOPS[stop % 6], STOPS[(stop + 1) % 6]);
        let mut out = [0; 3];
        for i in 0..3 {
            out[i] = (from[i] * (256 - part) + to[i] * part) / 256;
        }
        out
    }

    /// Pixels from points, `by` times `by` of which are one pixel: rows from `row` on. How many of the points stay near.
    #[task]
    pub fn shade(pixels: &mut [u32], row: u32, by: u32, view: View, steps: &[AtomicU32]) -> u32 {
        let width = (view.width / by) as usize;
        let rows = pixels.len() / width;
        if rows > 1 {
            let (above, below) = pixels.split_at_mut(rows / 2 * width);
            let a = spawn!(shade(above, row, by, view, steps));
            let b = spawn!(shade(below, row + rows as u32 / 2, by, view, steps));
            sync!();
            return a + b;
        }
        let mut stay = 0;
        for (x, pixel) in pixels.iter_mut().enumerate() {
            let mut sum = [0; 3];
            for i in 0..by * by {
                let at = (row * by + i / by) * view.width + x as u32 * by + i % by;
                let found = steps[at as usize].load(Ordering::Relaxed);
                let colour = colour_of(found, view.most);
                for j in 0..3 {
                    sum[j] += colour[j];
                }
                stay += (found > view.most) as u32;
            }
            let square = by * by;
            let [red, green, blue] = sum;
            *pixel = ((red / square) << 16) | ((green / square) << 8) | (blue / square);
        }
        stay
    }
}

use mandelbrot::{Area, Point, Row, TILE, View};
use millstream::{Device, Graph, image};
use std::sync::atomic::{AtomicU32, Ordering};

/// A bud on top of the set, with so many points in a row.
pub fn view(width: u32) -> View {
    let (across, height) = (0.0262, width / 8 * 5);
    let step = across / f64::from(width);
    View {
        left: -0.16 - across / 2.0,
        top: 1.0405 + step * f64::from(height) / 2.0,
        step,
        width,
        height,
        most: 1000,
    }
}

/// The graph, which leaves the steps of each point.
pub fn graph(view: View, steps: &[AtomicU32]) -> Graph<'_> {
    let mut graph = Graph::new("mandelbrot");
    let tiles = graph.channel::<u32>("tiles");
    let areas = graph.channel::<Area>("areas");
    let rows = graph.channel::<Row>("rows");
    let points = graph.channel::<Point>("points");
    graph
        .kernel(mandelbrot::kernel::tile)
        .consumes(&tiles)
        .produces(&areas)
        .arg(view);
    graph
        .kernel(mandelbrot::kernel::enclose)
        .consumes(&areas)
        .produces(&areas)
        .produces(&rows)
        .produces(&points)
        .arg(view)
        .arg(steps);
    graph
        .kernel(mandelbrot::kernel::fill)
        .consumes(&rows)
        .arg(view)
        .arg(steps);
    graph
        .kernel(mandelbrot::kernel::point)
        .consumes(&points)
        .arg(view)
        .arg(steps);
    let count = |points: u32| (points - 1).div_ceil(TILE);
    graph.send(&tiles, 0..count(view.width) * count(view.height));
    graph
}

/// The picture of `by` times `by` points a pixel, `width` pixels in a row.
pub fn draw(
    device: &Device,
    width: u32,
    by: u32,
) -> Result<(Vec<AtomicU32>, Vec<u32>), millstream::Error> {
    let view = view(width * by);
    let steps: Vec<_> = (0..view.width * view.height)
        .map(|_| AtomicU32::new(0))
        .collect();
    graph(view, &steps).run(device)?;
    let mut pixels = vec![0; (width * view.height / by) as usize];
    device.run(mandelbrot::call::shade(&mut pixels, 0, by, view, &steps))?;
    Ok((steps, pixels))
}

/// How many points are not what computing each of them gives.
pub fn wrong(view: View, steps: &[AtomicU32]) -> usize {
    let direct = (0..view.width * view.height)
        .map(|i| mandelbrot::steps_of(i % view.width, i / view.width, view));
    // Relaxed: the run is over.
    let differs = direct
        .zip(steps)
        .filter(|(d, s)| *d != s.load(Ordering::Relaxed));
    differs.count()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1);
    let (width, by) = if file.is_some() { (640, 2) } else { (160, 2) };
    let (steps, pixels) = draw(&Device::auto()?, width, by)?;
    assert_eq!(wrong(view(width * by), &steps), 0);
    let height = pixels.len() as u32 / width;
    let png = image::png(width, height, &pixels)?;
    println!("{width} x {height} pixels, {} bytes", png.len());
    if let Some(file) = file {
        std::fs::write(file, png)?;
    }
    Ok(())
}
