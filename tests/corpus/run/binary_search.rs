//! Merging by binary search, the inner part of a parallel merge sort.

#[millstream::program]
pub mod program {
    fn lower_bound(s: &[u32], x: u32) -> usize {
        let (mut lo, mut hi) = (0, s.len());
        while lo < hi {
            let mid = lo + (hi - lo) / 2;
            if s[mid] < x {
                lo = mid + 1;
            } else {
                hi = mid;
            }
        }
        lo
    }

    #[task]
    pub fn merge(a: &[u32], b: &[u32], out: &mut [u32]) {
        if a.len() < b.len() {
            spawn!(merge(b, a, out));
            return;
        }
        if a.is_empty() {
            return;
        }
        let mid = a.len() / 2;
        let at = lower_bound(b, a[mid]);
        let (left, rest) = out.split_at_mut(mid + at);
        let (middle, right) = rest.split_at_mut(1);
        middle[0] = a[mid];
        spawn!(merge(&a[..mid], &b[..at], left));
        spawn!(merge(&a[mid + 1..], &b[at..], right));
    }
}

millstream_tests::cases! {
    merge(&Vec::new(), &Vec::new(), &mut Vec::new());
    merge(&[1, 4, 9], &[2, 3, 5, 8, 10], &mut vec![0; 8]);
    merge(&(0..40).map(|i| i * 3).collect::<Vec<_>>(), &(0..25).map(|i| i * 5).collect::<Vec<_>>(), &mut vec![0; 65]);
}
