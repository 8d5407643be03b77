//! Tells the command by which profile it is built: only by one of them is what it measures worth comparing.

use std::{env, path::Path};

fn main() {
    // `target/PROFILE/build/PACKAGE/out`: Cargo says a profile's name nowhere else.
    let out = env::var_os("OUT_DIR").unwrap_or_default();
    let profile = Path::new(&out).ancestors().nth(3).and_then(Path::file_name);
    let profile = profile.unwrap_or_default().to_string_lossy();
    println!("cargo::rustc-env=MILLSTREAM_PROFILE={profile}");
    println!("cargo::rerun-if-changed=build.rs");
}
