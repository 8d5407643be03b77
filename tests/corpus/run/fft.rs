//! Recursion over pairs of floats, as a transform has it.

#[millstream::program]
pub mod program {
    type Pair = [f64; 2];

    #[task]
    pub fn transform(data: &mut [Pair], tmp: &mut [Pair], roots: &[Pair]) {
        let n = data.len();
        if n == 1 {
            return;
        }
        let half = n / 2;
        for i in 0..half {
            tmp[i] = data[2 * i];
            tmp[half + i] = data[2 * i + 1];
        }
        {
            let (even, odd) = tmp.split_at_mut(half);
            let (a, b) = data.split_at_mut(half);
            spawn!(transform(even, a, roots));
            spawn!(transform(odd, b, roots));
            sync!();
        }
        let stride = roots.len() / half;
        for i in 0..half {
            let [wr, wi] = roots[i * stride];
            let [er, ei] = tmp[i];
            let [or, oi] = tmp[half + i];
            let (tr, ti) = (wr * or - wi * oi, wr * oi + wi * or);
            data[i] = [er + tr, ei + ti];
            data[half + i] = [er - tr, ei - ti];
        }
    }
}

millstream_tests::cases! {
    transform(&mut vec![[1.0, 0.0], [2.0, 0.5], [-3.0, 0.0], [4.0, -1.0], [0.0, 0.0], [1.5, 0.0], [2.0, 2.0], [1.0, 1.0]], &mut vec![[0.0, 0.0]; 8], &[[1.0, 0.0], [0.7071067811865476, -0.7071067811865475], [0.0, -1.0], [-0.7071067811865475, -0.7071067811865476]]);
}
