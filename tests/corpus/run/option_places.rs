//! `Option`s that are taken, replaced and filled where they lie, behind references too.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct P {
        pub o: Option<u32>,
        pub n: u32,
    }
    fn take_it(o: &mut Option<u32>) -> u32 {
        o.take().unwrap_or(7)
    }
    fn take_opt(o: &mut Option<u32>) -> Option<u32> {
        o.take()
    }
    fn repl(o: &mut Option<u32>, v: u32) -> Option<u32> {
        o.replace(v)
    }
    fn ins(o: &mut Option<u32>) -> u32 {
        let r = o.insert(3);
        *r += 1;
        *r
    }
    fn goi(o: &mut Option<u32>, n: u32) -> u32 {
        *o.get_or_insert(n) += 5;
        o.unwrap()
    }
    fn am(o: &mut Option<u32>) {
        if let Some(x) = o.as_mut() {
            *x += 10;
        }
    }
    fn fld(p: &mut P) -> u32 {
        let a = p.o.take();
        p.o.replace(4);
        *p.o.get_or_insert(1) += 1;
        let _ = p.o.insert(9);
        a.unwrap_or(0) + p.o.unwrap()
    }
    impl P {
        fn m(&mut self) -> Option<u32> {
            let x = self.o.take();
            self.n += 1;
            x
        }
        fn push(&mut self, v: u32) -> Option<u32> {
            self.o.replace(v)
        }
    }
    #[task]
    pub fn a(n: u32) -> (u32, u32, u32, u32) {
        let mut o = Some(n);
        let x = take_it(&mut o);
        let y = take_it(&mut o);
        let r = &mut o;
        let z = r.get_or_insert_with(|| 11);
        *z += 1;
        let w = ins(&mut o);
        (x, y, w, goi(&mut o, 2))
    }
    #[task]
    pub fn b(n: u32) -> (u32, Option<u32>, Option<u32>, P) {
        let mut p = P { o: Some(n), n };
        let q = fld(&mut p);
        let m = p.m();
        let k = p.push(8);
        am(&mut p.o);
        (q, m, k, p)
    }
    #[task]
    pub fn c(n: u32) -> (Option<u32>, Option<u32>, [Option<u32>; 3]) {
        let mut a = [Some(n), None, Some(4)];
        let x = a[0].take();
        let y = a[1].replace(n);
        if let Some(v) = a[2].as_mut() {
            *v *= 2;
        }
        for o in a.iter_mut() {
            o.get_or_insert(99);
        }
        for o in &mut a {
            if let Some(v) = o {
                *v += 1;
            }
        }
        let s = repl(&mut a[1], 50);
        (take_opt(&mut a[2]), y.or(x).or(s), a)
    }
}

millstream_tests::cases! {
    a(5);
    b(5);
    c(3);
}
