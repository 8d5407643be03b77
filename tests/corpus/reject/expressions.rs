//! Expressions that the language does not have.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(n: u32, data: &[u32]) -> u32 {
        let f = |x: u32| x + 1;
        let r = 0..n;
        let c = 'x';
        let s = "text";
        if let 3 = n && n > 2 {
            return 1;
        }
        let w = unsafe { n };
        let v = vec![1, 2];
        println!("{}", n);
        let t = n?;
        fn inner() {}
        n
    }
}

//~ 9:17: text is not part of the task language
//~   help: use `u8` values: `b'x'`, or an array of them
//~ 10:17: text is not part of the task language
//~   help: use `u8` values: `b'x'`, or an array of them
//~ 14:17: `unsafe` is not part of the task language
//~   help: for speed without bounds checks: `#[program(unchecked)]`
//~ 15:17: `vec!` is not part of the task language
//~   help: nothing is allocated in a task: use an array
//~ 16:9: `println!` is not part of the task language
//~   help: a device does not print: write values to a buffer
//~ 17:17: `?` stands in a function that returns an `Option` or a `Result`
//~   help: say what happens where there is nothing: `let Some(x) = .. else { .. };`
