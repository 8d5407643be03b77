//! A* search on grids, one child per map corner.
#[millstream::program]
pub mod program {
    const W: usize = 8;
    const H: usize = 8;
    const N: usize = W * H;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Node {
        cost: u32,
        at: usize,
    }

    struct Heap<const CAP: usize> {
        items: [Node; CAP],
        len: usize,
    }

    impl<const CAP: usize> Heap<CAP> {
        fn new() -> Self {
            Heap { items: [Node { cost: 0, at: 0 }; CAP], len: 0 }
        }

        fn push(&mut self, node: Node) {
            let mut i = self.len;
            self.items[i] = node;
            self.len += 1;
            while i > 0 {
                let parent = (i - 1) / 2;
                if self.items[parent].cost <= self.items[i].cost {
                    break;
                }
                self.items.swap(parent, i);
                i = parent;
            }
        }

        fn pop(&mut self) -> Option<Node> {
            if self.len == 0 {
                return None;
            }
            let top = self.items[0];
            self.len -= 1;
            self.items[0] = self.items[self.len];
            let mut i = 0;
            loop {
                let (l, r) = (2 * i + 1, 2 * i + 2);
                let mut least = i;
                if l < self.len && self.items[l].cost < self.items[least].cost {
                    least = l;
                }
                if r < self.len && self.items[r].cost < self.items[least].cost {
                    least = r;
                }
                if least == i {
                    break;
                }
                self.items.swap(i, least);
                i = least;
            }
            Some(top)
        }
    }

    fn distance(a: usize, b: usize) -> u32 {
        let (ax, ay) = (a % W, a / W);
        let (bx, by) = (b % W, b / W);
        (ax.abs_diff(bx) + ay.abs_diff(by)) as u32
    }

    fn neighbours(at: usize) -> [Option<usize>; 4] {
        let (x, y) = (at % W, at / W);
        [
            (x > 0).then(|| at - 1),
            (x + 1 < W).then(|| at + 1),
            if y > 0 { Some(at - W) } else { None },
            if y + 1 < H { Some(at + W) } else { None },
        ]
    }

    fn search(map: &[u8], from: usize, to: usize) -> Option<u32> {
        let mut best = [u32::MAX; N];
        let mut open = Heap::<256>::new();
        best[from] = 0;
        open.push(Node { cost: distance(from, to), at: from });
        while let Some(Node { at, .. }) = open.pop() {
            if at == to {
                return Some(best[at]);
            }
            for next in neighbours(at).into_iter().flatten() {
                if map[next] == b'#' {
                    continue;
                }
                let cost = best[at] + 1;
                if cost < best[next] {
                    best[next] = cost;
                    open.push(Node { cost: cost + distance(next, to), at: next });
                }
            }
        }
        None
    }

    #[task]
    pub fn route(map: &[u8], from: usize, to: usize) -> Option<u32> {
        search(map, from, to)
    }

    #[task]
    pub fn corners(map: &[u8], from: usize) -> u32 {
        let corners = [0, W - 1, N - W, N - 1];
        let mut found = [None; 4];
        for (i, &corner) in corners.iter().enumerate() {
            found[i] = spawn!(route(map, from, corner));
        }
        sync!();
        found.iter().map(|f| f.unwrap_or(1000)).sum()
    }
}
millstream_tests::cases! {
    corners(b"..............#...##.#.#.........#..###..#.....#.........#.......".as_slice(), 27);
}
