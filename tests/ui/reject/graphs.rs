//! Graphs that are connected wrongly.

#[millstream::program]
mod parts {
    use std::sync::atomic::{AtomicU64, Ordering};

    #[derive(Clone, Copy)]
    pub struct Part {
        pub from: u32,
    }

    #[kernel]
    pub fn cut(part: Part, next: Channel<Part>, words: Channel<u32>, text: &[u8], total: &AtomicU64, most: u32) {
        if part.from < most && (part.from as usize) < text.len() {
            next.emit(Part { from: part.from + 1 });
            words.emit(part.from);
            total.fetch_add(1, Ordering::Relaxed);
        }
    }
}

use millstream::Graph;
use parts::{Part, kernel::cut};
use std::sync::atomic::AtomicU64;

fn consumes(graph: &mut Graph<'_>) {
    let numbers = graph.channel::<u32>("numbers");
    let _ = graph.kernel(cut).consumes(&numbers); //~ E0308
}

fn produces(graph: &mut Graph<'_>) {
    let parts = graph.channel::<Part>("parts");
    let numbers = graph.channel::<u32>("numbers");
    let _ = graph.kernel(cut).consumes(&parts).produces(&numbers); //~ E0308
    let _ = graph.kernel(cut).consumes(&parts).produces(&parts).produces(&parts); //~ E0308
    let _ = graph.kernel(cut).produces(&parts); //~ E0599
}

fn too_many(graph: &mut Graph<'_>) {
    let parts = graph.channel::<Part>("parts");
    let numbers = graph.channel::<u32>("numbers");
    let node = graph.kernel(cut).consumes(&parts).produces(&parts).produces(&numbers);
    let _ = node.produces(&numbers); //~ E0599
}

fn arguments<'a>(graph: &mut Graph<'a>, text: &'a [u8], total: &'a AtomicU64) {
    let parts = graph.channel::<Part>("parts");
    let _ = graph.kernel(cut).consumes(&parts).arg(total); //~ E0277
    let node = graph.kernel(cut).consumes(&parts).arg(text).arg(total);
    let node = node.arg(7);
    let _ = node.arg(8); //~ E0599
    let _ = graph.kernel(cut).consumes(&parts).arg(text).arg(total).arg(0.5f32); //~ E0308
}

fn sends(graph: &mut Graph<'_>) {
    let parts = graph.channel::<Part>("parts");
    graph.send(&parts, [1u32]); //~ E0271
}

fn host_nodes(graph: &mut Graph<'_>) {
    let parts = graph.channel::<Part>("parts");
    graph.host("sink").consumes(&parts).run(|batch: &[u32]| drop(batch.len())); //~ E0631
}

fn outlives() -> Graph<'static> {
    let (text, total) = (vec![0u8; 4], AtomicU64::new(0));
    let mut graph = Graph::new("g");
    let parts = graph.channel::<Part>("parts");
    let _ = graph.kernel(cut).consumes(&parts).arg(&text).arg(&total);
    graph //~ E0515
}

fn main() {}
