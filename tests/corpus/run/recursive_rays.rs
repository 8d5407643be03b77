//! A ray tracer as Whitted had it: a task a pixel, which spawns reflected and refracted rays. Structs of floats as arguments and results.
#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct V { pub x: f32, pub y: f32, pub z: f32 }

    impl V {
        const ZERO: V = V { x: 0.0, y: 0.0, z: 0.0 };
        fn new(x: f32, y: f32, z: f32) -> Self { V { x, y, z } }
        fn add(self, o: V) -> V { V::new(self.x + o.x, self.y + o.y, self.z + o.z) }
        fn sub(self, o: V) -> V { V::new(self.x - o.x, self.y - o.y, self.z - o.z) }
        fn scale(self, k: f32) -> V { V::new(self.x * k, self.y * k, self.z * k) }
        fn dot(self, o: V) -> f32 { self.x * o.x + self.y * o.y + self.z * o.z }
        fn unit(self) -> V { self.scale(1.0 / self.dot(self).sqrt()) }
    }

    #[derive(Clone, Copy)]
    pub struct Sphere { center: V, radius: f32, color: V, mirror: f32, glass: f32 }
    #[derive(Clone, Copy)]
    pub struct Hit { at: V, normal: V, color: V, mirror: f32, glass: f32, distance: f32 }
    #[derive(Clone, Copy)]
    pub struct Ray { from: V, to: V }

    const SPHERES: [Sphere; 4] = [
        Sphere { center: V { x: 0.0, y: 0.0, z: 5.0 }, radius: 1.0, color: V { x: 1.0, y: 0.25, z: 0.25 }, mirror: 0.25, glass: 0.0 },
        Sphere { center: V { x: 1.5, y: 0.5, z: 4.0 }, radius: 0.75, color: V { x: 0.25, y: 1.0, z: 0.25 }, mirror: 0.125, glass: 0.75 },
        Sphere { center: V { x: -1.5, y: 0.25, z: 4.5 }, radius: 0.8, color: V { x: 0.25, y: 0.25, z: 1.0 }, mirror: 0.5, glass: 0.0 },
        Sphere { center: V { x: 0.0, y: -1001.0, z: 0.0 }, radius: 1000.0, color: V { x: 0.5, y: 0.5, z: 0.5 }, mirror: 0.125, glass: 0.0 },
    ];

    fn hit(ray: &Ray) -> (bool, Hit) {
        let mut best = Hit { at: V::ZERO, normal: V::ZERO, color: V::ZERO, mirror: 0.0, glass: 0.0, distance: f32::INFINITY };
        let mut any = false;
        for s in &SPHERES {
            let oc = ray.from.sub(s.center);
            let b = oc.dot(ray.to);
            let c = oc.dot(oc) - s.radius * s.radius;
            let d = b * b - c;
            if d <= 0.0 { continue; }
            let root = d.sqrt();
            let t = if -b - root > 1e-3 { -b - root } else { -b + root };
            if t > 1e-3 && t < best.distance {
                let at = ray.from.add(ray.to.scale(t));
                best = Hit { at, normal: at.sub(s.center).scale(1.0 / s.radius), color: s.color, mirror: s.mirror, glass: s.glass, distance: t };
                any = true;
            }
        }
        (any, best)
    }

    fn reflect(v: V, n: V) -> V { v.sub(n.scale(2.0 * v.dot(n))) }

    #[task]
    pub fn trace(ray: Ray, depth: u32) -> V {
        let (true, h) = hit(&ray) else {
            let t = 0.5 * (ray.to.y + 1.0);
            return V::new(1.0 - 0.5 * t, 1.0 - 0.25 * t, 1.0);
        };
        let light = V::new(0.5, 1.0, -0.75).unit();
        let (dark, _) = hit(&Ray { from: h.at.add(h.normal.scale(1e-2)), to: light });
        let shade = if dark { 0.125 } else { h.normal.dot(light).max(0.0) + 0.125 };
        let own = h.color.scale(shade);
        if depth == 0 {
            return own;
        }
        let mut mirrored = V::ZERO;
        let mut refracted = V::ZERO;
        if h.mirror > 0.0 {
            mirrored = spawn!(trace(Ray { from: h.at, to: reflect(ray.to, h.normal) }, depth - 1));
        }
        if h.glass > 0.0 {
            let inside = ray.to.dot(h.normal) > 0.0;
            let (eta, n) = if inside { (1.5, h.normal.scale(-1.0)) } else { (1.0 / 1.5, h.normal) };
            let c = -n.dot(ray.to);
            let k = 1.0 - eta * eta * (1.0 - c * c);
            if k > 0.0 {
                let to = ray.to.scale(eta).add(n.scale(eta * c - k.sqrt()));
                refracted = spawn!(trace(Ray { from: h.at, to: to.unit() }, depth - 1));
            }
        }
        sync!();
        own.scale(1.0 - h.mirror - h.glass).add(mirrored.scale(h.mirror)).add(refracted.scale(h.glass))
    }

    #[task]
    pub fn pixel(i: usize, width: usize, height: usize, depth: u32) -> u32 {
        let (x, y) = (i % width, i / width);
        let to = V::new((x as f32 / width as f32 - 0.5) * 2.0, (0.5 - y as f32 / height as f32) * 2.0, 1.5).unit();
        let c = spawn!(trace(Ray { from: V::ZERO, to }, depth));
        sync!();
        let byte = [c.x, c.y, c.z];
        let mut rgb = 0;
        for b in byte {
            rgb = rgb << 8 | (b.clamp(0.0, 1.0) * 255.0) as u32;
        }
        rgb
    }

    #[task]
    pub fn render(image: &mut [u32], width: usize, depth: u32) -> u64 {
        let height = image.len() / width;
        for i in 0..image.len() {
            image[i] = spawn!(pixel(i, width, height, depth));
        }
        sync!();
        let mut sum = 0u64;
        for (i, p) in image.iter().enumerate() {
            sum += *p as u64 * (i as u64 % 97 + 1);
        }
        sum
    }
}

millstream_tests::cases! {
    render(&mut vec![0u32; 48], 8, 3);
}
