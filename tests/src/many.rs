//! Programs of many tasks, each of which spawns in a loop: what takes the compiler of a GPU's kernels longest.

use std::fmt::Write;

/// A program of so many tasks, of which the first is `t0(n: u32, seed: u64) -> u64`; `n` is how deep it goes.
#[must_use]
pub fn program(tasks: usize) -> String {
    let mut out = "#[millstream::program]\nmod many {\n".to_owned();
    for i in 0..tasks {
        let (next, other) = ((i + 1) % tasks, (7 * i + 3) % tasks);
        let (modulus, factor, rare, flip) = (i + 3, 2 * i + 3, i + 2, 5 * i + 1);
        let _ = write!(
            out,
            "    #[task]
    pub fn t{i}(n: u32, seed: u64) -> u64 {{
        if n == 0 {{
            return seed % {modulus};
        }}
        let mut total = 0;
        let mut k = 0;
        while k < seed % 3 + 1 {{
            total += spawn!(t{next}(n - 1, seed * {factor} + k));
            if (seed + k) % {rare} == 0 {{
                total += spawn!(t{other}(n - 1, seed ^ {flip}));
            }}
            k += 1;
        }}
        sync!();
        total + {i}
    }}
"
        );
    }
    out + "}\n"
}
