//! Edit distance by blocks whose borders are handed on: a block turns its upper and left border into its lower and right one.
#[millstream::program]
pub mod program {
    const GRAIN: usize = 32;

    fn cell(a: u8, b: u8, left: u32, up: u32, diagonal: u32) -> u32 {
        (left + 1).min(up + 1).min(diagonal + (a != b) as u32)
    }

    /// `top[j]` is the cell above column `j`, `left[i]` the one left of row `i`, `corner` that above `left[0]`.
    #[task]
    pub fn block(a: &[u8], b: &[u8], top: &mut [u32], left: &mut [u32], corner: u32) {
        if a.len() <= GRAIN && b.len() <= GRAIN {
            let mut diagonal_row = corner;
            for (x, l) in a.iter().zip(left.iter_mut()) {
                let mut diagonal = diagonal_row;
                diagonal_row = *l;
                let mut before = *l;
                for (y, t) in b.iter().zip(top.iter_mut()) {
                    let v = cell(*x, *y, before, *t, diagonal);
                    diagonal = *t;
                    *t = v;
                    before = v;
                }
                *l = before;
            }
            return;
        }
        let (h, w) = (a.len() / 2, b.len() / 2);
        let (a1, a2) = a.split_at(h);
        let (b1, b2) = b.split_at(w);
        let (t1, t2) = top.split_at_mut(w);
        let (l1, l2) = left.split_at_mut(h);
        // Corners of the others, before they are overwritten.
        let (corner_right, corner_below) = (if w > 0 { t1[w - 1] } else { corner }, if h > 0 { l1[h - 1] } else { corner });
        spawn!(block(a1, b1, t1, l1, corner));
        sync!();
        let corner_last = if w > 0 { t1[w - 1] } else { corner_below };
        spawn!(block(a1, b2, t2, l1, corner_right));
        spawn!(block(a2, b1, t1, l2, corner_below));
        sync!();
        spawn!(block(a2, b2, t2, l2, corner_last));
    }

    #[task]
    pub fn edit(a: &mut [u8], b: &mut [u8], top: &mut [u32], left: &mut [u32]) -> (u32, u64) {
        let mut s = 4242u32;
        for x in a.iter_mut() {
            s = s.wrapping_mul(1664525).wrapping_add(1013904223);
            *x = b"ACGT"[(s >> 30) as usize];
        }
        for (i, y) in b.iter_mut().enumerate() {
            s = s.wrapping_mul(1664525).wrapping_add(1013904223);
            *y = if s >> 29 == 0 || i + 3 >= a.len() { b'A' } else { a[i + (i > 100) as usize * 2] };
        }
        for (j, t) in top.iter_mut().enumerate() { *t = j as u32 + 1; }
        for (i, l) in left.iter_mut().enumerate() { *l = i as u32 + 1; }
        spawn!(block(a, b, top, left, 0));
        sync!();
        let mut h = 0u64;
        for t in top.iter().rev() { h = h.wrapping_mul(1_000_003) ^ *t as u64; }
        (top[top.len() - 1], h)
    }
}

millstream_tests::cases! {
    edit(&mut vec![0u8; 70], &mut vec![0u8; 66], &mut vec![0u32; 66], &mut vec![0u32; 70]);
}
