//! Constants where they are used: in functions, blocks and methods, before their definition too, and two of one name.

#[millstream::program]
pub mod program {
    const BASE: u32 = 10;

    #[derive(Clone, Copy)]
    pub struct Digit(u8);

    impl Digit {
        fn is_prime(self) -> bool {
            const PRIMES: [u8; 4] = [2, 3, 5, 7];
            PRIMES.contains(&self.0)
        }
    }

    fn weigh(n: u32) -> u32 {
        const WEIGHTS: [u32; COUNT] = [3, 1, 4];
        const COUNT: usize = 3;
        WEIGHTS[n as usize % COUNT] * BASE
    }

    #[task]
    pub fn sum(n: u32) -> u32 {
        let mut parts = [0; COUNT];
        const COUNT: usize = 4;
        if n < BASE {
            const SMALL: u32 = 100 + BASE;
            return match n {
                SMALL => 0,
                _ => SMALL + weigh(n) + Digit(n as u8).is_prime() as u32,
            };
        }
        for i in 0..COUNT {
            const STEP: u32 = 3;
            parts[i] = spawn!(sum(n / STEP - i as u32));
        }
        sync!();
        let mut total = 0;
        #[parallel]
        for x in parts.iter() {
            const STEP: u32 = 7;
            total += x * STEP;
        }
        total
    }
}

millstream_tests::cases! {
    sum(0);
    sum(7);
    sum(10);
    sum(40);
}
