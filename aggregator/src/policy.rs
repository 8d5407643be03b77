//! How wide a wavefront is, and how much memory a run may use if nobody says.

use std::{fmt, fs, sync::OnceLock};

/// The default budget is the available memory divided by this.
const MEMORY_SHARE: u64 = 4;
/// Elements that a wavefront may have, whatever the cache.
const WIDTHS: (u64, u64) = (64, 8192);
/// A wavefront should run no longer than this many nanoseconds, so that a worker is able to share what it has.
pub(crate) const LONG_DISPATCH: u64 = 100_000;

/// A number of bytes for readers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
        match units.into_iter().find(|(_, shift)| self.0 >= 1 << shift) {
            Some((unit, shift)) if self.0.is_multiple_of(1 << shift) => {
                write!(f, "{} {unit}", self.0 >> shift)
            }
            Some((unit, shift)) => {
                write!(f, "{:.1} {unit}", self.0 as f64 / (1u64 << shift) as f64)
            }
            None if self.0 == 1 => write!(f, "1 byte"),
            None => write!(f, "{} bytes", self.0),
        }
    }
}

/// Reads a size such as `256 MiB`, `1.5GiB`, `64k`, `4096`: units of 1024 with or without the `i` and the `B`.
///
/// # Errors
/// A sentence that says what was expected.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let bad = || {
        format!(
            "`{text}` is not a size in bytes; write a number and a unit, such as `256 MiB` or `4096`"
        )
    };
    let trimmed = text.trim();
    let digits = trimmed
        .find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_')
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(digits);
    let shift = match unit
        .trim()
        .to_ascii_lowercase()
        .trim_end_matches('b')
        .trim_end_matches('i')
    {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return Err(bad()),
    };
    let number: f64 = number.replace('_', "").parse().map_err(|_| bad())?;
    let bytes = number * (1u64 << shift) as f64;
    if bytes >= 1.0 && bytes < u64::MAX as f64 {
        Ok(bytes as u64)
    } else {
        Err(bad())
    }
}

/// The budget where the user names none: a quarter of the memory that is available now, or 1 GiB where that cannot be found out.
#[must_use]
pub fn default_memory() -> u64 {
    let info = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = info.lines().find_map(|l| l.strip_prefix("MemAvailable:"));
    let machine = line
        .and_then(|l| l.trim().trim_end_matches("kB").trim().parse::<u64>().ok())
        .map(|k| k << 10);
    let group = [
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    ];
    let group = group
        .iter()
        .find_map(|p| fs::read_to_string(p).ok()?.trim().parse::<u64>().ok());
    machine
        .into_iter()
        .chain(group)
        .min()
        .map_or(1 << 30, |b| (b / MEMORY_SHARE).max(1 << 20))
}

/// Size of the second level cache of a core; 512 KiB where that cannot be found out.
fn cache_bytes() -> u64 {
    static SIZE: OnceLock<u64> = OnceLock::new();
    *SIZE.get_or_init(|| {
        let caches = (0..8).map(|i| format!("/sys/devices/system/cpu/cpu0/cache/index{i}"));
        let level_two = |dir: &String| {
            fs::read_to_string(format!("{dir}/level")).is_ok_and(|l| l.trim() == "2")
        };
        let size = caches
            .into_iter()
            .find(level_two)
            .and_then(|dir| fs::read_to_string(format!("{dir}/size")).ok());
        size.and_then(|s| parse_bytes(s.trim()).ok())
            .unwrap_or(512 << 10)
    })
}

/// Elements a wavefront should have, if each touches so many bytes: what it reads and writes takes a sixteenth of the second level cache, so
/// that the levels around it are still there when the worker comes back to them. With an eighth of 2 MiB nothing was faster, and a branch and bound whose
/// first child leads, which runs a wavefront's elements before it hears of a better bound, did 1.21 times the work of its elision.
pub(crate) fn width(bytes_per_element: u64) -> u64 {
    let fits = (cache_bytes() / 16 / bytes_per_element.max(1)).max(1);
    (1 << fits.ilog2()).clamp(WIDTHS.0, WIDTHS.1)
}

/// How many of so many elements a wavefront takes: all, unless a full wavefront would be left. A small rest would run all by itself, and so would
/// its children.
pub(crate) const fn run_of(count: u64, width: u64) -> u64 {
    if count > width && (width == 1 || count >= 2 * width) {
        width
    } else {
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_printed() {
        for (text, bytes) in [
            ("256 MiB", 256 << 20),
            ("1.5GiB", 3 << 29),
            ("64k", 64 << 10),
            ("4096", 4096),
            (" 8 mb ", 8 << 20),
        ] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        for text in ["", "MiB", "-1", "12 parsecs", "1..2", "0"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
        assert_eq!(Bytes(256 << 20).to_string(), "256 MiB");
        assert_eq!(Bytes(1536).to_string(), "1.5 KiB");
        assert_eq!(Bytes(12).to_string(), "12 bytes");
        assert_eq!(Bytes(1).to_string(), "1 byte");
    }

    #[test]
    fn widths_are_powers_of_two_within_bounds() {
        assert_eq!(width(1 << 40), 64);
        assert_eq!(width(1), 8192);
        assert!(width(100).is_power_of_two());
    }
}
