//! What a pattern or an assignment cannot take apart of children's results.

#[millstream::program]
mod program {
    #[task]
    fn child(n: u32) -> [u32; 3] {
        [n, n + 1, n + 2]
    }

    #[task]
    fn one(n: u32) -> u32 {
        n
    }

    #[task]
    fn rest(n: u32) -> u32 {
        let [a, rest @ ..] = spawn!(child(n));
        sync!();
        a + rest[0]
    }

    #[task]
    fn more(n: u32) -> u32 {
        let [a, b, c, d, ..] = spawn!(child(n));
        sync!();
        a + b + c + d
    }

    #[task]
    fn turned(n: u32) -> u32 {
        let (mut a, mut b) = (n, 2);
        (a, b) = (spawn!(one(b)), a);
        sync!();
        a + b
    }
}

//~ 17:13: elements of a child's result have names one by one
//~   help: give it a name, and take it apart after the `sync!()`
//~ 24:13: a pattern of 4 elements for an array of 3
//~ 32:35: this is meant to read `a` as it was before the child's result goes there
//~   help: take the results by a `let`, and assign them after the `sync!()`
