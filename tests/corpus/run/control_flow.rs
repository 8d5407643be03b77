//! `ControlFlow`: what goes on or ends, with a value, in functions, by `?`, and in what iterators try.
#[millstream::program]
pub mod program {
    use std::ops::ControlFlow::{self, Break, Continue};

    trait Visitor {
        fn visit(&mut self, x: u32) -> ControlFlow<u32>;
    }

    struct Limit {
        sum: u32,
        limit: u32,
    }

    impl Visitor for Limit {
        fn visit(&mut self, x: u32) -> ControlFlow<u32> {
            self.sum += x;
            if self.sum > self.limit { Break(x) } else { Continue(()) }
        }
    }

    fn walk<V: Visitor>(xs: &[u32], visitor: &mut V) -> ControlFlow<u32> {
        for &x in xs {
            visitor.visit(x)?;
        }
        Continue(())
    }

    /// The value goes on, too.
    fn step(x: u64) -> ControlFlow<(u64, bool), u64> {
        if x % 7 == 0 {
            return std::ops::ControlFlow::Break((x, true));
        }
        let twice = half(x)?;
        ControlFlow::Continue(twice * 2 + 1)
    }

    fn half(x: u64) -> ControlFlow<(u64, bool), u64> {
        match x {
            0..=1 => ControlFlow::Break((x, false)),
            _ => ControlFlow::Continue(x / 2),
        }
    }

    #[task]
    pub fn visited(xs: &[u32], limit: u32) -> (u32, u32, bool) {
        let mut visitor = Limit { sum: 0, limit };
        let ended = walk(xs, &mut visitor);
        let last = match ended {
            ControlFlow::Break(x) if x > 3 => x,
            ControlFlow::Break(_) => 1,
            ControlFlow::Continue(()) => 0,
        };
        (visitor.sum, last, matches!(ended, Break(x) if x % 2 == 0) || ended.is_continue())
    }

    #[task]
    pub fn tried(xs: &[u64], most: u64) -> (u64, u64, u64) {
        let sum = xs.iter().try_fold(0, |sum, &x| {
            if sum + x > most { ControlFlow::Break(sum) } else { ControlFlow::Continue(sum + x) }
        });
        let first = xs.iter().try_for_each(|&x| if x > most { Break(x) } else { Continue(()) });
        let steps = (1..20).map(|x| step(x * most).map_break(|(x, odd)| x + u64::from(odd)));
        let walked = steps.fold(0, |all, end| match end {
            Break(x) => all + x,
            Continue(x) => all ^ x,
        });
        let sum = match sum {
            ControlFlow::Break(sum) => 1000 + sum,
            ControlFlow::Continue(sum) => sum,
        };
        (sum, first.break_value().unwrap_or(7), walked)
    }
}
millstream_tests::cases! {
    visited(&vec![1, 2, 4, 3], 5);
    visited(&vec![1, 2, 3], 5);
    visited(&vec![], 0);
    tried(&vec![3, 5, 9, 2], 10);
    tried(&vec![3, 5], 10);
}
