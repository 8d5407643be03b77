//! Two passes over a tree of slices: sums up, offsets down.

#[millstream::program]
pub mod program {
    #[task]
    pub fn sum(data: &[u64], tree: &mut [u64]) -> u64 {
        let n = data.len();
        if n == 1 {
            tree[0] = data[0];
            return data[0];
        }
        let (left, right) = data.split_at(n / 2);
        let (root, rest) = tree.split_at_mut(1);
        let (tl, tr) = rest.split_at_mut(2 * (n / 2) - 1);
        let a = spawn!(sum(left, tl));
        let b = spawn!(sum(right, tr));
        sync!();
        root[0] = a + b;
        a + b
    }

    #[task]
    pub fn spread(out: &mut [u64], tree: &[u64], before: u64) {
        let n = out.len();
        if n == 1 {
            out[0] = before + tree[0];
            return;
        }
        let half = n / 2;
        let (tl, tr) = tree[1..].split_at(2 * half - 1);
        let (left, right) = out.split_at_mut(half);
        spawn!(spread(left, tl, before));
        spawn!(spread(right, tr, before + tl[0]));
    }

    #[task]
    pub fn scan(data: &[u64], out: &mut [u64], tree: &mut [u64]) -> u64 {
        let total = spawn!(sum(data, tree));
        sync!();
        spawn!(spread(out, tree, 0));
        sync!();
        total
    }
}

millstream_tests::cases! {
    scan(&[5], &mut [0], &mut [0]);
    scan(&(1..=50u64).collect::<Vec<_>>(), &mut vec![0; 50], &mut vec![0; 99]);
}
