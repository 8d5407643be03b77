//! A binary tree in an array of structs, walked by index.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug)]
    pub struct Node {
        pub left: u32,
        pub right: u32,
        pub key: i32,
    }

    const NONE: u32 = u32::MAX;

    #[task]
    pub fn depth_and_sum(nodes: &[Node], at: u32) -> (u32, i64) {
        if at == NONE {
            return (0, 0);
        }
        let node = nodes[at as usize];
        let (ld, ls) = spawn!(depth_and_sum(nodes, node.left));
        let (rd, rs) = spawn!(depth_and_sum(nodes, node.right));
        sync!();
        (1 + ld.max(rd), ls + rs + node.key as i64)
    }

    #[task]
    pub fn contains(nodes: &[Node], key: i32) -> bool {
        let mut at = 0;
        while at != NONE {
            let node = &nodes[at as usize];
            if key == node.key {
                return true;
            }
            at = if key < node.key { node.left } else { node.right };
        }
        false
    }
}

millstream_tests::cases! {
    depth_and_sum(&[program::Node { left: 1, right: 2, key: 10 }, program::Node { left: u32::MAX, right: 3, key: 5 }, program::Node { left: u32::MAX, right: u32::MAX, key: 20 }, program::Node { left: u32::MAX, right: u32::MAX, key: -7 }], 0);
    contains(&[program::Node { left: 1, right: u32::MAX, key: 10 }, program::Node { left: u32::MAX, right: u32::MAX, key: 5 }], 5);
    contains(&[program::Node { left: 1, right: u32::MAX, key: 10 }, program::Node { left: u32::MAX, right: u32::MAX, key: 5 }], 6);
}
