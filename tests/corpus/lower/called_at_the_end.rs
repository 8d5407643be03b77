//! A task whose value is that of a task that it calls: a child where the device is wide, which adds to what the caller's children add to.

#[millstream::program]
pub mod program {
    #[task]
    pub fn nodes(depth: u32) -> u64 {
        let mut total = 1;
        for i in 0..depth {
            total += spawn!(nodes(i));
        }
        sync!();
        total
    }

    #[task]
    pub fn nodes_to(rows: u32, depth: u32) -> u64 {
        if rows == 0 {
            return nodes(depth);
        }
        let mut total = 1;
        for i in 0..depth {
            total += spawn!(nodes_to(rows - 1, i));
        }
        sync!();
        total
    }
}

//~ task nodes(depth: u32, return: ptr)
//~   frame total: u64, depth: u32, value: u32, return: ptr
//~   segment 0 pushes nodes+add x n, nodes's frame x 1, nodes's segment 1 x 1, nodes's segment 2 x 1
//~   segment 1 pushes nodes+add x n, nodes's segment 1 x 1, nodes's segment 2 x 1
//~   segment 2 pushes nothing
//~ task nodes_to(rows: u32, depth: u32, return: ptr)
//~   frame total: u64, rows: u32, depth: u32, value: u32, return: ptr
//~   segment 0 pushes nodes_to+add x n, nodes_to's frame x 1, nodes_to's segment 1 x 1, nodes_to's segment 2 x 1
//~   segment 1 pushes nodes_to+add x n, nodes_to's segment 1 x 1, nodes_to's segment 2 x 1
//~   segment 2 pushes nothing
//~ task nodes+add(depth: u32, return: ptr)
//~   frame depth: u32, value: u32, return: ptr, leaves: u64
//~   segment 0 pushes nodes+add x n, nodes+add's frame x 1, nodes+add's segment 1 x 1
//~   segment 1 pushes nodes+add x n, nodes+add's segment 1 x 1
//~ task nodes_to+add(rows: u32, depth: u32, return: ptr)
//~   frame rows: u32, depth: u32, value: u32, return: ptr
//~   segment 0 pushes nodes_to+add x n, nodes_to+add's frame x 1, nodes_to+add's segment 1 x 1
//~   segment 1 pushes nodes_to+add x n, nodes_to+add's segment 1 x 1
//~ where the device is wide
//~ task nodes(depth: u32, return: ptr)
//~   frame total: u64, return: ptr
//~   segment 0 pushes nodes+add x n, nodes's frame x 1, nodes's segment 1 x 1
//~   segment 1 pushes nothing
//~ task nodes_to(rows: u32, depth: u32, return: ptr)
//~   frame child: u64, total: u64, return: ptr
//~   segment 0 pushes nodes+add x 1, nodes_to+add x n, nodes_to's frame x 1, nodes_to's segment 1 x 1, nodes_to's segment 2 x 1
//~   segment 1 pushes nothing
//~   segment 2 pushes nothing
//~ task nodes+add(depth: u32, return: ptr)
//~   segment 0 pushes nodes+add x n
//~ task nodes_to+add(rows: u32, depth: u32, return: ptr)
//~   segment 0 pushes nodes+add x 1, nodes_to+add x n
