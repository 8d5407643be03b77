//! Everything that is lent in the right way is accepted.

#![forbid(unsafe_code)]

/// Programs without races.
#[millstream::program]
pub mod borrows {
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Adds one.
    #[task]
    pub fn add(data: &mut [u32]) {
        for x in data.iter_mut() {
            *x += 1;
        }
    }

    /// Reads.
    #[task]
    pub fn total(data: &[u32]) -> u64 {
        let mut sum = 0;
        for &x in data {
            sum += x as u64;
        }
        sum
    }

    /// Counts.
    #[task]
    pub fn count(n: &AtomicU32, by: u32) {
        n.fetch_add(by, Ordering::Relaxed);
    }

    /// Writes a number.
    #[task]
    pub fn set(cell: &mut u32, x: u32) {
        *cell = x;
    }

    /// Fills.
    #[task]
    pub fn fill(mut m: MatMut<f32>, from: Mat<f32>) {
        for i in 0..m.rows() {
            for j in 0..m.cols() {
                m[(i, j)] = from[(i, j)];
            }
        }
    }

    /// A sync in between.
    #[task]
    pub fn one_after_another(data: &mut [u32]) -> u32 {
        spawn!(add(data));
        sync!();
        spawn!(add(data));
        sync!();
        data[0] += 1;
        spawn!(add(data));
        sync!();
        data[0]
    }

    /// Round and round.
    #[task]
    pub fn loops(data: &mut [u32], n: u32) -> u64 {
        let mut sum = 0;
        for i in 0..n {
            spawn!(add(data));
            sync!();
            data[0] += i;
            if i == 7 {
                continue;
            }
            let before = spawn!(total(data));
            let again = spawn!(total(data));
            sync!();
            sum += before + again;
        }
        let mut k = 0;
        while k < 3 {
            let (a, b) = data.split_at_mut(1);
            spawn!(add(a));
            if k == 1 {
                spawn!(add(b));
                break;
            }
            k += 1;
            sync!();
        }
        sync!();
        data[0] = 5;
        sum
    }

    /// All through a slice.
    #[task]
    pub fn pieces(data: &mut [u32], by: usize) {
        let mut rest = data;
        while rest.len() > by {
            let (head, tail) = rest.split_at_mut(by);
            spawn!(add(head));
            rest = tail;
        }
        spawn!(add(rest));
    }

    /// Elements one by one.
    #[task]
    pub fn cells(data: &mut [u32]) {
        for (i, x) in data.iter_mut().enumerate() {
            spawn!(set(x, i as u32));
        }
    }

    /// A sync in each branch, or in none.
    #[task]
    pub fn branches(data: &mut [u32], n: u32) -> u32 {
        if n > 3 {
            spawn!(add(data));
            sync!();
        } else if n == 2 {
            let (a, b) = data.split_at_mut(2);
            spawn!(add(a));
            spawn!(add(b));
            sync!();
        }
        match n {
            0 => spawn!(add(data)),
            1 => {
                spawn!(add(data));
                sync!();
            }
            _ => sync!(),
        }
        sync!();
        data[0]
    }

    /// Locals are lent up to the sync.
    #[task]
    pub fn locals(n: u32) -> u32 {
        let mut t = [n; 8];
        let (a, b) = t.split_at_mut(4);
        spawn!(add(a));
        spawn!(add(b));
        sync!();
        let hits = AtomicU32::new(0);
        for i in 0..n {
            spawn!(count(&hits, i));
            spawn!(count(&hits, 1));
        }
        let mut cell = 0;
        spawn!(set(&mut cell, 9));
        sync!();
        t[0] + t[7] + hits.load(Ordering::Relaxed) + cell
    }

    /// Locals of a block, with a sync in it.
    #[task]
    pub fn blocks(n: u32) -> u32 {
        let mut sum = 0;
        for i in 0..n {
            let mut t = [i; 4];
            spawn!(add(&mut t[..2]));
            sync!();
            if t[0] == 3 {
                return t[1];
            }
            sum += t[0];
        }
        {
            let mut t = [n; 2];
            spawn!(add(&mut t));
            sync!();
            sum += t[1];
        }
        sum
    }

    /// The last sync need not be written: what a task returns is computed before.
    #[task]
    pub fn no_last_sync(n: u32) -> u32 {
        let mut t = [n; 4];
        let m = t[0] * 2;
        spawn!(add(&mut t));
        if n == 1 {
            return m;
        }
        m + 1
    }

    /// The same in the branches of a value.
    #[task]
    pub fn no_last_sync_in_branches(n: u32) -> u32 {
        if n > 5 {
            let mut t = [n; 4];
            spawn!(add(&mut t));
            n
        } else {
            match n {
                0 => {
                    let hits = AtomicU32::new(0);
                    spawn!(count(&hits, 1));
                    7
                }
                1 => return 3,
                _ => {
                    let mut t = [1, 2];
                    spawn!(add(&mut t));
                    return t_of(n);
                }
            }
        }
    }

    /// What children were lent in parts is used in parts after the sync, then as a whole.
    #[task]
    pub fn parts_then_whole(data: &mut [u32], tmp: &mut [u32]) {
        let (low, high) = data.split_at_mut(data.len() / 2);
        let (a, b) = tmp.split_at_mut(1);
        spawn!(add(low));
        spawn!(add(high));
        spawn!(add(&mut b[1..]));
        sync!();
        a[0] = low[0] + high[0];
        spawn!(add(a));
        data[0] = 1;
        sync!();
        data.copy_from_slice(tmp);
        for i in 0..3 {
            let (low, high) = data.split_at_mut(i);
            spawn!(add(low));
            spawn!(add(high));
            sync!();
            low[0] += high[0];
            data[0] = 2;
            if i == 1 {
                spawn!(add(data));
                sync!();
                continue;
            }
            tmp[i] = data[0];
        }
    }

    fn t_of(n: u32) -> u32 {
        n
    }

    /// A task without value, by a branch.
    #[task]
    pub fn unit(c: bool) {
        if c {
            let mut t = [1, 2];
            spawn!(add(&mut t));
        }
    }

    /// Results to elements and fields, gathered, or thrown away.
    #[task]
    pub fn results(x: &[u32], out: &mut [u64]) -> u64 {
        let mut r = [0; 4];
        for i in 0..4 {
            r[i] = spawn!(total(&x[i..]));
        }
        let mut sum = 0;
        sum += spawn!(total(x));
        sum += spawn!(total(&x[1..]));
        let mut best = 0;
        best = best.max(spawn!(total(x)));
        let late;
        if x.len() > 9 {
            late = spawn!(total(x));
        } else {
            late = 4;
        }
        let mut pair = (0, 1);
        pair.0 = spawn!(total(x));
        spawn!(total(x));
        let _ = spawn!(total(x));
        let (a, b) = out.split_at_mut(1);
        a[0] = spawn!(total(x));
        b[0] += spawn!(total(x));
        b[1] = b[1].max(spawn!(total(x)));
        sync!();
        let length = r.len() as u64;
        out[0] = r[0] + r[3];
        sum + best + late + length + pair.0 + pair.1
    }

    /// Tasks that are called without spawn, beside children.
    #[task]
    pub fn called(data: &mut [u32]) -> u64 {
        let (a, b) = data.split_at_mut(2);
        spawn!(add(a));
        add(b);
        let x = total(b);
        add(&mut b[1..]);
        sync!();
        x + total(data)
    }

    /// Quadrants.
    #[task]
    pub fn quadrants(mut c: MatMut<f32>, a: Mat<f32>) {
        {
            let (c11, c12, c21, c22) = c.quadrants_mut();
            let (a11, a12, a21, a22) = a.quadrants();
            spawn!(fill(c11, a11));
            spawn!(fill(c12, a12));
            spawn!(fill(c21, a21));
            spawn!(fill(c22, a22));
            sync!();
        }
        spawn!(fill(c.reborrow(), a));
        sync!();
        let (left, right) = c.split_cols_at_mut(1);
        spawn!(fill(left, a.split_cols_at(1).0));
        spawn!(fill(right, a.split_cols_at(1).1));
        sync!();
        spawn!(fill(c, a));
    }

    /// Parameters by patterns, lifetimes by name, tuples of slices.
    #[task]
    pub fn shapes<'a, 'b>(data: &'a mut [u32], more: &'b [u32], (x, mut y): (u32, u32)) -> u64 {
        if data.len() < 2 {
            return 0;
        }
        y += x;
        let (a, b) = data.split_at_mut(y as usize);
        let s = spawn!(total(more));
        spawn!(shapes(a, more, (1, 0)));
        spawn!(shapes(b, more, (x, 0)));
        let result = 5;
        let children = 6;
        sync!();
        s + result + children
    }

    /// A loop that ends by return.
    #[task]
    pub fn endless(data: &mut [u32]) -> u32 {
        let mut i = 0;
        loop {
            spawn!(add(data));
            sync!();
            i += 1;
            if data[0] > 3 {
                return i;
            }
        }
    }
}
