//! k-means: points are given to the nearest of `k` centres, which move to the middle of theirs, until no point changes.
//!
//! ```text
//!   kmeans ──► each point: which centre is nearest ── all ──► each centre: the middle of its points ── all ─┐
//!     ▲                                                                                                      │
//!     └────────────────────────────────────── a point changed ───────────────────────────────────────────────┘
//! ```

#[millstream::program]
pub mod kmeans {
    /// A point of the plane.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Point {
        /// To the right.
        pub x: f32,
        /// Upwards.
        pub y: f32,
    }

    fn distance(a: Point, b: Point) -> f32 {
        let (x, y) = (a.x - b.x, a.y - b.y);
        x * x + y * y
    }

    /// Gives each point its nearest centre; how many got another one.
    fn assign(points: &[Point], centres: &[Point], nearest: &mut [u32]) -> u64 {
        let mut changed = 0;
        #[parallel]
        for (point, own) in points.iter().zip(nearest.iter_mut()) {
            let mut best = 0;
            for i in 1..centres.len() {
                if distance(*point, centres[i]) < distance(*point, centres[best]) {
                    best = i;
                }
            }
            if *own != best as u32 {
                *own = best as u32;
                changed += 1;
            }
        }
        changed
    }

    /// The middle of the points of a centre; the centre itself, if it has none. Sums have the same bits on every device.
    fn middle(points: &[Point], nearest: &[u32], centre: u32, before: Point) -> Point {
        let (mut x, mut y, mut count) = (0.0, 0.0, 0u32);
        #[parallel]
        for (point, own) in points.iter().zip(nearest) {
            if *own == centre {
                x += f64::from(point.x);
                y += f64::from(point.y);
                count += 1;
            }
        }
        if count == 0 {
            return before;
        }
        Point {
            x: (x / f64::from(count)) as f32,
            y: (y / f64::from(count)) as f32,
        }
    }

    /// Moves the centres until no point changes, but `rounds` times at most; how often it did.
    #[task]
    pub fn kmeans(
        points: &[Point],
        centres: &mut [Point],
        nearest: &mut [u32],
        rounds: u32,
    ) -> u32 {
        for round in 0..rounds {
            if assign(points, centres, nearest) == 0 {
                return round;
            }
            #[parallel]
            for (i, centre) in centres.iter_mut().enumerate() {
                *centre = middle(points, nearest, i as u32, *centre);
            }
        }
        rounds
    }
}

fn main() -> Result<(), millstream::Error> {
    use kmeans::Point;
    // Points around the corners of a square, more or less.
    let random = |i: u32| (i.wrapping_mul(2_654_435_761) >> 8) as f32 / 16_777_216.0;
    let points: Vec<Point> = (0..100_000)
        .map(|i| Point {
            x: (i % 2) as f32 + 0.4 * random(2 * i),
            y: (i / 2 % 2) as f32 + 0.4 * random(2 * i + 1),
        })
        .collect();
    let start: Vec<Point> = points.iter().step_by(24_999).take(4).copied().collect();
    let (mut centres, mut nearest) = (start.clone(), vec![u32::MAX; points.len()]);
    let (mut expected, mut expected_nearest) = (start, nearest.clone());

    let device = millstream::Device::auto()?;
    let call = kmeans::call::kmeans(&points, &mut centres, &mut nearest, 100);
    let (rounds, report) = device.run_with_report(call)?;
    let expected_rounds = kmeans::kmeans(&points, &mut expected, &mut expected_nearest, 100);
    assert_eq!((rounds, &centres), (expected_rounds, &expected));
    assert_eq!(nearest, expected_nearest);
    println!("{centres:?} after {rounds} rounds, {} tasks", report.total);
    Ok(())
}
