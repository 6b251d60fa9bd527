//! The tables of reductions of rows, columns, segments and keys on processors: a line a reduction and type, a column a way of cutting.

use warpfold_lab::segments::{Report, Row};
use warpfold_lab::table::percent;

use super::Table;

/// Where a row stands: `var f32` and `rows of 4`.
struct Place<'a> {
    line: String,
    column: String,
    row: &'a Row,
}

impl Place<'_> {
    fn of(row: &Row) -> Place<'_> {
        let mut name = row.name.splitn(4, '/');
        let mut next = || name.next().unwrap_or_default();
        let (op, dtype, accuracy) = (next(), next(), next());
        let word = if accuracy == "fast" { " fast" } else { "" };
        Place { line: format!("{op} {dtype}{word}"), column: cut(next()), row }
    }
}

/// How an array is cut, whatever its size: `[2097152, 4] axis 1` are rows of 4.
fn cut(case: &str) -> String {
    let shape = case.strip_prefix('[').and_then(|rest| rest.split_once("] axis "));
    let Some((shape, axis)) = shape else { return case.to_owned() };
    let lengths: Vec<u64> = shape.split(", ").filter_map(|length| length.parse().ok()).collect();
    let is_square = |a: u64, b: u64| a.abs_diff(b) <= 1;
    match (&lengths[..], axis) {
        (&[rows, columns], "0") if is_square(rows, columns) => "square, columns".into(),
        (&[rows, columns], "1") if is_square(rows, columns) => "square, rows".into(),
        (&[rows, columns], "0") if columns < rows => format!("{columns} columns"),
        (&[rows, _], "0") => format!("columns of {rows}"),
        (&[rows, columns], "1") if rows < columns => format!("{rows} rows"),
        (&[_, columns], "1") => format!("rows of {columns}"),
        (lengths, axis) => format!("axis {axis} of {}", lengths.len()),
    }
}

/// GB/s of input and percent of the flat reduction, beside NumPy's; then what misses its aim.
pub(super) fn speeds(report: &Report) -> String {
    let gigabytes = |microseconds: f64, row: &Row| row.input_rate(microseconds) / 1e9;
    let table = table(report, "GB/s (percent of flat) / the fastest peer", |row| {
        let rate = gigabytes(row.microseconds, row);
        let peer = peer(row).map_or("–".into(), |us| short(gigabytes(us, row)));
        let mark = if row.met() == Some(true) { " ✓" } else { "" };
        format!("{} ({}{mark}) / {peer}", short(rate), percent(row.of_baseline()))
    });
    let (met, aims) = report
        .rows
        .iter()
        .filter_map(Row::met)
        .fold((0, 0), |(met, all), one| (met + usize::from(one), all + 1));
    format!(
        "{}{} MiB each:\n\n{table}\n{met} of {aims} cells meet their aims (✓). {}{}\n",
        head(report),
        (report.n * 4) >> 20,
        farthest(report),
        behind(report)
    )
}

/// Millions of rows a second, by keys, beside Polars.
pub(super) fn keys(report: &Report) -> String {
    let millions = |microseconds: f64, row: &Row| row.elements as f64 / microseconds;
    let table = table(report, "million rows/s / the fastest peer", |row| {
        let peer = peer(row).map_or("–".into(), |us| short(millions(us, row)));
        format!("{} / {peer}", short(millions(row.microseconds, row)))
    });
    format!("{}{} MiB each:\n\n{table}\n{}\n", head(report), (report.n * 4) >> 20, behind(report))
}

fn head(report: &Report) -> String {
    let (machine, header) = (&report.machine, &report.header);
    let revision = header.revision.as_ref().map_or(String::new(), |r| format!(", revision {r}"));
    let mut libraries: Vec<&str> = Vec::new();
    for peer in report.rows.iter().flat_map(|row| &row.peers) {
        if !libraries.contains(&&*peer.library) {
            libraries.push(&peer.library);
        }
    }
    let beside = match libraries.is_empty() {
        true => String::new(),
        false => format!(", beside {}", libraries.join(" and ")),
    };
    format!(
        "{}, {} cores, {} kernels, {}{revision}{beside}; arrays of ",
        machine.cpu,
        machine.cores,
        machine.isa,
        header.day()
    )
}

/// Lines in the order of the report, columns in the order in which they first appear.
fn table(report: &Report, corner: &str, cell: impl Fn(&Row) -> String) -> String {
    let (mut columns, mut lines): (Vec<String>, Vec<(String, Vec<String>)>) = Default::default();
    for Place { line, column, row } in report.rows.iter().map(Place::of) {
        let at = columns.iter().position(|known| *known == column).unwrap_or_else(|| {
            columns.push(column);
            columns.len() - 1
        });
        let known = lines.iter().position(|(known, _)| *known == line).unwrap_or_else(|| {
            lines.push((line, Vec::new()));
            lines.len() - 1
        });
        let cells = &mut lines[known].1;
        cells.resize(cells.len().max(at + 1), String::new());
        cells[at] = row.wrong.as_ref().map_or_else(|| cell(row), |_| "wrong".into());
    }
    let mut table = Table::new([corner.to_owned()].into_iter().chain(columns));
    table.lines = lines.into_iter().map(|(line, cells)| [vec![line], cells].concat()).collect();
    table.markdown()
}

/// Microseconds of the fastest peer.
fn peer(row: &Row) -> Option<f64> {
    row.peers.iter().map(|peer| peer.microseconds).min_by(f64::total_cmp)
}

/// The cell that is farthest from its aim.
fn farthest(report: &Report) -> String {
    let share = |row: &Row| row.target.map(|target| row.of_baseline() / target);
    let cells = report.rows.iter().filter(|row| row.wrong.is_none());
    let cells = cells.filter_map(|row| Some((share(row)?, row)));
    let farthest = cells.min_by(|a, b| a.0.total_cmp(&b.0));
    farthest.map_or(String::new(), |(_, row)| {
        let Place { line, column, row } = Place::of(row);
        let [found, aim] = [row.of_baseline(), row.target.unwrap_or_default()].map(percent);
        format!("Farthest from it: {line}, {column}, {found} of flat where {aim} is the aim. ")
    })
}

/// What another library has sooner.
fn behind(report: &Report) -> String {
    let slower = |row: &&Row| peer(row).is_some_and(|theirs| theirs < row.microseconds);
    let contested = report.rows.iter().filter(|row| peer(row).is_some()).count();
    let behind = report.rows.iter().filter(slower).map(|row| {
        let ratio = row.microseconds / peer(row).unwrap_or(f64::NAN);
        let Place { line, column, .. } = Place::of(row);
        format!("{line}, {column} ({ratio:.2} times as long)")
    });
    let behind: Vec<String> = behind.collect();
    match behind.is_empty() {
        true => format!("Ahead of the fastest peer in all {contested} cells that one has."),
        false => format!(
            "Behind the fastest peer in {} of the {contested} cells that one has: {}.",
            behind.len(),
            behind.join("; ")
        ),
    }
}

/// Three digits that count.
fn short(number: f64) -> String {
    match number {
        _ if number >= 99.95 => format!("{number:.0}"),
        _ if number >= 9.995 => format!("{number:.1}"),
        _ if number >= 0.9995 => format!("{number:.2}"),
        _ => format!("{number:.3}"),
    }
}
