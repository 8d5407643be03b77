//! Arrays: nested, repeated, copied, changed through a reference.

#[millstream::program]
pub mod program {
    fn fill(row: &mut [i32; 3], value: i32) {
        for x in row.iter_mut() {
            *x = value;
        }
        row[1] = -value;
    }

    #[task]
    pub fn grid() -> [[i32; 3]; 2] {
        let mut a = [[0; 3]; 2];
        let before = a;
        fill(&mut a[1], 7);
        a[0] = a[1];
        a[0][2] += before[0][2] + a.len() as i32;
        a
    }

    #[task]
    pub fn copies(mut a: [u8; 4]) -> ([u8; 4], [u8; 4]) {
        let b = a;
        a[0] = 99;
        a.swap(1, 2);
        a.reverse();
        (a, b)
    }
}

millstream_tests::cases! {
    grid();
    copies([1, 2, 3, 4]);
}
