//! What a process that ends still has compiled is handed over to another process, which begins them anew: whoever ran a small program has the result, and does
//! not wait for what only later runs need.
//!
//! The texts go through a pipe. Each is a line with its architecture, options and length, and what the line says follows. The other process puts the code into
//! the cache, with the least priority that there is; if it is killed, a later run begins once more. A run that begins meanwhile and wants them may
//! [wait](Nvrtc::is_taken_over) for it, so that the second run of a program has all of its code as if the first had waited.

use super::{
    Arch, How, Nvrtc,
    cache::Cache,
    find,
    later::{Text, Why, is_any, of_this_process, wait_until},
};
use std::{
    ffi::c_int,
    io::{self, BufRead, Read, Write},
    process::{self, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

/// The other process has read what it is given after so long, or does not read it.
const PATIENCE: Duration = Duration::from_secs(5);
/// After so long the other process ends, whatever it still compiles.
const MOST: Duration = Duration::from_secs(600);
/// No text is longer.
const LONGEST: u64 = 1 << 30;

/// Hands what is still compiled in the background over to a process that this command begins and that calls [`take_over`]. Whether there was anything under way: the
/// caller may then [leave](super::leave) at once, for nothing that this process compiles is of use any more. Where the cache cannot be written there is nothing to hand over.
///
/// # Errors
/// If the process does not begin, or does not read what it is given.
pub fn hand_over(command: &mut Command) -> io::Result<bool> {
    let texts = of_this_process();
    // Whether files can be written is seen by a claim that is nobody else's.
    let is_kept = || Cache::of_user()?.claim(process::id().into(), false, |_| ());
    if texts.is_empty() || is_kept().is_none() {
        return Ok(is_any());
    }
    // Nobody who waits for the end of our output is to wait for that process.
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    #[cfg(unix)]
    // Ctrl-C on our terminal is not meant for it.
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut other = command.spawn()?;
    let mut pipe = other.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let count = texts.len();
    let (told, written) = mpsc::channel();
    thread::Builder::new().spawn(move || {
        let done = texts.iter().try_for_each(|text| write(&mut pipe, text));
        drop(pipe);
        // Who has waited too long is told nothing.
        let _ = told.send(done);
    })?;
    let written = written.recv_timeout(PATIENCE);
    written.map_err(|_| io::ErrorKind::TimedOut)??;
    tracing::info!(
        texts = count,
        process = other.id(),
        "compiled by a process of its own, for the runs to come"
    );
    Ok(true)
}

impl Nvrtc {
    /// Whether another process compiles this text that took it over from one which has ended.
    #[must_use]
    pub fn is_taken_over(&self, source: &str, arch: Arch, how: How) -> bool {
        Cache::of_user().is_some_and(|cache| cache.is_taken_over(self.key(source, arch, how)))
    }
}

/// Compiles what another process [handed over](hand_over), for ten minutes at most. The number of texts.
///
/// # Errors
/// If what is read is nothing of the kind, or there is no compiler.
pub fn take_over(input: impl Read) -> io::Result<usize> {
    unsafe extern "C" {
        #[cfg(unix)]
        safe fn nice(by: c_int) -> c_int;
    }
    let texts = read(&mut io::BufReader::new(input))?;
    if texts.is_empty() {
        return Ok(0);
    }
    let nvrtc = find().map_err(io::Error::other)?;
    #[cfg(unix)]
    nice(19);
    let count = texts.len();
    for text in texts {
        nvrtc.begin(text, Why::TakenOver)?;
    }
    wait_until(MOST);
    Ok(count)
}

fn write(to: &mut impl Write, text: &Text) -> io::Result<()> {
    let Text { source, arch, how } = text;
    let registers = how.linked.unwrap_or(0);
    let marks = [how.fast_math, how.check, how.quick].map(u8::from);
    let [fast, check, quick] = marks;
    let bytes = source.len();
    writeln!(to, "{} {registers} {fast} {check} {quick} {bytes}", arch.0)?;
    to.write_all(source.as_bytes())
}

fn read(from: &mut impl BufRead) -> io::Result<Vec<Text>> {
    let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let mut texts = Vec::new();
    loop {
        let mut line = String::new();
        if from.take(100).read_line(&mut line)? == 0 {
            return Ok(texts);
        }
        let numbers: Option<Vec<u64>> = line.split_whitespace().map(|n| n.parse().ok()).collect();
        let numbers = numbers.and_then(|n| <[u64; 6]>::try_from(n).ok());
        let [arch, registers, fast, check, quick, bytes] =
            numbers.ok_or_else(|| wrong("a line is not six numbers"))?;
        let small = |n: u64| u32::try_from(n).map_err(|_| wrong("a number is too large"));
        if bytes > LONGEST {
            return Err(wrong("a text is too long"));
        }
        let mut source = String::new();
        if from.take(bytes).read_to_string(&mut source)? as u64 != bytes {
            return Err(wrong("a text ends early"));
        }
        texts.push(Text {
            source,
            arch: Arch(small(arch)?),
            how: How {
                fast_math: fast == 1,
                check: check == 1,
                linked: Some(small(registers)?).filter(|&n| n > 0),
                quick: quick == 1,
            },
        });
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test ends there")]

    use super::*;

    fn texts() -> Vec<Text> {
        let mut texts = Vec::new();
        for n in 0..16u32 {
            texts.push(Text {
                source: format!("text {n}\n").repeat(n as usize),
                arch: Arch(80 + n),
                how: How {
                    fast_math: n & 1 > 0,
                    check: n & 2 > 0,
                    linked: (n & 4 > 0).then_some(64),
                    quick: n & 8 > 0,
                },
            });
        }
        texts
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let mut pipe = Vec::new();
        for text in texts() {
            write(&mut pipe, &text).unwrap();
        }
        assert_eq!(read(&mut &pipe[..]).unwrap(), texts());
        let whole = |n: usize| read(&mut &pipe[..n]).is_ok_and(|t| t.len() < texts().len());
        let ends = (0..pipe.len()).filter(|&n| whole(n)).count();
        assert!(ends <= texts().len() + 1, "{ends} beginnings are whole");
    }

    #[test]
    fn what_is_no_text_is_refused() {
        for wrong in [
            "x",
            "90 0 0 0 0\n",
            "90 0 0 0 0 9\nshort",
            "5000000000 0 0 0 0 0\n",
        ] {
            let why = take_over(wrong.as_bytes()).unwrap_err();
            assert_eq!(why.kind(), io::ErrorKind::InvalidData, "{wrong}: {why}");
        }
        assert_eq!(take_over(&b""[..]).unwrap(), 0);
        let long = format!("90 0 0 0 0 {}\n", u64::MAX);
        assert!(take_over(long.as_bytes()).is_err());
    }
}
