//! Loads PTX files and lists their kernels.
//!
//! `cargo run --release --example decode <file.ptx>…`

use warpfold_simt::{Kernel, Program, ptx::Module};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path)?;
        let module = match Module::parse(&text) {
            Ok(module) => module,
            Err(error) => {
                println!("{path}: {error}");
                continue;
            }
        };
        match Program::new(&module) {
            Ok(program) => {
                let names: Vec<&str> = program.kernels().iter().map(Kernel::name).collect();
                println!("{path}: {} kernels: {}", names.len(), names.join(" "));
            }
            Err(error) => println!("{path}: {error}"),
        }
    }
    Ok(())
}
