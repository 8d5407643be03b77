//! Floats have no `|`.

#[millstream::program]
pub mod program {
    #[task]
    pub fn value(n: u32) -> f32 {
        n as f32
    }

    #[task]
    pub fn best(n: u32) -> f32 {
        let mut a = 0.0;
        a |= spawn!(value(n));
        sync!();
        a
    }
}

//~ 13:14: results of type `f32` cannot be gathered this way
//~   help: integers take all ways, floats `+=`, `min` and `max`, bools `|=`, `&=` and `^=`
