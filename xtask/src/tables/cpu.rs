//! Tables of CPU reports, in Markdown.

use warpfold::{DType, Op};
use warpfold_lab::array::Data;
use warpfold_lab::report::{Contest, Deviation, Entry, Header, Report, Row, size};
use warpfold_lab::table::{error, gigabytes, of_ceiling, percent, time, wanted};

use super::Table;

/// The working set that stands for memory, and the one that stands for a cache.
const LARGE: u64 = 256 << 20;
const CACHED: u64 = 1 << 20;

/// Element types of the short tables; the files have all.
const TYPES: &[DType] =
    &[DType::F16, DType::F32, DType::F64, DType::I8, DType::I32, DType::I64, DType::Complex64];

/// GB/s and percent of the ceiling, reductions against types, from memory.
pub(super) fn speed(report: &Report) -> String {
    matrix(report, LARGE)
}

/// The same in cache.
pub(super) fn cache(report: &Report) -> String {
    matrix(report, CACHED)
}

fn matrix(report: &Report, bytes: u64) -> String {
    let rows: Vec<&Row> = report.rows.iter().filter(|row| row.bytes == bytes).collect();
    let head = [format!("GB/s at {}", size(bytes))];
    let mut table = Table::new(head.into_iter().chain(TYPES.iter().map(|dtype| dtype.to_string())));
    let line = |title: String, wanted: &dyn Fn(&Row) -> bool| {
        let cell = |dtype: &DType| {
            let row = rows.iter().find(|row| row.dtype == *dtype && wanted(row));
            row.map_or(String::new(), |row| rate(row))
        };
        let cells: Vec<String> = TYPES.iter().map(cell).collect();
        cells.iter().any(|cell| !cell.is_empty()).then(|| [vec![title], cells].concat())
    };
    for &op in Op::ALL {
        let natural = |row: &Row| row.op == op && row.data != Data::LogUniform;
        table.lines.extend(line(op.to_string(), &natural));
        if op == Op::Sum {
            let adversarial = |row: &Row| row.op == op && row.data == Data::LogUniform;
            table.lines.extend(line("sum, log-uniform".into(), &adversarial));
        }
    }
    format!("{}\n{}", caption(report), table.markdown())
}

fn rate(row: &Row) -> String {
    let share =
        row.of_ceiling().map_or(String::new(), |fraction| format!(" ({})", percent(fraction)));
    format!("{}{share}", gigabytes(row.bytes_per_second))
}

/// GB/s and error of every library, a line a contest.
pub(super) fn peers(report: &Report) -> String {
    let mut libraries: Vec<&str> = Vec::new();
    for entry in report.peers.iter().flat_map(|contest| &contest.entries) {
        if !libraries.contains(&entry.library.as_str()) {
            libraries.push(&entry.library);
        }
    }
    let head = ["reduction", "type", "data", "ceiling"].map(str::to_owned);
    let mut table =
        Table::new(head.into_iter().chain(libraries.iter().map(|name| (*name).to_owned())));
    for contest in &report.peers {
        let Contest { op, dtype, data, .. } = contest;
        let mut line =
            vec![op.to_string(), dtype.to_string(), data.to_string(), gigabytes(contest.ceiling)];
        line.extend(libraries.iter().map(|library| {
            let mine: Vec<&Entry> =
                contest.entries.iter().filter(|entry| entry.library == *library).collect();
            let cells: Vec<String> = mine.iter().map(|entry| result(entry, mine.len())).collect();
            cells.join("<br>")
        }));
        table.lines.push(line);
    }
    format!("{}\n{}", caption(report), table.markdown())
}

/// The rate; the call where a library has several; the error where there is one.
fn result(entry: &Entry, calls: usize) -> String {
    let rate = gigabytes(entry.bytes_per_second);
    let call = if calls > 1 { format!(" {}", entry.call) } else { String::new() };
    match entry.error {
        Deviation::None => format!("{rate}{call}"),
        off => format!("{rate}{call}, {}", error(off)),
    }
}

/// What is wanted and what was reached.
pub(super) fn targets(report: &Report) -> String {
    let head = ["row", "target", "reached", "", "spread"].map(str::to_owned);
    let mut table = Table::new(head);
    for row in &report.rows {
        if let (Some(target), Some(met)) = (row.target, row.met()) {
            let reached = of_ceiling(row).unwrap_or_else(|| time(row.seconds.median));
            let verdict = if met { "met" } else { "not met" }.to_owned();
            table.lines.push(vec![
                row.name(),
                wanted(target),
                reached,
                verdict,
                percent(row.seconds.spread()),
            ]);
        }
    }
    format!("{}\n{}", caption(report), table.markdown())
}

/// Machine, build, ceilings and how long was measured.
pub(super) fn machine(report: &Report) -> String {
    let machine = &report.machine;
    let caches: Vec<String> = machine.caches.iter().map(|bytes| size(*bytes)).collect();
    let mut table = Table::new(["", &machine.slug()].map(str::to_owned));
    let mut fact = |name: &str, value: String| table.lines.push(vec![name.to_owned(), value]);
    fact("CPU", format!("{}, {} cores, {} kernels", machine.cpu, machine.cores, machine.isa));
    fact("caches of a core", caches.join(", "));
    fact("memory", format!("{:.0} GiB", machine.memory as f64 / 2f64.powi(30)));
    fact("system", machine.os.clone());
    fact("compiler", format!("{}, {} build", machine.rustc, machine.profile));
    let Header { warpfold, revision, date, .. } = &report.header;
    fact("warpfold", [warpfold, revision.as_deref().unwrap_or_default()].join(" "));
    fact("date", date.clone());
    for ceiling in &report.ceilings {
        let rate = gigabytes(ceiling.bytes_per_second);
        let how = format!("{rate} GB/s, {} threads, {}", ceiling.threads, ceiling.variant);
        fact(&format!("read ceiling of {}", size(ceiling.bytes)), how);
    }
    fact(
        "time a row",
        format!("{:?} after {:?} of warm-up", report.sampling.budget, report.sampling.warm_up),
    );
    table.markdown()
}

fn caption(report: &Report) -> String {
    let machine = &report.machine;
    let day = report.header.day();
    format!("{}, {} cores, {} kernels, {day}:\n", machine.cpu, machine.cores, machine.isa)
}
