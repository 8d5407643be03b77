//! `impl PartialEq`, `PartialOrd` and `Ord` of the program's types: by operators, by methods and paths, in what holds such types, in slices' methods, chains and generics.

#[millstream::program]
pub mod program {
    use std::cmp::Ordering;

    /// The cheapest is the greatest, as a heap wants it; equal is what is the same all over.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct State {
        pub cost: u32,
        pub node: u32,
        pub tag: u32,
    }

    impl Ord for State {
        fn cmp(&self, o: &Self) -> Ordering {
            o.cost.cmp(&self.cost).then_with(|| self.node.cmp(&o.node))
        }
    }

    impl PartialOrd for State {
        fn partial_cmp(&self, o: &Self) -> Option<Ordering> {
            Some(self.cmp(o))
        }
    }

    /// Floats with an order.
    #[derive(Clone, Copy, Debug)]
    pub struct Weight {
        pub of: f32,
        pub id: u32,
    }

    impl PartialEq for Weight {
        fn eq(&self, other: &Self) -> bool {
            self.cmp(other) == Ordering::Equal
        }
    }
    impl Eq for Weight {}
    impl PartialOrd for Weight {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(Ord::cmp(self, other))
        }
    }
    impl Ord for Weight {
        fn cmp(&self, other: &Self) -> Ordering {
            self.of.total_cmp(&other.of)
        }
    }

    /// What is zero has no value, and must not be asked.
    #[derive(Clone, Copy, Debug)]
    pub struct Ratio(pub i32, pub i32);

    impl PartialEq for Ratio {
        fn eq(&self, Ratio(n, d): &Ratio) -> bool {
            assert!(self.1 != 0 && *d != 0);
            self.0 * d == n * self.1
        }
    }
    impl std::cmp::PartialOrd for Ratio {
        fn partial_cmp(&self, other: &Ratio) -> Option<Ordering> {
            assert!(self.1 != 0 && other.1 != 0);
            if self.1 < 0 || other.1 < 0 {
                return None;
            }
            (self.0 * other.1).partial_cmp(&(other.0 * self.1))
        }
    }
    impl PartialEq<i32> for Ratio {
        fn eq(&self, other: &i32) -> bool {
            *self == Ratio(*other, 1)
        }
    }
    impl PartialOrd<i32> for Ratio {
        fn partial_cmp(&self, other: &i32) -> Option<Ordering> {
            self.partial_cmp(&Ratio(*other, 1))
        }
    }
    impl PartialEq<Ratio> for i32 {
        fn eq(&self, other: &Ratio) -> bool {
            other == self
        }
    }

    #[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
    pub enum Shape {
        Nothing,
        One(Ratio),
        Two { a: Ratio, n: u8, b: Ratio },
    }

    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    pub struct Entry {
        pub class: u8,
        pub state: State,
        pub last: u8,
    }

    /// The suit is not looked at.
    #[derive(Clone, Copy, Debug)]
    pub enum Card {
        Joker,
        Number(u8, bool),
        King,
    }

    impl Card {
        fn rank(self) -> u8 {
            match self {
                Card::Joker => 0,
                Card::Number(n, _) => n,
                Card::King => 100,
            }
        }
    }
    impl PartialEq for Card {
        fn eq(&self, other: &Self) -> bool {
            matches!(self.cmp(other), Ordering::Equal)
        }
        fn ne(&self, other: &Self) -> bool {
            self.rank() != other.rank()
        }
    }
    impl Eq for Card {}
    impl PartialOrd for Card {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            other.rank().partial_cmp(&self.rank()).map(Ordering::reverse)
        }
        fn lt(&self, other: &Self) -> bool {
            self.rank() < other.rank()
        }
    }
    impl Ord for Card {
        fn cmp(&self, other: &Self) -> Ordering {
            self.rank().cmp(&other.rank())
        }
        fn max(self, other: Self) -> Self {
            if self > other { self } else { other }
        }
    }

    /// The other way round.
    #[derive(Clone, Copy, Debug)]
    struct Turned<T>(T);

    impl<T: PartialEq> PartialEq for Turned<T> {
        fn eq(&self, other: &Self) -> bool {
            self.0 == other.0
        }
    }
    impl<T: Eq> Eq for Turned<T> {}
    impl<T: PartialOrd> PartialOrd for Turned<T> {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            other.0.partial_cmp(&self.0)
        }
    }
    impl<T: Ord> Ord for Turned<T> {
        fn cmp(&self, other: &Self) -> Ordering {
            other.0.cmp(&self.0)
        }
    }

    fn largest<T: Ord + Copy>(of: &[T]) -> T {
        let mut best = of[0];
        for &x in of {
            best = best.max(x);
        }
        best
    }
    fn least<T: PartialOrd + Copy>(of: &[T]) -> T {
        let mut best = of[0];
        for x in of {
            if *x < best {
                best = *x;
            }
        }
        best
    }
    fn count<T: PartialEq>(of: &[T], x: &T) -> usize {
        of.iter().filter(|y| *y == x).count()
    }
    fn sign(order: Ordering) -> i32 {
        order as i32
    }

    /// A heap of what has an order.
    #[derive(Clone, Copy)]
    struct Heap<T> {
        of: [T; 16],
        len: usize,
    }
    impl<T: Ord + Copy> Heap<T> {
        fn push(&mut self, x: T) {
            let mut at = self.len;
            self.of[at] = x;
            self.len += 1;
            while at > 0 && self.of[(at - 1) / 2] < self.of[at] {
                self.of.swap((at - 1) / 2, at);
                at = (at - 1) / 2;
            }
        }
        fn pop(&mut self) -> Option<T> {
            if self.len == 0 {
                return None;
            }
            self.len -= 1;
            let top = self.of[0];
            self.of[0] = self.of[self.len];
            let mut at = 0;
            loop {
                let mut child = 2 * at + 1;
                if child >= self.len {
                    return Some(top);
                }
                if child + 1 < self.len && self.of[child + 1].cmp(&self.of[child]).is_gt() {
                    child += 1;
                }
                if self.of[child] <= self.of[at] {
                    return Some(top);
                }
                self.of.swap(at, child);
                at = child;
            }
        }
    }

    fn state(n: u32) -> State {
        State { cost: n * 7 % 5, node: n * 3 % 4, tag: n }
    }

    #[task]
    pub fn states(a: State, b: State) -> [i32; 20] {
        let pair = |x: bool, y: bool| 2 * x as i32 + y as i32;
        [
            pair(a == b, a != b),
            pair(a < b, a <= b),
            pair(a > b, a >= b),
            sign(a.cmp(&b)),
            a.partial_cmp(&b).map_or(9, sign),
            a.max(b).tag as i32,
            a.min(b).tag as i32,
            std::cmp::max(a, b).tag as i32,
            Ord::min(a, b).tag as i32,
            sign(Ord::cmp(&a, &b)),
            sign(State::cmp(&b, &a)),
            sign(<State as Ord>::cmp(&a, &b)),
            pair(a.lt(&b), a.eq(&b)),
            pair((a, 1) < (b, 2), (2, a) >= (2, b)),
            sign((a, 1).cmp(&(b, 2))),
            sign([a, b].cmp(&[b, a])),
            pair(Some(a) > Some(b), Some(a) > None),
            sign(Some(a).cmp(&Some(b))),
            a.clamp(state(2), state(1)).tag as i32,
            pair(&a < &b, [a, a] == [a, b]),
        ]
    }

    #[task]
    pub fn entries(a: Entry, b: Entry) -> (Ordering, Option<Ordering>, [bool; 5], Entry) {
        (a.cmp(&b), a.partial_cmp(&b), [a < b, a <= b, a == b, a > b, a >= b], a.max(b))
    }

    #[task]
    pub fn shapes(a: Shape, b: Shape, r: Ratio) -> ([bool; 12], Option<Ordering>, Option<Ordering>) {
        let all = [
            a == b,
            a != b,
            a < b,
            a <= b,
            a > b,
            a >= b,
            Shape::One(r) == a,
            Some(r) == None,
            Ok(r) == Err::<Ratio, bool>(true),
            Some(Some(r)) >= Some(None),
            Err::<u8, Ratio>(r) > Ok(3),
            r == 2 || 2 == r || r < 3 || r.ge(&4),
        ];
        (all, a.partial_cmp(&b), (r, 1).partial_cmp(&(Ratio(1, -2), 2)))
    }

    #[task]
    pub fn cards(a: Card, b: Card) -> ([bool; 6], u8, u8, Ordering, [bool; 3]) {
        let all = [a == b, a != b, a < b, a <= b, a > b, a >= b];
        let held = [Some(a) == Some(b), (a, 1) == (b, 1), [a; 3] != [b; 3]];
        (all, a.max(b).rank(), a.min(b).rank(), (a, b).cmp(&(b, a)), held)
    }

    #[task]
    pub fn weights(of: &[f32], x: f32) -> (bool, [u32; 8], Option<usize>, bool) {
        let weight = |of: f32, id: u32| Weight { of, id };
        let mut all = [weight(0.0, 9); 8];
        for (i, &of) in of.iter().enumerate().take(8) {
            all[i] = weight(of, i as u32);
        }
        let has = all.contains(&weight(x, 77));
        let most = all.iter().max().unwrap().id;
        let least = all.iter().min().map_or(0, |w| w.id);
        let by = all.iter().max_by(|a, b| a.cmp(b)).unwrap().id;
        let by_key = all.iter().min_by_key(|w| Turned(**w)).unwrap().id;
        let at = all.iter().position(|w| *w == weight(x, 0));
        let starts = all.starts_with(&[weight(x, 5)]) || &all[1..] < &all[..3];
        // What is equal stays in its order.
        all.sort();
        let found = all.binary_search(&weight(x, 1)).unwrap_or(99) as u32;
        assert!(all.is_sorted());
        assert_eq!(all[0], all[0].min(all[7]));
        let ids = [most, least, by, by_key, all[0].id, all[1].id, all[7].id, found];
        (has, ids, at, starts)
    }

    #[task]
    pub fn generics(n: u32) -> (State, u32, State, Turned3, usize, u64) {
        let all = [state(n), state(n + 1), state(n + 2), state(n + 3)];
        let turned = [Turned(n % 3), Turned(n % 2), Turned(1)];
        let most = largest(&[Turned(all[0]), Turned(all[1]), Turned(all[2])]);
        let mut heap = Heap { of: [state(0); 16], len: 0 };
        for i in 0..12 {
            heap.push(state(n + i));
        }
        let mut order = 0;
        while let Some(s) = heap.pop() {
            order = order * 16 + s.tag as u64 % 16;
        }
        let three = Turned3 { least: least(&all).tag, most: most.0.tag, turned: largest(&turned).0 };
        (largest(&all), all.iter().max().unwrap().tag, *all.iter().min().unwrap(), three, count(&turned, &Turned(1)), order)
    }

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Turned3 {
        pub least: u32,
        pub most: u32,
        pub turned: u32,
    }

    /// Not asked of a reference, which has Rust's.
    #[derive(Clone, Copy, PartialEq)]
    struct Always(u32);
    impl Always {
        fn eq(self, _other: &Always) -> bool {
            true
        }
    }

    /// `cmp` is the program's, `<` is derived: Rust does not mind.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Debug)]
    pub struct Odd(pub u32);
    impl Ord for Odd {
        fn cmp(&self, other: &Self) -> Ordering {
            other.0.cmp(&self.0)
        }
    }

    #[task]
    pub fn odd(n: u32) -> ([bool; 4], [u32; 4], [Ordering; 4]) {
        let (e, f) = (Always(n), Always(2));
        let s = &e;
        let mut of = [Odd(n), Odd(3), Odd(2)];
        let (most, least) = (*of.iter().max().unwrap(), of.iter().copied().min().unwrap());
        let by_key = of.iter().max_by_key(|x| **x).unwrap().0;
        let orders = [of[0].cmp(&of[1]), of.cmp(&[Odd(n); 3]), (1, of[0]).cmp(&(1, of[2])), Some(of[2]).cmp(&None)];
        of.sort_by(|a, b| a.cmp(b));
        ([s.eq(&f), e.eq(&f), e == f, of[0] < of[1]], [most.0, least.0, by_key, of[0].0], orders)
    }

    #[task]
    pub fn cheapest(from: u32, to: u32) -> State {
        if to - from == 1 {
            return state(from);
        }
        let a = spawn!(cheapest(from, (from + to) / 2));
        let b = spawn!(cheapest((from + to) / 2, to));
        sync!();
        a.max(b)
    }
}

use program::{Card, Entry, Ratio, Shape, State};

const A: State = State { cost: 3, node: 1, tag: 5 };
const B: State = State { cost: 3, node: 1, tag: 6 };
const C: State = State { cost: 4, node: 1, tag: 7 };
const LONG: Shape = Shape::Two { a: Ratio(2, 4), n: 3, b: Ratio(1, 1) };

millstream_tests::cases! {
    states(A, B);
    states(A, A);
    states(C, A);
    states(B, C);
    entries(Entry { class: 1, state: A, last: 2 }, Entry { class: 1, state: B, last: 1 });
    entries(Entry { class: 1, state: A, last: 2 }, Entry { class: 1, state: C, last: 3 });
    entries(Entry { class: 2, state: A, last: 2 }, Entry { class: 1, state: A, last: 2 });
    shapes(Shape::Nothing, Shape::Nothing, Ratio(2, 1));
    shapes(Shape::One(Ratio(1, 2)), Shape::One(Ratio(2, 4)), Ratio(4, 8));
    shapes(LONG, Shape::Two { a: Ratio(1, 2), n: 3, b: Ratio(3, 2) }, Ratio(7, 1));
    shapes(LONG, Shape::Two { a: Ratio(1, 2), n: 3, b: Ratio(-1, -1) }, Ratio(7, -1));
    shapes(Shape::One(Ratio(9, 2)), LONG, Ratio(9, 2));
    cards(Card::Joker, Card::Number(0, true));
    cards(Card::Number(3, true), Card::Number(3, false));
    cards(Card::King, Card::Number(7, false));
    weights(&[1.0, 3.0, 2.0, 3.0, -1.0, 0.5, -1.0, 2.5], 3.0);
    weights(&[0.0, -0.0, f32::NAN], -0.0);
    generics(0);
    generics(5);
    odd(1);
    odd(9);
    cheapest(0, 40);
}
