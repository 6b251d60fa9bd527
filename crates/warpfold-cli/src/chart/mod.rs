//! Charts: plain values, drawn as SVG that is readable on light and on dark paper.
//!
//! ```text
//! Lines (axes, series with error bars, limits) ─┐
//!                                               ├─> svg (plotters) -> theme (dark colours, where the reader's are)
//! Bars (rows with one bar a series)            ─┘
//! ```

mod axis;
mod bars;
mod lines;
mod theme;

pub(crate) use axis::{Axis, Scale, number as short};
pub(crate) use bars::{Bars, Row};
pub(crate) use lines::{Limit, Lines, Point, Series};
pub(crate) use theme::style;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// A chart of one of the kinds.
pub(crate) enum Chart {
    /// Points over an axis.
    Lines(Lines),
    /// A bar or more for each of a few things.
    Bars(Bars),
}

impl Chart {
    /// The title.
    pub(crate) fn title(&self) -> &str {
        match self {
            Chart::Lines(chart) => &chart.title,
            Chart::Bars(chart) => &chart.title,
        }
    }

    /// The chart as a picture that stands alone.
    pub(crate) fn file(&self) -> String {
        theme::alone(&self.drawn(), self.title())
    }

    /// Several charts as one picture, one below the other.
    pub(crate) fn stacked(charts: &[Chart]) -> String {
        match charts {
            [one] => one.file(),
            charts => {
                let drawn: Vec<String> = charts.iter().map(Chart::drawn).collect();
                let titles: Vec<&str> = charts.iter().map(Chart::title).collect();
                theme::stacked(&drawn, &titles.join("; "))
            }
        }
    }

    /// The chart as part of a page that has [`style`] once.
    pub(crate) fn embedded(&self) -> String {
        theme::embedded(&self.drawn(), self.title())
    }

    fn drawn(&self) -> String {
        match self {
            Chart::Lines(chart) => lines::draw(chart),
            Chart::Bars(chart) => bars::draw(chart),
        }
    }
}

/// Pixels across, of a picture that is scaled to where it stands.
const WIDTH: u32 = 460;

/// Where all drawing goes.
type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// Draws into a string, on paper.
fn on_paper(height: u32, draw: impl FnOnce(&Area<'_>)) -> String {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
        area.fill(&theme::PAPER).expect("strings take what is drawn");
        draw(&area);
        area.present().expect("strings take what is drawn");
    }
    text
}

/// A text at a place.
fn write(area: &Area<'_>, text: &str, at: (i32, i32), size: u32, color: RGBColor, to: HPos) {
    let style = ("sans-serif", size).into_font().color(&color).pos(Pos::new(to, VPos::Center));
    area.draw(&Text::new(text.to_owned(), at, style)).expect("strings take what is drawn");
}

/// What stands at the top: title, note, and what each colour is.
struct Head {
    title: String,
    note: Vec<String>,
    /// Names with their places; none where there is only one.
    names: Vec<(String, (i32, i32))>,
    /// Pixels down to its end.
    height: i32,
}

impl Head {
    fn of(title: &str, note: &str, names: &[&str]) -> Head {
        let note = wrapped(note);
        let (mut x, mut y) = (10, 36 + 16 * note.len() as i32);
        let mut placed = Vec::new();
        for name in names.iter().filter(|_| names.len() > 1) {
            let wide = 26 + width_of(name, 11);
            if x > 10 && x + wide > WIDTH as i32 - 10 {
                (x, y) = (10, y + 17);
            }
            placed.push(((*name).to_owned(), (x, y)));
            x += wide;
        }
        let height = if placed.is_empty() { y - 10 } else { y + 10 };
        Head { title: title.to_owned(), note, names: placed, height }
    }

    fn draw(&self, area: &Area<'_>) {
        write(area, &self.title, (10, 16), 15, theme::INK, HPos::Left);
        for (line, y) in self.note.iter().zip((32..).step_by(16)) {
            write(area, line, (10, y), 11, theme::SOFT, HPos::Left);
        }
        for (k, (name, (x, y))) in self.names.iter().enumerate() {
            let ends = [(*x, y - 5), (x + 10, y + 5)];
            let swatch = Rectangle::new(ends, theme::series(k).filled());
            area.draw(&swatch).expect("strings take what is drawn");
            write(area, name, (x + 15, *y), 11, theme::INK, HPos::Left);
        }
    }
}

/// A text in lines that fit.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width_of(line, 11) + width_of(word, 11) + 3 < WIDTH as i32 - 20 => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Pixels that a text is wide, about: no font is at hand to ask.
fn width_of(text: &str, size: u32) -> i32 {
    (text.chars().count() as f64 * f64::from(size) * 0.56) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> Chart {
        let point = |k: i32, rate: f64| {
            let x = 2f64.powi(k);
            let y = 1.0 / (1.0 / rate + 3e3 / x);
            Point { x, y, error: Some([y * 0.9, y * 1.1]) }
        };
        let series = |name: &str, rate: f64| Series {
            name: name.into(),
            points: (10..=30).step_by(2).map(|k| point(k, rate)).collect(),
        };
        Chart::Lines(Lines {
            title: "Rate by elements <sum & f32>".into(),
            note: "a note that is long enough to be wrapped into two lines at the very least, as it tells machine, type and date".into(),
            x: Axis { label: "elements".into(), scale: Scale::Log2 },
            y: Axis { label: "GB/s".into(), scale: Scale::Log10 },
            series: vec![series("06_interleaved", 400.0), series("15_single_pass", 4500.0)],
            limits: vec![Limit { name: "roofline".into(), points: vec![[1e3, 1.0], [2e7, 4700.0], [1e9, 4700.0]] }],
        })
    }

    fn bars() -> Chart {
        let row = |name: &str, a: f64, b: Option<f64>| Row {
            name: name.into(),
            bars: vec![Some((a, Some([a * 0.95, a * 1.05]))), b.map(|b| (b, None))],
        };
        Chart::Bars(Bars {
            title: "Percent of peak".into(),
            note: "published and here".into(),
            value: Axis { label: "% of peak".into(), scale: Scale::Linear },
            series: vec!["here".into(), "RTX 3090, published".into()],
            rows: vec![row("06_interleaved", 8.4, Some(23.8)), row("16_bulk_copy", 98.0, None)],
        })
    }

    /// Both stand alone and within a page, name nothing outside, and escape what they are told.
    #[test]
    fn charts_are_whole_pictures() {
        for chart in [lines(), bars()] {
            let file = chart.file();
            assert!(
                file.starts_with("<svg class=\"chart\"") && file.trim_end().ends_with("</svg>")
            );
            assert!(file.contains("prefers-color-scheme: dark") && !file.contains("<sum"));
            let outside = file.replace("http://www.w3.org/2000/svg", "");
            assert!(!outside.contains("http") && !outside.contains("NaN"), "{file}");
            let embedded = chart.embedded();
            assert!(!embedded.contains("<style") && embedded.contains("aria-label"));
            if let Some(folder) = std::env::var_os("WARPFOLD_CHARTS") {
                let name = chart.title().split(' ').next().unwrap_or_default().to_owned() + ".svg";
                std::fs::write(std::path::Path::new(&folder).join(name), file).expect("a folder");
            }
        }
    }
}
