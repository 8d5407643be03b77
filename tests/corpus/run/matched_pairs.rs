//! Pairs of references to what children returned, matched together.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum Ex {
        Num(i64),
        Add(usize, usize),
        Mul(usize, usize),
        Neg(usize),
        If { c: usize, t: usize, e: usize },
    }
    fn dec(x: &(u8, usize, usize)) -> Ex {
        match x {
            (0, a, _) => Ex::Num(*a as i64),
            (1, a, b) => Ex::Add(*a, *b),
            (2, a, b) => Ex::Mul(*a, *b),
            &(3, a, _) => Ex::Neg(a),
            &(_, a, b) => Ex::If { c: a, t: b, e: a },
        }
    }
    fn simp(a: &Ex, b: &Ex) -> Option<i64> {
        match (a, b) {
            (Ex::Num(x), Ex::Num(y)) => Some(x * y),
            (Ex::Num(0), _) | (_, Ex::Num(0)) => Some(0),
            _ => None,
        }
    }
    #[task]
    pub fn decoded(v: &[usize], t: (u8, usize, usize)) -> (Ex, Option<i64>, Option<i64>) {
        let a = dec(&(v[1] as u8 - 1, v[0], 0));
        let b = dec(&t);
        (b, simp(&a, &a), simp(&a, &b).or(simp(&b, &Ex::Num(0))))
    }
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum St {
        Win(u32),
        Lose(u32),
        Draw,
    }
    fn better(a: St, b: St) -> St {
        match (a, b) {
            (St::Win(x), St::Win(y)) => St::Win(x.min(y)),
            (St::Win(x), _) | (_, St::Win(x)) => St::Win(x),
            (St::Draw, _) | (_, St::Draw) => St::Draw,
            (St::Lose(x), St::Lose(y)) => St::Lose(x.max(y)),
        }
    }
    #[task]
    pub fn game(n: u32, me: bool) -> St {
        if n == 0 {
            return St::Lose(0);
        }
        let mut r = [None; 3];
        for k in 1..=3u32 {
            if k <= n {
                r[k as usize - 1] = Some(k);
            }
        }
        let mut res = [St::Draw; 3];
        for i in 0..3 {
            if let Some(k) = &r[i] {
                res[i] = spawn!(game(n - k, !me));
            }
        }
        sync!();
        let mut best = St::Lose(0);
        for (o, s) in r.iter().zip(&res) {
            match (o, s) {
                (Some(_), St::Lose(d)) => best = better(best, St::Win(d + 1)),
                (Some(_), St::Win(d)) => best = better(best, St::Lose(*d + 1)),
                (Some(_), St::Draw) => best = better(best, St::Draw),
                (None, _) => {}
            }
        }
        best
    }
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum T {
        Leaf(u32),
        Two(u32, u32),
        None3,
    }
    #[task]
    pub fn tree(n: u32) -> T {
        if n < 2 {
            return if n == 0 { T::None3 } else { T::Leaf(n) };
        }
        let a = spawn!(tree(n - 1));
        let b = spawn!(tree(n - 2));
        sync!();
        match (&a, &b) {
            (T::Leaf(x), T::Leaf(y)) => T::Two(*x, *y),
            (T::Two(x, y), T::Leaf(z)) => T::Two(x + y, *z),
            (T::Two(x, y), T::Two(z, w)) if x > z => T::Two(x + w, y + z),
            (T::Two(x, ..), T::Two(.., w)) => T::Two(*x, *w),
            (T::Leaf(x), T::None3) => T::Leaf(x + 1),
            (p, _) => *p,
        }
    }
}

millstream_tests::cases! {
    game(9, true);
    tree(6);
    decoded(&[5, 1, 2], (2, 3, 4));
}
