//! A variable in which a parallel loop gathers, chosen afterwards by one of two ways that others come through, too: its address is set once.

#[millstream::program]
pub mod program {
    fn gathered(n: u32) -> u32 {
        if n == 0 {
            return n + n;
        }
        assert!(n < 100 || n == 7);
        let data = [0.5f64; 2];
        let mut some: bool = false;
        #[parallel]
        for part in data.chunks(1) {
            let odd: bool = {
                let never = |_: u32| false;
                if n as u8 & 1 == 1 { never(n + n) } else { never(n) }
            };
            let all: [(u32, bool); 5] = {
                let same = |x: u32| [(x, odd), (n, odd), (x, odd), (n, odd), (n, odd)];
                if n & 2 == 2 { same(n) } else { same(n + 1) }
            };
            some |= match n & 7 {
                0 => odd,
                1 | 2 => (n as i16) < (all[0].0 as i16),
                3..=5 => n < all[1].0,
                _ => odd,
            };
            if part[0] > 0.25 {
                some |= {
                    let own = |x: u32| x > 40 || odd;
                    if !odd { own(n) } else { own(all[4].0) }
                };
            }
        }
        some = if matches!((n as i8) & 15, 0..=3 | 9) { true } else { some };
        n + some as u32
    }

    #[task]
    pub fn all(n: u32) -> u32 {
        let mut sum = 0;
        for i in 0..n {
            sum += gathered(i) * (i + 1);
        }
        sum
    }
}

millstream_tests::cases! {
    all(0);
    all(1);
    all(60);
}
