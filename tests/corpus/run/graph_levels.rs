//! Breadth-first levels on a CSR graph with atomics.
#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU32, Ordering::*};

    #[derive(Clone, Copy)]
    pub struct Csr<'a> {
        offsets: &'a [u32],
        edges: &'a [u32],
    }

    impl<'a> Csr<'a> {
        fn neighbours(self, v: u32) -> &'a [u32] {
            let v = v as usize;
            &self.edges[self.offsets[v] as usize..self.offsets[v + 1] as usize]
        }

        fn len(&self) -> usize {
            self.offsets.len() - 1
        }
    }

    #[task]
    fn visit(g: Csr, v: u32, level: u32, levels: &[AtomicU32]) {
        for &w in g.neighbours(v) {
            let mut seen = levels[w as usize].load(Relaxed);
            while level < seen {
                match levels[w as usize].compare_exchange(seen, level, AcqRel, Relaxed) {
                    Ok(_) => {
                        spawn!(visit(g, w, level + 1, levels));
                        break;
                    }
                    Err(now) => seen = now,
                }
            }
        }
    }

    #[task]
    pub fn bfs(offsets: &[u32], edges: &[u32], levels: &[AtomicU32], from: u32) -> u32 {
        let g = Csr { offsets, edges };
        levels[from as usize].store(0, Relaxed);
        spawn!(visit(g, from, 1, levels));
        sync!();
        (0..g.len()).map(|v| levels[v].load(Relaxed)).filter(|&l| l != u32::MAX).max().unwrap_or(0)
    }
}
use std::sync::atomic::AtomicU32;
millstream_tests::cases! {
    bfs(&[0, 2, 3, 5, 6, 6], &[1, 2, 3, 3, 0, 1], &[const { AtomicU32::new(u32::MAX) }; 5], 0);
}
