//! Constants that are made by functions of types with parameters, before the functions of the program are known.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq)]
    pub struct Nz<T>(T);
    type Nz32 = Nz<u32>;
    impl<T: Copy> Nz<T> {
        const fn new(x: T) -> Self {
            Nz(x)
        }
        const fn get(self) -> T {
            self.0
        }
    }
    const ONE: Nz32 = Nz32::new(1);
    const TWO: Nz<u32> = Nz::<u32>::new(2);
    fn first(a: &[u32], x: u32) -> u32 {
        a[0] + x
    }
    fn second(x: u32) -> u32 {
        first(&[x], x)
    }
    #[task]
    pub fn run(n: u32) -> u32 {
        second(n) + ONE.get() + TWO.get()
    }
}

millstream_tests::cases! {
    run(5);
}
