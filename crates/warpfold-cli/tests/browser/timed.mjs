// Makes of a report's data from the simulator one that has times, as if a GPU had been there: arbitrary figures, for the page's test alone.
//
// node timed.mjs COUNTED.json > TIMED.json
import { readFileSync } from "node:fs";

const data = JSON.parse(readFileSync(process.argv[2], "utf8"));
const device = {
  kind: "cuda", name: "a GPU that is not there", multiprocessors: 100, processors: 12800, paper_peak: 4e12, clock: 2000,
};
const peak = { bytes_per_second: 3.8e12, how: "made up" };
const sizes = { i32: 4, i64: 8, f32: 4, f64: 8, complex64: 8, complex128: 16 };
// Each rung twice as fast as the one before, but for 11_unrolled, whose gain is gone.
const names = [
  "host_serial", "host_tree", "01_atomic", "02_vector_atomic", "03_global_interleaved", "04_global_sequential", "05_one_block",
  "06_interleaved", "07_strided_index", "08_sequential", "09_add_on_load", "10_unroll_last_warp", "11_unrolled", "12_cascade",
  "13_shuffle", "14_vector_grid", "15_single_pass", "16_bulk_copy", "library", "library_exact",
];
const rate = (name) => 3.6e12 * 2 ** Math.min(0, names.indexOf(name === "11_unrolled" ? "10_unroll_last_warp" : name) - 15);

function time(row, dtype, rung) {
  const median = (row.n * sizes[dtype]) / rate(rung) * 1e6 + 3;
  row.time = { runs: 100, mean: median * 1.01, median, standard_error: median / 100, fastest: median * 0.99 };
  row.bytes_per_second = (row.n * sizes[dtype]) / median * 1e6;
}

function climb(ladder) {
  Object.assign(ladder, { device, peak, method: "made up" });
  ladder.n *= 1024;
  for (const row of ladder.rungs) {
    if (row.name !== "05_one_block") row.n *= 1024;
    time(row, ladder.dtype, row.name);
    row.of_peak = row.bytes_per_second / peak.bytes_per_second;
    row.counts = null;
  }
}

function sweep(found) {
  Object.assign(found, { device, peak, method: "made up", launch: 3 });
  for (const point of found.points) {
    point.n *= 1024;
    time(point, point.dtype, point.rung);
    point.warp_instructions = null;
  }
}

data.ladders.forEach(climb);
data.sweeps.forEach(sweep);
for (const replay of data.replays) {
  Object.assign(replay, { device, simulated: null });
  replay.ladders.forEach(climb);
  replay.sweeps.forEach(sweep);
}
const [ladder] = data.ladders;
data.rooflines = [{
  schema: 1, warpfold: ladder.warpfold, date: ladder.date, device, dtype: ladder.dtype, n: ladder.n, read: peak,
  adds_per_second: 2e13, adds_how: "made up", launch: 3, ladder,
}];
console.log(JSON.stringify(data));
