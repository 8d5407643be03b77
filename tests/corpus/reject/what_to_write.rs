//! What is not there, with what to write instead.

#[millstream::program]
pub mod program {
    use std::sync::Mutex;

    #[derive(Clone, Copy)]
    struct NoDefault(u32);

    #[derive(Clone, Copy, Default)]
    struct HasOne(NoDefault);

    #[task]
    pub fn child(n: u64, m: u64) -> u64 {
        n + m
    }

    #[task]
    pub fn bodies(data: &[i64], other: &[i64], n: u64) -> u64 {
        let (mut a, mut b) = (data, other);
        std::mem::swap(&mut a, &mut b);
        let old = std::mem::replace(&mut a, b);
        let [x, rest @ ..] = data;
        if let Some((x, rest)) = data.split_first() {}
        let none = NoDefault::default();
        let lost = HasOne::default();
        let open = Default::default();
        let long: [u8; 33] = Default::default();
        n
    }
}

//~ 23:13: this pattern leaves slices that are shorter
//~   help: say what happens there: `let [x, rest @ ..] = a else { .. };`, or `match`
//~ 25:20: `NoDefault` has no default
//~   help: put `#[derive(Default)]` in front of the struct
//~ 26:20: `NoDefault` has no default
//~   help: put `#[derive(Default)]` in front of the struct
//~ 27:20: the type must be known here
//~   help: write the type where the variable is declared, or `T::default()`
//~ 28:30: `[u8; 33]` has no default
//~   help: write `[0; N]`: Rust has defaults of up to 32 elements
