//! What parallel loops are made of in Rust: see the module `rust::rounds` of `millstream_cilk_lower`. The command shows rustc this file as it is,
//! so it stands alone.

/// The rounds of a parallel loop as the race check sees them: side by side. Nothing is run.
pub fn beside<I: IntoIterator>(_: I, _: impl Fn(I::Item) + Sync) {}

/// How floats are gathered: values whose order shows in the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gather {
    /// `x += e`, `x -= e`
    Add,
    /// `x *= e`
    Mul,
    /// `x = x.min(e)`
    Min,
    /// `x = x.max(e)`
    Max,
}

/// What can be gathered in a variable of its own.
pub trait Gathered: Copy {
    /// What changes nothing.
    #[must_use]
    fn nothing(self, how: Gather) -> Self;
    /// Of two values one.
    #[must_use]
    fn join(self, how: Gather, other: Self) -> Self;
}

macro_rules! floats {
    ($($ty:ty)*) => { $(impl Gathered for $ty {
        fn nothing(self, how: Gather) -> Self {
            match how {
                Gather::Add => -0.0,
                Gather::Mul => 1.0,
                Gather::Min | Gather::Max => Self::NAN,
            }
        }

        fn join(self, how: Gather, other: Self) -> Self {
            match how {
                Gather::Add => self + other,
                Gather::Mul => self * other,
                Gather::Min => self.min(other),
                Gather::Max => self.max(other),
            }
        }
    })* };
}

floats!(f32 f64);

/// The rounds of a parallel loop, one after the other, with what they gather added up as devices do it: in pieces of consecutive rounds,
/// and the pieces in parts of sixteen, so that sums of floats have the same bits. `least`: how many rounds a piece has, or more where there are
/// many rounds; 0: one, always.
pub fn rounds<I: IntoIterator, T: Copy>(
    items: I,
    least: usize,
    nothing: T,
    join: impl Fn(T, T) -> T,
    mut round: impl FnMut(I::Item, T) -> T,
) -> T {
    let items = items.into_iter();
    // Ranges and slices say exactly how many they have.
    let count = items.size_hint().0;
    let each = if least == 0 {
        1
    } else {
        (count >> 16).max(least).max((count >> 12).min(32))
    };
    let mut pieces = Vec::with_capacity(count.div_ceil(each));
    for (i, item) in items.enumerate() {
        if i % each == 0 {
            pieces.push(nothing);
        }
        if let Some(piece) = pieces.last_mut() {
            *piece = round(item, *piece);
        }
    }
    parts(&pieces, &join).unwrap_or(nothing)
}

/// Of pieces at most sixteen parts of as many each, and so on in these.
fn parts<T: Copy>(pieces: &[T], join: &impl Fn(T, T) -> T) -> Option<T> {
    match pieces {
        [] => None,
        [one] => Some(*one),
        several => {
            let each = several.len().div_ceil(16);
            let parts = several.chunks(each).filter_map(|part| parts(part, join));
            parts.reduce(join)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_has_the_shape_of_pieces_and_parts() {
        let text = |n: u64, least| {
            let first = |i: u64, piece: u64| if piece == 0 { i } else { piece };
            let last = std::cell::RefCell::new(Vec::new());
            rounds(
                1..=n,
                least,
                0,
                |a, b| {
                    last.borrow_mut().push((a, b));
                    a
                },
                first,
            );
            last.into_inner()
        };
        assert_eq!(text(0, 2), []);
        assert_eq!(text(3, 4), []);
        assert_eq!(text(5, 2), [(1, 3), (1, 5)]);
        assert_eq!(text(3, 0), [(1, 2), (1, 3)]);
        // Nine parts, the first eight of two pieces each.
        let (pairs, all) = (
            (0..8).map(|i| (2 * i + 1, 2 * i + 2)),
            (1..9).map(|i| (1, 2 * i + 1)),
        );
        let mut expected = Vec::new();
        for (i, pair) in pairs.enumerate() {
            expected.push(pair);
            expected.extend(all.clone().nth(i.wrapping_sub(1)).filter(|_| i > 0));
        }
        expected.push((1, 17));
        assert_eq!(text(17, 1), expected);
        let pieces = std::cell::Cell::new(0);
        let sum = |_, piece: u64| {
            pieces.set(pieces.get() + u32::from(piece == 0));
            piece + 1
        };
        assert_eq!(rounds(0..1_000_000u32, 1, 0, |a, b| a + b, sum), 1_000_000);
        assert_eq!(pieces.get(), 1_000_000u32.div_ceil(32));
    }

    #[test]
    fn nothing_changes_nothing() {
        for how in [Gather::Add, Gather::Mul, Gather::Min, Gather::Max] {
            for x in [f32::NEG_INFINITY, -0.0, 0.0, 1.5] {
                assert_eq!(x.join(how, x.nothing(how)).to_bits(), x.to_bits());
                assert_eq!(x.nothing(how).join(how, x).to_bits(), x.to_bits());
            }
        }
    }
}
