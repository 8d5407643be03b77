//! `Option`: as values, arguments and results, in structs, arrays and tuples, in patterns, and what its methods make of it.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Debug, Default)]
    pub enum Kind {
        #[default]
        Plain,
        Rare,
    }

    #[derive(Clone, Copy, PartialEq, Debug, Default)]
    pub struct Stone {
        pub kind: Kind,
        pub worth: Option<f32>,
        pub next: Option<u16>,
    }

    const NOWHERE: Option<u32> = None;
    const HOME: Option<u32> = Some(7);

    fn find(a: &[u32], x: u32) -> Option<usize> {
        for i in 0..a.len() {
            if a[i] == x {
                return Some(i);
            }
        }
        None
    }

    fn halved(x: u32) -> Option<u32> {
        if x % 2 == 0 { Some(x / 2) } else { None }
    }

    fn counted(calls: &mut u32) -> u32 {
        *calls += 1;
        *calls
    }

    fn eighth(x: u32) -> Option<u32> {
        let x = halved(x)?;
        let x = halved(x)?;
        halved(x)
    }

    /// The sum of what three places hold; none if there is no such place.
    fn three(a: &[u32], at: usize) -> Option<u32> {
        let first = a.get(at)?;
        Some(*first + a.get(at + 1)? + *a.get(at + 2)?)
    }

    /// A child's result.
    #[task]
    pub fn search(a: &[u32], x: u32, from: usize) -> Option<usize> {
        if a.len() <= 2 {
            return find(a, x).map(|i| i + from);
        }
        let (low, high) = a.split_at(a.len() / 2);
        let left = spawn!(search(low, x, from));
        let right = spawn!(search(high, x, from + low.len()));
        sync!();
        if let Some(i) = left { Some(i) } else { right }
    }

    #[task]
    pub fn asks(a: &[u32], x: u32) -> (u64, bool) {
        let at = spawn!(search(a, x, 0));
        let mut all = [None; 3];
        for i in 0..3 {
            all[i] = spawn!(search(a, i as u32, 10));
        }
        sync!();
        let mut sum = 0;
        for found in all {
            sum = 100 * sum + found.map_or(99, |i| i as u64);
        }
        let Some(at) = at else {
            return (sum, false);
        };
        (sum + at as u64, all[0] == all[1] || all.contains(&None))
    }

    /// Arguments and results by value.
    #[task]
    pub fn passed(limit: Option<u32>, pair: (Option<bool>, i8), stone: Stone) -> (Option<(u32, i8)>, Option<Stone>, Stone) {
        let next = match (limit, stone.next) {
            (Some(0), _) | (None, Some(3)) => None,
            (Some(x), Some(y)) if x > 4 => Some(y + 1),
            (Some(_), y) => y,
            (None, y @ Some(1..=9)) => y,
            (None, _) => Some(77),
        };
        let worth = stone.worth.filter(|w| *w > 1.0).or(Some(0.5));
        let kept = match pair.0 {
            Some(true) => Some(Stone { worth, ..stone }),
            Some(false) => None,
            None => Some(Stone::default()),
        };
        (limit.map(|x| (x, pair.1)), kept, Stone { next, ..stone })
    }

    #[task]
    pub fn methods(a: &[u32], x: u32) -> ([u32; 8], [bool; 8], Option<u32>, u32) {
        let some = halved(x);
        let mut kept = some;
        let taken = kept.take();
        let old = kept.replace(x);
        let mut best: Option<u32> = None;
        for &y in a {
            if best.is_none_or(|b| y > b) {
                best = Some(y);
            }
        }
        let mut calls = 0;
        let given = some.unwrap_or(counted(&mut calls)) + HOME.map_or(counted(&mut calls), |y| y);
        (
            [
                some.unwrap_or(1),
                some.unwrap_or_default(),
                some.unwrap_or_else(|| x + 1),
                some.map_or(3, |y| y * 2),
                some.and_then(halved).unwrap_or(4),
                some.and_then(|y| halved(y + 1)).unwrap_or(5),
                best.expect("there is one"),
                taken.or(HOME).unwrap(),
            ],
            [
                some.is_some(),
                some.is_none(),
                some == Some(3),
                some != NOWHERE,
                some.is_some_and(|y| y > 2),
                kept == old,
                matches!(some, Some(1..=4)),
                eighth(x) == Some(2),
            ],
            eighth(x).or_else(|| halved(x)).filter(|y| y % 3 != 0),
            10 * given + calls,
        )
    }

    /// What searches give, where it is not asked at once.
    #[task]
    pub fn searches(a: &[u32], x: u32) -> (Option<usize>, Option<u32>, Option<u32>, u32, Option<(u32, usize)>) {
        let at = a.iter().position(|y| *y == x);
        let most = a.iter().max();
        let first = a.first().copied();
        let sum = x.checked_add(u32::MAX - 4);
        let parts = a.split_first();
        let mut left = a.iter().filter(|y| **y > 2).count();
        let mut odd = a.iter().copied().find(|y| y % 2 == 1);
        while let Some(y) = odd {
            left += y as usize;
            odd = a.iter().copied().find(|z| z % 2 == 1 && *z > y);
        }
        let more = match most {
            Some(&m) if m > 8 => 8,
            Some(m) => *m,
            None => 0,
        };
        let split = if let Some((one, rest)) = parts { Some((*one, rest.len() + left)) } else { None };
        (at, most.copied(), sum.or(first), more + three(a, 1).unwrap_or(1000), split)
    }

    /// In each other, and of nothing.
    #[task]
    pub fn nested(n: u32) -> (Option<Option<u32>>, Option<()>, [Option<[u8; 3]>; 2], u32) {
        let inner = if n > 2 { Some(halved(n)) } else { None };
        let unit = if n > 3 { Some(()) } else { None };
        let arrays = [Some([n as u8; 3]), if n == 4 { None } else { Some([1, 2, 3]) }];
        let what = match inner {
            None => 1,
            Some(None) => 2,
            Some(Some(2)) => 3,
            Some(Some(x)) => 4 + x,
        };
        let [a, b] = arrays;
        let same = a == b || Some([4; 3]) == a;
        let mut slots = [NOWHERE; 4];
        slots[n as usize % 4] = Some(n);
        let free = slots.iter().filter(|s| s.is_none()).count() as u32;
        let all: u32 = slots.iter().map(|s| s.unwrap_or(1)).sum();
        (inner, unit, arrays, what + if same { 1000 } else { 0 } + 100 * free + 10 * all)
    }

    /// Through references.
    #[task]
    pub fn behind(n: u32) -> (Option<u32>, u32, Stone) {
        let mut place = Some(n);
        change(&mut place, n);
        let mut stone = Stone { kind: Kind::Rare, worth: Some(1.5), next: None };
        if let Some(w) = stone.worth {
            stone.worth = halved(n).map(|h| w + h as f32);
        }
        std::mem::swap(&mut place, &mut Some(n + 1));
        (place, looked(&place) + looked(&None), stone)
    }

    fn change(place: &mut Option<u32>, n: u32) {
        if n > 3 {
            *place = None;
        }
        if place.is_some() {
            *place = place.map(|x| x + 1);
        }
    }

    fn looked(place: &Option<u32>) -> u32 {
        match place {
            Some(x) if *x > 100 => 1,
            Some(x) => *x,
            None => 50,
        }
    }

    #[task]
    pub fn best(costs: &[f32], limit: Option<f32>, at: usize) -> Option<(usize, f32)> {
        if costs.len() == 1 {
            return if limit.is_none_or(|l| costs[0] < l) { Some((at, costs[0])) } else { None };
        }
        let (low, high) = costs.split_at(costs.len() / 2);
        let (a, b) = (spawn!(best(low, limit, at)), spawn!(best(high, limit, at + low.len())));
        sync!();
        match (a, b) {
            (Some(x), Some(y)) => Some(if y.1 < x.1 { y } else { x }),
            (found, None) | (None, found) => found,
        }
    }
}

millstream_tests::cases! {
    search(&[5, 6, 7, 8, 9], 8, 0);
    search(&[5, 6, 7, 8, 9], 4, 0);
    asks(&[5, 1, 0, 8, 9], 9);
    asks(&[5, 1, 0, 8, 9], 3);
    passed(Some(5), (Some(true), -3), program::Stone { kind: program::Kind::Rare, worth: Some(2.5), next: Some(9) });
    passed(Some(0), (None, 4), program::Stone { kind: program::Kind::Rare, worth: Some(0.5), next: None });
    passed(None, (Some(false), 4), program::Stone { kind: program::Kind::Plain, worth: None, next: Some(3) });
    methods(&[3, 9, 2], 16);
    methods(&[3], 5);
    methods(&[3], 6);
    searches(&[3, 9, 2, 5], 2);
    searches(&[], 2);
    searches(&[4], 9);
    nested(1);
    nested(3);
    nested(4);
    nested(8);
    behind(2);
    behind(8);
    best(&[3.0, 1.5, 2.0, 1.5, 8.0], None, 0);
    best(&[3.0, 1.5, 2.0, 1.5, 8.0], Some(1.0), 0);
}
