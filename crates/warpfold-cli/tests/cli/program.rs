//! Runs the program and keeps what it said.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a run of the program left.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// The program with a clean environment, ready to be given arguments.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpfold"));
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(variable);
    }
    // No configuration of the user's own.
    command.env("XDG_CONFIG_HOME", env!("CARGO_TARGET_TMPDIR"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    listen_to_signals(&mut command);
    command
}

/// A shell starts what goes on in the background with SIGINT ignored, and `nohup` with SIGHUP; the program, which would obey that, is tested
/// as if it had been started by hand.
#[cfg(unix)]
pub(crate) fn listen_to_signals(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;

    let by_default = || {
        for signal in [libc::SIGINT, libc::SIGHUP] {
            // SAFETY: `signal` may be called between fork and exec, and sets no handler.
            if unsafe { libc::signal(signal, libc::SIG_DFL) } == libc::SIG_ERR {
                return Err(std::io::Error::last_os_error());
            }
        }
        Ok(())
    };
    // SAFETY: what runs between fork and exec calls nothing but `signal`.
    unsafe { command.pre_exec(by_default) };
}

/// Runs the program.
pub(crate) fn run<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Run {
    finish(command().args(args))
}

/// Runs a command to its end.
pub(crate) fn finish(command: &mut Command) -> Run {
    let output = command.output().expect("the program starts");
    Run {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("UTF-8"),
        err: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// Runs a script of the shell, in which `warpfold` is the program.
#[cfg(unix)]
pub(crate) fn shell(script: &str) -> Run {
    let mut command = Command::new("sh");
    let function =
        format!("warpfold() {{ '{}' \"$@\"; }}; {script}", env!("CARGO_BIN_EXE_warpfold"));
    command.args(["-c", &function]).env("XDG_CONFIG_HOME", env!("CARGO_TARGET_TMPDIR"));
    finish(command.env_remove("CLICOLOR_FORCE").stdin(Stdio::null()))
}

/// Runs the program with bytes on standard input.
pub(crate) fn run_with_stdin(args: &[&str], stdin: &[u8]) -> Run {
    let mut child = command().args(args).stdin(Stdio::piped()).spawn().expect("the program starts");
    let mut pipe = child.stdin.take().expect("piped");
    let bytes = stdin.to_vec();
    // The program may stop reading at the first wrong byte.
    let feeder = std::thread::spawn(move || drop(pipe.write_all(&bytes)));
    let output = child.wait_with_output().expect("the program ends");
    feeder.join().expect("the feeder ends");
    Run {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("UTF-8"),
        err: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

impl Run {
    /// The result on standard output; panics unless the run was a quiet success.
    #[track_caller]
    pub(crate) fn value(&self) -> &str {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{self:?}");
        self.out.strip_suffix('\n').expect("a line ends the result")
    }

    /// The result of a run that says what it left out, if anything, and no more.
    #[track_caller]
    pub(crate) fn kept(&self) -> &str {
        let is_told = |line: &str| line.starts_with("note: ") && line.contains("left out");
        assert!(self.code == Some(0) && self.err.lines().all(is_told), "{self:?}");
        self.out.strip_suffix('\n').expect("a line ends the result")
    }

    /// Panics unless the run failed with the code, no result, and one line that holds every word.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, words: &[&str]) {
        assert_eq!((self.code, self.out.as_str()), (Some(code), ""), "{self:?}");
        let line = self.err.strip_suffix('\n').expect("a line");
        assert!(line.starts_with("warpfold: ") && !line.contains('\n'), "{line}");
        for word in words {
            assert!(line.contains(word), "{word:?} is missing in: {line}");
        }
    }
}

/// A folder that is removed at the end of a test.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file and tells its path.
    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.at(name);
        std::fs::write(&path, bytes).expect("the folder is writable");
        path.to_str().expect("UTF-8").to_string()
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// The names in the folder, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path()).expect("the folder is readable");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
            .collect();
        names.sort();
        names
    }
}
