//! Slices behind `&` in patterns, and parts of these that are changed.

#[millstream::program]
pub mod program {
    #[task]
    pub fn a(s: &[u32]) -> (u32, u32, u32, u32, usize) {
        let x = match s {
            &[] => 0,
            &[a] => a,
            &[a, b] => a + b,
            &[a, .., b] => a * b,
        };
        let y: u32 = s
            .windows(2)
            .map(|w| if let &[a, b] = w { a.max(b) } else { 0 })
            .sum();
        let z = match s {
            &[a, ref rest @ .., _] if a == 3 => rest.iter().sum::<u32>(),
            _ => 1,
        };
        let t = (s, 2u32);
        let w = if let (&[a, b, ..], k) = t {
            a * 10 + b + k
        } else {
            0
        };
        let v = s.chunks(2).filter(|c| matches!(c, [_, 1] | &[5])).count();
        (x, y, z, w, v)
    }
    #[task]
    pub fn b(s: &mut [u32]) -> (u32, u32) {
        if let &mut [ref mut a, _, ref b, ..] = s {
            *a += *b;
        }
        let k = match s {
            &mut [a, .., z] => a + z,
            _ => 0,
        };
        if let [a, rest @ ..] = s {
            *a += 1;
            if let [.., z] = rest {
                *z = *a;
            }
            rest.reverse();
        }
        (k, s[0] + s[1] * 10)
    }
}

millstream_tests::cases! {
    a(&[3, 1, 4, 1, 5]);
    b(&mut [3, 1, 4, 1, 5]);
}
