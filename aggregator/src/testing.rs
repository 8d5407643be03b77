//! A program whose segments are written by hand, as the code generator would: workers can be tested without one.
//!
//! - `fib(n)`: two counted spawns, one sync
//! - `count+add(n, seed)`: the size of a random unbalanced tree; spawns that cannot be counted, results that are added
//! - `repeat(n, times)`: `fib(n)` over and over, a sync in a loop: a continuation that continues
//! - `sleepy(n)`: a tree of heavy leaves; faults for 1001, loops until cancelled for 1002, makes
//!   the worker panic for 1003

use crate::plan::Code;
use millstream_channels_kernel::cpu::abi::{
    ContinuationFn, EntryFn, StackState, WorkerContext, status,
};
use millstream_graph::{
    fault::Fault,
    ir::{
        CheckKind, Combine, FuncId, Function, FunctionKind, LocalId, Param, Program, SegmentId,
        Span, TaskId,
    },
    levelized::{Field, Levelized, LoweredSegment, LoweredTask, Push, StackRole, Tasks},
    ty::{PieceKind, Scalar, Type},
};

pub(crate) const FIB: TaskId = TaskId(0);
pub(crate) const COUNT: TaskId = TaskId(1);
pub(crate) const REPEAT: TaskId = TaskId(2);
pub(crate) const SLEEPY: TaskId = TaskId(3);

/// The code above.
#[derive(Debug)]
pub(crate) struct ByHand;

impl Code for ByHand {
    fn entry(&self, task: TaskId) -> EntryFn {
        [
            fib_entry as EntryFn,
            count_entry,
            repeat_entry,
            sleepy_entry,
        ][task.index()]
    }
    fn continuation(&self, task: TaskId, _: SegmentId) -> ContinuationFn {
        [
            fib_rest as ContinuationFn,
            count_rest,
            repeat_rest,
            sleepy_rest,
        ][task.index()]
    }
    fn fault(&self, site: u32, _: [u64; 2]) -> Fault {
        assert_ne!(site, 1003, "the bug that was asked for");
        let kind = CheckKind::Panic("by hand".into());
        Fault {
            kind,
            values: Vec::new(),
            function: "sleepy".into(),
            file: "testing.rs".into(),
            span: Span::default(),
        }
    }
    fn function_name(&self, _: u32) -> String {
        "helper".into()
    }
}

/// What the code above is of.
pub(crate) fn program() -> Levelized {
    use Scalar::{Ptr, U32, U64};
    let mut program = Program::default();
    let mut tasks = Vec::new();
    let mut add = |name: &str,
                   params: &[(&str, Scalar)],
                   frame: &[(&str, Scalar)],
                   combine,
                   spawns: &[(TaskId, Option<u32>)]| {
        let id = TaskId::new(tasks.len());
        let params: Vec<Param> = params
            .iter()
            .map(|p| Param {
                name: p.0.into(),
                ty: Type::Scalar(p.1),
            })
            .collect();
        let function = |kind| Function {
            name: name.into(),
            kind,
            rounds: false,
            team: None,
            params: params.clone(),
            ret: Type::Scalar(U64),
            args: Vec::new(),
            locals: Vec::new(),
            slots: Vec::new(),
            blocks: Vec::new(),
            span: Span::default(),
        };
        let field = |(name, s): (&str, Scalar)| Field {
            name: name.into(),
            kind: PieceKind::Scalar(s),
        };
        let fields = |of: &[(&str, Scalar)]| {
            of.iter()
                .copied()
                .chain([("return", Ptr)])
                .map(field)
                .collect()
        };
        let params: Vec<(&str, Scalar)> = params
            .iter()
            .map(|p| (&*p.name, p.ty.scalar().expect("a scalar")))
            .collect();
        let rest = StackRole::Continuation(id, SegmentId(1));
        let push = |stack, max| Push { stack, max };
        let children = spawns
            .iter()
            .map(|&(t, max)| push(StackRole::Entry(t), max));
        let entry = children
            .clone()
            .chain([push(StackRole::Frame(id), Some(1)), push(rest, Some(1))])
            .collect();
        let again = if name == "repeat" {
            children.chain([push(rest, Some(1))]).collect()
        } else {
            Vec::new()
        };
        let segment = |number: u32, pushes| LoweredSegment {
            body: Function {
                name: format!("{name}.{number}"),
                ..function(FunctionKind::Segment)
            },
            ret: Some(LocalId(0)),
            pushes,
        };
        let task = LoweredTask {
            func: FuncId::new(id.index()),
            name: name.into(),
            combine,
            element: fields(&params),
            frame: fields(frame),
            segments: vec![segment(0, entry), segment(1, again)],
        };
        program.functions.push(function(FunctionKind::Task));
        tasks.push(task);
    };
    add(
        "fib",
        &[("n", U32)],
        &[("x", U64), ("y", U64)],
        Combine::Store,
        &[(FIB, Some(2))],
    );
    add(
        "count+add",
        &[("n", U32), ("seed", U64)],
        &[("total", U64)],
        Combine::Add,
        &[(COUNT, None)],
    );
    add(
        "repeat",
        &[("n", U32), ("times", U32)],
        &[("n", U32), ("times", U32), ("acc", U64), ("x", U64)],
        Combine::Store,
        &[(FIB, Some(1))],
    );
    add(
        "sleepy",
        &[("n", U32)],
        &[("x", U64), ("y", U64)],
        Combine::Store,
        &[(SLEEPY, Some(2))],
    );
    Tasks { program, tasks }.levelized()
}

/// `count` in plain Rust.
pub(crate) fn count(n: u32, seed: u64) -> u64 {
    1 + (0..children(n, seed))
        .map(|i| count(n - 1, mix(seed + i)))
        .sum::<u64>()
}

/// `fib` in plain Rust.
pub(crate) fn fib(n: u32) -> u64 {
    if n < 2 {
        u64::from(n)
    } else {
        fib(n - 1) + fib(n - 2)
    }
}

fn children(n: u32, seed: u64) -> u64 {
    if n == 0 { 0 } else { seed % 5 }
}

fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 7
}

/// A field's array.
unsafe fn field<T>(ctx: *mut WorkerContext, i: usize) -> *mut T {
    // SAFETY: the context's table has an address for each field of the program.
    unsafe { (*(*ctx).fields.add(i)).cast() }
}

/// Number of the element that is pushed to a stack.
unsafe fn push(ctx: *mut WorkerContext, stack: usize) -> usize {
    // SAFETY: the context has a state for each stack of the program.
    let state: &mut StackState = unsafe { &mut *(*ctx).stacks.add(stack) };
    assert!(state.top < state.limit, "pushes that are counted have room");
    state.top += 1;
    state.top as usize - 1
}

unsafe extern "C" fn fib_entry(ctx: *mut WorkerContext, first: u64, count: u64) -> u64 {
    // SAFETY: the worker's promise to compiled code; numbers of stacks and fields are those of `program`.
    unsafe {
        fib_like(ctx, first, count, [0, 0], |n| {
            (n < 2).then_some(u64::from(n))
        })
    }
}

/// `fib` on the stacks from `base[0]` and the fields from `base[1]`.
unsafe fn fib_like(
    ctx: *mut WorkerContext,
    first: u64,
    count: u64,
    base: [usize; 2],
    leaf: impl Fn(u32) -> Option<u64>,
) -> u64 {
    let [stack, at] = base;
    // SAFETY: as for the caller.
    unsafe {
        let (n, ret) = (field::<u32>(ctx, at), field::<*mut u64>(ctx, at + 1));
        for i in first as usize..(first + count) as usize {
            let (value, to) = (*n.add(i), *ret.add(i));
            if let Some(result) = leaf(value) {
                to.write(result);
            } else {
                let frame = push(ctx, stack + 1);
                *field::<*mut u64>(ctx, at + 4).add(frame) = to;
                for child in 0..2 {
                    let element = push(ctx, stack);
                    *n.add(element) = value - 1 - child as u32;
                    *ret.add(element) = field::<u64>(ctx, at + 2 + child).add(frame);
                }
                *field::<u32>(ctx, at + 5).add(push(ctx, stack + 2)) = frame as u32;
            }
            if (*ctx).status != status::OK {
                return i as u64 - first;
            }
        }
    }
    count
}

unsafe extern "C" fn fib_rest(ctx: *mut WorkerContext, frames: *const u32, count: u64) -> u64 {
    // SAFETY: as in `fib_entry`.
    unsafe { sum(ctx, frames, count, 2) }
}

unsafe fn sum(ctx: *mut WorkerContext, frames: *const u32, count: u64, at: usize) -> u64 {
    for i in 0..count as usize {
        // SAFETY: the references name live frames.
        unsafe {
            let frame = *frames.add(i) as usize;
            let x = *field::<u64>(ctx, at).add(frame) + *field::<u64>(ctx, at + 1).add(frame);
            (*field::<*mut u64>(ctx, at + 2).add(frame)).write(x);
        }
    }
    count
}

unsafe extern "C" fn count_entry(ctx: *mut WorkerContext, first: u64, count: u64) -> u64 {
    for i in first as usize..(first + count) as usize {
        // SAFETY: as in `fib_entry`.
        unsafe {
            let (n, seed, ret) = (
                field::<u32>(ctx, 6),
                field::<u64>(ctx, 7),
                field::<*mut u64>(ctx, 8),
            );
            let (level, own, to) = (*n.add(i), *seed.add(i), *ret.add(i));
            let frame = push(ctx, 4);
            *field::<u64>(ctx, 9).add(frame) = 1;
            *field::<*mut u64>(ctx, 10).add(frame) = to;
            let mut last = false;
            for child in 0..children(level, own) {
                let top = (*(*ctx).stacks.add(3)).top;
                if top == (*(*ctx).stacks.add(3)).limit {
                    last = true;
                    let limit = ((*ctx).more)(ctx, 3, top);
                    (*(*ctx).stacks.add(3)).limit = limit;
                    if top == limit {
                        ((*ctx).status, (*ctx).site) = (status::CHANNEL_FULL, 3);
                        return i as u64 - first;
                    }
                }
                let element = push(ctx, 3);
                *n.add(element) = level - 1;
                *seed.add(element) = mix(own + child);
                *ret.add(element) = field::<u64>(ctx, 9).add(frame);
            }
            *field::<u32>(ctx, 11).add(push(ctx, 5)) = frame as u32;
            if last {
                return i as u64 - first + 1;
            }
        }
    }
    count
}

unsafe extern "C" fn count_rest(ctx: *mut WorkerContext, frames: *const u32, count: u64) -> u64 {
    for i in 0..count as usize {
        // SAFETY: as in `sum`.
        unsafe {
            let frame = *frames.add(i) as usize;
            *(*field::<*mut u64>(ctx, 10).add(frame)) += *field::<u64>(ctx, 9).add(frame);
        }
    }
    count
}

unsafe fn spawn_fib(ctx: *mut WorkerContext, frame: usize) {
    // SAFETY: as in `fib_entry`.
    unsafe {
        let element = push(ctx, 0);
        *field::<u32>(ctx, 0).add(element) = *field::<u32>(ctx, 15).add(frame);
        *field::<*mut u64>(ctx, 1).add(element) = field::<u64>(ctx, 18).add(frame);
        *field::<u32>(ctx, 20).add(push(ctx, 8)) = frame as u32;
    }
}

unsafe extern "C" fn repeat_entry(ctx: *mut WorkerContext, first: u64, count: u64) -> u64 {
    for i in first as usize..(first + count) as usize {
        // SAFETY: as in `fib_entry`.
        unsafe {
            let frame = push(ctx, 7);
            *field::<u32>(ctx, 15).add(frame) = *field::<u32>(ctx, 12).add(i);
            *field::<u32>(ctx, 16).add(frame) = *field::<u32>(ctx, 13).add(i);
            *field::<u64>(ctx, 17).add(frame) = 0;
            *field::<*mut u64>(ctx, 19).add(frame) = *field::<*mut u64>(ctx, 14).add(i);
            spawn_fib(ctx, frame);
        }
    }
    count
}

unsafe extern "C" fn repeat_rest(ctx: *mut WorkerContext, frames: *const u32, count: u64) -> u64 {
    for i in 0..count as usize {
        // SAFETY: as in `sum`.
        unsafe {
            let frame = *frames.add(i) as usize;
            let (times, acc) = (
                field::<u32>(ctx, 16).add(frame),
                field::<u64>(ctx, 17).add(frame),
            );
            *acc += *field::<u64>(ctx, 18).add(frame);
            *times -= 1;
            if *times == 0 {
                (*field::<*mut u64>(ctx, 19).add(frame)).write(*acc);
            } else {
                spawn_fib(ctx, frame);
            }
        }
    }
    count
}

unsafe extern "C" fn sleepy_entry(ctx: *mut WorkerContext, first: u64, count: u64) -> u64 {
    let leaf = |n: u32| match n {
        1001 | 1003 => {
            // SAFETY: the worker's promise to compiled code.
            unsafe { ((*ctx).status, (*ctx).site) = (status::FAULT, n) };
            Some(0)
        }
        1002 => {
            // SAFETY: `cancel` is the address of an atomic that outlives the run.
            let cancel =
                unsafe { std::sync::atomic::AtomicU32::from_ptr((*ctx).cancel.cast_mut()) };
            // Relaxed: pairs with the `fetch_or` of `cpu::cancel`; it only ends the wait.
            while cancel.load(std::sync::atomic::Ordering::Relaxed) == 0 {
                std::thread::yield_now();
            }
            // SAFETY: as above.
            unsafe { (*ctx).status = status::CANCELLED };
            Some(0)
        }
        n if n < 2 => {
            let start = std::time::Instant::now();
            while start.elapsed().as_micros() < 20 {
                std::hint::spin_loop();
            }
            Some(u64::from(n))
        }
        _ => None,
    };
    // SAFETY: as in `fib_entry`.
    unsafe { fib_like(ctx, first, count, [9, 21], leaf) }
}

unsafe extern "C" fn sleepy_rest(ctx: *mut WorkerContext, frames: *const u32, count: u64) -> u64 {
    // SAFETY: as in `fib_entry`.
    unsafe { sum(ctx, frames, count, 23) }
}
