//! A name within the ways to a result that is another one in the place which the result goes to.

#[millstream::program]
pub mod program {
    #[task]
    pub fn value(n: usize) -> u64 {
        n as u64
    }

    #[task]
    pub fn fill(n: usize, a: &mut [u64]) {
        let i = 0;
        a[i] = match n {
            i => spawn!(value(i)),
        };
        sync!();
        let mut t = 0;
        t += match n {
            0 => 1,
            t => spawn!(value(t)),
        };
        sync!();
        a[i] = t;
    }
}

//~ 14:13: `i` is another variable here than in the place that the child's result goes to
//~   help: give one of them another name
//~ 20:13: `t` is another variable here than in the place that the child's result goes to
//~   help: give one of them another name
