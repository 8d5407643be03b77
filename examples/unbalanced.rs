//! A random unbalanced tree that nobody stores: a node's children follow from its own bits, and are counted as they are found.
//!
//! ```text
//!   [ count ] ──► count ──► nine in ten: a leaf
//!                   └─────► the others: eight [ count ] ──► after the sync: gathered in the parent's total
//! ```

#[millstream::program]
pub mod unbalanced {
    /// Children of a node that is not a leaf.
    const MANY: u32 = 8;
    /// A node has children if its upper half is less: an average of 0.9992 children, so that a few subtrees are huge and most are tiny.
    const FERTILE: u64 = 536_441_000;

    /// A node's bits, which nothing of its parent or its siblings can be told from.
    pub fn child(parent: u64, number: u32) -> u64 {
        let mut bits = parent.wrapping_add((number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Whether a node has children.
    pub fn fertile(node: u64) -> bool {
        node >> 32 < FERTILE
    }

    /// Nodes at and below one.
    #[task]
    pub fn count(node: u64) -> u64 {
        let mut nodes = 1;
        if fertile(node) {
            for i in 0..MANY {
                nodes += spawn!(count(child(node, i)));
            }
            sync!();
        }
        nodes
    }

    /// Nodes of the tree that grows from a seed, whose root has so many children.
    #[task]
    pub fn tree(seed: u64, branches: u32) -> u64 {
        let mut nodes = 1;
        for i in 0..branches {
            nodes += spawn!(count(child(seed, i)));
        }
        sync!();
        nodes
    }
}

fn main() -> Result<(), millstream::Error> {
    let device = millstream::Device::auto()?;
    let nodes = device.run(unbalanced::call::tree(1, 100))?;
    assert_eq!(nodes, unbalanced::tree(1, 100));
    println!("{nodes} nodes");
    Ok(())
}
