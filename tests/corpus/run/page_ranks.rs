//! PageRank on a graph whose vertices have very different degrees, and a sparse product by rows that divide where they are long.
#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Entry {
        pub column: u32,
        pub value: f32,
    }

    #[task]
    pub fn row(entries: &[Entry], x: &[f32]) -> f32 {
        if entries.len() <= 256 {
            return entries.iter().map(|e| e.value * x[e.column as usize]).sum();
        }
        let (a, b) = entries.split_at(entries.len() / 2);
        let a = spawn!(row(a, x));
        let b = spawn!(row(b, x));
        sync!();
        a + b
    }

    #[task]
    pub fn multiply(starts: &[u32], entries: &[Entry], x: &[f32], y: &mut [f32]) {
        #[parallel]
        for (w, y) in starts.windows(2).zip(y.iter_mut()) {
            let mine = &entries[w[0] as usize..w[1] as usize];
            if mine.len() < 64 {
                *y = mine.iter().map(|&Entry { column, value }| value * x[column as usize]).sum();
            } else {
                let sum = spawn!(row(mine, x));
                sync!();
                *y = sum;
            }
        }
    }

    #[task]
    pub fn rank(starts: &[u32], entries: &[Entry], x: &mut [f32], y: &mut [f32], eps: f32) -> (u32, f32) {
        let n = x.len() as f32;
        x.fill(1.0 / n);
        for round in 1.. 100u32 {
            spawn!(multiply(starts, entries, x, y));
            sync!();
            let mut change = 0.0;
            #[parallel]
            for (x, y) in x.iter_mut().zip(y.iter()) {
                let next = 0.15 / n + 0.85 * y;
                change += (next - *x).abs();
                *x = next;
            }
            if change < eps {
                return (round, change);
            }
        }
        (100, x.iter().sum())
    }

    #[task]
    pub fn top(x: &[f32]) -> (usize, f32, usize) {
        let best = x.iter().copied().fold(f32::MIN, f32::max);
        let Some(i) = x.iter().position(|&v| v == best) else {
            return (0, 0.0, 0);
        };
        let above = x.iter().enumerate().filter(|&(j, v)| j != i && *v * 2.0 > best).count();
        (i, best, above)
    }
}

millstream_tests::cases! {
    rank(&[0, 2, 3, 4], &[program::Entry { column: 1, value: 0.5 }, program::Entry { column: 2, value: 1.0 }, program::Entry { column: 0, value: 1.0 }, program::Entry { column: 1, value: 0.5 }], &mut [0.0; 3], &mut [0.0; 3], 0.5);
    top(&[1.0, 4.0, 3.0, 0.5]);
    top(&[]);
    multiply(&[0, 70], &[program::Entry { column: 1, value: 0.5 }; 70], &[1.0, 3.0], &mut [0.0]);
}
