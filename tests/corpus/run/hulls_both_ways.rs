//! Convex hulls, by halves and by a sweep that takes its points forwards or backwards.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Hash)]
    pub struct Point { x: i32, y: i32 }

    fn cross(o: Point, a: Point, b: Point) -> i64 {
        let (ax, ay) = ((a.x - o.x) as i64, (a.y - o.y) as i64);
        let (bx, by) = ((b.x - o.x) as i64, (b.y - o.y) as i64);
        ax * by - ay * bx
    }

    fn half<'a>(points: impl Iterator<Item = &'a Point>, out: &mut [Point]) -> usize {
        let mut len = 0;
        for &p in points {
            while len >= 2 && cross(out[len - 2], out[len - 1], p) <= 0 { len -= 1; }
            out[len] = p;
            len += 1;
        }
        len - 1
    }

    #[task]
    fn farthest(points: &[Point], a: Point, b: Point) -> Option<(i64, Point)> {
        if points.len() <= 16 {
            return points.iter().map(|&p| (cross(a, b, p), p)).filter(|t| t.0 > 0).max();
        }
        let (l, r) = points.split_at(points.len() / 2);
        let x = spawn!(farthest(l, a, b));
        let y = spawn!(farthest(r, a, b));
        sync!();
        x.max(y)
    }

    /// quickhull: number of hull vertices strictly left of a-b
    #[task]
    pub fn quick(points: &[Point], a: Point, b: Point) -> u32 {
        let Some((_, far)) = farthest(points, a, b) else { return 0 };
        let l = spawn!(quick(points, a, far));
        let r = spawn!(quick(points, far, b));
        sync!();
        l + 1 + r
    }

    #[task]
    pub fn compare(seed: u64) -> (u32, usize, i64) {
        const N: usize = 100;
        let mut s = seed;
        let mut rnd = |m: u64| -> i32 {
            s = s.wrapping_mul(0x5851F42D4C957F2D).wrapping_add(1);
            ((s >> 40) % m) as i32
        };
        let mut pts = [Point::default(); N];
        for p in &mut pts { *p = Point { x: rnd(1000), y: rnd(1000) }; }
        let min = *pts.iter().min().unwrap();
        let max = *pts.iter().max().unwrap();
        let up = spawn!(quick(&pts, min, max));
        let down = spawn!(quick(&pts, max, min));
        sync!();
        pts.sort();
        let mut out = [Point::default(); 2 * N];
        let n1 = half(pts.iter(), &mut out);
        let n2 = half(pts.iter().rev(), &mut out[n1..]);
        let n = n1 + n2;
        let area2: i64 = (0..n).map(|i| { let (p, q) = (out[i], out[(i + 1) % n]); p.x as i64 * q.y as i64 - q.x as i64 * p.y as i64 }).sum();
        (up + down + 2, n, area2)
    }
}

millstream_tests::cases! {
    compare(3);
    compare(11);
}
