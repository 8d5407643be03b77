//! Fields that a struct or tuple does not have, and ones that are forgotten.

#[millstream::program]
pub mod program {
    struct Point {
        x: f32,
        y: f32,
    }

    #[task]
    pub fn run(t: (u32, u32), n: u32) -> f32 {
        let p = Point { x: 1.0 };
        let q = Point { x: 1.0, y: 2.0, z: 3.0 };
        let a = t.2;
        let b = n.x;
        let r = Pint { x: 0.0, y: 0.0 };
        p.z + q.x
    }
}

//~ 12:17: the struct `Point` lacks `y`
//~   help: give every field, or take the rest from another: `..other`
//~ 13:41: the struct `Point` has no field `z`
//~   help: its fields are `x`, `y`
//~ 14:19: `(u32, u32)` has no field `2`
//~   help: the fields of a tuple are `.0`, `.1`, ..
//~ 15:19: `u32` has no field `x`
//~   help: only structs and tuples have fields
//~ 16:17: there is no struct `Pint` in this program
//~   help: did you mean `Point`?
//~ 17:11: the struct `Point` has no field `z`
//~   help: its fields are `x`, `y`
