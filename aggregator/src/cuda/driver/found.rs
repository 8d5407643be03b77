//! What of CUDA this machine has: the driver and the GPUs.

use super::{check, sys};
use crate::{error::RunError, gpus::DeviceInfo};
use std::{
    ffi::{CStr, c_int},
    sync::OnceLock,
};

/// Loads and initialises the driver, once.
///
/// # Errors
/// If there is none, or it does not start.
pub(in crate::cuda) fn present() -> Result<(), RunError> {
    static PRESENT: OnceLock<Result<(), RunError>> = OnceLock::new();
    let start = || {
        if std::env::var_os("MILLSTREAM_CUDA").is_some_and(|v| v == "off") {
            return Err(RunError::Device(
                "CUDA is turned off by MILLSTREAM_CUDA=off".to_owned(),
            ));
        }
        // SAFETY: it opens the library and nothing else; the driver's initialisers ask nothing of us.
        if !unsafe { sys::is_culib_present() } {
            let what = "no CUDA driver was found (libcuda.so.1): install NVIDIA's driver, or use the CPU device";
            return Err(RunError::Device(what.to_owned()));
        }
        let mut version = 0;
        check(
            // SAFETY: present; valid for a write. It may be called before the driver is initialised.
            unsafe { sys::cuDriverGetVersion(&raw mut version) },
            "asking for the driver's version",
        )?;
        if version < 12_000 {
            let text = format!(
                "the CUDA driver is of version {}.{}, and 12.0 is needed",
                version / 1000,
                version % 1000 / 10
            );
            return Err(RunError::Device(text));
        }
        // SAFETY: present.
        check(unsafe { sys::cuInit(0) }, "starting the driver")
    };
    PRESENT.get_or_init(start).clone()
}

/// The CUDA version that the driver supports.
///
/// # Errors
/// If there is no driver.
pub fn driver_version() -> Result<(u32, u32), RunError> {
    present()?;
    let mut version = 0;
    check(
        // SAFETY: present; valid for a write.
        unsafe { sys::cuDriverGetVersion(&raw mut version) },
        "asking for the driver's version",
    )?;
    Ok((version as u32 / 1000, version as u32 % 1000 / 10))
}

/// The GPUs of this machine.
///
/// # Errors
/// If there is no driver.
pub fn devices() -> Result<Vec<DeviceInfo>, RunError> {
    present()?;
    let mut count = 0;
    check(
        // SAFETY: present; valid for a write.
        unsafe { sys::cuDeviceGetCount(&raw mut count) },
        "counting the devices",
    )?;
    (0..count as u32).map(info).collect()
}

pub(in crate::cuda) fn info(ordinal: u32) -> Result<DeviceInfo, RunError> {
    use sys::CUdevice_attribute as A;
    present()?;
    let mut device = 0;
    check(
        // SAFETY: present; valid for a write.
        unsafe { sys::cuDeviceGet(&raw mut device, ordinal as c_int) },
        &format!("looking for device {ordinal}"),
    )?;
    let ask = |attribute| {
        let mut value = 0;
        check(
            // SAFETY: the device exists; valid for a write.
            unsafe { sys::cuDeviceGetAttribute(&raw mut value, attribute, device) },
            "asking for an attribute",
        )?;
        Ok::<u32, RunError>(value as u32)
    };
    let mut name = [0; 256];
    check(
        // SAFETY: as long as it is told.
        unsafe { sys::cuDeviceGetName(name.as_mut_ptr(), 256, device) },
        "asking for the device's name",
    )?;
    // SAFETY: the driver ends it with a zero.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) }
        .to_string_lossy()
        .into_owned();
    let mut memory = 0;
    check(
        // SAFETY: the device exists; valid for a write.
        unsafe { sys::cuDeviceTotalMem_v2(&raw mut memory, device) },
        "asking for the device's memory",
    )?;
    let major = ask(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = ask(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    let multiprocessors = ask(A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
    let cooperative = ask(A::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)? != 0;
    Ok(DeviceInfo {
        ordinal,
        name,
        arch: 10 * major + minor,
        multiprocessors,
        memory: memory as u64,
        cooperative,
    })
}
