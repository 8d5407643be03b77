//! Halves of a slice are lent to children; the parent merges after the sync.

#[millstream::program]
pub mod program {
    #[task]
    pub fn sort(data: &mut [i32], tmp: &mut [i32]) {
        let n = data.len();
        if n <= 1 {
            return;
        }
        let (left, right) = data.split_at_mut(n / 2);
        let (tmp_left, tmp_right) = tmp.split_at_mut(n / 2);
        spawn!(sort(left, tmp_left));
        spawn!(sort(right, tmp_right));
        sync!();
        merge(data, tmp);
    }

    fn merge(data: &mut [i32], tmp: &mut [i32]) {
        let n = data.len();
        let half = n / 2;
        let (mut i, mut j) = (0, half);
        for k in 0..n {
            if j == n || (i < half && data[i] <= data[j]) {
                tmp[k] = data[i];
                i += 1;
            } else {
                tmp[k] = data[j];
                j += 1;
            }
        }
        data.copy_from_slice(tmp);
    }
}

millstream_tests::cases! {
    sort(&mut vec![], &mut vec![]);
    sort(&mut vec![3], &mut vec![0]);
    sort(&mut vec![3, 1, 2], &mut vec![0; 3]);
    sort(&mut (0..200).map(|i| i * 7919 % 1009 - 500).collect::<Vec<_>>(), &mut vec![0; 200]);
}
