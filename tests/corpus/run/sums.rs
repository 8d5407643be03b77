//! Enums with data: as values, arguments and results, in structs, arrays and tuples, in patterns of all kinds, and by methods of their own.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum Shape {
        Nothing,
        Circle(f32),
        Rect { w: f32, h: f32 },
        Line([f32; 3], Option<u8>),
    }

    #[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
    pub enum Token {
        #[default]
        End,
        Number(i64),
        Sign(u8),
    }

    /// What has one variant needs no test.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum Only {
        One { n: u32, of: (bool, u8) },
    }

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Scene {
        pub first: Shape,
        pub others: [Shape; 2],
        pub token: Option<Token>,
    }

    const UNIT: Shape = Shape::Rect { w: 1.0, h: 1.0 };
    const NONE: Token = Token::Number(-1);

    use Token::{Number, Sign};

    impl Shape {
        fn area(self) -> f32 {
            match self {
                Shape::Nothing => 0.0,
                Self::Circle(r) if r > 10.0 => 1000.0,
                Self::Circle(r) => 3.0 * r * r,
                Shape::Rect { w, h: height } => w * height,
                Shape::Line(at, Some(n)) => at[n as usize],
                Shape::Line(..) => -1.0,
            }
        }

        fn is_round(&self) -> bool {
            matches!(self, Shape::Circle(_) | Shape::Line(_, None))
        }

        fn width(&self) -> f32 {
            match self {
                Shape::Rect { w, .. } => *w,
                Shape::Circle(r) => 2.0 * r,
                _ => 0.0,
            }
        }

        fn grown(self, by: f32) -> Self {
            match self {
                Self::Circle(r) => Self::Circle(r + by),
                Self::Rect { w, h } => Self::Rect { h: h + by, w: w + by },
                Self::Line(mut at, n) => {
                    at[1] = by;
                    Self::Line(at, n)
                }
                other => other,
            }
        }
    }

    fn shape(n: u32) -> Shape {
        match n % 5 {
            0 => Shape::Circle(n as f32),
            1 => Shape::Rect { h: 2.0, w: n as f32 },
            2 => Shape::Line([0.5, 1.5, n as f32], if n % 2 == 0 { Some(2) } else { None }),
            3 => UNIT,
            _ => Shape::Nothing,
        }
    }

    /// A child's result.
    #[task]
    pub fn largest(from: u32, to: u32) -> Shape {
        if to - from == 1 {
            return shape(from);
        }
        let middle = (from + to) / 2;
        let a = spawn!(largest(from, middle));
        let b = spawn!(largest(middle, to));
        sync!();
        if b.area() > a.area() { b } else { a }
    }

    #[task]
    pub fn areas(scene: Scene, one: Shape, both: (Shape, u32)) -> (f32, bool, Shape) {
        let mut sum = scene.first.area() + one.area();
        for s in scene.others {
            sum += s.area();
        }
        for s in &scene.others {
            sum += s.width();
        }
        let round = scene.first.is_round() || both.0.is_round();
        (sum, round, both.0.grown(0.5))
    }

    #[task]
    pub fn changed(scene: Scene, n: u32) -> Scene {
        let mut next = scene;
        next.others[n as usize % 2] = Shape::Circle(n as f32);
        if let Shape::Rect { w, .. } = next.first {
            next.first = Shape::Rect { w, h: w };
        }
        next.token = match next.token {
            None | Some(Token::End) => Some(NONE),
            Some(Number(n @ 1..=9)) => Some(Number(n * 10)),
            Some(Number(n)) if n < 0 => None,
            Some(t @ Number(_)) => Some(t),
            Some(Sign(b'+' | b'-')) => Some(Token::default()),
            Some(Sign(c)) => Some(Number(c as i64)),
        };
        std::mem::swap(&mut next.first, &mut next.others[0]);
        next
    }

    fn token(text: &[u8]) -> (Token, usize) {
        match text {
            [] => (Token::End, 0),
            [c @ (b'+' | b'-' | b'*'), ..] => (Sign(*c), 1),
            _ => {
                let digits = text.iter().take_while(|c| c.is_ascii_digit()).count();
                let n = text[..digits].iter().fold(0, |n, c| n * 10 + (*c - b'0') as i64);
                (Number(n), digits.max(1))
            }
        }
    }

    /// From left to right.
    #[task]
    pub fn calculate(text: &[u8]) -> Option<i64> {
        let (mut at, mut value, mut sign) = (0, 0, b'+');
        loop {
            let (next, len) = token(&text[at..]);
            at += len;
            let Number(n) = next else {
                return None;
            };
            value = match sign {
                b'+' => value + n,
                b'-' => value - n,
                _ => value * n,
            };
            match token(&text[at..]) {
                (Token::End, _) => return Some(value),
                (Sign(c), len) => {
                    sign = c;
                    at += len;
                }
                (Number(_), _) => return None,
            }
        }
    }

    #[task]
    pub fn compared(n: u32) -> [bool; 8] {
        let (a, b) = (shape(n), shape(n + 5));
        let one = Only::One { n, of: (n > 3, 7) };
        let Only::One { n: same, of: (big, _) } = one;
        [
            a == b,
            a != shape(n),
            a == Shape::Nothing,
            Number(3) < Sign(1),
            Number(n as i64) > Number(4),
            Token::End < Token::default(),
            same == n,
            big,
        ]
    }

    /// Several to choose from, in an array that is a local variable.
    #[task]
    pub fn stack(n: usize) -> (i64, usize) {
        let mut stack = [Token::End; 8];
        let mut top = 0;
        for i in 0..n {
            stack[top] = if i % 3 == 2 { Sign(i as u8) } else { Number(i as i64) };
            top += 1;
            if let [.., Number(a), Number(b), Sign(_)] = &stack[..top] {
                let (a, b) = (*a, *b);
                top -= 2;
                stack[top - 1] = Number(a * 10 + b);
            }
        }
        let mut sum = 0;
        while top > 0 && let_is_number(stack[top - 1]) {
            top -= 1;
            sum += match stack[top] {
                Number(n) => n,
                _ => unreachable!(),
            };
        }
        (sum, top)
    }

    fn let_is_number(token: Token) -> bool {
        if let Number(_) = token { true } else { false }
    }

    #[task]
    pub fn searched(n: u32) -> (u32, Option<Token>, f32) {
        let shapes = [shape(n), shape(n + 1), shape(n + 2), shape(n + 3)];
        let round = shapes.iter().filter(|s| s.is_round()).count() as u32;
        let found = shapes.iter().position(|s| *s == Shape::Nothing);
        let widest = shapes.iter().map(|s| s.width()).fold(0.0, |a: f32, b| a.max(b));
        (round, found.map(|i| i as i64).map(Number), widest)
    }
}

millstream_tests::cases! {
    largest(0, 20);
    largest(2, 3);
    largest(4, 5);
    areas(
        program::Scene { first: program::Shape::Circle(2.0), others: [program::Shape::Nothing, program::Shape::Rect { w: 2.0, h: 3.5 }], token: None },
        program::Shape::Line([1.0, 2.0, 4.0], Some(2)),
        (program::Shape::Rect { w: 2.0, h: 1.0 }, 3)
    );
    areas(
        program::Scene { first: program::Shape::Circle(20.0), others: [program::Shape::Nothing, program::Shape::Line([0.0, 0.0, 0.0], None)], token: None },
        program::Shape::Line([1.0, 2.0, 4.0], None),
        (program::Shape::Line([1.0, 2.0, 4.0], None), 3)
    );
    changed(program::Scene { first: program::Shape::Rect { w: 2.0, h: 1.0 }, others: [program::Shape::Nothing, program::Shape::Circle(1.0)], token: Some(program::Token::Number(7)) }, 3);
    changed(program::Scene { first: program::Shape::Nothing, others: [program::Shape::Nothing, program::Shape::Circle(1.0)], token: Some(program::Token::Number(-7)) }, 2);
    changed(program::Scene { first: program::Shape::Nothing, others: [program::Shape::Nothing, program::Shape::Circle(1.0)], token: Some(program::Token::Number(17)) }, 2);
    changed(program::Scene { first: program::Shape::Nothing, others: [program::Shape::Nothing, program::Shape::Circle(1.0)], token: Some(program::Token::Sign(43)) }, 2);
    changed(program::Scene { first: program::Shape::Nothing, others: [program::Shape::Nothing, program::Shape::Circle(1.0)], token: Some(program::Token::Sign(44)) }, 2);
    changed(program::Scene { first: program::Shape::Nothing, others: [program::Shape::Nothing, program::Shape::Circle(1.0)], token: None }, 2);
    calculate(b"12+30*2-1");
    calculate(b"12+30*");
    calculate(b"7");
    compared(0);
    compared(3);
    compared(4);
    compared(9);
    stack(7);
    stack(8);
    searched(0);
    searched(2);
}
