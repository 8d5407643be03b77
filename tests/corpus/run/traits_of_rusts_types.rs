//! Traits for integers, `bool`s, arrays, tuples, options and enums, in generic code and out of it.

#[millstream::program]
pub mod program {
    trait Bits {
        fn low(self) -> u32;
        fn high(self) -> u32;
        fn is_odd(&self) -> bool;
        const WIDTH: u32;
    }
    impl Bits for u8 {
        fn low(self) -> u32 {
            u32::from(self & 15)
        }
        fn high(self) -> u32 {
            (self >> 4) as u32
        }
        fn is_odd(&self) -> bool {
            self % 2 == 1
        }
        const WIDTH: u32 = u8::BITS;
    }
    impl Bits for u64 {
        fn low(self) -> u32 {
            self as u32
        }
        fn high(self) -> u32 {
            (self >> 32) as u32
        }
        fn is_odd(&self) -> bool {
            *self & 1 == 1
        }
        const WIDTH: u32 = 64;
    }
    impl Bits for bool {
        fn low(self) -> u32 {
            self as u32
        }
        fn high(self) -> u32 {
            0
        }
        fn is_odd(&self) -> bool {
            *self
        }
        const WIDTH: u32 = 1;
    }
    trait Each {
        fn each(&self) -> i32;
        fn first(&self) -> i32;
        fn len(&self) -> i32 {
            77
        }
        fn map(&self) -> i32 {
            1
        }
    }
    impl Each for [i32; 3] {
        fn each(&self) -> i32 {
            self.iter().sum()
        }
        fn first(&self) -> i32 {
            self[0] * 100
        }
    }
    impl Each for (i32, u8) {
        fn each(&self) -> i32 {
            self.0 + self.1 as i32
        }
        fn first(&self) -> i32 {
            self.0
        }
    }
    impl Each for Option<i32> {
        fn each(&self) -> i32 {
            self.unwrap_or(5)
        }
        fn first(&self) -> i32 {
            match *self {
                Some(x) => x,
                None => -1,
            }
        }
    }
    fn both<E: Each>(e: &E) -> i32 {
        e.each() + e.first() + e.len()
    }
    fn widths<B: Bits + Copy>(a: &[B]) -> u32 {
        let mut w = 0;
        for x in a {
            if x.is_odd() {
                w += B::WIDTH + x.low();
            } else {
                w += x.high();
            }
        }
        w
    }
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    pub enum Card {
        Low,
        Num(u8),
        Top,
    }
    impl Card {
        fn max(self, o: Card) -> u32 {
            if self == o { 0 } else { 50 }
        }
        fn value(&self) -> u32 {
            match self {
                Card::Low => 1,
                Card::Num(n) => *n as u32,
                Card::Top => 14,
            }
        }
    }
    trait Value {
        fn value(&self) -> u32;
    }
    impl Value for Card {
        fn value(&self) -> u32 {
            Card::value(self) * 2
        }
    }
    impl<V: Value> Value for Option<V> {
        fn value(&self) -> u32 {
            self.as_ref().map_or(0, |v| v.value())
        }
    }
    fn best<C: Ord + Copy + Value>(a: &[C]) -> (C, u32) {
        let mut m = a[0];
        for &c in a {
            m = m.max(c);
        }
        let n = a.iter().copied().max().unwrap_or(m);
        (n.max(m), m.value())
    }
    fn most<C>(a: C, b: C) -> C
    where
        C: PartialOrd,
    {
        if a > b { a } else { b }
    }
    #[task]
    pub fn run(n: i32) -> (i32, i32, u32, (Card, u32), u32, i32) {
        let a = [n, 2, 3];
        let o = Some(n);
        let c = [Card::Num(n as u8), Card::Low, Card::Num(3)];
        let t = spawn!(sub(n));
        sync!();
        (
            Each::map(&a) + a.each() + a.first() + a.len() as i32 + both(&a),
            both(&(n, 3u8)) + both(&o) + both(&o.filter(|x| *x > 100)) + o.each() + o.map(|x| x + 1).unwrap_or(0),
            widths(&[3u8, 0x48]) + widths(&[1u64 << 40]) + widths(&[true, false]) + 7u8.high() + (n as u64).low(),
            best(&c),
            c[0].max(c[1]) + c[0].value() + Some(c[2]).value() + most(Card::Top, c[0]).value(),
            t,
        )
    }
    #[task]
    pub fn sub(n: i32) -> i32 {
        both(&(n, 1u8))
    }
}

millstream_tests::cases! {
    run(9);
}
