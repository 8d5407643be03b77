//! Structs that hold references: by value in helpers, as task parameters, lent to children, borrowed by their methods.

use std::sync::atomic::AtomicU32;

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU32, Ordering};

    #[derive(Clone, Copy)]
    pub struct View<'a> {
        pub data: &'a [f32],
        pub width: usize,
    }

    impl<'a> View<'a> {
        fn new(data: &'a [f32], width: usize) -> Self {
            Self { data, width }
        }

        fn at(&self, x: usize, y: usize) -> f32 {
            self.data[y * self.width + x]
        }

        fn rows(&self) -> usize {
            self.data.len() / self.width
        }

        fn row(&self, y: usize) -> &'a [f32] {
            &self.data[y * self.width..(y + 1) * self.width]
        }

        fn split(self, y: usize) -> (View<'a>, View<'a>) {
            let (top, bottom) = self.data.split_at(y * self.width);
            (View { data: top, ..self }, View::new(bottom, self.width))
        }
    }

    pub struct Graph<'g, const D: usize> {
        pub next: &'g [[u32; D]],
        pub seen: &'g [AtomicU32],
    }

    fn longest<'a>(a: &'a [f32], b: &'a [f32]) -> &'a [f32] {
        if a.len() > b.len() { a } else { b }
    }

    fn sum_row(row: &[f32]) -> f32 {
        row.iter().sum()
    }

    #[task]
    pub fn sum(v: View) -> f32 {
        if v.rows() <= 1 {
            let mut all = 0.0;
            for x in 0..v.width {
                all += v.at(x, 0) * 0.5;
            }
            return all + sum_row(v.row(0)) * 0.5;
        }
        let (a, b) = v.split(v.rows() / 2);
        let x = spawn!(sum(a));
        let y = spawn!(sum(b));
        sync!();
        x + y
    }

    #[task]
    pub fn sum_all(data: &[f32], width: usize) -> f32 {
        let all = spawn!(sum(View { data, width }));
        sync!();
        all
    }

    #[task]
    pub fn reach(next: &[[u32; 2]], seen: &[AtomicU32]) -> u32 {
        let g = Graph { next, seen };
        spawn!(walk(g, 0));
        sync!();
        seen.iter().map(|s| s.load(Ordering::Relaxed)).sum()
    }

    /// A view of what this task has itself.
    #[task]
    pub fn local(n: usize) -> (f32, f32, usize) {
        let mut data = [0.0f32; 12];
        for (i, x) in data.iter_mut().enumerate() {
            *x = (i * n) as f32;
        }
        let v = View::new(&data, 3);
        let all = spawn!(sum(v));
        let part = spawn!(sum(View { data: &data[3..6], width: 3 }));
        sync!();
        (all + v.at(1, 1), part, longest(v.row(0), &data).len())
    }

    #[task]
    pub fn walk<'g>(g: Graph<'g, 2>, at: u32) {
        if g.seen[at as usize].swap(1, Ordering::Relaxed) == 1 {
            return;
        }
        for &to in &g.next[at as usize] {
            spawn!(walk(Graph { next: g.next, seen: g.seen }, to));
        }
    }
}

millstream_tests::cases! {
    sum_all(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], 2);
    reach(&[[1, 2], [2, 0], [4, 4], [1, 0], [0, 0]], &[const { AtomicU32::new(0) }; 5]);
    local(3);
}
