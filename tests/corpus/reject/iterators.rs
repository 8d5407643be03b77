//! Iterator chains instead of loops.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(data: &[u32]) -> u32 {
        let sum = data.iter().map(|x| x * 2).sum();
        let doubled = data.iter().map(|x| x * 2);
        let all = data.iter().collect::<Vec<_>>();
        for (a, b) in data.iter().zip(data) {}
        let c = data.chunks(2);
        for [a, b] in data.iter().zip(data) {}
        for (a, b) in data.iter().zip(0..) {}
        for (a, b) in (0..4u32).zip(data).rev() {}
        for i in 0.. {}
        for (i, x) in data {}
        sum
    }
}

//~ 9:31: `collect` of an iterator is not part of the task language
//~   help: nothing is allocated in a task: write to an array, or to a slice that is lent
//~ 12:13: `zip` gives pairs
//~   help: write `for (x, y) in ..`
//~ 14:43: `rev` behind another adaptor
//~   help: put it next to what is run over: `a.iter().rev().map(..)`
//~ 16:13: a pattern of 2 fields for `&u32`
//~   help: to get the index too, write `.iter().enumerate()`
