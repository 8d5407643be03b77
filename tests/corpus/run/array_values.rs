//! Arrays are values: what was read stays what it was, whatever is assigned, lent or exchanged afterwards.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Pair {
        pub a: [i32; 3],
        pub b: [i32; 3],
    }

    fn set(a: &mut [i32; 3], to: i32) -> i32 {
        let old = a[0];
        a[0] = to;
        old
    }

    fn all(a: [i32; 3], n: i32, b: [i32; 3]) -> i32 {
        a[0] * 100 + n * 10 + b[0]
    }

    fn second(pair: ([i32; 3], i32), p: Pair) -> i32 {
        pair.0[0] * 10 + p.b[0]
    }

    /// A `for` over an array runs over the array as it was.
    #[task]
    pub fn loops(k: i32) -> (i32, i32, [i32; 3]) {
        let mut a = [1, 2, 3];
        let mut sum = 0;
        for x in a {
            a[2] = 10 * k;
            sum += x;
        }
        let mut p = Pair { a, b: [0; 3] };
        for x in p.a {
            p.a.swap(0, 2);
            p.b[0] += x;
            sum += x;
        }
        let r = &mut p;
        for x in r.a {
            sum += x * set(&mut r.a, 7);
        }
        for x in a {
            sum += x + a[0];
        }
        (sum, p.b[0], p.a)
    }

    /// An argument is not changed by those after it.
    #[task]
    pub fn arguments(k: i32) -> [i32; 7] {
        let mut a = [k, 2, 3];
        let by_call = all(a, set(&mut a, 5), a);
        let by_block = all(
            a,
            {
                a[0] = 6;
                1
            },
            a,
        );
        let by_method = all(
            a,
            {
                a.reverse();
                2
            },
            a,
        );
        let p = Pair { a, b: a };
        let of_tuple = second((a, set(&mut a, 8)), Pair { a: p.b, b: a });
        let guarded = match (a, k) {
            (_, _) if set(&mut a, 9) == 1 => 0,
            (before, _) => before[0] * 10 + a[0],
        };
        let same = (a[0], 1) == (9, 1) && a[0] == set(&mut a, 1);
        [by_call, by_block, by_method, of_tuple, guarded, same as i32, a[0]]
    }

    /// The parts of a value are read before any is written.
    #[task]
    pub fn assignments(k: i32) -> (Pair, ([i32; 3], [i32; 3]), Pair) {
        let mut p = Pair { a: [k; 3], b: [2; 3] };
        p = Pair { a: p.b, b: p.a };
        let mut t = (p.a, p.b);
        t = (t.1, t.0);
        let mut q = p;
        let r = &mut q;
        *r = Pair { b: r.a, a: r.b };
        if k > 0 {
            p = if k > 1 { p } else { Pair { a: p.b, ..Pair { a: p.b, b: p.a } } };
        }
        (p, t, q)
    }

    #[task]
    pub fn first(a: [i32; 3], n: i32) -> i32 {
        a[0] * 10 + n
    }

    #[task]
    pub fn children(k: i32) -> [i32; 4] {
        let mut a = [k, 2, 3];
        let mut out = [0; 4];
        out[0] = spawn!(first(a, set(&mut a, 4)));
        out[set(&mut a, 5) as usize - 3] = spawn!(first(a, 1));
        for x in a {
            a[1] = 0;
            out[2] += spawn!(first(a, x));
        }
        sync!();
        for x in out {
            out[3] += x;
        }
        out
    }
}

millstream_tests::cases! {
    loops(1);
    loops(4);
    arguments(1);
    arguments(2);
    assignments(1);
    assignments(2);
    assignments(0);
    children(1);
}
