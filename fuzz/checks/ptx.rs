//! What must hold of any text given to the PTX parser, and of whatever it accepts.

use warpfold_simt::ptx::Module;
use warpfold_simt::{Argument, Dimensions, Launch, LoadError, Memory, Program, Settings};

/// Parses the bytes as PTX. An error names a line of the text; a module prints as text that parses to the same module; what can be decoded
/// runs for a while without a panic. Returns whether it was accepted.
pub fn check(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let within = |line: u32| (1..=text.lines().count() as u32 + 1).contains(&line);
    let module = match Module::parse(&text) {
        Ok(module) => module,
        Err(error) => {
            assert!(within(error.line.0) && !error.message.is_empty(), "{error}");
            return false;
        }
    };
    let printed = module.to_string();
    let again = Module::parse(&printed).unwrap_or_else(|error| panic!("{error} in\n{printed}"));
    assert_eq!(printed, again.to_string(), "printing is settled");
    match Program::load(&text) {
        Ok(program) => program.kernels().iter().for_each(|kernel| run(&program, kernel)),
        Err(LoadError::Decode(error)) => {
            assert!(within(error.line.0) && !error.message.is_empty(), "{error}");
            return false;
        }
        Err(LoadError::Syntax(error)) => panic!("parsed once, and now {error}"),
    }
    true
}

/// Any outcome will do, so long as there is one.
fn run(program: &Program, kernel: &warpfold_simt::Kernel) {
    let mut memory = Memory::new();
    let buffer = memory.upload(&[1u32; 256]);
    let arguments = kernel.parameters().iter().map(|parameter| {
        let mut bytes = buffer.address().to_le_bytes().to_vec();
        bytes.resize(parameter.bytes as usize, 0);
        Argument::bytes(bytes)
    });
    let launch = Launch {
        kernel: kernel.name().to_owned(),
        grid: Dimensions::from(2),
        block: Dimensions::from(64),
        shared_bytes: 256,
        arguments: arguments.collect(),
    };
    let settings = Settings { budget: 300, threads: 1, ..Settings::default() };
    let _ = launch.run(program, &mut memory, &settings);
}
