//! A program as the attribute macro leaves it in a binary: text, until it is first used.

use millstream_graph::{ir, levelized::Levelized, text};
use std::{
    fmt,
    sync::{Arc, OnceLock},
};

/// A program of a `#[millstream::program]` module. It is lowered once in a process, when it is first used.
pub struct Program {
    text: &'static str,
    parsed: OnceLock<Arc<ir::Program>>,
    lowered: OnceLock<Arc<Levelized>>,
}

impl Program {
    /// The program of this text, which the macro wrote.
    #[doc(hidden)]
    #[must_use]
    pub const fn from_text(text: &'static str) -> Self {
        Self {
            text,
            parsed: OnceLock::new(),
            lowered: OnceLock::new(),
        }
    }

    /// Its IR in text form, as the front end built it.
    #[must_use]
    pub const fn text(&self) -> &'static str {
        self.text
    }

    /// Its IR, as the front end built it.
    ///
    /// # Panics
    /// Not for a program that the macro made: it was read once when the module was compiled.
    #[must_use]
    pub fn ir(&self) -> &Arc<ir::Program> {
        self.parsed.get_or_init(|| {
            let program = text::parse_program(self.text);
            Arc::new(
                program.unwrap_or_else(|e| panic!("the text of a program cannot be read: {e}")),
            )
        })
    }

    /// The levelized program that devices run.
    ///
    /// # Panics
    /// Not for a program that the macro made: it was read and lowered once when the module was compiled.
    #[must_use]
    pub fn levelized(&self) -> &Arc<Levelized> {
        self.lowered.get_or_init(|| {
            let lowered = millstream_cilk_lower::lower::lower(self.ir());
            Arc::new(lowered.unwrap_or_else(|e| panic!("{e}")))
        })
    }

    /// Its name: that of the module.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.ir().name
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self
            .levelized()
            .tasks()
            .map(|(_, t)| t.name.as_str())
            .collect::<Vec<_>>();
        f.debug_struct("Program")
            .field("name", &self.name())
            .field("tasks", &names)
            .finish_non_exhaustive()
    }
}
