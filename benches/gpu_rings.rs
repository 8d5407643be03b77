//! Elements a second through one ring on a GPU, by wavefronts, beside the same ring with an operation a lane and beside a broker queue; and a thousand
//! million through rings of all widths.

use super::{
    report::say,
    rings::{Cost, Delivered, Lie, Passing, Rate, WIDTHS, sum_of},
};
use cudarc::driver::{
    result::{self, DriverError},
    sys,
};
use millstream_aggregator::cuda::DeviceInfo;
use millstream_channels_kernel::{
    cuda::{
        abi::flow::{Marks, Ring, RingWords, STRETCH},
        abi::{Line, kernel},
        nvrtc::{self, Arch, How},
        ring,
    },
    ring::{GROUP, RingLayout},
};
use std::ffi::{CString, c_void};

/// Elements that a queue holds, where it is measured: more than all lanes have at once.
const WIDTH: u32 = 1 << 20;

/// Elements that a block reserves, takes and frees at once.
pub(crate) const TILE: u32 = 4 * kernel::BLOCK;

/// The text for elements of so many words that lie so, of which all or the first are read.
fn text(words: usize, lie: Lie, whole: bool) -> String {
    let how = match lie {
        Lie::Structs => 0,
        Lie::Arrays => 1,
        Lie::Padded => 2,
    };
    format!(
        "#define WORDS {words}u\n#define LIE {how}\n#define WHOLE {}\n{}",
        u32::from(whole),
        ring::unit(include_str!("rings.cu"))
    )
}

/// Who passes the elements on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum By {
    Wavefronts,
    /// Through a ring for every two blocks: it takes all blocks that are on the GPU at once.
    SideBySide,
    Warps,
    Lanes,
    Broker,
    /// Looks at an empty ring.
    Polls,
}

impl By {
    const fn kernel(self) -> &'static str {
        match self {
            Self::Wavefronts => "by_wavefronts",
            Self::SideBySide => "side_by_side",
            Self::Warps => "by_warps",
            Self::Lanes => "by_lanes",
            Self::Broker => "by_broker",
            Self::Polls => "polls",
        }
    }
}

/// A GPU with the kernels for elements of one kind.
#[derive(Debug)]
struct Gpu {
    module: sys::CUmodule,
    /// From one element to the next, or of all its words.
    bytes: u64,
    multiprocessors: u32,
}

/// Device memory.
struct Memory(sys::CUdeviceptr);

impl Memory {
    fn zeroed(bytes: u64) -> Result<Self, DriverError> {
        // SAFETY: a context is current, and the memory is as long as that.
        unsafe {
            let memory = Self(result::malloc_sync(bytes as usize)?);
            result::memset_d8_sync(memory.0, 0, bytes as usize)?;
            Ok(memory)
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated above, and no kernel runs.
        let _ = unsafe { result::free_sync(self.0) };
    }
}

fn failed(error: DriverError) -> String {
    error.to_string()
}

impl Gpu {
    /// Compiles for the GPU, whose context becomes this thread's.
    fn new(
        (ordinal, arch): (u32, Arch),
        words: usize,
        lie: Lie,
        whole: bool,
    ) -> Result<Self, String> {
        let nvrtc = nvrtc::find().map_err(|e| e.to_string())?;
        let compiled = nvrtc
            .compile_cached(&text(words, lie, whole), arch, How::default())
            .map_err(|e| e.to_string())?;
        // SAFETY: the driver was found before, and the cubin is whole.
        let made = unsafe {
            result::init().and_then(|()| {
                let device = result::device::get(ordinal as i32)?;
                result::ctx::set_current(result::primary_ctx::retain(device)?)?;
                let count = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
                Ok(Self {
                    module: result::module::load_data(compiled.cubin.as_ptr().cast())?,
                    bytes: match lie {
                        Lie::Padded => 128,
                        Lie::Arrays | Lie::Structs => 4 * words as u64,
                    },
                    multiprocessors: result::device::get_attribute(device, count)? as u32,
                })
            })
        };
        made.map_err(failed)
    }

    /// Passes at least so many elements through queues of that width, and checks that each came once.
    fn pass(
        &self,
        by: By,
        count: u64,
        (width, group): (u32, u32),
        blocks: Option<u32>,
    ) -> Result<Ran, String> {
        let ran = self.run(by, count, width, group, blocks).map_err(failed)?;
        let [consumed, sum, wrong, _] = ran.came;
        let (rings, each) = (u64::from(ran.rings), ran.elements / u64::from(ran.rings));
        let (came, expected) = (
            [consumed, sum, wrong],
            [ran.elements, rings * sum_of(each), 0],
        );
        if came != expected {
            return Err(format!(
                "{} through a width of {width}: count, sum and mistakes are {came:?}, not {expected:?}",
                by.kernel()
            ));
        }
        Ok(ran)
    }

    /// Runs a kernel by so many blocks, or by all that are on the GPU at once.
    fn run(
        &self,
        by: By,
        count: u64,
        width: u32,
        group: u32,
        blocks: Option<u32>,
    ) -> Result<Ran, DriverError> {
        let name = CString::new(by.kernel()).expect("a name");
        // SAFETY: the module has that kernel.
        let (function, most) = unsafe {
            let function = result::module::get_function(self.module, name)?;
            let each = result::occupancy::max_active_block_per_multiprocessor(
                function,
                kernel::BLOCK as i32,
                0,
            )?;
            (function, self.multiprocessors * each.max(1) as u32)
        };
        let blocks = blocks.unwrap_or(most);
        let (rings, blocks) = match by {
            By::SideBySide => ((blocks / 2).max(1), (blocks / 2).max(1) * 2),
            _ => (1, blocks),
        };
        let of_all = u64::from(rings);
        let layout = RingLayout::of_strides(vec![self.bytes], width, group)
            .expect("a width that rings have");
        let marks = Marks::of(width, group, STRETCH);
        let (slots, marked) = (u64::from(width), marks.bytes().next_multiple_of(8));
        let data = Memory::zeroed(layout.strides[0] * slots * of_all)?;
        let words = Memory::zeroed(size_of::<RingWords>() as u64 * of_all)?;
        let control = Memory::zeroed(8 * slots * of_all)?;
        let done = Memory::zeroed(marked * of_all)?;
        let came = Memory::zeroed(32)?;
        let begin = RingWords {
            room: Line(width),
            ..RingWords::default()
        };
        let ring = |r: u64| Ring {
            words: words.0 + size_of::<RingWords>() as u64 * r,
            control: control.0 + 8 * slots * r,
            done: done.0 + marked * r,
            freed: done.0 + marked * r + marks.freed(),
            width,
            group,
            stretch: STRETCH,
            ..Ring::default()
        };
        let all: Vec<Ring> = (0..of_all).map(ring).collect();
        let side_by_side = Memory::zeroed(size_of_val(&all[..]) as u64)?;
        let each = count.div_ceil(of_all);
        let (mut one, mut width, mut each_at, mut all_at) = (ring(0), width, each, side_by_side.0);
        let (mut data_at, mut came_at, mut words_at, mut tickets) =
            (data.0, came.0, words.0, control.0);
        let of_broker = [
            (&raw mut words_at).cast::<c_void>(),
            (&raw mut tickets).cast(),
            (&raw mut data_at).cast(),
            (&raw mut width).cast(),
            (&raw mut each_at).cast(),
            (&raw mut came_at).cast(),
        ];
        let mut of_ring = |ring: *mut c_void| {
            [
                ring,
                (&raw mut data_at).cast(),
                (&raw mut each_at).cast(),
                (&raw mut came_at).cast(),
            ]
        };
        let mut args = match by {
            By::Broker => of_broker.to_vec(),
            By::SideBySide => of_ring((&raw mut all_at).cast()).to_vec(),
            By::Wavefronts | By::Warps | By::Lanes | By::Polls => {
                of_ring((&raw mut one).cast()).to_vec()
            }
        };
        let mut found = [0; 4];
        // SAFETY: the arguments are what the kernel takes, and live until it has ended; all blocks are on the GPU at once. What is copied are plain
        // structures of C, to memory of that length.
        unsafe {
            // A broker's words are fewer, and begin as zeros.
            if by != By::Broker {
                result::memcpy_htod_sync(words.0, &vec![begin; rings as usize])?;
                result::memcpy_htod_sync(side_by_side.0, &all)?;
            }
            let stream = result::stream::null();
            let flags = sys::CUevent_flags::CU_EVENT_DEFAULT;
            let (start, end) = (result::event::create(flags)?, result::event::create(flags)?);
            result::event::record(start, stream)?;
            result::launch_cooperative_kernel(
                function,
                (blocks, 1, 1),
                (kernel::BLOCK, 1, 1),
                0,
                stream,
                &mut args,
            )?;
            result::event::record(end, stream)?;
            result::event::synchronize(end)?;
            let seconds = f64::from(result::event::elapsed(start, end)?) / 1e3;
            result::event::destroy(start)?;
            result::event::destroy(end)?;
            result::memcpy_dtoh_sync(&mut found, came.0)?;
            Ok(Ran {
                seconds,
                rings,
                elements: each * of_all,
                came: found,
            })
        }
    }
}

/// What a kernel did.
struct Ran {
    seconds: f64,
    /// Queues, side by side.
    rings: u32,
    /// Elements that were passed through all of them.
    elements: u64,
    /// How many were consumed, their sum, how many had words that differ, and how many wavefronts of producers found no room when they came.
    came: [u64; 4],
}

/// Kernels that pass elements in one way, for the papers' figures.
#[derive(Debug)]
pub(crate) struct Passage {
    gpu: Gpu,
    passing: Passing,
}

impl Passage {
    pub(crate) fn new(gpu: &DeviceInfo, passing: Passing) -> Result<Self, String> {
        let Passing { lie, whole, .. } = passing;
        let gpu = Gpu::new((gpu.ordinal, Arch(gpu.arch)), 4, lie, whole)?;
        Ok(Self { gpu, passing })
    }

    /// Passes so many elements: seconds, checked, and how many wavefronts of producers found no room when they came.
    pub(crate) fn pass(&self, count: u64) -> Result<(f64, u64), String> {
        let by = match self.passing.batch {
            TILE => By::Wavefronts,
            kernel::WARP => By::Warps,
            1 => By::Lanes,
            other => return Err(format!("no kernel reserves {other} elements at once")),
        };
        let Passing { width, group, .. } = self.passing;
        let ran = self.gpu.pass(by, count, (width, group), None)?;
        Ok((ran.seconds, ran.came[3]))
    }
}

/// Elements a second, beside what is not amortised.
pub(crate) fn rates(
    ordinal: u32,
    arch: u32,
    rounds: usize,
    quick: bool,
) -> Result<Vec<Rate>, String> {
    say!(
        "\nElements through one queue of width {WIDTH}, all blocks at once, G/s\n\n\
         | bytes | ring, a wavefront a block | ring, an operation a lane | broker queue | ratio to the lane's | to the broker's |\n\
         |---|---|---|---|---|---|"
    );
    let mut rates = Vec::new();
    for words in [1, 4, 16] {
        let gpu = Gpu::new((ordinal, Arch(arch)), words, Lie::Structs, true)?;
        let best = |by, count: u64| -> Result<f64, String> {
            let mut best = f64::INFINITY;
            for _ in 0..=rounds {
                best = best.min(gpu.pass(by, count, (WIDTH, GROUP), None)?.seconds);
            }
            Ok(count as f64 / best / 1e9)
        };
        let count = if quick { 1 << 22 } else { 1 << 30 };
        let ours = best(By::Wavefronts, count)?;
        let lanes = best(By::Lanes, count / 16)?;
        let broker = best(By::Broker, count / 16)?;
        say!(
            "| {} | {ours:.2} | {lanes:.2} | {broker:.2} | {:.1} | {:.1} |",
            4 * words,
            ours / lanes,
            ours / broker
        );
        for (rival, theirs) in [("an operation a lane", lanes), ("broker queue", broker)] {
            rates.push(Rate {
                device: format!("cuda:{ordinal}"),
                element_bytes: 4 * words,
                rival,
                ours: ours * 1e3,
                theirs: theirs * 1e3,
                ratio: ours / theirs,
            });
        }
    }
    Ok(rates)
}

/// What is paid once a look, or once a wavefront.
pub(crate) fn costs(ordinal: u32, arch: u32, quick: bool) -> Result<Vec<Cost>, String> {
    say!("\nWhat a ring costs, by a block alone\n\n| what | ns |\n|---|---|");
    let gpu = Gpu::new((ordinal, Arch(arch)), 1, Lie::Structs, true)?;
    let count = if quick { 1 << 12 } else { 1 << 20 };
    let wavefronts = |lanes: u32, what| {
        let most = u64::from(lanes) * count / 16;
        (By::Wavefronts, most, lanes, most / u64::from(lanes), what)
    };
    let rows = [
        (By::Polls, count, WIDTH, count, "a look at an empty ring"),
        // The ring is as wide as a wavefront.
        wavefronts(1, "a wavefront of one element, there and back"),
        wavefronts(TILE, "a wavefront of 1,024, there and back"),
    ];
    let cost = |(by, count, width, times, what): (By, u64, u32, u64, &'static str)| {
        let run = gpu.run(by, count, width, GROUP, Some(1));
        let Ran { seconds, came, .. } = run.map_err(failed)?;
        if came[0] != count {
            return Err(format!("{what}: {} of {count}", came[0]));
        }
        let ns = seconds * 1e9 / times as f64;
        say!("| {what} | {ns:.0} |");
        let device = format!("cuda:{ordinal}");
        Ok(Cost { device, what, ns })
    };
    rows.into_iter().map(cost).collect()
}

/// Passes so many elements through rings of all kinds of widths. Where a ring holds less than a wavefront, each waits for the one before to come and go:
/// there as many rings as the GPU has blocks for stand side by side.
pub(crate) fn deliver(ordinal: u32, arch: u32, count: u64) -> Result<Vec<Delivered>, String> {
    say!(
        "\nElements of 4 bytes, two blocks or more at each ring: each arrives once\n\n\
         | width | rings | elements | seconds | M/s |\n|---|---|---|---|---|"
    );
    let gpu = Gpu::new((ordinal, Arch(arch)), 1, Lie::Structs, true)?;
    let one = |width: u32| {
        let (by, blocks) = if width < TILE {
            (By::SideBySide, None)
        } else {
            // More would stand in each other's way.
            let blocks = (2 * width / TILE).min(gpu.multiprocessors);
            (By::Wavefronts, Some(blocks))
        };
        let ran = gpu.pass(by, count, (width, GROUP), blocks)?;
        let (rings, elements, seconds) = (ran.rings, ran.elements, ran.seconds);
        say!(
            "| {width} | {rings} | {elements} | {seconds:.2} | {:.1} |",
            elements as f64 / seconds / 1e6
        );
        Ok(Delivered {
            device: format!("cuda:{ordinal}"),
            width,
            rings,
            elements,
            seconds,
        })
    };
    WIDTHS.into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_compile() {
        let nvrtc = match nvrtc::find() {
            Ok(found) => found,
            Err(why) => return eprintln!("SKIPPED: {why}"),
        };
        let ways = [Lie::Structs, Lie::Arrays, Lie::Padded].map(|lie| (4, lie, true));
        let others = [
            (1, Lie::Structs, true),
            (16, Lie::Structs, true),
            (4, Lie::Arrays, false),
        ];
        for (words, lie, whole) in ways.into_iter().chain(others) {
            let how = How {
                check: true,
                ..How::default()
            };
            match nvrtc.compile(&text(words, lie, whole), Arch(90), how) {
                Ok(compiled) => println!("{words} words, {lie:?}: {}", compiled.log),
                Err(e) => panic!("{words} words, {lie:?}: {e}"),
            }
        }
    }
}
