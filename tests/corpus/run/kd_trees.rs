//! A k-d tree in place: quickselect by axis, then nearest neighbours and range counts.
#[millstream::program]
pub mod program {
    pub type Point = [f32; 3];

    fn dist(a: &Point, b: &Point) -> f32 {
        a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
    }

    fn select(p: &mut [Point], k: usize, axis: usize) {
        let (mut lo, mut hi) = (0, p.len());
        while hi - lo > 1 {
            let pivot = p[(lo + hi) / 2][axis];
            let (mut i, mut j, mut n) = (lo, lo, hi);
            while j < n {
                if p[j][axis] < pivot {
                    p.swap(i, j);
                    i += 1;
                    j += 1;
                } else if p[j][axis] > pivot {
                    n -= 1;
                    p.swap(j, n);
                } else {
                    j += 1;
                }
            }
            if k < i {
                hi = i;
            } else if k >= n {
                lo = n;
            } else {
                return;
            }
        }
    }

    #[task]
    pub fn build(p: &mut [Point], axis: usize) {
        if p.len() < 2 {
            return;
        }
        let mid = p.len() / 2;
        select(p, mid, axis);
        let (l, r) = p.split_at_mut(mid);
        spawn!(build(l, (axis + 1) % 3));
        spawn!(build(&mut r[1..], (axis + 1) % 3));
    }

    /// The square of the distance to the nearest point but itself.
    fn nearest(p: &[Point], q: &Point, axis: usize, best: f32) -> f32 {
        if p.len() <= 4 {
            return p.iter().map(|x| dist(x, q)).filter(|&d| d > 0.0).fold(best, f32::min);
        }
        let mid = p.len() / 2;
        let d = q[axis] - p[mid][axis];
        let (near, far) = if d < 0.0 { (&p[..mid], &p[mid + 1..]) } else { (&p[mid + 1..], &p[..mid]) };
        let here = dist(&p[mid], q);
        let best = if here > 0.0 { best.min(here) } else { best };
        let best = nearest(near, q, (axis + 1) % 3, best);
        if d * d < best { nearest(far, q, (axis + 1) % 3, best) } else { best }
    }

    #[task]
    pub fn all_nearest(p: &[Point], out: &mut [f32]) -> f32 {
        #[parallel]
        for (q, o) in p.iter().zip(out.iter_mut()) {
            *o = nearest(p, q, 0, f32::INFINITY).sqrt();
        }
        out.iter().copied().fold(0.0, f32::max)
    }

    #[task]
    pub fn count(p: &[Point], axis: usize, lo: Point, hi: Point) -> u32 {
        if p.is_empty() {
            return 0;
        }
        let mid = p.len() / 2;
        let here = &p[mid];
        let inside = here.iter().zip(&lo).all(|(x, l)| x >= l) && here.iter().zip(hi.iter()).all(|(x, h)| x <= h);
        let mut total = inside as u32;
        if lo[axis] <= here[axis] {
            total += spawn!(count(&p[..mid], (axis + 1) % 3, lo, hi));
        }
        if hi[axis] >= here[axis] {
            total += spawn!(count(&p[mid + 1..], (axis + 1) % 3, lo, hi));
        }
        sync!();
        total
    }
}

millstream_tests::cases! {
    build(&mut [[1.0, 2.0, 3.0], [0.0, 5.0, 1.0], [2.0, 2.0, 2.0], [7.0, 1.0, 0.0], [4.0, 4.0, 4.0], [3.0, 9.0, 8.0]], 0);
    all_nearest(&[[1.0, 2.0, 3.0], [0.0, 5.0, 1.0], [2.0, 2.0, 2.0], [7.0, 1.0, 0.0], [4.0, 4.0, 4.0], [3.0, 9.0, 8.0]], &mut [0.0; 6]);
    count(&[[1.0, 2.0, 3.0], [0.0, 5.0, 1.0], [2.0, 2.0, 2.0]], 0, [0.0; 3], [2.0, 2.0, 5.0]);
}
