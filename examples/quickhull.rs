//! Quickhull: the corners of the smallest convex polygon around a set of points.
//!
//! ```text
//!   [ wide_hull ] ──► the farthest point of all ──► all points sorted to its two sides ──► two [ wide_hull ] ──► after the sync: count of corners
//!     └──► [ hull ] of few points: the same by one task, side by side with others ──► two [ hull ] ──► ..
//! ```

#[millstream::program]
pub mod quickhull {
    /// A point with small integer coordinates: every cross product is exact.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Point {
        /// To the right.
        pub x: i16,
        /// Upwards.
        pub y: i16,
    }

    /// Fewer points are the work of one task.
    const FEW: usize = 1024;
    /// Of more, so many are looked through by one.
    const STRIP: usize = 256;
    /// Points are sorted in so many parts at most, of [`STRIP`] points at least.
    const PARTS: usize = 1024;
    /// Points to an element of `starts`: enough for two of each part.
    const PER_START: usize = 64;

    /// A number that grows from left to right, and upwards where points are one above the other.
    fn code(p: Point) -> u32 {
        let (x, y) = (p.x as u16 ^ 0x8000, p.y as u16 ^ 0x8000);
        (x as u32) << 16 | y as u32
    }

    fn decode(code: u32) -> Point {
        Point {
            x: ((code >> 16) as u16 ^ 0x8000) as i16,
            y: (code as u16 ^ 0x8000) as i16,
        }
    }

    /// Twice the area of the triangle; positive if `c` lies to the left of the way from `a` to `b`.
    fn area(a: Point, b: Point, c: Point) -> i64 {
        let (ux, uy) = (b.x as i64 - a.x as i64, b.y as i64 - a.y as i64);
        let (vx, vy) = (c.x as i64 - a.x as i64, c.y as i64 - a.y as i64);
        ux * vy - uy * vx
    }

    /// The farthest of points that lie to the left of the way from `a` to `b`, for [`unpack`]: how far it is above, its code below. Of points
    /// equally far it is the one nearest to `a`, since those between two corners are none; so codes are turned round where they grow on the way.
    fn most(points: &[Point], a: Point, b: Point) -> u64 {
        let turn = turn(a, b);
        let mut most = 0;
        for &p in points {
            most = most.max((area(a, b, p) as u64) << 32 | (code(p) ^ turn) as u64);
        }
        most
    }

    fn turn(a: Point, b: Point) -> u32 {
        if code(a) < code(b) { u32::MAX } else { 0 }
    }

    fn unpack(most: u64, a: Point, b: Point) -> Point {
        decode(most as u32 ^ turn(a, b))
    }

    /// Moves the points left of the line to the front; how many there are.
    fn partition(points: &mut [Point], a: Point, b: Point) -> usize {
        let mut kept = 0;
        for i in 0..points.len() {
            let left = area(a, b, points[i]) > 0;
            // Others change places with each other, so that no branch depends on them.
            points.swap(i, kept);
            kept += left as usize;
        }
        kept
    }

    /// Corners of the hull strictly to the left of the line from `a` to `b`, of points that all lie there.
    #[task]
    pub fn hull(points: &mut [Point], a: Point, b: Point) -> u32 {
        if points.is_empty() {
            return 0;
        }
        let far = unpack(most(points, a, b), a, b);
        let first = partition(points, a, far);
        let (left, rest) = points.split_at_mut(first);
        let second = partition(rest, far, b);
        let x = spawn!(hull(left, a, far));
        let y = spawn!(hull(&mut rest[..second], far, b));
        sync!();
        x + y + 1
    }

    /// The same of many points. `tmp` is as long, and `starts` has an element for each [`PER_START`] of them; what is in the three is lost.
    #[task]
    pub fn wide_hull(
        points: &mut [Point],
        tmp: &mut [Point],
        starts: &mut [usize],
        a: Point,
        b: Point,
    ) -> u32 {
        if points.len() < FEW {
            let x = spawn!(hull(points, a, b));
            sync!();
            return x;
        }
        let mut greatest = 0;
        #[parallel]
        for strip in points.chunks(STRIP) {
            greatest = greatest.max(most(strip, a, b));
        }
        let far = unpack(greatest, a, b);
        let (first, second) = sides(points, tmp, starts, a, far, b);
        let (left, right) = tmp[..first + second].split_at_mut(first);
        let (left_tmp, right_tmp) = points.split_at_mut(first);
        let (left_starts, right_starts) = starts.split_at_mut(first / PER_START);
        let x = spawn!(wide_hull(left, left_tmp, left_starts, a, far));
        let y = spawn!(wide_hull(right, right_tmp, right_starts, far, b));
        sync!();
        x + y + 1
    }

    /// Moves the points left of the way from `a` to `b` to `out`, and behind them of the others those left of the way from `b` to `c`; how
    /// many there are of each.
    fn sides(
        points: &mut [Point],
        out: &mut [Point],
        starts: &mut [usize],
        a: Point,
        b: Point,
        c: Point,
    ) -> (usize, usize) {
        let size = STRIP.max(points.len() / PARTS);
        let parts = points.len().div_ceil(size);
        // Each part is sorted where it is.
        let (firsts, seconds) = starts[..2 * parts].split_at_mut(parts);
        #[parallel]
        for ((part, first), second) in points
            .chunks_mut(size)
            .zip(firsts.iter_mut())
            .zip(seconds.iter_mut())
        {
            *first = partition(part, a, b);
            *second = partition(&mut part[*first..], b, c);
        }
        // Where those of each part begin.
        let (mut all, mut first) = (0, 0);
        for (i, start) in starts[..2 * parts].iter_mut().enumerate() {
            if i == parts {
                first = all;
            }
            (*start, all) = (all, all + *start);
        }
        starts[2 * parts] = all;
        #[parallel]
        for (i, own) in out[..all].chunks_mut(size).enumerate() {
            collect(own, i * size, points, size, &starts[..=2 * parts]);
        }
        (first, all - first)
    }

    /// Fills a part of the output, which begins at `at`.
    fn collect(own: &mut [Point], at: usize, points: &[Point], size: usize, starts: &[usize]) {
        let parts = starts.len() / 2;
        // The last that does not begin behind it.
        let (mut i, mut end) = (0, 2 * parts);
        while i + 1 < end {
            let middle = (i + end) / 2;
            if starts[middle] <= at {
                i = middle;
            } else {
                end = middle;
            }
        }
        let mut done = 0;
        while done < own.len() {
            let mut from = i % parts * size + at + done - starts[i];
            if i >= parts {
                from += starts[i - parts + 1] - starts[i - parts];
            }
            let count = (own.len() - done).min(starts[i + 1] - at - done);
            own[done..done + count].copy_from_slice(&points[from..from + count]);
            done += count;
            i += 1;
        }
    }

    /// How many corners the convex hull has. `tmp` is as long as `points`, and `starts` has an element for each [`PER_START`] of them, and three
    /// more; what is in the three is lost.
    #[task]
    pub fn quickhull(points: &mut [Point], tmp: &mut [Point], starts: &mut [usize]) -> u32 {
        assert!(tmp.len() >= points.len() && starts.len() >= points.len() / PER_START + 3);
        if points.is_empty() {
            return 0;
        }
        let (mut least, mut greatest) = (u32::MAX, 0);
        #[parallel]
        for strip in points.chunks(STRIP) {
            let (mut low, mut high) = (u32::MAX, 0);
            for p in strip {
                low = low.min(code(*p));
                high = high.max(code(*p));
            }
            least = least.min(low);
            greatest = greatest.max(high);
        }
        if least == greatest {
            return 1;
        }
        let (a, b) = (decode(least), decode(greatest));
        let (above, below) = sides(points, tmp, starts, a, b, a);
        let (left, right) = tmp[..above + below].split_at_mut(above);
        let (left_tmp, right_tmp) = points.split_at_mut(above);
        let (left_starts, right_starts) = starts.split_at_mut(above / PER_START);
        let x = spawn!(wide_hull(left, left_tmp, left_starts, a, b));
        let y = spawn!(wide_hull(right, right_tmp, right_starts, b, a));
        sync!();
        x + y + 2
    }
}

fn main() -> Result<(), millstream::Error> {
    use quickhull::Point;
    let mut state = 3u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as i16 / 4
    };
    // A round cloud of points.
    let mut points: Vec<Point> = (0..20_000)
        .map(|_| Point {
            x: random(),
            y: random(),
        })
        .collect();
    points.retain(|p| i32::from(p.x).pow(2) + i32::from(p.y).pow(2) < 8000 * 8000);
    let mut copy = points.clone();
    let (mut tmp, mut starts) = (points.clone(), vec![0; points.len() / 64 + 3]);

    let device = millstream::Device::auto()?;
    let corners = device.run(quickhull::call::quickhull(
        &mut points,
        &mut tmp,
        &mut starts,
    ))?;
    assert_eq!(
        corners,
        quickhull::quickhull(&mut copy, &mut tmp, &mut starts)
    );
    assert_eq!(points, copy);
    println!("{} points, {corners} corners", points.len());
    Ok(())
}
