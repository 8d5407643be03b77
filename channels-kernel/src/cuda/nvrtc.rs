//! From CUDA C++ to a cubin, with the NVRTC library that is found. Neither a GPU, nor a driver, nor a toolkit is needed, and nothing here
//! panics where the library is missing.
//!
//! It is looked for, in this order:
//! 1. `MILLSTREAM_NVRTC`: the library, or the folder it lies in; nothing else is tried then.
//! 2. Where the system's loader looks, and `lib64` of `CUDA_PATH` and `CUDA_HOME`.
//! 3. The PyPI wheels `nvidia-cuda-nvrtc` and `nvidia-cuda-nvrtc-cu12`: `nvidia/cu13/lib` and `nvidia/cuda_nvrtc/lib` in the site-packages
//!    of `VIRTUAL_ENV`, of `CONDA_PREFIX`, of the user and of the system.

mod cache;
mod later;
mod messages;
mod over;

pub use cache::folder as cache_folder;
pub use later::{Later, leave};
pub use over::{hand_over, take_over};

use cache::Cache;
use libloading::Library;
use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    fmt, fs,
    path::{Path, PathBuf},
    sync::OnceLock,
    time::Instant,
};

/// The oldest NVRTC that knows the atomic built-ins of the generated code.
pub const OLDEST: (i32, i32) = (12, 8);

/// Why there is no NVRTC, or why it did not compile.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NvrtcError {
    /// No library.
    #[error("NVRTC was not found (looked at {}); `pip install nvidia-cuda-nvrtc` installs it, MILLSTREAM_NVRTC names one", places(.tried))]
    Missing {
        /// Where was looked.
        tried: Vec<PathBuf>,
    },
    /// The library lacks a function.
    #[error("{} is no NVRTC: it lacks {symbol}", .path.display())]
    Incomplete {
        /// The library.
        path: PathBuf,
        /// The function.
        symbol: &'static str,
    },
    /// It does not know what the generated code needs.
    #[error("NVRTC {}.{} at {} is too old: {}.{} is needed", .version.0, .version.1, .path.display(), OLDEST.0, OLDEST.1)]
    Old {
        /// The library.
        path: PathBuf,
        /// Its version.
        version: (i32, i32),
    },
    /// It rejects the text.
    #[error(
        "NVRTC: {message}\n{log}\nthat is a mistake of Millstream, not of the program: its GPU code does not compile"
    )]
    Compile {
        /// What it calls the error.
        message: String,
        /// Its messages, with the lines of the program's source.
        log: String,
    },
}

fn places(tried: &[PathBuf]) -> String {
    let shown: Vec<String> = tried
        .iter()
        .take(6)
        .map(|p| p.display().to_string())
        .collect();
    format!(
        "{}{}",
        shown.join(", "),
        if tried.len() > 6 { ", .." } else { "" }
    )
}

/// A GPU architecture: 90 is `sm_90`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Arch(pub u32);

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.0)
    }
}

type Program = *mut c_void;
type Code = c_int;
type SizeOf = unsafe extern "C" fn(Program, *mut usize) -> Code;
type Get = unsafe extern "C" fn(Program, *mut c_char) -> Code;

/// The library's functions. The library itself is never unloaded.
struct Functions {
    version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> Code,
    count_archs: unsafe extern "C" fn(*mut c_int) -> Code,
    archs: unsafe extern "C" fn(*mut c_int) -> Code,
    create: unsafe extern "C" fn(
        *mut Program,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> Code,
    destroy: unsafe extern "C" fn(*mut Program) -> Code,
    compile: unsafe extern "C" fn(Program, c_int, *const *const c_char) -> Code,
    log_size: SizeOf,
    log: Get,
    cubin_size: SizeOf,
    cubin: Get,
    ptx_size: SizeOf,
    ptx: Get,
    error: unsafe extern "C" fn(Code) -> *const c_char,
}

/// A loaded NVRTC.
pub struct Nvrtc {
    functions: Functions,
    path: PathBuf,
    version: (i32, i32),
}

impl fmt::Debug for Nvrtc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nvrtc")
            .field("path", &self.path)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// What came of a compilation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compiled {
    /// The machine code, an ELF file.
    pub cubin: Vec<u8>,
    /// What the compiler said; empty if it came from the cache.
    pub log: String,
}

/// Of a compiling thread: addresses, of which it takes as many as it goes deep.
const STACK_BYTES: usize = 256 << 20;

/// A thread to compile on: the library goes deeper into large programs than the stack of a thread that is not the first one has room for.
pub fn thread() -> std::thread::Builder {
    std::thread::Builder::new()
        .name("millstream-nvrtc".into())
        .stack_size(STACK_BYTES)
}

/// The NVRTC of this process: the first that is found.
///
/// # Errors
/// If there is none, or it is not usable.
pub fn find() -> Result<&'static Nvrtc, NvrtcError> {
    static FOUND: OnceLock<Result<Nvrtc, NvrtcError>> = OnceLock::new();
    FOUND
        .get_or_init(Nvrtc::load)
        .as_ref()
        .map_err(Clone::clone)
}

const NAMES: [&str; 3] = if cfg!(windows) {
    ["nvrtc64_130_0.dll", "nvrtc64_120_0.dll", "nvrtc64.dll"]
} else {
    ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"]
};

/// Every place to try, in order. A bare name is left to the system's loader.
fn candidates() -> Vec<PathBuf> {
    let in_folder = |folder: &Path| {
        NAMES
            .iter()
            .map(|n| folder.join(n))
            .filter(|p| p.exists())
            .collect::<Vec<_>>()
    };
    if let Some(given) = std::env::var_os("MILLSTREAM_NVRTC").filter(|v| !v.is_empty()) {
        let given = PathBuf::from(given);
        return if given.is_dir() {
            in_folder(&given)
        } else {
            vec![given]
        };
    }
    let mut out: Vec<PathBuf> = NAMES.iter().map(PathBuf::from).collect();
    for root in ["CUDA_PATH", "CUDA_HOME"]
        .iter()
        .filter_map(std::env::var_os)
    {
        out.extend(in_folder(&Path::new(&root).join("lib64")));
    }
    for packages in site_packages() {
        for wheel in ["nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"] {
            out.extend(in_folder(&packages.join(wheel)));
        }
    }
    out
}

fn site_packages() -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> = ["VIRTUAL_ENV", "CONDA_PREFIX"]
        .iter()
        .filter_map(std::env::var_os)
        .map(PathBuf::from)
        .collect();
    roots.extend(std::env::var_os("HOME").map(|h| PathBuf::from(h).join(".local")));
    roots.extend(["/usr/local", "/usr"].map(PathBuf::from));
    let mut out = Vec::new();
    for root in roots {
        let Ok(entries) = fs::read_dir(root.join("lib")) else {
            continue;
        };
        let mut pythons: Vec<PathBuf> = entries
            .flatten()
            .map(|e| e.path())
            .filter(|p| {
                p.file_name()
                    .is_some_and(|n| n.to_string_lossy().starts_with("python3"))
            })
            .collect();
        pythons.sort();
        out.extend(
            pythons
                .iter()
                .flat_map(|p| [p.join("site-packages"), p.join("dist-packages")]),
        );
    }
    out
}

/// Opens a library. The builtins that lie beside it are opened first and for all, because the wheel's library does not say where to look.
fn open(path: &Path) -> Option<Library> {
    #[cfg(unix)]
    if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty())
        && let Ok(entries) = fs::read_dir(folder)
    {
        use libloading::os::unix::{Library as Unix, RTLD_GLOBAL, RTLD_NOW};
        for entry in entries.flatten().filter(|e| {
            e.file_name()
                .to_string_lossy()
                .starts_with("libnvrtc-builtins.so")
        }) {
            // SAFETY: NVIDIA's library of builtins has no initialisers that ask anything of us.
            if let Ok(library) = unsafe { Unix::open(Some(entry.path()), RTLD_NOW | RTLD_GLOBAL) } {
                std::mem::forget(library);
            }
        }
    }
    // SAFETY: NVRTC's initialisers ask nothing of us.
    unsafe { Library::new(path) }.ok()
}

impl Nvrtc {
    fn load() -> Result<Self, NvrtcError> {
        let tried = candidates();
        let Some((path, library)) = tried.iter().find_map(|p| open(p).map(|l| (p.clone(), l)))
        else {
            return Err(NvrtcError::Missing { tried });
        };
        let functions = Functions::load(&library).map_err(|symbol| NvrtcError::Incomplete {
            path: path.clone(),
            symbol,
        })?;
        // The functions are used until the process ends.
        std::mem::forget(library);
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both are valid for a write.
        unsafe { (functions.version)(&raw mut major, &raw mut minor) };
        let version = (major, minor);
        if version < OLDEST {
            Err(NvrtcError::Old { path, version })
        } else {
            Ok(Self {
                functions,
                path,
                version,
            })
        }
    }

    /// Where it lies; a bare name if the system's loader found it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Major and minor version.
    #[must_use]
    pub const fn version(&self) -> (i32, i32) {
        self.version
    }

    /// Whether it can be told to compile sooner, to slower machine code.
    #[must_use]
    pub const fn is_quick(&self) -> bool {
        self.version.0 >= 13
    }

    /// The architectures it compiles for.
    #[must_use]
    pub fn archs(&self) -> Vec<Arch> {
        let mut count = 0;
        // SAFETY: valid for a write.
        if unsafe { (self.functions.count_archs)(&raw mut count) } != 0 {
            return Vec::new();
        }
        let mut archs = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: as long as the library said.
        unsafe { (self.functions.archs)(archs.as_mut_ptr()) };
        archs.into_iter().map(|a| Arch(a as u32)).collect()
    }

    /// Compiles, warnings as errors.
    ///
    /// # Errors
    /// If the compiler rejects the text.
    pub fn compile(&self, source: &str, arch: Arch, how: How) -> Result<Compiled, NvrtcError> {
        let (cubin, log) = self.build(
            source,
            &self.options(arch, how),
            (self.functions.cubin_size, self.functions.cubin),
        )?;
        Ok(Compiled { cubin, log })
    }

    /// What the compiler says of a text without making machine code of it, which takes four fifths of the time and more: templates are
    /// instantiated and what is asserted of them is tested. Warnings are errors.
    ///
    /// # Errors
    /// If the compiler rejects the text.
    pub fn read(&self, source: &str, arch: Arch, how: How) -> Result<(), NvrtcError> {
        let mut options = self.options(arch, how);
        options.push("--fdevice-syntax-only".into());
        let none = (self.functions.cubin_size, self.functions.cubin);
        self.build(source, &options, none).map(|_| ())
    }

    /// The same as text in PTX, for who wants to read it.
    ///
    /// # Errors
    /// If the compiler rejects the text.
    pub fn ptx(&self, source: &str, arch: Arch, how: How) -> Result<String, NvrtcError> {
        let (ptx, _) = self.build(
            source,
            &self.options(arch, how),
            (self.functions.ptx_size, self.functions.ptx),
        )?;
        Ok(String::from_utf8_lossy(&ptx)
            .trim_end_matches('\0')
            .to_owned())
    }

    /// Compiles and gets what `get` gives of the program, and the compiler's messages.
    fn build(
        &self,
        source: &str,
        options: &[String],
        get: (SizeOf, Get),
    ) -> Result<(Vec<u8>, String), NvrtcError> {
        let text = CString::new(source)
            .map_err(|_| self.failure(0, "the text holds a zero byte".into()))?;
        let mut program: Program = std::ptr::null_mut();
        // SAFETY: the text is a C string, and there are no headers.
        let code = unsafe {
            (self.functions.create)(
                &raw mut program,
                text.as_ptr(),
                c"generated.cu".as_ptr(),
                0,
                std::ptr::null(),
                std::ptr::null(),
            )
        };
        if code != 0 {
            return Err(self.failure(code, String::new()));
        }
        let owned: Vec<CString> = options
            .iter()
            .filter_map(|o| CString::new(o.as_str()).ok())
            .collect();
        let pointers: Vec<*const c_char> = owned.iter().map(|o| o.as_ptr()).collect();
        // SAFETY: the program was created above; the options are as many C strings as it is told.
        let code = unsafe {
            (self.functions.compile)(program, pointers.len() as c_int, pointers.as_ptr())
        };
        // SAFETY: the sizes and texts are those of this program.
        let log = unsafe { self.bytes(program, self.functions.log_size, self.functions.log) };
        let log = String::from_utf8_lossy(&log)
            .trim_end_matches(['\0', '\n', ' '])
            .to_owned();
        // NVRTC has no option for it.
        let warned = log.lines().any(|line| {
            line.contains(": warning")
                || line.contains("ptxas warning")
                || line.contains("warning #")
        });
        let result = if code == 0 && warned {
            Err(NvrtcError::Compile {
                message: "a warning".into(),
                log: messages::explain(&log, source),
            })
        } else if code == 0 {
            // SAFETY: as above; it has been compiled.
            Ok((unsafe { self.bytes(program, get.0, get.1) }, log))
        } else {
            Err(self.failure(code, messages::explain(&log, source)))
        };
        // SAFETY: created above, and not used any more.
        unsafe { (self.functions.destroy)(&raw mut program) };
        result
    }

    /// The same through the cache on disk: keyed by text, options, architecture and the compiler's version. A cache that cannot be used is not
    /// an error.
    ///
    /// # Errors
    /// If the compiler rejects the text.
    pub fn compile_cached(
        &self,
        source: &str,
        arch: Arch,
        how: How,
    ) -> Result<Compiled, NvrtcError> {
        self.compile_and_put(source, arch, how)
            .map(|(compiled, _)| compiled)
    }

    /// The same, and whether the cache on disk has it now.
    fn compile_and_put(
        &self,
        source: &str,
        arch: Arch,
        how: How,
    ) -> Result<(Compiled, bool), NvrtcError> {
        let (key, cache) = (self.key(source, arch, how), Cache::of_user());
        if let Some(compiled) = cache.as_ref().and_then(|cache| found(cache, key)) {
            return Ok((compiled, true));
        }
        if let Some(compiled) = later::in_memory(key) {
            return Ok((compiled, false));
        }
        let start = Instant::now();
        let compiled = self.compile(source, arch, how)?;
        tracing::debug!(%arch, bytes = source.len(), cubin = compiled.cubin.len(), took = ?start.elapsed(), "compiled");
        let Some(cache) = cache else {
            return Ok((compiled, false));
        };
        let put = cache.put(key, &compiled.cubin);
        if let Err(error) = &put {
            tracing::debug!(%error, "cubin not cached");
        }
        Ok((compiled, put.is_ok()))
    }

    /// What there is of a text: in the cache on disk, or in memory as it was compiled in the background.
    #[must_use]
    pub fn cached(&self, source: &str, arch: Arch, how: How) -> Option<Compiled> {
        let key = self.key(source, arch, how);
        let on_disk = Cache::of_user().and_then(|cache| found(&cache, key));
        on_disk.or_else(|| later::in_memory(key))
    }

    fn key(&self, source: &str, arch: Arch, how: How) -> u128 {
        let version = format!("{}.{}", self.version.0, self.version.1);
        let mut parts = vec![source.to_owned(), version];
        parts.extend(self.options(arch, how));
        cache::key(&parts)
    }

    /// No contraction unless it is asked for: floats are to have the same bits as on the CPU. The fast options are given one by one, for
    /// their order decides.
    fn options(&self, arch: Arch, how: How) -> Vec<String> {
        let mut out: Vec<String> = vec![
            format!("--gpu-architecture={arch}"),
            "--std=c++17".into(),
            "--ptxas-options=-v".into(),
            "--ptxas-options=--suppress-stack-size-warning".into(),
            // What a program says with constants is its own affair, checked where Rust would: division by zero and its remainder, results and shifts out of
            // range, unsigned numbers that are no less than 0. And where a body only counts its pushes, what it loads is left out (549).
            "--diag-suppress=39,61,62,63,179,186,549".into(),
        ];
        let math: &[&str] = if how.fast_math {
            &["--use_fast_math"]
        } else {
            &[
                "--fmad=false",
                "--ftz=false",
                "--prec-div=true",
                "--prec-sqrt=true",
            ]
        };
        out.extend(math.iter().map(|o| (*o).to_owned()));
        if let Some(registers) = how.linked {
            out.push("--relocatable-device-code=true".into());
            out.push(format!("--maxrregcount={registers}"));
        }
        // Nobody profiles what is only checked, and without it twice as much of that finds room in the cache.
        if !how.check {
            out.push("--generate-line-info".into());
        }
        // `mid` refuses valid programs for sm_120 (NVRTC 13.5). What somebody waits for has all cores where it has several functions: a quarter less on two.
        match how {
            How { check: true, .. } if self.is_quick() => out.push("--Ofast-compile=max".into()),
            How { quick: true, .. } if self.is_quick() => {
                out.extend(["--Ofast-compile=min", "--split-compile=0"].map(str::to_owned));
            }
            _ => {}
        }
        out
    }

    fn failure(&self, code: Code, log: String) -> NvrtcError {
        // SAFETY: the library answers with a static string for every code.
        let message = unsafe { CStr::from_ptr((self.functions.error)(code)) }
            .to_string_lossy()
            .into_owned();
        NvrtcError::Compile { message, log }
    }

    /// # Safety
    /// `size` and `get` are a pair of the library's functions, and the program is alive.
    unsafe fn bytes(&self, program: Program, size: SizeOf, get: Get) -> Vec<u8> {
        let mut length = 0usize;
        // SAFETY: the caller's promise.
        if unsafe { size(program, &raw mut length) } != 0 {
            return Vec::new();
        }
        let mut out = vec![0u8; length];
        // SAFETY: as long as the library said.
        unsafe { get(program, out.as_mut_ptr().cast()) };
        out
    }
}

/// What the cache has of a key.
fn found(cache: &Cache, key: u128) -> Option<Compiled> {
    cache.get(key).map(|cubin| Compiled {
        cubin,
        log: String::new(),
    })
}

/// How a text is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct How {
    /// Floats may be contracted, and less exact.
    pub fast_math: bool,
    /// Only to see whether it compiles: sooner, where the compiler knows how, and to slower machine code.
    pub check: bool,
    /// To be linked with others, each function with so many registers at most.
    pub linked: Option<u32>,
    /// To be run until code is there that was compiled without it: in 0.3 to 0.6 of the time, where the compiler [knows how](Nvrtc::is_quick), and to
    /// machine code that runs up to 1.6 times as long.
    pub quick: bool,
}

impl Functions {
    fn load(library: &Library) -> Result<Self, &'static str> {
        macro_rules! get {
            ($name:literal) => {
                // SAFETY: NVRTC declares the function with this type.
                *unsafe { library.get($name.as_bytes()) }.map_err(|_| $name)?
            };
        }
        Ok(Self {
            version: get!("nvrtcVersion"),
            count_archs: get!("nvrtcGetNumSupportedArchs"),
            archs: get!("nvrtcGetSupportedArchs"),
            create: get!("nvrtcCreateProgram"),
            destroy: get!("nvrtcDestroyProgram"),
            compile: get!("nvrtcCompileProgram"),
            log_size: get!("nvrtcGetProgramLogSize"),
            log: get!("nvrtcGetProgramLog"),
            cubin_size: get!("nvrtcGetCUBINSize"),
            cubin: get!("nvrtcGetCUBIN"),
            ptx_size: get!("nvrtcGetPTXSize"),
            ptx: get!("nvrtcGetPTX"),
            error: get!("nvrtcGetErrorString"),
        })
    }
}
