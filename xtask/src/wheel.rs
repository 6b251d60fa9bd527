//! Wheels of PyPI at one version each, unpacked below the ignored folder of tools.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;

/// A wheel as pip asks for it.
pub(crate) struct Wheel {
    /// Name, version and hash, as a line of pip's requirements.
    pub(crate) requirement: &'static str,
    /// The platform tag that it was published for.
    pub(crate) platform: &'static str,
    /// Where it is unpacked.
    pub(crate) folder: &'static str,
    /// The file that is wanted of it.
    pub(crate) file: &'static str,
}

impl Wheel {
    /// The wanted file, fetched first where `tools` does not hold it.
    pub(crate) fn file(&self, tools: &Path) -> Outcome<PathBuf> {
        let folder = tools.join(self.folder);
        let file = folder.join(self.file);
        if !file.exists() {
            self.fetch(&folder)?;
        }
        Ok(file)
    }

    /// Downloads the wheel with pip, which checks its hash, and unpacks it.
    fn fetch(&self, folder: &Path) -> Outcome {
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let requirements = folder.join("requirements.txt");
        std::fs::write(&requirements, self.requirement).map_err(|e| e.to_string())?;
        let python = |arguments: &[&str]| {
            let status = Command::new("python3").args(arguments).current_dir(folder).status();
            match status {
                Ok(status) if status.success() => Ok(()),
                Ok(status) => Err(format!("python3 {} ended with {status}", arguments.join(" "))),
                Err(error) => Err(format!("python3 cannot be started: {error}")),
            }
        };
        python(&[
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--only-binary=:all:",
            "--platform",
            self.platform,
            "--require-hashes",
            "--requirement",
            "requirements.txt",
        ])?;
        let wheel = std::fs::read_dir(folder)
            .map_err(|e| e.to_string())?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .find(|path| path.extension().is_some_and(|e| e == "whl"))
            .ok_or("pip downloaded no wheel")?;
        python(&["-m", "zipfile", "-e", &wheel.to_string_lossy(), "."])?;
        std::fs::remove_file(wheel).map_err(|e| e.to_string())
    }
}
