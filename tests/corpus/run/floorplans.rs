//! Floorplans with the least area, by branch and bound: boards by value, and corners as an array of `Option`s.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU32, Ordering};

    pub const ROWS: usize = 12;
    pub const COLS: usize = 12;

    #[derive(Clone, Copy, Debug)]
    pub struct Cell {
        pub alts: [[u8; 2]; 3],
        pub n_alts: u8,
        pub left_of: i8,
        pub above: i8,
    }

    #[derive(Clone, Copy)]
    struct Placed {
        top: u8,
        left: u8,
        bottom: u8,
        right: u8,
    }

    type Board = [u16; ROWS];

    fn lay(board: &mut Board, p: Placed) -> bool {
        let mask = ((1u32 << (p.right - p.left + 1)) - 1 << p.left) as u16;
        let rows = &mut board[p.top as usize..=p.bottom as usize];
        if rows.iter().any(|row| row & mask != 0) {
            return false;
        }
        rows.iter_mut().for_each(|row| *row |= mask);
        true
    }

    #[task]
    pub fn add_cell(
        cells: &[Cell],
        id: usize,
        board: [u16; 12],
        placed: [[u8; 4]; 8],
        extent: (u8, u8),
        best: &AtomicU32,
    ) -> u32 {
        let Some(cell) = cells.get(id) else {
            let area = extent.0 as u32 * extent.1 as u32;
            best.fetch_min(area, Ordering::Relaxed);
            return 1;
        };
        let mut found = 0;
        for &[h, w] in &cell.alts[..cell.n_alts as usize] {
            // Corners where it may begin.
            let starts = match (cell.left_of, cell.above) {
                (-1, -1) => [Some((0u8, 0u8)), None],
                (l, -1) => {
                    let p = placed[l as usize];
                    [Some((p[0], p[3] + 1)), p[2].checked_sub(h - 1).map(|t| (t, p[3] + 1))]
                }
                (-1, a) => {
                    let p = placed[a as usize];
                    [Some((p[2] + 1, p[1])), None]
                }
                (l, a) => {
                    let (p, q) = (placed[l as usize], placed[a as usize]);
                    [Some((q[2] + 1, p[3] + 1)), None]
                }
            };
            for (top, left) in starts.into_iter().flatten() {
                let p = Placed { top, left, bottom: top + h - 1, right: left + w - 1 };
                if p.bottom as usize >= ROWS || p.right as usize >= COLS {
                    continue;
                }
                let mut next = board;
                if !lay(&mut next, p) {
                    continue;
                }
                let extent = (extent.0.max(p.bottom + 1), extent.1.max(p.right + 1));
                if u32::from(extent.0) * u32::from(extent.1) > best.load(Ordering::Relaxed) + 1000 {
                    continue;
                }
                let mut now = placed;
                now[id] = [p.top, p.left, p.bottom, p.right];
                found += spawn!(add_cell(cells, id + 1, next, now, extent, best));
            }
        }
        sync!();
        found
    }

    #[task]
    pub fn floorplan(cells: &[Cell]) -> (u32, u32) {
        let best = AtomicU32::new((ROWS * COLS) as u32);
        let n = spawn!(add_cell(cells, 0, [0; ROWS], [[0; 4]; 8], (0, 0), &best));
        sync!();
        (best.load(Ordering::Relaxed), n)
    }
}
fn cells() -> Vec<program::Cell> {
    let c = |alts: [[u8; 2]; 3], n_alts, left_of, above| program::Cell { alts, n_alts, left_of, above };
    vec![
        c([[2, 3], [3, 2], [1, 6]], 3, -1, -1),
        c([[2, 2], [1, 4], [4, 1]], 3, 0, -1),
        c([[3, 1], [1, 3], [1, 1]], 2, 1, -1),
        c([[2, 2], [4, 1], [1, 4]], 3, -1, 0),
        c([[2, 1], [1, 2], [1, 1]], 2, 3, 1),
    ]
}
millstream_tests::cases! { floorplan(&cells()); floorplan(&cells()[..2].to_vec()); }
