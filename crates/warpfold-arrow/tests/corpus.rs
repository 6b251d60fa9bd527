//! The corpora of the fuzz targets of files and of what is folded of them, replayed.

#![cfg(feature = "parquet")]
#![allow(unreachable_pub, reason = "the checks are shared with the fuzz targets")]

#[path = "../../../fuzz/checks/column_partial.rs"]
mod column_partial;
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

#[test]
fn column_partial_seeds() {
    replay("column_partial", column_partial::check);
}
