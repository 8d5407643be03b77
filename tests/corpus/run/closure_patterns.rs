//! Patterns of what closures of chains are given, and `match`es in these.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct P {
        pub x: u32,
        pub y: u32,
    }
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum E {
        A(u32),
        B { x: u32, y: u32 },
        C,
    }
    #[task]
    pub fn a(_v: &[u32]) -> (usize, u32, u32, Option<u32>) {
        let ps: [(u32, u32); 4] = [(1, 2), (3, 3), (5, 4), (6, 7)];
        let n = ps.iter().filter(|(a, b)| a < b).count();
        let m: u32 = ps
            .iter()
            .filter(|&(a, b)| *a > *b)
            .map(|(a, b)| a + b)
            .sum();
        let k: u32 = ps
            .iter()
            .filter(|&&(a, b)| a > b)
            .map(|&(a, b)| a * b)
            .sum();
        let f = ps.iter().find(|(a, _)| *a == 3).map(|(a, b)| a + b);
        (n, m, k, f)
    }
    #[task]
    pub fn b(_v: &[u32]) -> (Option<u32>, Option<usize>, bool, bool, u32) {
        let es = [E::A(3), E::B { x: 1, y: 2 }, E::C, E::A(7)];
        let f = es.iter().find_map(|e| {
            if let E::B { x, y } = e {
                Some(x + y)
            } else {
                None
            }
        });
        let g = es.iter().position(|e| matches!(e, E::C));
        let h = es.iter().any(|e| match e {
            E::A(n) => *n == 7,
            _ => false,
        });
        let i = es.iter().all(|&e| match e {
            E::A(n) => n > 1,
            E::B { x, .. } => x > 0,
            E::C => true,
        });
        let j: u32 = es
            .iter()
            .filter_map(|e| match e {
                E::A(n) => Some(*n),
                E::B { x, y } => Some(x * y),
                E::C => None,
            })
            .sum();
        (f, g, h, i, j)
    }
    #[task]
    pub fn c(v: &[u32]) -> (u32, Option<u32>, Option<u32>, u32, Option<(usize, u32)>) {
        let os = [Some(1u32), None, Some(3)];
        let s: u32 = os.iter().filter_map(|o| *o).sum();
        let f = os.iter().find_map(|o| o.filter(|&x| x > 1));
        let m = os.iter().flatten().map(|&x| x).max();
        let z: u32 = v
            .iter()
            .zip(os.iter())
            .filter(|(_, o)| o.is_some())
            .map(|(a, o)| a + o.unwrap())
            .sum();
        let e = v
            .iter()
            .enumerate()
            .filter(|&(i, &x)| i % 2 == 0 && x > 3)
            .map(|(i, &x)| (i, x))
            .last();
        (s, f, m, z, e)
    }
    #[task]
    pub fn d(n: u32) -> (u32, u32, Option<P>, usize) {
        let ps = [P { x: 1, y: n }, P { x: n, y: 1 }, P { x: 2, y: 2 }];
        let a: u32 = ps.iter().filter(|p: &&P| p.x < p.y).map(|p: &P| p.y).sum();
        let b: u32 = ps.iter().map(|P { x, y }| x * y).sum();
        let c = ps.iter().copied().find(|P { x, .. }| *x == 2);
        let d = ps.iter().filter(|&&P { x, y }| x == y).count();
        (a, b, c, d)
    }
}

millstream_tests::cases! {
    a(&[3, 1, 4, 1, 5, 9, 2, 6]);
    b(&[3, 1, 4, 1, 5, 9, 2, 6]);
    c(&[3, 1, 4, 1, 5, 9, 2, 6]);
    d(4);
}
