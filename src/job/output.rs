//! Files that a run writes: whole or not at all.

use super::{
    data::{self, Data, File},
    error::{Problem, Result},
    npy,
};
use millstream_graph::ty::{Scalar, Structs};
use std::{
    fs,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

/// What a file's name says about what is in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    /// `.npy`
    Npy,
    /// `.bin`
    Raw,
    /// `.png`
    Png,
}

impl Format {
    pub(crate) fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "npy" => Some(Self::Npy),
            "bin" | "raw" => Some(Self::Raw),
            "png" => Some(Self::Png),
            _ => None,
        }
    }

    /// The format of a file of a job, or the problem that its name says none.
    pub(crate) fn of_file(file: &File) -> Result<Self> {
        // A device or a pipe is given the bytes, whatever its name.
        let through = is_written_through(&file.path).then_some(Self::Raw);
        Self::of(&file.path).or(through).ok_or_else(|| {
            let problem = file.named_at.problem(
                format!(
                    "`{}` is neither a `.npy` nor a `.bin` file, nor a `.png` file to write",
                    file.path.display()
                ),
                "here",
            );
            problem
                .help("`.npy` is NumPy's format, `.bin` the bytes of the elements alone, `.png` a picture")
                .into()
        })
    }
}

/// Whether a file can be written, asked before the run.
pub(crate) fn check(file: &File, data: &Data, structs: &Structs) -> Result<()> {
    let wrong = |why: String| {
        file.named_at
            .problem(
                format!("cannot write `{}`: {why}", file.path.display()),
                "here",
            )
            .of_data()
    };
    match Format::of_file(file)? {
        Format::Npy => npy::writable(&data.elem, structs)
            .map_err(|p| wrong(p.to_string()).help("write them to a raw `.bin` file"))?,
        Format::Png => picture(data).map(drop).ok_or_else(|| {
            let elem = data.elem.display(structs);
            wrong(format!("it is of {:?} x `{elem}`", data.shape))
                .help("a picture is a buffer of `[ROWS, COLUMNS]` x `u32`, each pixel `0xRRGGBB`")
        })?,
        Format::Raw => {}
    }
    if let Some(why) = lacks_folder(&file.path) {
        return Err(wrong(why).help("make the folder first").into());
    }
    if file.path.is_dir() {
        return Err(wrong("it is a folder".into()).into());
    }
    Ok(())
}

/// Width, height and pixels of a buffer that can be a picture.
fn picture(data: &Data) -> Option<(u32, u32, Vec<u32>)> {
    let [height, width] = data.shape[..] else {
        return None;
    };
    // The format has 31 bits for each.
    let size = |n: u64| u32::try_from(n).ok().filter(|n| (1..1 << 31).contains(n));
    let pixels = (data::scalar(&data.elem)? == Scalar::U32).then(|| {
        let words = data.bytes().chunks_exact(4);
        words
            .map(|w| u32::from_ne_bytes([w[0], w[1], w[2], w[3]]))
            .collect()
    });
    Some((size(width)?, size(height)?, pixels?))
}

/// Whether there is a device or a pipe, which is written to rather than replaced.
pub(crate) fn is_written_through(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir())
}

fn folder(path: &Path) -> &Path {
    path.parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Why nothing can be written there, if its folder is missing.
fn lacks_folder(path: &Path) -> Option<String> {
    let folder = folder(path);
    (!folder.is_dir()).then(|| format!("there is no folder `{}`", folder.display()))
}

/// Writes files: each to a new file beside its place first, and when all are written they take their places.
pub(crate) fn write_all(files: &[(&File, &Data)]) -> Result<()> {
    let failed = |file: &File, e: &dyn std::fmt::Display| {
        Problem::new(format!("cannot write `{}`: {e}", file.path.display()))
    };
    let mut written = Vec::new();
    for (file, data) in files {
        let contents = |out: &mut dyn Write| match Format::of(&file.path) {
            Some(Format::Npy) => npy::write(out, data),
            Some(Format::Png) => match picture(data) {
                Some((width, height, pixels)) => {
                    out.write_all(&crate::image::png(width, height, &pixels)?)
                }
                None => Err(io::Error::other("it is no picture")),
            },
            _ => out.write_all(data.bytes()),
        };
        written.push((
            *file,
            Written::new(&file.path, contents).map_err(|e| failed(file, &e))?,
        ));
    }
    for (file, contents) in written {
        contents.place().map_err(|e| failed(file, &e))?;
        tracing::info!(file = %file.path.display(), "written");
    }
    Ok(())
}

/// Writes a file, whole or not at all.
///
/// # Errors
/// If it cannot be written; then what was there before still is.
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_file_by(path, |out| out.write_all(bytes))
}

/// Writes a file that is made while it is written, whole or not at all.
///
/// # Errors
/// As [`write_file`].
pub fn write_file_by(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    Written::new(path, write)?.place()
}

/// Whether a file can be written there: nothing is left behind.
///
/// # Errors
/// If it cannot.
pub fn check_place(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        _ => Written::new(path, |_| Ok(())).map(drop),
    }
}

/// What was written but is not in its place yet.
enum Written {
    /// A new file beside the one that it replaces.
    Beside(NamedTempFile, PathBuf),
    /// For a device or a pipe, such as `/dev/null`: another file in its place would not be it.
    Through(PathBuf, Vec<u8>),
}

impl Written {
    fn new(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Self> {
        let there = fs::metadata(path).ok();
        if there.as_ref().is_some_and(|m| !m.is_file()) {
            let mut contents = Vec::new();
            write(&mut contents)?;
            return Ok(Self::Through(path.to_path_buf(), contents));
        }
        // A link stays, and what it leads to is replaced.
        let place = match path.read_link() {
            Ok(_) if there.is_some() => path.canonicalize()?,
            Ok(to) => folder(path).join(to),
            Err(_) => path.to_path_buf(),
        };
        if let Some(why) = lacks_folder(&place) {
            // Otherwise the error would name a file that nobody asked for.
            return Err(io::Error::new(io::ErrorKind::NotFound, why));
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".millstream-");
        // Not for the owner's eyes alone, as temporary files are, but as any new file; or as the file that is replaced.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(
                there.map_or_else(|| fs::Permissions::from_mode(0o666), |m| m.permissions()),
            );
        }
        let mut temporary = builder.tempfile_in(folder(&place))?;
        let mut out = BufWriter::new(temporary.as_file_mut());
        write(&mut out)?;
        out.flush()?;
        drop(out);
        temporary.as_file().sync_all()?;
        Ok(Self::Beside(temporary, place))
    }

    fn place(self) -> io::Result<()> {
        match self {
            Self::Beside(temporary, place) => {
                temporary.persist(place).map(drop).map_err(|e| e.error)
            }
            Self::Through(path, contents) => fs::OpenOptions::new()
                .write(true)
                .open(path)?
                .write_all(&contents),
        }
    }
}
