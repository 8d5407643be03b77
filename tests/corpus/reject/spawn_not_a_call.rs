//! What stands in `spawn!` is no call of a task.

#[millstream::program]
pub mod program {
    #[task]
    pub fn run(n: u32) {
        spawn!(n + 1);
        spawn!(run);
        spawn!(runn(n - 1));
        spawn!({ run(n) });
    }

    #[task]
    pub fn word(word: &[u8]) {
        spawn!(word(&word[1..]));
    }
}

//~ 7:16: `spawn!` takes the call of a task
//~   help: write `spawn!(task(arguments))`
//~ 8:16: `spawn!` takes the call of a task
//~   help: write `spawn!(task(arguments))`
//~ 9:16: there is no task `runn` in this program
//~   help: did you mean `run`?
//~ 10:16: `spawn!` takes the call of a task
//~   help: write `spawn!(task(arguments))`
//~ 15:16: `word` is a variable here, not a task
//~   help: give the variable another name
