//! A program's CUDA text as a library of this computer, and runs of it.

use millstream_channels_kernel::cuda::{
    Options, Plan,
    abi::{Control, Dispatch, Mailbox, status},
    arena::Arena,
    generate,
    policy::{Decision, Done, Policy, Run},
};
use millstream_graph::{
    levelized::{Levelized, StackRef},
    ty::PieceKind,
};
use millstream_tests::value::Piece;
use std::{cell::Cell, process::Command};

/// Who decides, and with how many blocks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum How {
    Persistent {
        blocks: u32,
    },
    Host {
        blocks: u32,
    },
    /// A block as long as it can, then the host for some dispatches.
    Both {
        blocks: u32,
    },
}

/// A program's kernels.
pub(crate) struct Emulated {
    plan: Plan,
    library: libloading::Library,
    budget: u64,
    /// Dispatches of the last run by a persistent aggregator, and those of them that were narrow.
    pub(crate) dispatches: Cell<(u64, u64)>,
}

/// The bytes of the result, and of each piece of memory afterwards.
pub(crate) type Images = (Vec<u8>, Vec<Vec<u8>>);

type SetChannels = unsafe extern "C" fn(*const u8, usize);
type StartPersistent = unsafe extern "C" fn(*const u8, usize, *mut u8, u32, u32);
type StartDispatch = unsafe extern "C" fn(u32, *const u32, u32);

/// What stands behind the text: a door to each kernel.
fn doors(plan: &Plan) -> String {
    let cases: String = (0..plan.kernels())
        .map(|i| format!("    case {i}: launch(blocks, [&] {{ dispatch_{i}(d); }}); break;\n"))
        .collect();
    format!(
        r#"
extern "C" void set_channels(const char* channels, size_t size) {{ memcpy((void*)&ch, channels, size); }}
extern "C" void start_persistent(const char* channels, size_t size, char* dispatch, unsigned blocks, unsigned small) {{
  set_channels(channels, size);
  launch(blocks, [=] {{ persistent((Dispatch*)dispatch, small); }});
}}
extern "C" void start_dispatch_of(unsigned source, const unsigned* dispatch, unsigned blocks) {{
  const Dispatch d = *(const Dispatch*)dispatch;
  switch (source) {{
{cases}  }}
}}
"#
    )
}

impl Emulated {
    /// Compiles a program.
    pub(crate) fn new(program: &Levelized, budget: u64) -> Result<Self, String> {
        let plan = Plan::new(program, budget);
        let text = generate(
            &plan,
            Options {
                lines: false,
                ..Options::default()
            },
        )
        .source;
        let header = include_str!("../../../channels-kernel/src/cuda/tests/emulate.h");
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (
            folder.path().join("program.cpp"),
            folder.path().join("program.so"),
        );
        std::fs::write(&from, format!("{header}{text}{}", doors(&plan))).unwrap();
        let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
        let output = Command::new(&compiler)
            .args([
                "-std=c++20",
                "-O1",
                "-shared",
                "-fPIC",
                "-pthread",
                "-w",
                "-fno-strict-aliasing",
                "-ffp-contract=off",
                "-o",
            ])
            .args([&to, &from])
            .output()
            .map_err(|e| format!("{compiler}: {e}"))?;
        if !output.status.success() {
            return Err(format!(
                "{compiler}: {}",
                String::from_utf8_lossy(&output.stderr)
            ));
        }
        // SAFETY: the library was just made from the text above, and has no initialisers that ask anything.
        let library = unsafe { libloading::Library::new(&to) }.map_err(|e| e.to_string())?;
        Ok(Self {
            plan,
            library,
            budget,
            dispatches: Cell::default(),
        })
    }

    /// Runs one call. The library's globals stand for the device's: one run of a library at a time.
    pub(crate) fn run(&self, task: &str, pieces: Vec<Piece>, how: How) -> Result<Images, String> {
        let plan = &self.plan;
        let entry = plan.program.find(task).ok_or("no such task")?;
        let arena = Arena::new(plan, self.budget, entry, 1).ok_or("the budget is too small")?;
        let mut lent: Vec<(Vec<u64>, usize)> = Vec::new();
        let fields: Vec<Vec<u8>> = pieces
            .into_iter()
            .zip(&plan.program[entry].element)
            .map(|(piece, field)| match (piece, field.kind) {
                (Piece::Scalar(bits), PieceKind::Scalar(s)) => {
                    bits.to_le_bytes()[..s.size() as usize].to_vec()
                }
                (Piece::Blob(bytes), _) => bytes,
                (Piece::Memory(bytes), _) => {
                    let word = |c: &[u8]| c.iter().rev().fold(0, |w, b| w << 8 | u64::from(*b));
                    // An empty one has an address too.
                    let mut words: Vec<u64> = bytes.chunks(8).map(word).chain([0]).collect();
                    let address = words.as_mut_ptr() as u64;
                    lent.push((words, bytes.len()));
                    address.to_le_bytes().to_vec()
                }
                (Piece::Scalar(_), PieceKind::Blob(_)) => panic!("a scalar for an array"),
            })
            .collect();
        // What is not zeroed holds anything.
        let mut memory =
            vec![u128::from_ne_bytes([0xa5; 16]); (arena.size as usize).div_ceil(16) + 16];
        let start = memory.as_mut_ptr().cast::<u8>();
        // SAFETY: there are 256 bytes to spare.
        let start = unsafe { start.add(start.align_offset(128)) };
        // SAFETY: inside the block.
        unsafe { start.write_bytes(0, arena.zeroed as usize) };
        let base = start as u64;
        let write = |offset: u64, bytes: &[u8]| {
            assert!(offset + bytes.len() as u64 <= arena.size);
            // SAFETY: inside the block.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    bytes.as_ptr(),
                    start.add(offset as usize),
                    bytes.len(),
                )
            };
        };
        let told = Mailbox::new(plan);
        let (mut cancel, mut mailbox) = (0u32, told.zeroed());
        let control = Control {
            max_depth: 1000,
            watchdog: 20_000_000_000,
            cancel: (&raw mut cancel) as u64,
            mailbox: mailbox.as_mut_ptr() as u64,
            ..arena.control(base)
        };
        // SAFETY: the record is plain words.
        write(arena.control, unsafe {
            std::slice::from_raw_parts((&raw const control).cast::<u8>(), size_of::<Control>())
        });
        for (offset, bytes) in arena.root_elements(plan, base, &[fields]) {
            write(offset, &bytes);
        }
        let channels = arena.channels(base);
        // SAFETY: the text defines them so.
        let (set, persistent, dispatch) = unsafe {
            (
                self.library
                    .get::<SetChannels>(b"set_channels")
                    .map_err(|e| e.to_string())?,
                self.library
                    .get::<StartPersistent>(b"start_persistent")
                    .map_err(|e| e.to_string())?,
                self.library
                    .get::<StartDispatch>(b"start_dispatch_of")
                    .map_err(|e| e.to_string())?,
            )
        };
        // SAFETY: as long as it says.
        unsafe { set(channels.as_ptr(), channels.len()) };
        let read = |offset: u64, bytes: u64| -> Vec<u32> {
            assert!(offset + bytes <= arena.size);
            // SAFETY: inside the block, and aligned.
            unsafe {
                std::slice::from_raw_parts(
                    start.add(offset as usize).cast::<u32>(),
                    bytes as usize / 4,
                )
            }
            .to_vec()
        };
        let bytes_of = |words: Vec<u32>| {
            words
                .into_iter()
                .flat_map(u32::to_le_bytes)
                .collect::<Vec<u8>>()
        };
        let mut policy = Policy::new(
            plan,
            &arena.capacities,
            plan.number_of(StackRef::Entry(entry), false),
            1,
            0,
        )
        .with_block(8);
        let blocks = match how {
            How::Persistent { blocks } | How::Host { blocks } | How::Both { blocks } => blocks,
        };
        let (mut number, mut pending, mut by_host) = (0, None, 0);
        loop {
            number += 1;
            if !matches!(how, How::Host { .. })
                && pending.is_none()
                && policy.rests()
                && by_host % 3 == 0
            {
                write(arena.standing, &bytes_of(policy.standing()));
                for (level, record) in (0..).map_while(|l| Some((l, policy.record(l as usize)?))) {
                    write(
                        arena.records + level * plan.record_bytes(),
                        &bytes_of(record),
                    );
                }
                let small = u32::from(matches!(how, How::Both { .. }));
                let launched = if small == 1 { 1 } else { blocks };
                // SAFETY: the block is laid out as the text expects.
                unsafe {
                    persistent(
                        channels.as_ptr(),
                        channels.len(),
                        start.add(arena.dispatch as usize),
                        launched,
                        small,
                    )
                };
                let standing = read(arena.standing, plan.standing_bytes());
                policy.resume(
                    &standing,
                    &read(
                        arena.records,
                        plan.record_bytes() * Policy::reached(plan, &standing) as u64,
                    ),
                );
                // SAFETY: the record is plain words, and lies aligned in the block.
                if unsafe { start.add(arena.control as usize).cast::<Control>().read() }.over == 0 {
                    break;
                }
                pending = Some(Decision::Run(Run::from_words(
                    plan,
                    &read(arena.dispatch, 4 * plan.dispatch_words() as u64),
                )));
            }
            by_host += 1;
            let (run, words) = match pending.take().unwrap_or_else(|| policy.decide()) {
                Decision::Run(run) => (Some(run.clone()), run.words(plan, number)),
                Decision::Move(words) => (None, words),
                Decision::Done => break,
                Decision::Full(stack) => return Err(format!("{} is full", plan.stack_name(stack))),
            };
            // SAFETY: the block is laid out as the text expects, the record has all its words.
            unsafe {
                dispatch(
                    Dispatch::new(plan).source.get(&words),
                    words.as_ptr(),
                    blocks,
                )
            };
            if told.status.get(&mailbox) != status::OK || told.number.get(&mailbox) != number {
                break;
            }
            if let Some(run) = run {
                policy.take(&run, &Done::from_words(plan, &mailbox), number + 1);
            }
        }
        // SAFETY: the record is plain words, and lies aligned in the block.
        let control = unsafe { start.add(arena.control as usize).cast::<Control>().read() };
        self.dispatches.set((control.dispatches, control.narrow));
        if control.status != status::OK {
            return Err(format!(
                "status {}, site {}, values {:?}, level {}",
                control.status,
                control.site,
                control.values,
                policy.level()
            ));
        }
        // SAFETY: inside the block.
        let result = unsafe {
            std::slice::from_raw_parts(
                start.add(arena.results as usize),
                arena.result.size as usize,
            )
        }
        .to_vec();
        let image = |(words, len): (Vec<u64>, usize)| {
            words
                .into_iter()
                .flat_map(u64::to_le_bytes)
                .take(len)
                .collect()
        };
        Ok((result, lent.into_iter().map(image).collect()))
    }
}
