//! Rays that are reflected and refracted: a world of enums with data in a constant, hits that hold references, and a child on one branch of a value.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug, PartialEq, Default)]
    pub struct V(f32, f32, f32);

    impl std::ops::Add for V { type Output = V; fn add(self, o: V) -> V { V(self.0 + o.0, self.1 + o.1, self.2 + o.2) } }
    impl std::ops::Sub for V { type Output = V; fn sub(self, o: V) -> V { V(self.0 - o.0, self.1 - o.1, self.2 - o.2) } }
    impl std::ops::Mul<f32> for V { type Output = V; fn mul(self, k: f32) -> V { V(self.0 * k, self.1 * k, self.2 * k) } }
    impl std::ops::Neg for V { type Output = V; fn neg(self) -> V { V(-self.0, -self.1, -self.2) } }
    impl V {
        fn dot(self, o: V) -> f32 { self.0 * o.0 + self.1 * o.1 + self.2 * o.2 }
        fn unit(self) -> V { self * (1.0 / self.dot(self).sqrt()) }
        fn reflect(self, n: V) -> V { self - n * (2.0 * self.dot(n)) }
        fn refract(self, n: V, eta: f32) -> Option<V> {
            let cos = (-self).dot(n).min(1.0);
            let perp = (self + n * cos) * eta;
            let k = 1.0 - perp.dot(perp);
            if k < 0.0 { None } else { Some(perp - n * k.sqrt()) }
        }
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Material {
        Diffuse { albedo: V },
        Metal { albedo: V, fuzz: f32 },
        Glass { index: f32 },
    }

    #[derive(Clone, Copy, Debug)]
    struct Sphere {
        centre: V,
        radius: f32,
        material: Material,
    }

    const WORLD: [Sphere; 4] = [
        Sphere { centre: V(0.0, -100.5, -1.0), radius: 100.0, material: Material::Diffuse { albedo: V(0.8, 0.8, 0.0) } },
        Sphere { centre: V(0.0, 0.0, -1.0), radius: 0.5, material: Material::Diffuse { albedo: V(0.1, 0.2, 0.5) } },
        Sphere { centre: V(-1.0, 0.0, -1.0), radius: 0.5, material: Material::Glass { index: 1.5 } },
        Sphere { centre: V(1.0, 0.0, -1.0), radius: 0.5, material: Material::Metal { albedo: V(0.8, 0.6, 0.2), fuzz: 0.0 } },
    ];

    #[derive(Clone, Copy)]
    struct Ray {
        origin: V,
        dir: V,
    }

    impl Ray {
        fn at(&self, t: f32) -> V { self.origin + self.dir * t }
    }

    struct Hit<'a> {
        t: f32,
        normal: V,
        front: bool,
        sphere: &'a Sphere,
    }

    impl Sphere {
        fn hit(&self, ray: &Ray) -> Option<f32> {
            let oc = ray.origin - self.centre;
            let (a, half_b, c) = (ray.dir.dot(ray.dir), oc.dot(ray.dir), oc.dot(oc) - self.radius * self.radius);
            let disc = half_b * half_b - a * c;
            if disc < 0.0 {
                return None;
            }
            let root = disc.sqrt();
            [(-half_b - root) / a, (-half_b + root) / a].into_iter().find(|t| (1e-3..f32::INFINITY).contains(t))
        }
    }

    fn closest<'a>(world: &'a [Sphere], ray: &Ray) -> Option<Hit<'a>> {
        world
            .iter()
            .filter_map(|s| s.hit(ray).map(|t| (t, s)))
            .min_by(|(a, _), (b, _)| a.partial_cmp(b).unwrap())
            .map(|(t, sphere)| {
                let outward = (ray.at(t) - sphere.centre) * (1.0 / sphere.radius);
                let front = ray.dir.dot(outward) < 0.0;
                Hit { t, normal: if front { outward } else { -outward }, front, sphere }
            })
    }

    fn sky(d: V) -> V {
        let t = 0.5 * (d.unit().1 + 1.0);
        V(1.0, 1.0, 1.0) * (1.0 - t) + V(0.5, 0.7, 1.0) * t
    }

    #[task]
    fn trace(origin: V, dir: V, depth: u32) -> V {
        let ray = Ray { origin, dir };
        if depth == 0 {
            return V::default();
        }
        let Some(hit) = closest(&WORLD, &ray) else {
            return sky(dir);
        };
        let p = ray.at(hit.t);
        match hit.sphere.material {
            Material::Diffuse { albedo } => {
                let c = spawn!(trace(p, hit.normal, depth - 1));
                sync!();
                V(albedo.0 * c.0, albedo.1 * c.1, albedo.2 * c.2) * 0.5
            }
            Material::Metal { albedo, fuzz } if fuzz < 1.0 => {
                let c = spawn!(trace(p, dir.unit().reflect(hit.normal), depth - 1));
                sync!();
                V(albedo.0 * c.0, albedo.1 * c.1, albedo.2 * c.2)
            }
            Material::Metal { .. } => V::default(),
            Material::Glass { index } => {
                let eta = if hit.front { index.recip() } else { index };
                let d = dir.unit();
                let reflected = spawn!(trace(p, d.reflect(hit.normal), depth - 1));
                let refracted = if let Some(r) = d.refract(hit.normal, eta) { spawn!(trace(p, r, depth - 1)) } else { V(0.0, 0.0, 0.0) };
                sync!();
                reflected * 0.1 + refracted * 0.9
            }
        }
    }

    fn to_rgb(c: V) -> u32 {
        let [r, g, b] = [c.0, c.1, c.2].map(|x| (x.sqrt().clamp(0.0, 0.999) * 256.0) as u32);
        r << 16 | g << 8 | b
    }

    #[task]
    pub fn render(pixels: &mut [u32], width: usize, height: usize, y0: usize, depth: u32) {
        let rows = pixels.len() / width;
        if rows > 1 {
            let (a, b) = pixels.split_at_mut(rows / 2 * width);
            spawn!(render(a, width, height, y0, depth));
            spawn!(render(b, width, height, y0 + rows / 2, depth));
            return;
        }
        for (x, pixel) in pixels.iter_mut().enumerate() {
            let u = x as f32 / (width - 1) as f32 * 2.0 - 1.0;
            let v = 1.0 - y0 as f32 / (height - 1) as f32 * 2.0;
            let c = spawn!(trace(V::default(), V(2.0 * u, v, -1.0), depth));
            sync!();
            *pixel = to_rgb(c);
        }
    }
}
millstream_tests::cases! { render(&mut vec![0; 48], 8, 6, 0, 3); }
