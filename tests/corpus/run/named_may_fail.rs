//! Iterators with names whose `map` indexes, divides or calls a function: copied, measured and taken from behind.

#[millstream::program]
pub mod program {
    fn more(i: &usize) -> u32 {
        *i as u32 + 1
    }

    #[task]
    pub fn asked(n: u32) -> (usize, u32, u32, u32, u32) {
        let (t, at) = ([1u32, 2, n + 1], [2usize, 0, 1]);
        let skipped = at.iter().map(|&i| t[i]).skip(1);
        let stepped = at.iter().map(more).step_by(2);
        let mut beside = at.iter().map(|&i| 60 / t[i]).zip(t.iter());
        let lens = skipped.len() + 10 * stepped.len() + 100 * beside.len();
        let copies = skipped.clone().sum::<u32>() + 10 * stepped.clone().sum::<u32>();
        let again = beside.clone().map(|(x, y)| x * y).sum::<u32>();
        let behind = beside.next_back().map_or(9, |(x, y)| x + y);
        let mut third = at.iter().map(more).skip(1);
        (lens, copies, again, behind, third.nth(1).unwrap_or(70) + skipped.rev().fold(0, |s, x| s * 3 + x))
    }
}

millstream_tests::cases! {
    asked(0);
    asked(6);
}
