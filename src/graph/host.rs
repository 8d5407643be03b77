//! Nodes of the host: closures that get a channel's elements in batches, or make elements.

use super::{ChannelRef, Graph};
use crate::TaskValue;
use millstream_aggregator::HostFn;
use millstream_graph::graph::KernelKey;
use std::{fmt, marker::PhantomData};

/// A node of the host that consumes nothing: a source, unless it is connected to what it [`consumes`](Self::consumes).
#[must_use = "a host node does nothing until it has a closure: `.run(..)`"]
pub struct HostSource<'g, 'a, Ports = ()> {
    graph: &'g mut Graph<'a>,
    key: KernelKey,
    ports: PhantomData<fn(Ports)>,
}

/// A node of the host that consumes a channel of elements of type `T`.
#[must_use = "a host node does nothing until it has a closure: `.run(..)`"]
pub struct HostNode<'g, 'a, T, Ports = ()> {
    graph: &'g mut Graph<'a>,
    key: KernelKey,
    types: PhantomData<fn(T, Ports)>,
}

/// What a host node emits into one of its channels.
pub struct Emit<'m, T> {
    memory: &'m mut Vec<u8>,
    element: PhantomData<fn(T)>,
}

impl<'m, T: TaskValue> Emit<'m, T> {
    const fn new(memory: &'m mut Vec<u8>) -> Self {
        Self {
            memory,
            element: PhantomData,
        }
    }

    /// Puts an element into the channel. A full channel holds the node back when its closure is done.
    pub fn emit(&mut self, element: T) {
        let at = self.memory.len();
        self.memory.resize(at + T::SIZE, 0);
        element.write(&mut self.memory[at..]);
    }
}

/// What a host node's closure gives back: nothing, or whether it went well.
pub trait Outcome {
    /// What was wrong, if anything.
    ///
    /// # Errors
    /// If something was; the run ends with it.
    fn outcome(self) -> Result<(), String>;
}

impl Outcome for () {
    fn outcome(self) -> Result<(), String> {
        Ok(())
    }
}

impl<E: fmt::Display> Outcome for Result<(), E> {
    fn outcome(self) -> Result<(), String> {
        self.map_err(|e| e.to_string())
    }
}

/// The elements of the channels that a host node emits into: `()`, `(A,)`, `(A, B)` and so on.
pub trait HostPorts {
    /// What its closure emits by: nothing, an [`Emit`], a tuple of them.
    type Emit<'m>;

    /// Emits to this memory, one for each port.
    #[doc(hidden)]
    fn emit(memory: &mut [Vec<u8>]) -> Self::Emit<'_>;
}

/// Ports with one more.
pub trait WithPort<T>: HostPorts {
    /// The ports with that one.
    type Ports: HostPorts;
}

impl HostPorts for () {
    type Emit<'m> = ();

    fn emit(_: &mut [Vec<u8>]) -> Self::Emit<'_> {}
}

impl<A: TaskValue> HostPorts for (A,) {
    type Emit<'m> = Emit<'m, A>;

    fn emit(memory: &mut [Vec<u8>]) -> Self::Emit<'_> {
        let [a, ..] = memory else {
            unreachable!("a run has memory for each port")
        };
        Emit::new(a)
    }
}

macro_rules! ports {
    ($(($($name:ident $memory:ident)*);)*) => {$(
        impl<$($name: TaskValue),*> HostPorts for ($($name,)*) {
            type Emit<'m> = ($(Emit<'m, $name>,)*);

            fn emit(memory: &mut [Vec<u8>]) -> Self::Emit<'_> {
                let [$($memory,)* ..] = memory else {
                    unreachable!("a run has memory for each port")
                };
                ($(Emit::<$name>::new($memory),)*)
            }
        }
    )*};
}

ports! {
    (A a B b);
    (A a B b C c);
    (A a B b C c D d);
}

macro_rules! with_port {
    ($(($($name:ident)*) $next:ident;)*) => {$(
        impl<$($name: TaskValue,)* $next: TaskValue> WithPort<$next> for ($($name,)*) {
            type Ports = ($($name,)* $next,);
        }
    )*};
}

with_port! {
    () A;
    (A) B;
    (A B) C;
    (A B C) D;
}

impl<'g, 'a> HostSource<'g, 'a> {
    pub(super) const fn new(graph: &'g mut Graph<'a>, key: KernelKey) -> Self {
        Self {
            graph,
            key,
            ports: PhantomData,
        }
    }

    /// Runs the closure on the elements of this channel.
    pub fn consumes<T: TaskValue>(self, channel: &ChannelRef<T>) -> HostNode<'g, 'a, T> {
        let channel = self.graph.connect(channel);
        self.graph.change(self.key, |k| k.consumes = Some(channel));
        HostNode {
            graph: self.graph,
            key: self.key,
            types: PhantomData,
        }
    }
}

impl<'g, 'a, Ports: HostPorts> HostSource<'g, 'a, Ports> {
    /// Lets the closure emit into this channel.
    pub fn produces<T>(self, channel: &ChannelRef<T>) -> HostSource<'g, 'a, Ports::Ports>
    where
        Ports: WithPort<T>,
    {
        let channel = self.graph.connect(channel);
        self.graph.change(self.key, |k| k.produces.push(channel));
        HostSource {
            graph: self.graph,
            key: self.key,
            ports: PhantomData,
        }
    }

    /// Makes elements by this closure, which is called until it says `false`: that there are no more.
    pub fn run<F>(self, mut closure: F)
    where
        F: for<'m> FnMut(Ports::Emit<'m>) -> bool + Send + 'a,
    {
        let call: HostFn<'a> = Box::new(move |_, out| Ok(closure(Ports::emit(out))));
        self.graph.hosts.insert(self.key, call);
    }
}

impl<'g, 'a, T: TaskValue, Ports: HostPorts> HostNode<'g, 'a, T, Ports> {
    /// Lets the closure emit into this channel.
    pub fn produces<U>(self, channel: &ChannelRef<U>) -> HostNode<'g, 'a, T, Ports::Ports>
    where
        Ports: WithPort<U>,
    {
        let channel = self.graph.connect(channel);
        self.graph.change(self.key, |k| k.produces.push(channel));
        HostNode {
            graph: self.graph,
            key: self.key,
            types: PhantomData,
        }
    }

    /// Runs this closure on the elements of the channel, a batch at a time. It gets by what it emits, if it does.
    pub fn run_emitting<F, R>(self, mut closure: F)
    where
        F: for<'m> FnMut(&[T], Ports::Emit<'m>) -> R + Send + 'a,
        R: Outcome,
    {
        let call: HostFn<'a> = Box::new(move |memory, out| {
            let batch: Vec<T> = values(memory).collect();
            closure(&batch, Ports::emit(out)).outcome()?;
            Ok(true)
        });
        self.graph.hosts.insert(self.key, call);
    }
}

impl<'a, T: TaskValue> HostNode<'_, 'a, T> {
    /// Runs this closure on the elements of the channel, a batch at a time.
    pub fn run<F, R>(self, mut closure: F)
    where
        F: FnMut(&[T]) -> R + Send + 'a,
        R: Outcome,
    {
        self.run_emitting(move |batch, ()| closure(batch));
    }
}

/// The values that lie one behind another in this memory.
pub(super) fn values<T: TaskValue>(memory: &[u8]) -> impl Iterator<Item = T> {
    memory.chunks_exact(T::SIZE.max(1)).map(T::read)
}

impl<Ports> fmt::Debug for HostSource<'_, '_, Ports> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HostSource").field(&self.key).finish()
    }
}

impl<T, Ports> fmt::Debug for HostNode<'_, '_, T, Ports> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HostNode").field(&self.key).finish()
    }
}

impl<T> fmt::Debug for Emit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Emit")
            .field("bytes", &self.memory.len())
            .finish()
    }
}
