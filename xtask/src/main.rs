//! The project's own tasks: `cargo xtask kernels` makes PTX of the CUDA sources, `cargo xtask tables` the tables of
//! the documents from the results.

mod kernels;
mod nvrtc;
mod tables;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's own tasks")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Compiles the CUDA sources of warpfold-kernels to the PTX that the crate embeds
    Kernels(kernels::Kernels),
    /// Writes the tables of README.md and METHODOLOGY.md anew from results/
    Tables(tables::Tables),
}

/// What a task ends with; messages are for people.
type Outcome<T = ()> = Result<T, String>;

fn main() {
    let done = match Arguments::parse().task {
        Task::Kernels(task) => task.run(),
        Task::Tables(task) => task.run(),
    };
    if let Err(message) = done {
        eprintln!("error: {message}");
        std::process::exit(1);
    }
}
