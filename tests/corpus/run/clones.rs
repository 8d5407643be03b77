//! A clone is a value of its own: what is done to it or to the original leaves the other as it was.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Pair {
        pub x: i32,
        pub row: [i32; 3],
    }

    impl Pair {
        const ONE: Pair = Pair { x: 1, row: [1; 3] };

        fn bump(&mut self) -> i32 {
            self.x += 1;
            self.row[1] *= 5;
            self.row[1]
        }
    }

    #[task]
    pub fn run(n: i32, data: &mut [i32; 3]) -> (Pair, Pair, Pair, i32, i32) {
        let mut pair = Pair { x: n, row: [n; 3] };
        let bumped = pair.clone().bump() + { pair }.bump();
        let kept = &pair.clone();
        let other = &mut pair.clone();
        other.bump();
        pair.row[0] = 9;
        let mut copy = data.clone();
        let before = &data.clone();
        copy[0] = 5;
        data[1] += copy[0];
        data.clone().reverse();
        let one = &mut Pair::ONE.clone();
        one.bump();
        let count = &mut one.x.clone();
        *count += 10;
        (*kept, *other, pair, bumped + *count, before[1] * 100 + one.row[1] * 10 + one.x)
    }
}

millstream_tests::cases! {
    run(3, &mut [1, 2, 3]);
}
