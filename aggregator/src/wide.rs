//! Integers of 128 bits as tasks take and return them: two halves of 64, the lower one first.

use crate::{
    args::ErasedArg,
    call::{Arg, TaskValue},
};

macro_rules! wide {
    ($($ty:ty)*) => {$(
        impl TaskValue for $ty {
            const SIZE: usize = 16;
            const ALIGN: usize = 8;

            fn read(memory: &[u8]) -> Self {
                let (low, high) = memory.split_at(8);
                (u64::read(low) as $ty) | (u64::read(high) as $ty) << 64
            }

            fn write(&self, memory: &mut [u8]) {
                let (low, high) = memory.split_at_mut(8);
                (*self as u64).write(low);
                ((*self >> 64) as u64).write(high);
            }
        }

        impl<'a> Arg<'a> for $ty {
            fn push(self, args: &mut Vec<ErasedArg<'a>>) {
                args.extend([self as u64, (self >> 64) as u64].map(ErasedArg::Scalar));
            }
        }
    )*};
}

wide! { u128 i128 }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_halves_come_through() {
        for x in [0, 1, -1, i128::MIN, i128::MAX, 7 << 64 | 5] {
            let mut memory = [0xaa; 16];
            x.write(&mut memory);
            assert_eq!(i128::read(&memory), x);
            assert_eq!(u128::read(&memory), x as u128);
            let mut args = Vec::new();
            x.push(&mut args);
            let halves: Vec<u64> = args
                .iter()
                .map(|arg| match arg {
                    ErasedArg::Scalar(bits) => *bits,
                    other => panic!("{other:?}"),
                })
                .collect();
            assert_eq!(halves, [x as u64, (x >> 64) as u64]);
        }
    }
}
