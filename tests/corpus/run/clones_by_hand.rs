//! `impl Clone` and `impl Copy` that are written out, as for structs with parameters that are no copies themselves.

#[millstream::program]
pub mod program {
    pub struct Point {
        x: u32,
        y: u32,
    }

    impl Clone for Point {
        fn clone(&self) -> Self {
            *self
        }
    }

    impl Copy for Point {}

    struct Wrapped<T> {
        value: T,
    }

    impl<T: Clone> Clone for Wrapped<T> {
        fn clone(&self) -> Self {
            Wrapped { value: self.value.clone() }
        }
    }

    impl<T: Copy> Copy for Wrapped<T> {}

    struct Pair(u32, [u8; 2]);

    impl Clone for Pair {
        fn clone(&self) -> Self {
            Self(self.0, self.1.clone())
        }
    }

    enum Shape {
        Point,
        Square(u32),
    }

    impl Copy for Shape {}

    impl Clone for Shape {
        fn clone(&self) -> Self {
            *self
        }
    }

    struct View<'a> {
        of: &'a [u32],
    }

    impl Clone for View<'_> {
        fn clone(&self) -> Self {
            *self
        }
    }

    impl Copy for View<'_> {}

    fn twice<T: Clone>(x: &T) -> (T, T) {
        (x.clone(), x.clone())
    }

    #[task]
    pub fn copied(xs: &[u32], n: u32) -> (u32, u32, u32) {
        let p = Point { x: n, y: 2 };
        let (mut q, r) = (p, p.clone());
        q.x += 1;
        let w = Wrapped { value: p };
        let (v, u) = (w, w.clone());
        let (a, b) = twice(&Pair(n, [1, 2]));
        let s = if n > 2 { Shape::Square(n) } else { Shape::Point };
        let t = s;
        let area = |s: Shape| match s {
            Shape::Point => 0,
            Shape::Square(x) => x * x,
        };
        let whole = View { of: xs };
        let same = whole;
        let sum = p.x + q.x + r.y + v.value.x + u.value.y + w.value.x;
        (sum, a.0 + u32::from(b.1[1]) + area(s) + area(t.clone()), whole.of[0] + same.of[1])
    }
}

millstream_tests::cases! {
    copied(&[1, 2], 2);
    copied(&[7, 8], 3);
}
