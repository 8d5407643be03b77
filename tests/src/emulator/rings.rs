//! The ring's CUDA text without a GPU: blocks on fibers pass elements through one ring, and every operation is written down with its time.

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
type Play = unsafe extern "C" fn(u64, u32, u32, *const Ring, *mut u64, u64, *mut Event) -> u32;

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
    /// An atomic operation is where another thread goes on once in so many times.
    pub switches: u32,
}

impl RingEmulator {
    /// Compiles the text with a change of it, such as a planted bug.
    ///
    /// # Errors
    /// What the compiler says.
    pub fn with_change(change: impl FnOnce(String) -> String) -> Result<Self, String> {
        let text = change(ring::unit(include_str!("rings.cu")));
        let library = Library::new(&text, Accesses::Unseen)?;
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
            width,
            group,
            stretch,
            blocks,
            elements,
            seed,
            switches,
        } = passing;
        let layout = RingLayout::of_strides(vec![8], width, group).expect("a ring");
        let mut words = Box::new(RingWords {
            room: Line(width),
            ..RingWords::default()
        });
        let mut control = vec![0u32; layout.places() as usize];
        let marks = Marks::of(width, group, stretch);
        let mut done = vec![0u64; marks.words as usize];
        let mut freed = vec![0u32; marks.stretches as usize];
        // Data may hold anything at first.
        let mut data = vec![u64::MAX; width as usize];
        let mut events = vec![Event::default(); elements as usize];
        let ring = Ring {
            words: &raw mut *words as u64,
            control: control.as_mut_ptr() as u64,
            done: done.as_mut_ptr() as u64,
            freed: freed.as_mut_ptr() as u64,
            width,
            group,
            stretch,
            ..Ring::default()
        };
        // SAFETY: `rings.cu` defines it with this type; everything is as long as the ring says, and lives until it returns.
        let waiting = self.library.door::<Play, _>(b"play_ring", |play| unsafe {
            play(
                seed,
                switches,
                blocks,
                &raw const ring,
                data.as_mut_ptr(),
                elements,
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
            width,
            group,
            stretch,
            blocks,
            elements,
            seed,
            ..
        } = passing;
        let layout = RingLayout::of_strides(vec![16], width, group).expect("a ring");
        let mut words = Box::new(RingWords {
            room: Line(width),
            ..RingWords::default()
        });
        let mut control = vec![0u32; layout.places() as usize];
        let marks = Marks::of(width, group, stretch);
        let mut done = vec![0u64; marks.words as usize];
        let mut freed = vec![0u32; marks.stretches as usize];
        // A line for each, as the widest of the three have.
        let mut data = vec![u128::MAX; 8 * width as usize];
        let ring = Ring {
            words: &raw mut *words as u64,
            control: control.as_mut_ptr() as u64,
            done: done.as_mut_ptr() as u64,
            freed: freed.as_mut_ptr() as u64,
            width,
            group,
            stretch,
            ..Ring::default()
        };
        let mut came = [0; 4];
        let data = data.as_mut_ptr().cast();
        // SAFETY: `DOORS` defines it with this type; everything is as long as the ring says, and lives until it returns.
        let waiting = self.library.door::<Pass, _>(b"pass", |pass| unsafe {
            pass(
                kernel,
                seed,
                blocks,
                &raw const ring,
                data,
                elements,
                came.as_mut_ptr(),
            )
        });
        self.library.ended(waiting).map_err(|e| e.to_string())?;
        Ok(came)
    }
}
