//! The ring's CUDA text without a GPU: blocks on fibers pass elements through one ring, and every operation is written down with its time.

use super::{compile, ended};
use crate::history::Event;
use millstream_channels_kernel::{
    cuda::{
        abi::{
            Line,
            flow::{Ring, RingWords},
        },
        ring,
    },
    ring::RingLayout,
};

type Play = unsafe extern "C" fn(u64, u32, u32, *const Ring, *mut u64, u64, *mut Event) -> u32;

/// The text, compiled.
#[derive(Debug)]
pub struct RingEmulator {
    library: libloading::Library,
}

/// Who passes how much through what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passing {
    /// Slots.
    pub width: u32,
    /// Slots that share a word of done bits.
    pub group: u32,
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
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let text = change(ring::unit(include_str!("rings.cu")));
        let text = format!("{}{text}", include_str!("emulate.h"));
        let library = compile(&text, folder.path())?;
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
        let mut done = vec![0u64; layout.groups() as usize];
        // Data may hold anything at first.
        let mut data = vec![u64::MAX; width as usize];
        let mut events = vec![Event::default(); elements as usize];
        let ring = Ring {
            words: &raw mut *words as u64,
            control: control.as_mut_ptr() as u64,
            done: done.as_mut_ptr() as u64,
            width,
            group,
            ..Ring::default()
        };
        // SAFETY: `rings.cu` defines it with this type; everything is as long as the ring says, and lives until it returns.
        let waiting = unsafe {
            let play = self.library.get::<Play>(b"play_ring");
            let play = play.map_err(|e| e.to_string())?;
            play(
                seed,
                switches,
                blocks,
                &raw const ring,
                data.as_mut_ptr(),
                elements,
                events.as_mut_ptr(),
            )
        };
        ended(waiting).map_err(|e| e.to_string())?;
        Ok(events)
    }
}
