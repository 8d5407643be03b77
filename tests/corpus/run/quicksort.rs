//! Partition, then both sides as children.

#[millstream::program]
pub mod program {
    fn partition(s: &mut [i32]) -> usize {
        let last = s.len() - 1;
        s.swap(last / 2, last);
        let pivot = s[last];
        let mut store = 0;
        for i in 0..last {
            if s[i] < pivot {
                s.swap(i, store);
                store += 1;
            }
        }
        s.swap(store, last);
        store
    }

    #[task]
    pub fn sort(s: &mut [i32]) {
        if s.len() < 2 {
            return;
        }
        let at = partition(s);
        let (left, right) = s.split_at_mut(at);
        spawn!(sort(left));
        spawn!(sort(&mut right[1..]));
    }
}

millstream_tests::cases! {
    sort(&mut Vec::new());
    sort(&mut vec![2, 1]);
    sort(&mut (0..300).map(|i| i * 7919 % 263 - 100).collect::<Vec<_>>());
}
