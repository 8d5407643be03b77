//! A method that takes its receiver as it is goes before one that borrows it, the type's own before a trait's.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct S(pub u32);
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct W {
        pub s: S,
        pub t: (S, u32),
    }
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub enum E {
        N,
        A(S),
        B { s: S },
    }
    impl S {
        fn f(&self) -> u32 {
            1
        }
        fn h(&mut self) -> u32 {
            self.0 += 1;
            2
        }
    }
    trait Tr {
        fn f(self) -> u32;
        fn h(&self) -> u32;
    }
    impl Tr for S {
        fn f(self) -> u32 {
            10
        }
        fn h(&self) -> u32 {
            20
        }
    }
    fn e(e: &E) -> u32 {
        match e {
            E::N => 0,
            E::A(s) => s.f() + s.h(),
            E::B { s } => s.f() * 3,
        }
    }
    fn e2(e: E) -> u32 {
        match e {
            E::N => 0,
            E::A(s) => s.f() + s.h(),
            E::B { s } => s.f() * 3,
        }
    }
    fn e3(e: &mut E) -> u32 {
        match e {
            E::N => 0,
            E::A(s) => s.f() + s.h(),
            E::B { s } => s.f() * 3 + s.h(),
        }
    }
    fn w(w: &W) -> u32 {
        let W { s, t: (p, _) } = w;
        w.s.f() + s.f() * 100 + p.f() * 10000 + w.t.0.h()
    }
    fn w2(w: &mut W) -> u32 {
        let W { s, t } = w;
        let x = s.h() + t.0.f() * 100;
        x + w.s.f() * 1000 + w.s.h()
    }
    fn o(o: Option<S>) -> u32 {
        let a = match &o {
            Some(s) => s.f(),
            None => 0,
        };
        let b = o.map_or(0, |s| s.f());
        let c = o.as_ref().map_or(0, |s| s.f());
        let d = if let Some(s) = o { s.f() } else { 0 };
        a + b * 100 + c * 10000 + d * 1000000
    }
    impl W {
        fn all(&self) -> u32 {
            self.s.f()
        }
        fn own(self) -> u32 {
            self.s.f() + self.s.h()
        }
        fn mt(&mut self) -> u32 {
            self.s.h() + self.t.0.f()
        }
    }
    impl S {
        fn me(&self) -> u32 {
            self.f() + (*self).f() * 100
        }
        fn me2(self) -> u32 {
            self.f() + (&self).f() * 100
        }
        fn me3(&mut self) -> u32 {
            self.f() + self.h() * 100 + (&*self).f() * 10000 + (&*self).h()
        }
    }
    #[task]
    pub fn run(n: u32) -> (u32, u32, u32, u32, u32, u32, u32, u32, u32, (u32, u32, u32)) {
        let s = S(n);
        let mut ww = W { s, t: (s, 3) };
        let a = [s, s];
        let r = &a[0];
        let q = &a;
        let c = a.iter().map(|s| s.f()).sum::<u32>()
            + a.iter().copied().map(|s| s.f()).sum::<u32>() * 100
            + a.into_iter().map(|s| s.f()).sum::<u32>() * 10000;
        let d = a.iter().filter(|s| s.f() == 1).count() as u32
            + a.iter().copied().filter(|s| s.f() == 1).count() as u32 * 10
            + a.iter().fold(0, |x, s| x + s.f()) * 100
            + u32::from(a.iter().any(|s| s.f() == 1)) * 10000;
        let mut g = 0;
        for s in &a {
            g += s.f();
        }
        for s in a {
            g += s.f() * 100;
        }
        for s in a.iter() {
            g += s.f() * 10000;
        }
        for (i, &s) in a.iter().enumerate() {
            g += s.f() * i as u32;
        }
        let k = |s: S| s.f();
        let l = |s: &S| s.f();
        let h = r.f() + q[1].f() * 100 + a[0].f() * 10000 + k(s) + l(&s);
        let mut mm = a;
        for s in mm.iter_mut() {
            g += s.h();
        }
        for s in &mut mm {
            g += s.f();
        }
        let t = spawn!(sub(s, [s; 2]));
        let tup = (s, &s);
        let x = tup.0.f() + tup.1.f() * 100;
        let (p, z) = tup;
        let y = p.f() + z.f() * 100;
        sync!();
        (
            e(&E::A(s)) + e2(E::B { s }) * 100 + e3(&mut E::A(s)) * 10000,
            w(&ww),
            w2(&mut ww),
            o(Some(s)),
            c,
            d,
            g,
            h + t,
            ww.all() + ww.own() * 100 + ww.mt() * 100000,
            (S(1).me() + S(1).me2() * 10000, S(2).me3(), x + y),
        )
    }
    #[task]
    pub fn sub(s: S, a: [S; 2]) -> u32 {
        s.f()
            + a[1].f()
            + a.iter().max_by_key(|s| s.f()).map_or(0, |s| s.f())
            + a.iter().min_by(|a, b| a.f().cmp(&b.f())).unwrap().f()
    }
}

millstream_tests::cases! {
    run(4);
}
