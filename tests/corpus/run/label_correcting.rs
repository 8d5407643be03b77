//! Shortest ways by label correcting: a task for each improvement; and components by hooking, with compare and exchange.
#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

    fn weight(v: u32, k: u32) -> u32 {
        1 + (v.wrapping_mul(2_654_435_761) ^ k.wrapping_mul(40503)) % 15
    }

    /// A grid whose streets have lengths; a way out of its right or lower end is none.
    fn target(v: u32, k: u32, side: u32) -> u32 {
        let (x, y) = (v % side, v / side);
        match k {
            0 if x + 1 < side => v + 1,
            1 if x > 0 => v - 1,
            2 if y + 1 < side => v + side,
            3 if y > 0 => v - side,
            _ => v,
        }
    }

    #[task]
    pub fn relax(v: u32, distance: u32, side: u32, best: &[AtomicU32]) {
        if best[v as usize].load(Ordering::Relaxed) < distance { return; }
        for k in 0..4 {
            let w = target(v, k, side);
            let d = distance + weight(v.min(w), v.max(w));
            if w != v && best[w as usize].fetch_min(d, Ordering::Relaxed) > d {
                spawn!(relax(w, d, side, best));
            }
        }
    }

    fn root(parent: &[AtomicU32], v: u32) -> u32 {
        let mut v = v;
        loop {
            let p = parent[v as usize].load(Ordering::Relaxed);
            if p == v { return v; }
            // Halves the way.
            let g = parent[p as usize].load(Ordering::Relaxed);
            let _ = parent[v as usize].compare_exchange(p, g, Ordering::Relaxed, Ordering::Relaxed).is_ok();
            v = g;
        }
    }

    #[task]
    pub fn join(from: usize, to: usize, side: u32, parent: &[AtomicU32], joined: &AtomicUsize) {
        if to - from > 8 {
            let m = (from + to) / 2;
            spawn!(join(from, m, side, parent, joined));
            spawn!(join(m, to, side, parent, joined));
            return;
        }
        for i in from..to {
            let v = i as u32 / 2;
            let w = target(v, i as u32 % 2 * 2, side);
            // Some streets are closed.
            if w == v || weight(v, w) > 7 { continue; }
            loop {
                let (a, b) = (root(parent, v), root(parent, w));
                if a == b { break; }
                let (low, high) = (a.min(b), a.max(b));
                if parent[high as usize].compare_exchange_weak(high, low, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                    joined.fetch_add(1, Ordering::Relaxed);
                    break;
                }
            }
        }
    }

    #[task]
    pub fn ways(side: u32, best: &[AtomicU32], parent: &[AtomicU32]) -> (u64, u32, usize, u64) {
        let n = (side * side) as usize;
        #[parallel]
        for (i, (b, p)) in best.iter().zip(parent).enumerate() {
            b.store(u32::MAX, Ordering::Relaxed);
            p.store(i as u32, Ordering::Relaxed);
        }
        best[0].store(0, Ordering::Relaxed);
        spawn!(relax(0, 0, side, best));
        let joined = AtomicUsize::new(0);
        spawn!(join(0, 2 * n, side, parent, &joined));
        sync!();
        let (mut sum, mut farthest, mut roots) = (0u64, 0u32, 0u64);
        for v in 0..n {
            let d = best[v].load(Ordering::Relaxed);
            sum += d as u64;
            farthest = farthest.max(d);
            roots += root(parent, v as u32) as u64;
        }
        let components = n - joined.load(Ordering::Relaxed);
        (sum, farthest, components, roots)
    }
}

millstream_tests::cases! {
    ways(5, &(0..25).map(|_| std::sync::atomic::AtomicU32::new(0)).collect::<Vec<_>>(), &(0..25).map(|_| std::sync::atomic::AtomicU32::new(0)).collect::<Vec<_>>());
}
