//! Mergesort with a parallel merge: two halves, then a merge that splits itself by rank.
//!
//! ```text
//!   [ mergesort ] ──► two [ mergesort ] ──► after the sync: [ merge ] ──► two [ merge ] ──► ...
//! ```

#[millstream::program]
pub mod mergesort {
    const SMALL: usize = 24;

    /// Sorts `from`; the result is in `to` if `into_to`, else in `from`. Both are as long, and the other one's contents are lost.
    #[task]
    pub fn mergesort(from: &mut [u64], to: &mut [u64], into_to: bool) {
        let n = from.len();
        if n <= SMALL {
            insertion(from);
            if into_to {
                to.copy_from_slice(from);
            }
            return;
        }
        {
            let (from_low, from_high) = from.split_at_mut(n / 2);
            let (to_low, to_high) = to.split_at_mut(n / 2);
            spawn!(mergesort(from_low, to_low, !into_to));
            spawn!(mergesort(from_high, to_high, !into_to));
            sync!();
        }
        if into_to {
            let (low, high) = from.split_at(n / 2);
            spawn!(merge(low, high, to));
        } else {
            let (low, high) = to.split_at(n / 2);
            spawn!(merge(low, high, from));
        }
    }

    /// Merges two sorted runs. The middle of the result is found by its rank in both.
    #[task]
    pub fn merge(a: &[u64], b: &[u64], out: &mut [u64]) {
        let n = out.len();
        if n <= 256 {
            let mut i = 0;
            let mut j = 0;
            for slot in out.iter_mut() {
                if i < a.len() && (j == b.len() || a[i] <= b[j]) {
                    *slot = a[i];
                    i += 1;
                } else {
                    *slot = b[j];
                    j += 1;
                }
            }
            return;
        }
        let half = n / 2;
        let i = rank(a, b, half);
        let j = half - i;
        let (low, high) = out.split_at_mut(half);
        spawn!(merge(&a[..i], &b[..j], low));
        spawn!(merge(&a[i..], &b[j..], high));
    }

    /// How many of the first `k` elements of the merged runs come from `a`.
    fn rank(a: &[u64], b: &[u64], k: usize) -> usize {
        let mut lo = k - k.min(b.len());
        let mut hi = k.min(a.len());
        while lo < hi {
            let i = lo + (hi - lo) / 2;
            if a[i] <= b[k - i - 1] {
                lo = i + 1;
            } else {
                hi = i;
            }
        }
        lo
    }

    fn insertion(data: &mut [u64]) {
        for i in 1..data.len() {
            let mut j = i;
            while j > 0 && data[j - 1] > data[j] {
                data.swap(j - 1, j);
                j -= 1;
            }
        }
    }
}

fn main() -> Result<(), millstream::Error> {
    let mut data: Vec<u64> = (0..100_000u64)
        .map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20)
        .collect();
    let mut expected = data.clone();
    expected.sort_unstable();
    let mut other = vec![0; data.len()];

    let device = millstream::Device::auto()?;
    device.run(mergesort::call::mergesort(&mut data, &mut other, false))?;
    assert_eq!(data, expected);
    println!(
        "sorted {} numbers: {} .. {}",
        data.len(),
        data[0],
        data[data.len() - 1]
    );
    Ok(())
}
