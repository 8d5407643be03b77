//! Arrays by value beside iterators that leave items out, and closures with names that are given references to references.

#[millstream::program]
pub mod program {
    struct Weights {
        all: [u32; 3],
    }

    #[task]
    pub fn zipped(n: u32) -> (u32, u32) {
        let (own, weights) = ([1, 2, 3, n], Weights { all: [5, 6, 7] });
        let mut total = 0;
        for (x, y) in (1u32..16).filter(|s| s.count_ones() == 2).zip(own) {
            total += x * y;
        }
        for (x, y) in (1u32..16).filter(|s| s.count_ones() == 2).zip(own.into_iter()) {
            total += 3 * x * y;
        }
        for (x, y) in (1u32..16).filter(|s| s.count_ones() == 2).zip([7, 8]) {
            total += 2 * x * y;
        }
        for ((x, y), z) in (1u32..16).filter(|s| s % 3 == 2).zip(weights.all).zip(own) {
            total += x * y + z;
        }
        let mut changed = own;
        for (x, y) in (1u32..16).filter(|s| s.count_ones() == 2).zip(changed) {
            changed[3] += x;
            total += y;
        }
        total += changed[3];
        (total, (0..9u32).filter(|x| x % 2 == 1).zip(own).map(|(x, y)| x * y).sum())
    }

    struct Point {
        x: u32,
        y: u32,
    }

    #[task]
    pub fn nearest(n: u32) -> (u32, u32, usize) {
        let points = [Point { x: n, y: 1 }, Point { x: 3, y: 2 }, Point { x: n / 2, y: 3 }];
        let by = |a: &&Point, b: &&Point| a.x.cmp(&b.x);
        let (least, most) = (points.iter().min_by(by).unwrap().y, points.iter().max_by(by).unwrap().y);
        let is_far = |p: &&Point| (**p).x > 2 && p.y != 2;
        (least, most, points.iter().filter(is_far).count())
    }
}

millstream_tests::cases! {
    zipped(4);
    nearest(0);
    nearest(9);
}
