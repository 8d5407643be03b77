//! The executable graph: kernels and channels. It is what every device runs, whoever made it: the builder, a RON file or the lowering.
//!
//! A *channel* holds elements; a *kernel* (a *node* of the graph) consumes the elements of one channel and emits into any number of
//! others. What a kernel does stands in the program: a `#[kernel]` function, whose first parameter is the element, whose `Channel<T>`
//! parameters are its *ports* in order, and whose other parameters are bound to the node's arguments, in order, the same for all of
//! its elements. A *host node* is a closure of the caller's instead.
//!
//! Connections are keys, and only [`Kernel::consumes`] and [`Kernel::produces`] hold them; [`Graph::drawn`] shows them to petgraph.
//! [`validate`](Graph::validate) says all that is wrong with a graph. Names are for people: [`Written`] is the form with names in
//! place of keys, which is how serde reads and writes a graph.

mod draw;
mod fields;
mod model;
mod problem;
mod stacks;
mod validate;
mod written;

pub use draw::Drawing;
pub use fields::element_fields;
pub use model::{
    Body, Channel, ChannelKey, Code, Element, GROUP, Graph, Kernel, KernelKey, Node, Predicate,
    Protocol, Scope, Task, WIDTH, WhenFull, Wire,
};
pub use problem::{At, GraphError, Part, Problem, meant, nearest};
pub use validate::{MAX_GROUP, MAX_WIDTH, split};
pub use written::{Combined, Names, Resolved, Written, WrittenChannel, WrittenKernel, WrittenTask};
