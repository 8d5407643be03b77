//! `for` over references to a type of the program's, iterators of its own that are taken from behind, and closures that give iterators.
#[millstream::program]
pub mod program {
    #[derive(Clone, Copy)]
    struct Bag<T, const N: usize> {
        items: [T; N],
        len: usize,
    }

    impl<'a, T, const N: usize> IntoIterator for &'a Bag<T, N> {
        type Item = &'a T;
        type IntoIter = std::slice::Iter<'a, T>;

        fn into_iter(self) -> Self::IntoIter {
            self.items[..self.len].iter()
        }
    }

    impl<'a, T, const N: usize> IntoIterator for &'a mut Bag<T, N> {
        type Item = &'a mut T;
        type IntoIter = std::slice::IterMut<'a, T>;

        fn into_iter(self) -> Self::IntoIter {
            self.items[..self.len].iter_mut()
        }
    }

    struct Bits(u64);

    struct Set<'a> {
        bits: &'a Bits,
        left: u64,
    }

    impl Iterator for Set<'_> {
        type Item = u32;

        fn next(&mut self) -> Option<u32> {
            let bit = self.left.trailing_zeros();
            (bit < 64).then(|| {
                self.left &= self.left - 1;
                bit
            })
        }

        fn size_hint(&self) -> (usize, Option<usize>) {
            let count = self.left.count_ones() as usize;
            (count, Some(count))
        }
    }

    impl DoubleEndedIterator for Set<'_> {
        fn next_back(&mut self) -> Option<u32> {
            let bit = self.left.checked_ilog2()?;
            self.left ^= 1 << bit;
            Some(bit)
        }
    }

    impl ExactSizeIterator for Set<'_> {}

    impl<'a> IntoIterator for &'a Bits {
        type Item = u32;
        type IntoIter = Set<'a>;

        fn into_iter(self) -> Set<'a> {
            Set { bits: self, left: self.0 }
        }
    }

    fn sum(bag: &Bag<u32, 6>) -> u32 {
        let mut all = 0;
        for x in bag {
            all += x;
        }
        all
    }

    #[task]
    pub fn subsets(set: u64) -> u64 {
        let bits = Bits(set);
        let mut all = 1;
        for bit in &bits {
            all += spawn!(subsets(set & ((1 << bit) - 1)));
        }
        sync!();
        all
    }

    #[task]
    pub fn bags(n: u32, set: u64) -> (u32, u32, u32, u32) {
        let mut bag = Bag { items: [n, 2, 3, n + 1, 5, 6], len: 5 };
        for x in &mut bag {
            *x *= 2;
        }
        let again = &bag;
        let weighed = again.into_iter().enumerate().map(|(i, x)| i as u32 * x).sum();
        let bits = Bits(set);
        let mut ends = (&bits).into_iter();
        let outer = (ends.next(), ends.next_back());
        let turned = (&bits).into_iter().filter(|bit| bit % 2 == 0).map(|bit| bit + 1).rev().fold(0, |all, bit| all * 3 + bit);
        let held = ends.bits.0 as u32;
        let between = match outer {
            (Some(first), Some(last)) => last - first + ends.count() as u32,
            _ => held,
        };
        (sum(again), weighed, turned, between)
    }

    /// A closure gives the neighbours of a place, and one all of two arrays.
    #[task]
    pub fn given(cells: &[u32], width: usize) -> (u32, u64) {
        let height = cells.len() / width;
        let around = |x: usize, y: usize| {
            let (xs, ys) = (x.saturating_sub(1)..(x + 2).min(width), y.saturating_sub(1)..(y + 2).min(height));
            ys.flat_map(move |j| xs.clone().map(move |i| (i, j))).filter(move |&at| at != (x, y)).map(move |(i, j)| j * width + i)
        };
        let lows = (0..cells.len()).filter(|&at| around(at % width, at / width).all(|other| cells[at] <= cells[other])).count();
        let mut corner = 0;
        for at in around(0, 0) {
            corner = corner * 10 + u64::from(cells[at]);
        }
        let (first, last) = cells.split_at(cells.len() / 2);
        let all = || last.iter().chain(first).copied();
        let turned = all().zip(all().skip(1).chain(std::iter::once(last[0]))).map(|(a, b)| u64::from(a * b)).sum::<u64>();
        (lows as u32, corner * 1000 + turned)
    }

    trait Shape {
        fn area(&self) -> u32;

        fn twice(&self) -> u32 {
            self.area() * 2
        }
    }

    #[derive(Clone, Copy)]
    struct Square(u32);

    struct Both<A, B>(A, B);

    impl Shape for Square {
        fn area(&self) -> u32 {
            self.0 * self.0
        }
    }

    impl<A: Shape, B: Shape> Shape for Both<A, B> {
        fn area(&self) -> u32 {
            self.0.area() + self.1.twice()
        }
    }

    fn square(n: u32) -> impl Shape + Copy {
        if n > 3 {
            return Square(n + 1);
        }
        Square(n)
    }

    fn both(n: u32) -> impl Shape {
        Both(square(n), Both(Square(1), square(2)))
    }

    fn areas(shape: &impl Shape, times: u32) -> u32 {
        (0..times).map(|i| shape.area() + i).sum()
    }

    #[task]
    pub fn opaque(n: u32) -> (u32, u32) {
        let one = square(n);
        let copy = one;
        (one.area() + copy.twice(), areas(&both(n), 3) + areas(&square(1), 2))
    }
}
millstream_tests::cases! {
    subsets(0b1011_0010);
    bags(4, 0b1011_0110);
    bags(1, 0);
    given(&vec![3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8], 4);
    opaque(3);
    opaque(4);
}
