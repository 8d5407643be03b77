//! Ranges and iterators behind `&mut`, which those who take all or some of their items leave without these.

#[millstream::program]
pub mod program {
    use std::ops::{Range, RangeInclusive};

    fn counted(r: &mut Range<u32>) -> u32 { r.count() as u32 }
    fn summed(r: &mut Range<u32>) -> u32 { r.sum() }
    fn folded(r: &mut Range<u32>) -> u32 { r.fold(1, |s, x| s * 3 + x) }
    fn most(r: &mut Range<u32>) -> u32 { r.max().unwrap_or(5) + 1 }
    fn reduced(r: &mut Range<u32>) -> u32 { r.reduce(|x, y| x * 2 + y).unwrap_or(4) }
    fn final_one(r: &mut Range<u32>) -> u32 { r.last().unwrap_or(4) }
    fn each(r: &mut Range<u32>) -> u32 { let mut s = 0; r.for_each(|x| s += x); s }
    fn turned(r: &mut Range<u32>) -> u32 { r.rev().fold(0, |s, x| s * 2 + x) }
    fn two(r: &mut Range<u32>) -> u32 { r.take(2).sum() }
    fn mapped(r: &mut Range<u32>) -> u32 { r.map(|x| x * 2).take(1).sum() }
    fn even(r: &mut Range<u32>) -> u32 { r.filter(|x| x % 2 == 0).next().unwrap_or(9) }
    fn but_one(r: &mut Range<u32>) -> u32 { r.skip(1).next().unwrap_or(9) }
    fn stepped(r: &mut Range<u32>) -> u32 { r.step_by(2).take(2).sum() }
    fn beside(r: &mut Range<u32>) -> u32 { r.zip(1..3).map(|(x, y)| x * y).sum() }
    fn behind(r: &mut Range<u32>) -> u32 { [4u32, 5].iter().zip(r).map(|(x, y)| x * y).sum() }
    fn chained(r: &mut Range<u32>) -> u32 { r.chain(7..9).sum() }
    fn numbered(r: &mut Range<u32>) -> u32 { r.enumerate().map(|(i, x)| i as u32 * x).sum() }
    fn until(r: &mut Range<u32>) -> u32 { r.take_while(|x| *x < 1).count() as u32 }
    fn looped(r: &mut Range<u32>) -> u32 {
        let mut s = 0;
        for x in r {
            s += x;
            if x > 1 {
                break;
            }
        }
        s
    }
    fn looked_at(r: &mut Range<u32>) -> u32 {
        let (mut p, mut s) = (r.peekable(), 0);
        while let Some(x) = p.next_if(|x| *x < 2) {
            s += x + 1;
        }
        s
    }
    fn measured(r: &mut Range<u32>) -> u32 { r.len() as u32 + 10 * u32::from(r.contains(&1)) }
    fn closed(r: &mut RangeInclusive<u32>) -> u32 { r.sum::<u32>() }

    /// What each gives, and where it leaves its range.
    #[task]
    pub fn used(n: u32) -> ([u32; 21], [u32; 21], u32, u32) {
        let (mut given, mut left) = ([0; 21], [0; 21]);
        let mut r = [0..n, 0..n, 0..n, 0..n, 0..n, 0..n, 0..n, 0..n, 0..n, 0..n, 0..n, 0..n, 0..n, 0..n, 0..n, 0..n, 0..n, 0..n, 0..n, 0..n, 0..n];
        given[0] = counted(&mut r[0]);
        given[1] = summed(&mut r[1]);
        given[2] = folded(&mut r[2]);
        given[3] = most(&mut r[3]);
        given[4] = reduced(&mut r[4]);
        given[5] = final_one(&mut r[5]);
        given[6] = each(&mut r[6]);
        given[7] = turned(&mut r[7]);
        given[8] = two(&mut r[8]);
        given[9] = mapped(&mut r[9]);
        given[10] = even(&mut r[10]);
        given[11] = but_one(&mut r[11]);
        given[12] = stepped(&mut r[12]);
        given[13] = beside(&mut r[13]);
        given[14] = behind(&mut r[14]);
        given[15] = chained(&mut r[15]);
        given[16] = numbered(&mut r[16]);
        given[17] = until(&mut r[17]);
        given[18] = looped(&mut r[18]);
        given[19] = looked_at(&mut r[19]);
        given[20] = measured(&mut r[20]);
        for (l, r) in left.iter_mut().zip(&r) {
            *l = r.start * 100 + r.end;
        }
        let mut c = 1..=n;
        (given, left, closed(&mut c), c.count() as u32)
    }

    fn some<I: Iterator<Item = u32>>(it: &mut I) -> u32 {
        let mut s = 0;
        for x in it {
            s += x;
            if s > 2 {
                break;
            }
        }
        s
    }

    fn pair(it: &mut impl Iterator<Item = u32>) -> u32 {
        it.take(2).sum()
    }

    fn rest(it: impl Iterator<Item = u32>) -> u32 {
        it.map(|x| x + 1).sum()
    }

    #[task]
    pub fn lent(a: &[u32]) -> (u32, u32, u32, u32, usize) {
        let mut it = a.iter().copied();
        let (x, y, left) = (some(&mut it), pair(&mut it), it.len());
        let z = it.next().unwrap_or(30);
        (x, y, z, rest(&mut it), left + 10 * it.len())
    }

    /// A range that ends before it begins ends where it has no item of that number.
    #[task]
    pub fn reversed(n: u32) -> (u32, u32, u32) {
        let mut r = 9..n;
        let r_of = &mut r;
        let x = r_of.nth(1).unwrap_or(50);
        (x, r.start, r.end)
    }
}

millstream_tests::cases! {
    used(0);
    used(1);
    used(6);
    lent(&[1, 2, 3, 4, 5, 6, 7]);
    lent(&[1]);
    reversed(2);
    reversed(20);
}
