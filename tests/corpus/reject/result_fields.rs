//! Fields beside those which children write may be used, but not these, nor all of it, nor elements of which nobody knows that they differ.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Default)]
    struct T {
        a: u64,
        b: u64,
    }

    #[task]
    pub fn leaf(n: u64) -> u64 {
        n + 1
    }

    #[task]
    pub fn whole(n: u64) -> u64 {
        let mut t = T::default();
        t.a = spawn!(leaf(n));
        let u = t;
        sync!();
        u.a
    }

    #[task]
    pub fn same(n: u64) -> u64 {
        let mut t = T::default();
        t.a = spawn!(leaf(n));
        t.b += t.a;
        sync!();
        t.b
    }

    #[derive(Clone, Copy, Default)]
    struct Both {
        n: u64,
        t: T,
    }

    #[task]
    pub fn pair(n: u64) -> T {
        T { a: n, b: n }
    }

    /// The first field of what awaits is not the first field beside it, also behind a reference.
    #[task]
    pub fn behind(n: u64) -> u64 {
        let mut both = Both::default();
        both.t = spawn!(pair(n));
        let seen = (&both.t).a + (*&both.t).b + both.n;
        sync!();
        seen
    }

    #[task]
    pub fn elements(n: u64) -> u64 {
        let mut t = [T::default(); 2];
        t[0].a = spawn!(leaf(n));
        t[1].a = 2;
        sync!();
        t[0].a + t[1].b
    }
}

//~ 20:17: `t` is used before its `sync!()`
//~   note: 19:15: a child that may still run writes to it
//~   help: put a `sync!()` in between
//~ 29:16: `t` is used before its `sync!()`
//~   note: 28:15: a child that may still run writes to it
//~   help: put a `sync!()` in between
//~ 50:20: `both` is used before its `sync!()`
//~   note: 49:18: a child that may still run writes to it
//~   help: put a `sync!()` in between
//~ 50:34: `both` is used before its `sync!()`
//~   note: 49:18: a child that may still run writes to it
//~   help: put a `sync!()` in between
//~ 59:9: `t` is assigned before its `sync!()`
//~   note: 58:18: a child that may still run writes to it
//~   help: put a `sync!()` in between
