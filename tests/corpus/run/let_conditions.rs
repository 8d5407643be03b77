//! `if let`, `while let` and `let .. else`.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct By(pub i32, pub bool);

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Step {
        pub kind: u8,
        pub by: By,
    }

    const STOP: u8 = 9;

    fn sum(data: &[u8]) -> (u8, bool) {
        let mut sum = 0u8;
        for &x in data {
            let (next, false) = sum.overflowing_add(x) else {
                return (sum, false);
            };
            sum = next;
        }
        (sum, true)
    }

    fn follow(steps: &[Step]) -> (i32, usize) {
        let (mut at, mut i) = (0, 0);
        'all: while let Step { kind: kind @ 0..=3, by: By(n, forward) } = steps[i] {
            i += 1;
            if let 0 | 1 = kind {
                at += n;
                continue;
            } else if let (2, true) = (kind, forward) {
                at *= n;
            } else {
                let Step { kind: STOP, by: By(mut last, _) } = steps[i] else {
                    break 'all;
                };
                last += 1;
                at -= last;
            }
        }
        (at, i)
    }

    #[task]
    pub fn halve(n: u32, depth: u32) -> u32 {
        let (0, half): (u32, u32) = (n % 2, n / 2) else {
            let odd = spawn!(halve(n + 1, depth + 1));
            sync!();
            return odd + 1000;
        };
        if let 0 = half {
            return depth;
        }
        let result = if let 1..=2 = half {
            depth * 10
        } else {
            let next = spawn!(halve(half, depth + 1));
            sync!();
            next
        };
        result + 1
    }

    #[task]
    pub fn all(data: &[u8], steps: &[Step]) -> ((u8, bool), (i32, usize)) {
        (sum(data), follow(steps))
    }
}

millstream_tests::cases! {
    halve(37, 0);
    halve(0, 3);
    halve(64, 1);
    all(&[100, 100, 50], &vec![
        program::Step { kind: 1, by: program::By(5, false) },
        program::Step { kind: 2, by: program::By(3, true) },
        program::Step { kind: 3, by: program::By(0, false) },
        program::Step { kind: 9, by: program::By(4, false) },
    ]);
    all(&[100, 100, 100], &vec![
        program::Step { kind: 2, by: program::By(3, false) },
        program::Step { kind: 4, by: program::By(0, false) },
    ]);
}
