//! Drawings of characters: bars in eighths of a cell, lines in braille, two dots by four a cell.

use std::fmt::Write as _;

use super::polyline::Polyline;
use crate::chart::short;

/// Columns and rows of cells of a line's picture.
const HEIGHT: usize = 14;
const NARROWEST: usize = 40;
const WIDEST: usize = 160;

/// Columns of a terminal, or of paper where there is none.
pub(super) fn width() -> usize {
    #[cfg(unix)]
    if let Ok(size) = rustix::termios::tcgetwinsize(std::io::stdout())
        && size.ws_col > 0
    {
        return usize::from(size.ws_col).clamp(NARROWEST, WIDEST);
    }
    80
}

/// One line a row: its name, its bar and its value. Bars begin at zero, to the left of which negative ones lie.
pub(super) fn bars(title: &str, note: &str, rows: &[(String, f64)], width: usize) -> String {
    let finite = || rows.iter().map(|row| row.1).filter(|value| value.is_finite());
    let (low, high) = finite().fold((0f64, 0f64), |(low, high), x| (low.min(x), high.max(x)));
    let names = rows.iter().map(|row| row.0.chars().count()).max().unwrap_or(0);
    let values = rows.iter().map(|row| short(row.1).chars().count()).max().unwrap_or(0);
    let names = names.min(width / 3);
    let columns = width.saturating_sub(names + values + 3).max(8);
    // Cells left of zero, and right of it; halves keep large values from overflowing.
    let span = (high / 2.0 - low / 2.0).max(f64::MIN_POSITIVE);
    let left = if low < 0.0 {
        ((-low / 2.0 / span * columns as f64).round() as usize).clamp(1, columns - 1)
    } else {
        0
    };
    let right = if high > 0.0 { columns - left } else { 0 };
    let mut out = format!("{title}\n");
    for (name, value) in rows {
        let part = value / 2.0 / span * columns as f64;
        let bar = match () {
            () if !value.is_finite() => " ".repeat(left),
            () if *value < 0.0 => {
                // Halves of a cell are all that grows to the left.
                let halves = ((-part * 2.0).round() as usize).clamp(1, 2 * left);
                let (full, half) = (halves / 2, halves % 2);
                " ".repeat(left - full - half) + &"▐".repeat(half) + &"█".repeat(full)
            }
            () => {
                let eighths = ((part * 8.0).round() as usize).min(8 * right);
                // What is not zero is seen.
                let eighths = if *value > 0.0 { eighths.max(1) } else { 0 };
                let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
                " ".repeat(left) + &"█".repeat(eighths / 8) + rest
            }
        };
        let _ = writeln!(out, "{} {bar} {}", fitted(name, names), short(*value));
    }
    if !note.is_empty() {
        let _ = writeln!(out, "{note}");
    }
    out
}

/// A text of so many characters.
fn fitted(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return format!("{text:<width$}");
    }
    text.chars().take(width.saturating_sub(1)).collect::<String>() + "…"
}

/// A line over its axis, with the greatest, the middle and the least value beside it.
pub(super) fn line(title: &str, names: &str, line: &Polyline, width: usize) -> String {
    let (low, high) = line.range().unwrap_or((0.0, 0.0));
    let middle = low / 2.0 + high / 2.0;
    let marks = [high, middle, low].map(short);
    let margin = marks.iter().map(|mark| mark.chars().count()).max().unwrap_or(0);
    let cells = width.saturating_sub(margin + 2).max(8);
    let dots = 4 * HEIGHT;
    let half = (high / 2.0 - low / 2.0).max(f64::MIN_POSITIVE);
    let dot = |y: f64| {
        (((y / 2.0 - low / 2.0) / half * (dots - 1) as f64).round() as usize).min(dots - 1)
    };
    let mut picture = vec![[0u8; HEIGHT]; cells];
    for (x, range) in line.columns(2 * cells).into_iter().enumerate() {
        let Some((from, to)) = range else { continue };
        for y in dot(from)..=dot(to) {
            let from_top = dots - 1 - y;
            picture[x / 2][from_top / 4] |= braille(x % 2, from_top % 4);
        }
    }
    let mut out = format!("{title}\n");
    for row in 0..HEIGHT {
        let mark = match row {
            0 => &marks[0],
            _ if row == HEIGHT / 2 => &marks[1],
            _ if row == HEIGHT - 1 => &marks[2],
            _ => "",
        };
        let tick = if mark.is_empty() { '│' } else { '┤' };
        let cells = picture.iter().map(|column| char::from_u32(0x2800 + u32::from(column[row])));
        let cells: String = cells.map(|cell| cell.unwrap_or(' ')).collect();
        let _ = writeln!(out, "{mark:>margin$} {tick}{}", cells.trim_end_matches('\u{2800}'));
    }
    let _ = writeln!(out, "{:margin$} └{}", "", "─".repeat(cells));
    let (first, last) = (short(line.first()), short(line.last()));
    let between = cells.saturating_sub(first.chars().count() + last.chars().count());
    let _ = writeln!(out, "{:margin$}  {first}{names:^between$}{last}", "");
    out
}

/// The bit of a dot in its cell.
fn braille(column: usize, row: usize) -> u8 {
    match (column, row) {
        (0, 3) => 0x40,
        (1, 3) => 0x80,
        (column, row) => 1 << (row + 3 * column),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(values: &[f64]) -> Vec<(String, f64)> {
        values.iter().enumerate().map(|(k, &x)| (format!("g{k}"), x)).collect()
    }

    #[test]
    fn bars_are_as_long_as_their_values() {
        let drawn = bars("t", "", &rows(&[80.0, 40.0, 0.0, 0.001, f64::NAN]), 80);
        let blocks: Vec<usize> =
            drawn.lines().skip(1).map(|line| line.matches('█').count()).collect();
        assert_eq!(blocks[0], 2 * blocks[1]);
        assert_eq!(blocks[2..], [0, 0, 0]);
        assert!(drawn.contains("▏ 0.001") && drawn.contains("g2  0\n"), "{drawn}");
        assert!(drawn.lines().all(|line| line.chars().count() <= 80), "{drawn}");
    }

    #[test]
    fn negative_bars_lie_left_of_zero() {
        let drawn = bars("t", "", &rows(&[-30.0, 30.0, f64::MAX, f64::MIN]), 60);
        let lines: Vec<&str> = drawn.lines().skip(1).collect();
        let at = |line: &str, c: char| line.chars().position(|found| found == c);
        assert_eq!(at(lines[0], '▐').map(|at| at + 1), at(lines[1], '▏'), "{drawn}");
        assert_eq!(at(lines[3], '▐'), Some(3), "{drawn}");
    }

    #[test]
    fn a_line_rises_from_the_lowest_to_the_highest_row() {
        let points = (0..1000).map(|k| (f64::from(k), f64::from(k) / 10.0)).collect();
        let drawn = line("t", "index", &Polyline::new(points), 60);
        let lines: Vec<&str> = drawn.lines().collect();
        assert_eq!(lines.len(), HEIGHT + 3);
        let dots =
            |line: &str| line.chars().filter(|c| ('\u{2801}'..='\u{28ff}').contains(c)).count();
        assert!((1..=HEIGHT).all(|row| dots(lines[row]) > 0), "{drawn}");
        assert!(
            lines[1].starts_with("99.9") && lines[HEIGHT].trim_start().starts_with("0 ┤"),
            "{drawn}"
        );
        assert!(
            lines[HEIGHT + 2].trim().starts_with('0') && lines[HEIGHT + 2].ends_with("999"),
            "{drawn}"
        );
        let last = |row: usize| lines[row].chars().count();
        assert!(last(1) > last(HEIGHT), "{drawn}");
    }
}
