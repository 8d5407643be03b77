//! `Option` beside the rest of the language: of references, in methods, closures, loops side by side and kernels' helpers, and where a program has a `None` of its own.

#[millstream::program(checked)]
pub mod program {
    use std::sync::atomic::{AtomicU32, Ordering};
    use Side::*;

    #[derive(Clone, Copy, PartialEq, Debug, Default)]
    pub enum Side {
        #[default]
        None,
        Left,
    }

    #[derive(Clone, Copy, PartialEq, Debug, Default)]
    pub struct Point {
        pub x: f64,
        pub y: f64,
    }

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Queue {
        pub items: [Option<u32>; 4],
        pub last: Option<Point>,
    }

    type Found<'a> = Option<(&'a [u32], usize)>;

    const START: Queue = Queue { items: [Option::None; 4], last: Some(Point { x: 1.0, y: 2.0 }) };

    impl Queue {
        fn push(&mut self, x: u32) -> Option<usize> {
            let at = self.items.iter().position(|item| item.is_none())?;
            self.items[at] = Some(x);
            Some(at)
        }

        fn pop(&mut self) -> Option<u32> {
            for item in self.items.iter_mut() {
                if let Some(x) = *item {
                    *item = Option::None;
                    return Some(x);
                }
            }
            Option::None
        }

        fn reach(&self) -> Option<f64> {
            self.last.map(|p| (p.x * p.x + p.y * p.y).sqrt())
        }
    }

    fn side(x: u32) -> Side {
        if x > 3 { Left } else { None }
    }

    fn least(a: &[u32]) -> Option<&u32> {
        a.iter().min()
    }

    fn run(a: &[u32], above: u32) -> Found<'_> {
        let start = a.iter().position(|&x| x > above)?;
        let rest = &a[start..];
        let len = rest.iter().position(|&x| x <= above).unwrap_or(rest.len());
        Some((&rest[..len], start))
    }

    fn changed(a: &mut [u32], at: usize) -> Option<&mut u32> {
        if at < a.len() { Some(&mut a[at]) } else { Option::None }
    }

    fn double(x: u32) -> u32 {
        2 * x
    }

    #[task]
    pub fn queues(n: u32) -> (Queue, u32, Option<f64>, Option<usize>) {
        let mut queue = START;
        for i in 0..n {
            if queue.push(i * i).is_none() {
                break;
            }
        }
        let mut sum = 0;
        while let Some(x) = queue.pop() {
            sum += x + 1;
        }
        let last = queue.push(n);
        let reach = queue.reach().filter(|&r| r > 1.0);
        (queue, sum, reach, last)
    }

    #[task]
    pub fn references(a: &[u32], above: u32) -> (u32, Option<u32>, usize, u32) {
        let least = least(a);
        let mut own = [1, 2, 3];
        if let Some(x) = changed(&mut own, above as usize) {
            *x = 50;
        }
        let found = match run(a, above) {
            Some((run, at)) if run.len() > 1 => run.len() * 100 + at,
            Some((run, 1..=3)) => run[0] as usize,
            Some(_) => 7,
            Option::None => 3,
        };
        let Some(&x) = least else {
            return (own[0], Option::None, found, 0);
        };
        (x, least.map(|x| double(*x)), found, own.iter().sum::<u32>() + own[1])
    }

    #[task]
    pub fn patterns(a: Option<u32>, b: Option<i8>, p: Option<Point>) -> [i64; 8] {
        let close = |x: Option<u32>, y: u32| x.is_some_and(|x| x.abs_diff(y) < 2);
        let one = match (a, b) {
            (Some(1 | 2), Some(-3..=3)) => 1,
            (Some(n @ 3..=9), _) => n as i64,
            (Option::None | Some(0), Option::None) => 2,
            (Option::None, Some(y)) => y as i64,
            (Some(_), Some(i8::MIN..=-1)) => 4,
            (Some(x), _) => x as i64 + 100,
        };
        let two = if let (Some(x), Some(y)) = (a, b) { x as i64 * y as i64 } else { -1 };
        let three = match p {
            Some(Point { x, .. }) if x > 4.0 => x as i64,
            Some(q @ Point { y, .. }) => (q.x + y) as i64,
            Option::None => -9,
        };
        let four = matches!((side(one as u32), p), (Left, Some(_))) as i64;
        let five = match side(a.unwrap_or_default()) {
            None => 1,
            Left => 2,
        };
        let six = 'found: {
            let Some(x) = a else { break 'found -2 };
            let (Some(y), true) = (b, x > 1) else { break 'found -3 };
            y as i64
        };
        let seven = close(a, 3) as i64 + 2 * close(b.map(|y| y.unsigned_abs() as u32), 3) as i64;
        let eight = a.map(double).map(u64::from).and_then(|x| x.checked_sub(4)).map_or_else(|| -4, |x| x as i64);
        [one, two, three, four, five, six, seven, eight]
    }

    /// Loops side by side, whose rounds have an `Option` each.
    #[task]
    pub fn rounds(a: &[u32], limit: Option<u32>, out: &mut [u32], seen: &AtomicU32) -> (u32, u64) {
        let (mut count, mut sum) = (0, 0u64);
        #[parallel]
        for (x, y) in a.iter().zip(out.iter_mut()) {
            let kept = limit.and_then(|l| if *x < l { Some(*x) } else { Option::None });
            let Some(kept) = kept else {
                seen.fetch_add(1, Ordering::Relaxed);
                continue;
            };
            *y = kept + 1;
            count += 1;
            sum += limit.map_or(0, u64::from);
        }
        (count, sum)
    }

    #[task]
    pub fn leaf(n: u32) -> Option<(u32, [u16; 2])> {
        if n % 3 == 0 {
            return Option::None;
        }
        Some((n, [n as u16; 2]))
    }

    /// Results of children in many places.
    #[task]
    pub fn children(n: u32) -> (Option<u32>, [Option<(u32, [u16; 2])>; 4], bool) {
        let mut all = [Option::None; 4];
        for i in 0..4 {
            all[i] = spawn!(leaf(n + i as u32));
        }
        let (a, b) = (spawn!(leaf(n)), spawn!(leaf(n + 3)));
        sync!();
        let first = all.iter().find(|x| x.is_some());
        let sum = match (a, b) {
            (Some((x, ys)), Some(z)) => Some(x + ys[0] as u32 + z.0),
            _ => first.and_then(|f| f.map(|f| f.0)),
        };
        (sum, all, a == leaf(n) && a != b)
    }
}

millstream_tests::cases! {
    queues(0);
    queues(3);
    queues(9);
    references(&[5, 9, 8, 2, 7], 4);
    references(&[5, 9, 8, 2, 7], 8);
    references(&[], 1);
    references(&[1], 3);
    patterns(Some(2), Some(-3), Some(program::Point { x: 5.0, y: 1.0 }));
    patterns(Some(4), None, Some(program::Point { x: 2.0, y: 1.5 }));
    patterns(None, Some(7), None);
    patterns(Some(0), None, None);
    patterns(Some(70), Some(-100), None);
    rounds(&[5, 9, 8, 2, 7], Some(8), &mut [0, 0, 0, 0, 0], &std::sync::atomic::AtomicU32::new(0));
    rounds(&[5, 9, 8, 2, 7], None, &mut [0, 0, 0, 0, 0], &std::sync::atomic::AtomicU32::new(0));
    children(1);
    children(3);
}
