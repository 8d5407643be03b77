//! Kernels: what the front end refuses, and the borrows of the tasks that they spawn.

#[millstream::program]
mod refused {
    #[kernel]
    pub fn lends(n: u32, data: &mut [u32]) {} //~ a kernel cannot have `&mut [u32]` | help: its elements run side by side: share atomics by `&`, as in `&[AtomicU32]`, or emit what is to be written to a channel
}

#[millstream::program]
mod broken {
    use std::sync::atomic::AtomicU32;

    #[kernel]
    pub fn broken(src: Element<u32>, next: Channel<u32>, found: &AtomicU32, weights: &[f32], n: u32) {
        next.emit(src); //~ `src` is an element that is still in its channel | help: write `src.deq()`
    }
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

fn main() -> Result<(), millstream::Error> {
    // What is used elsewhere is there all the same: one error each.
    let found = std::sync::atomic::AtomicU32::new(0);
    let mut graph = millstream::Graph::new("broken");
    let numbers = graph.channel::<u32>("numbers");
    graph
        .kernel(broken::kernel::broken)
        .consumes(&numbers)
        .produces(&numbers)
        .arg(&found)
        .arg(&[1.0f32][..])
        .arg(3);
    graph.run(&millstream::Device::cpu()?)?;
    Ok(())
}
