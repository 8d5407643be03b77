//! A loop that ends its function is shared out like one before a sync; one whose rounds take numbers from an atomic is not.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU32, Ordering};

    #[task]
    pub fn leaf(n: u32) -> u32 {
        n
    }

    #[task]
    pub fn fill(out: &mut [u32]) {
        for i in 0..out.len() {
            out[i] = spawn!(leaf(i as u32));
        }
    }

    #[task]
    pub fn tickets(out: &mut [u32], next: &AtomicU32) {
        for i in 0..out.len() {
            let ticket = next.fetch_add(1, Ordering::Relaxed);
            out[i] = spawn!(leaf(ticket));
        }
        sync!();
    }
}

//~ task leaf(n: u32, return: ptr)
//~   segment 0 pushes nothing
//~ task fill(out: ptr, out.len: usize)
//~   frame out: ptr, out.2: usize, value: usize
//~   segment 0 pushes leaf x n, fill.loop1 x 1, fill's frame x 1, fill's segment 1 x 1
//~   segment 1 pushes leaf x n, fill's segment 1 x 1
//~ task tickets(out: ptr, out.len: usize, next: ptr)
//~   frame out: ptr, out.2: usize, next: ptr, value: usize
//~   segment 0 pushes leaf x n, tickets's frame x 1, tickets's segment 1 x 1
//~   segment 1 pushes leaf x n, tickets's segment 1 x 1
//~ task fill.loop1(rounds_each: usize, rounds: usize, from: usize, out: ptr, out.len: usize)
//~   frame rounds_each: usize, rounds: usize, from: usize, out: ptr, out.2: usize, value: usize, value.2: usize, value.3: usize, value.4: usize
//~   segment 0 pushes leaf x n, fill.loop1 x n, fill.loop1's frame x 1, fill.loop1's segment 1 x 1, fill.loop1's segment 2 x 1
//~   segment 1 pushes fill.loop1 x n, fill.loop1's segment 1 x 1
//~   segment 2 pushes leaf x n, fill.loop1's segment 2 x 1
//~ where the device is wide
//~ task leaf(n: u32, return: ptr)
//~   segment 0 pushes nothing
//~ task fill(out: ptr, out.len: usize)
//~   segment 0 pushes leaf x n, fill.loop1 x 1
//~ task tickets(out: ptr, out.len: usize, next: ptr)
//~   frame out: ptr, out.2: usize, next: ptr, value: usize
//~   segment 0 pushes leaf x n, tickets's frame x 1, tickets's segment 1 x 1
//~   segment 1 pushes leaf x n, tickets's segment 1 x 1
//~ task fill.loop1(rounds_each: usize, rounds: usize, from: usize, out: ptr, out.len: usize)
//~   segment 0 pushes leaf x n, fill.loop1 x n
