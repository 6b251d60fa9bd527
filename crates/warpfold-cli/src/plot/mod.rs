//! `--plot`: results drawn, in the terminal or as SVG: bars for groups of few, a line for many along an axis.
//!
//! ```text
//! Table -> Drawing (names and values) -> terminal (eighths of a cell, braille)
//!                                     -> chart::{Bars, Lines} -> .svg
//! ```

mod polyline;
mod terminal;

use std::path::PathBuf;

use warpfold::Op;

use crate::args::{Plot, Reduction};
use crate::chart::{Axis, Bars, Chart, Lines, Point, Row, Scale, Series};
use crate::table::{Cells, Table, Titles};
use crate::{Failure, outfile, streams};
use polyline::Polyline;

/// Bars of a picture at most.
const BARS: usize = 100;

/// Results that are numbered are bars up to so many, and a line beyond.
const MOST_MARKED: usize = 40;

/// Points of a line in a picture at most: some for each pixel.
const POINTS: usize = 900;

/// Fails early where there will be nothing to draw. Several columns can be asked for of inputs that have them.
pub(crate) fn check(args: &Reduction, has_columns: bool) -> Result<(), Failure> {
    let Some(plot) = &args.plot else { return Ok(()) };
    let is_picture = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "svg");
    if let (Plot::Terminal, Some(picture)) = (plot, args.inputs.iter().find(is_picture)) {
        let picture = picture.display().to_string();
        return Err(Failure::Usage(format!(
            "{} is an input as it stands, behind a blank; for a picture say --plot={}",
            picture.escape_debug(),
            picture.escape_debug()
        )));
    }
    let is_many = args.parts.any() || has_columns && args.is_table();
    if !is_many || args.maps.any() && !args.parts.any() {
        return Err(Failure::Usage(
            "--plot draws many results, and this is one; add --by, --axis, --every or --segments, or choose several columns"
                .into(),
        ));
    }
    match plot {
        Plot::Terminal if args.format.is_some() => Err(Failure::Usage(
            "--plot draws in the terminal what --format would print; leave one of them out, or draw into a file with --plot=FILE.svg".into(),
        )),
        Plot::Terminal => Ok(()),
        Plot::File(path) => {
            outfile::check(path)?;
            Ok(outfile::refuse_inputs(path, args.inputs.iter().map(PathBuf::as_path))?)
        }
    }
}

/// What is drawn of a table.
struct Drawing {
    title: String,
    /// What the names are.
    names: String,
    rows: Vec<(String, f64)>,
    /// Where the rows lie along their axis, if they have one.
    places: Option<Vec<f64>>,
    /// What is not drawn.
    note: String,
}

impl Drawing {
    /// One for each column of the input that there are results of.
    fn all(table: &Table) -> Result<Vec<Drawing>, Failure> {
        let is_of_columns = table.titles == Titles::Columns;
        if table.op == Op::Stats || !is_of_columns && table.columns.len() != 1 {
            return Err(Failure::Usage(format!(
                "--plot draws one column of results, and {} gives several; choose one of them, such as min or max",
                table.op
            )));
        }
        let title = |name: &str| match is_of_columns {
            true => format!("{} of {name}", table.op),
            false => format!("{} of {}", table.op, table.dtype),
        };
        table.columns.iter().map(|(name, cells)| Drawing::of(table, title(name), cells)).collect()
    }

    fn of(table: &Table, title: String, cells: &Cells) -> Result<Drawing, Failure> {
        let [names] = &table.label_names()[..] else {
            return Err(Failure::Usage(
                "--plot draws results along one axis or by one key, and these have several; fold all axes but one, or take one --by".into(),
            ));
        };
        let value = |row: usize| {
            let text = cells.shown(row);
            match &*text {
                "-" => Ok(f64::NAN),
                text => text.parse::<f64>().map_err(|_| {
                    let text = text.escape_debug();
                    Failure::Usage(format!("--plot draws numbers, and {text} is none"))
                }),
            }
        };
        let named = |row: usize| Ok((without_controls(&table.shown_label(row)), value(row)?));
        let rows: Vec<(String, f64)> =
            (0..cells.len()).map(named).collect::<Result<_, Failure>>()?;
        let places: Option<Vec<f64>> = rows
            .iter()
            .map(|(name, _)| name.parse().ok().filter(|x: &f64| x.is_finite()))
            .collect();
        let rises = |places: &Vec<f64>| places.windows(2).all(|pair| pair[0] < pair[1]);
        Ok(Drawing {
            title: without_controls(&format!("{title} by {names}")),
            names: names.clone(),
            places: places.filter(rises),
            rows,
            note: String::new(),
        })
    }

    /// The line, where there are many along an axis.
    fn line(&self) -> Option<Polyline> {
        let places = self.places.as_ref().filter(|places| places.len() > MOST_MARKED)?;
        let points = places.iter().zip(&self.rows).map(|(&x, (_, y))| (x, *y));
        Some(Polyline::new(points.collect()))
    }

    /// Leaves out what would be too many bars, and says so.
    fn bars(mut self) -> Drawing {
        if self.rows.len() > BARS {
            self.note = format!("the first {BARS} of {}", self.rows.len());
            self.rows.truncate(BARS);
        }
        self
    }

    fn in_terminal(self) -> String {
        match self.line() {
            Some(line) => terminal::line(&self.title, &self.names, &line, terminal::width()),
            None => {
                let drawing = self.bars();
                terminal::bars(&drawing.title, &drawing.note, &drawing.rows, terminal::width())
            }
        }
    }

    fn chart(self) -> Chart {
        let axis = |label: &str, scale| Axis { label: label.to_owned(), scale };
        if let Some(line) = self.line() {
            let point = |(x, y)| Point { x, y, error: None };
            let points = line.thinned(POINTS).into_iter().map(point).collect();
            return Chart::Lines(Lines {
                note: self.note,
                x: axis(&self.names, Scale::Near),
                y: axis("", Scale::Near),
                series: vec![Series { name: self.title.clone(), points }],
                limits: Vec::new(),
                title: self.title,
            });
        }
        let drawing = self.bars();
        let row = |(name, value): (String, f64)| Row { name, bars: vec![Some((value, None))] };
        Chart::Bars(Bars {
            series: vec![drawing.title.clone()],
            title: drawing.title,
            note: drawing.note,
            value: axis("", Scale::Linear),
            rows: drawing.rows.into_iter().map(row).collect(),
        })
    }
}

/// Draws a table where it is asked for; says whether that stands for its text.
pub(crate) fn show(plot: &Plot, table: &Table) -> Result<bool, Failure> {
    let drawings = Drawing::all(table)?;
    match plot {
        Plot::Terminal => {
            let drawn: Vec<String> = drawings.into_iter().map(Drawing::in_terminal).collect();
            streams::print(drawn.join("\n").as_bytes())?;
            Ok(true)
        }
        Plot::File(path) => {
            let charts: Vec<Chart> = drawings.into_iter().map(Drawing::chart).collect();
            outfile::replace(path, Chart::stacked(&charts).as_bytes())?;
            Ok(false)
        }
    }
}

/// Words of a file may hold line breaks and what terminals obey.
fn without_controls(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '·' } else { c }).collect()
}
