//! A path tracer: a picture by the ways of light, each an element that goes from channel to channel.
//!
//! ```text
//!   rows ──► frame ──► [ starts ] ──► camera ──► [ rays ] ──► intersect ──┬──► [ matte ] ──► matte ──┬──► [ shadows ] ──► shadow
//!                          ▲                        ▲                     ├──► [ metal ] ──► metal ──┤                      │
//!                          │                        └───── next bounce ───┼──► [ glass ] ──► glass ──┘                      │
//!                          └── the pixel's next path ── accumulate ◄── [ lights ] ◄───────── light ─────────────────────────┘
//! ```
//!
//! Elements of one channel do the same work: a wavefront of rays that hit glass is a wavefront of glass. When a path ends its pixel's next one
//! begins, so that there are never more of them than pixels. Light is added up in whole parts: a picture has the same bits on every device, in
//! whatever order its elements run. The balls, and the boxes around them, are made by tasks of the same program.
//!
//! `cargo run --release --example tracer -- 640 400 400 FILE.png` writes the picture of 400 paths a pixel.

#[path = "tracer/film.rs"]
pub mod film;

#[millstream::program]
pub mod tracer {
    use std::sync::atomic::{AtomicU32, Ordering};

    /// A point, a direction or a colour: to the right, upwards, towards the camera; or red, green, blue.
    #[derive(Debug, Default)]
    pub struct V(pub f32, pub f32, pub f32);

    impl V {
        fn plus(self, v: V) -> V {
            V(self.0 + v.0, self.1 + v.1, self.2 + v.2)
        }
        fn minus(self, v: V) -> V {
            V(self.0 - v.0, self.1 - v.1, self.2 - v.2)
        }
        fn times(self, k: f32) -> V {
            V(self.0 * k, self.1 * k, self.2 * k)
        }
        fn filter(self, v: V) -> V {
            V(self.0 * v.0, self.1 * v.1, self.2 * v.2)
        }
        fn least(self, v: V) -> V {
            V(self.0.min(v.0), self.1.min(v.1), self.2.min(v.2))
        }
        fn most(self, v: V) -> V {
            V(self.0.max(v.0), self.1.max(v.1), self.2.max(v.2))
        }
        fn largest(self) -> f32 {
            self.0.max(self.1).max(self.2)
        }
        fn smallest(self) -> f32 {
            self.0.min(self.1).min(self.2)
        }
        fn dot(self, v: V) -> f32 {
            self.0 * v.0 + self.1 * v.1 + self.2 * v.2
        }
        fn cross(self, v: V) -> V {
            let (x, y) = (self.1 * v.2 - self.2 * v.1, self.2 * v.0 - self.0 * v.2);
            V(x, y, self.0 * v.1 - self.1 * v.0)
        }
        fn unit(self) -> V {
            self.times(1.0 / self.dot(self).sqrt())
        }
        fn mix(self, v: V, k: f32) -> V {
            self.times(1.0 - k).plus(v.times(k))
        }
    }

    // What balls are made of.
    const MATTE: u32 = 0;
    const METAL: u32 = 1;
    const GLASS: u32 = 2;
    const END: u32 = 3;
    // What stands for no ball, but for nothing, the floor or the lamp.
    const SKY: u32 = 0xffff_ffff;
    const FLOOR: u32 = 0xffff_fffe;
    const LAMP: u32 = 0xffff_fffd;
    const NO_PATH: u32 = 0xffff_ffff;
    const TAU: f32 = std::f32::consts::TAU;
    const FAR: f32 = 1e30;
    const NEAR: f32 = 1e-3;
    const BLACK: V = V(0.0, 0.0, 0.0);
    const WHITE: V = V(1.0, 1.0, 1.0);
    const UP: V = V(0.0, 1.0, 0.0);
    const LAMP_AT: V = V(-9.0, 10.0, 4.0);
    const LAMP_RADIUS: f32 = 2.0;
    const LAMP_LIGHT: V = V(46.0, 38.0, 28.0);

    /// A ball of the scene.
    #[derive(Debug, Default)]
    pub struct Ball {
        at: V,         // its centre
        radius: f32,   // from there to its surface
        colour: V,     // what it reflects or lets through
        rough: f32,    // how blurred a metal reflects
        material: u32, // what it is made of
    }

    /// A box around balls. Those of a tree lie in the order in which they are asked: who misses one goes on at `skip`.
    #[derive(Debug, Default)]
    pub struct Node {
        low: V,    // its corner on the left, below, far away
        high: V,   // the corner opposite
        skip: u32, // the node that follows all that are in this one
        ball: u32, // the ball in it, if it is one alone; else [`SKY`]
    }

    /// Light on its way back from the camera.
    #[derive(Debug)]
    pub struct Ray {
        from: V,          // where it starts
        to: V,            // its direction, of length 1
        share: V,         // how much of what it will find arrives
        pixel: u32,       // where it arrives
        sample: u32,      // the number of the path
        seed: u32,        // the state of its random numbers
        bounces: u32,     // surfaces that it has met
        sees_lamps: bool, // whether a lamp that it meets counts; else its light was already asked for
    }

    /// A surface that a ray has met: the ray, with its end for its start.
    #[derive(Debug)]
    pub struct Hit {
        ray: Ray,  // the ray; `from` is where it has arrived
        ball: u32, // what it has met
    }

    /// A question: is the way to a lamp free?
    #[derive(Debug)]
    pub struct Shadow {
        from: V,    // where it starts
        to: V,      // its direction, of length 1
        far: f32,   // how far it is to the lamp
        light: V,   // what arrives if it is
        pixel: u32, // where it arrives
    }

    /// Light that has arrived.
    #[derive(Debug)]
    pub struct Light {
        light: V,    // how much
        pixel: u32,  // where
        sample: u32, // the path that it ends; [`NO_PATH`] for a shadow ray
    }

    /// A path to begin.
    #[derive(Debug)]
    pub struct Start {
        pixel: u32,  // where its light will arrive
        sample: u32, // its number
    }

    /// What is drawn.
    #[derive(Debug)]
    pub struct View {
        /// In pixels.
        pub width: u32,
        /// In pixels.
        pub height: u32,
        /// Paths of each pixel.
        pub samples: u32,
    }

    /// A number from 0 to 1, by PCG (O'Neill 2014).
    fn random(seed: &mut u32) -> f32 {
        *seed = seed.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        let word = ((*seed >> ((*seed >> 28) + 4)) ^ *seed).wrapping_mul(277_803_737);
        (((word >> 22) ^ word) >> 8) as f32 / 16_777_216.0
    }

    /// The sine of so many turns, to six digits: from `+` and `*` alone, so that it has the same bits everywhere.
    fn sine(turns: f32) -> f32 {
        let part = turns - turns.round();
        // The second quarter is as the first, the third as the last, backwards.
        let y = part.abs().min(0.5 - part.abs()).copysign(part);
        let z = y * y;
        y * (TAU + z * (-41.341_7 + z * (81.605_25 + z * (-76.705_86 + z * 42.058_69))))
    }

    fn cosine(turns: f32) -> f32 {
        sine(turns + 0.25)
    }

    /// The direction around `up` of that height.
    fn around(up: V, turns: f32, height: f32) -> V {
        let across = (1.0 - height * height).max(0.0).sqrt();
        let x = (up.0.abs() < 0.9) as u32 as f32;
        let side = V(x, 1.0 - x, 0.0);
        let a = up.cross(side).unit();
        let b = up.cross(a);
        a.times(across * cosine(turns))
            .plus(b.times(across * sine(turns)))
            .plus(up.times(height))
    }

    /// The balls: a sunflower's head, as Vogel 1979 has it, around a ball of gold in a ball of glass.
    #[task]
    pub fn scene(balls: &mut [Ball]) {
        let (first, seeds) = balls.split_at_mut(2);
        let count = seeds.len() as u32;
        for (i, ball) in seeds.iter_mut().enumerate() {
            *ball = seed(i as u32, count);
        }
        let at = V(0.0, 1.75, 0.0);
        first[0] = ball(at, 1.7, V(0.97, 0.99, 1.0), 0.0, GLASS);
        first[1] = ball(at, 0.8, V(1.0, 0.72, 0.30), 0.02, METAL);
    }

    fn ball(at: V, radius: f32, colour: V, rough: f32, material: u32) -> Ball {
        Ball {
            at,
            radius,
            colour,
            rough,
            material,
        }
    }

    /// The ball number `i` of a head of so many.
    fn seed(i: u32, count: u32) -> Ball {
        let k = (i as f32 + 0.5) / count as f32;
        let away = 1.75 + 8.9 * k.sqrt();
        let turns = i as f32 * 0.381_966;
        let radius = 0.15 + 0.14 * k.sqrt();
        let wave = 0.5 + 0.5 * sine(away * 0.21 + 0.35);
        let height = radius + 0.9 * wave * k;
        let at = V(away * cosine(turns), height, away * sine(turns));
        let warm = V(0.93, 0.24, 0.13).mix(V(0.98, 0.66, 0.16), wave);
        let cold = V(0.05, 0.24, 0.50).mix(V(0.12, 0.60, 0.55), wave);
        // Colours follow every 13th and 21st seed, the spirals that one sees.
        let blend = 0.5 + 0.5 * sine((i % 13) as f32 / 13.0 + k * 0.9);
        let colour = warm.mix(cold, blend);
        let mut chance = i + 9;
        random(&mut chance);
        match (random(&mut chance) * 100.0) as u32 {
            0..7 => ball(at, radius, V(0.95, 0.98, 0.99), 0.0, GLASS),
            7..30 => ball(at, radius, colour.mix(WHITE, 0.35), 0.12, METAL),
            _ => ball(at, radius, colour, 0.0, MATTE),
        }
    }

    /// Moves the balls that lie below `middle` along an axis to the front; how many there are.
    fn partition(balls: &mut [Ball], axis: V, middle: V) -> usize {
        let mut kept = 0;
        for i in 0..balls.len() {
            if balls[i].at.minus(middle).dot(axis) < 0.0 {
                balls.swap(i, kept);
                kept += 1;
            }
        }
        kept
    }

    /// The tree of boxes around balls, which it puts in another order: `2 * balls.len() - 1` nodes, the first of which is number `node`.
    #[task]
    pub fn boxes(balls: &mut [Ball], nodes: &mut [Node], ball: u32, node: u32) {
        let count = balls.len();
        let mut low = V(FAR, FAR, FAR);
        let mut high = V(-FAR, -FAR, -FAR);
        for b in balls.iter() {
            let around = V(b.radius, b.radius, b.radius);
            low = low.least(b.at.minus(around));
            high = high.most(b.at.plus(around));
        }
        nodes[0] = Node {
            low,
            high,
            skip: node + 2 * count as u32 - 1,
            ball: if count == 1 { ball } else { SKY },
        };
        if count == 1 {
            return;
        }
        let size = high.minus(low);
        let is_wide = size.largest() == size.0;
        let axis = if is_wide {
            V(1.0, 0.0, 0.0)
        } else {
            V(0.0, 0.0, 1.0)
        };
        let mut half = partition(balls, axis, low.mix(high, 0.5));
        if half == 0 || half == count {
            half = count / 2;
        }
        let (left, right) = balls.split_at_mut(half);
        let (_, inside) = nodes.split_at_mut(1);
        let (first, second) = inside.split_at_mut(2 * half - 1);
        let half = half as u32;
        spawn!(boxes(left, first, ball, node + 1));
        spawn!(boxes(right, second, ball + half, node + 2 * half));
    }

    /// Where a ray meets a ball, nearer than `far`; else `far`.
    fn meets(at: V, radius: f32, from: V, to: V, far: f32) -> f32 {
        let way = at.minus(from);
        let middle = way.dot(to);
        // How far the ray passes the centre, by a difference of vectors: exact for small balls far away.
        let aside = way.minus(to.times(middle));
        let rest = radius * radius - aside.dot(aside);
        if rest < 0.0 {
            return far;
        }
        let (first, second) = (middle - rest.sqrt(), middle + rest.sqrt());
        let at = if first > NEAR { first } else { second };
        if at > NEAR && at < far { at } else { far }
    }

    /// What a ray meets first, and how far away.
    fn nearest(from: V, to: V, most: f32, balls: &[Ball], nodes: &[Node]) -> (u32, f32) {
        let (mut far, mut found) = (most, SKY);
        let over = V(1.0 / to.0, 1.0 / to.1, 1.0 / to.2);
        if to.1 < 0.0 {
            let floor = -from.1 * over.1;
            let (x, z) = (from.0 + floor * to.0, from.2 + floor * to.2);
            if floor > NEAR && floor < far && x * x + z * z < 144.0 {
                far = floor;
                found = FLOOR;
            }
        }
        let lamp = meets(LAMP_AT, LAMP_RADIUS, from, to, far);
        if lamp < far {
            far = lamp;
            found = LAMP;
        }
        let mut at = 0;
        while at < nodes.len() as u32 {
            let node = nodes[at as usize];
            let low = node.low.minus(from).filter(over);
            let high = node.high.minus(from).filter(over);
            let (enter, leave) = (low.least(high).largest(), low.most(high).smallest());
            if enter > leave || leave < 0.0 || enter > far {
                at = node.skip;
                continue;
            }
            if node.ball != SKY {
                let ball = balls[node.ball as usize];
                let here = meets(ball.at, ball.radius, from, to, far);
                if here < far {
                    far = here;
                    found = node.ball;
                }
            }
            at += 1;
        }
        (found, far)
    }

    /// The light of the evening sky.
    fn sky(to: V) -> V {
        let height = to.1.max(-0.5 * to.1);
        let low = V(0.98, 0.62, 0.42).mix(V(0.42, 0.48, 0.66), (height * 2.6).min(1.0));
        low.mix(V(0.07, 0.12, 0.27), height.sqrt())
            .times(0.7 - 0.25 * to.0)
    }

    /// The first ray of a path: through a lens, so that what is far off the focus is blurred.
    fn first_ray(start: Start, view: View) -> Ray {
        let mut seed = (start.pixel.wrapping_mul(9_781) ^ start.sample.wrapping_mul(0x9e37_79b9))
            .wrapping_add(77);
        random(&mut seed);
        let x = (start.pixel % view.width) as f32 + random(&mut seed);
        let y = (start.pixel / view.width) as f32 + random(&mut seed);
        let eye = V(1.1, 4.0, 12.6);
        let ahead = V(0.05, 1.0, 0.0).minus(eye);
        let (focus, forward) = (ahead.dot(ahead).sqrt() - 1.4, ahead.unit());
        let right = forward.cross(UP).unit();
        let (up, scale) = (right.cross(forward), 0.66 / view.height as f32);
        let (x, y) = (x - view.width as f32 * 0.5, view.height as f32 * 0.5 - y);
        let towards = forward
            .plus(right.times(x * scale))
            .plus(up.times(y * scale));
        let (wide, turns) = (0.09 * random(&mut seed).sqrt(), random(&mut seed));
        let lens = right
            .times(wide * cosine(turns))
            .plus(up.times(wide * sine(turns)));
        let (from, sharp) = (eye.plus(lens), eye.plus(towards.times(focus)));
        let Start { pixel, sample } = start;
        let (to, share, bounces, sees_lamps) = (sharp.minus(from).unit(), WHITE, 0, true);
        Ray {
            from,
            to,
            share,
            pixel,
            sample,
            seed,
            bounces,
            sees_lamps,
        }
    }

    /// What a ray meets: the material; or [`END`] where the path ends, with the light that it brings.
    fn meet(ray: Ray, balls: &[Ball], nodes: &[Node]) -> (u32, V, Hit) {
        // One whose light would not arrive is not followed.
        let reach = if ray.share.largest() > 0.0 { FAR } else { 0.0 };
        let (ball, far) = nearest(ray.from, ray.to, reach, balls, nodes);
        let from = ray.from.plus(ray.to.times(far));
        let hit = Hit {
            ray: Ray { from, ..ray },
            ball,
        };
        if ball == SKY {
            (END, ray.share.filter(sky(ray.to)), hit)
        } else if ball == LAMP && ray.sees_lamps {
            (END, ray.share.filter(LAMP_LIGHT), hit)
        } else if ball == LAMP || ray.bounces >= 9 {
            (END, BLACK, hit)
        } else if ball == FLOOR {
            (MATTE, BLACK, hit)
        } else {
            (balls[ball as usize].material, BLACK, hit)
        }
    }

    /// The path goes on with a chance that is its share, and if so with a larger one (Russian roulette). A path that does not has no share.
    fn onward(ray: Ray) -> Ray {
        let mut next = ray;
        if ray.bounces > 3 {
            let chance = ray.share.largest().min(0.95);
            let (lives, share) = (
                random(&mut next.seed) < chance,
                ray.share.times(1.0 / chance),
            );
            next.share = if lives { share } else { BLACK };
        }
        next
    }

    /// Of a ball, outwards.
    fn normal_of(hit: Hit, balls: &[Ball]) -> V {
        let ball = balls[hit.ball as usize];
        hit.ray.from.minus(ball.at).times(1.0 / ball.radius)
    }

    fn colour_of_floor(at: V) -> V {
        // Rings, the lighter the nearer.
        let away = (at.0 * at.0 + at.2 * at.2).sqrt();
        let part = away * 0.5 - (away * 0.5).floor();
        let line = if part < 0.04 { 0.55 } else { 1.0 };
        V(0.36, 0.34, 0.36).times(line)
    }

    /// From a matte surface: a ray of chance, and the question whether the lamp shines there.
    fn off_matte(hit: Hit, balls: &[Ball]) -> (Ray, Shadow) {
        let mut ray = hit.ray;
        let (mut normal, mut colour) = (UP, colour_of_floor(ray.from));
        if hit.ball != FLOOR {
            (normal, colour) = (normal_of(hit, balls), balls[hit.ball as usize].colour);
        }
        ray.share = ray.share.filter(colour);
        let way = LAMP_AT.minus(ray.from);
        let square = way.dot(way);
        let widest = (1.0 - LAMP_RADIUS * LAMP_RADIUS / square).max(0.0).sqrt();
        let height = 1.0 - random(&mut ray.seed) * (1.0 - widest);
        let turns = random(&mut ray.seed);
        let to = around(way.times(1.0 / square.sqrt()), turns, height);
        let power = normal.dot(to).max(0.0) * 2.0 * (1.0 - widest);
        let light = ray.share.filter(LAMP_LIGHT).times(power);
        let (from, far, pixel) = (ray.from, square.sqrt() - LAMP_RADIUS - NEAR, ray.pixel);
        let shadow = Shadow {
            from,
            to,
            far,
            light,
            pixel,
        };
        let out = random(&mut ray.seed);
        let turns = random(&mut ray.seed);
        ray.to = around(normal, turns, (1.0 - out).sqrt()).unit();
        ray.bounces += 1;
        ray.sees_lamps = false;
        (onward(ray), shadow)
    }

    /// The ray that metal throws back.
    fn off_metal(hit: Hit, balls: &[Ball]) -> Ray {
        let mut ray = hit.ray;
        let ball = balls[hit.ball as usize];
        let normal = normal_of(hit, balls);
        let mirrored = ray.to.minus(normal.times(2.0 * normal.dot(ray.to)));
        let height = 2.0 * random(&mut ray.seed) - 1.0;
        let turns = random(&mut ray.seed);
        let blur = around(mirrored, turns, height);
        ray.to = mirrored.plus(blur.times(ball.rough)).unit();
        let grazing = 1.0 - normal.dot(ray.to).abs();
        let edge = grazing * grazing * grazing * grazing * grazing;
        ray.share = ray.share.filter(ball.colour.mix(WHITE, edge));
        ray.bounces += 1;
        ray.sees_lamps = true;
        onward(ray)
    }

    /// The ray that glass throws back or lets through.
    fn off_glass(hit: Hit, balls: &[Ball]) -> Ray {
        let mut ray = hit.ray;
        let ball = balls[hit.ball as usize];
        let outwards = normal_of(hit, balls);
        let enters = outwards.dot(ray.to) < 0.0;
        let normal = if enters {
            outwards
        } else {
            outwards.times(-1.0)
        };
        let ratio = if enters { 1.0 / 1.5 } else { 1.5 };
        let slope = -normal.dot(ray.to);
        let square = 1.0 - ratio * ratio * (1.0 - slope * slope);
        let steep = if enters {
            slope
        } else {
            square.max(0.0).sqrt()
        };
        let rest = 1.0 - steep;
        let mirror = 0.04 + 0.96 * rest * rest * rest * rest * rest;
        if square <= 0.0 || random(&mut ray.seed) < mirror {
            ray.to = ray.to.plus(normal.times(2.0 * slope)).unit();
        } else {
            ray.to = ray
                .to
                .times(ratio)
                .plus(normal.times(ratio * slope - square.sqrt()))
                .unit();
            ray.share = ray.share.filter(ball.colour);
        }
        ray.bounces += 1;
        ray.sees_lamps = true;
        onward(ray)
    }

    /// Whether the way is free.
    fn is_free(shadow: Shadow, balls: &[Ball], nodes: &[Node]) -> bool {
        shadow.light.largest() > 0.0
            && nearest(shadow.from, shadow.to, shadow.far, balls, nodes).0 == SKY
    }

    /// Adds light to a pixel, in whole parts: sums of these do not depend on their order.
    fn add(light: V, pixel: u32, sums: &[AtomicU32]) {
        let parts = [light.0, light.1, light.2];
        for i in 0..3 {
            let part = (parts[i].min(2.5) * 65_536.0) as u32;
            sums[3 * pixel as usize + i].fetch_add(part, Ordering::Relaxed);
        }
    }

    /// From light to what a screen shows: a curve that is steep in the dark and flat where it is bright (Narkowicz 2015).
    fn show(pixel: u32, samples: u32, sums: &[AtomicU32], pixels: &[AtomicU32]) {
        let mut shown = 0;
        for i in 0..3 {
            let sum = sums[3 * pixel as usize + i].load(Ordering::Relaxed);
            let x = sum as f32 / (65_536.0 * samples as f32);
            let y = (x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14)).clamp(0.0, 1.0);
            shown = shown << 8 | (y.sqrt() * 255.0 + 0.5) as u32;
        }
        pixels[pixel as usize].store(shown, Ordering::Relaxed);
    }

    /// Begins the first paths of a row of pixels.
    #[kernel]
    pub fn frame(row: u32, starts: Channel<Start>, view: View, open: &[AtomicU32]) {
        for x in 0..view.width {
            let (pixel, sample) = (row * view.width + x, 0);
            open[pixel as usize].store(1, Ordering::Relaxed);
            starts.emit(Start { pixel, sample });
        }
    }

    /// Begins a path.
    #[kernel]
    pub fn camera(start: Start, rays: Channel<Ray>, view: View) {
        rays.emit(first_ray(start, view));
    }

    /// Finds what a ray meets, for the kernel of that material.
    #[kernel]
    pub fn intersect(
        ray: Ray,
        matte: Channel<Hit>,
        metal: Channel<Hit>,
        glass: Channel<Hit>,
        lights: Channel<Light>,
        balls: &[Ball],
        nodes: &[Node],
    ) {
        let (what, light, hit) = meet(ray, balls, nodes);
        let (pixel, sample) = (ray.pixel, ray.sample);
        match what {
            MATTE => matte.emit(hit),
            METAL => metal.emit(hit),
            GLASS => glass.emit(hit),
            _ => lights.emit(Light {
                light,
                pixel,
                sample,
            }),
        }
    }

    /// What is matte scatters, and asks for the lamp.
    #[kernel]
    pub fn matte(
        hit: Hit,
        rays: Channel<Ray>,
        shadows: Channel<Shadow>,
        balls: &[Ball],
        open: &[AtomicU32],
    ) {
        let (ray, shadow) = off_matte(hit, balls);
        open[ray.pixel as usize].fetch_add(1, Ordering::Relaxed);
        shadows.emit(shadow);
        rays.emit(ray);
    }

    /// Metal reflects.
    #[kernel]
    pub fn metal(hit: Hit, rays: Channel<Ray>, balls: &[Ball]) {
        rays.emit(off_metal(hit, balls));
    }

    /// Glass reflects or refracts.
    #[kernel]
    pub fn glass(hit: Hit, rays: Channel<Ray>, balls: &[Ball]) {
        rays.emit(off_glass(hit, balls));
    }

    /// Whether the lamp shines on a surface.
    #[kernel]
    pub fn shadow(shadow: Shadow, lights: Channel<Light>, balls: &[Ball], nodes: &[Node]) {
        let free = is_free(shadow, balls, nodes);
        let light = if free { shadow.light } else { BLACK };
        let (pixel, sample) = (shadow.pixel, NO_PATH);
        lights.emit(Light {
            light,
            pixel,
            sample,
        });
    }

    /// Adds what has arrived, begins the pixel's next path if one has ended, and shows the pixel when nothing of it is open any more.
    #[kernel]
    pub fn accumulate(
        light: Light,
        starts: Channel<Start>,
        view: View,
        sums: &[AtomicU32],
        open: &[AtomicU32],
        pixels: &[AtomicU32],
    ) {
        add(light.light, light.pixel, sums);
        let Light { pixel, sample, .. } = light;
        if sample != NO_PATH && sample + 1 < view.samples {
            let sample = sample + 1;
            return starts.emit(Start { pixel, sample });
        }
        // Whoever brings it to 0 sees what the others have added.
        if open[pixel as usize].fetch_sub(1, Ordering::AcqRel) == 1 {
            show(pixel, view.samples, sums, pixels);
        }
    }

    /// Pixels at one go, a task for each: all its paths, one after another, as one kernel that loops would have it.
    #[task]
    pub fn paint(
        pixel: u32,
        to: u32,
        view: View,
        balls: &[Ball],
        nodes: &[Node],
        sums: &[AtomicU32],
        pixels: &[AtomicU32],
    ) {
        if to - pixel > 1 {
            let half = pixel + (to - pixel) / 2;
            spawn!(paint(pixel, half, view, balls, nodes, sums, pixels));
            spawn!(paint(half, to, view, balls, nodes, sums, pixels));
            return;
        }
        for sample in 0..view.samples {
            let mut ray = first_ray(Start { pixel, sample }, view);
            loop {
                let (what, light, hit) = meet(ray, balls, nodes);
                ray = match what {
                    METAL => off_metal(hit, balls),
                    GLASS => off_glass(hit, balls),
                    MATTE => {
                        let (next, shadow) = off_matte(hit, balls);
                        if is_free(shadow, balls, nodes) {
                            add(shadow.light, pixel, sums);
                        }
                        next
                    }
                    _ => {
                        add(light, pixel, sums);
                        break;
                    }
                };
            }
        }
        show(pixel, view.samples, sums, pixels);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    film::shoot(&std::env::args().skip(1).collect::<Vec<_>>())
}
