//! What is compiled in the background, by processes of their own.
//!
//! A process that ends while a kernel is compiled in the background waits for it, whichever thread asked for it and however far the compiler is: the kernel
//! is in the cache then. It has a `main` of its own, as what ends a process is its main thread.

use millstream_channels_kernel::cuda::nvrtc::{self, Arch, How};
use std::{
    env,
    error::Error,
    fmt::Write,
    fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

type Failed = Box<dyn Error + Send + Sync>;

/// What a process of the test is to do: who asks for a kernel, and after how many milliseconds the process ends; or `both`, or `takes over`.
const CHILD: &str = "MILLSTREAM_TEST_ENDS";

fn main() -> Result<(), Failed> {
    if let Ok(child) = env::var(CHILD) {
        return ends(&child);
    }
    if nvrtc::find().is_err() {
        eprintln!("SKIPPED: no NVRTC");
        return Ok(());
    }
    let keep = |who| [0, 30, 100, 200, 400].map(|after| keeps(who, after));
    // What a process compiles takes one core.
    let both = thread::scope(|scope| {
        let both = ["main", "other"].map(|who| scope.spawn(move || keep(who)));
        both.map(|one| one.join().expect("its errors are its results"))
    });
    both.into_iter().flatten().collect::<Result<(), Failed>>()?;
    has_both()?;
    hands_over()
}

/// Two processes that hand the same kernel over end before it is there, and then it is, once. A third one sees that somebody is at it.
fn hands_over() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let begin = |what: &str| {
        Command::new(env::current_exe()?)
            .env(CHILD, what)
            .env("MILLSTREAM_CACHE", folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
    };
    let names = || -> Result<Vec<String>, Failed> {
        let files = fs::read_dir(folder.path())?;
        let names = files.map(|file| Ok(file?.file_name().to_string_lossy().into_owned()));
        names.collect()
    };
    let is_cubin = |name: &String| name.ends_with(".cubin");
    let sees = begin("sees 0")?;
    for process in [begin("over 0")?, begin("over 0")?] {
        // Its output ends with it: the process that takes over does not hold it.
        let output = process.wait_with_output()?;
        if !output.status.success() || !output.stdout.is_empty() || names()?.iter().any(is_cubin) {
            return Err(format!("{output:?}, {:?}", names()?).into());
        }
    }
    let start = Instant::now();
    loop {
        let names = names()?;
        if let [name] = &names[..]
            && is_cubin(name)
        {
            break;
        }
        if start.elapsed() > Duration::from_secs(60) {
            return Err(format!("a minute later: {names:?}").into());
        }
        thread::sleep(Duration::from_millis(20));
    }
    let output = sees.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("who looks: {output:?}").into());
    }
    println!("test two hand over ... ok");
    Ok(())
}

/// Quick code and full code do not get into each other's way: in a folder of two processes at once, in none, and in one that cannot be written.
fn has_both() -> Result<(), Failed> {
    let (folder, file) = (tempfile::tempdir()?, tempfile::NamedTempFile::new()?);
    let nowhere = file.path().join("below");
    let places = [folder.path(), folder.path(), Path::new(""), &nowhere];
    let begin = |place: &Path| {
        Command::new(env::current_exe()?)
            .env(CHILD, "both 0")
            .env("MILLSTREAM_CACHE", place)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
    };
    let all = places
        .map(begin)
        .into_iter()
        .collect::<Result<Vec<_>, _>>()?;
    for (place, process) in places.iter().zip(all) {
        let output = process.wait_with_output()?;
        if !output.status.success() {
            return Err(format!("both in {place:?}: {output:?}").into());
        }
        println!("test both in {place:?} ... ok");
    }
    let kinds = 1 + usize::from(nvrtc::find()?.is_quick());
    let files = fs::read_dir(folder.path())?.count();
    match files == kinds {
        true => Ok(()),
        false => Err(format!("{files} files of {kinds} kinds of code").into()),
    }
}

/// Has a kernel compiled quickly and, at once by two who ask, in full.
fn both(text: &str) -> Result<(), Failed> {
    let (nvrtc, arch, full) = (nvrtc::find()?, Arch(90), How::default());
    let quick = How {
        quick: true,
        ..full
    };
    let code = nvrtc.compile_cached(text, arch, quick)?.cubin;
    if !nvrtc.is_quick() {
        return Ok(());
    }
    // The other process may have been first.
    let early = nvrtc.cached(text, arch, full);
    assert!(early.is_none_or(|early| early.cubin != code), "it is quick");
    let ask = || nvrtc.compile_later(text.to_owned(), arch, full);
    let (one, other) = (ask()?, ask()?);
    let (one, other) = (one.result()?, other.result()?);
    assert!(one == other && one.cubin != code);
    let there = nvrtc.cached(text, arch, full);
    assert_eq!(there.ok_or("the full code is lost")?.cubin, one.cubin);
    let quick = nvrtc.cached(text, arch, quick);
    assert!(quick.is_none_or(|quick| quick.cubin == code));
    Ok(())
}

/// Sees that a kernel is taken over, and finds it when it is no more.
fn sees(text: &str) -> Result<(), Failed> {
    let (nvrtc, arch, full) = (nvrtc::find()?, Arch(90), How::default());
    let start = Instant::now();
    for is in [false, true] {
        while nvrtc.is_taken_over(text, arch, full) == is {
            assert!(start.elapsed() < Duration::from_secs(60), "{is}");
            thread::sleep(Duration::from_millis(1));
        }
    }
    let there = nvrtc.cached(text, arch, full);
    there.map(|_| ()).ok_or("it is lost".into())
}

/// The kernel that a process asked for is in the cache when the process has ended.
fn keeps(who: &str, after: u64) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let child = format!("{who} {after}");
    let output = Command::new(env::current_exe()?)
        .env(CHILD, &child)
        .env("MILLSTREAM_CACHE", folder.path())
        .output()?;
    if !output.status.success() {
        return Err(format!("{child}: {output:?}").into());
    }
    let files = fs::read_dir(folder.path())?;
    let names = files.map(|file| file.map(|f| f.file_name()));
    let names = names.collect::<Result<Vec<_>, _>>()?;
    let is_cubin = |name: &std::ffi::OsString| name.to_string_lossy().ends_with(".cubin");
    if names.len() != 1 || !names.iter().all(is_cubin) {
        return Err(format!("{child}: {names:?}").into());
    }
    println!("test {child} ms ... ok");
    Ok(())
}

/// Has a kernel compiled that takes a while, and ends meanwhile.
fn ends(child: &str) -> Result<(), Failed> {
    if child == "takes over" {
        nvrtc::take_over(std::io::stdin())?;
        return Ok(());
    }
    let (who, after) = child.split_once(' ').ok_or("two words")?;
    let mut text =
        "extern \"C\" __global__ void slow(unsigned* a) { unsigned x = threadIdx.x;\n".to_owned();
    for i in 0..400 {
        writeln!(text, "x = a[(x ^ {i}u) % 97u] * x + (x % {}u);", i + 3)?;
    }
    text.push_str("a[threadIdx.x] = x; }\n");
    match who {
        "both" => return both(&text),
        "sees" => return sees(&text),
        _ => {}
    }
    let nvrtc = nvrtc::find()?;
    let ask = || nvrtc.compile_later(text, Arch(90), How::default());
    let later = match who {
        "main" => ask()?,
        "over" => {
            ask()?;
            let mut other = Command::new(env::current_exe()?);
            assert!(nvrtc::hand_over(other.env(CHILD, "takes over"))?);
            nvrtc::leave(0)
        }
        _ => thread::scope(|scope| scope.spawn(ask).join()).map_err(|_| "it panicked")??,
    };
    thread::sleep(Duration::from_millis(after.parse()?));
    assert!(!later.is_done(), "it takes longer");
    Ok(())
}
