//! What a chain copies where it is made: functions that variables hold, what a `scan` begins with, and what closures with `move` take. What becomes of the
//! variables afterwards is not seen in the chain, nor what the chain does with its copies outside.

#[millstream::program]
pub mod program {
    fn next(x: u32) -> u32 {
        x + 1
    }

    fn twice(x: u32) -> u32 {
        x * 2
    }

    fn odd(x: &u32) -> bool {
        x % 2 == 1
    }

    fn even(x: &u32) -> bool {
        x % 2 == 0
    }

    fn same(a: &u32, b: &u32) -> bool {
        a == b
    }

    fn near(a: &u32, b: &u32) -> bool {
        a.abs_diff(*b) < 2
    }

    fn three(x: u32) -> [u32; 3] {
        [x, x + 1, x * 3]
    }

    fn pair(x: u32) -> [u32; 3] {
        [x, 7, x]
    }

    fn doubled(x: &u32) -> Option<u32> {
        (*x < 100).then_some(x * 2)
    }

    fn tripled(x: &u32) -> Option<u32> {
        (*x < 100).then_some(x * 3)
    }

    fn both(f: impl Fn(u32) -> u32, x: u32) -> u32 {
        f(x) + 10 * f(x + 1)
    }

    #[task]
    #[allow(unused_assignments)]
    pub fn functions(n: u32) -> [u32; 10] {
        let mut r = [0; 10];
        let mut f: fn(u32) -> u32 = next;
        let it = (0..n).map(f);
        f = twice;
        r[0] = it.sum::<u32>() + f(10);
        f = next;
        for x in (0..n).map(f) {
            r[1] = r[1] * 3 + x;
            f = twice;
        }
        f = next;
        (0..n).map(f).for_each(|x| {
            r[2] = r[2] * 3 + x;
            f = twice;
        });
        let mut p: fn(&u32) -> bool = odd;
        let (it, at_first) = ((0..n).filter(p), (1..n).take_while(p));
        let mut drawn = (0..n).skip_while(p);
        p = even;
        r[3] = it.sum::<u32>() + at_first.count() as u32 + p(&4) as u32;
        while let Some(x) = drawn.next() {
            r[4] = r[4] * 3 + x;
        }
        let a = [1u32, 1, 2, 3, 9, 9, 4];
        let mut alike: fn(&u32, &u32) -> bool = same;
        let parts = a.chunk_by(alike);
        alike = near;
        r[5] = parts.count() as u32 + 10 * alike(&1, &2) as u32;
        let mut g: fn(&u32) -> Option<u32> = doubled;
        let it = std::iter::successors(Some(1), g);
        g = tripled;
        r[6] = it.sum::<u32>() + g(&5).unwrap_or(0);
        f = next;
        r[7] = both(f, {
            f = twice;
            5
        });
        let mut each: fn(u32) -> [u32; 3] = three;
        let it = (0..n).flat_map(each);
        each = pair;
        r[8] = it.sum();
        for x in (0..n).flat_map(each) {
            each = three;
            r[9] = (r[9] * 3 + x) % 1_000_003;
        }
        r
    }

    #[derive(Clone, Copy)]
    struct Rule {
        of: fn(u32) -> u32,
        to: u32,
    }

    impl Rule {
        fn sum(&self, n: u32) -> u32 {
            (0..n).map(self.of).sum()
        }

        fn at(&self, a: &[u32]) -> Option<usize> {
            a.iter().copied().map(self.of).position(|x| x == self.to)
        }
    }

    /// Functions that lie in arrays, fields and behind references.
    #[task]
    pub fn places(n: u32) -> [u32; 7] {
        let mut r = [0; 7];
        let rules = [next, twice];
        let mut i = 0;
        let it = (0..n).map(rules[i]);
        i = 1;
        r[0] = it.sum::<u32>() + (0..n).map(rules[i]).sum::<u32>();
        let mut f: fn(u32) -> u32 = next;
        let mut with = (f, 3);
        let it = (0..n).map(with.0);
        with.0 = twice;
        r[1] = it.sum::<u32>() + (with.0)(with.1);
        let lent = &mut f;
        let it = (0..n).map(*lent);
        *lent = twice;
        r[2] = it.sum::<u32>() + f(7);
        let all = |x: u32, y: u32| (x * 3 + y) % 1_000_003;
        r[3] = (0..2usize).flat_map(|i| (0..n).map(rules[i])).fold(0, all);
        r[4] = rules.iter().flat_map(|f| (0..n).map(*f)).fold(0, all);
        r[5] = rules.into_iter().flat_map(|f| (0..n).map(f)).fold(0, all);
        let rule = Rule { of: twice, to: 6 };
        r[6] = rule.sum(n) * 10 + rule.at(&[1, 2, 3, 4]).map_or(9, |at| at as u32);
        r
    }

    #[task]
    #[allow(unused_assignments)]
    pub fn taken(n: u32) -> [u32; 11] {
        let mut r = [0; 11];
        let mut k = 1;
        for x in (0..n).map(move |x| x + k) {
            k += 1;
            r[0] += x * k;
        }
        (0..n).map(move |x| x + k).for_each(|x| {
            k += 1;
            r[1] += x * k;
        });
        k = 2;
        let it = (0..n).scan(k, |s, x| {
            *s += x;
            Some(*s)
        });
        k = 100;
        r[2] = it.sum::<u32>() + k;
        k = 3;
        let steps = move |s: &mut u32, x| {
            *s += x;
            Some(*s + k)
        };
        for x in (0..n).scan(k, steps) {
            k += 1;
            r[3] += x;
        }
        for x in (0..n).flat_map(move |x| (0..k).map(move |y| x + y + k)) {
            k += x % 2;
            r[4] = (r[4] * 3 + x) % 1_000_003;
        }
        k = 2;
        let it = (0..n).flat_map(move |x| (0..k).map(move |y| x * k + y));
        k = 5;
        r[5] = it.sum();
        for (x, y) in (0..n).map(move |x| x * k).zip((0..n).map(move |y| y + k)) {
            k += 1;
            r[6] += x * y + k;
        }
        for x in (0..n)
            .rev()
            .filter(move |x| x % 2 == k % 2)
            .skip(1)
            .step_by(2)
        {
            k += 1;
            r[7] += x * k;
        }
        let mut v = [1; 8];
        for x in (0..v.len().min(3)).map(move |i| v[i]) {
            v[2] += x;
            r[8] += x;
        }
        for (x, y) in v.iter().zip(v.iter().map(move |y| y * k)) {
            k += 1;
            r[9] = (r[9] * 3 + x * y + k) % 1_000_003;
        }
        r[10] = k;
        r
    }

    /// Closures that change what they took: the variables outside stay as they are.
    #[task]
    #[allow(unused_assignments, unused_variables)]
    pub fn changed(n: u32) -> [u32; 10] {
        let mut r = [0; 10];
        let mut k = 2;
        r[0] = (0..n)
            .map(move |x| {
                k += x;
                k
            })
            .filter(move |x| {
                k += 1;
                x % 2 == k % 2
            })
            .sum::<u32>()
            + k;
        (0..n).for_each(move |x| {
            k += x;
            assert!(k >= x);
        });
        r[1] = k;
        r[2] = (0..n).fold(0, move |all, x| {
            k += x;
            all + k
        });
        r[3] = Some(n)
            .map(move |x| {
                k += x;
                k
            })
            .unwrap_or(0)
            + k;
        let mut a = [3, 1, 2, 5];
        a.sort_by_key(move |x| {
            k += 1;
            *x ^ 3
        });
        r[4] = k + a[0] * 100 + a[3];
        r[5] = (0..n)
            .position(move |x| {
                k += x;
                k > 9
            })
            .map_or(77, |at| at as u32)
            + k;
        r[6] = (0..n)
            .min_by_key(move |x| {
                k += 3;
                (k ^ x) % 5
            })
            .unwrap_or(0)
            + k;
        let mut it = (0..n).map(move |x| {
            k += x;
            k
        });
        while let Some(x) = it.next() {
            k += 1;
            r[7] = r[7] * 3 + x + k;
        }
        // A variable of the closure around them, which both have for themselves.
        r[8] = (0..n)
            .flat_map(|x| {
                let mut s = x;
                let by = 10;
                (0..3)
                    .map(move |y| {
                        s += y;
                        s
                    })
                    .chain((0..2).map(move |y| s * by + y))
            })
            .fold(0, |all, x| (all * 3 + x) % 1_000_003);
        r[9] = k;
        r
    }
}

millstream_tests::cases! {
    functions(0);
    functions(6);
    places(5);
    taken(6);
    taken(1);
    changed(6);
    changed(0);
}
