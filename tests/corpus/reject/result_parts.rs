//! Arrays and tuples of results under one name, and what cannot stand beside them.

#[millstream::program]
pub mod program {
    #[task]
    pub fn value(n: usize) -> usize {
        n
    }

    fn next(state: &mut usize) -> usize {
        *state += 1;
        *state
    }

    #[task]
    pub fn parts(n: usize, a: &[usize]) -> usize {
        let mut state = n;
        let all = [spawn!(value(next(&mut state))), next(&mut state)];
        let pair = (a[0], spawn!(value(a[1])), a[2]);
        let [a, b, c] = spawn!(value(3));
        sync!();
        all[0] + pair.1
    }
}

//~ 18:53: this is evaluated behind a child's arguments, and takes its place before the child's result does
//~   help: give it a name by a `let` before, and write that
//~ 20:13: expected `[_; 3]`, found `usize`
