//! Counting searches from textbooks: subsets of a sum, partitions, Langford pairs, Hamiltonian paths, knight's tours, self-avoiding walks, Grundy numbers, coin change.
#[millstream::program]
pub mod program {
    #[task]
    pub fn subset_sum(items: &[u32], target: i64) -> u32 {
        if items.is_empty() { return if target == 0 { 1 } else { 0 }; }
        let (first, rest) = (items[0], &items[1..]);
        let mut n = 0;
        n += spawn!(subset_sum(rest, target));
        if target >= first as i64 { n += spawn!(subset_sum(rest, target - first as i64)); }
        sync!();
        n
    }

    #[task]
    pub fn subsets(n: u32, target: i64) -> u32 {
        let mut items = [0u32; 30];
        for (i, x) in items.iter_mut().enumerate() { *x = 10 + (i as u32 * 37) % 41; }
        let ways = spawn!(subset_sum(&items[..n as usize], target));
        sync!();
        ways
    }

    #[task]
    pub fn partitions(n: u32, largest: u32) -> u64 {
        if n == 0 { return 1; }
        let mut total = 0;
        for part in (1..=largest.min(n)).rev() {
            total += spawn!(partitions(n - part, part));
        }
        sync!();
        total
    }

    #[task]
    pub fn langford(k: u32, used: u64, n: u32) -> u64 {
        if k == 0 { return 1; }
        let mut count = 0;
        let mut pair = 1u64 | 1 << (k + 1);
        for _ in 0..2 * n - k - 1 {
            if used & pair == 0 { count += spawn!(langford(k - 1, used | pair, n)); }
            pair <<= 1;
        }
        sync!();
        count
    }

    const EDGES: [u32; 12] = [0b1001_1010_0110, 0b0110_0101_1101, 0b1100_1010_1011, 0b0011_0101_0110, 0b1010_1110_1001, 0b0101_1001_0110, 0b1011_0011_1001, 0b0110_1101_1100, 0b1001_0110_0011, 0b1110_1010_1010, 0b0101_1101_0101, 0b1010_0111_1010];

    #[task]
    pub fn hamilton(at: u32, visited: u32) -> u32 {
        if visited == 0xfff { return 1; }
        let mut paths = 0;
        let mut next = EDGES[at as usize] & !visited;
        while next != 0 {
            let v = next.trailing_zeros();
            paths += spawn!(hamilton(v, visited | 1 << v));
            next &= next - 1;
        }
        sync!();
        paths
    }

    const JUMPS: [(i8, i8); 8] = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];

    #[task]
    pub fn knight(x: i8, y: i8, visited: u64, side: i8) -> u32 {
        let visited = visited | 1 << (y * side + x);
        if visited == (1u64 << (side * side)) - 1 { return 1; }
        let mut tours = 0;
        for (dx, dy) in JUMPS {
            let (nx, ny) = (x + dx, y + dy);
            if !(0 <= nx && nx < side && 0 <= ny && ny < side) { continue; }
            if visited >> (ny * side + nx) & 1 != 0 { continue; }
            tours += spawn!(knight(nx, ny, visited, side));
        }
        sync!();
        tours
    }

    #[task]
    pub fn walks(path: [(i8, i8); 20], len: usize, most: usize) -> u64 {
        if len == most { return 1; }
        let (x, y) = path[len];
        let mut n = 0;
        'next: for (dx, dy) in [(0, 1), (1, 0), (0, -1), (-1, 0)] {
            let here = (x + dx, y + dy);
            for p in &path[..=len] {
                if *p == here { continue 'next; }
            }
            let mut longer = path;
            longer[len + 1] = here;
            n += spawn!(walks(longer, len + 1, most));
        }
        sync!();
        n
    }

    /// The bits of Grundy numbers of what one move leaves: Kayles.
    #[task]
    pub fn kayles(n: u32) -> u64 {
        if n == 0 { return 1; }
        let mut seen = 0u64;
        for take in 1..=2 {
            if n < take { continue; }
            for left in 0..=(n - take) / 2 {
                seen |= spawn!(both(left, n - take - left));
            }
        }
        sync!();
        1 << seen.trailing_ones()
    }

    #[task]
    fn both(a: u32, b: u32) -> u64 {
        let x = spawn!(kayles(a));
        let y = spawn!(kayles(b));
        sync!();
        1 << (x.trailing_zeros() ^ y.trailing_zeros())
    }

    const COINS: [u32; 8] = [1, 2, 5, 10, 20, 50, 100, 200];

    #[task]
    pub fn change(amount: u32, kinds: usize) -> u64 {
        match (amount, kinds) {
            (0, _) => 1,
            (_, 0) => 0,
            (a, k) if a < COINS[k - 1] => {
                let n = spawn!(change(a, k - 1));
                sync!();
                n
            }
            (a, k) => {
                let with = spawn!(change(a - COINS[k - 1], k));
                let without = spawn!(change(a, k - 1));
                sync!();
                with + without
            }
        }
    }

    #[task]
    pub fn permanent(row: usize, used: u32, n: usize) -> i64 {
        if row == n { return 1; }
        let mut parts = [0i64; 12];
        for c in 0..n {
            if used >> c & 1 == 0 { parts[c] = spawn!(permanent(row + 1, used | 1 << c, n)); }
        }
        sync!();
        let mut sum = 0;
        for (c, p) in parts.iter().enumerate() {
            sum += p * (((row * 7 + c * 3) % 5) as i64 - 2);
        }
        sum
    }
}

millstream_tests::cases! {
    subsets(8, 100);
    partitions(9, 9);
    langford(4, 0, 4);
    hamilton(0, 3969);
    walks([(0, 0); 20], 0, 4);
    knight(1, 1, 0, 3);
    knight(0, 0, 9, 4);
    kayles(5);
    change(12, 5);
    permanent(0, 0, 4);
}
