//! Cilksort: four quarters are sorted, two pairs are merged, then the halves; a merge splits both runs by binary search.
//!
//! ```text
//!   [ sort ] ──► sort ──► four [ sort ] ──► after the 1st sync ──► two [ merge ] ──► after the 2nd ──► one [ merge ]
//!   [ merge ] ──► merge ──► two [ merge ]
//! ```

#[millstream::program]
pub mod sort {
    /// Runs up to this length are sorted by insertion.
    const SMALL: usize = 32;
    /// Merges up to this length are done in one go.
    const MERGE: usize = 512;

    /// Sorts `data`; `tmp` is as long and its contents are lost.
    #[task]
    pub fn sort(data: &mut [i32], tmp: &mut [i32]) {
        let n = data.len();
        assert_eq!(n, tmp.len(), "`tmp` must be as long as `data`");
        if n <= SMALL {
            insertion(data);
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
            spawn!(sort(a, ta));
            spawn!(sort(b, tb));
            spawn!(sort(c, tc));
            spawn!(sort(d, td));
            sync!();
        }
        {
            let (low, high) = data.split_at(2 * quarter);
            let (tmp_low, tmp_high) = tmp.split_at_mut(2 * quarter);
            spawn!(merge(&low[..quarter], &low[quarter..], tmp_low));
            spawn!(merge(&high[..quarter], &high[quarter..], tmp_high));
            sync!();
        }
        let (low, high) = tmp.split_at(2 * quarter);
        spawn!(merge(low, high, data));
    }

    /// Merges two sorted runs.
    #[task]
    pub fn merge(a: &[i32], b: &[i32], out: &mut [i32]) {
        if a.len() < b.len() {
            spawn!(merge(b, a, out));
            return;
        }
        if out.len() <= MERGE || b.is_empty() {
            merge_serially(a, b, out);
            return;
        }
        let i = a.len() / 2;
        let j = lower_bound(b, a[i]);
        let (out_low, out_high) = out.split_at_mut(i + j);
        spawn!(merge(&a[..i], &b[..j], out_low));
        spawn!(merge(&a[i..], &b[j..], out_high));
    }

    /// How many elements of a sorted run are less than `value`.
    fn lower_bound(run: &[i32], value: i32) -> usize {
        let mut lo = 0;
        let mut hi = run.len();
        while lo < hi {
            let middle = lo + (hi - lo) / 2;
            if run[middle] < value {
                lo = middle + 1;
            } else {
                hi = middle;
            }
        }
        lo
    }

    fn merge_serially(a: &[i32], b: &[i32], out: &mut [i32]) {
        let mut i = 0;
        let mut j = 0;
        for slot in out.iter_mut() {
            if j == b.len() || i < a.len() && a[i] <= b[j] {
                *slot = a[i];
                i += 1;
            } else {
                *slot = b[j];
                j += 1;
            }
        }
    }

    fn insertion(data: &mut [i32]) {
        for i in 1..data.len() {
            let value = data[i];
            let mut j = i;
            while j > 0 && data[j - 1] > value {
                data[j] = data[j - 1];
                j -= 1;
            }
            data[j] = value;
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
    println!("sorted {} numbers: {} .. {}", data.len(), data[0], data[data.len() - 1]);
    Ok(())
}
