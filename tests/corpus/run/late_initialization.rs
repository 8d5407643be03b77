//! Variables that get their value later.

#[millstream::program]
pub mod program {
    #[task]
    pub fn later(n: i32) -> (i32, [i32; 2]) {
        let x;
        let y: i32;
        if n > 0 {
            x = n;
            y = 1;
        } else {
            x = -n;
            y = 2;
        }
        let a: [i32; 2];
        a = [x, y];
        (x + y, a)
    }
}

millstream_tests::cases! {
    later(4);
    later(-4);
}
