//! Kernels: what the front end refuses, and the borrows of the tasks that they spawn.

#[millstream::program]
mod refused {
    #[kernel]
    pub fn lends(n: u32, data: &mut [u32]) {} //~ a kernel cannot have `&mut [u32]` | help: its elements run side by side: share atomics by `&`, as in `&[AtomicU32]`, or emit what is to be written to a channel
}

#[millstream::program]
mod races {
    #[task]
    pub fn fill(data: &mut [u32]) {
        data[0] = 1;
    }

    #[kernel]
    pub fn two_children(n: u32, next: Channel<u32>) {
        let mut data = [n; 4];
        spawn!(fill(&mut data));
        spawn!(fill(&mut data)); //~ E0499
        sync!();
        next.emit(data[0]);
    }

    #[kernel]
    pub fn parent(n: u32, next: Channel<u32>) {
        let mut data = [n; 4];
        spawn!(fill(&mut data));
        next.emit(data[0]); //~ E0503
        sync!();
    }

    #[kernel]
    pub fn freed(item: Element<u32>, next: Channel<u32>) {
        item.tfree();
        next.emit(item.deq()); //~ E0382
    }
}

#[millstream::kernel] //~ a kernel stands in a module | help: put `#[millstream::program]` in front of the module
fn kernel() {}

fn main() {}
