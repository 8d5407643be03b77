//! Values that cannot stand between `match` and `{`, and guards over values that no switch takes.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct P {
        pub x: u32,
    }

    impl P {
        fn next(&self) -> P {
            P { x: self.x + 1 }
        }
    }

    fn of_three(n: u32) -> u32 {
        let P { x: 3 } = (P { x: n }) else {
            return 100;
        };
        7
    }

    #[task]
    pub fn structs(n: u32) -> u32 {
        let mut found = of_three(n);
        if matches!(P { x: n }, P { x: 3 }) {
            found += 1;
        }
        if matches!(P { x: n }.next(), P { x: 1..=4 } if (P { x: n } == P { x: 3 })) {
            found += 10;
        }
        found
    }

    #[task]
    pub fn guards(n: u32, f: f32, p: P) -> (u32, u32, u32, u32) {
        let array = match [n; 2] {
            _ if n > 3 => 1,
            a if a[1] == 2 => a[0],
            _ => 3,
        };
        let float = match f {
            x if x > 0.5 => 1,
            _ if n > 3 => 2,
            _ => 3,
        };
        let whole = match p {
            q if q.x > n => 1,
            _ => q(p),
        };
        let always = match [p; 3] {
            all => all[2].x,
        };
        (array, float, whole, always)
    }

    fn q(p: P) -> u32 {
        match p {
            P { x } if x % 2 == 0 => x,
            P { .. } => 1000,
        }
    }
}

millstream_tests::cases! {
    structs(3);
    structs(0);
    structs(4);
    guards(4, 0.25, program::P { x: 9 });
    guards(2, 0.75, program::P { x: 2 });
    guards(1, 0.5, program::P { x: 1 });
    guards(7, f32::NAN, program::P { x: 3 });
}
