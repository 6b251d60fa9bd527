//! The columns of a ladder's table: each declared once, for people and for programs.

use warpfold_ladder::found::{Complexity, DeviceKind};
use warpfold_ladder::{Ladder, Row};

/// One column.
pub(super) struct Column {
    /// For programs.
    pub(super) name: &'static str,
    /// For people.
    title: &'static str,
    /// Which tables of people it is in.
    shown: Shown,
    exact: Figure,
    rounded: Figure,
}

type Figure = Box<dyn Fn(&Row) -> Option<String>>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Always,
    /// Where rungs are timed.
    Timed,
    /// Where the simulator counts.
    Counted,
    /// In tables for programs only.
    Never,
}

impl Column {
    /// The figure as it is.
    pub(super) fn exact(&self, row: &Row) -> String {
        (self.exact)(row).unwrap_or_default()
    }
}

/// Every column.
pub(super) fn columns() -> Vec<Column> {
    use Shown::{Always, Counted, Never, Timed};
    let text = |name, title, shown, figure: fn(&Row) -> Option<String>| Column {
        name,
        title,
        shown,
        exact: Box::new(figure),
        rounded: Box::new(figure),
    };
    // A number and how people read it.
    let number =
        |name, title, shown, figure: fn(&Row) -> Option<f64>, read: fn(f64) -> String| Column {
            name,
            title,
            shown,
            exact: Box::new(move |row| figure(row).map(|x| x.to_string())),
            rounded: Box::new(move |row| figure(row).map(read)),
        };
    let count = |name: &'static str, title| Column {
        name,
        title,
        shown: Counted,
        exact: Box::new(move |row| row.counts.as_ref()?.get(name).map(u64::to_string)),
        rounded: Box::new(move |row| row.counts.as_ref()?.get(name).map(u64::to_string)),
    };
    let times = |x: f64| format!("{x:.2}");
    vec![
        text("rung", "rung", Always, |row| Some(row.name.clone())),
        text("n", "", Never, |row| Some(row.n.to_string())),
        text("launches", "launches", Always, |row| {
            (!row.launches.is_empty()).then(|| row.launches.len().to_string())
        }),
        Column {
            rounded: Box::new(|row| Some(if row.verified? { "yes" } else { "NO" }.to_owned())),
            ..text("verified", "verified", Always, |row| {
                row.verified.map(|right| right.to_string())
            })
        },
        text("value", "", Never, |row| row.value.clone()),
        text("exact", "", Never, |row| row.exact.clone()),
        number("error", "", Never, |row| row.error, figure),
        number("bound", "", Never, |row| row.bound, figure),
        text("runs", "runs", Timed, |row| Some(row.time?.runs.to_string())),
        number("median_us", "median µs", Timed, |row| Some(row.time?.median), figure),
        number("mean_us", "mean µs", Timed, |row| Some(row.time?.mean), figure),
        number("standard_error_us", "± µs", Timed, |row| Some(row.time?.standard_error), figure),
        number("fastest_us", "", Never, |row| Some(row.time?.fastest), figure),
        number("bytes_per_second", "GB/s", Timed, |row| row.bytes_per_second, |x| figure(x / 1e9)),
        number("of_peak", "of peak", Timed, |row| row.of_peak, percent),
        number("speedup", "× before", Timed, |row| row.speedup, times),
        number("of_library", "of library", Timed, |row| relative(row, "library"), percent),
        number("of_cub", "of CUB", Timed, |row| relative(row, "cub"), percent),
        count("warp_instructions", "warp instr."),
        number("lanes_on", "lanes on", Counted, lanes, percent),
        count("divergent_branches", "divergent"),
        count("bank_conflicts", "conflicts"),
        count("global_load_sectors", "sectors"),
        count("block_barriers", "barriers"),
        count("atomics", "atomics"),
        number("work", "", Never, |row| complexity(row)?.work, figure),
        number("steps", "", Never, |row| complexity(row)?.steps, figure),
        number(
            "work_counted",
            "",
            Never,
            |row| Some(complexity(row)?.work_counted? as f64),
            figure,
        ),
        number(
            "steps_counted",
            "",
            Never,
            |row| Some(complexity(row)?.steps_counted? as f64),
            figure,
        ),
        number("", "W", Always, work, |x| x.to_string()),
        number("", "S", Always, steps, |x| x.to_string()),
        number("parallelism", "W/S", Always, |row| Some(complexity(row)?.parallelism), figure),
        number("brent", "W/P + S", Always, |row| Some(complexity(row)?.brent), figure),
        text("obstacle", "", Never, |row| row.obstacle.clone()),
    ]
}

/// Titles and cells of the table for people: the columns that have something to say.
pub(super) fn table(ladder: &Ladder) -> Vec<Vec<String>> {
    let timed = ladder.device.kind != DeviceKind::Simt;
    let wanted = |column: &Column| match column.shown {
        Shown::Always => true,
        Shown::Timed => timed,
        Shown::Counted => !timed,
        Shown::Never => false,
    };
    let mut lines = vec![Vec::new(); ladder.rungs.len() + 1];
    for column in columns().iter().filter(|column| wanted(column)) {
        let cells: Vec<_> = ladder.rungs.iter().map(|row| (column.rounded)(row)).collect();
        if cells.iter().all(Option::is_none) {
            continue;
        }
        lines[0].push(column.title.to_owned());
        for (line, cell) in lines[1..].iter_mut().zip(cells) {
            line.push(cell.unwrap_or_default());
        }
    }
    lines
}

fn complexity(row: &Row) -> Option<&Complexity> {
    row.complexity.as_ref()
}

/// Counted if it was, else by the formula.
fn work(row: &Row) -> Option<f64> {
    let found = complexity(row)?;
    found.work_counted.map(|count| count as f64).or(found.work)
}

fn steps(row: &Row) -> Option<f64> {
    let found = complexity(row)?;
    found.steps_counted.map(|count| count as f64).or(found.steps)
}

/// Lanes that worked, of those that could have.
fn lanes(row: &Row) -> Option<f64> {
    let counts = row.counts.as_ref()?;
    let [on, instructions] =
        ["predicated_on_lanes", "warp_instructions"].map(|name| counts.get(name));
    Some(*on? as f64 / (32 * instructions?).max(1) as f64)
}

/// The rate beside that of a reference whose name begins so.
fn relative(row: &Row, reference: &str) -> Option<f64> {
    let found = row.relative.iter().find(|(name, _)| name.starts_with(reference));
    found.map(|(_, of)| *of)
}

fn percent(x: f64) -> String {
    format!("{:.1} %", 100.0 * x)
}

/// About four digits.
fn figure(x: f64) -> String {
    match x.abs() {
        0.0 => "0".to_owned(),
        1e7.. => format!("{x:.2e}"),
        1000.0.. => format!("{x:.0}"),
        100.0.. => format!("{x:.1}"),
        1.0.. => format!("{x:.2}"),
        1e-3.. => format!("{x:.3}"),
        _ => format!("{x:.2e}"),
    }
}
