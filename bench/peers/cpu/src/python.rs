//! The Python program as a child process that answers line by line.

use std::cell::RefCell;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use warpfold::Op;

use crate::contestant::{Called, Contestant, Outcome};

/// A running interpreter with NumPy and Polars.
pub struct Python {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

#[derive(Deserialize)]
struct Offer {
    library: String,
    call: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    Value { seconds: f64, value: String, r#type: String },
    Error { error: String },
}

impl Python {
    /// Starts `interpreter peers.py`.
    pub fn start(interpreter: &Path) -> io::Result<Rc<RefCell<Self>>> {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers.py");
        let mut child = Command::new(interpreter)
            .arg(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both were asked for");
        };
        Ok(Rc::new(RefCell::new(Python { child, requests, answers: BufReader::new(answers) })))
    }

    fn ask(&mut self, request: serde_json::Value) -> io::Result<String> {
        writeln!(self.requests, "{request}")?;
        let mut line = String::new();
        match self.answers.read_line(&mut line)? {
            0 => Err(io::Error::other("the Python program ended; its message is above")),
            _ => Ok(line),
        }
    }

    /// Loads an array and gives everyone there who has the reduction.
    pub fn contestants(
        this: &Rc<RefCell<Self>>,
        op: Op,
        array: &Path,
    ) -> io::Result<Vec<Contestant<'static>>> {
        let line = this.borrow_mut().ask(json!({ "load": array, "op": op.name() }))?;
        let offers: Vec<Offer> = serde_json::from_str(&line)?;
        let contestant = |(index, offer): (usize, Offer)| {
            let python = Rc::clone(this);
            let run = Box::new(move || python.borrow_mut().call(index));
            Contestant { library: offer.library, call: offer.call, run }
        };
        Ok(offers.into_iter().enumerate().map(contestant).collect())
    }

    fn call(&mut self, index: usize) -> Called {
        let line = self.ask(json!({ "call": index })).map_err(|error| error.to_string())?;
        match serde_json::from_str(&line).map_err(|error| error.to_string())? {
            Answer::Error { error } => Err(error),
            Answer::Value { seconds, value, r#type } => {
                let outcome = match value.parse() {
                    Ok(integer) => Outcome::Integer(integer),
                    Err(_) => {
                        let float =
                            value.parse().map_err(|_| format!("{type} {value} is no number"))?;
                        Outcome::Float(float)
                    }
                };
                Ok((Duration::from_secs_f64(seconds), outcome))
            }
        }
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        // Nobody asks any more; how the child ends changes no figure.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
