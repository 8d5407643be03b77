//! A child of each turn gathers where its results are only added up: no frame waits in the loop. One that shares an atomic is waited for in each.

#[millstream::program]
pub mod program {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    #[task]
    pub fn walk(n: u32) -> (u32, u32) {
        let (mut count, mut most) = (1, n);
        for i in 0..n {
            let (c, m) = spawn!(walk(i));
            sync!();
            count += c;
            most = most.max(m);
        }
        (count, most)
    }

    #[task]
    pub fn counts(n: u32, hits: &AtomicU32) -> u32 {
        let mut sum = hits.fetch_add(1, Relaxed);
        for i in 0..n {
            let x = spawn!(counts(i, hits));
            sync!();
            sum += x;
        }
        sum
    }
}

//~ task walk(n: u32, return: ptr)
//~   frame gathered: 8 bytes, n: u32, value: u32, return: ptr
//~   segment 0 pushes walk+each_add_max x n, walk's frame x 1, walk's segment 1 x 1, walk's segment 2 x 1
//~   segment 1 pushes walk+each_add_max x n, walk's segment 1 x 1, walk's segment 2 x 1
//~   segment 2 pushes nothing
//~ task counts(n: u32, hits: ptr, return: ptr)
//~   frame x: u32, n: u32, hits: ptr, sum: u32, value: u32, return: ptr
//~   segment 0 pushes counts x 1, counts's frame x 1, counts's segment 1 x 1
//~   segment 1 pushes counts x 1, counts's segment 1 x 1
//~ task walk+each_add_max(n: u32, return: ptr)
//~   frame n: u32, value: u32, return: ptr
//~   segment 0 pushes walk+each_add_max x n, walk+each_add_max's frame x 1, walk+each_add_max's segment 1 x 1
//~   segment 1 pushes walk+each_add_max x n, walk+each_add_max's segment 1 x 1
//~ where the device is wide
//~ task walk(n: u32, return: ptr)
//~   frame gathered: 8 bytes, n: u32, value: u32, return: ptr
//~   segment 0 pushes walk+each_add_max x n, walk's frame x 1, walk's segment 1 x 1, walk's segment 2 x 1
//~   segment 1 pushes walk+each_add_max x n, walk's segment 1 x 1, walk's segment 2 x 1
//~   segment 2 pushes nothing
//~ task counts(n: u32, hits: ptr, return: ptr)
//~   frame x: u32, n: u32, hits: ptr, sum: u32, value: u32, return: ptr
//~   segment 0 pushes counts x 1, counts's frame x 1, counts's segment 1 x 1
//~   segment 1 pushes counts x 1, counts's segment 1 x 1
//~ task walk+each_add_max(n: u32, return: ptr)
//~   segment 0 pushes walk+each_add_max x n
