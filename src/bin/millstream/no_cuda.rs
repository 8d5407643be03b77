//! What the command says of GPUs where it was built without them.

use crate::{Failure, doctor::line};
use millstream::{CudaOptions, Device, job::Job};

pub(crate) fn text(_: &Job) -> Result<String, Failure> {
    Err(not_built())
}

pub(crate) fn ptx(job: &Job, _: u32) -> Result<String, Failure> {
    text(job)
}

pub(crate) fn cubin(_: &Job, _: u32) -> Result<Vec<u8>, Failure> {
    Err(not_built())
}

fn not_built() -> Failure {
    Failure::Other("this build makes no code for GPUs: build it with the feature `cuda`".into())
}

/// Nothing is compiled for runs to come.
pub(crate) fn leave_if_only_compiling(_: u8) {}

pub(crate) fn take_over() -> Result<(), Failure> {
    Err(not_built())
}

/// Nothing is left to be done in the background.
pub(crate) fn leave(code: i32) -> ! {
    std::process::exit(code)
}

pub(crate) fn doctor() -> (String, bool) {
    let mut out = String::from("CUDA device\n");
    if let Err(error) = Device::cuda_with(CudaOptions::default()) {
        line(&mut out, "state", error);
    }
    (out, true)
}
