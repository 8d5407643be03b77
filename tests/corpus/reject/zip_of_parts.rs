//! `zip` of what runs over parts of parts.

#[millstream::program]
pub mod program {
    #[task]
    pub fn dot(a: &[[f32; 3]], b: &[[f32; 3]]) -> f32 {
        a.iter().flatten().zip(b.iter().flatten()).map(|(x, y)| x * y).sum()
    }

    #[task]
    pub fn fill(out: &mut [u32], w: usize, h: usize) {
        for (o, (x, y)) in out.iter_mut().zip((0..h).flat_map(|y| (0..w).map(move |x| (x, y)))) {
            *o = (x * y) as u32;
        }
    }
}

//~ 7:28: `zip` behind another adaptor, or beside one
//~   help: of parts, `flatten` and `flat_map`, neither side may be: run over the parts in step, `a.iter().zip(b).flat_map(|(r, s)| r.iter().zip(s))`; other adaptors stand behind it, `a.iter().zip(b).map(..)`
//~ 12:43: `zip` behind another adaptor, or beside one
//~   help: of parts, `flatten` and `flat_map`, neither side may be: run over the parts in step, `a.iter().zip(b).flat_map(|(r, s)| r.iter().zip(s))`; other adaptors stand behind it, `a.iter().zip(b).map(..)`
