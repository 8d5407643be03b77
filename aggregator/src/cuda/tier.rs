//! Two tiers of code. What takes the compiler long is compiled quickly at first, to slower machine code, so that a first run does not wait; the full code is
//! compiled in the background and runs from the next run on that begins when it is there. Of some texts it is known before that they take long; others are
//! waited for, and compiled quickly beside when that takes too long.
//!
//! Each is in the cache by its own options, so that one is never found where the other is looked for. A run has one code from its beginning to its end, with
//! what was asked of that code: how many of its blocks fit the GPU. Both kinds of programs, those of tasks and graphs, come here.

use super::compile::{Compiler, Text};
use crate::{error::RunError, gpus::CudaOptions, sync::Mutex};
use millstream_channels_kernel::cuda::nvrtc::{Compiled, How, Later};
use std::time::Duration;

impl CudaOptions {
    /// Whether a run may begin with code that was compiled quickly. Who asks for a timeline wants to see what runs take.
    pub(super) const fn may_be_quick(&self) -> bool {
        self.early && self.timeline().is_none()
    }
}

impl Text {
    /// Whether it is worth to be compiled twice. What is linked is not: it is compiled in the background anyway, unless somebody asked for it.
    fn is_slow(&self) -> bool {
        self.written.takes_long(self.source.len()) && self.how.linked.is_none()
    }
}

/// Which of the `missing` texts are to be compiled quickly at first, by their places: those that are known to be slow, and those that were so for an earlier
/// process, which left quick code of them.
fn quick_ones(texts: &[Text], missing: &[usize], is_left: impl Fn(&Text) -> bool) -> Vec<usize> {
    let wanted = |i: &usize| texts[*i].is_slow() || is_left(&texts[*i]);
    missing.iter().copied().filter(wanted).collect()
}

/// Texts whose code is quick, to be compiled in full.
#[derive(Debug, Default)]
pub(super) struct Rest(Vec<(String, How)>);

/// Who has waited so long for full code begins with code that is compiled quickly. No example's takes as long on 16 cores, programs of many tasks do; and one
/// text whose loops NVRTC unrolled many times took 6 s of one core in full and 0.5 quickly.
const PATIENCE: Duration = Duration::from_millis(2500);

impl Compiler<'_> {
    /// Compiles the `missing` texts in full, and says which of them take so `long` that nobody waits for them any more. These go on.
    fn late_ones(&self, texts: &[Text], missing: &[usize], long: Duration) -> Vec<usize> {
        let unlinked = |i: &usize| texts[*i].how.linked.is_none();
        let missing: Vec<usize> = missing.iter().copied().filter(unlinked).collect();
        // Where the system gives no threads for all of them, all are waited for.
        let begun = missing.iter().map(|&i| self.soon(&texts[i]).ok());
        let Some(begun) = begun.collect::<Option<Vec<Later>>>() else {
            return Vec::new();
        };
        self.wait(&begun, long);
        let both = missing.into_iter().zip(&begun);
        let late = both.filter(|(_, later)| !later.is_done());
        late.map(|(i, _)| i).collect()
    }

    /// Compiles what there has to be for a first run, those texts quickly for which that is worth it, if that `may_be`.
    ///
    /// # Errors
    /// The first of them that is refused.
    pub(super) fn first(
        &self,
        texts: Vec<Text>,
        may_be: bool,
    ) -> Result<(Vec<Compiled>, Rest), RunError> {
        let there = texts.iter().map(|text| self.there(&text.source, text.how));
        let there: Vec<Option<Compiled>> = there.collect();
        let missing: Vec<usize> = (0..texts.len()).filter(|i| there[*i].is_none()).collect();
        if missing.is_empty() {
            return Ok((there.into_iter().flatten().collect(), Rest::default()));
        }
        let mut quick = Vec::new();
        if may_be && self.nvrtc.is_quick() {
            quick = quick_ones(&texts, &missing, |text| {
                let how = How {
                    quick: true,
                    ..text.how
                };
                let left = self.nvrtc.cached(&text.source, self.arch, how);
                left.is_some()
            });
            if quick.is_empty() {
                quick = self.late_ones(&texts, &missing, PATIENCE);
            }
        }
        let mut texts: Vec<(String, How)> = texts.into_iter().map(|t| (t.source, t.how)).collect();
        let rest = Rest(quick.iter().map(|&i| texts[i].clone()).collect());
        for &i in &quick {
            texts[i].1.quick = true;
        }
        match self.all(&texts) {
            // What the compiler does not know to do quickly it may know to do.
            Err(RunError::Compile(why)) if !quick.is_empty() => {
                tracing::warn!(
                    program = self.name,
                    why,
                    "not compiled quickly: compiled in full"
                );
                for &i in &quick {
                    texts[i].1.quick = false;
                }
                Ok((self.all(&texts)?, Rest::default()))
            }
            made => Ok((made?, rest)),
        }
    }
}

impl Rest {
    /// Has it compiled in the background: not before all else is compiled that the first run waits for.
    pub(super) fn begin(self, compiler: &Compiler<'_>) -> Tier {
        if self.0.is_empty() {
            return Tier::default();
        }
        let later = self.0.into_iter().map(|text| compiler.later(text));
        let full = later.collect::<Result<Vec<_>, RunError>>();
        match &full {
            Ok(_) => tracing::info!(
                program = compiler.name,
                "compiled quickly; the full code is compiled in the background, and until it is there runs are slower"
            ),
            Err(error) => tracing::error!(
                program = compiler.name,
                %error,
                "compiled quickly; the full code will not be there"
            ),
        }
        Tier {
            is_quick: true,
            full: Mutex::new(full.unwrap_or_default()),
        }
    }
}

/// Which tier a loaded program is of. The default is the full one.
#[derive(Debug, Default)]
pub(super) struct Tier {
    is_quick: bool,
    /// The full code of what is quick, on its way.
    full: Mutex<Vec<Later>>,
}

impl Tier {
    /// Whether some of its code was compiled quickly.
    pub(super) const fn is_quick(&self) -> bool {
        self.is_quick
    }

    /// That of a program with another one beside it: it is outdone when both can be loaded in full.
    pub(super) fn with(self, other: &Self) -> Self {
        self.full.lock().extend(other.full.lock().iter().cloned());
        Self {
            is_quick: self.is_quick || other.is_quick,
            full: self.full,
        }
    }

    /// Whether the full code is there by now.
    pub(super) fn is_outdone(&self) -> bool {
        let full = self.full.lock();
        !full.is_empty() && full.iter().all(Later::is_good)
    }

    /// What a program is to be from now on, if its full code is there and it can be made of that. If it cannot, it stays as it is.
    ///
    /// # Errors
    /// If the device is lost.
    pub(super) fn renewed<T>(
        &self,
        program: &str,
        make: impl FnOnce() -> Result<T, RunError>,
    ) -> Result<Option<T>, RunError> {
        if !self.is_outdone() {
            return Ok(None);
        }
        match make() {
            Ok(new) => {
                tracing::info!(program, "the full code is there");
                Ok(Some(new))
            }
            Err(lost @ RunError::Lost(_)) => Err(lost),
            Err(error) => {
                tracing::error!(program, %error, "the full code cannot be loaded");
                self.full.lock().clear();
                Ok(None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test ends there")]

    use super::*;
    use crate::timeline::Observe;
    use millstream_channels_kernel::cuda::{
        Written,
        nvrtc::{self, Arch, NvrtcError},
    };
    use std::{
        sync::{LazyLock, OnceLock},
        time::{Instant, SystemTime},
    };

    fn text(written: Written, kib: usize) -> Text {
        Text {
            source: " ".repeat(kib << 10),
            how: How::default(),
            written,
        }
    }

    #[test]
    fn what_takes_long_is_compiled_quickly_at_first_unless_it_is_there() {
        use Written::{Graph, SharedOut, Tasks};
        let mut linked = text(SharedOut, 500);
        linked.how.linked = Some(64);
        let texts = [
            text(SharedOut, 100),
            text(SharedOut, 500),
            text(Graph, 80),
            text(Graph, 120),
            text(Tasks, 500),
            linked,
        ];
        let all = [0, 1, 2, 3, 4, 5];
        let none = |_: &Text| false;
        assert_eq!(quick_ones(&texts, &all, none), [1, 3]);
        assert_eq!(quick_ones(&texts, &[0, 1, 4], none), [1]);
        assert_eq!(quick_ones(&texts, &[], |_| true), [0; 0]);
        // What took long for an earlier process.
        let tasks = |text: &Text| text.written == Tasks;
        assert_eq!(quick_ones(&texts, &all, tasks), [1, 3, 4]);
        assert_eq!(quick_ones(&texts, &[0, 2, 4], tasks), [4]);
    }

    #[test]
    fn who_wants_to_wait_or_to_see_what_runs_take_gets_the_full_code() {
        let options = CudaOptions::default();
        assert!(options.may_be_quick());
        let late = CudaOptions {
            early: false,
            ..options
        };
        let timeline = CudaOptions {
            observe: Observe::Timeline(100),
            ..options
        };
        assert!(!late.may_be_quick() && !timeline.may_be_quick());
    }

    /// A text that is slow by its length, compiles soon, and is in no cache.
    fn long() -> Text {
        static NOW: LazyLock<SystemTime> = LazyLock::new(SystemTime::now);
        let now = NOW.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let mut text = text(Written::Graph, 120);
        text.source += &format!("// {}\n{BODY}", now.as_nanos());
        text
    }

    /// The quick way leaves its loop as it is.
    const BODY: &str = "extern \"C\" __global__ void it(int* a) { for (int i = 0; i < 8; i++) a[i] = i * a[i + 8]; }\n";

    /// A compiler, or none, which is said.
    fn compiler() -> Option<Compiler<'static>> {
        match nvrtc::find() {
            Ok(nvrtc) => Some(Compiler {
                nvrtc,
                arch: Arch(90),
                name: "it",
                waits: OnceLock::new(),
            }),
            Err(why) => {
                eprintln!("SKIPPED: {why}");
                None
            }
        }
    }

    #[test]
    fn the_full_code_comes_later_and_is_the_one_of_the_next_load() {
        let Some(compiler) = compiler() else { return };
        let is_quick = compiler.nvrtc.is_quick();
        let (code, rest) = compiler.first(vec![long()], true).unwrap();
        assert_eq!((code.len(), rest.0.len()), (1, usize::from(is_quick)));
        let tier = rest.begin(&compiler);
        assert_eq!(tier.is_quick(), is_quick);
        if !is_quick {
            return eprintln!("SKIPPED: NVRTC before 13 has no shorter way");
        }
        let start = Instant::now();
        while !tier.is_outdone() {
            assert!(start.elapsed() < Duration::from_secs(60), "{tier:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
        // In the cache on disk, or in memory where there is none.
        let load = || compiler.first(vec![long()], true);
        let (full, rest) = tier.renewed("it", load).unwrap().unwrap();
        assert!(rest.0.is_empty());
        let text = long();
        let whole = compiler
            .nvrtc
            .compile(&text.source, compiler.arch, text.how);
        assert_eq!(full[0].cubin, whole.unwrap().cubin);
        assert_ne!(full[0].cubin, code[0].cubin);
    }

    #[test]
    fn who_has_waited_long_begins_with_quick_code() {
        let Some(compiler) = compiler() else { return };
        let text = |kind: &str| {
            let mut text = long();
            text.written = Written::Tasks;
            text.source.push_str(kind);
            text
        };
        let both = [text("// one"), text("// another")];
        let late = |long| compiler.late_ones(&both, &[0], long);
        assert_eq!(late(Duration::ZERO), [0], "it was just begun");
        // The same one, which goes on.
        assert_eq!(late(Duration::from_secs(60)), [0; 0]);
        let found = |text: &Text| {
            let found = compiler.nvrtc.cached(&text.source, compiler.arch, text.how);
            found.is_some()
        };
        assert_eq!(both.each_ref().map(found), [true, false]);
        let mut linked = both;
        linked[1].how.linked = Some(64);
        let late = compiler.late_ones(&linked, &[1], Duration::ZERO);
        assert_eq!(late, [0; 0], "what is linked is waited for");
    }

    #[test]
    fn what_cannot_be_loaded_in_full_stays_as_it_is() {
        let Some(compiler) = compiler() else { return };
        let mut other = long();
        other.source.push_str("// of its own");
        let rest = Rest(vec![(other.source, other.how)]);
        let tier = rest.begin(&compiler).with(&Tier::default());
        while !tier.full.lock().iter().all(Later::is_done) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let lost = tier.renewed::<()>("it", || Err(RunError::Lost("it".into())));
        assert!(matches!(lost, Err(RunError::Lost(_))) && tier.is_outdone());
        let refused = tier.renewed::<()>("it", || Err(RunError::Device("no".into())));
        assert!(refused.unwrap().is_none());
        let again = tier.renewed::<()>("it", || panic!("it is not tried once more"));
        assert!(again.unwrap().is_none() && tier.is_quick());
    }

    #[test]
    fn what_is_wrong_is_said_by_the_full_compiler() {
        let Some(compiler) = compiler() else { return };
        let mut wrong = long();
        wrong.source.push_str("\nint x = y;");
        let error = compiler.first(vec![wrong], true).unwrap_err();
        assert!(error.to_string().contains("\"y\" is undefined"), "{error}");
        let full = Rest(vec![("int x = y;".into(), How::default())]).begin(&compiler);
        let later = full.full.lock()[0].clone();
        assert!(matches!(later.result(), Err(NvrtcError::Compile { .. })));
        assert!(!full.is_outdone(), "it has nothing to give way to");
    }
}
