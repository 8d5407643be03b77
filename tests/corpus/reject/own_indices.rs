//! `Index` that is not there for what is indexed, or only for reading.

#[millstream::program]
pub mod program {
    use std::ops::Index;

    struct Row {
        cells: [u32; 4],
    }

    impl Index<usize> for Row {
        type Output = u32;
        fn index(&self, i: usize) -> &u32 {
            &self.cells[i]
        }
    }

    struct Plain {
        cells: [u32; 4],
    }

    #[task]
    pub fn run(n: u32) -> u32 {
        let mut row = Row { cells: [n; 4] };
        row[1] = 2;
        row[2] += 1;
        let cell = &mut row[3];
        let plain = Plain { cells: [n; 4] };
        row[n] + plain[0] + row[(1, 2)]
    }
}

//~ 25:9: what an index of `Row` refers to cannot be written
//~   help: write `impl IndexMut<..> for Row { .. }`
//~ 26:9: what an index of `Row` refers to cannot be written
//~   help: write `impl IndexMut<..> for Row { .. }`
//~ 27:25: what an index of `Row` refers to cannot be written
//~   help: write `impl IndexMut<..> for Row { .. }`
//~ 29:13: expected `usize`, found `u32`
//~   help: convert it: `.. as usize`
//~ 29:18: `Plain` cannot be indexed
//~   help: arrays, slices and matrices can
//~ 29:33: expected `usize`, found `(an integer, an integer)`
