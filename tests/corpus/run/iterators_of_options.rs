//! What an `Option` or a `Result` has begins chains and goes on with them; functions of `std::iter`; parts of slices that are left out beside a `zip`.

#[millstream::program]
pub mod program {
    use std::iter;

    #[derive(Clone, Copy)]
    struct Node {
        left: Option<usize>,
        right: Option<usize>,
    }

    impl Node {
        fn children(&self) -> impl Iterator<Item = usize> {
            self.left.into_iter().chain(self.right)
        }

        fn lent(&self) -> impl Iterator<Item = &usize> + '_ {
            self.left.iter().chain(self.right.iter())
        }
    }

    fn size(nodes: &[Node], at: usize) -> usize {
        1 + nodes[at].children().map(|child| size(nodes, child)).sum::<usize>()
    }

    #[task]
    pub fn trees(n: usize) -> (usize, usize, usize) {
        let leaf = Node { left: None, right: None };
        let nodes = [Node { left: Some(1), right: Some(n) }, Node { left: None, right: Some(3) }, leaf, leaf];
        let mut all = 0;
        for child in nodes[0].lent() {
            all += child;
        }
        (size(&nodes, 0), all, leaf.children().count())
    }

    #[task]
    pub fn chained(n: u32) -> (u32, u32, u32) {
        let (some, none, fine) = (Some(n), None, Ok::<u32, u8>(3));
        let mut changed = Some(n);
        let mut all = 0;
        for x in some.iter().chain(none.iter()).chain(&[1, 2]) {
            all += x;
        }
        for x in fine.iter().chain(some.as_ref()) {
            all = all * 3 + x;
        }
        for x in changed.iter_mut() {
            *x += 1;
        }
        for x in changed.as_mut().into_iter() {
            *x *= 2;
        }
        let named = some.iter().chain(&[4, 5]);
        all += named.clone().sum::<u32>() + named.count() as u32;
        let mut drawn = some.into_iter().chain(0..3).zip(7..);
        while let Some((x, y)) = drawn.next() {
            all += x * y;
        }
        let beside = (0..2).chain(some).zip(none.into_iter().chain(5..9));
        (all, changed.unwrap_or(0), beside.map(|(a, b): (u32, u32)| a * b).sum())
    }

    fn even(n: u32) -> impl Iterator<Item = u32> {
        (0..n).filter(|x| x % 2 == 0)
    }

    #[task]
    pub fn functions(n: u32) -> (u32, u32) {
        let (mut all, mut calls) = (0, 0);
        for (x, y) in iter::zip(&[1, 2, 3], [4, 5, n]) {
            all += x * y;
        }
        for (i, (x, y)) in iter::zip(even(n), iter::repeat(2)).enumerate() {
            all += x * y + i as u32;
        }
        for x in even(n).into_iter().chain(iter::empty()) {
            all = all * 2 + x;
        }
        let mut pairs = std::iter::zip([1, n, 3].into_iter(), 4..);
        while let Some((x, y)) = pairs.next() {
            all += x * y;
        }
        all += iter::once_with(|| { calls += 1; n }).chain(0..n).map(|x| x * x).sum::<u32>();
        (all + iter::empty::<u32>().count() as u32, calls)
    }

    #[task]
    pub fn parts(n: u32) -> (u32, [u32; 6]) {
        let (mut a, b) = ([1, 2, n, 4, 5, 6], [7, 8, 9]);
        let mut all = 0;
        for (x, y) in a.windows(2).zip(a.windows(2).skip(2)) {
            all += x[0] * y[1];
        }
        for (x, y) in a.chunks(2).take(2).zip(a.chunks(2).skip(1)) {
            all = 3 * all + x[0] * y[1];
        }
        all += a.chunks(4).skip(1).zip(&b).map(|(part, y)| part.len() as u32 * y).sum::<u32>();
        all += b.iter().zip(a.chunks_exact(4).take(9)).map(|(y, part)| part[3] * y).sum::<u32>();
        for (part, y) in a.chunks_mut(2).skip(1).zip(b) {
            part[0] += y;
        }
        (all, a)
    }
}

millstream_tests::cases! {
    trees(2);
    chained(5);
    chained(0);
    functions(5);
    functions(8);
    parts(3);
}
