#[millstream::program]
mod program {
    #[task]
    pub fn run(mut a: &[u32], mut b: &[u32], left: bool) -> usize {
        let list = if left { &mut a } else { &mut b };
        *list = &list[1..];
        a.len() + b.len()
    }
}

//~ 5:35: `&[u32]` is shared and cannot be borrowed as `&mut`
//~   help: take it as `&mut`; if the variable is to name another part, say so of each: `if c { a = rest } else { b = rest }`
//~ 5:51: `&[u32]` is shared and cannot be borrowed as `&mut`
//~   help: take it as `&mut`; if the variable is to name another part, say so of each: `if c { a = rest } else { b = rest }`
