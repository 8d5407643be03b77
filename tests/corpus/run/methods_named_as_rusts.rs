//! Methods of a program that have names of Rust's for slices, numbers and iterators, which keep theirs.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy)]
    pub struct Grid {
        pub w: usize,
        pub cells: [u32; 16],
    }
    impl Grid {
        fn get(&self, x: usize, y: usize) -> u32 {
            self.cells[y * self.w + x]
        }
        fn max(&self) -> u32 {
            let mut b = 0;
            for x in self.cells {
                b = b.max(x);
            }
            b
        }
        fn first(&self) -> u32 {
            self.cells[0]
        }
        fn last(&self) -> Option<u32> {
            self.cells.last().copied()
        }
        fn len(&self) -> usize {
            self.cells.iter().filter(|x| **x > 0).count()
        }
        fn sort(&mut self) {
            self.cells.sort();
        }
        fn min(&self, a: u32) -> u32 {
            self.cells.iter().copied().min().unwrap_or(0).min(a)
        }
        fn checked_add(&self, a: u32) -> Option<u32> {
            self.cells[0].checked_add(a)
        }
        fn position(&self, x: u32) -> Option<usize> {
            self.cells.iter().position(|y| *y == x)
        }
        fn contains(&self, x: u32) -> bool {
            self.position(x).is_some()
        }
    }
    pub struct One {
        pub x: u32,
    }
    impl One {
        fn get(&self, i: usize) -> Option<u32> {
            if i == 0 { Some(self.x) } else { None }
        }
    }
    #[task]
    pub fn run(n: u32, a: &[u32]) -> (u32, u32, u32, usize, u32, u32) {
        let mut g = Grid { w: 4, cells: [n; 16] };
        g.cells[3] = 9;
        let o = One { x: 4 };
        let mut all = a.get(1).copied().unwrap_or(7) + g.get(3, 0);
        if let Some(x) = a.get(0) {
            all += x;
        }
        if let Some(x) = o.get(0) {
            all += x;
        }
        match o.get(1) {
            Some(x) => all += x,
            None => all += 1000,
        }
        let m = g.max() + a.iter().copied().max().unwrap_or(0) + n.max(3);
        g.sort();
        let f = g.first() + *a.first().unwrap_or(&0) + g.last().unwrap_or(0);
        let l = g.len() + a.len();
        let c = n.checked_add(u32::MAX).unwrap_or(1) + g.checked_add(3).unwrap_or(9);
        (
            all,
            m,
            f,
            l,
            c + g.min(2) + u32::from(g.contains(9)),
            g.get(1, 1) + o.get(0).map(|x| x + 1).unwrap_or(0),
        )
    }
    #[task]
    pub fn top(n: u32, a: &[u32]) -> u32 {
        let x = spawn!(run(n, a));
        sync!();
        x.0 + x.1 + x.2 + x.3 as u32 + x.4 + x.5
    }
}

millstream_tests::cases! {
    run(3, &[4, 5]);
    run(0, &[]);
    top(2, &[7]);
}
