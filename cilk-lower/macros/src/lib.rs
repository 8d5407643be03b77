//! The attribute macro of Millstream's task language.
//!
//! [`macro@program`] hands the module it stands on to the front end of `millstream_cilk_lower` and emits, in this order:
//!
//! - `expand`: the module as plain Rust, which is the program's serial elision, and its structs' layout
//! - `call`: beside it the module `call` with a typed call for each task, and the program in text form
//! - `kernel`: the module `kernel` with a typed definition of each kernel, for graphs
//! - [`race`](millstream_cilk_lower::rust::race): a version of each task and kernel that is never called, in which rustc's borrow checker finds data races
//! - `errors`: what the front end refuses, as compile errors at their places

mod call;
mod errors;
mod expand;
mod kernel;
mod layout;

use proc_macro::TokenStream;

/// Makes a program of a module: its tasks can be run on a device, and all of it is still ordinary Rust.
///
/// Options stand in parentheses: `checked` makes overflow an error of the run, `unchecked` leaves out bounds checks, `fast_math`
/// lets floating point be contracted and reordered.
///
/// Beside what the module has, it gets
/// - `call`, a module with a function for each task that makes a `millstream::Call`,
/// - `kernel`, a module with a `millstream::Kernel` for each kernel, if there is any,
/// - `program()`, the program itself, lowered when it is first asked for.
///
/// Structs of the module get `#[repr(C)]`, `Clone` and `Copy` if they do not have them, and are `millstream::Pod`.
///
/// Two children that could write to the same memory, or a parent that touches what it lent to a child before the next `sync!()`, are
/// errors of rustc's borrow checker. A result that is used before its `sync!()` is an error of this macro.
#[proc_macro_attribute]
pub fn program(options: TokenStream, module: TokenStream) -> TokenStream {
    expand::program(options.into(), module.into()).into()
}

/// Marks a kernel in a module under `#[millstream::program]`, which takes the mark away. Anywhere else it is an error.
#[proc_macro_attribute]
pub fn kernel(_: TokenStream, item: TokenStream) -> TokenStream {
    misplaced("kernel", item)
}

/// Marks a task in a module under `#[millstream::program]`, which takes the mark away. Anywhere else it is an error.
#[proc_macro_attribute]
pub fn task(_: TokenStream, item: TokenStream) -> TokenStream {
    misplaced("task", item)
}

fn misplaced(what: &str, item: TokenStream) -> TokenStream {
    let span = proc_macro2::Span::call_site();
    let message = format!(
        "a {what} stands in a module\nhelp: put `#[millstream::program]` in front of the module"
    );
    let error = errors::compile_error(span, &message);
    error
        .into_iter()
        .chain(proc_macro2::TokenStream::from(item))
        .collect::<proc_macro2::TokenStream>()
        .into()
}
