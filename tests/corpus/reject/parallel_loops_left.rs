//! What leaves a parallel loop, and what is none.

#[millstream::program]
pub mod program {
    #[task]
    pub fn left(data: &[u32]) -> u32 {
        'outer: for x in data {
            #[parallel]
            for y in data {
                if x == y {
                    break 'outer;
                }
                if *x > 5 {
                    continue 'outer;
                }
                if *y > 5 {
                    return *y;
                }
                for z in data {
                    if y == z {
                        break;
                    }
                    continue;
                }
                break;
            }
        }
        0
    }

    #[task]
    pub fn turned(data: &[u32]) {
        #[parallel(wrap)]
        for _ in data {}
        #[parallel(threads = 0)]
        for _ in data {}
        #[parallel = "block"]
        for _ in data {}
        #[parallel(warp)]
        #[parallel(lane)]
        for _ in data {}
        #[parallel]
        loop {
            break;
        }
    }
}

//~ 11:21: `break` leaves a parallel loop, whose rounds run side by side
//~   help: go through all rounds, `continue` where there is nothing to do, and gather what was found; or leave out `#[parallel]`
//~ 14:21: `continue` leaves a parallel loop, whose rounds run side by side
//~   help: go through all rounds, `continue` where there is nothing to do, and gather what was found; or leave out `#[parallel]`
//~ 17:21: `return` leaves a parallel loop, whose rounds run side by side
//~   help: go through all rounds, `continue` where there is nothing to do, and gather what was found; or leave out `#[parallel]`
//~ 25:17: `break` leaves a parallel loop, whose rounds run side by side
//~   help: go through all rounds, `continue` where there is nothing to do, and gather what was found; or leave out `#[parallel]`
//~ 33:9: this is no team that shares out a loop's rounds
//~   help: write `#[parallel]`, where it is chosen at run time, or one of `#[parallel(lane)]`, `(warp)`, `(block)`, `(device)` and `#[parallel(threads = 64)]`
//~ 35:9: this is no team that shares out a loop's rounds
//~   help: write `#[parallel]`, where it is chosen at run time, or one of `#[parallel(lane)]`, `(warp)`, `(block)`, `(device)` and `#[parallel(threads = 64)]`
//~ 37:9: this is no team that shares out a loop's rounds
//~   help: write `#[parallel]`, where it is chosen at run time, or one of `#[parallel(lane)]`, `(warp)`, `(block)`, `(device)` and `#[parallel(threads = 64)]`
//~ 40:9: a loop is parallel once
//~   help: leave one of the two out
//~ 42:9: only a `for` can be parallel
//~   help: its number of rounds is known before the first: write `for i in 0..n`
