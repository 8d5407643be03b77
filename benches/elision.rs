//! The serial elision: the examples' modules as rustc compiles them. No tasks, one thread.

use super::program::{Contestant, Input, Outcome, Program};
use millstream::{Mat, MatMut};

/// An example's program; its `main` is not wanted here.
macro_rules! example {
    ($file:ident, $path:literal, $program:ident) => {
        #[path = $path]
        #[allow(
            dead_code,
            unreachable_pub,
            missing_docs,
            reason = "an example is a program of its own, and its `main` is not wanted"
        )]
        mod $file;
        pub(crate) use $file::$program;
    };
}

example!(backprop_rs, "../examples/backprop.rs", backprop);
example!(fib_rs, "../examples/fib.rs", fib);
example!(floyd_rs, "../examples/floyd.rs", floyd);
example!(heat_rs, "../examples/heat.rs", heat);
example!(histogram_rs, "../examples/histogram.rs", histogram);
example!(kmeans_rs, "../examples/kmeans.rs", kmeans);
example!(prefix_sum_rs, "../examples/prefix_sum.rs", prefix_sum);
example!(queens_rs, "../examples/queens.rs", queens);
example!(quickhull_rs, "../examples/quickhull.rs", quickhull);
example!(sort_rs, "../examples/sort.rs", sort);
example!(strassen_rs, "../examples/strassen.rs", strassen);
example!(unbalanced_rs, "../examples/unbalanced.rs", unbalanced);
pub(crate) use backprop_rs::shapes;

/// The examples without tasks.
#[derive(Debug)]
pub(crate) struct Elision;

impl Contestant for Elision {
    fn name(&self) -> &'static str {
        "serial elision"
    }

    fn threads(&self) -> u32 {
        1
    }

    fn run(&mut self, program: Program, input: &mut Input, _: bool) -> Result<Outcome, String> {
        let mut answer = 0;
        match (program, input) {
            (Program::Fib(n), _) => answer = fib::fib(n),
            (Program::Queens(n), _) => answer = queens::queens(n),
            (Program::QueensTo(n, rows), _) => answer = queens::queens_to(n, rows),
            (Program::Unbalanced(seed, branches), _) => answer = unbalanced::tree(seed, branches),
            (Program::Sort(_), Input::Sort { data, tmp, .. }) => sort::sort(data, tmp),
            (
                Program::Strassen(_),
                Input::Strassen {
                    n,
                    a,
                    b,
                    c,
                    scratch,
                },
            ) => {
                strassen::strassen(
                    MatMut::new(c, *n, *n),
                    Mat::new(a, *n, *n),
                    Mat::new(b, *n, *n),
                    scratch,
                );
            }
            (Program::Multiply(_), Input::Strassen { n, a, b, c, .. }) => {
                strassen::multiply(
                    MatMut::new(c, *n, *n),
                    Mat::new(a, *n, *n),
                    Mat::new(b, *n, *n),
                );
            }
            (program, _) => return Err(format!("{program} got an input that is not its own")),
        }
        Ok(Outcome {
            answer,
            ..Outcome::default()
        })
    }
}
