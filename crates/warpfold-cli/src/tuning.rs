//! The tuning file: where it lies, how it is read and written. What it means is the library's.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use warpfold::plan::{TUNING_SCHEMA, Tuning};

use crate::Failure;
use crate::outfile;
use crate::say;
use warpfold_io::system_message;

/// The largest file that is read: a hundred times what a machine of many GPUs needs.
const MOST_BYTES: u64 = 1 << 20;

/// Which file `--tuning` names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// The user's own, if there is one.
    Default,
    /// This one.
    File(PathBuf),
    /// None.
    Ignored,
}

impl Source {
    /// The argument of `--tuning`.
    pub(crate) fn of(args: Option<&Path>) -> Source {
        match args {
            None => Source::Default,
            Some(path) if path.as_os_str() == "none" => Source::Ignored,
            Some(path) => Source::File(path.to_owned()),
        }
    }

    /// Reads the file.
    ///
    /// # Errors
    /// [`Failure::Tuning`] with the file's name. A file that nobody named may be missing; no file may be wrong.
    pub(crate) fn load(&self) -> Result<Option<Tuning>, Failure> {
        let path = match self {
            Source::Ignored => return Ok(None),
            Source::File(path) => path.clone(),
            Source::Default => match default_path() {
                Some(path) if path.try_exists().unwrap_or(true) => path,
                _ => return Ok(None),
            },
        };
        read(&path).map(Some).map_err(|why| Failure::Tuning { path, why })
    }

    /// The same where a result is there without any tuning: the user's own file, which nobody named, is then left aside with a warning.
    ///
    /// # Errors
    /// [`Failure::Tuning`] of a file that was named.
    pub(crate) fn load_or_warn(&self) -> Result<Option<Tuning>, Failure> {
        match (self, self.load()) {
            (Source::Default, Err(failure)) => {
                say!("warpfold: warning: {failure}; it is left aside");
                Ok(None)
            }
            (_, loaded) => loaded,
        }
    }
}

/// `$XDG_CONFIG_HOME/warpfold/tuning.json`, and without that variable below `~/.config`; `%APPDATA%` on Windows.
pub(crate) fn default_path() -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = match cfg!(windows) {
        true => folder("APPDATA"),
        false => folder("XDG_CONFIG_HOME").or_else(|| Some(folder("HOME")?.join(".config"))),
    };
    Some(base?.join("warpfold").join("tuning.json"))
}

fn read(path: &Path) -> Result<Tuning, String> {
    let file = File::open(path).map_err(|error| system_message(&error))?;
    let metadata = file.metadata().map_err(|error| system_message(&error))?;
    if !metadata.is_file() {
        return Err("it is no file".into());
    }
    let mut text = String::new();
    let read = file.take(MOST_BYTES + 1).read_to_string(&mut text);
    read.map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => "it is no text".into(),
        _ => system_message(&error),
    })?;
    if text.len() as u64 > MOST_BYTES {
        return Err(format!("it has more than {MOST_BYTES} bytes"));
    }
    parse(&text)
}

/// The version first: a file of another layout is told so, rather than what field it lacks.
fn parse(text: &str) -> Result<Tuning, String> {
    #[derive(Deserialize)]
    struct Version {
        schema: u32,
    }
    let wrong = |error: serde_json::Error| format!("it is no tuning: {error}");
    let Version { schema } = serde_json::from_str(text).map_err(wrong)?;
    if schema != TUNING_SCHEMA {
        return Err(format!(
            "its layout is version {schema}, and this program reads {TUNING_SCHEMA}"
        ));
    }
    let tuning: Tuning = serde_json::from_str(text).map_err(wrong)?;
    tuning.check()?;
    Ok(tuning)
}

/// Writes the file, whole or not at all; its folder is made.
#[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "only a GPU is tuned"))]
pub(crate) fn write(path: &Path, tuning: &Tuning) -> Result<(), Failure> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| Failure::Output {
            what: path.display().to_string(),
            reason: system_message(&error),
        })?;
    }
    let mut text = serde_json::to_string_pretty(tuning).expect("names and numbers are JSON");
    text.push('\n');
    Ok(outfile::replace(path, text.as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty() -> Tuning {
        Tuning {
            schema: TUNING_SCHEMA,
            warpfold: "0.1.0".into(),
            date: "2026-01-01T00:00:00Z".into(),
            gpus: Vec::new(),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/tuning.json");
        write(&path, &empty()).unwrap();
        assert_eq!(Source::File(path).load().unwrap(), Some(empty()));
        assert_eq!(Source::of(Some(Path::new("none"))).load().unwrap(), None);
    }

    #[test]
    fn other_layouts_are_told_their_version() {
        assert!(parse("{\"schema\": 7, \"new\": []}").unwrap_err().contains("version 7"));
        assert!(parse("{}").unwrap_err().contains("schema"));
        assert!(parse("[1, 2").unwrap_err().contains("no tuning"));
    }
}
