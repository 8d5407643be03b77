//! Where an `Option` is taken for what it holds, or something of it is left.

#[millstream::program]
pub mod program {
    fn plain(x: Option<u32>) -> u32 {
        x? + 1
    }

    fn halved(x: u32) -> Option<u32> {
        if x % 2 == 0 { Some(x / 2) } else { None }
    }

    #[task]
    pub fn child(n: u32) -> Option<u32> {
        halved(n)
    }

    #[task]
    pub fn bodies(a: &[u32], n: u32) -> Option<u32> {
        let some = halved(n);
        let sum = some + 1;
        let more = some > Some(2);
        let wide: Option<u64> = some;
        let bare: u32 = some;
        let two = Some(1, 2);
        let Some(x) = some;
        let y = match some {
            Some(0) => 1,
            None => 2,
        };
        let z = match (some, Some(true)) {
            (Some(_), Some(true)) => 1,
            (None, _) => 2,
        };
        if let Some(x, y) = some {}
        if let Some(x) = n {}
        if let Ok(x) = some {}
        let first = a.first();
        if let Some(&0) = first {}
        let open = None;
        let error = some.ok_or(1);
        let near = some.unwarp();
        let inner = a.iter().map(|x| halved(*x)?).sum::<u32>();
        let early = spawn!(child(n));
        let used = early.is_some();
        let mut all = Some(0);
        all += spawn!(child(n));
        if let Some(x) = &mut all {
            *x += 1;
        }
        let lent = some.as_ref();
        let changed = all.as_mut();
        some?;
        None
    }
}

//~ 6:9: `?` stands in a function that returns an `Option` or a `Result`
//~   help: say what happens where there is nothing: `let Some(x) = .. else { .. };`
//~ 21:24: the two sides differ: `Option<u32>` and `an integer`
//~   help: take it apart: `if let Some(x) = ..`, or say what it is where there is nothing: `.unwrap_or(..)`
//~ 23:33: expected `Option<u64>`, found `Option<u32>`
//~ 24:25: expected `u32`, found `Option<u32>`
//~   help: take it apart: `if let Some(x) = ..`, or say what it is where there is nothing: `.unwrap_or(..)`
//~ 25:19: `Some` takes 1 argument, here are 2
//~   help: several values in one are a tuple: `Some((a, b))`
//~ 26:13: this pattern leaves `None`
//~   help: say what happens there: `let Some(x) = .. else { .. };`, or `if let`
//~ 27:17: this `match` has no arm for `Some(1)`
//~   help: add an arm for it, or `_ => ..` for all others
//~ 31:17: this `match` has no arm for `(Some(_), None)`
//~   help: add an arm for it, or `_ => ..` for all others
//~ 35:16: `Some` has one value, here are 2
//~   help: write `Some(x)`
//~ 36:16: a pattern of an `Option` for `u32`
//~ 37:16: a pattern of a `Result` for `Option<u32>`
//~   help: make one of it: `.ok_or(..)`
//~ 42:25: `Option<u32>` has no method `unwarp`
//~   help: did you mean `unwrap`?
//~ 43:21: expected `u32`, found `Option<_>`
//~ 43:38: expected `Option<_>`, found `u32`
//~   help: write `Some(..)`
//~ 47:16: results of type `Option<u32>` cannot be gathered
//~   help: gather numbers, or structs whose operator combines them field by field: `impl AddAssign`; or spawn a task for each field, or store to an array
