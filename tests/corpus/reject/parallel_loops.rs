//! What rounds that run side by side may not do.

#[millstream::program]
pub mod program {
    #[task]
    pub fn changed(out: &mut [u32], m: MatMut<u32>, n: usize) -> u32 {
        let (mut last, mut own) = (0, [0; 4]);
        #[parallel]
        for i in 0..n {
            last = i as u32;
            own[i % 4] = 1;
            out[i] += 1;
            fill(&mut own);
            fill(out);
            let again = &mut out[1..];
            again[0] = 1;
        }
        let mut m = m;
        #[parallel]
        for i in 0..n {
            m[(i, i)] = 3;
        }
        last
    }

    #[task]
    pub fn gathered(n: u64) -> u64 {
        let (mut a, mut b, mut c, mut d, mut e, mut f, mut g) = (0, 0, 1, 0, 0, 0, 0);
        #[parallel]
        for i in 0..n {
            a += i + a;
            b += i;
            b |= i;
            c /= 2;
            d = d.max(i).min(3);
            d = i.max(d + 1);
            e = i - e;
            f -= i * f;
            g -= i;
            g *= 2;
        }
        a + b + c + d
    }

    #[task]
    pub fn lent(out: &mut [u32], m: MatMut<u32>, n: usize) {
        let mut m = m;
        #[parallel]
        for i in 0..n {
            for x in out.iter_mut() {
                *x += 1;
            }
            out.fill(1);
            out[1..].swap(0, 1);
            let (a, b) = out.split_at_mut(i);
            a[0] = b[0];
            m.row_mut(i)[0] = 1;
            for row in m.row_iter_mut() {
                row[0] = 1;
            }
        }
    }

    #[task]
    pub fn turned(data: &[u32]) {
        #[parallel]
        for _ in data.iter().rev() {}
        #[parallel]
        for _ in (0..data.len()).rev().step_by(2) {}
    }

    #[kernel]
    pub fn emits(x: u32, next: Channel<u32>) {
        #[parallel]
        for i in 0..x {
            next.emit(i);
        }
    }

    fn fill(data: &mut [u32]) {
        data[0] = 1;
    }
}

//~ 10:13: `last` is changed by several rounds of a parallel loop at once
//~   help: gather in a variable (`x += ..`, `x = x.max(..)`), run over what is written to (`for x in out.iter_mut()`, with `zip` and `enumerate`), or share atomics
//~ 11:13: `own` is changed by several rounds of a parallel loop at once
//~   help: run over what is written to, so that each round has an item of its own (`for (i, x) in out.iter_mut().enumerate()`, several by `zip`), or share atomics
//~ 12:13: `out` is changed by several rounds of a parallel loop at once
//~   help: elements are not gathered in: share atomics (`a[i].fetch_add(..)`), run over what is written to (`for x in a.iter_mut()`), or gather in a variable each
//~ 13:18: `own` is changed by several rounds of a parallel loop at once
//~   help: gather in a variable (`x += ..`, `x = x.max(..)`), run over what is written to (`for x in out.iter_mut()`, with `zip` and `enumerate`), or share atomics
//~ 14:18: `out` is changed by several rounds of a parallel loop at once
//~   help: gather in a variable (`x += ..`, `x = x.max(..)`), run over what is written to (`for x in out.iter_mut()`, with `zip` and `enumerate`), or share atomics
//~ 15:25: `out` is changed by several rounds of a parallel loop at once
//~   help: gather in a variable (`x += ..`, `x = x.max(..)`), run over what is written to (`for x in out.iter_mut()`, with `zip` and `enumerate`), or share atomics
//~ 21:13: `m` is changed by several rounds of a parallel loop at once
//~   help: run over the rows, so that each round has one of its own: `for (i, row) in m.row_iter_mut().enumerate()`
//~ 31:13: `a` is gathered in a parallel loop that also reads it
//~   help: rounds run side by side: read it after the loop, or gather in a second variable
//~ 33:13: `b` is gathered in two ways
//~   note: 32:13: this is the other one
//~   help: use a variable for each
//~ 34:13: `c` is changed by several rounds of a parallel loop at once
//~   help: gather in a variable (`x += ..`, `x = x.max(..)`), run over what is written to (`for x in out.iter_mut()`, with `zip` and `enumerate`), or share atomics
//~ 35:13: `d` is changed by several rounds of a parallel loop at once
//~   help: gather in a variable (`x += ..`, `x = x.max(..)`), run over what is written to (`for x in out.iter_mut()`, with `zip` and `enumerate`), or share atomics
//~ 36:13: `d` is changed by several rounds of a parallel loop at once
//~   help: gather in a variable (`x += ..`, `x = x.max(..)`), run over what is written to (`for x in out.iter_mut()`, with `zip` and `enumerate`), or share atomics
//~ 37:13: `e` is changed by several rounds of a parallel loop at once
//~   help: gather in a variable (`x += ..`, `x = x.max(..)`), run over what is written to (`for x in out.iter_mut()`, with `zip` and `enumerate`), or share atomics
//~ 38:13: `f` is gathered in a parallel loop that also reads it
//~   help: rounds run side by side: read it after the loop, or gather in a second variable
//~ 40:13: `g` is gathered in two ways
//~   note: 39:13: this is the other one
//~   help: use a variable for each
//~ 50:22: `out` is changed by several rounds of a parallel loop at once
//~   help: gather in a variable (`x += ..`, `x = x.max(..)`), run over what is written to (`for x in out.iter_mut()`, with `zip` and `enumerate`), or share atomics
//~ 53:13: `out` is changed by several rounds of a parallel loop at once
//~   help: gather in a variable (`x += ..`, `x = x.max(..)`), run over what is written to (`for x in out.iter_mut()`, with `zip` and `enumerate`), or share atomics
//~ 54:13: `out` is changed by several rounds of a parallel loop at once
//~   help: gather in a variable (`x += ..`, `x = x.max(..)`), run over what is written to (`for x in out.iter_mut()`, with `zip` and `enumerate`), or share atomics
//~ 55:26: `out` is changed by several rounds of a parallel loop at once
//~   help: gather in a variable (`x += ..`, `x = x.max(..)`), run over what is written to (`for x in out.iter_mut()`, with `zip` and `enumerate`), or share atomics
//~ 57:13: `m` is changed by several rounds of a parallel loop at once
//~   help: gather in a variable (`x += ..`, `x = x.max(..)`), run over what is written to (`for x in out.iter_mut()`, with `zip` and `enumerate`), or share atomics
//~ 58:24: `m` is changed by several rounds of a parallel loop at once
//~   help: gather in a variable (`x += ..`, `x = x.max(..)`), run over what is written to (`for x in out.iter_mut()`, with `zip` and `enumerate`), or share atomics
//~ 66:9: `rev` of a parallel loop
//~   help: its rounds run side by side, in no order: leave it out
//~ 68:9: `rev` of a parallel loop
//~   help: its rounds run side by side, in no order: leave it out
//~ 76:13: a parallel loop cannot emit
//~   help: emit in a loop without `#[parallel]`
