//! When a chain evaluates what it runs over and counts: all of it at first, in the order in which it is written. What becomes of it afterwards is not seen.

#[millstream::program]
pub mod program {
    fn bump(s: &mut u32) -> u32 {
        *s += 1;
        *s
    }

    #[task]
    pub fn effects(n: u32) -> [u32; 11] {
        let mut r = [0u32; 11];
        let mut s = n;
        for i in (bump(&mut s)..20).take(bump(&mut s) as usize) {
            r[0] = r[0] * 7 + i;
        }
        for i in (bump(&mut s)..20)
            .skip(bump(&mut s) as usize)
            .step_by(bump(&mut s) as usize)
        {
            r[1] = r[1] * 7 + i;
        }
        for (i, j) in (bump(&mut s)..20).zip(bump(&mut s)..) {
            r[2] = r[2] * 7 + i * j;
        }
        r[3] = (bump(&mut s)..30)
            .scan(bump(&mut s), |all, x| {
                *all += x;
                Some(*all)
            })
            .fold(bump(&mut s), |all, x| all * 3 + x);
        r[4] = (0..bump(&mut s))
            .chain(0..bump(&mut s))
            .nth(bump(&mut s) as usize)
            .unwrap_or(bump(&mut s));
        r[5] = [bump(&mut s), 3]
            .into_iter()
            .chain([bump(&mut s)])
            .take(bump(&mut s) as usize)
            .fold(0, |all, x| all * 7 + x);
        let it = (bump(&mut s)..50)
            .skip(bump(&mut s) as usize % 4)
            .zip((bump(&mut s)..).step_by(bump(&mut s) as usize));
        r[6] = s;
        r[7] = it.map(|(a, b)| a ^ b).sum();
        r[8] = (bump(&mut s)..=bump(&mut s) + 3)
            .rev()
            .fold(bump(&mut s), |all, x| all * 3 ^ x);
        // What comes second is evaluated though its turn never comes.
        r[9] = (0..3).chain(0..bump(&mut s)).next().unwrap_or(7);
        r[10] = s;
        r
    }

    struct Rows<'a> {
        cells: &'a [u32],
        width: usize,
        from: usize,
    }

    impl<'a> Rows<'a> {
        fn row(&self, y: usize) -> impl Iterator<Item = &'a u32> {
            self.cells[y * self.width..][..self.width].iter()
        }

        fn turned(&mut self) -> usize {
            let mut all = 0;
            for i in (self.from..self.width).chain(0..self.from) {
                self.from = (self.from + 1) % self.width;
                all = all * 5 + i;
            }
            all
        }
    }

    /// Bounds and arrays that are changed while the chain runs.
    #[task]
    #[allow(unused_assignments)]
    pub fn bounds(n: usize) -> [u32; 16] {
        let mut r = [0u32; 16];
        let mut k = n;
        for i in (0..k).chain(k..9) {
            k += 1;
            r[0] = r[0] * 3 + i as u32;
        }
        let a = [1u32, 2, 3, 4, 5, 6];
        k = n;
        for i in a[..k].iter().chain(&a[k..]) {
            k = 0;
            r[1] = r[1] * 3 + i;
        }
        k = n;
        a[..k].iter().chain(&a[k..]).for_each(|i| {
            k = 0;
            r[2] = r[2] * 3 + i;
        });
        k = n;
        for i in a[k..].iter().rev().chain(a[..k].iter().take(k)).skip(k) {
            k = 0;
            r[3] = r[3] * 3 + i;
        }
        let mut o = Some(4);
        for i in a.iter().copied().chain(o) {
            o = Some(9);
            r[4] = r[4] * 3 + i;
        }
        let mut q = a;
        for i in q.into_iter().chain(q) {
            q[3] = 0;
            r[5] = r[5] * 3 + i;
        }
        let mut rows = Rows {
            cells: &a,
            width: 3,
            from: 1,
        };
        k = 0;
        for x in rows.row(k).chain(rows.row(k + 1)) {
            k = 1;
            r[6] = r[6] * 3 + x;
        }
        r[7] = rows.turned() as u32;
        let mut b = a;
        k = n;
        let (low, high) = b.split_at_mut(3);
        for x in low.iter_mut().chain(high[k..].iter_mut()) {
            k = 0;
            *x += 10;
        }
        k = n;
        for (i, x) in b.chunks(k).chain(b.windows(k + 1)).enumerate() {
            k = 3;
            r[8] = r[8] * 3 + x.len() as u32 * i as u32 + x[0];
        }
        k = n;
        for x in (0..k)
            .flat_map(|i| a[i..].iter())
            .chain(a[k..].iter())
            .skip(k)
            .step_by(k)
        {
            k = 4;
            r[9] = r[9] * 3 + x;
        }
        k = n;
        for x in std::iter::repeat_n(7, k)
            .chain(std::iter::once(k))
            .chain(std::iter::successors(Some(k), |x| {
                (*x < 30).then_some(x * 2)
            }))
        {
            k = 9;
            r[10] = r[10] * 3 + x as u32;
        }
        k = n;
        r[11] = a[..k]
            .iter()
            .chain(&a[k..])
            .map(|x| {
                k += 1;
                x * k as u32
            })
            .sum();
        k = n;
        r[12] = a[..k]
            .iter()
            .chain(&a[k..])
            .position(|x| {
                k = 0;
                *x > 4
            })
            .unwrap_or(k) as u32;
        k = n;
        if let Some(x) = a[..k].iter().chain(&a[k..]).find(|x| {
            k = 0;
            **x > 4
        }) {
            r[13] = *x;
        }
        k = n;
        for (i, x) in (0..k).chain(5..5 + k).zip(a[k..].iter().chain(&a[..k])) {
            k = 0;
            r[14] = r[14] * 3 + x * i as u32;
        }
        k = n;
        r[15] = a[..k]
            .iter()
            .chain(a[k..].iter().rev())
            .copied()
            .reduce(|all, x| {
                k = 0;
                all * 3 + x
            })
            .unwrap_or(0);
        r
    }

    struct Count(u32);

    impl Iterator for Count {
        type Item = u32;

        fn next(&mut self) -> Option<u32> {
            self.0 += 1;
            (self.0 < 6).then_some(self.0)
        }
    }

    #[task]
    #[allow(unused_assignments)]
    pub fn own(n: u32) -> (u32, u32) {
        let (mut from, mut k, mut all) = (Count(n), n, 0);
        for x in from.by_ref().chain(Count(k)).chain(k..k + 3) {
            k += 1;
            all = all * 3 + x;
        }
        (all, from.0)
    }
}

millstream_tests::cases! {
    effects(1);
    effects(4);
    bounds(2);
    bounds(1);
    own(1);
    own(3);
}
