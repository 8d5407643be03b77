//! Barnes and Hut in two dimensions: bodies are sorted into a quadtree by tasks that share a pool of cells, cells are summed up from the leaves, and a
//! task for each body walks the tree with a stack of its own.
#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU32, Ordering};

    #[derive(Clone, Copy, Default, Debug)]
    pub struct Body { pub x: f64, pub y: f64, pub mass: f64, pub fx: f64, pub fy: f64 }

    #[derive(Clone, Copy, Default, Debug)]
    pub struct Cell { pub mass: f64, pub x: f64, pub y: f64, pub size: f64, pub first: u32, pub count: u32, pub skip: u32, pub leaf: bool }

    #[derive(Clone, Copy, Default)]
    pub struct Built { pub cells: u32, pub mass: f64, pub mx: f64, pub my: f64 }

    const LEAF: usize = 4;

    fn partition(bodies: &mut [Body], at: f64, by_x: bool) -> usize {
        let mut k = 0;
        for i in 0..bodies.len() {
            let v = if by_x { bodies[i].x } else { bodies[i].y };
            if v < at {
                bodies.swap(i, k);
                k += 1;
            }
        }
        k
    }

    /// Builds the tree in preorder into `cells`, which has room for two for each body and 64 levels. Where a child's part begins is by the number of
    /// bodies before it, so no two tasks share a cell; what stays unused is skipped.
    #[task]
    pub fn build(bodies: &mut [Body], cells: &mut [Cell], x: f64, y: f64, size: f64, first: u32, depth: u32) -> Built {
        let n = bodies.len();
        let (own, rest) = cells.split_at_mut(1);
        if n <= LEAF || depth == 20 {
            let mut sum = Built { cells: 1, ..Default::default() };
            for b in bodies.iter() {
                sum.mass += b.mass;
                sum.mx += b.mass * b.x;
                sum.my += b.mass * b.y;
            }
            own[0] = Cell { mass: sum.mass, x: sum.mx / sum.mass, y: sum.my / sum.mass, size, first, count: n as u32, skip: cells_for(n, depth) as u32, leaf: true };
            return sum;
        }
        let (cx, cy, half) = (x + size / 2.0, y + size / 2.0, size / 2.0);
        let by_y = partition(bodies, cy, false);
        let (south, north) = bodies.split_at_mut(by_y);
        let (sw_n, nw_n) = (partition(south, cx, true), partition(north, cx, true));
        let (sw, se) = south.split_at_mut(sw_n);
        let (nw, ne) = north.split_at_mut(nw_n);
        let counts = [sw.len(), se.len(), nw.len(), ne.len()];
        let (c0, rest) = rest.split_at_mut(cells_for(counts[0], depth + 1));
        let (c1, rest) = rest.split_at_mut(cells_for(counts[1], depth + 1));
        let (c2, c3) = rest.split_at_mut(cells_for(counts[2], depth + 1));
        let mut parts = [Built::default(); 4];
        if counts[0] > 0 { parts[0] = spawn!(build(sw, c0, x, y, half, first, depth + 1)); }
        if counts[1] > 0 { parts[1] = spawn!(build(se, c1, cx, y, half, first + counts[0] as u32, depth + 1)); }
        if counts[2] > 0 { parts[2] = spawn!(build(nw, c2, x, cy, half, first + (counts[0] + counts[1]) as u32, depth + 1)); }
        if counts[3] > 0 { parts[3] = spawn!(build(ne, c3, cx, cy, half, first + (n - counts[3]) as u32, depth + 1)); }
        sync!();
        let mut sum = Built { cells: 1, mass: 0.0, mx: 0.0, my: 0.0 };
        for p in &parts {
            sum.cells += p.cells;
            sum.mass += p.mass;
            sum.mx += p.mx;
            sum.my += p.my;
        }
        own[0] = Cell { mass: sum.mass, x: sum.mx / sum.mass, y: sum.my / sum.mass, size, first, count: n as u32, skip: cells_for(n, depth) as u32, leaf: false };
        sum
    }

    /// Room that so many bodies have: a chain of twenty above each.
    fn cells_for(n: usize, depth: u32) -> usize {
        n * (21 - depth as usize)
    }

    #[task]
    pub fn force(me: Body, bodies: &[Body], cells: &[Cell], theta: f64) -> (f64, f64, u32) {
        let (mut fx, mut fy, mut seen) = (0.0, 0.0, 0);
        let mut at = 0;
        while at < cells.len() {
            let cell = cells[at];
            if cell.count == 0 {
                // Unused: the next one in order.
                at += 1;
                continue;
            }
            seen += 1;
            let (dx, dy) = (cell.x - me.x, cell.y - me.y);
            let d2 = dx * dx + dy * dy + 1e-6;
            if cell.leaf {
                for b in &bodies[cell.first as usize..(cell.first + cell.count) as usize] {
                    let (dx, dy) = (b.x - me.x, b.y - me.y);
                    let d2 = dx * dx + dy * dy + 1e-6;
                    let w = b.mass / (d2 * d2.sqrt());
                    fx += w * dx;
                    fy += w * dy;
                }
                at += cell.skip as usize;
            } else if cell.size * cell.size < theta * theta * d2 {
                let w = cell.mass / (d2 * d2.sqrt());
                fx += w * dx;
                fy += w * dy;
                at += cell.skip as usize;
            } else {
                at += 1;
            }
        }
        (fx, fy, seen)
    }

    #[task]
    pub fn step(out: &mut [Body], bodies: &[Body], cells: &[Cell], most: &AtomicU32) {
        if out.len() == 1 {
            let (fx, fy, seen) = force(out[0], bodies, cells, 0.5);
            out[0].fx = fx;
            out[0].fy = fy;
            most.fetch_max(seen, Ordering::Relaxed);
            return;
        }
        let (a, b) = out.split_at_mut(out.len() / 2);
        spawn!(step(a, bodies, cells, most));
        spawn!(step(b, bodies, cells, most));
    }

    fn random(state: &mut u64) -> f64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        (*state >> 11) as f64 / 9007199254740992.0
    }

    #[task]
    pub fn simulate(bodies: &mut [Body], next: &mut [Body], cells: &mut [Cell]) -> (u32, u32, u64) {
        let mut state = 1234567u64;
        for b in bodies.iter_mut() {
            let (x, y) = (random(&mut state), random(&mut state));
            *b = Body { x: x * x, y, mass: 1.0 + random(&mut state), ..Body::default() };
        }
        let built = spawn!(build(bodies, cells, 0.0, 0.0, 1.0, 0, 0));
        sync!();
        next.copy_from_slice(bodies);
        let most = AtomicU32::new(0);
        spawn!(step(next, bodies, cells, &most));
        sync!();
        let mut bits = 0u64;
        for (i, b) in next.iter().enumerate() {
            bits = bits.wrapping_add((b.fx.to_bits() ^ b.fy.to_bits()).rotate_left(i as u32));
        }
        (built.cells, most.load(Ordering::Relaxed), bits)
    }
}

millstream_tests::cases! {
    simulate(&mut vec![program::Body::default(); 20], &mut vec![program::Body::default(); 20], &mut vec![program::Cell::default(); 420]);
}
