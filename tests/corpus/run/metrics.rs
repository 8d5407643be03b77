//! Distances of points and numbers by a trait with a type, in modules, helpers and tasks.

#[millstream::program]
pub mod program {
    pub mod geo {
        pub trait Metric {
            type D: PartialOrd + Copy;
            fn dist(&self, o: &Self) -> Self::D;
            const FAR: Self::D;
        }
        pub mod pts {
            #[derive(Clone, Copy, PartialEq, Debug)]
            pub struct P2 {
                pub x: i32,
                pub y: i32,
            }
            impl super::Metric for P2 {
                type D = i32;
                const FAR: i32 = i32::MAX;
                fn dist(&self, o: &Self) -> i32 {
                    (self.x - o.x).abs() + (self.y - o.y).abs()
                }
            }
            impl super::Metric for f32 {
                type D = f32;
                const FAR: Self::D = f32::INFINITY;
                fn dist(&self, o: &f32) -> f32 {
                    (self - o).abs()
                }
            }
        }
    }
    use geo::{Metric, pts::P2};
    fn nearest<M: Metric>(a: &[M], x: &M) -> (usize, M::D) {
        let (mut at, mut best) = (a.len(), M::FAR);
        for (i, y) in a.iter().enumerate() {
            let d = y.dist(x);
            if d < best {
                best = d;
                at = i;
            }
        }
        (at, best)
    }
    fn spread<M>(a: &[M]) -> M::D
    where
        M: Metric,
        M::D: Ord + Default,
    {
        let mut most = M::D::default();
        for x in a {
            for y in a {
                most = most.max(x.dist(y));
            }
        }
        most
    }
    fn within<M: Metric<D = i32>>(a: &[M], x: &M, r: i32) -> usize {
        a.iter().filter(|y| y.dist(x) <= r).count()
    }
    #[task]
    pub fn far(a: &[P2]) -> i32 {
        if a.len() <= 2 {
            return spread(a);
        }
        let (l, r) = a.split_at(a.len() / 2);
        let x = spawn!(far(l));
        let y = spawn!(far(r));
        sync!();
        x.max(y)
    }
    #[task]
    pub fn run(n: i32) -> ((usize, i32), (usize, f32), i32, usize, i32) {
        let a = [P2 { x: n, y: 1 }, P2 { x: 2, y: 9 }, P2 { x: -3, y: 4 }];
        let f = spawn!(far(&a));
        sync!();
        (
            nearest(&a, &P2 { x: 0, y: 0 }),
            nearest(&[1.5f32, n as f32], &5.0),
            spread(&a),
            within(&a, &a[1], 8),
            f,
        )
    }
}

millstream_tests::cases! {
    run(6);
}
