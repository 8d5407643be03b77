//! Channel layouts, and the code generators that make wavefronts of segments.
//!
//! [`layout`] is the one source of how channel stacks lie in memory; [`cpu`] compiles segments to machine code with
//! Cranelift (feature `cpu`), and `cuda` makes CUDA C++ of them (feature `cuda`).

#[cfg(feature = "cpu")]
pub mod cpu;
/// What workers of the CPU device and compiled code share; there is no compiler in this build.
#[cfg(not(feature = "cpu"))]
pub mod cpu {
    pub mod abi;
}
#[cfg(feature = "cuda")]
pub mod cuda;
pub mod layout;
pub mod ring;
pub mod status;
