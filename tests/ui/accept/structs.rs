//! Structs get what they lack; private items stay private; names that are keywords elsewhere are fine.

#![forbid(unsafe_code)]
#![deny(dead_code)]

#[millstream::program(checked, fast_math)]
mod structs {
    use millstream::prelude::*;

    const N: usize = 2;
    type Pair = (u32, f32);
    type View<'a> = MatMut<'a, f64>;

    struct Private {
        r#type: u32,
        list: [u8; N],
    }

    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Derived(u32);

    #[derive(Default)]
    #[repr(C)]
    struct Unit;

    /// Where the same data is lent by an alias.
    #[task]
    fn scale(mut m: View, by: f64) {
        let (mut a, _) = m.split_rows_at_mut(1);
        a[(0, 0)] *= by;
    }

    #[task]
    fn both(m: View) {
        let mut m = m;
        let (a, b) = m.split_cols_at_mut(1);
        spawn!(scale(a, 2.0));
        spawn!(scale(b, 3.0));
    }

    #[task]
    fn r#match(p: Private, d: Derived, program: Pair, _: Unit, args: u32) -> [Pair; 2] {
        if args == 0 {
            return [(p.r#type, program.1), (d.0, 1.0)];
        }
        let q = spawn!(r#match(p, d, program, Unit, args - 1));
        sync!();
        [q[1], (p.list[1] as u32, q[0].1)]
    }

    #[task]
    fn entry(m: View) -> u32 {
        spawn!(both(m));
        let r = spawn!(r#match(Private { r#type: 1, list: [2; N] }, Derived(3), (4, 5.0), Unit, 6));
        sync!();
        r[0].0
    }
}

/// Runs it.
pub fn run(device: &millstream::Device, data: &mut [f64]) -> Result<u32, millstream::Error> {
    device.run(structs::call::entry(millstream::MatMut::new(data, 4, 4)))
}
