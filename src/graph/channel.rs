//! Channels as the builder hands them out.

use millstream_graph::graph::{
    Channel, ChannelKey, Graph as Model, Predicate, Protocol, Scope, WhenFull,
};
use std::{
    fmt,
    marker::PhantomData,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A graph's model, which its channels share with it.
#[derive(Clone)]
pub(super) struct Shared(Arc<Mutex<Model>>);

impl Shared {
    pub(super) fn new(model: Model) -> Self {
        Self(Arc::new(Mutex::new(model)))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Model> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A channel of a [`Graph`](super::Graph) whose elements are of type `T`. A clone is the same channel.
pub struct ChannelRef<T> {
    shared: Shared,
    key: ChannelKey,
    element: PhantomData<fn(T) -> T>,
}

impl<T> ChannelRef<T> {
    pub(super) const fn new(shared: Shared, key: ChannelKey) -> Self {
        Self {
            shared,
            key,
            element: PhantomData,
        }
    }

    /// With room for so many elements.
    #[must_use]
    pub fn width(self, elements: u32) -> Self {
        self.with(|c| c.width = elements)
    }

    /// With a done count for so many neighbouring elements.
    #[must_use]
    pub fn group(self, elements: u32) -> Self {
        self.with(|c| c.group = elements)
    }

    /// Dispatched when this says so.
    #[must_use]
    pub fn predicate(self, predicate: Predicate) -> Self {
        self.with(|c| c.predicate = predicate)
    }

    /// Dispatched before channels of lower priority.
    #[must_use]
    pub fn priority(self, priority: i32) -> Self {
        self.with(|c| c.priority = priority)
    }

    /// With this for a producer to do where there is no room.
    #[must_use]
    pub fn when_full(self, policy: WhenFull) -> Self {
        self.with(|c| c.full = policy)
    }

    /// Shared by these.
    #[must_use]
    pub fn scope(self, scope: Scope) -> Self {
        self.with(|c| c.scope = scope)
    }

    /// By this protocol.
    #[must_use]
    pub fn protocol(self, protocol: Protocol) -> Self {
        self.with(|c| c.protocol = protocol)
    }

    /// Fed from outside while the graph runs.
    #[must_use]
    pub fn input(self) -> Self {
        self.with(|c| c.input = true)
    }

    /// Drained from outside: no node consumes it.
    #[must_use]
    pub fn output(self) -> Self {
        self.with(|c| c.output = true)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> String {
        let model = self.shared.lock();
        model
            .channel(self.key)
            .map_or_else(String::new, |c| c.name.clone())
    }

    pub(super) const fn key(&self) -> ChannelKey {
        self.key
    }

    pub(super) const fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut Channel)) {
        if let Some(channel) = self.shared.lock().channel_mut(self.key) {
            change(channel);
        }
    }

    fn with(self, change: impl FnOnce(&mut Channel)) -> Self {
        self.change(change);
        self
    }
}

impl<T> Clone for ChannelRef<T> {
    fn clone(&self) -> Self {
        Self::new(self.shared.clone(), self.key)
    }
}

impl<T> fmt::Debug for ChannelRef<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ChannelRef").field(&self.name()).finish()
    }
}

/// The type as programs write it: Rust's name of it without the modules. A program's structs have names of their own, so that the
/// last part says which it is.
pub(super) fn element_name<T>() -> String {
    let full = std::any::type_name::<T>();
    let mut out = String::new();
    for part in full.split_inclusive(|c: char| !(c.is_alphanumeric() || "_:#".contains(c))) {
        out.push_str(part.rsplit("::").next().unwrap_or(part));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::element_name;

    struct Point;

    #[test]
    fn types_are_named_as_programs_do() {
        assert_eq!(element_name::<u32>(), "u32");
        assert_eq!(element_name::<Point>(), "Point");
        assert_eq!(element_name::<[Point; 3]>(), "[Point; 3]");
        assert_eq!(
            element_name::<(Point, [(f32, Point); 2])>(),
            "(Point, [(f32, Point); 2])"
        );
        assert_eq!(element_name::<(u8,)>(), "(u8,)");
    }
}
