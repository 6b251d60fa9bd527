//! Records the compiler that builds the benchmark: a figure without it cannot be repeated.

use std::{env, process::Command};

fn main() {
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .unwrap_or_else(|| "unknown".into());
    println!("cargo::rustc-env=WARPFOLD_LAB_RUSTC={}", version.trim());
    println!("cargo::rustc-env=WARPFOLD_LAB_PROFILE={}", env::var("PROFILE").unwrap_or_default());
    println!("cargo::rerun-if-changed=build.rs");
}
