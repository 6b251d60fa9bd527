//! What launchers say of the world in environment variables.

use std::time::Duration;

use super::Options;
use crate::{Error, Result};

/// How long to wait for other ranks if nothing is said.
const TIMEOUT: Duration = Duration::from_secs(600);
/// The port beside that of torchrun's own store, which listens on `MASTER_PORT`.
const BESIDE: u16 = 1;
/// Ports of Slurm's jobs: one of a thousand, by the job's number.
const SLURM_PORTS: u64 = 29_000;

impl Options {
    /// Reads them; `get` looks a variable up.
    ///
    /// # Errors
    /// [`Error::World`] with the variable that is missing, or makes no sense.
    pub fn from_env(get: impl Fn(&str) -> Option<String>) -> Result<Options> {
        let (rank, size, address) = if get("WARPFOLD_RANK").is_some() {
            let remedy = "set it to this process's number, from 0";
            let rank = number(&get, "WARPFOLD_RANK", remedy)?;
            let remedy = "set it to the number of processes, from 1";
            (rank, number(&get, "WARPFOLD_WORLD_SIZE", remedy)?, None)
        } else if get("MASTER_ADDR").is_some() && get("RANK").is_some() {
            let of = |name| number(&get, name, "start this process by torchrun, which sets it");
            (of("RANK")?, of("WORLD_SIZE")?, Some(torchrun(&get)?))
        } else if get("SLURM_PROCID").is_some() {
            let of = |name| number(&get, name, "start this process by srun, which sets it");
            (of("SLURM_PROCID")?, of("SLURM_NTASKS")?, Some(slurm(&get)?))
        } else {
            return Err(missing(
                "no launcher has numbered this process",
                "start it by mpirun, torchrun or srun, or set WARPFOLD_RANK, WARPFOLD_WORLD_SIZE and WARPFOLD_ADDRESS",
            ));
        };
        if rank >= size {
            let last = match size {
                0 => "a world has one rank at least; set the number of ranks".into(),
                _ => format!("give its ranks the numbers from 0 to {}", size - 1),
            };
            return Err(missing(&format!("this is rank {rank} of {size}"), &last));
        }
        let said = get("WARPFOLD_ADDRESS").filter(|address| !address.trim().is_empty());
        let address = match said.or(address) {
            Some(address) => address,
            None => {
                return Err(missing(
                    "WARPFOLD_ADDRESS is not set",
                    "set it to host:port of rank 0, for example 127.0.0.1:29501",
                ));
            }
        };
        if address.rsplit_once(':').is_none_or(|(_, port)| port.parse::<u16>().is_err()) {
            return Err(missing(
                &format!("rank 0 is at {address:?}, which ends in no port"),
                "set WARPFOLD_ADDRESS to host:port of rank 0, for example 127.0.0.1:29501",
            ));
        }
        let token = get("WARPFOLD_TOKEN").filter(|token| !token.is_empty()).ok_or_else(|| {
            missing(
                "WARPFOLD_TOKEN is not set",
                "set it to one secret for all ranks, for example export WARPFOLD_TOKEN=$(openssl rand -hex 16)",
            )
        })?;
        let timeout = match get("WARPFOLD_TIMEOUT") {
            None => TIMEOUT,
            Some(said) => {
                let remedy = "set it to whole seconds, from 1, or leave it out for 600";
                match number(&get, "WARPFOLD_TIMEOUT", remedy)? {
                    0 => return Err(missing(&format!("WARPFOLD_TIMEOUT is {said:?}"), remedy)),
                    seconds => Duration::from_secs(seconds as u64),
                }
            }
        };
        let bind = get("WARPFOLD_BIND");
        if bind.is_none() && !is_loopback(&address) {
            return Err(missing(
                &format!(
                    "rank 0 is at {address}, and nothing listens beyond this machine unless it is told to"
                ),
                "set WARPFOLD_BIND to the host:port that rank 0 may listen on, for example 0.0.0.0:29501",
            ));
        }
        Ok(Options { rank, size, address, bind, token, timeout })
    }
}

fn missing(obstacle: &str, remedy: &str) -> Error {
    let requested = "a world over TCP was asked for".into();
    Error::World { requested, obstacle: obstacle.into(), remedy: remedy.into() }
}

fn number(get: &impl Fn(&str) -> Option<String>, name: &str, remedy: &str) -> Result<usize> {
    let text = get(name).filter(|text| !text.trim().is_empty());
    let Some(text) = text else { return Err(missing(&format!("{name} is not set"), remedy)) };
    text.trim().parse().map_err(|_| missing(&format!("{name} is {text:?}"), remedy))
}

fn torchrun(get: &impl Fn(&str) -> Option<String>) -> Result<String> {
    let host = get("MASTER_ADDR").unwrap_or_default();
    let port = match get("MASTER_PORT") {
        None => {
            return Err(missing(
                "MASTER_PORT is not set",
                "set WARPFOLD_ADDRESS to host:port of rank 0",
            ));
        }
        Some(_) => number(get, "MASTER_PORT", "set WARPFOLD_ADDRESS to host:port of rank 0")?,
    };
    let port = u16::try_from(port).ok().and_then(|port| port.checked_add(BESIDE));
    let port =
        port.ok_or_else(|| missing("MASTER_PORT is no port below 65535", "set WARPFOLD_ADDRESS"))?;
    Ok(format!("{host}:{port}"))
}

/// One node: loopback. More: the first of the list, which rank 0 is on by Slurm's custom.
fn slurm(get: &impl Fn(&str) -> Option<String>) -> Result<String> {
    let nodes = get("SLURM_STEP_NUM_NODES").or_else(|| get("SLURM_NNODES"));
    let list = get("SLURM_STEP_NODELIST").or_else(|| get("SLURM_NODELIST")).unwrap_or_default();
    let port = SLURM_PORTS + get("SLURM_JOB_ID").and_then(|id| id.parse().ok()).unwrap_or(0) % 1000;
    Ok(match nodes.as_deref() {
        None | Some("1") => format!("127.0.0.1:{port}"),
        Some(_) => format!("{}:{port}", first_node(&list)),
    })
}

/// The first of Slurm's lists of hosts, as in `node[07-12,15],other`.
fn first_node(list: &str) -> String {
    let Some(open) = list.find(['[', ',']) else { return list.into() };
    let (name, rest) = list.split_at(open);
    match rest.strip_prefix('[') {
        None => name.into(),
        Some(numbers) => {
            let number = numbers.split(['-', ',', ']']).next().unwrap_or_default();
            let after = numbers.split_once(']').map_or("", |(_, after)| after);
            let after = after.split(',').next().unwrap_or_default();
            format!("{name}{number}{after}")
        }
    }
}

fn is_loopback(address: &str) -> bool {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let host = host.trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(variables: &[(&str, &str)]) -> Result<Options> {
        let get = |name: &str| variables.iter().find(|v| v.0 == name).map(|v| v.1.to_string());
        Options::from_env(get)
    }

    #[test]
    fn launchers_are_understood() {
        let token = ("WARPFOLD_TOKEN", "t");
        let torchrun = [
            token,
            ("RANK", "2"),
            ("WORLD_SIZE", "4"),
            ("MASTER_ADDR", "127.0.0.1"),
            ("MASTER_PORT", "29500"),
        ];
        let found = options(&torchrun).unwrap();
        assert_eq!((found.rank, found.size, &*found.address), (2, 4, "127.0.0.1:29501"));
        let slurm = [token, ("SLURM_PROCID", "1"), ("SLURM_NTASKS", "2"), ("SLURM_JOB_ID", "4077")];
        assert_eq!(options(&slurm).unwrap().address, "127.0.0.1:29077");
        let nodes = [
            ("SLURM_NNODES", "2"),
            ("SLURM_NODELIST", "n[07-08]"),
            ("WARPFOLD_BIND", "0.0.0.0:29077"),
        ];
        assert_eq!(options(&[&slurm[..], &nodes].concat()).unwrap().address, "n07:29077");
    }

    #[test]
    fn what_is_missing_is_named() {
        let rank = [
            ("WARPFOLD_RANK", "0"),
            ("WARPFOLD_WORLD_SIZE", "2"),
            ("WARPFOLD_ADDRESS", "127.0.0.1:1"),
        ];
        let message = |variables: &[(&str, &str)]| options(variables).unwrap_err().to_string();
        assert!(message(&[]).contains("no launcher"));
        assert!(message(&rank).contains("WARPFOLD_TOKEN is not set"));
        assert!(message(&rank[..2]).contains("WARPFOLD_ADDRESS"));
        assert!(message(&[("WARPFOLD_RANK", "x")]).contains("\"x\""));
        let of = |rank, size, more: &[(&'static str, &'static str)]| {
            let own = [("WARPFOLD_RANK", rank), ("WARPFOLD_WORLD_SIZE", size)];
            message(&[&own[..], &[("WARPFOLD_TOKEN", "t")], more].concat())
        };
        let address = |address| [("WARPFOLD_ADDRESS", address)];
        assert!(of("", "2", &[]).contains("WARPFOLD_RANK is not set; set it to this process's"));
        assert!(of("0", " ", &[]).contains("WARPFOLD_WORLD_SIZE is not set"));
        assert!(of("2", "2", &address("127.0.0.1:1")).contains("rank 2 of 2; give its ranks"));
        assert!(of("2", "2", &address("127.0.0.1:1")).contains("from 0 to 1"));
        assert!(of("0", "0", &address("127.0.0.1:1")).contains("one rank at least"));
        assert!(of("0", "2", &address("")).contains("WARPFOLD_ADDRESS is not set"));
        for no_port in ["127.0.0.1", "127.0.0.1:99999", "127.0.0.1:"] {
            assert!(of("0", "2", &address(no_port)).contains("ends in no port"), "{no_port}");
        }
        for timeout in ["0", "", "-1", "0.5", "1e3"] {
            let more = [address("127.0.0.1:1")[0], ("WARPFOLD_TIMEOUT", timeout)];
            let found = of("0", "2", &more);
            assert!(found.contains("WARPFOLD_TIMEOUT") && found.contains("seconds"), "{found}");
        }
        let far =
            [&rank[..2], &[("WARPFOLD_ADDRESS", "10.0.0.1:9"), ("WARPFOLD_TOKEN", "t")]].concat();
        assert!(message(&far).contains("WARPFOLD_BIND"));
    }

    #[test]
    fn the_first_of_slurm_s_hosts() {
        for (list, first) in
            [("a", "a"), ("a,b", "a"), ("n[07-12,15],o", "n07"), ("n[3]-x,o", "n3-x")]
        {
            assert_eq!(first_node(list), first);
        }
    }
}
