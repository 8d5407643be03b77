//! Ranges in structs and variants, and slices behind `Deref`, that are kept over syncs and lent to children.

#[millstream::program]
pub mod program {
    use std::ops::{Deref, DerefMut, Range, RangeInclusive};
    #[derive(Clone, Debug, PartialEq)]
    pub struct Plan {
        todo: Range<u32>,
        keep: RangeInclusive<u32>,
        steps: u32,
    }
    #[derive(Clone)]
    pub enum Stage {
        Run(Range<u32>),
        Wait { left: RangeInclusive<u32> },
        End,
    }
    #[derive(Clone, Copy)]
    pub struct Buf<const N: usize> {
        data: [u64; N],
        len: usize,
    }
    impl<const N: usize> Deref for Buf<N> {
        type Target = [u64];
        fn deref(&self) -> &[u64] {
            &self.data[..self.len]
        }
    }
    impl<const N: usize> DerefMut for Buf<N> {
        fn deref_mut(&mut self) -> &mut [u64] {
            &mut self.data[..self.len]
        }
    }
    #[task]
    pub fn leaf(x: u32) -> u64 {
        x as u64 * x as u64 + 1
    }
    #[task]
    pub fn put(out: &mut [u64], x: u64) {
        for (i, o) in out.iter_mut().enumerate() {
            *o = o.wrapping_add(x + i as u64);
        }
    }
    macro_rules! pair {
        ($a:expr, $b:expr) => {{
            let a = spawn!($a);
            let b = spawn!($b);
            sync!();
            a.wrapping_mul(3).wrapping_add(b)
        }};
    }
    #[task]
    pub fn rec(r: Range<u32>) -> u64 {
        let plan = Plan {
            todo: r.clone(),
            keep: r.start..=r.end,
            steps: 1,
        };
        if plan.todo.len() <= 2 {
            return plan.todo.map(u64::from).sum();
        }
        let mid = plan.todo.start + (plan.todo.end - plan.todo.start) / 2;
        let got = pair!(rec(plan.todo.start..mid), rec(mid..plan.todo.end));
        got.wrapping_add(*plan.keep.end() as u64 + plan.steps as u64)
    }
    #[task]
    pub fn kept(n: u32) -> (u64, u64, u64, u64) {
        let mut plan = Plan {
            todo: 0..n,
            keep: 2..=n / 2,
            steps: 0,
        };
        let mut sum = 0u64;
        while let Some(i) = plan.todo.next() {
            if !plan.keep.contains(&i) {
                continue;
            }
            plan.steps += 1;
            sum += spawn!(leaf(i));
            if plan.steps % 4 == 0 {
                sync!();
                plan.todo.next_back();
            }
        }
        sync!();
        let mut stage = Stage::Run(0..5);
        let mut got = 0;
        loop {
            stage = match stage {
                Stage::Run(r) => {
                    let mut t = 0;
                    for i in r.clone() {
                        t += spawn!(leaf(i + n));
                    }
                    sync!();
                    got += t;
                    Stage::Wait {
                        left: r.start..=r.end,
                    }
                }
                Stage::Wait { mut left } => {
                    let x = left.next().unwrap_or(9);
                    let y = spawn!(leaf(x));
                    sync!();
                    got = got * 2 + y;
                    if left.is_empty() {
                        Stage::End
                    } else {
                        Stage::Wait { left }
                    }
                }
                Stage::End => break,
            };
        }
        let mut b = Buf::<32> {
            data: [1; 32],
            len: 20,
        };
        spawn!(put(&mut b, 5));
        sync!();
        let (l, r) = b.split_at_mut(7);
        spawn!(put(l, 100));
        spawn!(put(&mut r[2..], 1000));
        sync!();
        b[3] += spawn!(leaf(3));
        sync!();
        let h = b.iter().fold(0u64, |h, x| h.wrapping_mul(31) ^ x);
        let deep = spawn!(rec(0..n));
        sync!();
        (sum + plan.steps as u64, got, h, deep)
    }
}

millstream_tests::cases! {
    kept(12);
    kept(70);
    rec(3..40);
}
