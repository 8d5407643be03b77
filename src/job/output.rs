//! Files that a run writes: whole or not at all.

use super::{
    data::{Data, File},
    error::{Problem, Result},
    npy,
};
use millstream_graph::ty::Structs;
use std::{
    io::{self, BufWriter, Write},
    path::Path,
};
use tempfile::NamedTempFile;

/// What a file's name says about what is in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    /// `.npy`
    Npy,
    /// `.bin`
    Raw,
}

impl Format {
    pub(crate) fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "npy" => Some(Self::Npy),
            "bin" | "raw" => Some(Self::Raw),
            _ => None,
        }
    }

    /// The format of a file of a job, or the problem that its name says none.
    pub(crate) fn of_file(file: &File) -> Result<Self> {
        Self::of(&file.path).ok_or_else(|| {
            let problem = file.named_at.problem(format!("`{}` is neither a `.npy` nor a `.bin` file", file.path.display()), "here");
            problem.help("`.npy` is NumPy's format, `.bin` the bytes of the elements alone").into()
        })
    }
}

/// Whether a file can be written, asked before the run.
pub(crate) fn check(file: &File, data: &Data, structs: &Structs) -> Result<()> {
    let wrong = |why: String| file.named_at.problem(format!("cannot write `{}`: {why}", file.path.display()), "here").of_data();
    if Format::of_file(file)? == Format::Npy {
        npy::writable(&data.elem, structs).map_err(|p| wrong(p.to_string()).help("write them to a raw `.bin` file"))?;
    }
    let folder = folder(&file.path);
    if !folder.is_dir() {
        return Err(wrong(format!("there is no folder `{}`", folder.display())).help("make the folder first").into());
    }
    if file.path.is_dir() {
        return Err(wrong("it is a folder".into()).into());
    }
    Ok(())
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes files: each to a new file beside its place first, and when all are written they take their places.
pub(crate) fn write_all(files: &[(&File, &Data)]) -> Result<()> {
    let mut written = Vec::new();
    for (file, data) in files {
        let failed = |e: &dyn std::fmt::Display| Problem::new(format!("cannot write `{}`: {e}", file.path.display()));
        let temporary = write(file, data).map_err(|e| failed(&e))?;
        written.push((temporary, file));
    }
    for (temporary, file) in written {
        let failed = |e: &dyn std::fmt::Display| Problem::new(format!("cannot write `{}`: {e}", file.path.display()));
        temporary.persist(&file.path).map_err(|e| failed(&e.error))?;
        tracing::info!(file = %file.path.display(), "written");
    }
    Ok(())
}

fn write(file: &File, data: &Data) -> io::Result<NamedTempFile> {
    beside(&file.path, |out| match Format::of(&file.path) {
        Some(Format::Npy) => npy::write(out, data),
        _ => out.write_all(data.bytes()),
    })
}

/// Writes a file, whole or not at all.
///
/// # Errors
/// If it cannot be written; then what was there before still is.
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    beside(path, |out| out.write_all(bytes))?.persist(path).map_err(|e| e.error)?;
    Ok(())
}

/// A new file beside one that it will replace.
fn beside(path: &Path, write: impl FnOnce(&mut BufWriter<&mut std::fs::File>) -> io::Result<()>) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".millstream-");
    // Not for the owner's eyes alone, as temporary files are, but as any new file; or as the file that is replaced.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::metadata(path).map_or_else(|_| std::fs::Permissions::from_mode(0o666), |m| m.permissions()));
    }
    let mut temporary = builder.tempfile_in(folder(path))?;
    let mut out = BufWriter::new(temporary.as_file_mut());
    write(&mut out)?;
    out.flush()?;
    drop(out);
    temporary.as_file().sync_all()?;
    Ok(temporary)
}
