//! Slice methods and ranges.

#[millstream::program]
pub mod program {
    fn sum(s: &[i32]) -> i32 {
        let mut t = 0;
        for x in s {
            t += x;
        }
        t
    }

    #[task]
    pub fn ranges(s: &[i32]) -> [i32; 6] {
        [sum(&s[1..3]), sum(&s[..2]), sum(&s[2..]), sum(&s[..]), sum(&s[1..=3]), sum(&s[4..4])]
    }

    #[task]
    pub fn methods(s: &mut [i32]) -> (usize, bool) {
        s.swap(0, 3);
        let (a, b) = s.split_at_mut(2);
        a[0] += b[1];
        b.fill(7);
        let half = s.len() / 2;
        s[..half].reverse();
        let copy = [1, 2];
        s[3..].copy_from_slice(&copy);
        (s.len(), s[1..1].is_empty())
    }

    #[task]
    pub fn parts(s: &[i32], at: usize) -> (i32, i32) {
        let (a, b) = s.split_at(at);
        (sum(a), sum(b))
    }
}

millstream_tests::cases! {
    ranges(&[1, 10, 100, 1000, 10000]);
    methods(&mut [1, 2, 3, 4, 5]);
    parts(&[1, 2, 3], 0);
    parts(&[1, 2, 3], 3);
}
