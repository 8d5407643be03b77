//! Slices that are sorted and searched by Rust's methods, and sums whose type is that of where they go.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    pub struct Job {
        pub end: u32,
        pub start: u32,
    }

    #[task]
    pub fn sort(a: &mut [i32]) -> bool {
        if a.len() <= 8 {
            a.sort_unstable();
            return true;
        }
        let (left, right) = a.split_at_mut(a.len() / 2);
        let x = spawn!(sort(left));
        let y = spawn!(sort(right));
        sync!();
        a.sort();
        x && y && a.windows(2).all(|w| w[0] <= w[1])
    }

    #[task]
    pub fn jobs(all: &mut [Job], i: usize) -> (usize, usize, u32) {
        all.sort();
        let before = all[..i].partition_point(|j| j.end <= all[i].start);
        let mut ends = [9, 3, 7, all[0].end];
        ends.sort();
        (before, ends.partition_point(|&e| e < 7), ends[1])
    }

    #[task]
    pub fn product(a: [[f32; 3]; 3], b: [[f32; 3]; 3]) -> [[f32; 3]; 3] {
        let mut c = [[0.0; 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                c[i][j] = (0..3).map(|k| a[i][k] * b[k][j]).sum();
            }
        }
        c
    }
}

millstream_tests::cases! {
    sort(&mut [3, -1, 4, 1, -5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2]);
    sort(&mut [2, 1, 3]);
    sort(&mut []);
    jobs(&mut [program::Job { end: 5, start: 2 }, program::Job { end: 9, start: 7 }, program::Job { end: 5, start: 1 }, program::Job { end: 7, start: 7 }], 3);
    product([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.5]], [[0.5, 2.0, -3.0], [4.0, 0.0, 1.0], [-0.0, 1.0, 1.0]]);
}
