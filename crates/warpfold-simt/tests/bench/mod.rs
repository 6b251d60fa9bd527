//! A launch with its PTX, shared by the tests.
#![allow(dead_code)] // Each test binary uses its part.

use warpfold_simt::{Argument, Counters, Dimensions, Fault, Launch, Memory, Program, Settings};

/// The program of `tests/kernels/<name>.ptx`.
pub(crate) fn load(name: &str) -> Program {
    Program::load(&text(name)).unwrap_or_else(|error| panic!("{name}.ptx: {error}"))
}

/// The text of `tests/kernels/<name>.ptx`.
pub(crate) fn text(name: &str) -> String {
    let path = format!("{}/tests/kernels/{name}.ptx", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A launch being put together.
pub(crate) struct Bench(pub(crate) Launch);

impl Bench {
    pub(crate) fn new(kernel: &str, grid: u32, block: u32) -> Bench {
        Bench(Launch {
            kernel: kernel.to_owned(),
            grid: Dimensions::from(grid),
            block: Dimensions::from(block),
            shared_bytes: 0,
            arguments: Vec::new(),
        })
    }

    pub(crate) fn shared(mut self, bytes: u32) -> Bench {
        self.0.shared_bytes = bytes;
        self
    }

    pub(crate) fn arguments(mut self, arguments: impl IntoIterator<Item = Argument>) -> Bench {
        self.0.arguments = arguments.into_iter().collect();
        self
    }

    /// Runs to the end, or panics with the fault.
    pub(crate) fn run(
        &self,
        program: &Program,
        memory: &mut Memory,
        settings: &Settings,
    ) -> Counters {
        self.0
            .run(program, memory, settings)
            .unwrap_or_else(|fault| panic!("{}: {fault}", self.0.kernel))
    }

    /// Runs into a fault, or panics.
    pub(crate) fn fault(
        &self,
        program: &Program,
        memory: &mut Memory,
        settings: &Settings,
    ) -> Fault {
        match self.0.run(program, memory, settings) {
            Ok(_) => panic!("{} ran to its end", self.0.kernel),
            Err(fault) => *fault,
        }
    }
}
