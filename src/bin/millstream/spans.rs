//! What the command itself does around a run, for a trace: the spans of `tracing`.

use millstream::{timeline, trace::HostSpan};
use std::{
    sync::{Arc, Mutex, PoisonError},
    thread,
};
use tracing::{Subscriber, span};
use tracing_subscriber::{
    layer::{Context, Layer},
    registry::LookupSpan,
};

/// Spans that are kept at most: a run has some tens.
const MOST: usize = 1 << 16;

/// The spans that were entered and left, in the order in which they ended. A clone is the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spans(Arc<Mutex<Vec<HostSpan>>>);

/// When a span was entered.
struct Entered(u64);

impl Spans {
    /// All so far.
    pub(crate) fn all(&self) -> Vec<HostSpan> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl<S: Subscriber + for<'l> LookupSpan<'l>> Layer<S> for Spans {
    fn on_enter(&self, id: &span::Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            span.extensions_mut().replace(Entered(timeline::now()));
        }
    }

    fn on_exit(&self, id: &span::Id, context: Context<'_, S>) {
        let end = timeline::now();
        let Some(span) = context.span(id) else { return };
        let Some(Entered(begin)) = span.extensions_mut().remove() else {
            return;
        };
        let name = thread::current().name().unwrap_or("thread").to_owned();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < MOST {
            all.push(HostSpan {
                name: span.name().into(),
                thread: name,
                begin,
                end,
            });
        }
    }
}
