use super::*;
use crate::{
    Program,
    kernel::{ByRef, ByValue},
};
use millstream_graph::graph::{Channel, Kernel as Placed};
use std::sync::atomic::AtomicU64;

/// The paper's Figure 6, as the attribute macro leaves it.
static FIB: Program = Program::from_text(
    r#"program fib in "fib.rs"
    kernel fib(n: u32, next: Channel<u32>, result: &AtomicU64, limit: u32) takes %0, %1, %2 {
        let %0: u32, %1: ptr, %2: u32, %3: bool
    b0: %3 = lt %0, 2u32 branch %3 b1 b2
    b1: return
    b2: emit c0(%0) return }"#,
);
/// One parameter of each kind.
type Args = (ByRef<AtomicU64>, (ByValue<u32>, ()));
const KERNEL: Kernel<u32, (u32, ()), Args> = Kernel::new(|| &FIB, "fib");

#[test]
fn a_graph_is_what_its_builder_was_told() {
    let result = AtomicU64::new(0);
    let mut graph = Graph::new("fib");
    let calls = graph.channel::<u32>("calls").width(1_000).priority(2);
    graph
        .kernel(KERNEL)
        .named("again")
        .consumes(&calls)
        .produces(&calls)
        .arg(&result)
        .arg(7);
    graph.send(&calls, [20, 21]);
    assert_eq!(graph.check(), Ok(Vec::new()));

    let mut wanted = model::Graph::new("fib");
    let channel = wanted.add_channel(Channel {
        width: 1_000,
        priority: 2,
        input: true,
        ..Channel::new("calls", "u32")
    });
    wanted.add_kernel(Placed {
        name: "again".into(),
        consumes: Some(channel),
        produces: vec![channel],
        args: vec!["result".into(), "limit".into()],
        ..Placed::device("fib")
    });
    assert_eq!(graph.model(), wanted);
    assert_eq!(graph.sent.values().next().map(Vec::len), Some(8));
}

#[test]
fn what_is_left_out_and_what_is_of_another_graph_is_said() {
    let mut other = Graph::new("other");
    let calls = other.channel::<u32>("calls");
    let mut graph = Graph::new("fib");
    let _ = graph.kernel(KERNEL).consumes(&calls).produces(&calls);
    graph.host("sink").consumes(&calls).run(|_: &[u32]| ());
    let said = graph.check().map_err(|e| e.to_string());
    assert_eq!(
        said,
        Err("the graph `fib` cannot be run
  channel `calls`, which a node is connected to, is of another graph
  channel `calls`, which a node is connected to, is of another graph
  channel `calls`, which a node is connected to, is of another graph
  kernel `fib`: its parameter `result` (`&AtomicU64`) is given nothing
  kernel `fib`: its parameter `limit` (`u32`) is given nothing"
            .to_owned())
    );
}

#[test]
fn host_nodes_get_and_give_values() {
    let mut graph = Graph::new("g");
    let [a, b] = ["a", "b"].map(|name| graph.channel::<(u8, u32)>(name));
    let c = graph.channel::<u64>("c");
    let mut left = 2;
    graph.host("source").produces(&a).run(move |mut out| {
        out.emit((1, left));
        left -= 1;
        left > 0
    });
    graph
        .host("map")
        .consumes(&a)
        .produces(&b)
        .produces(&c)
        .run_emitting(|batch, (mut b, mut c)| {
            for x in batch {
                b.emit(*x);
                c.emit(u64::from(x.1) + 1);
            }
        });
    graph
        .host("b")
        .consumes(&b)
        .run(|_| Err::<(), _>("too many"));
    graph
        .host("c")
        .consumes(&c)
        .run(|batch: &[u64]| assert_eq!(batch, [3, 2]));
    assert_eq!(graph.check(), Ok(Vec::new()));

    let mut call = |name: &str, memory: &[u8], out: &mut [Vec<u8>]| {
        let key = graph
            .shared
            .lock()
            .find_kernel(name)
            .expect("a node of that name");
        graph.hosts.get_mut(&key).expect("its closure")(memory, out)
    };
    let mut made = [Vec::new()];
    assert_eq!(call("source", &[], &mut made), Ok(true));
    assert_eq!(call("source", &[], &mut made), Ok(false));
    let mut out = [Vec::new(), Vec::new()];
    assert_eq!(call("map", &made[0], &mut out), Ok(true));
    assert_eq!(
        host::values::<(u8, u32)>(&out[0]).collect::<Vec<_>>(),
        [(1, 2), (1, 1)]
    );
    assert_eq!(call("b", &out[0], &mut []), Err("too many".to_owned()));
    assert_eq!(call("c", &out[1], &mut []), Ok(true));
}

/// A struct of the name that a program's has.
#[derive(Clone, Copy)]
struct Pair(u64);

impl TaskValue for Pair {
    const SIZE: usize = 8;
    const ALIGN: usize = 8;

    fn read(memory: &[u8]) -> Self {
        Self(u64::read(memory))
    }

    fn write(&self, memory: &mut [u8]) {
        self.0.write(memory);
    }
}

static PAIRS: Program = Program::from_text(
    r#"program pairs in "pairs.rs" struct Pair(0: u32, 1: u64)
    kernel last(n: u32) takes %0 { let %0: u32 b0: return }"#,
);

#[test]
fn a_struct_that_is_not_the_programs_is_found() {
    let mut graph = Graph::new("g");
    let numbers = graph.channel::<u32>("numbers").input();
    let kernel: Kernel<u32> = Kernel::new(|| &PAIRS, "last");
    let _ = graph.kernel(kernel).consumes(&numbers);
    let pairs = graph.channel::<Pair>("pairs").input();
    graph.host("sink").consumes(&pairs).run(|_: &[Pair]| ());
    assert_eq!(
        graph.check().map_err(|e| e.to_string()),
        Err("the graph `g` cannot be run
  channel `pairs`: a `Pair` of the program `pairs` has 16 bytes, and here it has 8: it is another struct of that name"
            .to_owned())
    );
}
