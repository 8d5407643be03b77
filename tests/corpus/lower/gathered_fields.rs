//! Structs that gather field by field: a task that only gathers them for its own result lets its children add to that, with no frame and nothing to do after them.

#[millstream::program]
pub mod program {
    use std::ops::AddAssign;

    #[derive(Clone, Copy, PartialEq, Debug, Default)]
    pub struct Tally {
        pub solutions: u64,
        pub deepest: u16,
    }

    impl AddAssign for Tally {
        fn add_assign(&mut self, other: Self) {
            self.solutions += other.solutions;
            self.deepest = self.deepest.max(other.deepest);
        }
    }

    #[task]
    pub fn search(n: u32, depth: u16) -> Tally {
        if n < 2 {
            return Tally { solutions: n as u64, deepest: depth };
        }
        let mut tally = Tally::default();
        tally += spawn!(search(n - 1, depth + 1));
        tally += spawn!(search(n - 2, depth + 1));
        sync!();
        tally
    }

    /// What is made of the sum is made after the sync.
    #[task]
    pub fn rounds(n: u32) -> Tally {
        let mut tally = Tally { solutions: 1, deepest: 0 };
        tally += spawn!(search(n, 0));
        sync!();
        tally.solutions *= 2;
        tally
    }
}

//~ task search(n: u32, depth: u16, return: ptr)
//~   frame tally: 16 bytes, return: ptr
//~   segment 0 pushes search+each_add_max x 2, search's frame x 1, search's segment 1 x 1
//~   segment 1 pushes nothing
//~ task rounds(n: u32, return: ptr)
//~   frame tally: 16 bytes, return: ptr
//~   segment 0 pushes search+each_add_max x 1, rounds's frame x 1, rounds's segment 1 x 1
//~   segment 1 pushes nothing
//~ task search+each_add_max(n: u32, depth: u16, return: ptr)
//~   segment 0 pushes search+each_add_max x 2
