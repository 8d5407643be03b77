//! `impl From`: by the type's name, by `into` where it is known what is wanted, of several types, and by `?` of errors.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Point {
        pub x: i32,
        pub y: i32,
    }

    impl From<(i32, i32)> for Point {
        fn from((x, y): (i32, i32)) -> Self {
            Self { x, y }
        }
    }

    impl From<i32> for Point {
        fn from(x: i32) -> Self {
            Point { x, y: -x }
        }
    }

    impl From<[i32; 2]> for Point {
        fn from(of: [i32; 2]) -> Point {
            Point::from((of[1], of[0]))
        }
    }

    impl From<Point> for i64 {
        fn from(p: Point) -> i64 {
            1000 * i64::from(p.x) + p.y as i64
        }
    }

    #[derive(Clone, Copy)]
    pub enum Low {
        Negative(i32),
        Zero,
    }

    #[derive(Clone, Copy)]
    pub enum Fault {
        Low(u32),
        High { by: u32 },
    }

    impl From<Low> for Fault {
        fn from(low: Low) -> Self {
            match low {
                Low::Negative(n) => Fault::Low(n.unsigned_abs()),
                Low::Zero => Fault::Low(0),
            }
        }
    }

    fn positive(n: i32) -> Result<u32, Low> {
        match n {
            0 => Err(Low::Zero),
            n if n < 0 => Err(Low::Negative(n)),
            n => Ok(n as u32),
        }
    }

    fn small(n: i32) -> Result<u32, Fault> {
        let n = positive(n)?;
        if n > 100 {
            return Err(Fault::High { by: n - 100 });
        }
        Ok(n)
    }

    fn code(found: Result<u32, Fault>) -> i64 {
        match found {
            Ok(n) => n.into(),
            Err(Fault::Low(n)) => -1 - n as i64,
            Err(Fault::High { by }) => 1_000_000 + i64::from(by),
        }
    }

    fn sum(p: Point) -> i32 {
        p.x + p.y
    }

    #[task]
    pub fn points(n: i32) -> i64 {
        if n < 2 {
            return Point::from(n + 7).into();
        }
        let a = spawn!(points(n - 1));
        let b = spawn!(points(n - 2));
        let p: Point = (n, 3).into();
        let q = Point::from([n, 5]);
        let same = Point::from(q);
        let taken = sum((2, n).into()) + sum(n.into());
        let r: i64 = p.into();
        let s = <Point as From<i32>>::from(4);
        let many: [Point; 2] = [1.into(), Point::from((8, 9))];
        sync!();
        let all = r + i64::from(same) + i64::from(taken) + i64::from(sum(s));
        all + i64::from(many[0].y) + i64::from(many[1]) + a % 1_000_003 + 2 * b % 1_000_003
    }

    #[task]
    pub fn faults(from: i32, to: i32) -> i64 {
        if to - from == 1 {
            return code(small(from));
        }
        let middle = from + (to - from) / 2;
        let mut all = 0;
        all += spawn!(faults(from, middle));
        all += spawn!(faults(middle, to));
        sync!();
        all
    }

    #[derive(Clone, Copy, PartialEq, Debug)]
    enum Suit {
        Clubs,
        Hearts,
    }

    impl TryFrom<u8> for Suit {
        type Error = (u8, bool);

        fn try_from(byte: u8) -> Result<Self, Self::Error> {
            match byte {
                b'c' => Ok(Self::Clubs),
                b'h' => Ok(Self::Hearts),
                _ => Err((byte, byte.is_ascii())),
            }
        }
    }

    fn hearts(text: &[u8]) -> Result<u32, (u8, bool)> {
        let mut count = 0;
        for &byte in text {
            count += u32::from(Suit::try_from(byte)? == Suit::Hearts);
        }
        Ok(count + u32::from(u8::try_from(count).is_ok()))
    }

    #[task]
    pub fn suits(text: &[u8]) -> (u32, Option<u8>) {
        match hearts(text) {
            Ok(count) => (count, None),
            Err((byte, ascii)) => (ascii as u32, Some(byte)),
        }
    }
}

millstream_tests::cases! {
    suits(b"chh");
    suits(b"c?");
    points(0);
    points(9);
    faults(-5, 120);
}
