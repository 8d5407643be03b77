//! A search tree built from a sorted array into nodes by index, looked up by many tasks; split and joined as treaps in a pool whose next node an atomic counts.
#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

    pub const NIL: i32 = -1;

    fn priority(key: i32) -> u32 {
        (key as u32).wrapping_mul(0x9e37_79b1).rotate_left(11).wrapping_mul(0x85eb_ca6b)
    }

    /// Joins two trees, all of whose keys are in order.
    fn join(left: &[AtomicI32], right: &[AtomicI32], a: i32, b: i32) -> i32 {
        if a == NIL { return b; }
        if b == NIL { return a; }
        if priority(a) > priority(b) {
            let r = right[a as usize].load(Relaxed);
            right[a as usize].store(join(left, right, r, b), Relaxed);
            a
        } else {
            let l = left[b as usize].load(Relaxed);
            left[b as usize].store(join(left, right, a, l), Relaxed);
            b
        }
    }

    /// Splits the tree `t` by `key`, which is not in it: those below, those above.
    fn split(left: &[AtomicI32], right: &[AtomicI32], t: i32, key: i32) -> (i32, i32) {
        if t == NIL { return (NIL, NIL); }
        if t < key {
            let (a, b) = split(left, right, right[t as usize].load(Relaxed), key);
            right[t as usize].store(a, Relaxed);
            (t, b)
        } else {
            let (a, b) = split(left, right, left[t as usize].load(Relaxed), key);
            left[t as usize].store(b, Relaxed);
            (a, t)
        }
    }

    /// Keys are their nodes' numbers. The union of two treaps of distinct keys, in parallel.
    #[task]
    pub fn union(left: &[AtomicI32], right: &[AtomicI32], a: i32, b: i32) -> i32 {
        if a == NIL { return b; }
        if b == NIL { return a; }
        let (top, other) = if priority(a) > priority(b) { (a, b) } else { (b, a) };
        let (low, high) = split(left, right, other, top);
        let l = spawn!(union(left, right, left[top as usize].load(Relaxed), low));
        let r = spawn!(union(left, right, right[top as usize].load(Relaxed), high));
        sync!();
        left[top as usize].store(l, Relaxed);
        right[top as usize].store(r, Relaxed);
        top
    }

    /// A treap of each `step`th key from `from` on.
    #[task]
    fn build(left: &[AtomicI32], right: &[AtomicI32], from: i32, to: i32, step: i32) -> i32 {
        let n = (to - from + step - 1) / step;
        if n <= 0 { return NIL; }
        if n == 1 {
            left[from as usize].store(NIL, Relaxed);
            right[from as usize].store(NIL, Relaxed);
            return from;
        }
        let middle = from + n / 2 * step;
        let a = spawn!(build(left, right, from, middle, step));
        let b = spawn!(build(left, right, middle, to, step));
        sync!();
        join(left, right, a, b)
    }

    /// Nodes, height, and a hash of the shape.
    #[task]
    fn shape(left: &[AtomicI32], right: &[AtomicI32], t: i32) -> (u32, u32, u64) {
        if t == NIL { return (0, 0, 1); }
        let (n, h, x) = spawn!(shape(left, right, left[t as usize].load(Relaxed)));
        let (m, g, y) = spawn!(shape(left, right, right[t as usize].load(Relaxed)));
        sync!();
        (n + m + 1, h.max(g) + 1, x.wrapping_mul(31) ^ y.wrapping_mul(1_000_003) ^ t as u64)
    }

    #[task]
    fn depth(left: &[AtomicI32], right: &[AtomicI32], root: i32, key: i32) -> u32 {
        let (mut t, mut steps) = (root, 0);
        while t != key {
            assert!(t != NIL, "a key is lost");
            t = if key < t { left[t as usize].load(Relaxed) } else { right[t as usize].load(Relaxed) };
            steps += 1;
        }
        steps
    }

    #[task]
    pub fn treap(left: &[AtomicI32], right: &[AtomicI32]) -> (u32, u32, u64, u32, u32) {
        let n = left.len() as i32;
        let a = spawn!(build(left, right, 0, n, 2));
        let b = spawn!(build(left, right, 1, n, 2));
        sync!();
        let root = spawn!(union(left, right, a, b));
        sync!();
        let (nodes, height, hash) = spawn!(shape(left, right, root));
        let mut sum = 0;
        let mut deepest = 0;
        for key in 0..n {
            sum += spawn!(depth(left, right, root, key));
        }
        sync!();
        for key in 0..n {
            deepest = deepest.max(spawn!(depth(left, right, root, key)));
        }
        sync!();
        (nodes, height, hash, sum, deepest)
    }
}

millstream_tests::cases! {
    treap(&(0..40).map(|_| std::sync::atomic::AtomicI32::new(0)).collect::<Vec<_>>(), &(0..40).map(|_| std::sync::atomic::AtomicI32::new(0)).collect::<Vec<_>>());
}
