//! Tasks that return structs, arrays and nested tuples.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Box2 {
        pub min: [f32; 2],
        pub max: [f32; 2],
        pub count: u32,
    }

    fn join(a: Box2, b: Box2) -> Box2 {
        let mut out = a;
        for k in 0..2 {
            out.min[k] = a.min[k].min(b.min[k]);
            out.max[k] = a.max[k].max(b.max[k]);
        }
        out.count += b.count;
        out
    }

    #[task]
    pub fn bounds(points: &[[f32; 2]]) -> Box2 {
        if points.len() == 1 {
            return Box2 { min: points[0], max: points[0], count: 1 };
        }
        let (a, b) = points.split_at(points.len() / 2);
        let left = spawn!(bounds(a));
        let right = spawn!(bounds(b));
        sync!();
        join(left, right)
    }

    #[task]
    pub fn halves(n: u8) -> ([u8; 3], (bool, u64)) {
        if n == 0 {
            return ([1; 3], (false, 0));
        }
        let mut r = spawn!(halves(n / 2));
        sync!();
        r.0[n as usize % 3] += n;
        (r.0, (!r.1.0, r.1.1 * 3 + n as u64))
    }
}

millstream_tests::cases! {
    bounds(&[[1.0, 2.0], [-3.0, 8.5], [0.25, -7.0]]);
    halves(0);
    halves(200);
}
