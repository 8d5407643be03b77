//! Assertions that hold, in all their forms.

#[millstream::program]
pub mod program {
    #[task]
    pub fn checked(n: u32, flag: bool) -> u32 {
        assert!(n < 100);
        assert!(flag || n > 0, "n must be positive");
        assert_eq!(n + 1, 1 + n);
        assert_ne!(n, 1000, "never {}", n);
        debug_assert!(n != 77);
        debug_assert_eq!(n, n);
        if n > 50 {
            panic!("too large: {}", n);
        }
        match n % 2 {
            0 => n / 2,
            1 => n * 3 + 1,
            _ => unreachable!(),
        }
    }
}

millstream_tests::cases! {
    checked(6, false);
    checked(7, true);
}
