//! The lowering: from tasks that spawn and sync to a levelized program.
//!
//! [`lower`] is the table of contents: one pass, one file. The verifier looks at what each leaves, where debug assertions are on.

pub mod check;
mod edit;
mod inline;
mod liveness;
mod peel;
mod pushes;
mod reduce;
mod restart;
mod simplify;
mod specialise;
mod split;

use millstream_graph::{
    ir::Program,
    levelized::Levelized,
    verify::{VerifyError, verify, verify_levelized},
};

/// What came out breaks the rules of levelized programs: an error of the lowering itself.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the lowered program is wrong (an error in Millstream): {}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct LowerError(pub Vec<check::CheckError>);

/// Lowers a program that the front end made or the verifier passed.
///
/// # Errors
/// If what came out does not hold what [`Levelized`] promises: a fault of the lowering, found by its checker.
pub fn lower(program: &Program) -> Result<Levelized, LowerError> {
    let mut program = program.clone();
    for function in &mut program.functions {
        simplify::simplify(function, None);
    }
    holds_after("simplify", || verify(&program));
    inline::inline(&mut program);
    holds_after("inline", || verify(&program));
    reduce::gather(&mut program);
    holds_after("gather", || verify(&program));
    let tasks = specialise::specialise(&mut program);
    holds_after("specialise", || verify(&program));
    let tasks = tasks
        .into_iter()
        .map(|(func, combine)| split::split(&program, func, combine))
        .collect();
    let mut lowered = Levelized { program, tasks };
    holds_after("split", || {
        let mut counted = lowered.clone();
        pushes::count(&mut counted);
        verify_levelized(&counted)
    });
    peel::peel(&mut lowered);
    pushes::count(&mut lowered);
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

#[cfg(test)]
mod tests;
