//! Results of one round of a loop that may still come in the next.

#[millstream::program]
pub mod program {
    #[task]
    pub fn leaf(i: u32) -> u32 {
        i
    }

    #[task]
    pub fn last(n: u32) -> u32 {
        let mut total = 0;
        for i in 0..n {
            let x = spawn!(leaf(i));
            if i == n - 1 {
                sync!();
                total += x;
            }
        }
        total
    }

    #[task]
    pub fn sums(n: u32) -> u32 {
        let mut total = 0;
        for i in 0..n {
            let mut sum = 0;
            if i < 3 {
                sum += spawn!(leaf(i));
                continue;
            }
            total += sum;
        }
        total
    }

    #[task]
    pub fn elements(n: u32) -> u32 {
        let mut a = [0; 4];
        let mut pair = (0, 0);
        for i in 0..n {
            a[1] = spawn!(leaf(i));
        }
        pair.0 = spawn!(leaf(1));
        pair.1 = spawn!(leaf(2));
        pair.0 += spawn!(leaf(3));
        sync!();
        a[1] + pair.0 + pair.1
    }

    #[task]
    pub fn fine(n: u32) -> u32 {
        let mut total = 0;
        let mut a = [0; 4];
        for i in 0..n {
            let x = spawn!(leaf(i));
            let unused = spawn!(leaf(i));
            a[i as usize % 4] += spawn!(leaf(i));
            sync!();
            a[0] = spawn!(leaf(i));
            a[1] = spawn!(leaf(i));
            total += x;
            sync!();
        }
        for x in a.iter_mut() {
            *x = spawn!(leaf(*x));
        }
        for i in 0..4 {
            let x = &mut a[i];
            *x = spawn!(leaf(*x));
            if i == 3 {
                sync!();
                *x += 1;
            }
        }
        total
    }
}

//~ 17:26: `x` may hold the result of a child of an earlier round
//~   note: 14:21: that child may still run when the next round begins
//~   help: put a `sync!()` at the end of the loop's body, on every way round
//~ 32:22: `sum` may hold the result of a child of an earlier round
//~   note: 29:24: that child may still run when the next round begins
//~   help: put a `sync!()` at the end of the loop's body, on every way round
//~ 42:20: this part of `a` already awaits the result of a child
//~   note: 42:20: this one, in the round before
//~   help: put a `sync!()` in between, take it in another variable, or gather both in the same way
//~ 46:19: this part of `pair` already awaits the result of a child
//~   note: 44:18: this one
//~   help: put a `sync!()` in between, take it in another variable, or gather both in the same way
