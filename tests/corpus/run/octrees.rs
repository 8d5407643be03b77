//! Adaptive refinement of space around solids: constants of generic structs, made by `const fn`s, and traits for what is made of two solids.

#[millstream::program]
pub mod program {
    use std::ops::{Add, Mul};

    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct Vec3 {
        pub x: f32,
        pub y: f32,
        pub z: f32,
    }

    impl Vec3 {
        pub const fn new(x: f32, y: f32, z: f32) -> Self {
            Self { x, y, z }
        }

        const fn splat(v: f32) -> Self {
            Self::new(v, v, v)
        }

        fn dot(self, rhs: Self) -> f32 {
            self.x * rhs.x + self.y * rhs.y + self.z * rhs.z
        }

        fn length(self) -> f32 {
            self.dot(self).sqrt()
        }
    }

    impl Add for Vec3 {
        type Output = Self;
        fn add(self, rhs: Self) -> Self {
            Self::new(self.x + rhs.x, self.y + rhs.y, self.z + rhs.z)
        }
    }

    impl Mul<f32> for Vec3 {
        type Output = Self;
        fn mul(self, k: f32) -> Self {
            Self::new(self.x * k, self.y * k, self.z * k)
        }
    }

    impl Mul<Vec3> for f32 {
        type Output = Vec3;
        fn mul(self, v: Vec3) -> Vec3 {
            v * self
        }
    }

    #[derive(Clone, Copy)]
    struct Cube {
        centre: Vec3,
        half: f32,
    }

    impl Cube {
        fn octant(&self, i: usize) -> Cube {
            let sign = |bit: usize| if i & (1 << bit) == 0 { -1.0 } else { 1.0 };
            let half = 0.5 * self.half;
            Cube { centre: self.centre + half * Vec3::new(sign(0), sign(1), sign(2)), half }
        }

        fn volume(&self) -> f64 {
            f64::from(2.0 * self.half).powi(3)
        }
    }

    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    enum Place {
        Outside,
        Inside,
        Cut,
    }

    trait Solid {
        fn distance(&self, p: Vec3) -> f32;

        fn place(&self, cube: &Cube) -> Place {
            let d = self.distance(cube.centre);
            let r = cube.half * 3f32.sqrt();
            match d {
                d if d > r => Place::Outside,
                d if d < -r => Place::Inside,
                _ => Place::Cut,
            }
        }
    }

    struct Sphere {
        centre: Vec3,
        radius: f32,
    }

    struct Union<A, B>(A, B);

    impl Solid for Sphere {
        fn distance(&self, p: Vec3) -> f32 {
            (p + -1.0 * self.centre).length() - self.radius
        }
    }

    impl<A: Solid, B: Solid> Solid for Union<A, B> {
        fn distance(&self, p: Vec3) -> f32 {
            self.0.distance(p).min(self.1.distance(p))
        }
    }

    const SCENE: Union<Sphere, Sphere> = Union(
        Sphere { centre: Vec3::splat(0.0), radius: 0.6 },
        Sphere { centre: Vec3::new(0.5, 0.5, 0.5), radius: 0.25 },
    );

    #[derive(Clone, Copy, Debug, PartialEq, Default)]
    pub struct Sum {
        pub cells: u32,
        pub volume: f64,
        pub depths: [u32; 8],
    }

    impl std::ops::AddAssign for Sum {
        fn add_assign(&mut self, rhs: Self) {
            self.cells += rhs.cells;
            self.volume += rhs.volume;
            for (a, b) in self.depths.iter_mut().zip(rhs.depths) {
                *a += b;
            }
        }
    }

    #[task]
    pub fn refine(centre: Vec3, half: f32, depth: usize) -> Sum {
        let cube = Cube { centre, half };
        let mut sum = Sum { cells: 1, ..Default::default() };
        match SCENE.place(&cube) {
            Place::Outside => {}
            Place::Inside => sum.volume = cube.volume(),
            Place::Cut if depth == 0 => {
                sum.volume = cube.volume() / 2.0;
                sum.depths[0] = 1;
            }
            Place::Cut => {
                let mut parts = [Sum::default(); 8];
                for (i, part) in (0..8).map(|i| (i, cube.octant(i))) {
                    parts[i] = spawn!(refine(part.centre, part.half, depth - 1));
                }
                sync!();
                for part in parts {
                    sum += part;
                }
                sum.depths[depth] += 1;
            }
        }
        sum
    }
}
use program::Vec3;
millstream_tests::cases! { refine(Vec3::new(0.0, 0.0, 0.0), 1.0, 2); }
