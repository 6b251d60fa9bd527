//! Worlds by NCCL, with a library that stands in for it and for the driver: the real one needs a GPU for each rank.

use std::path::PathBuf;
use std::time::Duration;

use warpfold_dist::nccl::{Options, Through, probe};
use warpfold_dist::{
    Agreement, Comm, Error, Nccl, Threads, Way, all_merge, all_merge_batched, all_reduce,
};
use warpfold_exact::{AnyPartial, Exact, Partial};
use warpfold_num::{DType, Op};

/// The example `nccl_shim`, which cargo builds beside the tests.
fn shim() -> String {
    let test = std::env::current_exe().expect("a test is a file");
    let file: PathBuf = test
        .parent()
        .and_then(|deps| deps.parent())
        .expect("target/debug")
        .join("examples/libnccl_shim.so");
    assert!(
        file.is_file(),
        "build {} first: cargo build --package warpfold-dist --example nccl_shim",
        file.display()
    );
    file.to_string_lossy().into_owned()
}

fn options(device: usize, through: Through) -> Options {
    let (nccl, driver) = (shim(), shim());
    Options { nccl, driver, device, through, timeout: Duration::from_secs(30) }
}

#[test]
fn worlds_by_nccl_have_the_bits_of_one_rank() {
    let x = [1e300, 1.0, -1e300, 2f64.powi(-1074), 0.1, -0.0, 7.5];
    for size in [1, 2, 3, 4, 7] {
        for through in [Through::Host, Through::Device] {
            let found = Threads::run(size, |bootstrap| {
                let rank = bootstrap.rank();
                let comm = Nccl::enter(options(rank, through), &bootstrap).unwrap();
                assert_eq!((comm.rank(), comm.size()), (rank, size));
                assert!(comm.description().starts_with("NCCL 2.27.3 ("));
                let mut sum = Exact::<f64>::new();
                sum.add(x[rank]);
                let sum = AnyPartial::from(Partial::Sum(sum));
                let agreement = Agreement::new(Op::Sum, DType::F64);
                let one = all_merge(&comm, &agreement, Ok(&sum)).unwrap();
                for way in [Way::Gather, Way::Sum] {
                    let mine = vec![sum.clone(); 2000];
                    let many = all_merge_batched(&comm, &agreement, Ok(&mine), way).unwrap();
                    assert!(many.len() == 2000 && many.iter().all(|many| *many == one));
                }
                let mut tensor = [x[rank] as f32, 0.25];
                all_reduce(&comm, &mut tensor, 1).unwrap();
                assert_eq!(tensor[1], 0.25 * size as f32);
                one
            });
            let mut expected = Exact::<f64>::new();
            x[..size].iter().for_each(|&x| expected.add(x));
            let expected = AnyPartial::from(Partial::Sum(expected));
            assert!(found.iter().all(|found| found.to_bytes() == expected.to_bytes()));
        }
    }
}

#[test]
fn a_rank_without_nccl_or_without_its_gpu_is_named_by_all() {
    for (spoil, words) in [
        (Options { nccl: "libnone.so".into(), ..options(1, Through::Host) }, "libnone.so"),
        (options(99, Through::Host), "there is no GPU 99"),
    ] {
        let found = Threads::run(3, |bootstrap| {
            let rank = bootstrap.rank();
            let options = if rank == 1 { spoil.clone() } else { options(rank, Through::Host) };
            Nccl::enter(options, &bootstrap).unwrap_err()
        });
        assert!(
            matches!(&found[1], Error::World { obstacle, .. } if obstacle.contains(words)),
            "{found:?}"
        );
        for error in [&found[0], &found[2]] {
            assert!(
                matches!(error, Error::Failed { rank: 1, why } if why.contains(words)),
                "{error}"
            );
        }
    }
}

#[test]
fn a_rank_that_is_gone_is_an_error_and_the_world_stays_lost() {
    let found = Threads::run(2, |bootstrap| {
        let comm = Nccl::enter(options(bootstrap.rank(), Through::Device), &bootstrap).unwrap();
        if bootstrap.rank() == 1 {
            return None;
        }
        let mut all = [0; 2];
        let first = comm.all_gather(&[1], &mut all).unwrap_err().to_string();
        assert_eq!(comm.all_gather(&[1], &mut all).unwrap_err().to_string(), first);
        Some(first)
    });
    let error = found[0].as_deref().expect("rank 0 saw it");
    assert!(error.contains("ncclAllGather returned 2 (unhandled system error)"), "{error}");
}

#[test]
fn nccl_answers_for_its_version_without_a_gpu() {
    let (version, id) = probe(&shim()).unwrap();
    assert_eq!(version, "NCCL 2.27.3");
    assert!(id.starts_with(b"127.0.0.1:"));
    let error = probe("libnone.so").unwrap_err().to_string();
    assert!(error.contains("libnone.so") && error.contains("WARPFOLD_NCCL"), "{error}");
}
