//! Methods of numbers by the order of bytes and by neighbours, `zip` and `xor` of `Option`s, orders of `Result`s, `Option`s in `Option`s, slices and arrays, and functions of `Ordering` by its name.

#[millstream::program]
pub mod program {
    use std::cmp::Ordering;

    #[task]
    pub fn by_path(n: u32, a: [u32; 2]) -> (Option<u32>, Option<u32>, [u32; 2], u32, Result<u32, u8>) {
        let least = std::cmp::min(n.checked_sub(5), Some(n));
        let most = std::cmp::max(Some(n), Some(4));
        let row = std::cmp::max([n, 2], a);
        (least, most, row, std::cmp::min(n, 5), std::cmp::max(Ok(n), Err(3)))
    }

    /// Both are asked for in place: each has its own answer.
    #[task]
    pub fn zipped(b: &[u32], n: u32) -> (bool, u32, Option<(u32, usize)>, u32) {
        let least = b.iter().copied().min();
        let both = n.checked_sub(5).zip(b.iter().position(|x| *x == 8));
        let sum = match b.last().zip(b.get(1)) {
            Some((x, y)) if n > 5 => x + y,
            Some((x, _)) => *x,
            None => 0,
        };
        let first = Some(n).zip(b.first()).map_or(1, |(x, y)| 100 * x + y);
        (n.checked_sub(5).zip(b.first()).is_some(), first, both, sum + least.zip(n.checked_sub(4)).map_or(0, |(x, y)| x * y))
    }

    #[task]
    pub fn bits(x: u32, y: i16, by: u32) -> [i64; 9] {
        [x.to_be() as i64, x.to_le() as i64, u32::from_be(x) as i64, i16::from_be(y) as i64, x.unbounded_shl(by) as i64, x.unbounded_shr(by) as i64, y.unbounded_shr(by) as i64, u32::midpoint(x, 7) as i64, y.unbounded_shl(by) as i64]
    }

    #[task]
    pub fn floats(x: f32, y: f64) -> [u64; 4] {
        [x.next_up().to_bits() as u64, x.next_down().to_bits() as u64, y.next_up().to_bits(), y.next_down().to_bits()]
    }

    #[task]
    pub fn opts(a: Option<u32>, b: Option<u32>) -> (Option<(u32, u32)>, Option<u32>, Option<u32>, [bool; 6]) {
        let n = Some(a);
        let m = Some(b);
        let r: Result<u32, u8> = a.ok_or(3);
        let q: Result<u32, u8> = b.ok_or(4);
        (a.zip(b), a.xor(b), n.flatten(), [n < m, n == m, r < q, r >= q, r == q, r.max(q) == r])
    }

    #[task]
    pub fn sorts(a: &mut [[u32; 2]], v: &[i32]) -> (Option<usize>, Ordering, Option<Ordering>, Ordering) {
        a.sort_unstable_by(|x, y| y.cmp(x));
        a.sort_unstable_by_key(|x| x[1]);
        (v.iter().rposition(|x| *x < 0), v.cmp(&[1, 2]), [1.0, 2.0].partial_cmp(&[1.0, f32::NAN]), [v.len(), 1].cmp(&[3, 0]))
    }

    #[task]
    pub fn paths(a: u32, b: u32) -> [i32; 6] {
        let o = a.cmp(&b);
        [Ordering::reverse(o) as i32, Ordering::is_lt(o) as i32, Some(o).map(Ordering::reverse).unwrap() as i32, Ordering::then(o, Ordering::Less) as i32, (o == Ordering::Less) as i32, o.max(Ordering::Equal) as i32]
    }
}

millstream_tests::cases! {
    by_path(3, [7, 8]);
    by_path(9, [9, 9]);
    zipped(&[7, 8], 9);
    zipped(&[7, 8], 3);
    zipped(&[], 9);
    zipped(&[], 3);
    bits(0x1234_5678, -2, 40);
    bits(u32::MAX, 300, 3);
    floats(1.0, 0.0);
    floats(-0.0, f64::INFINITY);
    floats(f32::MAX, -f64::MIN_POSITIVE);
    floats(f32::NEG_INFINITY, -2.0);
    opts(Some(1), None);
    opts(None, Some(4));
    opts(Some(3), Some(3));
    opts(None, None);
    sorts(&mut [[1, 3], [4, 1], [2, 2]], &[1, -2, 3, -4, 5]);
    sorts(&mut [], &[1, 2]);
    paths(1, 2);
    paths(2, 2);
    paths(3, 2);
}
