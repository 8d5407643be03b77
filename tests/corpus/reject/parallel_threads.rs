//! Teams of too many threads, and of none.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(a: &mut [u32]) {
        #[parallel(threads = 99999999999)]
        for x in a.iter_mut() {
            *x += 1;
        }
        #[parallel(threads = 0)]
        for x in a.iter_mut() {
            *x += 1;
        }
    }
}

//~ 7:30: no team has so many threads
//~   help: there are at most 4294967295 to ask for, and a device takes what it has: `#[parallel(device)]`
//~ 11:9: this is no team that shares out a loop's rounds
//~   help: write `#[parallel]`, where it is chosen at run time, or one of `#[parallel(lane)]`, `(warp)`, `(block)`, `(device)` and `#[parallel(threads = 64)]`
