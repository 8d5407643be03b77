//! The lowering: from tasks that spawn and sync to a levelized program.
//!
//! [`lower`] is the table of contents: one pass, one file. The verifier looks at what each leaves, where debug assertions are on.

mod alike;
mod bounds;
pub mod check;
mod choices;
mod copies;
pub mod decide;
mod edit;
mod ends;
mod held;
mod inline;
mod loops;
mod parts;
mod peel;
mod places;
mod private;
mod pushes;
mod reduce;
mod restart;
mod scalars;
mod simplify;
mod specialise;
mod split;
mod tables;
mod turns;
mod unread;
mod unroll;

use millstream_graph::{
    ir::{Combine, FuncId, Function, FunctionKind, Program},
    levelized::{Levelized, Tasks},
    verify::{VerifyError, verify, verify_levelized},
};
use split::Split;
use std::sync::Arc;

/// What came out breaks the rules of levelized programs: an error of the lowering itself.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the lowered program is wrong (an error in Millstream): {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct LowerError(pub Vec<check::CheckError>);

/// Lowers a program that the front end made or the verifier passed. One that asks whether the device is wide, or whose restart points depend
/// on that, is lowered twice, each time as if it had been written for such devices alone.
///
/// # Errors
/// If what came out does not hold what [`Levelized`] promises: a fault of the lowering, found by its checker.
pub fn lower(program: &Program) -> Result<Levelized, LowerError> {
    let asks = decide::asks(program);
    let of_wide = asks.then(|| prepare(decide::decide(program, true)));
    let (prepared, tasks) = prepare(match asks {
        true => decide::decide(program, false),
        false => program.clone(),
    });
    let splits = split_all(&prepared, &tasks);
    let wide = match &of_wide {
        Some((program, tasks)) => Some(finish(program, &split_all(program, tasks), true)?),
        None if splits.iter().any(Split::differs) => Some(finish(&prepared, &splits, true)?),
        None => None,
    };
    let mut lowered = finish(&prepared, &splits, false)?;
    if let Some(wide) = &wide {
        let callable = || program.callable().map(|(id, _)| id);
        debug_assert!(callable().all(|f| lowered.task_of(f) == wide.task_of(f)));
    }
    lowered.wide = wide.map(Arc::new);
    Ok(lowered)
}

/// A task, and how its result is combined.
type Task = (FuncId, Combine);

/// What comes before the split, of a program that asks nothing of the device. Gives the tasks too.
fn prepare(mut program: Program) -> (Program, Vec<Task>) {
    for function in &mut program.functions {
        simplify::simplify(function, None);
    }
    holds_after("simplify", || verify(&program));
    inline::inline(&mut program, shrink);
    holds_after("inline", || verify(&program));
    let helpers = program.functions.iter_mut();
    for helper in helpers.filter(|f| f.kind == FunctionKind::Helper) {
        unroll::unroll(helper, None);
        bounds::remove(helper, None);
        held::keep(helper, None);
    }
    holds_after("bounds", || verify(&program));
    choices::choose(&mut program);
    holds_after("choices", || verify(&program));
    ends::part(&mut program);
    holds_after("ends", || verify(&program));
    reduce::gather(&mut program);
    holds_after("gather", || verify(&program));
    alike::join(&mut program);
    holds_after("alike", || verify(&program));
    let tasks = specialise::specialise(&mut program);
    holds_after("specialise", || verify(&program));
    unread::drop(&mut program, &tasks);
    holds_after("unread", || verify(&program));
    (program, tasks)
}

/// So often what is copied is looked at again.
const COPIES_OF_COPIES: usize = 4;

/// What is done to a function that its callees were put into, before it comes into its callers.
fn shrink(program: &Program, function: &mut Function) {
    simplify::simplify(function, None);
    // What comes apart is copied in parts, and what is copied less comes apart.
    for _ in 0..COPIES_OF_COPIES {
        if !(parts::take_apart(program, function) | copies::forward(program, function)) {
            break;
        }
        simplify::simplify(function, None);
    }
    tables::look_up(program, function);
}

fn split_all<'a>(program: &'a Program, tasks: &[Task]) -> Vec<Split<'a>> {
    let tasks = tasks.iter();
    tasks.map(|task| Split::new(program, *task)).collect()
}

/// What comes behind the split, in one of its forms.
fn finish(program: &Program, splits: &[Split<'_>], wide: bool) -> Result<Levelized, LowerError> {
    let mut tasks = Tasks {
        program: program.clone(),
        tasks: splits.iter().map(|s| s.form(wide)).collect(),
    };
    holds_after("split", || {
        let mut counted = tasks.clone();
        pushes::count(&mut counted, wide);
        verify_levelized(&counted.levelized())
    });
    peel::peel(&mut tasks);
    pushes::count(&mut tasks, wide);
    let lowered = tasks.levelized();
    holds_after("peel", || verify_levelized(&lowered));
    let errors = check::check(&lowered);
    if errors.is_empty() {
        Ok(lowered)
    } else {
        Err(LowerError(errors))
    }
}

/// In builds with debug assertions, as tests are: what a pass left is what the verifier says that it must be.
fn holds_after(pass: &str, verify: impl FnOnce() -> Result<(), Vec<VerifyError>>) {
    if cfg!(debug_assertions)
        && let Err(errors) = verify()
    {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        panic!("`{pass}` left a wrong program: {}", errors.join("; "));
    }
}
