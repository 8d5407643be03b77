//! Bodies that attract each other; sums of vectors, `impl Sum`.

#[millstream::program]
pub mod program {
    use std::ops::{Add, AddAssign, Mul, Sub};
    const N: usize = 16;
    const G: f64 = 6.674e-2;
    const SOFTENING: f64 = 1e-3;

    #[derive(Debug, Clone, Copy, PartialEq, Default)]
    pub struct Vec3 { pub x: f64, pub y: f64, pub z: f64 }

    impl Vec3 {
        pub const ZERO: Self = Self { x: 0.0, y: 0.0, z: 0.0 };
        pub const fn new(x: f64, y: f64, z: f64) -> Self { Self { x, y, z } }
        pub fn dot(self, o: Self) -> f64 { self.x * o.x + self.y * o.y + self.z * o.z }
        pub fn norm_sq(self) -> f64 { self.dot(self) }
    }
    impl Add for Vec3 { type Output = Self; fn add(self, o: Self) -> Self { Self::new(self.x + o.x, self.y + o.y, self.z + o.z) } }
    impl Sub for Vec3 { type Output = Self; fn sub(self, o: Self) -> Self { Self::new(self.x - o.x, self.y - o.y, self.z - o.z) } }
    impl Mul<f64> for Vec3 { type Output = Self; fn mul(self, k: f64) -> Self { Self::new(self.x * k, self.y * k, self.z * k) } }
    impl Mul<Vec3> for f64 { type Output = Vec3; fn mul(self, v: Vec3) -> Vec3 { v * self } }
    impl AddAssign for Vec3 { fn add_assign(&mut self, o: Self) { *self = *self + o; } }
    impl std::iter::Sum for Vec3 { fn sum<I: Iterator<Item = Self>>(iter: I) -> Self { iter.fold(Self::ZERO, |a, b| a + b) } }

    #[derive(Debug, Clone, Copy, PartialEq, Default)]
    pub struct Body { pub pos: Vec3, pub vel: Vec3, pub mass: f64 }

    struct Rng(u64);
    impl Rng {
        fn next_u64(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ (z >> 31)
        }
        fn unit(&mut self) -> f64 { (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64 }
    }

    fn acceleration(bodies: &[Body], i: usize) -> Vec3 {
        let me = &bodies[i];
        bodies
            .iter()
            .enumerate()
            .filter(|&(j, _)| j != i)
            .map(|(_, b)| {
                let d = b.pos - me.pos;
                let r2 = d.norm_sq() + SOFTENING;
                G * b.mass / (r2 * r2.sqrt()) * d
            })
            .sum()
    }

    fn energy(bodies: &[Body]) -> f64 {
        let kinetic: f64 = bodies.iter().map(|b| 0.5 * b.mass * b.vel.norm_sq()).sum();
        let potential: f64 = bodies.iter().enumerate().flat_map(|(i, a)| bodies[i + 1..].iter().map(move |b| -G * a.mass * b.mass / (a.pos - b.pos).norm_sq().sqrt())).sum();
        kinetic + potential
    }

    #[task]
    fn accelerate(bodies: &[Body], acc: &mut [Vec3], first: usize) {
        if acc.len() <= 4 {
            for (k, a) in acc.iter_mut().enumerate() { *a = acceleration(bodies, first + k); }
            return;
        }
        let mid = acc.len() / 2;
        let (lo, hi) = acc.split_at_mut(mid);
        spawn!(accelerate(bodies, lo, first));
        spawn!(accelerate(bodies, hi, first + mid));
    }

    #[task]
    pub fn simulate(seed: u64, steps: u32, dt: f64) -> (f64, Vec3) {
        let mut rng = Rng(seed);
        let mut bodies: [Body; N] = std::array::from_fn(|_| Body {
            pos: Vec3::new(rng.unit(), rng.unit(), rng.unit()),
            vel: Vec3::default(),
            mass: 0.5 + rng.unit(),
        });
        let mut acc = [Vec3::ZERO; N];
        for _ in 0..steps {
            spawn!(accelerate(&bodies, &mut acc, 0));
            sync!();
            for (b, &a) in bodies.iter_mut().zip(&acc) {
                b.vel += dt * a;
                b.pos += b.vel * dt;
            }
        }
        let momentum: Vec3 = bodies.iter().map(|b| b.mass * b.vel).sum();
        (energy(&bodies), momentum)
    }
}

millstream_tests::cases! {
    simulate(7, 5, 0.01);
    simulate(42, 1, 0.5);
}
