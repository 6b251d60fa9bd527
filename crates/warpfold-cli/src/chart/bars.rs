//! A row a thing, a bar a series: what a table says, at a glance.

use plotters::coord::ranged1d::Ranged as _;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::axis::{Axis, Scale, Stretch, number as text_of};
use super::theme::{INK, LINE, SOFT, series};
use super::{Head, WIDTH, on_paper, width_of, write};

/// A chart of bars.
pub(crate) struct Bars {
    pub(crate) title: String,
    /// Where, of what: beneath the title.
    pub(crate) note: String,
    /// What the bars' lengths are.
    pub(crate) value: Axis,
    /// What each row's bars are of, in their order.
    pub(crate) series: Vec<String>,
    pub(crate) rows: Vec<Row>,
}

/// A row.
pub(crate) struct Row {
    pub(crate) name: String,
    /// A bar a series: its length, and from where to where it may be; none where there is no figure.
    pub(crate) bars: Vec<Option<(f64, Option<[f64; 2]>)>>,
}

/// Pixels of a bar, and between rows.
const BAR: i32 = 11;
const GAP: i32 = 7;

impl Row {
    fn height(&self) -> i32 {
        GAP + BAR * self.bars.iter().flatten().count().max(1) as i32
    }
}

pub(super) fn draw(chart: &Bars) -> String {
    let names: Vec<&str> = chart.series.iter().map(String::as_str).collect();
    let head = Head::of(&chart.title, &chart.note, &names);
    let top = head.height + 4;
    let bottom = top + chart.rows.iter().map(Row::height).sum::<i32>();
    on_paper((bottom + 34) as u32, |area| {
        head.draw(area);
        let widest = chart.rows.iter().map(|row| width_of(&row.name, 11)).max().unwrap_or(0);
        let (left, right) = (widest.min(190) + 16, WIDTH as i32 - 52);
        let scale = chart.value.scale;
        let bars = chart.rows.iter().flat_map(|row| row.bars.iter().flatten());
        let stretch = Stretch::of(
            scale,
            bars.flat_map(|(value, error)| {
                [*value].into_iter().chain(error.iter().flatten().copied())
            }),
        );
        let across = |position: &f64| stretch.map(position, (left, right));
        for tick in stretch.ticks() {
            let x = across(&tick);
            line(area, [(x, top), (x, bottom)], LINE);
            write(area, &stretch.text(tick), (x, bottom + 9), 11, SOFT, HPos::Center);
        }
        write(area, &chart.value.label, ((left + right) / 2, bottom + 24), 11, SOFT, HPos::Center);
        // Bars begin at zero, which logarithms do not have.
        let zero = if scale == Scale::Linear { across(&stretch.within(0.0)) } else { left };
        line(area, [(zero, top), (zero, bottom)], SOFT);
        let mut y = top;
        for row in &chart.rows {
            let middle = (left - 6, y + row.height() / 2);
            write(area, &row.name, middle, 11, INK, HPos::Right);
            let mut above = y + GAP / 2;
            for (number, bar) in row.bars.iter().enumerate() {
                let Some((value, error)) = bar else { continue };
                let middle = above + BAR / 2 - 1;
                // What is no length has a place and its word, as in a terminal.
                if !value.is_finite() {
                    write(area, &text_of(*value), (zero + 4, middle), 10, SOFT, HPos::Left);
                    above += BAR;
                    continue;
                }
                let end = across(&stretch.within(*value));
                let end = if *value < 0.0 { end.min(zero - 1) } else { end.max(zero + 1) };
                let fill = series(number).filled();
                let ends = [(zero.min(end), above), (zero.max(end), above + BAR - 2)];
                let whole = Rectangle::new(ends, fill);
                area.draw(&whole).expect("strings take what is drawn");
                let mut beside = end.max(zero);
                if let Some(ends) = error {
                    let [low, high] = ends.map(|end| across(&stretch.within(end)));
                    line(area, [(low, middle), (high, middle)], INK);
                    for x in [low, high] {
                        line(area, [(x, middle - 3), (x, middle + 3)], INK);
                    }
                    beside = beside.max(high);
                }
                write(area, &text_of(*value), (beside + 4, middle), 10, SOFT, HPos::Left);
                above += BAR;
            }
            y += row.height();
        }
    })
}

fn line(area: &super::Area<'_>, ends: [(i32, i32); 2], color: RGBColor) {
    area.draw(&PathElement::new(ends.to_vec(), color.stroke_width(1)))
        .expect("strings take what is drawn");
}
