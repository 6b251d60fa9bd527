//! The `warpfold` program; everything it does is in the library beside it.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: warpfold_cli::Allocator = warpfold_cli::Allocator;

fn main() -> ExitCode {
    warpfold_cli::main()
}
