//! A parent that touches what a child holds.

#[millstream::program]
mod race {
    use std::sync::atomic::AtomicU32;

    #[task]
    pub fn add(data: &mut [u32]) {
        data[0] += 1;
    }

    #[task]
    pub fn read(data: &[u32]) -> u32 {
        data[0]
    }

    #[task]
    pub fn count(n: &AtomicU32) {
        n.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }

    fn sum(data: &[u32]) -> u32 {
        data[0] + data[1]
    }

    #[task]
    pub fn reads(data: &mut [u32]) -> u32 {
        spawn!(add(data));
        data[0] //~ E0503
    }

    #[task]
    pub fn writes(data: &mut [u32]) {
        spawn!(add(data));
        data[0] = 1; //~ E0503 E0506
        sync!();
    }

    #[task]
    pub fn writes_what_a_child_reads(data: &mut [u32]) {
        let x = spawn!(read(data));
        data[0] = 1; //~ E0506
        sync!();
        data[1] = x;
    }

    #[task]
    pub fn calls(data: &mut [u32]) -> u32 {
        spawn!(add(data));
        let s = sum(data); //~ E0502
        sync!();
        s
    }

    #[task]
    pub fn calls_a_task(data: &mut [u32]) {
        spawn!(add(data));
        add(data); //~ E0499
    }

    #[task]
    pub fn returns_early(data: &mut [u32]) -> u32 {
        spawn!(add(data));
        if sum(data) > 3 { //~ E0502
            return 1;
        }
        sync!();
        0
    }

    #[task]
    pub fn looks_through_another_name(data: &mut [u32]) -> u32 {
        let (a, _) = data.split_at_mut(1);
        spawn!(add(a));
        let x = data[1]; //~ E0503
        sync!();
        x
    }

    #[task]
    pub fn swaps(data: &mut [u32]) {
        let mut t = [0; 4];
        spawn!(add(&mut t));
        t.swap(0, 1); //~ E0499
        sync!();
        data[0] = t[0];
    }

    #[task]
    pub fn takes_an_atomic() -> u32 {
        let n = AtomicU32::new(0);
        spawn!(count(&n));
        n.into_inner() //~ E0505
    }

    #[task]
    pub fn round_a_loop(data: &mut [u32]) {
        for i in 0..4 {
            data[i] = 1; //~ E0503 E0506
            spawn!(add(data));
        }
    }

    #[task]
    pub fn after_a_branch(data: &mut [u32], c: bool) {
        if c {
            spawn!(add(data));
        }
        data[0] = 1; //~ E0503 E0506
    }

    #[task]
    pub fn after_a_loop(data: &mut [u32], n: u32) {
        for i in 0..n {
            if i == 3 {
                spawn!(add(data)); //~ E0499
                continue;
            }
            if i == 5 {
                sync!();
            }
        }
        data[0] = 1; //~ E0503 E0506
        sync!();
    }

    #[task]
    pub fn after_an_arm(data: &mut [u32], n: u32) -> u32 {
        match n {
            0 => {
                spawn!(add(data));
                sync!();
            }
            1 => sync!(),
            _ => {
                spawn!(add(data));
            }
        }
        data[0] //~ E0503
    }

    #[task]
    pub fn in_a_loop_without_end(data: &mut [u32]) {
        loop {
            spawn!(add(data)); //~ E0499
            if data[0] > 3 { //~ E0503
                return;
            }
        }
    }

    #[task]
    pub fn before_it_fails(data: &mut [u32]) {
        spawn!(add(data));
        data[0] = 1; //~ E0503 E0506
        panic!("nothing is waited for here");
    }

    #[task]
    pub fn parts_after_the_sync(data: &mut [u32]) {
        let (low, high) = data.split_at_mut(1);
        spawn!(add(low));
        sync!();
        spawn!(add(low));
        high[0] += 1;
        low[0] += high[0]; //~ E0503
        data[0] = 1; //~ E0503 E0506
    }
}
