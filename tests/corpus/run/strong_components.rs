//! The strongly connected components of graphs, by Tarjan's algorithm on stacks of its own.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    struct Frame {
        node: u32,
        edge: u32,
    }

    struct Stack<T, const N: usize> {
        items: [T; N],
        len: usize,
    }

    impl<T: Copy + Default, const N: usize> Default for Stack<T, N> {
        fn default() -> Self {
            Self {
                items: [T::default(); N],
                len: 0,
            }
        }
    }
    impl<T: Copy + Default, const N: usize> Stack<T, N> {
        const CAPACITY: usize = N;
        fn push(&mut self, item: T) -> Result<(), T> {
            let Some(slot) = self.items.get_mut(self.len) else {
                return Err(item);
            };
            *slot = item;
            self.len += 1;
            Ok(())
        }
        fn pop(&mut self) -> Option<T> {
            if self.is_empty() {
                None
            } else {
                self.len -= 1;
                Some(self.items[self.len])
            }
        }
        fn last_mut(&mut self) -> Option<&mut T> {
            self.items[..self.len].last_mut()
        }
        const fn is_empty(&self) -> bool {
            self.len == 0
        }
        fn iter(&self) -> impl Iterator<Item = &T> {
            self.items[..self.len].iter()
        }
    }

    #[derive(Clone, Copy)]
    pub struct Graph<'a> {
        starts: &'a [u32],
        edges: &'a [u32],
    }

    impl<'a> Graph<'a> {
        fn len(&self) -> usize {
            self.starts.len() - 1
        }
        fn out(&self, v: u32) -> &'a [u32] {
            let (lo, hi) = (
                self.starts[v as usize] as usize,
                self.starts[v as usize + 1] as usize,
            );
            &self.edges[lo..hi]
        }
    }

    const NONE: u32 = u32::MAX;

    fn components(g: &Graph<'_>, comp: &mut [u32]) -> Option<u32> {
        let mut index = [NONE; 64];
        let mut low = [0u32; 64];
        let mut on: u64 = 0;
        let mut path = Stack::<u32, 64>::default();
        let mut calls: Stack<Frame, 64> = Default::default();
        let (mut next, mut count) = (0, 0);
        'roots: for root in 0..g.len() as u32 {
            if index[root as usize] != NONE {
                continue 'roots;
            }
            calls
                .push(Frame {
                    node: root,
                    ..Default::default()
                })
                .ok()?;
            while let Some(&mut Frame { node, ref mut edge }) = calls.last_mut() {
                let v = node as usize;
                if *edge == 0 {
                    index[v] = next;
                    low[v] = next;
                    next += 1;
                    path.push(node).ok()?;
                    on |= 1 << v;
                }
                let out = g.out(node);
                let mut deeper = None;
                while let Some(&w) = out.get(*edge as usize) {
                    *edge += 1;
                    match (index[w as usize], on >> w & 1) {
                        (NONE, _) => {
                            deeper = Some(w);
                            break;
                        }
                        (i, 1) => low[v] = low[v].min(i),
                        _ => (),
                    }
                }
                if out.is_empty() {
                    *edge = 1;
                }
                if let Some(w) = deeper {
                    calls.push(Frame { node: w, edge: 0 }).ok()?;
                    continue;
                }
                calls.pop();
                if let Some(parent) = calls.last_mut() {
                    let p = parent.node as usize;
                    low[p] = low[p].min(low[v]);
                }
                if low[v] == index[v] {
                    loop {
                        let w = path.pop()?;
                        on &= !(1 << w);
                        comp[w as usize] = count;
                        if w == node {
                            break;
                        }
                    }
                    count += 1;
                }
            }
        }
        debug_assert!(path.is_empty());
        Some(count + (path.iter().count() as u32) * Stack::<u32, 64>::CAPACITY as u32)
    }

    #[task]
    pub fn scc(starts: &[u32], edges: &[u32]) -> (u32, u64) {
        let g = Graph { starts, edges };
        let mut comp = [0u32; 64];
        let Some(count) = components(&g, &mut comp[..g.len()]) else {
            return (NONE, 0);
        };
        let hash = comp
            .iter()
            .take(g.len())
            .fold(7u64, |h, &c| h.wrapping_mul(31) ^ u64::from(c));
        (count, hash)
    }

    #[task]
    pub fn run(n: u32) -> [(u32, u64); 3] {
        let mut starts = [0u32; 33];
        let mut edges = [0u32; 96];
        let mut m = 0;
        for v in 0..32 {
            starts[v as usize] = m as u32;
            for k in 1..=(v * n) % 4 {
                edges[m] = (v * k * 7 + n + k) % 32;
                m += 1;
            }
        }
        starts[32] = m as u32;
        let a = spawn!(scc(&starts, &edges[..m]));
        let b = spawn!(scc(&[0, 1, 2, 3, 3], &[1, 2, 0]));
        let c = spawn!(scc(&[0, 2, 3, 4, 5], &[1, 2, 3, 3, 0]));
        sync!();
        [a, b, c]
    }
}

millstream_tests::cases! {
    run(5);
    run(2);
    scc(&[0, 1, 2, 3, 3], &[1, 2, 0]);
}
