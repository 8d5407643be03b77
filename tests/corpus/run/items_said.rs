//! Literals in iterators whose items are taken one by one: what a function says of the items decides, and what is done with them.

#[millstream::program]
pub mod program {
    fn moves(k: u16) -> impl Iterator<Item = u32> { (0..16).filter(move |i| k >> i & 1 == 0) }
    fn tripled(m: u32) -> u32 { m * 3 }
    #[task]
    pub fn moved(k: u16) -> u32 {
        let mut it = moves(k);
        let Some(m) = it.next() else { return 0 };
        tripled(m)
    }
    fn big() -> impl Iterator<Item = u64> { (0..5).map(|i| i << 40) }
    fn wrapping(n: u8) -> impl Iterator<Item = u8> { (0..n as usize).map(|_| 200) }
    fn pairs() -> impl Iterator<Item = (u8, u64)> { (250..255).zip(1..).map(|(a, b)| (a, b << 40)) }
    #[task]
    pub fn summed(_k: u64) -> u32 {
        let mut all = 0;
        for x in big() { all += (x >> 40) as u32; }
        all
    }
    #[task]
    pub fn second(_k: u64) -> u32 {
        let mut it = big();
        it.next();
        let x = it.next().unwrap();
        (x >> 40) as u32
    }
    #[task]
    pub fn narrow(k: u8) -> u32 {
        let mut it = wrapping(k);
        let x = it.next().unwrap();
        x.wrapping_add(100) as u32
    }
    #[task]
    pub fn beside(_k: u8) -> u32 {
        let mut it = pairs();
        it.next();
        let (x, y) = it.next().unwrap();
        x.wrapping_add(100) as u32 + (y >> 40) as u32
    }
    #[derive(Clone, Copy)]
    struct S { k: u64 }
    fn widened(x: u16) -> u32 { x as u32 }
    impl S {
        fn iter(&self) -> impl Iterator<Item = u64> + '_ { (0..5).map(|i| i * self.k) }
    }
    #[task]
    pub fn looked_at(_k: u64) -> u32 {
        let mut it = (0..10).step_by(2).skip(1);
        let mut other = (1..=4).map(|x| x + 1).peekable();
        let mut all = 0;
        while let Some(&p) = other.peek() {
            all += widened(p);
            other.next();
        }
        while let Some(x) = it.next() { all += widened(x); }
        all
    }
    #[task]
    pub fn turns(k: u64) -> u64 {
        let s = S { k };
        let (mut a, mut b) = (s.iter(), (0..7).filter(|i| i % 2 == 0));
        let mut all = k;
        while let (Some(x), Some(y)) = (a.next(), b.next_back()) { all = all * 31 + x + y; }
        let mut c = (0..5).map(|i| i * 3).rev();
        all += c.next().unwrap();
        let left = c.count() as u64;
        let mut d = (3..).map(|x| x * x);
        let y: u64 = d.next().unwrap() + d.next().unwrap();
        let mut z = (0..3).zip(5..8);
        let (z1, z2): (u8, u64) = z.next().unwrap();
        let mut nested = 0u64;
        {
            let mut e = (0..4).map(|i| { let mut q = (1..3).map(|w| w * 2); q.next().unwrap() + i });
            while let Some(v) = e.next() { nested += v; }
        }
        all + left + y + z1 as u64 + z2 + nested
    }
}

millstream_tests::cases! {
    moved(5);
    moved(0xffff);
    summed(1);
    second(1);
    narrow(5);
    beside(5);
    looked_at(5);
    turns(5);
}
