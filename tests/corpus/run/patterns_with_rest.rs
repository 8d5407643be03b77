//! `..` in patterns of tuples and of structs without names, and types in brackets.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy)]
    struct Four(u32, u64, [u8; 2], i32);

    #[task]
    pub fn three(n: u32) -> (u32, u32, i64) {
        (n, n + 1, -(n as i64))
    }

    fn last(t: &(u32, u32, i64)) -> i64 {
        let (.., x) = t;
        *x
    }

    #[task]
    pub fn run(n: u32) -> (u32, i64, u64, i32, u32) {
        let Four(a, .., d) = Four(n, 2, [3, n as u8], -4);
        let Four(.., [_, c], e) = Four(n, 2, [3, n as u8], -4);
        let (first, ..) = spawn!(three(n));
        let (_, .., mut least) = spawn!(three(n + 1));
        sync!();
        least -= last(&(1, 2, 3));
        let (..) = (first, least);
        let found = match (n, n % 3, c > 2, e) {
            (0, ..) => 1,
            (.., true, -4) if a > 5 => 2,
            (_, 1, ..) => 3,
            (x, .., _) => x as u64,
        };
        let sum = match Four(n, found, [1, 2], d) {
            Four(5.., ..) => 100,
            Four(.., x) => x,
        };
        (first, least, found, sum, <u32>::MAX - <u32>::min(n, 3))
    }
}

millstream_tests::cases! {
    run(0);
    run(1);
    run(4);
    run(5);
    run(9);
}
