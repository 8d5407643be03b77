//! What types stand for by `Deref`: what cannot be written without `DerefMut`, and what they have not.

#[millstream::program]
pub mod program {
    use std::ops::Deref;

    pub struct Row {
        cells: [u32; 4],
    }

    impl Deref for Row {
        type Target = [u32];

        fn deref(&self) -> &[u32] {
            &self.cells
        }
    }

    pub struct One(u32);

    pub struct Other(One);

    impl Deref for One {
        type Target = Other;

        fn deref(&self) -> &Other {
            todo!()
        }
    }

    impl Deref for Other {
        type Target = One;

        fn deref(&self) -> &One {
            &self.0
        }
    }

    #[task]
    pub fn circle(n: u32) -> u32 {
        let one = One(n);
        one.find();
        clear(&mut one);
        one[3] + one.x
    }

    fn clear(cells: &mut [u32]) {
        cells.fill(0);
    }

    #[task]
    pub fn written(n: u32) -> u32 {
        let mut row = Row { cells: [n; 4] };
        row[0] = 1;
        row.sort();
        clear(&mut row);
        row.turn();
        row.width
    }
}

//~ 42:13: `Other` has no method `find`
//~   help: write it in an `impl` block of the struct
//~ 43:15: what `*` of `One` refers to cannot be written
//~   help: write `impl DerefMut for One { .. }`
//~ 43:20: `one` cannot be changed: it is not declared `mut`
//~   note: 41:13: it is declared here
//~   help: write `mut one` there
//~ 44:9: `Other` cannot be indexed
//~   help: arrays, slices and matrices can
//~ 44:22: the struct `Other` has no field `x`
//~   help: its fields are `0`
//~ 54:9: what `*` of `Row` refers to cannot be written
//~   help: write `impl DerefMut for Row { .. }`
//~ 55:9: what `*` of `Row` refers to cannot be written
//~   help: write `impl DerefMut for Row { .. }`
//~ 56:15: what `*` of `Row` refers to cannot be written
//~   help: write `impl DerefMut for Row { .. }`
//~ 57:13: slices have no method `turn`
//~   help: write a loop over its indices
//~ 58:13: `&[u32]` has no field `width`
//~   help: only structs and tuples have fields
