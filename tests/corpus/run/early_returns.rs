//! `return` from nested loops and branches.

#[millstream::program]
pub mod program {
    fn find(s: &[u32], x: u32) -> i32 {
        for (i, &y) in s.iter().enumerate() {
            if y == x {
                return i as i32;
            }
        }
        -1
    }

    #[task]
    pub fn search(s: &[u32], x: u32) -> i32 {
        if s.is_empty() {
            return -2;
        }
        let at = find(s, x);
        loop {
            if at < 0 {
                return -1;
            }
            for i in 0..3 {
                if i == at {
                    return 100 + i;
                }
            }
            return at;
        }
    }
}

millstream_tests::cases! {
    search(&Vec::<u32>::new(), 1);
    search(&[1, 2, 3, 4, 5], 2);
    search(&[1, 2, 3, 4, 5], 5);
    search(&[1, 2, 3, 4, 5], 9);
}
