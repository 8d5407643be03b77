//! `break` and `continue` where there is no loop, or with a value that nothing takes.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(n: u32) -> u32 {
        if n > 2 {
            break;
        }
        while n > 3 {
            break 5;
        }
        'outer: for i in 0..n {
            continue 'inner;
        }
        let x = loop {
            if n > 7 {
                break;
            }
            break 3;
        };
        continue;
    }
}

//~ 8:13: `break` outside a loop
//~   help: use `return` to leave the function
//~ 11:19: only `loop` and labelled blocks take a value from `break`
//~   help: set a variable before the `break`
//~ 14:13: there is no loop `'inner` around this `continue`
//~   help: put the label in front of the loop
//~ 20:19: expected `()`, found `an integer`
//~ 22:9: `continue` outside a loop
//~   help: use `return` to leave the function
