//! Structs of ranges that tasks are given and hand on.

#[millstream::program]
pub mod program {
    use std::ops::{Range, RangeInclusive};
    #[derive(Clone, Debug)]
    pub struct Span {
        pub x: Range<u32>,
        pub y: RangeInclusive<u32>,
        pub id: u8,
    }
    #[derive(Clone)]
    pub struct Outer {
        of: Span,
        by: u32,
    }
    #[task]
    pub fn area(s: Span) -> u64 {
        if s.x.len() <= 2 {
            return s
                .x
                .clone()
                .map(|x| s.y.clone().map(|y| (x * y) as u64).sum::<u64>())
                .sum::<u64>()
                + s.id as u64;
        }
        let mid = s.x.start + s.x.len() as u32 / 2;
        let a = spawn!(area(Span {
            x: s.x.start..mid,
            ..s.clone()
        }));
        let b = spawn!(area(Span {
            x: mid..s.x.end,
            ..s
        }));
        sync!();
        a + 2 * b
    }
    #[task]
    pub fn outer(o: Outer) -> u64 {
        let mut t = 0;
        for i in o.of.x {
            t += spawn!(area(Span {
                x: 0..i,
                y: o.of.y.clone(),
                id: 1
            }));
        }
        sync!();
        t * o.by as u64
    }
    #[task]
    pub fn spans(n: u32) -> u64 {
        let s = Span {
            x: 0..n,
            y: 1..=n / 2,
            id: 1,
        };
        let a = spawn!(area(s.clone()));
        let b = spawn!(outer(Outer { of: s, by: 3 }));
        sync!();
        a + b
    }
}

millstream_tests::cases! {
    spans(12);
    spans(1);
    area(program::Span { x: 0..9, y: 2..=7, id: 3 });
}
