//! Text, and what stays within a task: each is said once, where its type stands.

#[millstream::program]
pub mod program {
    use std::cmp::Reverse;

    const NAME: &str = "abc";
    const MISSING: &[Unknwon] = &[];

    fn name() -> usize {
        NAME.len()
    }

    #[task]
    pub fn heap(n: u32, heap: &mut [Reverse<u64>]) -> u64 {
        heap[n as usize].0
    }

    #[task]
    pub fn one(n: u32, least: Reverse<u64>) -> u64 {
        least.0
    }

    #[task]
    pub fn least(n: u32) -> Reverse<u64> {
        Reverse(7)
    }

    #[task]
    pub fn wide(all: &[u128]) -> u32 {
        all[0] as u32
    }

    #[kernel]
    fn square(x: u64, out: Channel<u128>) {
        out.emit(x as u128 * x as u128);
    }
}

//~ 7:18: there is no type `str` in this program
//~   help: there is no text on a device: use `u8` and `u32`
//~ 8:22: there is no type `Unknwon` in this program
//~   help: define it as a struct in this module
//~ 15:31: a task or kernel cannot be lent a `std::cmp::Reverse`
//~   help: lend it elements of what that holds, `&mut [u64]` for `&mut [Reverse<u64>]`, and wrap each where it is used
//~ 20:31: a task or kernel cannot take or return a `std::cmp::Reverse`
//~   help: give it what that holds: `x.0` or `x.get()`
//~ 25:29: a task or kernel cannot take or return a `std::cmp::Reverse`
//~   help: give it what that holds: `x.0` or `x.get()`
//~ 30:22: a task or kernel cannot be lent an integer of 128 bits
//~   help: lend it elements of two halves, `&[[u64; 2]]`
//~ 35:28: a task or kernel cannot emit an integer of 128 bits
//~   help: give it two halves, `x as u64` and `(x >> 64) as u64`
