//! Two children that could write to the same memory.

#[millstream::program]
mod race {
    #[task]
    pub fn add(data: &mut [u32]) {
        data[0] += 1;
    }

    #[task]
    pub fn copy(from: &[u32], to: &mut [u32]) {
        to[0] = from[0];
    }

    #[task]
    pub fn one(cell: &mut u32) {
        *cell += 1;
    }

    #[task]
    pub fn fill(mut m: MatMut<f32>, x: f32) {
        m[(0, 0)] = x;
    }

    #[task]
    pub fn count(data: &mut [u32]) -> u32 {
        data[0] += 1;
        data[0]
    }

    #[task]
    pub fn results_in_an_array(data: &mut [u32]) -> u32 {
        let r = [
            spawn!(count(data)),
            spawn!(count(data)), //~ E0499
        ];
        sync!();
        r[0] + r[1]
    }

    #[task]
    pub fn the_whole_twice(data: &mut [u32]) {
        spawn!(add(data));
        spawn!(add(data)); //~ E0499
        sync!();
    }

    #[task]
    pub fn overlapping_ranges(data: &mut [u32]) {
        spawn!(add(&mut data[..8]));
        spawn!(add(&mut data[4..])); //~ E0499
    }

    #[task]
    pub fn one_reads_what_the_other_writes(data: &mut [u32], out: &mut [u32]) {
        spawn!(add(data));
        spawn!(copy(data, out)); //~ E0502
    }

    #[task]
    pub fn in_a_loop(data: &mut [u32]) {
        for _ in 0..4 {
            spawn!(add(data)); //~ E0499
        }
        sync!();
    }

    #[task]
    pub fn a_sync_in_one_branch_only(data: &mut [u32], c: bool) {
        spawn!(add(data));
        if c {
            sync!();
        }
        spawn!(add(data)); //~ E0499
    }

    #[task]
    pub fn a_half_twice(data: &mut [u32]) {
        let (a, b) = data.split_at_mut(2);
        spawn!(add(a));
        spawn!(add(b));
        spawn!(add(a)); //~ E0499
    }

    #[task]
    pub fn a_number_twice() {
        let mut n = 0;
        spawn!(one(&mut n));
        spawn!(one(&mut n)); //~ E0499
        sync!();
    }

    #[task]
    pub fn a_view_twice(mut m: MatMut<f32>) {
        spawn!(fill(m.reborrow(), 1.0));
        spawn!(fill(m.reborrow(), 2.0)); //~ E0499
    }

    #[task]
    pub fn a_quadrant_and_the_whole(mut m: MatMut<f32>) {
        let (a, _, _, _) = m.quadrants_mut();
        spawn!(fill(a, 1.0));
        spawn!(fill(m, 2.0)); //~ E0505
    }

    #[task]
    pub fn a_view_that_was_given_away(m: MatMut<f32>) {
        spawn!(fill(m, 1.0));
        sync!();
        spawn!(fill(m, 1.0)); //~ E0382
    }
}
