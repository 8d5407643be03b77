//! The place of a result, reached by another name before its sync.

#[millstream::program]
mod race {
    #[task]
    pub fn one() -> u32 {
        1
    }

    #[task]
    pub fn add(data: &mut [u32]) {
        data[0] += 1;
    }

    #[task]
    pub fn lent(data: &mut [u32]) {
        let (a, _) = data.split_at_mut(1);
        a[0] = spawn!(one());
        spawn!(add(data)); //~ E0499
    }

    #[task]
    pub fn written(data: &mut [u32]) {
        let (a, _) = data.split_at_mut(1);
        a[0] += spawn!(one());
        data[0] = 1; //~ E0503 E0506
        sync!();
    }

    #[task]
    pub fn read_by_a_child(data: &mut [u32]) {
        spawn!(add(data));
        data[1] = spawn!(one()); //~ E0502 E0503
    }
}
