//! A program's tasks run as if its kernels were not there, though these spawn the same tasks in other ways.

#[millstream::program]
pub mod program {
    #[kernel]
    pub fn first(n: u32, next: Channel<u32>) {
        let mut most = 0;
        most = most.max(spawn!(fib(n)));
        sync!();
        next.emit(helper(most));
    }

    fn helper(n: u32) -> u32 {
        n % 1000
    }

    #[task]
    pub fn fib(n: u32) -> u32 {
        if n < 2 {
            return n;
        }
        let x = spawn!(fib(n - 1));
        let y = spawn!(fib(n - 2));
        sync!();
        helper(x + y)
    }

    #[kernel]
    pub fn second(n: Element<u32>, back: Channel<u32>, floor: u32) {
        let mut total = 0;
        for i in 0..n.deq() {
            total += spawn!(fib(i));
        }
        sync!();
        if total > floor {
            back.emit(total - floor);
        }
    }

    #[task]
    pub fn sums(n: u32) -> u32 {
        let mut total = 0;
        for i in 0..n {
            total ^= spawn!(fib(i));
        }
        sync!();
        total
    }
}

millstream_tests::cases! {
    fib(17);
    sums(12);
}
