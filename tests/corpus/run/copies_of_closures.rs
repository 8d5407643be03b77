//! Closures that change what they took, `move |x| { k += x; k }`: they are copied where they are values, and go on where they are lent.

#[millstream::program]
pub mod program {
    fn summed(mut f: impl FnMut(u32) -> u32, n: u32) -> u32 {
        (0..n).map(|x| f(x)).sum()
    }

    fn counter(mut k: u32) -> impl FnMut(u32) -> u32 {
        move |x| {
            k += x;
            k
        }
    }

    #[task]
    pub fn copied(n: u32) -> [u32; 11] {
        let mut r = [0; 11];
        let mut k = 1;
        let mut count = move |x| {
            k += x;
            k
        };
        let mut other = count;
        r[0] = count(1) * 100 + count(1) * 10 + other(1);
        r[1] = summed(count, n) * 100 + summed(count, n);
        r[2] = count(1);
        r[3] = (0..n).map(count).sum::<u32>() * 100 + (0..n).map(count).sum::<u32>();
        (0..n).map(count).for_each(|x| r[4] = r[4] * 3 + x);
        r[4] += Some(n).map(count).unwrap_or(0);
        r[5] = summed(&mut count, n) + count(1);
        // One in another, which has a copy of it.
        let mut twice = move |x: u32| count(x) + count(x);
        let mut again = twice;
        r[6] = twice(1) * 100 + twice(1) * 10 + again(2) + count(0);
        let mut it = (0..n).map(move |x| {
            k += x + 1;
            k
        });
        let first = it.next().unwrap_or(0);
        let mut rest = it.clone();
        r[7] = first * 100 + it.next().unwrap_or(0) * 10 + rest.next().unwrap_or(0);
        let (mut one, mut another) = (counter(5), counter(7));
        r[8] = one(1) * 100 + another(2) * 10 + one(3);
        r[9] = k;
        let it = (0..n).map(move |x| {
            k += x;
            k
        });
        r[10] = it.clone().sum::<u32>() * 100 + it.sum::<u32>();
        r
    }
}

millstream_tests::cases! {
    copied(4);
    copied(0);
}
