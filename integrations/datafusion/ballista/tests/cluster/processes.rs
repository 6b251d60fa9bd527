//! A scheduler and two executors as processes, which end with the test.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use datafusion::prelude::{SessionConfig, SessionContext};

pub(crate) struct Cluster {
    port: u16,
    processes: Vec<Child>,
    folders: Vec<tempfile::TempDir>,
}

/// A port that was free a moment ago.
fn port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn start(args: &[String]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_warpfold-ballista"));
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null());
    command.spawn().expect("the program starts")
}

fn listens(port: u16) {
    let begun = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing listens at {port}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

impl Cluster {
    /// Starts all; an executor is given up after so long without a sign of life.
    pub(crate) fn start(timeout: Duration) -> Cluster {
        let scheduler = port();
        let seconds = timeout.as_secs().to_string();
        let words = |args: &[&str]| args.iter().map(|arg| (*arg).to_string()).collect::<Vec<_>>();
        let at = scheduler.to_string();
        let mut cluster = Cluster {
            port: scheduler,
            processes: vec![start(&words(&["scheduler", "--port", &at, "--timeout", &seconds]))],
            folders: Vec::new(),
        };
        listens(scheduler);
        for _ in 0..2 {
            let folder = tempfile::tempdir().unwrap();
            let (own, grpc) = (port(), port());
            let ports = [own.to_string(), grpc.to_string()];
            let mut args = words(&["executor", "--port", &ports[0], "--grpc-port", &ports[1]]);
            args.extend(words(&["--scheduler-host", "127.0.0.1", "--scheduler-port", &at]));
            args.extend(words(&["--heartbeat", "1", "--tasks", "2", "--folder"]));
            args.push(folder.path().display().to_string());
            cluster.processes.push(start(&args));
            cluster.folders.push(folder);
            listens(own);
        }
        cluster
    }

    pub(crate) async fn connect(&self, config: SessionConfig) -> SessionContext {
        let url = format!("df://127.0.0.1:{}", self.port);
        warpfold_ballista::connect(&url, config).await.expect("the scheduler answers")
    }

    /// Whether each executor has written a partition.
    pub(crate) fn worked(&self) -> Vec<bool> {
        fn has_file(folder: &Path) -> bool {
            std::fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
                entry.file_type().is_ok_and(|kind| kind.is_file()) || has_file(&entry.path())
            })
        }
        self.folders.iter().map(|folder| has_file(folder.path())).collect()
    }

    /// Ends an executor at once, and what it wrote.
    pub(crate) fn kill(&mut self, executor: usize) {
        let process = &mut self.processes[1 + executor];
        process.kill().and_then(|()| process.wait()).expect("it was alive");
        std::fs::remove_dir_all(self.folders[executor].path()).expect("its folder was there");
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for process in &mut self.processes {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}
