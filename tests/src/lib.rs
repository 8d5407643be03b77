//! The corpus: programs of the task language, and what runs them on every engine.
//!
//! - `corpus/run`: programs with calls. Each call runs as the serial elision, which rustc compiled, and on every [`engine`]; all must
//!   agree, in the result and in the memory that was lent.
//! - `corpus/fault`: programs that must stop with an error, the same on every engine.
//! - `corpus/reject`: programs that the front end must refuse, with the exact words.
//! - `corpus/lower`: programs with the channels and frames that the lowering must make of them.
//!
//! What is expected stands in the file itself, as `//~` comments at its end; `MILLSTREAM_BLESS=1` writes them anew. Arguments and results
//! travel between engines as Rust's `Debug` text ([`value`]), so that an engine needs to know nothing of a program's Rust types.

#![allow(clippy::unwrap_used, reason = "a test ends there")]

pub mod budget;
pub mod cubins;
pub mod decisions;
pub mod deep;
pub mod emulator;
pub mod engine;
pub mod expect;
pub mod facts;
pub mod history;
pub mod knapsack;
pub mod many;
pub mod random;
pub mod spawners;
pub mod stress;
pub mod swarm;
pub mod value;

use millstream_aggregator::{Device, RunError};
use std::{
    fmt::Debug,
    panic::resume_unwind,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// Does something with each of these, on all cores at the same time: what came of them, in their order.
///
/// # Panics
/// If it does for one of them.
pub fn on_all_cores<T: Sync, R: Send>(all: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let some = || {
        // Relaxed: each number is taken once, and that is all.
        let taken = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let mine = taken.map_while(|i| Some((i, all.get(i)?)));
        mine.map(|(i, one)| (i, work(one))).collect::<Vec<_>>()
    };
    let mut done = thread::scope(|scope| {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(some)).collect();
        let ended = threads.into_iter().map(|thread| thread.join());
        let done = ended.flat_map(|done| done.unwrap_or_else(|panic| resume_unwind(panic)));
        done.collect::<Vec<_>>()
    });
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Runs something that recurses deeply.
///
/// # Panics
/// If it does.
pub fn on_deep_stack<T: Send>(f: impl FnOnce() -> T + Send) -> T {
    thread::scope(|s| {
        let thread = thread::Builder::new().stack_size(1 << 30);
        thread.spawn_scoped(s, f).unwrap().join().unwrap()
    })
}

/// What is wrong with any of many, all of it.
///
/// # Panics
/// If anything is.
pub fn none_wrong(wrong: &[String]) {
    let (count, all) = (wrong.len(), wrong.join("\n"));
    assert!(wrong.is_empty(), "{count} wrong:\n{all}");
}

/// Which part of a test's work is asked for, counted from 0, and of how many: `MILLSTREAM_PART=2/3` is the second third.
///
/// # Panics
/// If it is not written so.
#[must_use]
pub fn part() -> Option<(usize, usize)> {
    let part = std::env::var("MILLSTREAM_PART").ok()?;
    let numbers = part.split_once('/').and_then(|(part, of)| {
        let (part, of): (usize, usize) = (part.parse().ok()?, of.parse().ok()?);
        (1..=of).contains(&part).then_some((part - 1, of))
    });
    Some(
        numbers
            .unwrap_or_else(|| panic!("MILLSTREAM_PART={part}: write `2/3` for the second third")),
    )
}

/// The repository, with the files that tests read: `MILLSTREAM_ROOT`, else where it was built, else the current folder. So tests that were
/// built elsewhere find them too.
#[must_use]
pub fn root() -> PathBuf {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    match std::env::var_os("MILLSTREAM_ROOT") {
        Some(root) => root.into(),
        None if built.is_dir() => built,
        None => PathBuf::from("."),
    }
}

/// A program of `corpus/run`, as the list of that folder has it.
#[derive(Clone, Copy, Debug)]
pub struct Listed {
    /// File name without `.rs`.
    pub name: &'static str,
    /// The text of the file.
    pub source: &'static str,
    /// Its calls.
    pub cases: &'static [Case],
    /// The program as the attribute macro left it in the test's binary.
    pub text: fn() -> &'static str,
}

/// One call of a program.
#[derive(Clone, Copy)]
pub struct Case {
    /// The call as it is written.
    pub text: &'static str,
    /// The task.
    pub task: &'static str,
    /// Runs the serial elision.
    pub elision: fn() -> Elision,
    /// Runs the typed call that the attribute macro made.
    pub typed: fn(&Device) -> Result<Outcome, RunError>,
}

impl Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.text)
    }
}

/// What a call came to: `Debug` texts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// What was returned.
    pub result: String,
    /// The arguments afterwards.
    pub after: Vec<String>,
}

/// A call of the serial elision.
#[derive(Clone, Debug)]
pub struct Elision {
    /// The arguments beforehand.
    pub before: Vec<String>,
    /// What it came to.
    pub outcome: Outcome,
}

/// A value as its `Debug` text.
pub fn text<T: Debug + ?Sized>(value: &T) -> String {
    format!("{value:?}")
}

/// The calls of a program: `cases! { fib(10); sort(&mut vec![3, 1, 2], 1) }`, tasks of the module `program` beside it.
#[macro_export]
macro_rules! cases {
    ($($task:ident ( $($args:tt)* ));* $(;)?) => {
        /// The calls of this program.
        pub const CASES: &[$crate::Case] = &[$($crate::Case {
            text: concat!(stringify!($task), "(", stringify!($($args)*), ")"),
            task: stringify!($task),
            elision: || $crate::one_case!(elision $task [] [] [$($args)*]),
            typed: |device| $crate::one_case!((typed device) $task [] [] [$($args)*]),
        }),*];
    };
}

/// One call: takes its arguments one by one into variables, then calls.
#[doc(hidden)]
#[macro_export]
macro_rules! one_case {
    (elision $task:ident [$($value:ident)*] [$($pass:expr,)*] []) => {{
        let before = vec![$($crate::text(&$value)),*];
        let result = $crate::text(&program::$task($($pass),*));
        $crate::Elision { before, outcome: $crate::Outcome { result, after: vec![$($crate::text(&$value)),*] } }
    }};
    ((typed $device:ident) $task:ident [$($value:ident)*] [$($pass:expr,)*] []) => {{
        if false {
            // It decides the types of literals among the arguments.
            let _ = program::$task($($pass),*);
        }
        let result = $crate::text(&$device.run(program::call::$task($($pass),*))?);
        Ok($crate::Outcome { result, after: vec![$($crate::text(&$value)),*] })
    }};
    ($how:tt $task:ident [$($value:ident)*] [$($pass:expr,)*] [&mut $e:expr $(, $($rest:tt)*)?]) => {{
        let mut value = $e;
        $crate::one_case!($how $task [$($value)* value] [$($pass,)* &mut value,] [$($($rest)*)?])
    }};
    ($how:tt $task:ident [$($value:ident)*] [$($pass:expr,)*] [& $e:expr $(, $($rest:tt)*)?]) => {{
        let value = $e;
        $crate::one_case!($how $task [$($value)* value] [$($pass,)* &value,] [$($($rest)*)?])
    }};
    ($how:tt $task:ident [$($value:ident)*] [$($pass:expr,)*] [$e:expr $(, $($rest:tt)*)?]) => {{
        let value = $e;
        // What is no `Copy` is passed twice, too.
        $crate::one_case!($how $task [$($value)* value] [$($pass,)* { let again = ::std::clone::Clone::clone(&value); again },] [$($($rest)*)?])
    }};
}
