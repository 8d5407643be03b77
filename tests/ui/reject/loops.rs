//! Rounds of parallel loops that could write to the same memory, or read what another one writes to.

#[millstream::program]
mod race {
    #[task]
    pub fn add(data: &mut [u32]) {
        data[0] += 1;
    }

    #[task]
    pub fn reads_what_others_write(data: &mut [u32]) {
        #[parallel]
        for x in data.iter_mut() { //~ E0502
            *x += data[0]; //~ E0503
        }
    }

    #[task]
    pub fn touches_what_its_child_holds(data: &mut [u32]) {
        #[parallel]
        for part in data.chunks_mut(4) {
            spawn!(add(part));
            part.fill(1); //~ E0499
        }
    }

    #[task]
    pub fn touches_what_an_earlier_child_holds(data: &mut [u32]) {
        let (left, right) = data.split_at_mut(2);
        spawn!(add(left));
        #[parallel]
        for x in right.iter_mut() { //~ E0502
            *x = left[0];
        }
    }
}

fn main() {}
