//! Quickhull: the corners of the smallest convex polygon around a set of points.
//!
//! ```text
//!   [ hull ] ──► hull finds the farthest point, sorts the others to its two sides ──► two [ hull ] ──► after the sync: count of corners
//! ```

#[millstream::program]
pub mod quickhull {
    /// A point with small integer coordinates: every cross product is exact.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Point {
        /// To the right.
        pub x: i16,
        /// Upwards.
        pub y: i16,
    }

    fn way(a: Point, b: Point) -> (i64, i64) {
        (b.x as i64 - a.x as i64, b.y as i64 - a.y as i64)
    }

    /// Twice the area of the triangle; positive if `c` lies to the left of the way from `a` to `b`.
    fn area(a: Point, b: Point, c: Point) -> i64 {
        let (u, v) = (way(a, b), way(a, c));
        u.0 * v.1 - u.1 * v.0
    }

    /// How far `p` lies along the way from `a` to `b`, times its length.
    fn along(a: Point, b: Point, p: Point) -> i64 {
        let (u, v) = (way(a, b), way(a, p));
        u.0 * v.0 + u.1 * v.1
    }

    /// Moves the points left of the line to the front; how many there are.
    fn partition(points: &mut [Point], a: Point, b: Point) -> usize {
        let mut kept = 0;
        for i in 0..points.len() {
            if area(a, b, points[i]) > 0 {
                points.swap(i, kept);
                kept += 1;
            }
        }
        kept
    }

    /// Corners of the hull strictly to the left of the line from `a` to `b`, of points that all lie there.
    #[task]
    pub fn hull(points: &mut [Point], a: Point, b: Point) -> u32 {
        if points.is_empty() {
            return 0;
        }
        let mut far = points[0];
        for &p in points.iter() {
            let (d, best) = (area(a, b, p), area(a, b, far));
            // Of points equally far the one nearest to `a`: those between two corners are none.
            if d > best || d == best && along(a, b, p) < along(a, b, far) {
                far = p;
            }
        }
        let first = partition(points, a, far);
        let (left, rest) = points.split_at_mut(first);
        let second = partition(rest, far, b);
        let x = spawn!(hull(left, a, far));
        let y = spawn!(hull(&mut rest[..second], far, b));
        sync!();
        x + y + 1
    }

    /// How many corners the convex hull has. The points end up in another order.
    #[task]
    pub fn quickhull(points: &mut [Point]) -> u32 {
        if points.is_empty() {
            return 0;
        }
        let mut a = points[0];
        let mut b = points[0];
        for &p in points.iter() {
            if p.x < a.x || p.x == a.x && p.y < a.y {
                a = p;
            }
            if p.x > b.x || p.x == b.x && p.y > b.y {
                b = p;
            }
        }
        if a == b {
            return 1;
        }
        let upper = partition(points, a, b);
        let (above, rest) = points.split_at_mut(upper);
        let lower = partition(rest, b, a);
        let x = spawn!(hull(above, a, b));
        let y = spawn!(hull(&mut rest[..lower], b, a));
        sync!();
        x + y + 2
    }
}

fn main() -> Result<(), millstream::Error> {
    use quickhull::Point;
    let mut state = 3u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as i16 / 4
    };
    // A round cloud of points.
    let mut points: Vec<Point> = (0..20_000)
        .map(|_| Point {
            x: random(),
            y: random(),
        })
        .collect();
    points.retain(|p| i32::from(p.x).pow(2) + i32::from(p.y).pow(2) < 8000 * 8000);
    let mut copy = points.clone();

    let device = millstream::Device::auto()?;
    let corners = device.run(quickhull::call::quickhull(&mut points))?;
    assert_eq!(corners, quickhull::quickhull(&mut copy));
    assert_eq!(points, copy);
    println!("{} points, {corners} corners", points.len());
    Ok(())
}
