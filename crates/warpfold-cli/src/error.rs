//! [`Failure`]: every way in which the program ends without a result, and its exit code.

use std::io;
use std::path::PathBuf;

use warpfold::Op;
use warpfold_io::{Name, Problem, system_message};

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// What was asked makes no sense, whatever the data are.
    #[error("{0}")]
    Usage(String),
    /// An input is not what it should be, or a file is not written.
    #[error("{0}")]
    Io(warpfold_io::Error),
    /// A file of columns is not what it should be.
    #[error("{0}")]
    Data(String),
    /// The reduction has no result for these data.
    #[error("{}", in_terms_of_options(.0, None))]
    Reduction(#[from] warpfold::Error),
    /// The device asked for cannot be used.
    #[error("{0}")]
    NoDevice(warpfold::Error),
    /// The tuning file is not what it should be.
    #[error(
        "the tuning file {}: {why}; run warpfold tune again, or leave the file aside with --tuning none",
        path.display()
    )]
    Tuning {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The system starts no thread.
    #[error("no thread can be started: {reason}; raise the limits (ulimit -v, ulimit -u)")]
    NoThread {
        /// The system's word for it.
        reason: String,
    },
    /// A result could not be written.
    #[error("cannot write {what}: {reason}")]
    Output {
        /// The file, or standard output.
        what: String,
        /// The system's or format's word for it.
        reason: String,
    },
    /// Ranks that take part have no result together.
    #[error("{0}")]
    World(#[from] warpfold_dist::Error),
    /// Rank 0 tells what is wrong with the result; this one ends alike, in silence.
    #[error("rank 0 tells why there is no result")]
    Reported(u8),
    /// Whoever read standard output has left; there is nobody to tell.
    #[error("standard output was closed")]
    ReaderGone,
}

impl From<warpfold_io::Error> for Failure {
    fn from(error: warpfold_io::Error) -> Failure {
        match error {
            warpfold_io::Error::Usage(why) => Failure::Usage(why),
            warpfold_io::Error::Layout(error) => Failure::Reduction(error),
            error => Failure::Io(error),
        }
    }
}

impl Failure {
    /// The failure of a reduction that was asked for by a name: what its parts could be asked for, it may not be.
    pub(crate) fn of(self, op: Op) -> Failure {
        match self {
            Failure::Reduction(error) if op == Op::Stats && is_overflow(&error) => {
                Failure::Data(in_terms_of_options(&error, Some(op)))
            }
            other => other,
        }
    }

    /// An input that is not what it should be.
    pub fn input(name: &Name, problem: impl Into<Problem>) -> Failure {
        Failure::Io(warpfold_io::Error::input(name, problem))
    }

    /// A thread that could not be started.
    pub(crate) fn no_thread(error: &io::Error) -> Failure {
        Failure::NoThread { reason: system_message(error) }
    }

    /// A failed write to standard output.
    pub(crate) fn stdout(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ReaderGone,
            _ => Failure::Output { what: "standard output".into(), reason: system_message(&error) },
        }
    }

    /// The process's exit code: 1 for data, 2 for usage, and what shells have for a signal, here that of a reader who has left.
    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Usage(_) | Failure::NoDevice(_) | Failure::Tuning { .. } => 2,
            Failure::Reduction(error) if is_refusal(error) => 2,
            Failure::Io(_)
            | Failure::Data(_)
            | Failure::Reduction(_)
            | Failure::NoThread { .. }
            | Failure::Output { .. }
            | Failure::World(_) => 1,
            Failure::Reported(code) => *code,
            Failure::ReaderGone => 141,
        }
    }
}

/// Whether an error is the same whatever the data are.
fn is_refusal(error: &warpfold::Error) -> bool {
    use warpfold::Error::{Output, Shape, Undefined, Unsupported};
    match error {
        Undefined { .. } | Unsupported { .. } | Shape { .. } => true,
        Output { error, .. } => is_refusal(error),
        _ => false,
    }
}

/// Whether an integer result, or one of many, has no room.
fn is_overflow(error: &warpfold::Error) -> bool {
    match error {
        warpfold::Error::Output { error, .. } => is_overflow(error),
        error => matches!(error, warpfold::Error::Overflow { .. }),
    }
}

/// The library's message, with its remedies named as options that this program takes with the reduction asked for.
fn in_terms_of_options(error: &warpfold::Error, asked: Option<Op>) -> String {
    match error {
        warpfold::Error::Overflow { op, dtype, result, value, .. } => {
            let rounding = match op {
                // One of several results, which keep their types.
                _ if asked == Some(Op::Stats) => "",
                // A product that is rounded is infinite there.
                Op::Prod => "--map 'f64(x)' multiplies floats, ",
                op if op.is_rounded() => "--as f64 rounds it, ",
                _ => "",
            };
            format!(
                "{op} of {dtype} is {value}, which {result} cannot hold; {rounding}--overflow wrap keeps the low 64 bits"
            )
        }
        warpfold::Error::Keys { requested, obstacle, remedy } if remedy.contains("group_by") => {
            format!("{requested}: {obstacle}; leave --groups out, and any integers are keys")
        }
        warpfold::Error::Keys { requested, obstacle, remedy } if remedy.contains("cut") => {
            format!("{requested}: {obstacle}; {remedy}; of text, --column chooses the elements")
        }
        warpfold::Error::Output { output, error } => {
            format!("{output}: {}", in_terms_of_options(error, asked))
        }
        other => other.to_string(),
    }
}
