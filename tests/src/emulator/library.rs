//! A text of kernels as a library of this computer, and what was seen of its accesses.

use millstream_aggregator::RunError;
use std::{
    collections::BTreeMap,
    ffi::c_void,
    path::Path,
    process::Command,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

type SetSteps = unsafe extern "C" fn(u32);
type WatchMemory = unsafe extern "C" fn(u32, *const c_void, usize);
type RaceOfLaunch = unsafe extern "C" fn() -> *const Race;

/// As in `watch.h`.
#[repr(C)]
struct Race {
    places: [u64; 2],
    threads: [u32; 2],
    kinds: [u8; 2],
}

/// How a text is compiled.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Accesses {
    /// Threads go on from barrier to barrier, but for atomic operations.
    Unseen,
    /// Each access of memory that threads share is looked at (`watch.h`), and may be where another thread goes on.
    Watched,
}

/// Kernels, compiled.
#[derive(Debug)]
pub(super) struct Library {
    library: libloading::Library,
    /// If accesses are watched: the text, and the folder of its library, which knows its lines.
    lines: Option<(String, tempfile::TempDir)>,
}

/// The C++ compiler.
pub(super) fn compiler() -> String {
    std::env::var("CXX").unwrap_or_else(|_| "c++".into())
}

/// What a text became, if somebody has asked for it already.
type Compiled = Arc<OnceLock<Result<Vec<u8>, String>>>;

impl Library {
    /// Compiles a text behind `emulate.h`, unless this process has done so, and loads the library anew: each has a memory of its own.
    pub(super) fn new(text: &str, accesses: Accesses) -> Result<Self, String> {
        static KNOWN: Mutex<BTreeMap<String, Compiled>> = Mutex::new(BTreeMap::new());
        let watch = match accesses {
            Accesses::Unseen => "",
            Accesses::Watched => include_str!("watch.h"),
        };
        // Lines are those of the text.
        let text = text.replace("#line ", "// #line ");
        let text = format!("{watch}{}{text}", include_str!("emulate.h"));
        let compiled = {
            let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
            // Tests share small programs; thousands of random ones are of no use to anybody.
            if known.len() >= 100 {
                known.clear();
            }
            Arc::clone(known.entry(text.clone()).or_default())
        };
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let bytes = compiled.get_or_init(|| library_of(&text, accesses, folder.path()));
        let to = folder.path().join(OWN);
        std::fs::write(&to, bytes.as_ref()?).map_err(|e| e.to_string())?;
        // SAFETY: the library was made from such a text, and has no initialisers that ask anything.
        let library = unsafe { libloading::Library::new(&to) }.map_err(|e| e.to_string())?;
        let lines = (accesses == Accesses::Watched).then_some((text, folder));
        Ok(Self { library, lines })
    }

    /// Calls what the text has as this name.
    pub(super) fn door<T, R>(
        &self,
        name: &[u8],
        call: impl FnOnce(libloading::Symbol<'_, T>) -> R,
    ) -> R {
        // SAFETY: the texts define them with the types that their callers say.
        call(unsafe { self.library.get::<T>(name) }.expect("a door that every library has"))
    }

    /// An access is where another thread goes on once in so many times, if accesses are watched.
    pub(super) fn set_steps(&self, steps: u32) {
        if self.lines.is_some() {
            // SAFETY: `emulate.h` defines it so.
            self.door::<SetSteps, _>(b"set_steps", |set| unsafe { set(steps) });
        }
    }

    /// From now on accesses are watched here too: one of two places, by number.
    pub(super) fn watch_memory(&self, number: u32, begin: *const c_void, bytes: usize) {
        if self.lines.is_some() {
            self.door::<WatchMemory, _>(b"watch_memory", |watch| {
                // SAFETY: `watch.h` defines it so; nothing there is read before a kernel does.
                unsafe { watch(number, begin, bytes) }
            });
        }
    }

    /// What is wrong with a launch that ended while so many threads waited. Threads that wait for ever are a bug of the text, and so are races.
    pub(super) fn ended(&self, waiting: u32) -> Result<(), RunError> {
        if let Some((text, folder)) = &self.lines {
            // SAFETY: `watch.h` defines it so; it points to memory of the library.
            let race =
                self.door::<RaceOfLaunch, _>(b"race_of_launch", |race| unsafe { race().as_ref() });
            if let Some(race) = race {
                return Err(RunError::Device(described(
                    race,
                    text,
                    &folder.path().join(OWN),
                )));
            }
        }
        if waiting == 0 {
            return Ok(());
        }
        Err(RunError::Stuck {
            state: format!("{waiting} threads of a kernel wait for others that never come"),
        })
    }
}

/// The name of a library's own file.
const OWN: &str = "own.so";

/// A race, with the lines of the text.
fn described(race: &Race, text: &str, library: &Path) -> String {
    let one = |i: usize| {
        let does = match race.kinds[i] {
            b'r' => "reads",
            b'w' => "writes",
            _ => "does something atomic",
        };
        let lines = lines_of(race.places[i], text, library);
        format!("thread {} {does} at{lines}", race.threads[i])
    };
    format!("a race: {}\nand unordered with it {}", one(0), one(1))
}

/// The lines of the text that a place in its library was made of, the innermost function's first.
fn lines_of(place: u64, text: &str, library: &Path) -> String {
    // A call returns behind it.
    let place = format!("{:#x}", place.saturating_sub(1));
    let output = Command::new("addr2line")
        .args(["-s", "-i", "-e"])
        .args([library.as_os_str(), place.as_ref()])
        .output();
    let Ok(output) = output else {
        return format!(" {place} (there is no addr2line)");
    };
    let all: Vec<&str> = text.lines().collect();
    let line = |said: &str| {
        let number: usize = said.split(':').nth(1)?.split(' ').next()?.parse().ok()?;
        Some(format!("\n  {}", all.get(number.checked_sub(1)?)?.trim()))
    };
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    said.lines().filter_map(line).collect()
}

/// The library that the compiler makes of a text.
fn library_of(text: &str, accesses: Accesses, folder: &Path) -> Result<Vec<u8>, String> {
    let [from, object, to] = ["program.cpp", "program.o", "program.so"].map(|f| folder.join(f));
    std::fs::write(&from, text).map_err(|e| e.to_string())?;
    // The standard that NVRTC is told too; headers of later ones take longer to read. By `-Og` a text compiles in a fifth less time than by `-O1`, and its runs,
    // which are short, take no longer; by `-O0` they take longer by more than that saves. Some compilers fortify by themselves, and take a fiber that goes on for
    // a jump into a frame that is gone.
    let flags = "-std=c++17 -Og -fno-exceptions -fPIC -w -U_FORTIFY_SOURCE -fno-gnu-unique -fno-threadsafe-statics -fno-strict-aliasing -ffp-contract=off";
    let mut compile = Command::new(compiler());
    compile.args(flags.split(' '));
    match accesses {
        Accesses::Unseen => {
            compile.args(["-shared", "-o"]).args([&to, &from]);
            done(compile)?;
        }
        Accesses::Watched => {
            // Linked by itself: what accesses call is in `watch.h`, not in the compiler's library.
            compile.args(["-g1", "-fsanitize=thread", "-c", "-o"]);
            compile.args([&object, &from]);
            done(compile)?;
            let mut link = Command::new(compiler());
            link.args(["-shared", "-o"]).args([&to, &object]);
            done(link)?;
        }
    }
    std::fs::read(&to).map_err(|e| e.to_string())
}

/// Runs a compiler: what it says if it fails.
fn done(mut command: Command) -> Result<(), String> {
    let output = command
        .output()
        .map_err(|e| format!("{}: {e}", compiler()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{}: {said}", compiler()))
}
