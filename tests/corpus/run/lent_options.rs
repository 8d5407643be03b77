//! What lies in an `Option`, a `Result` or an enum, lent: patterns behind `&mut`, `as_ref`, `as_mut`, `insert` and their kin.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum Shape {
        Nothing,
        Circle(f32),
        Rect { w: f32, h: f32 },
        Many([u8; 4], u8),
    }

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Cell {
        pub shape: Shape,
        pub worth: Option<u32>,
        pub last: Result<u32, i16>,
    }

    impl Cell {
        fn worth(&self) -> u32 {
            match &self.worth {
                Some(x) => *x,
                None => 0,
            }
        }

        fn count(&mut self) -> bool {
            if let Some(x) = &mut self.worth {
                *x += 1;
                return true;
            }
            false
        }

        fn grow(&mut self, by: f32) {
            match &mut self.shape {
                Shape::Circle(r) => *r += by,
                Shape::Rect { w, h } => {
                    *w *= by;
                    *h -= by;
                }
                Shape::Many(all, 3) => all[1] = 9,
                Shape::Many(all, n) => {
                    all[*n as usize % 4] += 1;
                    *n += 1;
                }
                Shape::Nothing => self.shape = Shape::Circle(by),
            }
        }
    }

    fn doubled(x: &mut u32) {
        *x *= 2;
    }

    fn length(x: &[u8; 4]) -> usize {
        x.iter().filter(|x| **x > 0).count()
    }

    fn turn(o: &mut Option<u32>) -> u32 {
        match o {
            Some(0) => {
                *o = None;
                1
            }
            Some(x) if *x > 100 => {
                *x = 100;
                2
            }
            Some(x) => {
                doubled(x);
                3
            }
            None => {
                *o = Some(1);
                4
            }
        }
    }

    #[task]
    pub fn changed(cell: Cell, n: u32) -> (Cell, [u32; 4]) {
        let mut cell = cell;
        let before = cell.worth();
        let counted = cell.count();
        cell.grow(1.5);
        if let Some(x) = cell.worth.as_mut() {
            *x += n;
            doubled(x);
        }
        let turned = turn(&mut cell.worth);
        match &mut cell.last {
            Ok(x) => *x += n,
            Err(e) => *e -= 1,
        }
        let Ok(x) = &mut cell.last else {
            return (cell, [before, counted as u32, turned, 0]);
        };
        *x += 1;
        (cell, [before, counted as u32, turned, 1])
    }

    #[task]
    pub fn borrowed(shape: Shape, o: Option<u32>, pair: (u32, Option<[u8; 4]>)) -> [u32; 8] {
        let mut kept = o;
        let mut pair = pair;
        let by = *kept.get_or_insert(5);
        let mut calls = 0;
        let mut empty = None;
        *empty.get_or_insert_with(|| {
            calls += 1;
            by * 2
        }) += 1;
        *empty.get_or_insert_with(|| {
            calls += 1;
            by * 2
        }) += 1;
        let put = kept.insert(by + 3);
        *put += 1;
        let taken = kept.take();
        let old = kept.replace(11);
        let width = if let Shape::Many(all, _) = &shape { length(all) } else { 0 };
        match &mut pair {
            (n, Some(all)) => {
                *n += 1;
                all[0] = *n as u8;
            }
            (n, None) => *n = 77,
        }
        let sum = pair.1.as_ref().map_or(0, |all| all.iter().map(|x| *x as u32).sum::<u32>());
        [
            by,
            empty.unwrap_or(0),
            calls,
            taken.unwrap_or(1),
            old.is_none() as u32 + kept.unwrap() * 2,
            width as u32,
            pair.0,
            sum,
        ]
    }

    /// Elements of a local array.
    #[task]
    pub fn bounced(n: u32) -> [Option<u32>; 4] {
        let mut all = [None; 4];
        for i in 0..n {
            let place = &mut all[i as usize % 3];
            match place {
                Some(x) if *x > 3 => *place = None,
                Some(x) => *x += i,
                None => *place = Some(i / 3),
            }
        }
        for x in all.iter_mut() {
            if let Some(x) = x {
                *x += 100;
            }
        }
        for x in &mut all {
            if let Some(x) = x.as_mut() {
                *x += 1000;
            }
        }
        all
    }

    /// A child changes what was lent to it.
    #[task]
    pub fn child(x: &mut u32, by: u32) {
        *x += by;
    }

    #[task]
    pub fn parent(o: Option<u32>, r: Result<u32, u32>) -> (Option<u32>, Result<u32, u32>) {
        let (mut o, mut r) = (o, r);
        if let Some(x) = &mut o {
            spawn!(child(x, 3));
        }
        match r.as_mut() {
            Ok(x) => spawn!(child(x, 4)),
            Err(x) => spawn!(child(x, 5)),
        }
        sync!();
        (o, r)
    }
}

millstream_tests::cases! {
    changed(program::Cell { shape: program::Shape::Nothing, worth: Some(3), last: Ok(4) }, 2);
    changed(program::Cell { shape: program::Shape::Circle(2.0), worth: None, last: Err(4) }, 2);
    changed(program::Cell { shape: program::Shape::Rect { w: 2.0, h: 3.0 }, worth: Some(300), last: Err(-4) }, 2);
    changed(program::Cell { shape: program::Shape::Many([1, 2, 3, 4], 3), worth: Some(0), last: Ok(7) }, 2);
    changed(program::Cell { shape: program::Shape::Many([1, 2, 3, 4], 6), worth: Some(0), last: Ok(7) }, 2);
    borrowed(program::Shape::Many([1, 0, 3, 4], 3), Some(3), (4, Some([1, 2, 3, 4])));
    borrowed(program::Shape::Nothing, None, (4, None));
    bounced(3);
    bounced(20);
    parent(Some(3), Ok(4));
    parent(None, Err(4));
}
