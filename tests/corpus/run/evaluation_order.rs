//! Operands are evaluated from left to right, even where one of them assigns.

#[millstream::program]
pub mod program {
    fn next(n: &mut i32) -> i32 {
        *n += 1;
        *n
    }

    #[task]
    pub fn order() -> (i32, [i32; 3], i32) {
        let mut n = 0;
        let a = next(&mut n) - next(&mut n) * next(&mut n);
        let b = [next(&mut n), next(&mut n), next(&mut n)];
        let mut x = 10;
        let c = x + {
            x = 20;
            x
        };
        (a, b, c + x)
    }
}

millstream_tests::cases! {
    order();
}
