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
}
