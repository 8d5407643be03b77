//! Cilksort: four quarters are sorted, two pairs are merged, then the halves; a merge is cut in four by binary search.
//!
//! ```text
//!   [ sort_by ] ──► sort_by ──► four [ sort_by ] or one [ small ] ──► after the 1st sync ──► two [ merge ] ──► after the 2nd ──► one [ merge ]
//!   [ merge ] ──► merge ──► four [ merge ] or [ piece ]
//! ```
//!
//! Neighbouring tasks work on neighbouring memory, and which way they go depends on lengths rather than on numbers: that suits a GPU, where
//! they run side by side, and spares a CPU the branches that it cannot foretell.

#[millstream::program]
pub mod sort {
    /// Runs up to this length are sorted by one task.
    const SMALL: usize = 128;

    /// Sorts `data`; `tmp` is as long and its contents are lost.
    #[task]
    pub fn sort(data: &mut [i32], tmp: &mut [i32]) {
        let grain = if millstream::on_gpu() { 64 } else { 512 };
        spawn!(sort_by(data, tmp, grain));
    }

    /// The same, where one task merges at most `grain` elements: few on a GPU, so that the pieces of neighbouring tasks share cache lines; on a
    /// CPU some hundred, so that the tasks cost little.
    #[task]
    pub fn sort_by(data: &mut [i32], tmp: &mut [i32], grain: usize) {
        let n = data.len();
        assert_eq!(n, tmp.len(), "`tmp` must be as long as `data`");
        assert!(grain > 0);
        if n <= SMALL {
            spawn!(small(data));
            return;
        }
        let quarter = n / 4;
        {
            let (low, high) = data.split_at_mut(2 * quarter);
            let (a, b) = low.split_at_mut(quarter);
            let (c, d) = high.split_at_mut(quarter);
            let (tmp_low, tmp_high) = tmp.split_at_mut(2 * quarter);
            let (ta, tb) = tmp_low.split_at_mut(quarter);
            let (tc, td) = tmp_high.split_at_mut(quarter);
            spawn!(sort_by(a, ta, grain));
            spawn!(sort_by(b, tb, grain));
            spawn!(sort_by(c, tc, grain));
            spawn!(sort_by(d, td, grain));
            sync!();
        }
        {
            let (low, high) = data.split_at(2 * quarter);
            let (a, b) = low.split_at(quarter);
            let (c, d) = high.split_at(quarter);
            let (tmp_low, tmp_high) = tmp.split_at_mut(2 * quarter);
            spawn!(merge(a, b, tmp_low, grain));
            spawn!(merge(c, d, tmp_high, grain));
            sync!();
        }
        let (low, high) = tmp.split_at(2 * quarter);
        spawn!(merge(low, high, data, grain));
    }

    /// Merges two sorted runs.
    #[task]
    pub fn merge(a: &[i32], b: &[i32], out: &mut [i32], grain: usize) {
        let n = out.len();
        if n <= grain {
            spawn!(piece(a, b, out));
            return;
        }
        let (half, quarter) = (n / 2, n / 4);
        let (low, high) = out.split_at_mut(half);
        let (a_low, b_low, a_high, b_high) = cut(a, b, half);
        if n <= 2 * grain {
            spawn!(piece(a_low, b_low, low));
            spawn!(piece(a_high, b_high, high));
            return;
        }
        let ((out1, out2), (out3, out4)) = (low.split_at_mut(quarter), high.split_at_mut(quarter));
        let (a1, b1, a2, b2) = cut(a_low, b_low, quarter);
        let (a3, b3, a4, b4) = cut(a_high, b_high, quarter);
        if n <= 4 * grain {
            spawn!(piece(a1, b1, out1));
            spawn!(piece(a2, b2, out2));
            spawn!(piece(a3, b3, out3));
            spawn!(piece(a4, b4, out4));
        } else {
            spawn!(merge(a1, b1, out1, grain));
            spawn!(merge(a2, b2, out2, grain));
            spawn!(merge(a3, b3, out3, grain));
            spawn!(merge(a4, b4, out4, grain));
        }
    }

    /// Cuts two sorted runs in two each, so that the first parts hold the `count` least elements of both: first parts, then second parts.
    fn cut<'a>(
        a: &'a [i32],
        b: &'a [i32],
        count: usize,
    ) -> (&'a [i32], &'a [i32], &'a [i32], &'a [i32]) {
        let mut lo = count.saturating_sub(b.len());
        let mut hi = count.min(a.len());
        while lo < hi {
            let i = lo + (hi - lo) / 2;
            if a[i] <= b[count - 1 - i] {
                lo = i + 1;
            } else {
                hi = i;
            }
        }
        let ((a_low, a_high), (b_low, b_high)) = (a.split_at(lo), b.split_at(count - lo));
        (a_low, b_low, a_high, b_high)
    }

    /// Merges two sorted runs one element after the other. It takes the lesser of two heads without a branch.
    #[task]
    pub fn piece(a: &[i32], b: &[i32], out: &mut [i32]) {
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            let (x, y) = (a[i], b[j]);
            out[i + j] = x.min(y);
            i += (x <= y) as usize;
            j += (x > y) as usize;
        }
        while i < a.len() {
            out[i + j] = a[i];
            i += 1;
        }
        while j < b.len() {
            out[i + j] = b[j];
            j += 1;
        }
    }

    /// Batcher's merge exchange: which elements are compared depends on how many there are and not on what they are.
    #[task]
    pub fn small(run: &mut [i32]) {
        let n = run.len();
        let top = n.next_power_of_two() / 2;
        let mut p = top;
        while p > 0 {
            // Pairs at distance `d`: runs of `p` elements, every other one from `first`.
            let (mut q, mut first, mut d) = (top, 0, p);
            loop {
                let mut start = first;
                while start + d < n {
                    for i in start..(start + p).min(n - d) {
                        let (x, y) = (run[i], run[i + d]);
                        run[i] = x.min(y);
                        run[i + d] = x.max(y);
                    }
                    start += 2 * p;
                }
                if q == p {
                    break;
                }
                (first, d) = (p, q - p);
                q /= 2;
            }
            p /= 2;
        }
    }
}

fn main() -> Result<(), millstream::Error> {
    let mut state = 1u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state as i32
    };
    let mut data: Vec<i32> = (0..100_000).map(|_| random()).collect();
    let mut tmp = vec![0; data.len()];
    let mut expected = data.clone();
    expected.sort_unstable();

    let device = millstream::Device::auto()?;
    device.run(sort::call::sort(&mut data, &mut tmp))?;
    assert_eq!(data, expected);
    println!(
        "sorted {} numbers: {} .. {}",
        data.len(),
        data[0],
        data[data.len() - 1]
    );
    Ok(())
}
