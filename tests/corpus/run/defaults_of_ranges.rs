//! Structs that hold ranges and derive their default, which is that from zero to zero.

#[millstream::program]
pub mod program {
    use std::ops::Range;

    #[derive(Clone, Default)]
    struct Span {
        rows: Range<usize>,
        columns: (Range<u32>, Option<Range<i64>>),
        count: u32,
    }

    #[derive(Clone, Default)]
    struct Window<T> {
        of: Range<T>,
        at: T,
    }

    #[task]
    pub fn widened(n: u32) -> (usize, u32, u64) {
        let mut span = Span::default();
        let empty = span.rows.len() + span.columns.1.is_none() as usize;
        span.rows.end += n as usize;
        span.columns.0 = 1..n;
        let window: Window<u64> = Default::default();
        let none = Range::<u8>::default();
        (empty + span.rows.sum::<usize>(), span.columns.0.sum::<u32>() + span.count + u32::from(none.end), window.of.end + window.at)
    }
}

millstream_tests::cases! {
    widened(0);
    widened(5);
}
