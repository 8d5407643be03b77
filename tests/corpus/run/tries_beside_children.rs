//! `?` while children are pending, to which something was lent or whose results go to parts of what is there: it waits for them, as `return` does.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Why {
        Zero,
        Much(u32),
    }

    impl From<u32> for Why {
        fn from(much: u32) -> Self {
            Why::Much(much)
        }
    }

    fn tame(n: u32) -> Result<u32, u32> {
        if n > 9 { Err(n) } else { Ok(n + 1) }
    }

    fn some(n: u32) -> Option<u32> {
        if n == 0 { None } else { Some(n - 1) }
    }

    #[task]
    pub fn one(n: u32) -> u32 {
        n * 2
    }

    #[task]
    pub fn fill(to: &mut [u32], n: u32) {
        for x in to.iter_mut() {
            *x += n;
        }
    }

    /// Into an element, and another error than the one that is there.
    #[task]
    pub fn element(n: u32) -> Result<u32, Why> {
        let mut r = [0; 4];
        r[0] = spawn!(one(n));
        let more = tame(n)?;
        r[1] = spawn!(one(more));
        sync!();
        if r[0] == 0 {
            return Err(Why::Zero);
        }
        Ok(r[0] + r[1] + tame(r[1] / 2)?)
    }

    /// Lent, in a loop.
    #[task]
    pub fn lent(n: u32) -> Option<u32> {
        let mut rows = [[0u32; 3]; 2];
        let mut left = n;
        for k in 0..3 {
            let (a, b) = rows.split_at_mut(1);
            spawn!(fill(&mut a[0], k));
            left = some(left)?;
            spawn!(fill(&mut b[0], left));
            sync!();
        }
        Some(rows[0][1] * 100 + rows[1][2])
    }

    /// As a task's value, and in a closure, which `?` leaves alone.
    #[task]
    pub fn value(n: u32) -> Result<u32, u32> {
        let mut pair = (0, 0);
        pair.0 = spawn!(one(n));
        let twice = |x: u32| -> Option<u32> { Some(some(some(x)?)?) };
        let other = tame(twice(n).unwrap_or(50))?;
        sync!();
        pair.1 = other;
        Ok(pair.0 + tame(pair.1)?)
    }

    /// What was lent is written to all the same.
    #[task]
    pub fn written(out: &mut [u32], n: u32) -> Result<(), u32> {
        spawn!(fill(&mut *out, n));
        tame(n)?;
        sync!();
        out[0] += 1;
        Ok(())
    }
}

millstream_tests::cases! {
    element(0);
    element(3);
    element(9);
    element(12);
    lent(0);
    lent(2);
    lent(7);
    value(1);
    value(3);
    value(12);
    value(20);
    written(&mut [1, 2, 3], 4);
    written(&mut [1, 2, 3], 40);
}
