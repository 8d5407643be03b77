//! Rays against a small scene by generic vectors and a trait.
#[millstream::program]
pub mod program {
    use std::ops::{Add, Mul, Neg, Sub};

    #[derive(Clone, Copy, Debug, PartialEq, Default)]
    pub struct Vec3 {
        pub x: f32,
        pub y: f32,
        pub z: f32,
    }

    impl Vec3 {
        const ZERO: Vec3 = Vec3 { x: 0.0, y: 0.0, z: 0.0 };

        const fn new(x: f32, y: f32, z: f32) -> Self {
            Self { x, y, z }
        }

        fn dot(self, o: Self) -> f32 {
            self.x * o.x + self.y * o.y + self.z * o.z
        }

        fn length(self) -> f32 {
            self.dot(self).sqrt()
        }

        fn normalized(self) -> Self {
            self * (1.0 / self.length())
        }
    }

    impl Add for Vec3 {
        type Output = Vec3;
        fn add(self, o: Vec3) -> Vec3 {
            Vec3::new(self.x + o.x, self.y + o.y, self.z + o.z)
        }
    }
    impl Sub for Vec3 {
        type Output = Vec3;
        fn sub(self, o: Vec3) -> Vec3 {
            self + -o
        }
    }
    impl Neg for Vec3 {
        type Output = Vec3;
        fn neg(self) -> Vec3 {
            self * -1.0
        }
    }
    impl Mul<f32> for Vec3 {
        type Output = Vec3;
        fn mul(self, k: f32) -> Vec3 {
            Vec3::new(self.x * k, self.y * k, self.z * k)
        }
    }
    impl Mul<Vec3> for f32 {
        type Output = Vec3;
        fn mul(self, v: Vec3) -> Vec3 {
            v * self
        }
    }

    #[derive(Clone, Copy)]
    pub struct Ray {
        origin: Vec3,
        dir: Vec3,
    }

    impl Ray {
        fn at(&self, t: f32) -> Vec3 {
            self.origin + t * self.dir
        }
    }

    #[derive(Clone, Copy)]
    struct Hit {
        t: f32,
        normal: Vec3,
    }

    trait Hittable {
        fn hit(&self, ray: &Ray) -> Option<Hit>;
    }

    #[derive(Clone, Copy)]
    struct Sphere {
        center: Vec3,
        radius: f32,
    }

    struct Plane {
        height: f32,
    }

    impl Hittable for Sphere {
        fn hit(&self, ray: &Ray) -> Option<Hit> {
            let oc = ray.origin - self.center;
            let b = oc.dot(ray.dir);
            let c = oc.dot(oc) - self.radius * self.radius;
            let disc = b * b - c;
            if disc < 0.0 {
                return None;
            }
            let t = -b - disc.sqrt();
            (t > 1e-3).then(|| Hit { t, normal: (ray.at(t) - self.center).normalized() })
        }
    }

    impl Hittable for Plane {
        fn hit(&self, ray: &Ray) -> Option<Hit> {
            if ray.dir.y.abs() < 1e-6 {
                return None;
            }
            let t = (self.height - ray.origin.y) / ray.dir.y;
            if t > 1e-3 { Some(Hit { t, normal: Vec3::new(0.0, 1.0, 0.0) }) } else { None }
        }
    }

    const SPHERES: [Sphere; 2] = [
        Sphere { center: Vec3::new(0.0, 1.0, 4.0), radius: 1.0 },
        Sphere { center: Vec3::new(1.5, 0.5, 3.0), radius: 0.5 },
    ];

    fn closer(a: Option<Hit>, b: Option<Hit>) -> Option<Hit> {
        match (a, b) {
            (Some(x), Some(y)) => if x.t < y.t { Some(x) } else { Some(y) },
            (x, None) => x,
            (None, y) => y,
        }
    }

    fn trace(ray: &Ray, depth: u32) -> f32 {
        let mut hit = Plane { height: 0.0 }.hit(ray);
        for s in &SPHERES {
            hit = closer(hit, s.hit(ray));
        }
        let Some(Hit { t, normal }) = hit else {
            return 0.5 + 0.5 * ray.dir.y;
        };
        let light = normal.dot(Vec3::new(0.5, 0.7, -0.5).normalized()).max(0.0);
        if depth == 0 {
            return light;
        }
        let d = ray.dir - normal * (2.0 * normal.dot(ray.dir));
        let bounced = Ray { origin: ray.at(t), dir: d };
        light * 0.7 + 0.3 * trace(&bounced, depth - 1)
    }

    #[task]
    pub fn render(image: &mut [f32], width: usize, first: usize, height: usize) {
        let rows = image.len() / width;
        if rows > 1 {
            let (top, bottom) = image.split_at_mut(rows / 2 * width);
            spawn!(render(top, width, first, height));
            spawn!(render(bottom, width, first + rows / 2, height));
            return;
        }
        for (x, pixel) in image.iter_mut().enumerate() {
            let u = x as f32 / width as f32 - 0.5;
            let v = 0.5 - first as f32 / height as f32;
            let ray = Ray { origin: Vec3::ZERO + Vec3::new(0.0, 1.0, 0.0), dir: Vec3::new(u, v, 1.0).normalized() };
            *pixel = trace(&ray, 3);
        }
    }
}
millstream_tests::cases! {
    render(&mut vec![0.0; 32], 8, 0, 4);
}
