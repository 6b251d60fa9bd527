//! What can be read once: standard input, and pipes and devices by their names. Where it is needed again, all of it is kept in memory.

use std::fs;
use std::io::Read;

use crate::kept::{kept, put};
use crate::kind::is_npy;
use crate::open::unpacked_stream;
use crate::{Error, InputFormat, Name, Problem, memory};

/// Bytes that are read at once.
const STEP: usize = 1 << 20;

/// Whether an input can be read once only, as it is no regular file and was not kept.
///
/// ```
/// use warpfold_io::{Name, is_read_once};
/// assert!(is_read_once(&Name::Stdin) && !is_read_once(&Name::of("no such file".into())));
/// ```
pub fn is_read_once(name: &Name) -> bool {
    let is_stream = match name {
        Name::Stdin => true,
        Name::File(path) => {
            fs::metadata(&**path).is_ok_and(|found| !found.is_file() && !found.is_dir())
        }
        Name::Random => false,
    };
    is_stream && kept(name).is_none()
}

/// Reads an input that can be read once, and keeps it, so that it can be read again; nothing of others.
///
/// # Errors
/// [`Error::Input`] where it cannot be read, or there is no memory for it.
pub fn keep(name: &Name) -> Result<(), Error> {
    if !is_read_once(name) {
        return Ok(());
    }
    let failed = |problem: Problem| Error::input(name, problem);
    let mut source = unpacked_stream(name, None)?;
    let mut all: Vec<u8> = Vec::new();
    loop {
        if all.capacity() - all.len() < STEP && !memory::fallibly(|| all.try_reserve(STEP).is_ok())
        {
            return Err(failed(Problem::NoMemory { read: all.len() as u64 }));
        }
        let read = (&mut source).take(STEP as u64).read_to_end(&mut all);
        if read.map_err(|error| failed(error.into()))? == 0 {
            break;
        }
    }
    put(name.clone(), all.leak());
    Ok(())
}

impl InputFormat {
    /// How a file of offsets, lengths or keys is read: as its name says, and standard input, which has none, as it begins. It is kept then.
    ///
    /// # Errors
    /// [`Error::Input`] where it cannot be read.
    pub fn of_parts(name: &Name) -> Result<InputFormat, Error> {
        if *name != Name::Stdin {
            let is_text = InputFormat::of(name) == InputFormat::Text;
            return Ok(if is_text { InputFormat::Text } else { InputFormat::Npy });
        }
        keep(name)?;
        let bytes = kept(name).unwrap_or_default();
        Ok(if is_npy(bytes) { InputFormat::Npy } else { InputFormat::Text })
    }
}
