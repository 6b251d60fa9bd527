//! [`ColumnTiles`]: how matrices whose columns are folded are shared out among blocks (`walk/map_columns.cuh`).

/// Matrices of rows that lie one behind the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Matrices {
    pub(super) width: u64,
    pub(super) rows: u64,
    pub(super) batches: u64,
}

/// Tiles of columns, and runs of their rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ColumnTiles {
    /// Lanes that have columns of their own, each of as many neighbours as make a vector of values.
    pub(super) lanes: u64,
    /// Whether the columns of a lane lie apart, as rows do not begin at vectors.
    pub(super) is_apart: bool,
    pub(super) tiles: u64,
    /// Warps that share a tile.
    pub(super) share: u64,
    pub(super) runs: u64,
    /// Columns of a tile.
    columns: u64,
}

/// Warps of a block.
const WARPS: u64 = 8;
/// Rows of a step, and steps in flight.
const ROWS: u64 = 2;
const FLIGHT: u64 = 4;
/// Times that a lane's steps in flight are loaded in a run at least: a run's states are written and read again.
const FLIGHTS_OF_A_RUN: u64 = 8;
/// The part of the blocks that should have work at any time.
const BUSY: f64 = 0.9;
/// Tiles and their runs that 32 bits count.
const MOST: u64 = 1 << 30;

impl ColumnTiles {
    /// For so many columns of a lane and blocks at once; `None` where they are more than the kernel counts.
    pub(super) fn of(matrices: Matrices, per_lane: u64, blocks: u64) -> Option<Self> {
        let Matrices { width, rows, batches } = matrices;
        let lanes = width.div_ceil(per_lane).min(32);
        let columns = lanes * per_lane;
        let tiles = width.div_ceil(columns).checked_mul(batches).filter(|&tiles| tiles <= MOST)?;
        let with = |share, runs| ColumnTiles {
            lanes,
            is_apart: width % per_lane != 0,
            tiles,
            share,
            runs,
            columns,
        };
        // Rows of the steps that so many warps take at once.
        let at_once = |warps: u64| warps * (32 / lanes) * ROWS;
        let shares = [1, 2, 4, WARPS].into_iter();
        let shares = shares.take_while(|&share| share == 1 || at_once(share / 2) < rows);
        let most = rows / (at_once(WARPS) * FLIGHT * FLIGHTS_OF_A_RUN);
        let runs = (2..=most.min(2 * blocks)).map(|runs| with(WARPS, runs));
        let all = shares.map(|share| with(share, 1)).chain(runs);
        let all: Vec<ColumnTiles> = all.take_while(|all| tiles * all.runs <= MOST).collect();
        let enough = all.iter().copied().find(|tiles| tiles.busy(blocks) >= BUSY);
        let busiest = || all.into_iter().max_by(|a, b| a.busy(blocks).total_cmp(&b.busy(blocks)));
        enough.or_else(busiest)
    }

    /// Blocks that have work.
    pub(super) fn blocks(&self) -> u64 {
        (self.tiles * self.runs * self.share).div_ceil(WARPS)
    }

    /// The part of so many blocks that has work at any time.
    fn busy(&self, blocks: u64) -> f64 {
        let rounds = (self.tiles * self.runs * self.share) as f64 / WARPS as f64 / blocks as f64;
        rounds / rounds.ceil()
    }

    /// Bytes of the workspace: a ticket for each tile, then a state of so many bytes for each run and column.
    pub(super) fn workspace(&self, state: u64) -> u64 {
        match self.runs {
            1 => 16,
            runs => 4 * self.tiles.next_multiple_of(4) + runs * self.tiles * self.columns * state,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiles(width: u64, rows: u64, per_lane: u64) -> ColumnTiles {
        let matrices = Matrices { width, rows, batches: 1 };
        ColumnTiles::of(matrices, per_lane, 264).expect("they are few enough")
    }

    #[test]
    fn warps_have_neighbours_and_blocks_have_work() {
        for (width, rows) in [(1 << 16, 1 << 12), (1 << 10, 1 << 18), (64, 1 << 22), (3, 1 << 26)] {
            for per_lane in [2, 4] {
                let tiles = tiles(width, rows, per_lane);
                assert!(tiles.busy(264) >= BUSY, "{tiles:?}");
                assert_eq!(tiles.lanes, width.div_ceil(per_lane).min(32));
                assert_eq!(tiles.is_apart, width % per_lane != 0);
                assert!(tiles.runs == 1 || tiles.share == WARPS, "{tiles:?}");
            }
        }
    }

    #[test]
    fn few_rows_are_one_warps() {
        assert_eq!(tiles(1 << 26, 2, 4).share, 1);
        assert_eq!(tiles(7, 2, 4), ColumnTiles { tiles: 1, ..tiles(7, 1, 4) });
    }

    #[test]
    fn more_than_is_counted_has_no_kernel() {
        let matrices = Matrices { width: 4, rows: 2, batches: 1 << 40 };
        assert_eq!(ColumnTiles::of(matrices, 4, 264), None);
    }
}
