//! Refinement of a mesh: triangles are bisected at their longest edge until their error is small; and a quadtree of squares by a function's slope.
#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Default)]
    pub struct Point { x: f64, y: f64 }
    #[derive(Clone, Copy)]
    pub struct Triangle(Point, Point, Point);

    #[derive(Clone, Copy, PartialEq, Debug, Default)]
    pub struct Mesh { pub triangles: u64, pub deepest: u32, pub area: f64, pub smallest: f64 }

    impl Point {
        fn minus(self, o: Point) -> Point { Point { x: self.x - o.x, y: self.y - o.y } }
        fn dot(self, o: Point) -> f64 { self.x * o.x + self.y * o.y }
        fn middle(self, o: Point) -> Self { Self { x: (self.x + o.x) * 0.5, y: (self.y + o.y) * 0.5 } }
        fn cross(&self, o: &Point) -> f64 { self.x * o.y - self.y * o.x }
    }

    impl Triangle {
        fn area(&self) -> f64 {
            let (u, v) = (self.1.minus(self.0), self.2.minus(self.0));
            u.cross(&v).abs() / 2.0
        }

        /// Turned so that the longest edge is from the first to the second point.
        fn turned(self) -> Triangle {
            let Triangle(a, b, c) = self;
            let (ab, bc, ca) = (a.minus(b).dot(a.minus(b)), b.minus(c).dot(b.minus(c)), c.minus(a).dot(c.minus(a)));
            if ab >= bc && ab >= ca { self } else if bc >= ca { Triangle(b, c, a) } else { Triangle(c, a, b) }
        }

        fn center(self) -> Point {
            Point { x: (self.0.x + self.1.x + self.2.x) / 3.0, y: (self.0.y + self.1.y + self.2.y) / 3.0 }
        }
    }

    /// Fine near a circle.
    fn too_large(t: &Triangle) -> bool {
        let c = t.center();
        let distance = ((c.x * c.x + c.y * c.y).sqrt() - 0.75).abs();
        t.area() > 1e-5 + 0.002 * distance * distance
    }

    #[task]
    pub fn refine(t: Triangle, depth: u32, limit: u32) -> Mesh {
        if depth == limit || !too_large(&t) {
            return Mesh { triangles: 1, deepest: depth, area: t.area(), smallest: t.area() };
        }
        let Triangle(a, b, c) = t.turned();
        let m = a.middle(b);
        let left = spawn!(refine(Triangle(a, m, c), depth + 1, limit));
        let right = spawn!(refine(Triangle(m, b, c), depth + 1, limit));
        sync!();
        Mesh {
            triangles: left.triangles + right.triangles,
            deepest: left.deepest.max(right.deepest),
            area: left.area + right.area,
            smallest: left.smallest.min(right.smallest),
        }
    }

    #[task]
    pub fn mesh(limit: u32) -> (Mesh, Mesh) {
        let o = Point::default();
        let (e, n) = (Point { x: 1.0, y: 0.0 }, Point { x: 0.0, ..e_north() });
        let lower = spawn!(refine(Triangle(o, e, n), 0, limit));
        let upper = spawn!(refine(Triangle(Point { x: 1.0, y: 1.0 }, n, e), 0, limit));
        sync!();
        (lower, upper)
    }

    fn e_north() -> Point { Point { x: 1.0, y: 1.0 } }
}

millstream_tests::cases! {
    mesh(5);
}
