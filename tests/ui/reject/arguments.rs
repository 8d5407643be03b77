//! Arguments of calls that a task does not take, and what a call must not outlive.

#[millstream::program]
mod tasks {
    #[task]
    pub fn fill(data: &mut [u32], x: u32) {
        data[0] = x;
    }
}

#[millstream::program]
mod tuples {
    #[task]
    pub fn count(pairs: &[(u32, u8)], n: u32) -> u32 {
        pairs.len() as u32 + n
    }
}

pub fn of_tuples(device: &millstream::Device, pairs: &[(u32, u8)]) {
    let _ = device.run(tuples::call::count(pairs, 1)); //~ E0277
}

#[millstream::program]
mod options {
    #[derive(Clone, Copy)]
    pub struct Node {
        pub next: Option<u32>,
    }

    #[task]
    pub fn count(parts: &[Option<u32>], nodes: &mut [Node], n: Option<u32>) -> Option<usize> {
        n.map(|n| n as usize + parts.len() + nodes.len())
    }
}

pub fn of_options(device: &millstream::Device, parts: &[Option<u32>], nodes: &mut [options::Node]) {
    let _ = device.run(options::call::count(parts, &mut [], None)); //~ E0277
    let _ = device.run(options::call::count((), nodes, Some(1))); //~ E0277
}

#[millstream::program]
mod sums {
    #[derive(Clone, Copy)]
    pub enum Shape {
        Nothing,
        Circle(f32),
    }

    #[task]
    pub fn count(shapes: &[Shape], n: Result<u32, Shape>, s: Shape) -> usize {
        shapes.len() + matches!(s, Shape::Circle(_)) as usize + n.unwrap_or(1) as usize
    }
}

pub fn of_sums(device: &millstream::Device, shapes: &[sums::Shape]) {
    let _ = device.run(sums::call::count(shapes, Ok(1), sums::Shape::Nothing)); //~ E0277
}

pub fn shared(device: &millstream::Device, data: &Vec<u32>) {
    let _ = device.run(tasks::call::fill(data, 1)); //~ E0277
}

pub fn of_another_type(device: &millstream::Device, data: &mut Vec<i32>) {
    let _ = device.run(tasks::call::fill(data, 1)); //~ E0277
}

pub fn a_number_of_another_type(device: &millstream::Device, data: &mut Vec<u32>) {
    let _ = device.run(tasks::call::fill(data, 1u8)); //~ E0308
}

pub fn twice(device: &millstream::Device, data: &mut Vec<u32>) {
    let a = tasks::call::fill(&mut *data, 1);
    let b = tasks::call::fill(&mut *data, 2); //~ E0499
    let _ = device.run_all([a, b]);
}

pub fn after_its_end() -> millstream::Call<'static, ()> {
    let mut data = vec![1u32];
    tasks::call::fill(&mut data, 1) //~ E0515
}
