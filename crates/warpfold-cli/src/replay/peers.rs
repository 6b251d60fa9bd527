//! Other libraries beside the post's rungs: those of Python, where they are installed; CUB from a file.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde::Deserialize;
use warpfold_lab::cuda::report::Peer;

/// The script; it needs nothing but what it measures.
const SCRIPT: &str = include_str!("peers.py");

/// A line of the script: a figure, or why there is none.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Missing { missing: String, why: String },
    Figure(Peer),
}

/// Adds the figures of libraries that are installed and not there yet; returns what is to be said of those that are not.
pub(super) fn beside(peers: &mut Vec<Peer>, n: u64, on_gpu: bool) -> Vec<String> {
    let mut remarks = Vec::new();
    let has = |peers: &[Peer], name: &str| peers.iter().any(|peer| peer.peer.starts_with(name));
    if !on_gpu {
        let there = ["jax", "torch", "cub"].iter().any(|name| has(peers, name));
        if !there {
            remarks.push("jnp.sum, torch and CUB run on a GPU, and there is none here".to_owned());
        }
        return remarks;
    }
    if !has(peers, "jax") || !has(peers, "torch") {
        match run(n) {
            Err(why) => remarks.push(format!("jnp.sum and torch: {why}")),
            Ok(text) => {
                for line in text.lines() {
                    match serde_json::from_str(line) {
                        Ok(Line::Figure(peer)) => peers.push(peer),
                        Ok(Line::Missing { missing, why }) if !has(peers, &missing) => {
                            remarks.push(format!("{missing} is not beside the rungs: {why}"));
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    if !has(peers, "cub") {
        remarks.push(
            "CUB is not beside the rungs: bench/peers/cuda/cub.cu measures it where there is nvcc, and --peers takes its figures"
                .to_owned(),
        );
    }
    remarks
}

/// What the script prints.
fn run(n: u64) -> Result<String, String> {
    let mut command = Command::new("python3");
    command.arg("-").arg(n.to_string());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("python3 does not start: {error}"))?;
    let mut input = child.stdin.take().expect("it is piped");
    // A Python that ends early closes its end; what it printed is read all the same.
    let _ = input.write_all(SCRIPT.as_bytes());
    drop(input);
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_gpu_it_is_said_and_nothing_is_run() {
        let mut peers = Vec::new();
        let remarks = beside(&mut peers, 1000, false);
        assert!(peers.is_empty() && remarks[0].contains("jnp.sum"), "{remarks:?}");
    }

    /// Lines are figures or reasons, told apart by what they hold.
    #[test]
    fn lines_of_the_script_are_read() {
        let figure = r#"{"peer":"jax 1","op":"sum","type":"f32","n":1024,"us":4.0,"gb_s":1.0}"#;
        assert!(matches!(serde_json::from_str(figure), Ok(Line::Figure(_))));
        let missing = r#"{"missing":"torch","why":"No module named 'torch'"}"#;
        assert!(matches!(serde_json::from_str(missing), Ok(Line::Missing { .. })));
    }
}
