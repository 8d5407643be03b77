//! Closest pair of points, divide and conquer.
#[millstream::program]
pub mod program {
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Point {
        pub x: f32,
        pub y: f32,
    }

    impl Point {
        fn dist2(self, other: Point) -> f32 {
            let dx = self.x - other.x;
            let dy = self.y - other.y;
            dx * dx + dy * dy
        }
    }

    fn brute(points: &[Point]) -> f32 {
        let mut best = f32::INFINITY;
        for (i, a) in points.iter().enumerate() {
            for b in &points[i + 1..] {
                best = best.min(a.dist2(*b));
            }
        }
        best
    }

    fn strip(points: &[Point], mid: f32, best: f32) -> f32 {
        let mut best = best;
        let near = |p: &Point| (p.x - mid) * (p.x - mid) < best;
        let lo = points.iter().position(near).unwrap_or(points.len());
        let rest = &points[lo..];
        for i in 0..rest.len() {
            for j in i + 1..rest.len() {
                let d = rest[j].x - rest[i].x;
                if d * d >= best {
                    break;
                }
                best = best.min(rest[i].dist2(rest[j]));
            }
        }
        best
    }

    /// Points are sorted by x.
    #[task]
    pub fn closest(points: &[Point]) -> f32 {
        if points.len() <= 3 {
            return brute(points);
        }
        let mid = points.len() / 2;
        let (left, right) = points.split_at(mid);
        let a = spawn!(closest(left));
        let b = spawn!(closest(right));
        sync!();
        strip(points, points[mid].x, a.min(b))
    }
}
millstream_tests::cases! {
    closest(&[program::Point { x: 0.0, y: 1.0 }, program::Point { x: 0.5, y: 4.0 }, program::Point { x: 1.0, y: 1.5 }, program::Point { x: 2.0, y: 2.0 }, program::Point { x: 2.25, y: 2.5 }, program::Point { x: 4.0, y: 0.0 }]);
}
