//! A folder with programs, and the command in it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};
#[cfg(unix)]
use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, ChildStderr, Stdio},
};
use tempfile::TempDir;

pub(crate) const SORT: &str = "#[millstream::program]
mod sort {
    /// Merge sort; the halves are children.
    #[task]
    pub fn sort(data: &mut [i32], tmp: &mut [i32]) {
        if data.len() < 2 {
            return;
        }
        let mid = data.len() / 2;
        {
            let (a, b) = data.split_at_mut(mid);
            let (ta, tb) = tmp.split_at_mut(mid);
            spawn!(sort(a, ta));
            spawn!(sort(b, tb));
            sync!();
        }
        let (mut i, mut j) = (0, mid);
        for k in 0..data.len() {
            if j >= data.len() || (i < mid && data[i] <= data[j]) {
                tmp[k] = data[i];
                i += 1;
            } else {
                tmp[k] = data[j];
                j += 1;
            }
        }
        data.copy_from_slice(tmp);
    }
}
";

pub(crate) const MISC: &str = "#[millstream::program(checked)]
mod misc {
    #[derive(Clone, Copy)]
    pub struct P { x: f32, on: bool }
    #[derive(Clone, Copy)]
    pub struct Pair(u8, i64);
    fn helper(x: u32) -> u32 { x + 1 }
    #[task]
    pub fn shapes(p: P, q: Pair, t: (u8, bool), a: [i16; 3]) -> (f32, [i16; 3], Pair, P) {
        (p.x, a, q, P { x: -p.x, on: !p.on })
    }
    #[task]
    pub fn add(a: u8, b: u8) -> u8 { a + b }
    #[task]
    pub fn div(a: i32, b: i32) -> i32 { a / b }
    #[task]
    pub fn at(data: &[f64], i: usize) -> f64 { data[i] }
    #[task]
    pub fn scale(mut m: MatMut<f32>, by: f32) {
        for i in 0..m.rows() { for j in 0..m.cols() { m[(i, j)] = m[(i, j)] * by; } }
    }
    #[task]
    pub fn tally(counts: &[AtomicU32], n: u32) { for i in 0..n { counts[(i % 3) as usize].fetch_add(i, Ordering::Relaxed); } }
    #[task]
    pub fn put(out: &mut u64, v: u64) { *out = v; }
    #[task]
    pub fn points(ps: &mut [P]) { for p in ps.iter_mut() { p.x = p.x + 1.0; } }
    #[task]
    pub fn pairs(a: &mut [[f32; 2]]) -> usize { for r in a.iter_mut() { r.swap(0, 1); } a.len() }
    #[task]
    pub fn forever(n: u64) -> u64 { let x = spawn!(forever(n + 1)); sync!(); x }
    #[task]
    pub fn limits(f: f64, u: u64, i: i64) -> (f64, u64, i64) { (f, u, i) }
}
";

pub(crate) const FIB: &str = "#[millstream::program]
mod fib {
    #[task]
    pub fn fib(n: u32) -> u64 {
        if n < 2 { return n as u64; }
        let x = spawn!(fib(n - 1));
        let y = spawn!(fib(n - 2));
        sync!();
        x + y
    }
}
";

/// A folder of its own for a test.
pub(crate) struct Folder(TempDir);

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    /// Runs of white space and the frame of the drawing are one space, so that a line's width does not matter.
    pub(crate) err: String,
}

impl Folder {
    /// With the programs of these tests.
    pub(crate) fn new() -> Self {
        let this = Self(TempDir::new().unwrap());
        for (name, text) in [("sort.rs", SORT), ("misc.rs", MISC), ("fib.rs", FIB)] {
            this.write(name, text);
        }
        this
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The names of the files, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.0.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Runs the command in the folder.
    pub(crate) fn run(&self, args: &[&str]) -> Ended {
        ended(&command(self.0.path()).args(args).output().unwrap())
    }

    /// Runs it, expects it to succeed and gives what it printed.
    pub(crate) fn good(&self, args: &[&str]) -> String {
        let ended = self.run(args);
        assert_eq!(ended.code, Some(0), "{args:?}: {}", ended.err);
        ended.out
    }

    /// Runs it, expects this exit code, each of these texts in its message, and that it neither panicked nor left a file.
    pub(crate) fn bad(&self, code: i32, args: &[&str], says: &[&str]) {
        let before = self.files();
        let ended = self.run(args);
        assert_eq!(
            ended.code,
            Some(code),
            "{args:?}: {} {}",
            ended.out,
            ended.err
        );
        for text in says {
            assert!(
                ended.err.contains(text),
                "{args:?} should say `{text}`, but says: {}",
                ended.err
            );
        }
        assert!(!ended.err.contains("panicked"), "{}", ended.err);
        assert_eq!(self.files(), before, "{args:?} left a file");
    }
}

pub(crate) fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_millstream"));
    command
        .current_dir(folder)
        .env("COLUMNS", "160")
        .env_remove("MILLSTREAM_LOG");
    command
}

/// A command whose run has begun, and which Ctrl-C asks to stop from now on.
#[cfg(unix)]
pub(crate) struct Running {
    child: Child,
    err: BufReader<ChildStderr>,
    said: String,
}

#[cfg(unix)]
impl Running {
    pub(crate) fn new(folder: &Folder, args: &[&str]) -> Self {
        let mut command = command(&folder.path(""));
        let (out, err) = (Stdio::piped(), Stdio::piped());
        let command = command.args(args).arg("-v").stdout(out).stderr(err);
        let mut child = command.spawn().unwrap();
        let mut err = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains("running call=") {
            let more = err.read_line(&mut said).unwrap();
            assert!(more > 0, "it ended before: {said}");
        }
        Self { child, err, said }
    }

    /// Asks it to stop, or has it killed; it may be gone.
    pub(crate) fn signal(&self, which: &str) {
        let pid = self.child.id().to_string();
        let kill = Command::new("kill").args([which, &pid]).output();
        kill.unwrap();
    }

    pub(crate) fn is_over(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    pub(crate) fn end(mut self) -> Ended {
        self.err.read_to_string(&mut self.said).unwrap();
        let mut output = self.child.wait_with_output().unwrap();
        output.stderr = self.said.into_bytes();
        ended(&output)
    }
}

pub(crate) fn ended(output: &Output) -> Ended {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let flat = text(&output.stderr)
        .replace('│', " ")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    Ended {
        code: output.status.code(),
        out: text(&output.stdout),
        err: flat,
    }
}

/// A NumPy file of version 1.0, as NumPy writes it.
pub(crate) fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    while !(header.len() + 11).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend_from_slice(&(header.len() as u16).to_le_bytes());
    out.extend_from_slice(header.as_bytes());
    out.extend_from_slice(data);
    out
}

pub(crate) fn bytes_i32(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// The words of a NumPy file's header, and its data. Header lines may be padded and spaced as the writer likes.
pub(crate) fn npy_parts(file: &[u8]) -> (String, Vec<u8>) {
    assert_eq!(&file[..8], b"\x93NUMPY\x01\x00");
    let end = 10 + usize::from(u16::from_le_bytes([file[8], file[9]]));
    assert!(end.is_multiple_of(16), "the data is aligned");
    let header = String::from_utf8(file[10..end].to_vec()).unwrap();
    (
        header.replace([' ', '\n'], "").replace(",)", ")"),
        file[end..].to_vec(),
    )
}
