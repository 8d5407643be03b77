//! `?` behind a `spawn!`: whether there is a value is known when the child is done.

#[millstream::program]
pub mod program {
    #[task]
    pub fn half(n: u64) -> Option<u64> {
        if n % 2 == 0 { Some(n / 2) } else { None }
    }

    #[task]
    pub fn both(n: u64) -> Option<u64> {
        let a = spawn!(half(n))?;
        let mut sum = 0;
        sum += spawn!(half(n))?;
        let b = spawn!(half(n)).or(Some(3))? + 1;
        sync!();
        Some(a + b + sum)
    }

    fn helper(n: u64) -> Option<u64> {
        let a = spawn!(half(n))?;
        Some(a)
    }
}

//~ 12:32: `?` asks for a child's result where it is spawned, but it comes with the next `sync!()`
//~   help: put the `?` behind the `sync!()`: `let r = spawn!(..); sync!(); let x = r?;`
//~ 14:31: `?` asks for a child's result where it is spawned, but it comes with the next `sync!()`
//~   help: put the `?` behind the `sync!()`: `let r = spawn!(..); sync!(); let x = r?;`
//~ 15:44: `?` asks for a child's result where it is spawned, but it comes with the next `sync!()`
//~   help: put the `?` behind the `sync!()`: `let r = spawn!(..); sync!(); let x = r?;`
//~ 21:17: only a task or kernel can spawn
//~   help: put `#[task]` in front of the function
