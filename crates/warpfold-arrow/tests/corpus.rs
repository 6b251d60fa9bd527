//! The corpora of the fuzz targets of files, replayed.

#![cfg(feature = "parquet")]
#![allow(unreachable_pub, reason = "the checks are shared with the fuzz targets")]

#[path = "../../../fuzz/checks/files.rs"]
mod files;
#[path = "../../../fuzz/checks/replay.rs"]
mod replay;

use replay::replay;

#[test]
fn parquet_seeds() {
    replay("parquet", files::parquet);
}

#[test]
fn arrow_seeds() {
    replay("arrow", files::arrow);
}
