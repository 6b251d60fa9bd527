//! PTX modules made ready to run, each once in a process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use warpfold_kernels::Module;
use warpfold_simt::Program;

use crate::kernel::Spliced;
use crate::{Error, Result};

/// The program of a module.
///
/// # Errors
/// [`Error::Device`] with the line if the simulator does not know an instruction of it.
pub(super) fn of(module: Module) -> Result<Arc<Program>> {
    static LOADED: Mutex<Option<HashMap<&str, Arc<Program>>>> = Mutex::new(None);
    let loaded = || LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(program) = loaded().get_or_insert_default().get(module.name) {
        return Ok(program.clone());
    }
    // Not under the lock: other threads load other modules meanwhile, and the rare second load of one does no harm.
    let mut program = load(module.name, &module.ptx())?;
    let lines = module.lines();
    program.locate(|line| lines.of(line));
    let program = Arc::new(program);
    loaded().get_or_insert_default().insert(module.name, program.clone());
    Ok(program)
}

/// The program of a template with the code of a map in it. The latest stay loaded.
///
/// # Errors
/// As [`of`].
pub(super) fn spliced(module: &Spliced) -> Result<Arc<Program>> {
    const MOST: usize = 64;
    static LOADED: Mutex<Vec<(String, Arc<Program>)>> = Mutex::new(Vec::new());
    let loaded = || LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, program)) = loaded().iter().find(|(name, _)| *name == module.name) {
        return Ok(program.clone());
    }
    let program = Arc::new(load(&module.name, module.ptx())?);
    let mut loaded = loaded();
    if loaded.len() >= MOST {
        loaded.remove(0);
    }
    loaded.push((module.name.clone(), program.clone()));
    Ok(program)
}

fn load(name: &str, ptx: &str) -> Result<Program> {
    Program::load(ptx).map_err(|error| Error::Device {
        requested: format!("loading the kernels of {name}"),
        obstacle: error.to_string(),
        remedy: "report it: the simulator is to know every instruction of the kernels",
    })
}
