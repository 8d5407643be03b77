//! Ranges that functions give are run over, begin chains and stand between brackets where they are called.

#[millstream::program]
pub mod program {
    use std::ops::{Range, RangeInclusive};

    #[derive(Clone, Copy)]
    pub struct Graph<'a> {
        first: &'a [u32],
        to: &'a [u32],
    }

    impl Graph<'_> {
        fn vertices(&self) -> Range<u32> {
            0..self.first.len() as u32 - 1
        }

        fn edges(&self, v: u32) -> Range<usize> {
            self.first[v as usize] as usize..self.first[v as usize + 1] as usize
        }
    }

    fn upto(n: u32) -> RangeInclusive<u32> {
        1..=n
    }

    /// Changes what it is lent: it is called once.
    fn next(from: &mut usize) -> Range<usize> {
        *from += 1;
        *from - 1..*from + 1
    }

    fn total(items: impl Iterator<Item = u32>) -> u32 {
        items.sum()
    }

    #[task]
    pub fn reach(g: Graph, v: u32, depth: u32) -> u64 {
        let mut all = 1;
        if depth == 0 {
            return all;
        }
        for e in g.edges(v) {
            all += spawn!(reach(g, g.to[e], depth - 1));
        }
        sync!();
        all
    }

    #[task]
    pub fn reached(first: &[u32], to: &[u32], depth: u32) -> u64 {
        let all = spawn!(reach(Graph { first, to }, 0, depth));
        sync!();
        all
    }

    #[task]
    pub fn looped(first: &[u32], to: &[u32]) -> [u32; 10] {
        let g = Graph { first, to };
        let mut out = [0; 10];
        for v in g.vertices().rev().step_by(2) {
            out[0] = out[0] * 3 + v;
        }
        'vertices: for v in g.vertices() {
            for e in g.edges(v) {
                if g.to[e] == 2 {
                    continue 'vertices;
                }
                out[1] = out[1] * 3 + g.to[e];
            }
        }
        for (i, e) in g.edges(1).enumerate() {
            out[2] += (i * 10 + e) as u32;
        }
        for (x, v) in g.to.iter().zip(g.vertices()) {
            out[3] = out[3] * 5 + x * v;
        }
        for i in upto(4).filter(|i| i % 3 != 0) {
            out[4] = out[4] * 10 + i;
        }
        for x in &g.to[g.edges(1)] {
            out[5] = out[5] * 7 + x;
        }
        let mut squares = 0;
        #[parallel]
        for v in g.vertices() {
            squares += v * v;
        }
        out[6] = squares;
        let span = |v: usize| v..2 * v;
        for i in span(3) {
            out[7] = out[7] * 10 + i as u32;
        }
        out[8] = span(4).map(|i| i as u32 * 3).sum();
        if let Some(v) = g.vertices().last() {
            out[9] = v;
        }
        out
    }

    #[task]
    pub fn chained(first: &[u32], to: &[u32], n: u32) -> [u32; 10] {
        let g = Graph { first, to };
        let degree = g.vertices().map(|v| g.edges(v).len()).max().unwrap_or(0);
        let twos = g.vertices().flat_map(|v| g.edges(v)).filter(|&e| g.to[e] == 2).count();
        let odd = g.vertices().flat_map(|v| g.edges(v).filter(|e| e % 2 == 1)).sum::<usize>();
        let mut numbers = upto(n).map(|i| i * i);
        let first = numbers.next().unwrap_or(0);
        let rest = numbers.fold(0, |all, i| all * 3 + i);
        let named = upto(n);
        let mut from = 0;
        let ahead = g.to[next(&mut from)].iter().sum::<u32>();
        for i in next(&mut from) {
            from += i * 100;
        }
        [
            degree as u32,
            twos as u32,
            odd as u32,
            first,
            rest,
            *named.start() + *named.end(),
            ahead,
            from as u32,
            total(upto(n)) + total(g.vertices().chain(upto(3))),
            g.vertices().zip(upto(9)).map(|(a, b)| a * b).sum::<u32>() + u32::from(upto(3).contains(&n)),
        ]
    }

    #[task]
    pub fn written(data: &mut [u32], first: &[u32]) {
        let part = |i: usize| first[i] as usize..first[i + 1] as usize;
        data[part(0)].fill(7);
        data[part(1)].reverse();
        for x in &mut data[part(2)] {
            *x += 100;
        }
        for (i, x) in data[part(1)].iter_mut().enumerate() {
            *x = *x * 10 + i as u32;
        }
        data.copy_within(part(1), 0);
    }
}

const FIRST: [u32; 5] = [0, 2, 5, 5, 7];
const TO: [u32; 7] = [1, 3, 0, 2, 3, 2, 1];

millstream_tests::cases! {
    reached(&FIRST, &TO, 5);
    looped(&FIRST, &TO);
    chained(&FIRST, &TO, 4);
    written(&mut [1, 2, 3, 4, 5, 6, 7, 8], &FIRST);
}
