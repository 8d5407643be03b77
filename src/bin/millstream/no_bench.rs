//! `millstream bench` where a device was left out: what it compares needs both.

/// Whatever was asked for.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    rest: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<(), String> {
    tracing::debug!(arguments = ?args.rest, "not measured");
    Err("this build measures nothing: build it with the features `cpu` and `cuda`".into())
}
