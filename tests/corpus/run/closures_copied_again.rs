//! Closures that change what they took, given to functions that call themselves: by value each call has a copy, by `&mut` all go on with one.

#[millstream::program]
pub mod program {
    fn by_value<F: FnMut() -> u32 + Copy>(mut f: F, n: u32) -> u32 {
        if n == 0 {
            return f();
        }
        let first = f();
        first + by_value(f, n - 1) * 10 + f() * 100_000
    }

    fn by_clone<F: FnMut() -> u32 + Clone>(mut f: F, n: u32) -> u32 {
        if n == 0 {
            return f();
        }
        let first = f();
        first + by_clone(f.clone(), n - 1) * 10 + f() * 100_000
    }

    fn lent<F: FnMut() -> u32>(f: &mut F, n: u32) -> u32 {
        if n == 0 {
            return f();
        }
        let first = f();
        first + lent(f, n - 1) * 10 + f() * 100_000
    }

    fn lent_on(f: &mut dyn FnMut() -> u32, n: u32) -> u32 {
        if n == 0 {
            return f();
        }
        let first = f();
        first + lent_on(&mut *f, n - 1) * 10 + f() * 100_000
    }

    fn copied_inside<F: FnMut() -> u32 + Copy>(mut f: F, n: u32) -> u32 {
        if n == 0 {
            return f();
        }
        let mut g = f;
        let twice = g() + g() * 10;
        twice + copied_inside(g, n - 1) * 100 + f() * 10_000
    }

    fn in_turn<F: FnMut() -> u32 + Copy, G: FnMut() -> u32 + Copy>(mut f: F, mut g: G, n: u32) -> u32 {
        if n == 0 {
            return f() + g() * 100;
        }
        f();
        in_turn(g, f, n - 1) + f() + g()
    }

    fn once<F: FnMut() -> u32>(f: &mut F) -> u32 {
        f()
    }

    /// What is lent is handed on by its name.
    fn twice<F: FnMut() -> u32>(f: &mut F) -> u32 {
        once(f) + once(f) * 10
    }

    #[task]
    pub fn values(n: u32) -> (u32, u32, u32) {
        let mut q = 0;
        let all = by_value(
            move || {
                q += 1;
                q
            },
            n,
        );
        let f = move || {
            q += 2;
            q
        };
        (all + q, by_value(f, n) + 3 * by_value(f, 1), by_clone(f, n))
    }

    #[task]
    pub fn references(n: u32) -> (u32, u32, u32) {
        let mut q = n;
        let mut f = move || {
            q += 1;
            q
        };
        let all = lent(&mut f, n) + 7 * f();
        let more = lent_on(&mut f, n) + 7 * f();
        (all, more, twice(&mut f) + 100 * f())
    }

    #[task]
    pub fn parts(n: u32) -> (u32, u32, u32) {
        let (mut q, mut pair, mut counts) = (0, (0, 1), [0u32; 3]);
        let inside = copied_inside(
            move || {
                q += 1;
                q
            },
            n,
        );
        let both = in_turn(
            move || {
                pair.0 += 1;
                pair.1 += pair.0;
                pair.1
            },
            move || {
                counts[1] += 2;
                counts[0] += counts[1];
                counts[0]
            },
            n,
        );
        let mut f = move || {
            q += 1;
            q
        };
        let mut g = move || f() * 2;
        (inside, both, by_value(g, n) + g() + f())
    }
}

millstream_tests::cases! {
    values(0);
    values(3);
    references(0);
    references(2);
    parts(0);
    parts(2);
}
