//! The words of a text, counted by a pipeline that fans out and in again.
//!
//! ```text
//!                                  ┌──► [ first ]  ──► count ──┐
//!   text ──► [ parts ] ──► cut ────┼──► [ second ] ──► count ──┼──► [ fresh ] ──► tally
//!                ▲          │      ├──► [ third ]  ──► count ──┤
//!                └─ halves ─┘      └──► [ fourth ] ──► count ──┘
//! ```
//!
//! A word's hash says which node counts it, so that each of the four has a quarter of the table for itself.

#[millstream::program]
pub mod words {
    use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

    /// Bytes of a text that are cut at one go.
    pub const MOST: u32 = 256;

    /// A part of the text.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Part {
        /// Its first byte.
        pub from: u32,
        /// Behind its last.
        pub to: u32,
    }

    /// A word of the text.
    #[derive(Clone, Copy, PartialEq, Debug)]
    pub struct Word {
        /// What stands for its letters, be they large or small.
        pub hash: u64,
        /// Its first byte.
        pub at: u32,
        /// How many letters it has.
        pub letters: u32,
    }

    fn is_letter(byte: u8) -> bool {
        (byte | 0x20).wrapping_sub(b'a') < 26
    }

    /// Cuts the words out that begin in a part, and hands each to the one that counts it: whoever that is counts all words like it.
    #[kernel]
    pub fn cut(
        part: Part,
        parts: Channel<Part>,
        first: Channel<Word>,
        second: Channel<Word>,
        third: Channel<Word>,
        fourth: Channel<Word>,
        text: &[u8],
    ) {
        if part.to - part.from > MOST {
            let middle = part.from + (part.to - part.from) / 2;
            parts.emit(Part { to: middle, ..part });
            parts.emit(Part {
                from: middle,
                ..part
            });
            return;
        }
        let mut at = part.from as usize;
        // A word that has begun before belongs to the part before.
        while at > 0 && at < part.to as usize && is_letter(text[at - 1]) {
            at += 1;
        }
        while at < part.to as usize {
            if !is_letter(text[at]) {
                at += 1;
                continue;
            }
            let begin = at;
            // FNV-1a (Fowler, Noll, Vo).
            let mut hash = 0xcbf2_9ce4_8422_2325u64;
            while at < text.len() && is_letter(text[at]) {
                hash = (hash ^ (text[at] | 0x20) as u64).wrapping_mul(0x100_0000_01b3);
                at += 1;
            }
            let word = Word {
                hash: hash.max(1),
                at: begin as u32,
                letters: (at - begin) as u32,
            };
            match hash >> 62 {
                0 => first.emit(word),
                1 => second.emit(word),
                2 => third.emit(word),
                _ => fourth.emit(word),
            }
        }
    }

    /// Counts a word in the part of the table that is for words like it. A word that was not there yet is handed on.
    #[kernel]
    pub fn count(
        word: Word,
        fresh: Channel<Word>,
        hashes: &[AtomicU64],
        counts: &[AtomicU32],
        places: &[AtomicU32],
        quarter: u32,
    ) {
        let size = hashes.len() / 4;
        for i in 0..size {
            let slot = quarter as usize * size + (word.hash as usize + i) % size;
            // Relaxed: a slot that is taken stays so, and what is in its other arrays is added to, whatever it is.
            let mut found = hashes[slot].load(Ordering::Relaxed);
            let mut is_new = false;
            if found == 0 {
                is_new = hashes[slot]
                    .compare_exchange(0, word.hash, Ordering::Relaxed, Ordering::Relaxed)
                    .is_ok();
                found = hashes[slot].load(Ordering::Relaxed);
            }
            if found == word.hash {
                counts[slot].fetch_add(1, Ordering::Relaxed);
                // Places are counted from the end, so that zeros are before all: the largest is the first.
                places[slot].fetch_max(u32::MAX - word.at, Ordering::Relaxed);
                if is_new {
                    fresh.emit(word);
                }
                return;
            }
        }
        panic!("the table is full");
    }

    /// What the four have found, together.
    #[kernel]
    pub fn tally(word: Word, words: &AtomicU32, longest: &AtomicU32) {
        words.fetch_add(1, Ordering::Relaxed);
        longest.fetch_max(word.letters, Ordering::Relaxed);
    }
}

use millstream::{Device, Graph};
use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
};
use words::{Part, Word};

/// What is known of the words of a text: a table by their hashes.
#[derive(Debug)]
pub struct Table {
    hashes: Vec<AtomicU64>,
    counts: Vec<AtomicU32>,
    places: Vec<AtomicU32>,
    /// How many different words there are.
    pub words: AtomicU32,
    /// How many letters the longest has.
    pub longest: AtomicU32,
}

impl Table {
    /// An empty table with room for so many different words, a multiple of 4.
    pub fn new(room: usize) -> Self {
        let zeros = || (0..room).map(|_| AtomicU32::new(0)).collect();
        Self {
            hashes: (0..room).map(|_| AtomicU64::new(0)).collect(),
            counts: zeros(),
            places: zeros(),
            words: AtomicU32::new(0),
            longest: AtomicU32::new(0),
        }
    }

    /// How often each word of the text is in it.
    pub fn counted(&self, text: &str) -> BTreeMap<String, u32> {
        // Relaxed: the run is over.
        let counts = self.counts.iter().map(|c| c.load(Ordering::Relaxed));
        let places = self
            .places
            .iter()
            .map(|p| u32::MAX - p.load(Ordering::Relaxed));
        let taken = counts.zip(places).filter(|(count, _)| *count > 0);
        let word = |at: u32| {
            let rest = &text[at as usize..];
            let end = rest.find(|c: char| !c.is_ascii_alphabetic());
            rest[..end.unwrap_or(rest.len())].to_ascii_lowercase()
        };
        taken.map(|(count, at)| (word(at), count)).collect()
    }
}

/// The graph of the pipeline, which leaves the words of a text in a table.
pub fn graph<'a>(text: &'a str, table: &'a Table) -> Graph<'a> {
    let mut graph = Graph::new("words");
    let parts = graph.channel::<Part>("parts");
    let names = ["first", "second", "third", "fourth"];
    let [first, second, third, fourth] = names.map(|name| graph.channel::<Word>(name));
    let fresh = graph.channel::<Word>("fresh");
    graph
        .kernel(words::kernel::cut)
        .consumes(&parts)
        .produces(&parts)
        .produces(&first)
        .produces(&second)
        .produces(&third)
        .produces(&fourth)
        .arg(text.as_bytes());
    for (quarter, words) in [first, second, third, fourth].iter().enumerate() {
        graph
            .kernel(words::kernel::count)
            .named(format!("count {}", names[quarter]))
            .consumes(words)
            .produces(&fresh)
            .arg(&table.hashes)
            .arg(&table.counts)
            .arg(&table.places)
            .arg(quarter as u32);
    }
    graph
        .kernel(words::kernel::tally)
        .consumes(&fresh)
        .arg(&table.words)
        .arg(&table.longest);
    let to = text.len() as u32;
    graph.send(&parts, [Part { from: 0, to }]);
    graph
}

/// The same by one thread.
pub fn serial(text: &str) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for word in text.split(|c: char| !c.is_ascii_alphabetic()) {
        if !word.is_empty() {
            *counts.entry(word.to_ascii_lowercase()).or_insert(0) += 1;
        }
    }
    counts
}

fn main() -> Result<(), millstream::Error> {
    let text = concat!(
        include_str!("../LICENSE-APACHE"),
        include_str!("../LICENSE-MIT")
    );
    let table = Table::new(4096);
    graph(text, &table).run(&Device::auto()?)?;
    let counts = table.counted(text);
    assert_eq!(counts, serial(text));
    let mut often: Vec<_> = counts.iter().map(|(word, count)| (count, word)).collect();
    often.sort_by(|a, b| b.cmp(a));
    // Relaxed: the run is over.
    let longest = table.longest.load(Ordering::Relaxed);
    println!(
        "{} words in the licences, of {longest} letters at most",
        counts.len()
    );
    for (count, word) in &often[..5] {
        println!("{count:4} {word}");
    }
    Ok(())
}
