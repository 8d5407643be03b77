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
        data[1] = spawn!(one()); //~ E0502 E0503 E0506
    }

    #[task]
    pub fn sum(data: &[u32]) -> u32 {
        data.iter().sum()
    }

    #[task]
    pub fn lent_to_be_read(data: &mut [u32]) -> u32 {
        let all = spawn!(sum(data));
        data[1] = spawn!(one()); //~ E0506
        sync!();
        all
    }

    #[task]
    pub fn lent_field(n: u32) -> u32 {
        let mut pair = ([n; 2], 1);
        let all = spawn!(sum(&pair.0));
        pair.1 = spawn!(one());
        pair.0[1] += spawn!(one()); //~ E0506
        sync!();
        all + pair.1
    }

    #[task]
    pub fn same(x: &u32) -> u32 {
        *x
    }

    #[task]
    pub fn lent_in_a_round(data: &mut [u32]) {
        for (i, x) in data.iter_mut().enumerate() {
            let _ = spawn!(same(x));
            *x = if i % 2 == 0 { spawn!(one()) } else { 3 }; //~ E0506
        }
    }

    #[task]
    pub fn behind_a_sync(data: &mut [u32]) -> u32 {
        let all = spawn!(sum(data));
        sync!();
        data[1] = spawn!(one());
        data[0] = spawn!(one());
        all
    }

    #[task]
    pub fn lent_before_rounds(data: &mut [u32], n: usize) -> u32 {
        let all = spawn!(sum(data));
        #[parallel]
        for i in 0..n {
            if i == 3 {
                continue;
            }
            data[i] = spawn!(one()); //~ E0506
        }
        sync!();
        all
    }

    #[task]
    pub fn lent_behind_rounds(data: &mut [u32], n: usize) -> u32 {
        #[parallel]
        for i in 0..n {
            if i == 3 {
                continue;
            }
            let own = [i as u32; 2];
            let twice = spawn!(sum(&own));
            data[i] = spawn!(one());
            sync!();
            if twice > 3 {
                data[i] = spawn!(same(&twice));
            }
            sync!();
        }
        spawn!(sum(data))
    }
}
