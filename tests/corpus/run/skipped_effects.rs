//! Items that are left out of an iterator from which items are taken one by one: what makes them is run as it is in Rust, and what it does shows.

#[millstream::program]
pub mod program {
    #[task]
    pub fn counted(n: u32) -> [u32; 9] {
        let mut a = [n, 2, 3, 4, 5, 6, 7];
        let (mut r, mut k) = ([0; 9], 0);
        let mut it = a.iter().map(|x| {
            k += 1;
            *x
        });
        r[0] = it.by_ref().skip(2).next().unwrap_or(0);
        let mut it = a.iter().map(|x| x * 2).skip(1);
        r[1] = it.next_back().unwrap_or(0) + it.next().unwrap_or(0);
        r[2] = k;
        let mut it = a
            .iter()
            .map(|x| {
                k += 1;
                *x
            })
            .step_by(3);
        r[3] = it.next().unwrap_or(0) + it.next().unwrap_or(0);
        r[4] = k;
        let mut it = a
            .iter()
            .map(|x| {
                k += 1;
                *x
            })
            .rev()
            .skip(1);
        r[5] = it.next().unwrap_or(0);
        r[6] = k;
        let mut it = a
            .iter_mut()
            .map(|x| {
                *x += 10;
                *x
            })
            .skip(2);
        r[7] = it.next().unwrap_or(0);
        r[8] = a.iter().sum();
        r
    }
}

millstream_tests::cases! {
    counted(9);
    counted(1);
}
