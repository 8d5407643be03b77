//! Literals in arrays that a closure is called with, and what decides on them: the closure, or what is done with the array later.

#[millstream::program]
pub mod program {
    #[task]
    pub fn mapped(n: u32) -> [u32; 2] {
        [1, 2].map(|x| x * n)
    }

    #[task]
    pub fn annotated(n: u64) -> (u64, u64) {
        let a: [u64; 3] = [1, 2, 3].map(|x: u8| x as u64 + n);
        let b: [u64; 2] = [5_000_000_000, 2].map(|x| x * n);
        (a[0] + a[2], b[0] + b[1])
    }

    #[task]
    pub fn sorted(n: u64) -> (u32, u64, f32, u8) {
        let mut pairs = [(3, 5), (4, 2)];
        pairs.sort_by(|a, b| a.1.cmp(&b.1));
        let mut numbers = [3, 1];
        numbers.sort_by_key(|x| *x);
        let mut floats = [1.25, 3.5];
        floats.sort_by(|x, y| y.partial_cmp(x).unwrap());
        let half: f32 = floats[0];
        let mut best = [(0, 0); 3];
        best.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        best[0] = (n as u8, 5u16);
        best.sort_unstable_by_key(|x| x.1);
        (pairs[0].0 * n as u32, numbers[0] + n, half, best[2].0)
    }

    #[task]
    pub fn found(n: u64) -> u64 {
        let all = [3, 7];
        let place = all.binary_search_by(|x| x.cmp(&7));
        match place {
            Ok(i) | Err(i) => all[i] * n,
        }
    }

    struct Bag([u32; 2]);

    /// Methods of numbers by their paths, and what is dropped.
    #[task]
    pub fn by_path(n: i64) -> (i64, i64, u32) {
        let product = [2i64, n].into_iter().try_fold(1i64, i64::checked_mul);
        let sum = i64::checked_add(n, i64::MAX).or(i64::checked_sub(n, 3));
        let bag = Bag([n as u32, 2]);
        let kept = bag.0[0];
        drop(bag);
        Some(n).map(drop);
        (product.unwrap_or(7), sum.unwrap_or(0), kept)
    }

    fn third(k: usize) -> u32 {
        k as u32 * 3
    }

    /// A pattern says how many there are.
    #[task]
    pub fn counted(n: u32) -> u32 {
        let [a, b, c] = std::array::from_fn(|k| third(k + 1));
        let [x, [y, z]] = [[1, 2], [3, n]];
        a + b * c + x[1] + y * z
    }
}

millstream_tests::cases! {
    mapped(3);
    annotated(4);
    sorted(6);
    found(5);
    by_path(6);
    by_path(i64::MAX);
    counted(9);
}
