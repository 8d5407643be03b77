//! Constants of structs with parameters, which only what is done with them says; constants that are lent by `&mut`, as copies.
#[millstream::program]
pub mod program {
    #[derive(Clone, Copy)]
    struct Stack<T, const N: usize> {
        data: [Option<T>; N],
        len: usize,
    }

    impl<T: Copy, const N: usize> Stack<T, N> {
        const EMPTY: Self = Self { data: [None; N], len: 0 };
        const ROOM: usize = N;

        fn push(&mut self, x: T) -> &mut Self {
            self.data[self.len] = Some(x);
            self.len += 1;
            self
        }

        fn top(&self) -> Option<T> {
            self.data[..self.len].last().copied().flatten()
        }
    }

    #[derive(Clone, Copy)]
    enum Slot<T> {
        Free,
        Taken(T),
    }

    impl<T> Slot<T> {
        const NEW: Slot<T> = Slot::Free;

        fn take(&mut self, x: T) {
            *self = Slot::Taken(x);
        }
    }

    const START: [u32; 3] = [1, 2, 3];

    fn fill(stack: &mut Stack<u16, 4>, n: u16) -> u32 {
        stack.push(n).push(n + 1);
        stack.len as u32 * 100 + u32::from(stack.top().unwrap_or(0))
    }

    fn bump(all: &mut [u32; 3]) -> u32 {
        all[1] += 10;
        all.iter().sum()
    }

    #[task]
    pub fn constants(n: u16) -> (u32, u32, u64, u32, usize) {
        let mut stack = Stack::EMPTY;
        let first = fill(&mut stack, n) + fill(&mut stack, n * 2);
        // Each is an empty one.
        let second = fill(&mut Stack::EMPTY, n) + fill(&mut Stack::EMPTY, n);
        let mut wide = Stack::EMPTY;
        let mut list = [0u64; 6];
        wide.push(7u64).push(u64::from(n));
        list[..2].iter_mut().zip(wide.data).for_each(|(x, y)| *x = y.unwrap_or(9));
        let of_six: Stack<u64, 6> = wide;
        let mut slot = Slot::NEW;
        slot.take(5u32);
        let taken = match slot {
            Slot::Free => 0,
            Slot::Taken(x) => x,
        };
        let sums = bump(&mut START) * 100 + bump(&mut START) + START[1];
        (first, second, list.iter().sum::<u64>() + of_six.len as u64, sums + taken, Stack::<u8, 3>::ROOM)
    }
}
millstream_tests::cases! {
    constants(3);
    constants(40);
}
