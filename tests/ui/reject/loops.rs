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
    pub fn reads_rows_that_others_write(m: MatMut<u32>) {
        let mut m = m;
        #[parallel]
        for row in m.row_iter_mut() { //~ E0502
            row[0] += m[(0, 0)]; //~ E0502
        }
    }

    #[task]
    pub fn holds_a_row_that_a_child_holds(m: MatMut<u32>) {
        let mut m = m;
        for row in m.row_iter_mut() {
            spawn!(add(row));
        }
        #[parallel]
        for row in m.row_iter() { //~ E0502
            let _ = row[0];
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
