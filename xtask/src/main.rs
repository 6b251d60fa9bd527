//! The project's own tasks: `cargo xtask kernels` makes PTX of the CUDA sources, `cargo xtask tables` the tables of
//! the documents from the results.

mod kernels;
mod nvrtc;
#[cfg(feature = "tables")]
mod tables;
mod wheel;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's own tasks")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Compiles the CUDA sources of warpfold-kernels to the pack of PTX that the crate embeds, and lists it in kernels.lock
    ///
    /// NVRTC 12.0.140, which makes the PTX, and ptxas 12.9.86, which says how many instructions and registers each kernel takes on sm_80, sm_90 and sm_120, are
    /// fetched from PyPI into .tools when they are first needed (wheels nvidia-cuda-nvrtc-cu12 and nvidia-cuda-nvcc-cu12; python3 with pip does it). Neither needs a GPU.
    /// Without ptxas the pack is written all the same, and kernels that changed have dashes for its figures.
    Kernels(kernels::Kernels),
    /// Writes the tables of the documents anew from results/
    #[cfg(feature = "tables")]
    Tables(tables::Tables),
}

/// What a task ends with; messages are for people.
type Outcome<T = ()> = Result<T, String>;

fn main() {
    let done = match Arguments::parse().task {
        Task::Kernels(task) => task.run(),
        #[cfg(feature = "tables")]
        Task::Tables(task) => task.run(),
    };
    if let Err(message) = done {
        eprintln!("error: {message}");
        std::process::exit(1);
    }
}
