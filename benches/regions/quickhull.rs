//! Quickhull, beside one whose threads each keep of a part what lies outside.

use super::{
    super::elision::quickhull::{self, Point},
    Came, Region,
};
use millstream_aggregator::{Device, RunError, RunReport};
use rayon::{iter::ParallelIterator, join, slice::ParallelSlice};

/// Points that one of rayon's threads looks through at a time.
const CHUNK: usize = 4096;

/// Random points of a square.
pub(super) struct Quickhull {
    source: Vec<Point>,
    points: Vec<Point>,
    tmp: Vec<Point>,
    starts: Vec<usize>,
    corners: u32,
}

impl Quickhull {
    pub(super) fn new(count: usize) -> Self {
        let mut state = 3u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) as i16 / 4
        };
        let point = |_| Point {
            x: random(),
            y: random(),
        };
        let source: Vec<Point> = (0..count).map(point).collect();
        Self {
            points: source.clone(),
            tmp: source.clone(),
            starts: vec![0; count / 64 + 3],
            source,
            corners: 0,
        }
    }
}

impl Region for Quickhull {
    fn name(&self) -> String {
        format!("quickhull of {} points", self.source.len())
    }

    fn reset(&mut self) {
        self.points.copy_from_slice(&self.source);
        self.corners = 0;
    }

    fn ours(&mut self, device: &Device) -> Result<RunReport, RunError> {
        let Self {
            points,
            tmp,
            starts,
            ..
        } = self;
        let call = quickhull::call::quickhull(points, tmp, starts);
        let (corners, report) = device.run_with_report(call)?;
        self.corners = corners;
        Ok(report)
    }

    fn serial(&mut self) {
        self.corners = quickhull::quickhull(&mut self.points, &mut self.tmp, &mut self.starts);
    }

    fn rayon(&mut self) {
        self.corners = corners(&self.points);
    }

    fn came(&self) -> Came {
        // What is in the arrays afterwards is nobody's result.
        Came::exactly([self.corners.into()])
    }
}

/// A number that grows from left to right, and upwards where points are one above the other.
fn code(p: Point) -> u32 {
    let place = |x: i16| u32::from(x as u16 ^ 0x8000);
    place(p.x) << 16 | place(p.y)
}

fn decode(code: u32) -> Point {
    let place = |x: u32| (x as u16 ^ 0x8000) as i16;
    Point {
        x: place(code >> 16),
        y: place(code),
    }
}

/// Twice the area of a triangle; positive if `c` lies to the left of the way from `a` to `b`.
fn area(a: Point, b: Point, c: Point) -> i64 {
    let along = |p: Point| {
        (
            i64::from(p.x) - i64::from(a.x),
            i64::from(p.y) - i64::from(a.y),
        )
    };
    let ((ux, uy), (vx, vy)) = (along(b), along(c));
    ux * vy - uy * vx
}

fn corners(points: &[Point]) -> u32 {
    let parts = points.par_chunks(CHUNK).map(|part| {
        let codes = part.iter().map(|p| code(*p));
        codes.fold((u32::MAX, 0), |(least, most), code| {
            (least.min(code), most.max(code))
        })
    });
    let (least, most) = parts.reduce(|| (u32::MAX, 0), |x, y| (x.0.min(y.0), x.1.max(y.1)));
    match (points.is_empty(), least == most) {
        (true, _) => 0,
        (_, true) => 1,
        _ => {
            let (a, b) = (decode(least), decode(most));
            let (x, y) = join(|| outside(points, a, b), || outside(points, b, a));
            x + y + 2
        }
    }
}

/// The points to the left of the way from `a` to `b`, and the farthest of them, its area above its code: of points equally far the one nearest to
/// `a`, since those between two corners are none.
fn left_of(points: &[Point], a: Point, b: Point) -> (Vec<Point>, u64) {
    let turn = if code(a) < code(b) { u32::MAX } else { 0 };
    let (mut left, mut most) = (Vec::new(), 0);
    for &p in points {
        let area = area(a, b, p);
        if area > 0 {
            left.push(p);
            most = most.max((area as u64) << 32 | u64::from(code(p) ^ turn));
        }
    }
    (left, most)
}

/// Corners strictly to the left of the way from `a` to `b`.
fn outside(points: &[Point], a: Point, b: Point) -> u32 {
    let few = points.len() <= CHUNK;
    let (left, most) = if few {
        left_of(points, a, b)
    } else {
        let parts = points.par_chunks(CHUNK).map(|part| left_of(part, a, b));
        let (left, most): (Vec<_>, Vec<_>) = parts.unzip();
        (left.concat(), most.into_iter().max().unwrap_or(0))
    };
    if left.is_empty() {
        return 0;
    }
    let turn = if code(a) < code(b) { u32::MAX } else { 0 };
    let far = decode(most as u32 ^ turn);
    let (x, y) = if few {
        (outside(&left, a, far), outside(&left, far, b))
    } else {
        join(|| outside(&left, a, far), || outside(&left, far, b))
    };
    x + y + 1
}
