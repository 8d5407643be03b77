//! `#[parallel]` in front of what is no loop.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(a: &mut [u32], n: u32) -> u32 {
        #[parallel(block)]
        if n > 3 {
            a[0] = 1;
        }
        #[parallel]
        {
            a[1] = n;
        }
        #[parallel(threads = 64)]
        let x = n + 1;
        x
    }

    #[parallel]
    fn helper(n: u32) -> u32 {
        n
    }
}

//~ 7:9: `#[parallel]` stands in front of a `for`
//~   help: write it at the loop itself: `#[parallel] for i in 0..n { .. }`
//~ 11:9: `#[parallel]` stands in front of a `for`
//~   help: write it at the loop itself: `#[parallel] for i in 0..n { .. }`
//~ 15:9: `#[parallel]` stands in front of a `for`
//~   help: write it at the loop itself: `#[parallel] for i in 0..n { .. }`
//~ 20:5: `#[parallel]` stands in front of a `for`
//~   help: write it at the loop itself: `#[parallel] for i in 0..n { .. }`
