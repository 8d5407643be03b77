//! The lowering: from tasks that spawn and sync to a levelized program.
//!
//! [`lower`] is the table of contents: one pass, one file.

pub mod check;
mod edit;
mod inline;
mod liveness;
mod peel;
mod pushes;
mod reduce;
mod simplify;
pub mod simulate;
mod specialise;
mod split;

use millstream_graph::{ir::Program, levelized::Levelized};

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
    inline::inline(&mut program);
    reduce::gather(&mut program);
    let tasks = specialise::specialise(&mut program);
    let tasks = tasks
        .into_iter()
        .map(|(func, combine)| split::split(&program, func, combine))
        .collect();
    let mut lowered = Levelized { program, tasks };
    peel::peel(&mut lowered);
    pushes::count(&mut lowered);
    let errors = check::check(&lowered);
    if errors.is_empty() {
        Ok(lowered)
    } else {
        Err(LowerError(errors))
    }
}

#[cfg(test)]
mod tests;
