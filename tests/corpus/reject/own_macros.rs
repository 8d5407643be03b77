//! Macros that cannot be read, and uses that no rule takes.

#[millstream::program]
pub mod program {
    macro_rules! square {
        ($x:expr) => { $x * $x };
    }

    macro_rules! assert {
        ($x:expr) => { $x };
    }

    macro_rules! kinds {
        ($x:number) => { $x };
    }

    macro_rules! nothing {
        ($x) => { $x };
    }

    macro_rules! whole {
        ($x:expr) => { $crate::f($x) };
    }

    macro_rules! all {
        ($($x:expr),*) => { $x };
    }

    macro_rules! none {
        ($x:expr) => { $y };
    }

    macro_rules! unlike {
        ($($x:expr),*; $($y:expr),*) => { 0 $(+ $x * $y)* };
    }

    macro_rules! endless {
        ($x:expr) => { endless!($x + 1) };
    }

    macro_rules! several {
        ($x:expr) => { let y = $x; y };
    }

    macro_rules! child {
        ($x:expr) => { spawn!(f($x)) };
    }

    #[task]
    pub fn f(n: u32) -> u32 {
        let a = square!(n, n);
        let b = all!(n, n) + none!(n) + unlike!(1, 2; 3);
        let c = 1 + several!(n);
        let d = child!(n);
        let e = endless!(n);
        a
    }
}

//~ 9:18: the task language has a macro `assert!` itself
//~   help: give this one another name
//~ 14:13: a macro takes no `number`
//~   help: there are expr, expr_2021, ty, ident, literal, tt, pat, pat_param, block, stmt, path, lifetime, vis, item
//~ 18:11: `$x` without what it is
//~   help: write `$x:expr`
//~ 22:24: `$crate` in a program
//~   help: name the item as the program does, without `$crate::`
//~ 26:30: `$x` is repeated
//~   help: write `$($x),*`, as it was taken
//~ 30:25: the macro takes no `$y`
//~   help: write it among what the rule takes: `$name:expr`
//~ 34:46: `$y` is not repeated as often as what it stands beside
//~   help: give the macro as many of each
//~ 38:24: macros stand for too much here
//~   help: a macro that uses itself needs a rule that ends this; or write a loop or a function
//~ 46:24: `child!` stands for a parallel loop, or for a child whose result goes elsewhere than to a `let`
//~   help: write it out where it is used; a macro may stand for whole tasks, and for `let x = spawn!(..);`, `spawn!(..);` and `sync!();`
//~ 51:17: no rule of `square!` takes this
//~   help: it takes `($ x : expr)`
//~ 53:21: what `several!` stands for here is no expression: unexpected token
//~   help: several statements are one as a block: `=> {{ .. }}`
