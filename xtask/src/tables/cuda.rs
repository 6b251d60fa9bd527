//! Tables of CUDA reports, in Markdown.

use warpfold::{Accuracy, DType, Op};
use warpfold_lab::cuda::data::Data;
use warpfold_lab::cuda::report::{Report, Row, Temperature};
use warpfold_lab::cuda::table::{LARGE, head, large, large_of, ratio, rounds};
use warpfold_lab::report::size;
use warpfold_lab::table::{gigabytes, percent, time};

use super::Table;

/// Element types of the short table; the file has all.
const TYPES: &[DType] =
    &[DType::F16, DType::F32, DType::F64, DType::I8, DType::I32, DType::I64, DType::Complex64];

/// GB/s, percent of the ceiling and times the peer, reductions against types, from memory.
pub(super) fn speed(report: &Report) -> String {
    let mut table = Table::new(
        [format!("GB/s at {}", size(LARGE))].into_iter().chain(TYPES.iter().map(DType::to_string)),
    );
    for &op in Op::ALL {
        for accuracy in [Accuracy::Fast, Accuracy::Exact] {
            let rounded = TYPES.iter().any(|&dtype| rounds(op, dtype));
            let cell = |&dtype: &DType| {
                // Integers are exact whatever is asked; they stand in the first line.
                let wanted = if rounds(op, dtype) { accuracy } else { Accuracy::Exact };
                let shown = rounds(op, dtype) || !rounded || accuracy == Accuracy::Fast;
                let row = large(report, op, dtype, wanted).filter(|_| shown);
                row.map_or(String::new(), |row| rate(report, row))
            };
            let cells: Vec<String> = TYPES.iter().map(cell).collect();
            let title = match (rounded, accuracy) {
                (true, Accuracy::Fast) => format!("{op}, floats fast"),
                (true, Accuracy::Exact) => format!("{op}, exact"),
                (false, Accuracy::Fast) => continue,
                (false, Accuracy::Exact) => op.to_string(),
            };
            if cells.iter().any(|cell| !cell.is_empty()) {
                table.lines.push([vec![title], cells].concat());
            }
        }
    }
    format!("{}\n{}", caption(report), table.markdown())
}

fn rate(report: &Report, row: &Row) -> String {
    let share = row.of_ceiling().map(percent);
    let times = ratio(report, row).map(|ratio| format!("{ratio:.2}×"));
    let more: Vec<String> = [share, times].into_iter().flatten().collect();
    match more.is_empty() {
        true => gigabytes(row.bytes_per_second),
        false => format!("{} ({})", gigabytes(row.bytes_per_second), more.join(", ")),
    }
}

/// The sum of f32 at every size, cold and hot, beside the peer.
pub(super) fn sizes(report: &Report) -> String {
    let peer = report.peers.first().map_or("peer", |peer| &peer.peer);
    let hot = report.rows.iter().any(|row| row.temperature == Temperature::Hot);
    let mut names = vec![
        "elements".to_owned(),
        "µs".into(),
        "GB/s".into(),
        format!("{peer}, µs"),
        "ratio".into(),
    ];
    if hot {
        names.push("µs in the L2 cache".into());
    }
    let mut table = Table::new(names);
    let sums = |at: Temperature| {
        report.rows.iter().filter(move |row| {
            (row.op, row.dtype, row.accuracy, row.temperature)
                == (Op::Sum, DType::F32, Accuracy::Fast, at)
                && row.data == Data::Uniform
                && row.n.is_power_of_two()
        })
    };
    let mut cold: Vec<&Row> = sums(Temperature::Cold).collect();
    cold.sort_by_key(|row| row.n);
    cold.dedup_by_key(|row| row.n);
    for row in cold {
        let other = report.peer(row);
        let mut line = vec![
            format!("2^{}", row.n.ilog2()),
            format!("{:.2}", row.microseconds),
            gigabytes(row.bytes_per_second),
            other.map_or(String::new(), |peer| format!("{:.2}", peer.us)),
            ratio(report, row).map_or(String::new(), |ratio| format!("{ratio:.2}")),
        ];
        if hot {
            let warm = sums(Temperature::Hot).find(|warm| warm.n == row.n);
            line.push(warm.map_or(String::new(), |warm| format!("{:.2}", warm.microseconds)));
        }
        table.lines.push(line);
    }
    format!("{}\n{}", caption(report), table.markdown())
}

/// Exact reductions on every kind of data, beside the peer that promises the same bits everywhere.
pub(super) fn data(report: &Report) -> String {
    let mut kinds: Vec<Data> = Vec::new();
    for row in report.rows.iter().filter(|row| row.data != Data::Uniform) {
        if !kinds.contains(&row.data) {
            kinds.push(row.data);
        }
    }
    kinds.insert(0, Data::Uniform);
    let peer = report.peers.iter().find(|peer| peer.reproducible).map(|peer| &*peer.peer);
    let mut names = vec![format!("GB/s at {}, exact", size(LARGE))];
    let cells = [Op::Sum, Op::Dot, Op::Var].map(|op| [DType::F32, DType::F64].map(|t| (op, t)));
    for (op, dtype) in cells.into_iter().flatten() {
        names.push(format!("{op} {dtype}"));
        if let Some(peer) = peer.filter(|_| op == Op::Sum) {
            names.push(format!("{peer}, {dtype}"));
        }
    }
    let mut table = Table::new(names);
    for kind in kinds {
        let mut line = vec![kind.name().to_owned()];
        for (op, dtype) in cells.into_iter().flatten() {
            let row = large_of(report, op, dtype, Accuracy::Exact, kind);
            line.push(row.map_or(String::new(), |row| rate(report, row)));
            if peer.is_some() && op == Op::Sum {
                let theirs = row.and_then(|row| report.reproducible_peer(row));
                line.push(theirs.map_or(String::new(), |peer| gigabytes(peer.gb_s * 1e9)));
            }
        }
        table.lines.push(line);
    }
    format!("{}\n{}", caption(report), table.markdown())
}

/// What it takes on the host, and the limits of the device.
pub(super) fn latency(report: &Report) -> String {
    let mut table = Table::new(["", "time"].map(str::to_owned));
    let mut line = |what: String, figure: String| table.lines.push(vec![what, figure]);
    line("empty kernel, back to back".into(), time(report.limits.empty * 1e-6));
    for reading in &report.limits.readings {
        let at = match reading.temperature {
            Temperature::Cold => "memory",
            Temperature::Hot => "the L2 cache",
        };
        let rate = gigabytes(reading.bytes_per_second);
        let what = format!("reading {} from {at}: {}", size(reading.bytes), reading.variant);
        line(what, format!("{rate} GB/s"));
    }
    for latency in &report.latencies {
        let n = latency.n.map_or(String::new(), |n| format!(", {n} elements"));
        line(format!("{}{n}", latency.what), time(latency.microseconds * 1e-6));
    }
    format!("{}\n{}", caption(report), table.markdown())
}

fn caption(report: &Report) -> String {
    format!("{}:\n", head(&report.device, &report.header))
}
