//! What a child was lent stays lent when others are spawned after it, on some ways or on all.

#[millstream::program]
mod program {
    #[task]
    fn touch(d: &mut [u32]) {
        d[0] = 1;
    }

    #[task]
    fn after_another(a: &mut [u32], b: &mut [u32]) {
        spawn!(touch(a));
        spawn!(touch(b));
        a[0] = 2; //~ E0503 E0506
        sync!();
    }

    #[task]
    fn after_two(a: &mut [u32], b: &mut [u32], c: &mut [u32]) {
        spawn!(touch(a));
        spawn!(touch(b));
        spawn!(touch(c));
        a[0] += 1; //~ E0503
    }

    #[task]
    fn on_some_ways(a: &mut [u32], b: &mut [u32], c: bool) {
        if c {
            spawn!(touch(a));
        }
        if b[0] == 3 {
            spawn!(touch(b));
        }
        a[0] = 2; //~ E0503 E0506
    }

    #[task]
    fn in_a_loop(a: &mut [u32], n: u32) {
        for _ in 0..n {
            spawn!(touch(a)); //~ E0499
        }
    }

    #[task]
    fn synced_on_some_ways(a: &mut [u32], b: &mut [u32], c: bool) {
        spawn!(touch(a));
        if c {
            sync!();
        }
        spawn!(touch(b));
        a[0] = 2; //~ E0503 E0506
    }

    #[task]
    fn synced(a: &mut [u32], b: &mut [u32], c: bool) {
        spawn!(touch(a));
        spawn!(touch(b));
        sync!();
        a[0] += 1;
        if c {
            spawn!(touch(a));
            sync!();
        }
        spawn!(touch(a));
        b[0] = 1;
    }
}
