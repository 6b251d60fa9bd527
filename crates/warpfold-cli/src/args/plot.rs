//! [`Plot`]: the value of `--plot`.

use std::path::PathBuf;

/// Where results are drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Plot {
    /// On standard output, in place of the results as text.
    Terminal,
    /// Into an SVG file, which is replaced as a whole or not at all.
    File(PathBuf),
}

impl Plot {
    /// Reads the option's value; nothing is the terminal.
    pub(crate) fn of(text: &str) -> Result<Plot, String> {
        let path = PathBuf::from(text);
        match path.extension().map(|extension| extension.to_ascii_lowercase()) {
            _ if text.is_empty() => Ok(Plot::Terminal),
            Some(extension) if extension == "svg" => Ok(Plot::File(path)),
            _ => Err("the name must end in .svg; --plot alone draws in the terminal".into()),
        }
    }
}
