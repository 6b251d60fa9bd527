//! What is printed: a result that cannot be written is an error, a message that cannot be written is not.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use warpfold_io::standard::{self, output};

use crate::Failure;

/// Writes a line to standard error. Where that fails nobody can be told, and the program goes on as if it had not.
macro_rules! say {
    ($($message:tt)*) => { $crate::streams::write_line(format_args!($($message)*)) };
}
pub(crate) use say;

/// The function behind [`say!`].
pub(crate) fn write_line(message: fmt::Arguments<'_>) {
    let line = format!("{message}\n");
    let _ = anstream::stderr().write_all(line.as_bytes());
}

impl Failure {
    /// Writes the one line to standard error, coloured on a terminal unless `NO_COLOR` is set.
    pub(crate) fn print(&self) {
        if matches!(self, Failure::ReaderGone | Failure::Reported(_)) {
            return;
        }
        let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        say!("{red}warpfold:{red:#} {self}");
    }
}

/// Fails before any work where no result could be printed.
pub(crate) fn check_output() -> Result<(), Failure> {
    standard::check_output().map_err(Failure::stdout)
}

/// Writes to standard output, all of it; colours are stripped where they are not wanted.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Failure> {
    let plain = anstream::AutoStream::choice(&io::stdout()) == anstream::ColorChoice::Never;
    let written = output().and_then(|mut out| {
        match plain {
            true => out.write_all(&anstream::adapter::strip_bytes(bytes).into_vec())?,
            false => out.write_all(bytes)?,
        }
        out.flush()
    });
    written.map_err(Failure::stdout)
}

/// Ends as other tools end whose reader has left: by SIGPIPE, which shells show as 141, and without a word.
pub(crate) fn end_by_broken_pipe() -> ExitCode {
    #[cfg(unix)]
    let _ = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGPIPE);
    ExitCode::from(Failure::ReaderGone.exit_code())
}
