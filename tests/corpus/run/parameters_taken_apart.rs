//! Parameters whose patterns leave elements out, or name a whole and its parts: of tasks, helpers, closures and functions with parameters of their own.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy)]
    struct P {
        x: u32,
        y: [u32; 3],
    }

    fn first_and_all(kids @ [a, ..]: [u32; 4]) -> u32 {
        a + kids[1]
    }

    fn ends([first, .., last]: [u32; 4], P { x, y: [_, rest @ ..] }: P) -> u32 {
        first * 1000 + last * 100 + x * 10 + rest[1]
    }

    fn behind([a, rest @ ..]: &[u32; 3], [x, ..]: &mut [u32; 2]) -> u32 {
        *x += 1;
        a + rest[1] * 2 + *x
    }

    fn of_any<const N: usize>(all @ [a, ..]: [u32; 3], k: [u32; N]) -> u32 {
        a + all[1] + k[0]
    }

    fn with<F: Fn(u32) -> u32>([a, .., b]: [u32; 3], f: F) -> u32 {
        f(a) + b
    }

    #[task]
    pub fn child(all @ [a, ..]: [u32; 3], pair @ (b, _): (u32, u32)) -> u32 {
        if a == 0 {
            return b;
        }
        let below = spawn!(child([a - 1, b, all[2]], (pair.1, b)));
        sync!();
        below * 3 + all[2]
    }

    #[task]
    pub fn all(n: u32) -> u32 {
        let x = spawn!(child([n, 2, 3], (n, 5)));
        let k = |[a, .., b]: [u32; 3]| a + b;
        let j = |p @ (a, _): (u32, u32)| a + p.1;
        let s: u32 = [[1, 2, n], [n, 3, 4]].iter().map(|[a, .., b]| a * b).sum();
        let mut two = [n, 8];
        let y = behind(&[n, 1, 2], &mut two);
        sync!();
        first_and_all([n, 2, 3, 4])
            + ends([n, 2, 3, 4], P { x: n, y: [1, 2, 3] })
            + k([n, 1, 2])
            + j((n, 3))
            + of_any([n, 1, 2], [n; 5])
            + with([n, 8, 9], |v| v * two[0])
            + x
            + y
            + s
    }
}

millstream_tests::cases! {
    all(0);
    all(6);
    child([4, 1, 2], (7, 9));
}
