//! Slices taken apart by their length and elements.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct At(pub i32, pub i32);

    #[task]
    pub fn sum(a: &[u32]) -> u32 {
        match a {
            [] => 0,
            [x] => *x,
            _ => {
                let (left, right) = a.split_at(a.len() / 2);
                let x = spawn!(sum(left));
                let y = spawn!(sum(right));
                sync!();
                x + y
            }
        }
    }

    fn backwards(a: &[u32]) -> u32 {
        match a {
            [first, rest @ ..] => first + 3 * backwards(rest),
            [] => 1,
        }
    }

    /// The depth of brackets, and where something else stands.
    fn depth(text: &[u8]) -> (i32, i32) {
        let (mut depth, mut other, mut left) = (0, 0, text);
        while let [c, rest @ ..] = left {
            match left {
                [b'(', ..] => depth += 1,
                [b')', ..] if depth > 0 => depth -= 1,
                [b')'] => other += 10,
                [_] | [_, _] => other += 1,
                _ => other += *c as i32 % 7,
            }
            left = rest;
        }
        (depth, other)
    }

    #[task]
    pub fn parts(a: &[u32], pairs: &[At], text: &[u8]) -> (u32, u32, i32, (i32, i32), bool) {
        let ends = match a {
            [first, .., last] => first * 10 + last,
            [only] if *only > 3 => 7,
            few => few.len() as u32,
        };
        let [At(x, y), ..] = pairs else {
            return (ends, backwards(a), -1, depth(text), false);
        };
        let near = if let [At(0, a), At(b, 0 | 1)] = pairs { *a - *b } else { *x };
        (ends, backwards(a), near * 100 + *y, depth(text), matches!(text, [b'(', .., b')']))
    }

    #[task]
    pub fn write(a: &mut [i32]) -> i32 {
        let mut rounds = 0;
        let mut left = a;
        while let [x, middle @ .., y] = left {
            std::mem::swap(x, y);
            *x += rounds;
            rounds += 1;
            left = middle;
        }
        match left {
            [x] => {
                *x *= 2;
                *x
            }
            _ => rounds,
        }
    }
}

millstream_tests::cases! {
    sum(&[1, 2, 3, 4, 5]);
    sum(&[]);
    parts(&[4, 2, 7], &[program::At(0, 5), program::At(2, 1)], b"(a(b)))");
    parts(&[4], &[program::At(2, 5)], b"()");
    parts(&[2], &[], b"");
    write(&mut [1, 2, 3, 4, 5]);
    write(&mut [1, 2]);
    write(&mut []);
}
