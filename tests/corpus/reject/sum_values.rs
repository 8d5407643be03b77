//! Uses of enums with data, of `Result`s and of orders that Rust does not take, or that are not part of the task language.

#[millstream::program]
pub mod program {
    #[derive(Clone, Copy, PartialEq)]
    pub enum Shape {
        Nothing,
        Circle(f32),
        Rect { w: f32, h: f32 },
        Pair(u8, u8),
    }

    fn tried(n: u32) -> Result<u32, u8> {
        Ok(n)
    }

    fn other(n: u32) -> Result<u32, u16> {
        let x = tried(n)?;
        let y = Some(n)?;
        Ok(x + y)
    }

    fn none(n: u32) -> Option<u32> {
        Some(tried(n)?)
    }

    #[task]
    pub fn run(s: Shape, n: u32, r: Result<u32, u8>) -> u32 {
        let a = Shape::Circle;
        let b = Shape::Circle(1.0, 2.0);
        let c = Shape::Circle(n);
        let d = Shape::Rect(1.0, 2.0);
        let e = Shape::Rect { w: 1.0 };
        let f = Shape::Rect { w: 1.0, h: 2.0, depth: 3.0 };
        let g = Shape::Rect { w: 1.0, ..s };
        let h = Shape::Nothing(1);
        let i = Shape::Square(1.0);
        let j = s.w;
        let k = s as u8;
        let l = s < Shape::Nothing;
        let m = match s {
            Shape::Nothing => 1,
            Shape::Circle(r) if r > 1.0 => 2,
            Shape::Rect { w, .. } => 3,
            Shape::Pair(0, _) => 4,
            Shape::Circle(_) => 5,
        };
        let o = match s {
            Shape::Circle => 1,
            Shape::Rect(w, h) => 2,
            Shape::Rect { w } => 3,
            Shape::Pair(x) => 4,
            Shape::Square(x) => 5,
            Shape::Pair(x, _) | Shape::Pair(_, x) => 6,
            Shape::Pair(y, 1) | Shape::Circle(_) => 7,
            _ => 8,
        };
        let Shape::Circle(radius) = s;
        let p = match r {
            Ok(x) => x,
            Err(0) => 1,
        };
        let q = r.is_some();
        let t = r + 1;
        let u = r.map_err(|e| tried(e as u32)?);
        let v = 1.5f32.cmp(&2.5);
        let w = [1, 2].cmp(&[1, 3]);
        let x = n.cmp(&3).is_less();
        let y = n.cmp(3);
        let z = match n.cmp(&3) {
            std::cmp::Ordering::Less => 1,
            std::cmp::Ordering::Equal => 2,
        };
        0
    }

    fn changed(o: &mut Option<u32>, pair: &mut (Option<u32>, Option<u32>), part: &mut Option<&u32>) {
        if let Some(mut x) = o {
            x += 1;
        }
        match pair {
            (Some(x), None) | (None, Some(x)) => *x = 1,
            _ => {}
        }
        if let Some(x) = part {
            let y = **x;
        }
        let z = part.as_mut();
    }

    fn kept(o: &Option<u32>, p: Option<u32>) {
        o.insert(3);
        p.get_or_insert(4);
        if let Some(x) = o {
            *x += 1;
        }
    }
}

//~ 18:17: the error is `u8`, and the function returns `u16`
//~   help: make one of the other: `.map_err(|e| ..)?`
//~ 19:17: a pattern of a `Result` for `Option<u32>`
//~   help: make one of it: `.ok_or(..)`
//~ 24:14: a pattern of an `Option` for `Result<u32, u8>`
//~   help: make one of it: `.ok()`
//~ 29:17: the variant `Shape::Circle` has data
//~   help: write `Shape::Circle(x)`
//~ 30:17: `Shape::Circle` takes 1 argument, here are 2
//~   help: write `Shape::Circle(x)`
//~ 31:31: expected `f32`, found `u32`
//~   help: convert it: `.. as f32`
//~ 32:17: the data of `Shape::Rect` have names
//~   help: write `Shape::Rect { w, h }`
//~ 33:17: `Shape::Rect` lacks some of its data
//~   help: write `Shape::Rect { w, h }`
//~ 34:47: `Shape::Rect` has no field `depth`
//~   help: write `Shape::Rect { w, h }`
//~ 35:41: the data of a variant are not taken from another value
//~   help: write `Shape::Rect { w, h }`
//~ 36:17: `Shape::Nothing` takes 0 arguments, here are 1
//~   help: write `Shape::Nothing`
//~ 37:17: `Shape` has no function `Square`
//~   help: there are the variants `Nothing`, `Circle`, `Rect`, `Pair`
//~ 38:19: the enum `Shape` has no fields
//~   help: take it apart by `match` or `if let`
//~ 39:17: `Shape` cannot be converted to `u8` by `as`
//~   help: `as` converts numbers, and bools to integers
//~ 40:17: `<` cannot be applied to `Shape`
//~   help: write an `impl` of the operator's trait, as `std::ops::Add`; for an order, derive `PartialOrd`
//~ 41:17: this `match` has no arm for `Shape::Pair(1, _)`
//~   help: add an arm for it, or `_ => ..` for all others
//~ 49:13: the variant `Shape::Circle` has data
//~   help: write `Shape::Circle(x)`
//~ 50:13: the data of `Shape::Rect` have names
//~   help: write `Shape::Rect { w, h }`
//~ 51:13: the pattern does not name all fields
//~   help: end it with `..`
//~ 52:13: `Shape::Pair` has 2 values, here are 1
//~   help: write `Shape::Pair(x, y)`
//~ 53:13: the enum `Shape` has no variant `Square`
//~   help: there are `Nothing`, `Circle`, `Rect`, `Pair`
//~ 55:13: `y` is bound in some of these patterns only
//~   help: bind it in each, or before the `match`
//~ 58:13: this pattern leaves `Nothing`
//~   help: say what happens there: `let Shape::Circle(x) = .. else { .. };`, or `if let`
//~ 59:17: this `match` has no arm for `Err(1)`
//~   help: add an arm for it, or `_ => ..` for all others
//~ 63:19: `Result<u32, u8>` has no method `is_some`
//~   help: take it apart: `if let Some(x) = ..`, or `match`
//~ 64:19: the two sides differ: `Result<u32, u8>` and `an integer`
//~   help: take it apart: `if let Some(x) = ..`, or say what it is where there is nothing: `.unwrap_or(..)`
//~ 65:31: expected `Result<_, u8>`, found `u32`
//~ 66:24: floats have no `cmp`: a NaN has no place in an order
//~   help: use `partial_cmp` or `total_cmp`
//~ 68:27: `std::cmp::Ordering` has no method `is_less`
//~   help: did you mean `is_le`?
//~ 69:23: expected `&u32`, found `an integer`
//~ 70:17: this `match` has no arm for `std::cmp::Ordering::Greater`
//~   help: add an arm for it, or `_ => ..` for all others
//~ 78:21: `mut` in a pattern of what lies behind `&mut`
//~   help: leave it out: the name is a reference, `*x += 1` changes what it refers to
//~ 85:21: a reference to `&u32` is not part of the task language
//~   help: take it as it is: it is copied
//~ 92:9: expected `&mut Option<u32>`, found `&Option<u32>`
//~   help: it is shared: take it as `&mut Option<u32>` where it is declared
//~ 93:9: `p` cannot be changed: it is not declared `mut`
//~   note: 91:30: it is declared here
//~   help: write `mut p` there
//~ 95:13: this cannot be written: it lies behind `&u32`
//~   help: take it as `&mut u32`
