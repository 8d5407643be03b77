//! Locals that die while a child has them.

#[millstream::program]
mod race {
    use std::sync::atomic::AtomicU32;

    #[task]
    pub fn add(data: &mut [u32]) {
        data[0] += 1;
    }

    #[task]
    pub fn count(n: &AtomicU32) {
        n.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }

    #[task]
    pub fn one() -> u32 {
        1
    }

    #[task]
    pub fn in_a_branch(c: bool) {
        if c {
            let mut t = [0; 4];
            spawn!(add(&mut t)); //~ E0597
        }
        sync!();
    }

    #[task]
    pub fn in_a_loop(n: u32) {
        for i in 0..n {
            let mut t = [i; 4];
            spawn!(add(&mut t)); //~ E0597
        }
        sync!();
    }

    #[task]
    pub fn an_atomic() {
        {
            let n = AtomicU32::new(0);
            spawn!(count(&n)); //~ E0597
        }
        sync!();
    }

    #[task]
    pub fn a_temporary() {
        spawn!(add(&mut [1, 2, 3])); //~ E0716
        sync!();
    }

    #[task]
    pub fn the_place_of_a_result(c: bool) {
        if c {
            let mut t = [0; 4];
            t[0] = spawn!(one()); //~ E0597
        }
        sync!();
    }
}
