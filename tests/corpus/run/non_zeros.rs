//! Numbers that are not zero, as links of a tree that there may not be.

#[millstream::program]
pub mod program {
    use std::num::{NonZero, NonZeroU8, NonZeroU32, NonZeroU64};
    #[derive(Clone, Copy)]
    struct Node {
        key: u32,
        left: Option<NonZeroU32>,
        right: Option<NonZeroU32>,
    }
    const ONE: NonZeroU32 = NonZeroU32::new(1).unwrap();
    fn insert(tree: &mut [Node], len: &mut u32, key: u32) {
        let mut at = ONE;
        loop {
            let node = &mut tree[at.get() as usize];
            let next = if key < node.key {
                &mut node.left
            } else {
                &mut node.right
            };
            match *next {
                Some(n) => at = n,
                None => {
                    *len += 1;
                    *next = NonZeroU32::new(*len);
                    tree[*len as usize].key = key;
                    return;
                }
            }
        }
    }
    fn depth(tree: &[Node], at: Option<NonZeroU32>) -> u32 {
        at.map_or(0, |n| {
            let node = &tree[n.get() as usize];
            1 + depth(tree, node.left).max(depth(tree, node.right))
        })
    }
    fn gcd(a: NonZero<u64>, b: u64) -> NonZero<u64> {
        match NonZero::new(b) {
            None => a,
            Some(b) => gcd(b, a.get() % b.get()),
        }
    }
    #[task]
    pub fn run(n: u32) -> (u32, u32, u64, bool, u8) {
        let mut tree = [Node {
            key: 50,
            left: None,
            right: None,
        }; 32];
        let mut len = 1;
        for i in 0..20 {
            insert(&mut tree, &mut len, i * 37 * n % 101);
        }
        let g = gcd(NonZeroU64::new(84).unwrap(), u64::from(n) * 6);
        (
            len,
            depth(&tree, Some(ONE)),
            g.get(),
            NonZeroU8::new(0).is_none() && ONE < NonZeroU32::new(n).unwrap(),
            NonZeroU8::new(255)
                .and_then(|x| x.checked_add(1))
                .map_or(7, NonZeroU8::get),
        )
    }
}

millstream_tests::cases! {
    run(5);
    run(8);
}
