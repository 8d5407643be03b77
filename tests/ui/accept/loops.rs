//! Parallel loops without races.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU32, Ordering};

    /// A factor.
    /// A factor.
    #[derive(Clone, Copy)]
    pub struct Scale {
        by: u32,
    }

    impl Scale {
        fn all(&self, data: &mut [u32]) -> u32 {
            let mut most = 0;
            #[parallel]
            for x in data.iter_mut() {
                *x *= self.by;
                most = most.max(*x);
            }
            most
        }
    }

    /// One more.
    #[task]
    pub fn add(data: &mut [u32]) -> u32 {
        data[0] += 1;
        data[0]
    }

    /// All of them.
    #[task]
    pub fn all(data: &mut [u32], out: &mut [u32], seen: &[AtomicU32], scale: Scale) -> (u32, u64) {
        let (mut sum, mut rounds) = (0, 0);
        let weights = [1, 2, 3];
        #[parallel]
        'parts: for (i, part) in data.chunks_mut(8).enumerate() {
            if part.len() < 2 {
                continue;
            }
            let (left, right) = part.split_at_mut(1);
            let a = spawn!(add(left));
            let b = spawn!(add(right));
            sync!();
            for x in right.iter_mut() {
                if *x == 7 {
                    continue 'parts;
                }
                *x += weights[i % 3] + a + left[0];
            }
            seen[i % seen.len()].fetch_add(b, Ordering::Relaxed);
            rounds += 1;
        }
        #[parallel]
        for i in 0..out.len() {
            let mut own = [i as u32];
            out[i] = spawn!(add(&mut own));
            sync!();
        }
        for part in data.chunks_mut(16) {
            #[parallel]
            for x in part.iter_mut() {
                sum += *x;
                #[parallel]
                for y in &weights {
                    sum += y;
                }
            }
        }
        sum += scale.all(data);
        let mut m = MatMut::new(data, 2, 8);
        #[parallel]
        for (row, x) in m.row_iter_mut().zip(out.iter_mut()) {
            *x = 1;
            spawn!(add(row));
        }
        let m = Mat::new(data, 2, 8);
        #[parallel]
        for row in m.row_iter() {
            sum -= row[0] * m[(1, 1)];
        }
        let (left, right) = data.split_at_mut(2);
        spawn!(add(left));
        #[parallel]
        for x in right {
            *x = 1;
        }
        (sum, rounds)
    }
}

