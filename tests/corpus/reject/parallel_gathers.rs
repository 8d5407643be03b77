//! What is gathered in something else than a variable, or not by an operator.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Default)]
    pub struct Stats {
        sum: u64,
        n: u32,
    }

    impl Stats {
        pub fn add(&mut self, data: &[u32]) {
            #[parallel]
            for x in data {
                self.sum += u64::from(*x);
            }
        }
    }

    fn total(data: &[u32], sum: &mut u64) {
        #[parallel]
        for x in data {
            *sum += u64::from(*x);
        }
    }

    #[task]
    pub fn counts(data: &[u32], out: &mut [u32], m: MatMut<u32>) -> u32 {
        let (mut stats, mut seen, mut all, mut counts) = (Stats::default(), false, true, [0; 9]);
        let (mut most, mut m) = (0, m);
        #[parallel]
        for (i, &x) in data.iter().enumerate() {
            stats.n -= 1;
            counts[x as usize % 9] += 1;
            out[i] |= x;
            m[(i, i)] *= 2;
            if x == 3 {
                seen = true;
            }
            if x > 9 {
                all = false;
            }
            if x > most {
                most = x;
            }
        }
        stats.n
    }
}

//~ 15:17: `self` is changed by several rounds of a parallel loop at once
//~   help: only a whole variable is gathered in: write `let mut sum = 0;` in front of the loop, gather in `sum`, and add it here behind the loop
//~ 23:13: `sum` is changed by several rounds of a parallel loop at once
//~   help: only a whole variable is gathered in: write `let mut sum = 0;` in front of the loop, gather in `sum`, and add it here behind the loop
//~ 33:13: `stats` is changed by several rounds of a parallel loop at once
//~   help: only a whole variable is gathered in: write `let mut sum = 0;` in front of the loop, gather in `sum`, and add it here behind the loop
//~ 34:13: `counts` is changed by several rounds of a parallel loop at once
//~   help: elements are not gathered in: share atomics (`a[i].fetch_add(..)`), run over what is written to (`for x in a.iter_mut()`), or gather in a variable each
//~ 35:13: `out` is changed by several rounds of a parallel loop at once
//~   help: elements are not gathered in: share atomics (`a[i].fetch_add(..)`), run over what is written to (`for x in a.iter_mut()`), or gather in a variable each
//~ 36:13: `m` is changed by several rounds of a parallel loop at once
//~   help: elements are not gathered in: share atomics (`a[i].fetch_add(..)`), run over what is written to (`for x in a.iter_mut()`), or gather in a variable each
//~ 38:17: `seen` is changed by several rounds of a parallel loop at once
//~   help: gather whether it is so: `seen |= ..`
//~ 41:17: `all` is changed by several rounds of a parallel loop at once
//~   help: gather whether it is so: `all &= ..`
//~ 44:17: `most` is changed by several rounds of a parallel loop at once
//~   help: gather in a variable (`x += ..`, `x = x.max(..)`), run over what is written to (`for x in out.iter_mut()`, with `zip` and `enumerate`), or share atomics
