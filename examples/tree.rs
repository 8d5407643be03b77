//! A walk over a tree kept in an array of structs: each task gathers what its children, as many as there are, return.
//!
//! ```text
//!         ┌──── spawn, one for each child of the node ────┐
//!         ▼                                               │
//!   [ sum entries ] ──► sum ──► [ sum frames ] ──► after the sync ──► added to the parent's total
//! ```

#[millstream::program]
pub mod tree {
    /// A node: its children stand one behind another in the array.
    #[derive(Clone, Copy, Debug)]
    pub struct Node {
        /// What is summed.
        pub value: u64,
        /// Index of the first child.
        pub first_child: u32,
        /// How many children it has.
        pub children: u32,
    }

    /// Sum of the values at and below a node.
    #[task]
    pub fn sum(nodes: &[Node], at: u32) -> u64 {
        let node = nodes[at as usize];
        let mut total = node.value;
        for i in 0..node.children {
            total += spawn!(sum(nodes, node.first_child + i));
        }
        sync!();
        total
    }

    /// Levels at and below a node.
    #[task]
    pub fn depth(nodes: &[Node], at: u32) -> u32 {
        let node = nodes[at as usize];
        let mut deepest = 0;
        for i in 0..node.children {
            deepest = deepest.max(spawn!(depth(nodes, node.first_child + i)));
        }
        sync!();
        deepest + 1
    }
}

fn main() -> Result<(), millstream::Error> {
    use tree::Node;
    // Every node has up to three children, until the array is full.
    let mut nodes = vec![Node {
        value: 1,
        first_child: 0,
        children: 0,
    }];
    let (mut state, mut at) = (7u32, 0);
    while nodes.len() < 50_000 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let children = if at + 1 == nodes.len() {
            3
        } else {
            state >> 30
        };
        (nodes[at].first_child, nodes[at].children) = (nodes.len() as u32, children);
        nodes.extend((0..children).map(|i| Node {
            value: u64::from(state % 1000 + i),
            first_child: 0,
            children: 0,
        }));
        at += 1;
    }
    let device = millstream::Device::auto()?;
    let sum = device.run(tree::call::sum(&nodes, 0))?;
    let depth = device.run(tree::call::depth(&nodes, 0))?;
    assert_eq!((sum, depth), (tree::sum(&nodes, 0), tree::depth(&nodes, 0)));
    assert_eq!(sum, nodes.iter().map(|n| n.value).sum::<u64>());
    println!("{} nodes on {depth} levels, sum {sum}", nodes.len());
    Ok(())
}
