//! Machine code on disk, shared by processes: a file a text. It is written beside its place and moved there, so that a reader sees all of it or
//! nothing, whoever else writes; what was used least recently goes when there is too much. Who compiles what nobody waits for claims it first, so that other
//! processes do not do the same.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Write},
    path::PathBuf,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

/// Bytes that the cache takes at most, if nobody says otherwise.
const MOST_BYTES: u64 = 512 << 20;
/// A file that is still not in its place after this long was left by a process that was killed.
const ABANDONED: Duration = Duration::from_secs(3600);
/// What a whole file ends with, behind the length of its code.
const END: [u8; 8] = *b"millend1";

/// A text that this process compiles and no other one. Who opened the file before it is removed gets the claim of one that is gone, and finds the code in
/// the cache.
pub(super) struct Claim {
    path: PathBuf,
    _file: File,
}

impl Drop for Claim {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// A folder of machine code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Cache {
    folder: PathBuf,
    most: u64,
}

impl Cache {
    pub(super) fn new(folder: PathBuf) -> Self {
        // What is said wrong is told once.
        static MOST: OnceLock<u64> = OnceLock::new();
        let most = || {
            let said = std::env::var("MILLSTREAM_CACHE_MIB").ok();
            said.map_or(MOST_BYTES, |mib| bytes_of(&mib))
        };
        Self {
            folder,
            most: *MOST.get_or_init(most),
        }
    }

    /// The user's; none if it is turned off.
    pub(super) fn of_user() -> Option<Self> {
        folder().map(Self::new)
    }

    fn path(&self, key: u128) -> PathBuf {
        self.folder.join(format!("{key:032x}.cubin"))
    }

    /// The code of this key, which now is the last used. A file that is not whole is none.
    pub(super) fn get(&self, key: u128) -> Option<Vec<u8>> {
        let path = self.path(key);
        let mut bytes = fs::read(&path).ok()?;
        let rest = bytes.strip_suffix(&END)?;
        let (code, length) = rest.split_last_chunk::<8>()?;
        if u64::from_le_bytes(*length) != code.len() as u64 {
            return None;
        }
        let length = code.len();
        bytes.truncate(length);
        tracing::debug!(path = %path.display(), "cubin from the cache");
        // Of a folder that cannot be written nothing goes either.
        let _ = File::open(&path).and_then(|f| f.set_modified(SystemTime::now()));
        Some(bytes)
    }

    /// Keeps code.
    ///
    /// # Errors
    /// As the file system does.
    pub(super) fn put(&self, key: u128, code: &[u8]) -> io::Result<()> {
        // Threads of one process may write the same at once.
        static WRITTEN: AtomicU64 = AtomicU64::new(0);
        // Relaxed: each number is taken once, and that is all.
        let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
        fs::create_dir_all(&self.folder)?;
        let name = format!("{key:032x}.{}.{number}.part", std::process::id());
        let beside = self.folder.join(name);
        let whole = [code, &(code.len() as u64).to_le_bytes(), &END].concat();
        let moved = fs::write(&beside, whole).and_then(|()| fs::rename(&beside, self.path(key)));
        if moved.is_err() {
            let _ = fs::remove_file(&beside);
        }
        moved?;
        self.shrink(&self.path(key))
    }

    fn lock(&self, key: u128) -> PathBuf {
        self.folder.join(format!("{key:032x}.lock"))
    }

    /// Claims the text of this key for as long as the claim lives. Where another process has it, that is said and it is waited for: the system takes its claim
    /// when it ends, however it does. Who has taken the text over from an earlier process lets that be seen. None where no file can be written, or locked.
    pub(super) fn claim(
        &self,
        key: u128,
        taken_over: bool,
        elsewhere: impl Fn(bool),
    ) -> Option<Claim> {
        fs::create_dir_all(&self.folder).ok()?;
        let path = self.lock(key);
        let mut file = File::options().create(true).append(true).open(&path).ok()?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                elsewhere(true);
                file.lock().ok()?;
                elsewhere(false);
            }
            locked => locked.ok()?,
        }
        if taken_over {
            file.write_all(b"taken over\n").ok()?;
        }
        Some(Claim { path, _file: file })
    }

    /// Whether somebody has claimed this text who took it over.
    pub(super) fn is_taken_over(&self, key: u128) -> bool {
        let is = || {
            let file = File::open(self.lock(key)).ok()?;
            let taken_over = file.metadata().ok()?.len() > 0;
            Some(taken_over && matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
        };
        is().unwrap_or(false)
    }

    /// Removes what was used least recently until the rest is no more than allowed, but for the one that was just written. Another process may
    /// do the same: what is gone already is as good.
    fn shrink(&self, but: &std::path::Path) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder)?.flatten() {
            let (path, Ok(data)) = (entry.path(), entry.metadata()) else {
                continue;
            };
            // Others may keep files of theirs in the folder that they named.
            if !is_ours(&path) {
                continue;
            }
            let used = data.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            match path.extension().and_then(|e| e.to_str()) {
                Some("cubin") => files.push((used, data.len(), path)),
                Some("part" | "lock") if used.elapsed().is_ok_and(|age| age > ABANDONED) => {
                    let _ = fs::remove_file(path);
                }
                _ => {}
            }
        }
        let mut bytes: u64 = files.iter().map(|(_, bytes, _)| bytes).sum();
        files.sort();
        for (_, size, path) in files.iter().filter(|(.., path)| path != but) {
            if bytes <= self.most {
                break;
            }
            let _ = fs::remove_file(path);
            bytes -= size;
        }
        Ok(())
    }
}

/// Whether a file's name is one that the cache gives: a key of 32 digits comes first.
fn is_ours(path: &std::path::Path) -> bool {
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
    let key = name.split('.').next().unwrap_or("");
    key.len() == 32 && key.bytes().all(|b| b.is_ascii_hexdigit())
}

/// `MILLSTREAM_CACHE`, else `millstream` in the user's cache folder. An empty variable turns the cache off.
#[must_use]
pub fn folder() -> Option<PathBuf> {
    if let Some(given) = std::env::var_os("MILLSTREAM_CACHE") {
        return (!given.is_empty()).then(|| PathBuf::from(given));
    }
    let base = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|p| p.is_absolute());
    base.or_else(|| std::env::var_os("HOME").map(|h| PathBuf::from(h).join(".cache")))
        .map(|b| b.join("millstream"))
}

/// What `MILLSTREAM_CACHE_MIB` says, in bytes.
fn bytes_of(mib: &str) -> u64 {
    match mib.trim().parse::<u64>() {
        Ok(mib) => mib.saturating_mul(1 << 20),
        Err(_) => {
            tracing::warn!(
                "MILLSTREAM_CACHE_MIB={mib} is no number of MiB: the cache takes {} at most",
                MOST_BYTES >> 20
            );
            MOST_BYTES
        }
    }
}

/// FNV-1a of 128 bits over the parts and their lengths.
pub(super) fn key(parts: &[String]) -> u128 {
    let mut hash = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    let mut take = |bytes: &[u8]| {
        for byte in bytes {
            hash =
                (hash ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    };
    for part in parts {
        take(&(part.len() as u64).to_le_bytes());
        take(part.as_bytes());
    }
    hash
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test ends there")]

    use super::*;
    use std::sync::Mutex;

    fn cache(most: u64) -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache {
            folder: folder.path().join("new"),
            most,
        };
        (folder, cache)
    }

    fn names(cache: &Cache) -> Vec<String> {
        let files = fs::read_dir(&cache.folder).unwrap();
        let mut names: Vec<String> = files
            .map(|f| f.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn readers_see_whole_files_whoever_writes() {
        let (_folder, cache) = cache(MOST_BYTES);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for n in 0..200u32 {
                        let code = vec![n as u8; 10_000 + n as usize];
                        cache.put(7, &code).unwrap();
                    }
                });
            }
            let mut seen = 0;
            while seen < 200 {
                if let Some(code) = cache.get(7) {
                    let n = code[0];
                    assert_eq!(code, vec![n; 10_000 + usize::from(n)]);
                    seen += 1;
                }
            }
        });
        assert_eq!(names(&cache), [format!("{:032x}.cubin", 7)]);
    }

    #[test]
    fn a_text_is_claimed_by_one_at_a_time() {
        let (_folder, cache) = cache(MOST_BYTES);
        let claim = |key: u128, seen: &Mutex<Vec<bool>>| {
            cache.claim(key, key == 2, |elsewhere| {
                seen.lock().unwrap().push(elsewhere);
            })
        };
        let (first, second) = (Mutex::default(), Mutex::default());
        let one = claim(1, &first).unwrap();
        let two = claim(2, &first).expect("another text is nobody's");
        assert!(cache.is_taken_over(2) && !cache.is_taken_over(1));
        drop(two);
        assert!(!cache.is_taken_over(2));
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| claim(1, &second).is_some());
            while second.lock().unwrap().is_empty() {
                std::thread::yield_now();
            }
            assert!(!waits.is_finished(), "the first one has it");
            drop(one);
            assert!(waits.join().unwrap());
        });
        assert_eq!(second.into_inner().unwrap(), [true, false]);
        assert!(first.into_inner().unwrap().is_empty());
        assert!(names(&cache).is_empty(), "claims leave nothing");
        let nowhere = Cache::new(cache.folder.join("file").join("below"));
        fs::write(cache.folder.join("file"), "").unwrap();
        assert!(nowhere.claim(1, false, |_| ()).is_none());
    }

    #[test]
    fn it_takes_as_much_as_is_said() {
        assert_eq!(bytes_of(" 2048"), 2 << 30);
        assert_eq!(bytes_of("2 GiB"), MOST_BYTES);
        assert_eq!(bytes_of("18446744073709551615"), u64::MAX);
    }

    #[test]
    fn a_broken_file_is_none_and_is_mended() {
        let (_folder, cache) = cache(MOST_BYTES);
        assert_eq!(cache.get(1), None);
        cache.put(1, b"\x7fELF and more").unwrap();
        assert_eq!(cache.get(1).unwrap(), b"\x7fELF and more");
        let whole = fs::read(cache.path(1)).unwrap();
        for length in 0..whole.len() {
            fs::write(cache.path(1), &whole[..length]).unwrap();
            assert_eq!(cache.get(1), None, "{length} bytes of it");
        }
        cache.put(1, b"\x7fELF and more").unwrap();
        assert_eq!(cache.get(1).unwrap(), b"\x7fELF and more");
    }

    #[test]
    fn what_was_used_least_recently_goes_first() {
        let (_folder, cache) = cache(3 * 116);
        let age = |key: u128, seconds: u64| {
            let time = SystemTime::now() - Duration::from_secs(seconds);
            let file = File::open(cache.path(key)).unwrap();
            file.set_modified(time).unwrap();
        };
        for key in [1, 2, 3] {
            cache.put(key, &[0; 100]).unwrap();
            age(key, 100 - key as u64);
        }
        assert!(cache.get(1).is_some(), "it is the last used one now");
        let left = cache.folder.join(format!("{:032x}.1.1.part", 9));
        fs::write(&left, "by a process that was killed").unwrap();
        let long_ago = SystemTime::now() - 2 * ABANDONED;
        let others = cache.folder.join("download.part");
        fs::write(&others, "of another program").unwrap();
        for file in [&left, &others] {
            File::open(file).unwrap().set_modified(long_ago).unwrap();
        }
        let new = format!("{:032x}.2.1.part", 8);
        fs::write(cache.folder.join(&new), "of one that writes").unwrap();
        cache.put(4, &[0; 100]).unwrap();
        let kept: Vec<u128> = (1..=4).filter(|k| cache.path(*k).exists()).collect();
        assert_eq!(kept, [1, 3, 4]);
        assert!(!left.exists() && others.exists());
        cache.put(5, &[0; 1000]).unwrap();
        assert_eq!(
            names(&cache),
            [format!("{:032x}.cubin", 5), new, "download.part".into()]
        );
    }
}
