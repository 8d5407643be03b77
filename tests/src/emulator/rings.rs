//! The ring's CUDA text without a GPU: blocks on fibers pass elements through one ring, and every operation is written down with its time.
//!
//! [`RingEmulator::watched`] watches the ring's words and elements, so that an order that is missing is a race (see [`super`]).

use super::library::{Accesses, Library};
use crate::history::Event;
use millstream_channels_kernel::{
    cuda::{
        abi::{
            Line,
            flow::{Marks, Ring, RingWords},
        },
        ring,
    },
    ring::RingLayout,
};

type Pass = unsafe extern "C" fn(u32, u64, u32, *const Ring, *mut u32, u64, *mut u64) -> u32;
type Play = unsafe extern "C" fn(u64, u32, u32, *const Ring, *mut u64, u64, u32, *mut Event) -> u32;

/// The text, compiled.
#[derive(Debug)]
pub struct RingEmulator {
    library: Library,
}

/// Who passes how much through what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passing {
    /// Slots.
    pub width: u32,
    /// Slots that share a word of done bits.
    pub group: u32,
    /// Words of done bits that are a stretch.
    pub stretch: u32,
    /// Blocks.
    pub blocks: u32,
    /// Elements, of all blocks.
    pub elements: u64,
    /// Who goes on when.
    pub seed: u64,
    /// Blocks that produce do not consume.
    pub apart: bool,
    /// An atomic operation is where another thread goes on once in so many times.
    pub switches: u32,
}

/// Memory as the words of a ring lie in, all of it zero at first.
#[repr(C, align(128))]
#[derive(Clone, Copy, Default)]
struct OwnLine([u128; 8]);

/// A ring and its elements, in one piece of memory.
struct Laid {
    memory: Vec<OwnLine>,
    /// Where elements begin, in bytes.
    data: usize,
    ring: Ring,
}

impl Laid {
    /// A ring with so many bytes a slot.
    fn new(passing: Passing, element: usize) -> Self {
        let Passing {
            width,
            group,
            stretch,
            ..
        } = passing;
        let layout = RingLayout::of_strides(vec![element as u64], width, group).expect("a ring");
        let marks = Marks::of(width, group, stretch);
        let mut bytes = 0;
        let mut lay = |size: usize| {
            let at = bytes;
            bytes += size.next_multiple_of(size_of::<OwnLine>());
            at
        };
        let words = lay(size_of::<RingWords>());
        let control = lay(4 * layout.places() as usize);
        let done = lay(8 * marks.words as usize);
        let freed = lay(4 * marks.stretches as usize);
        let data = lay(element * width as usize);
        let lines = bytes / size_of::<OwnLine>();
        let mut memory = vec![OwnLine::default(); lines];
        let begin = memory.as_mut_ptr().cast::<u8>();
        // SAFETY: each part lies in the memory, at a line's beginning, which is where the words may lie.
        unsafe {
            begin.add(words).cast::<RingWords>().write(RingWords {
                room: Line(width),
                ..RingWords::default()
            });
            // Elements may hold anything at first.
            begin.add(data).write_bytes(0xff, element * width as usize);
        }
        let at = |part: usize| begin as u64 + part as u64;
        let ring = Ring {
            words: at(words),
            control: at(control),
            done: at(done),
            freed: at(freed),
            width,
            group,
            stretch,
            ..Ring::default()
        };
        Self { memory, data, ring }
    }

    /// Its first element; what lies there changes while kernels run.
    fn elements<T>(&mut self) -> *mut T {
        self.memory.as_mut_ptr().wrapping_byte_add(self.data).cast()
    }
}

impl RingEmulator {
    /// Compiles the text with a change of it, such as a planted bug.
    ///
    /// # Errors
    /// What the compiler says.
    pub fn with_change(change: impl FnOnce(String) -> String) -> Result<Self, String> {
        Self::compiled(change, Accesses::Unseen)
    }

    /// The same, and what threads do to the ring is watched: two accesses that nothing orders are an error of [`Self::play`].
    ///
    /// # Errors
    /// What the compiler says.
    pub fn watched(change: impl FnOnce(String) -> String) -> Result<Self, String> {
        Self::compiled(change, Accesses::Watched)
    }

    fn compiled(change: impl FnOnce(String) -> String, accesses: Accesses) -> Result<Self, String> {
        let text = change(ring::unit(include_str!("rings.cu")));
        let library = Library::new(&text, accesses)?;
        Ok(Self { library })
    }

    /// Passes elements through a ring: what happened to each.
    ///
    /// # Errors
    /// If threads wait for others that never come.
    ///
    /// # Panics
    /// If there is no ring of that width and group.
    pub fn play(&self, passing: Passing) -> Result<Vec<Event>, String> {
        let Passing {
            blocks,
            elements,
            seed,
            switches,
            apart,
            ..
        } = passing;
        let mut laid = Laid::new(passing, size_of::<u64>());
        let mut events = vec![Event::default(); elements as usize];
        self.library.set_steps(switches);
        let bytes = size_of_val(&laid.memory[..]);
        self.library
            .watch_memory(1, laid.memory.as_ptr().cast(), bytes);
        let (data, ring) = (laid.elements(), &raw const laid.ring);
        // SAFETY: `rings.cu` defines it with this type; everything is as long as the ring says, and lives until it returns.
        let waiting = self.library.door::<Play, _>(b"play_ring", |play| unsafe {
            play(
                seed,
                switches,
                blocks,
                ring,
                data,
                elements,
                apart.into(),
                events.as_mut_ptr(),
            )
        });
        self.library.ended(waiting).map_err(|e| e.to_string())?;
        Ok(events)
    }
}

/// The kernels that rings are measured by, of elements of four words that lie in one of three ways.
#[derive(Debug)]
pub struct Measured {
    library: Library,
}

/// Doors to them, by number.
const DOORS: &str = r#"
extern "C" unsigned pass(u32 kernel, u64 seed, u32 blocks, const Ring* ring, Element* data, u64 all, Came* came) {
  lots = seed * 0x9e3779b97f4a7c15ull | 1;
  switches = 4;
  turns_left = 1000000 + 50000 * all;
  return launch(blocks, [=] {
    if (kernel == 0) by_wavefronts(*ring, data, all, came);
    if (kernel == 1) by_warps(*ring, data, all, came);
    if (kernel == 2) by_lanes(*ring, data, all, came);
  });
}
"#;

impl Measured {
    /// Compiles them: elements are structures, arrays or padded by number, and who takes one reads all of it or a word.
    ///
    /// # Errors
    /// What the compiler says.
    pub fn new(lie: u32, whole: bool) -> Result<Self, String> {
        let text = ring::unit(include_str!("../../../benches/rings.cu"));
        let text = format!(
            "#define WORDS 4u\n#define LIE {lie}\n#define WHOLE {}\n{text}{DOORS}",
            u32::from(whole)
        );
        let library = Library::new(&text, Accesses::Unseen)?;
        Ok(Self { library })
    }

    /// Passes elements by blocks (0), warps (1) or lanes (2): how many came, the sum of their numbers, how many had words that differ, and how many
    /// wavefronts found no room when they came.
    ///
    /// # Errors
    /// If threads wait for others that never come.
    ///
    /// # Panics
    /// If there is no ring of that width and group.
    pub fn pass(&self, kernel: u32, passing: Passing) -> Result<[u64; 4], String> {
        let Passing {
            blocks,
            elements,
            seed,
            ..
        } = passing;
        // A line for each, as the widest of the three have.
        let mut laid = Laid::new(passing, 128);
        let (data, ring) = (laid.elements(), &raw const laid.ring);
        let mut came = [0; 4];
        // SAFETY: `DOORS` defines it with this type; everything is as long as the ring says, and lives until it returns.
        let waiting = self.library.door::<Pass, _>(b"pass", |pass| unsafe {
            pass(
                kernel,
                seed,
                blocks,
                ring,
                data,
                elements,
                came.as_mut_ptr(),
            )
        });
        self.library.ended(waiting).map_err(|e| e.to_string())?;
        Ok(came)
    }
}
