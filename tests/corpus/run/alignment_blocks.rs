//! Smith-Waterman as a blocked wavefront: anti-diagonals of blocks, each a parallel loop; the borders go on between them.
#[millstream::program]
pub mod program {
    const B: usize = 32;

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Border {
        pub row: [i32; B],
        pub col: [i32; B],
        pub corner: i32,
        pub best: i32,
    }

    fn score(a: u8, b: u8) -> i32 {
        if a == b { 3 } else { -2 }
    }

    /// One block, from what lies above, left and at the corner.
    fn block(a: &[u8], b: &[u8], up: [i32; B], left: [i32; B], corner: i32) -> Border {
        let mut row = up;
        let mut col = [0; B];
        let mut best = 0;
        for (i, &x) in a.iter().enumerate() {
            let mut diagonal = if i == 0 { corner } else { left[i - 1] };
            let mut west = left[i];
            for (cell, &y) in row.iter_mut().zip(b) {
                let here = [0, diagonal + score(x, y), west - 1, *cell - 1].into_iter().max().unwrap();
                diagonal = *cell;
                *cell = here;
                west = here;
                best = best.max(here);
            }
            col[i] = west;
        }
        Border { row, col, corner: up[B - 1], best }
    }

    /// `rows` has the bottom of each column of blocks, `cols` the right of each row, with the corners.
    #[task]
    pub fn align(a: &[u8], b: &[u8], rows: &mut [Border], cols: &mut [Border]) -> i32 {
        assert!(a.len() % B == 0 && b.len() % B == 0, "whole blocks");
        let (n, m) = (a.len() / B, b.len() / B);
        let zero = Border { row: [0; B], col: [0; B], corner: 0, best: 0 };
        rows.fill(zero);
        cols.fill(zero);
        let mut best = 0;
        for d in 0..n + m - 1 {
            // Blocks (i, d - i).
            let (lo, hi) = ((d + 1).saturating_sub(m), (d + 1).min(n));
            let part = &mut rows[..m];
            let count = hi - lo;
            // Of the columns' borders those of this diagonal lie one behind another, in the other order.
            let first = d + 1 - hi;
            #[parallel]
            for (k, (up, left)) in part[first..first + count].iter_mut().zip(cols[n - hi..n - lo].iter_mut()).enumerate() {
                let j = first + k;
                let i = d - j;
                let done = block(&a[i * B..(i + 1) * B], &b[j * B..(j + 1) * B], up.row, left.col, left.corner);
                best = best.max(done.best);
                // The corner of the next block in this row of blocks lies at the end of what is above.
                left.corner = up.row[B - 1];
                left.col = done.col;
                up.row = done.row;
            }
        }
        best
    }

    /// The same, without blocks.
    #[task]
    pub fn plain(a: &[u8], b: &[u8], row: &mut [i32]) -> i32 {
        row.fill(0);
        let mut best = 0;
        for x in a {
            let (mut diagonal, mut west) = (0, 0);
            for (cell, y) in row.iter_mut().zip(b) {
                let here = (diagonal + score(*x, *y)).max(west - 1).max(*cell - 1).max(0);
                (diagonal, west) = (*cell, here);
                *cell = here;
            }
            best = row.iter().copied().fold(best, i32::max);
        }
        best
    }
}

millstream_tests::cases! {
    plain(b"GGTTGACTA", b"TGTTACGG", &mut [0; 8]);
    align(&[1; 64], &[1; 32], &mut [program::Border { row: [0; 32], col: [0; 32], corner: 0, best: 0 }; 1], &mut [program::Border { row: [0; 32], col: [0; 32], corner: 0, best: 0 }; 2]);
}
