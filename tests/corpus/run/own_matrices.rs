//! Types of a program that have names of the framework's: as for rustc, they are the program's.

#[millstream::program]
pub mod program {
    mod power {
        #[derive(Clone, Copy)]
        struct Mat([[u64; 2]; 2]);
        impl Mat { fn new(a: u64) -> Self { Mat([[a, 1], [1, 0]]) }
          fn mul(&self, o: &Mat) -> Mat { let mut r = Mat([[0; 2]; 2]); for i in 0..2 { for j in 0..2 { for k in 0..2 { r.0[i][j] += self.0[i][k] * o.0[k][j]; } } } r } }
        pub fn power(k: u64) -> u64 { let m = Mat::new(k); let q: Mat = m.mul(&m); q.0[0][0] }
    }
    mod traces {
        type Mat = [[f64; 3]; 3];
        fn tr(m: &Mat) -> f64 { m[0][0] + m[1][1] + m[2][2] }
        pub fn trace(k: f64) -> f64 { let m: Mat = [[k; 3]; 3]; tr(&m) }
    }
    mod shapes {
        #[derive(Clone, Copy)]
        struct Mat<const R: usize, const C: usize> { a: [[u32; C]; R] }
        impl<const R: usize, const C: usize> Mat<R, C> { fn new(x: u32) -> Self { Mat { a: [[x; C]; R] } }
          fn t(&self) -> Mat<C, R> { let mut o = Mat::<C, R>::new(0); for i in 0..R { for j in 0..C { o.a[j][i] = self.a[i][j]; } } o } }
        fn first<const R: usize, const C: usize>(m: &Mat<R, C>) -> u32 { m.a[0][0] + (R * 10 + C) as u32 }
        pub fn turned(k: u32) -> u32 { let m = Mat::<2, 3>::new(k); first(&m.t()) }
    }
    mod aliases {
        mod la { #[derive(Clone, Copy)] pub struct Pair { pub a: f32, pub b: f32 } impl Pair { pub fn new(a: f32) -> Self { Pair { a, b: a } } } }
        use la::Pair as MatMut;
        struct Mat<T> { x: T }
        impl<T: Copy> Mat<T> { fn new(x: T) -> Self { Mat { x } } fn rows(&self) -> T { self.x } }
        pub fn beside(k: f32) -> f32 { let m = MatMut::new(k); let n: Mat<f32> = Mat::new(k); m.a + m.b + n.rows() }
    }
    mod nested {
        pub struct MatMut { pub x: u32 }
        #[derive(Clone, Copy)]
        pub struct Mat { pub a: u32 }
        mod inner { use super::*; #[derive(Clone, Copy)] pub struct Holds { pub m: Mat } pub fn get(m: &Mat) -> u32 { m.a } pub fn put(m: &mut MatMut) { m.x += 1; } }
        use inner::*;
        pub fn nested(k: u32) -> u32 { let h = Holds { m: Mat { a: k } }; let g = h; let mut w = MatMut { x: 2 }; put(&mut w); get(&h.m) + g.m.a + w.x }
    }

    #[derive(Clone, Copy)]
    struct MatMut {
        x: u32,
    }

    type Mat = [[u32; 2]; 2];

    fn sum(m: &Mat, more: MatMut) -> u32 {
        m[0][0] + m[1][1] + more.x
    }

    #[task]
    pub fn all(k: u32) -> (u64, f64, u32, f32, u32) {
        let own = sum(&[[k; 2]; 2], MatMut { x: k });
        (power::power(k as u64), traces::trace(k as f64), shapes::turned(k), aliases::beside(k as f32), nested::nested(k) + own)
    }
}

millstream_tests::cases! {
    all(5);
}
