//! A scheduler or an executor with the functions of `warpfold-datafusion`.

use std::path::PathBuf;
use std::sync::Arc;

use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use clap::Parser;

/// Ballista with exact aggregate functions.
#[derive(Debug, Parser)]
enum Process {
    /// Plan queries and hand them out
    Scheduler {
        /// Where to listen; loopback alone unless another address is given
        #[arg(long, default_value = "127.0.0.1")]
        host: String,
        #[arg(long, default_value_t = 50050)]
        port: u16,
        /// After how many seconds without a sign of life an executor's tasks go to others
        #[arg(long, default_value_t = 180, value_parser = clap::value_parser!(u64).range(2..))]
        timeout: u64,
    },
    /// Run tasks
    Executor {
        /// Where to listen; loopback alone unless another address is given
        #[arg(long, default_value = "127.0.0.1")]
        host: String,
        /// For partitions of results
        #[arg(long, default_value_t = 50051)]
        port: u16,
        /// For the scheduler
        #[arg(long, default_value_t = 50052)]
        grpc_port: u16,
        #[arg(long, default_value = "localhost")]
        scheduler_host: String,
        #[arg(long, default_value_t = 50050)]
        scheduler_port: u16,
        /// Tasks at once; one for each processor unless given
        #[arg(long, default_value_t = 0)]
        tasks: usize,
        /// Seconds between signs of life
        #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
        heartbeat: u64,
        /// A folder for partitions of results; a temporary one unless given
        #[arg(long)]
        folder: Option<PathBuf>,
    },
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    tokio::runtime::Runtime::new()?.block_on(run(Process::parse()))
}

async fn run(process: Process) -> Result<(), Box<dyn std::error::Error>> {
    match process {
        Process::Scheduler { host, port, timeout } => {
            let config = SchedulerConfig {
                bind_host: host.clone(),
                bind_port: port,
                executor_timeout_seconds: timeout,
                no_executors_grace_period_seconds: timeout,
                expire_dead_executor_interval_seconds: (timeout / 2).min(15),
                ..SchedulerConfig::default()
            };
            let config = warpfold_ballista::scheduler(config);
            let cluster = BallistaCluster::new_from_config(&config).await?;
            start_server(cluster, format!("{host}:{port}").parse()?, Arc::new(config)).await?;
        }
        Process::Executor {
            host,
            port,
            grpc_port,
            scheduler_host,
            scheduler_port,
            tasks,
            heartbeat,
            folder,
        } => {
            let config = ExecutorProcessConfig {
                bind_host: host,
                port,
                grpc_port,
                scheduler_host,
                scheduler_port,
                scheduler_connect_timeout_seconds: 30,
                vcores: tasks,
                executor_heartbeat_interval_seconds: heartbeat,
                work_dir: folder.map(|folder| folder.display().to_string()),
                ..ExecutorProcessConfig::default()
            };
            start_executor_process(Arc::new(warpfold_ballista::executor(config))).await?;
        }
    }
    Ok(())
}
