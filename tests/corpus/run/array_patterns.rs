//! Arrays taken apart by patterns.

#[millstream::program]
pub mod program {
    fn norm([x, y, z]: [i32; 3]) -> i32 {
        x * x + y * y + z * z
    }

    #[task]
    pub fn apart(a: [i32; 3]) -> (i32, i32) {
        let [first, _, last] = a;
        (norm(a), first - last)
    }
}

millstream_tests::cases! {
    apart([3, -4, 12]);
}
