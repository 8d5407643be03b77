//! Names brought in by `use`, also under another name and inside a function.

#[millstream::program]
pub mod program {
    use std::cmp::{max, min};
    use std::f32::consts;
    use std::mem;
    use std::sync::atomic::{AtomicU32 as Counter, Ordering::Relaxed};

    #[task]
    pub fn imported(a: i32, b: i32, n: &Counter) -> (i32, i32, f32) {
        use std::mem::swap;
        let (mut lo, mut hi) = (min(a, b), max(a, b));
        swap(&mut lo, &mut hi);
        let old = mem::replace(&mut lo, 5);
        n.fetch_add(old as u32, Relaxed);
        (lo, hi, consts::PI)
    }
}

millstream_tests::cases! {
    imported(3, 9, &std::sync::atomic::AtomicU32::new(1));
}
