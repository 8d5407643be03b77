// keep(200; 100)
// Nothing is kept of an array without elements, but its element is computed.

#[millstream::program(checked)]
pub mod program {
    #[task]
    pub fn keep(a: u8, b: u8) -> u8 {
        let none = [a + b; 0];
        none.len() as u8
    }
}

//~ overflow: 200 + 100, in `keep` at corpus/fault/empty_array.rs:8:21
