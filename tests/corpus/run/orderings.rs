//! `std::cmp::Ordering`: of numbers, tuples, structs and enums, in `match`, by its methods, as value, argument and result, and what closures of `max_by` may say.

#[millstream::program]
pub mod program {
    use std::cmp::Ordering;
    use std::sync::atomic::{self, AtomicU32};

    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    pub enum Suit {
        Clubs,
        Hearts,
    }

    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    pub enum Card {
        Joker,
        Number(u8, Suit),
        King { suit: Suit },
    }

    #[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
    pub struct Point {
        pub x: f32,
        pub y: f32,
    }

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Found {
        pub order: Ordering,
        pub perhaps: Option<Ordering>,
        pub all: [Ordering; 2],
    }

    fn sign(order: Ordering) -> i32 {
        match order {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }
    }

    fn by_tens(a: &i32, b: &i32) -> Ordering {
        (*a / 10).cmp(&(*b / 10))
    }

    #[task]
    pub fn numbers(a: i32, b: i32, x: f32, y: f32) -> [i32; 14] {
        let less = a < b;
        [
            sign(a.cmp(&b)),
            sign((a as u8).cmp(&(b as u8))),
            sign(less.cmp(&true)),
            sign(a.cmp(&b).reverse()),
            sign(a.cmp(&b).then(x.total_cmp(&y))),
            sign((a / 100).cmp(&(b / 100)).then_with(|| a.cmp(&b).reverse())),
            x.partial_cmp(&y).map_or(7, sign),
            x.total_cmp(&y) as i32,
            (a, x).partial_cmp(&(b, y)).map_or(8, |o| o as i32),
            a.partial_cmp(&3).unwrap() as i32,
            match a.cmp(&b) {
                Ordering::Less | Ordering::Equal if a == 3 => 5,
                Ordering::Equal => 6,
                other => sign(other) * 100,
            },
            a.cmp(&b).is_lt() as i32 + 2 * a.cmp(&b).is_ge() as i32 + 4 * a.cmp(&b).is_ne() as i32,
            (a.cmp(&b) == Ordering::Less) as i32,
            (a.cmp(&b) < b.cmp(&a)) as i32,
        ]
    }

    #[task]
    pub fn parts(a: Card, b: Card, p: Point, q: Point) -> Found {
        Found {
            order: a.cmp(&b),
            perhaps: p.partial_cmp(&q),
            all: [(a, 3).cmp(&(b, 4)), Suit::Clubs.cmp(&Suit::Hearts)],
        }
    }

    #[task]
    pub fn turned(found: Found, order: Ordering) -> (Found, bool) {
        let mut next = found;
        next.order = order.reverse();
        next.perhaps = next.perhaps.map(|o| o.reverse());
        next.all[1] = found.order.then(order);
        (next, found.all[0].is_eq())
    }

    impl Card {
        fn against(self, other: Self) -> Ordering {
            match (self, other) {
                (Card::Joker, Card::Joker) => Ordering::Equal,
                (Card::Joker, _) => Ordering::Greater,
                (_, Card::Joker) => Ordering::Less,
                _ => self.cmp(&other),
            }
        }
    }

    #[task]
    pub fn chosen(a: &[i32], b: [(u8, f32); 4]) -> (Option<i32>, Option<i32>, usize, usize, i32) {
        let far = a.iter().copied().max_by(|x, y| x.abs().cmp(&y.abs()).then(x.cmp(y)));
        let near = a.iter().copied().min_by(by_tens);
        let first = (0..b.len()).max_by(|&i, &j| b[i].0.cmp(&b[j].0).then_with(|| b[j].1.total_cmp(&b[i].1)));
        let last = (0..b.len()).min_by(|&i, &j| {
            let by = b[i].1.total_cmp(&b[j].1);
            if by.is_eq() { b[i].0.cmp(&b[j].0) } else { by }
        });
        let ups = a.windows(2).filter(|w| w[0].cmp(&w[1]) == Ordering::Less).count();
        (far, near, first.unwrap_or(99), last.unwrap_or(99), ups as i32)
    }

    #[task]
    pub fn find(sorted: &[i32], x: i32, probes: &AtomicU32) -> Result<usize, usize> {
        let (mut low, mut high) = (0, sorted.len());
        while low < high {
            let middle = (low + high) / 2;
            probes.fetch_add(1, atomic::Ordering::Relaxed);
            match sorted[middle].cmp(&x) {
                Ordering::Equal => return Ok(middle),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        Err(low)
    }

    #[task]
    pub fn cards(a: Card, b: Card) -> [Ordering; 2] {
        [a.against(b), b.against(a)]
    }
}

millstream_tests::cases! {
    numbers(3, 4, 1.0, 2.0);
    numbers(4, 3, 1.0, 1.0);
    numbers(250, 250, 0.0, -0.0);
    numbers(-3, 260, f32::NAN, 2.0);
    parts(program::Card::Number(3, program::Suit::Clubs), program::Card::Number(3, program::Suit::Hearts), program::Point { x: 1.0, y: 2.0 }, program::Point { x: 1.0, y: 1.0 });
    parts(program::Card::King { suit: program::Suit::Clubs }, program::Card::Joker, program::Point { x: f32::NAN, y: 2.0 }, program::Point { x: 1.0, y: 1.0 });
    parts(program::Card::Joker, program::Card::Joker, program::Point { x: 1.0, y: 2.0 }, program::Point { x: 1.0, y: f32::NAN });
    turned(program::Found { order: std::cmp::Ordering::Equal, perhaps: Some(std::cmp::Ordering::Less), all: [std::cmp::Ordering::Equal, std::cmp::Ordering::Less] }, std::cmp::Ordering::Greater);
    turned(program::Found { order: std::cmp::Ordering::Less, perhaps: None, all: [std::cmp::Ordering::Less, std::cmp::Ordering::Less] }, std::cmp::Ordering::Equal);
    chosen(&[3, -9, 9, 25, -25, 4], [(1, 2.0), (3, 0.5), (3, -0.5), (3, -0.0)]);
    chosen(&[], [(1, 2.0), (1, 2.0), (0, f32::NAN), (1, -2.0)]);
    find(&[1, 4, 9, 16], 9, &std::sync::atomic::AtomicU32::new(0));
    find(&[1, 4, 9, 16], 10, &std::sync::atomic::AtomicU32::new(0));
    cards(program::Card::Joker, program::Card::King { suit: program::Suit::Hearts });
    cards(program::Card::Number(2, program::Suit::Hearts), program::Card::King { suit: program::Suit::Clubs });
}
