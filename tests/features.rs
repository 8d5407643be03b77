//! A device is there if its feature is; who asks for one that was left out is told what to build with.

#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    reason = "a module of a program; a test ends there"
)]

use millstream::{Device, Error};

#[millstream::program]
mod fib {
    #[task]
    pub fn fib(n: u32) -> u64 {
        if n < 2 {
            return n as u64;
        }
        let x = spawn!(fib(n - 1));
        let y = spawn!(fib(n - 2));
        sync!();
        x + y
    }
}

fn left_out(error: &Error, with: &str) -> bool {
    matches!(error, Error::NotBuilt { feature, .. } if *feature == with)
}

/// The device if its feature is on and the machine has it.
fn checked(made: Result<Device, Error>, built: bool, feature: &str) -> Option<Device> {
    match made {
        Ok(device) => {
            assert!(built, "{device:?}");
            assert_eq!(device.run(fib::call::fib(20)).unwrap(), fib::fib(20));
            Some(device)
        }
        Err(error) => {
            assert_eq!(left_out(&error, feature), !built, "{error}");
            let text = format!("build it with the feature `{feature}`");
            assert_eq!(error.to_string().contains(&text), !built, "{error}");
            None
        }
    }
}

#[test]
fn devices_are_there_by_their_features() {
    let cpu = checked(Device::cpu(), cfg!(feature = "cpu"), "cpu");
    assert_eq!(cpu.is_some(), cfg!(feature = "cpu"));
    let gpu = checked(Device::cuda(0), cfg!(feature = "cuda"), "cuda");
    match Device::auto() {
        Ok(device) => assert!(gpu.is_some() || cpu.is_some(), "{device:?}"),
        // Why the GPU does not work, and not that there is no CPU.
        Err(error) => assert!(cpu.is_none() && !left_out(&error, "cpu"), "{error}"),
    }
}

/// Where the command is built, its `doctor` says what was left out, and that is no failure.
#[test]
fn doctor_says_what_was_left_out() {
    let Some(command) = option_env!("CARGO_BIN_EXE_millstream") else {
        return;
    };
    let done = std::process::Command::new(command).arg("doctor").output();
    let done = done.unwrap();
    let text = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{text}");
    for (device, feature, built) in [
        ("CPU", "cpu", cfg!(feature = "cpu")),
        ("CUDA", "cuda", cfg!(feature = "cuda")),
    ] {
        let missing = format!(
            "state       this build has no {device} device: build it with the feature `{feature}`"
        );
        assert_eq!(text.contains(&missing), !built, "{text}");
    }
}
