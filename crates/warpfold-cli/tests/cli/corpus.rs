//! The corpus of a fuzz target, replayed.

#![allow(unreachable_pub, reason = "the checks are shared with the fuzz targets")]

#[path = "../../../../fuzz/checks/map.rs"]
mod map;
#[path = "../../../../fuzz/checks/replay.rs"]
mod replay;

use replay::replay;

#[test]
fn map_seeds() {
    replay("map", map::check);
}
