//! Points over an axis, joined by lines, with error bars; limits as thin lines.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::{Axis, Stretch};
use super::theme::{INK, LINE, SOFT, series};
use super::{Head, on_paper, width_of, write};

/// A chart of points.
pub(crate) struct Lines {
    pub(crate) title: String,
    /// Where, of what: beneath the title.
    pub(crate) note: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
    /// What no point can be beyond, such as the roofline.
    pub(crate) limits: Vec<Limit>,
}

/// Points of one colour.
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<Point>,
}

/// A measured point.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// From where to where it may be.
    pub(crate) error: Option<[f64; 2]>,
}

/// A limit: a line through points.
pub(crate) struct Limit {
    pub(crate) name: String,
    pub(crate) points: Vec<[f64; 2]>,
}

/// Points that have a mark each; more would be a blot.
const MARKED: usize = 60;

/// Pixels.
const HEIGHT: u32 = 340;

pub(super) fn draw(chart: &Lines) -> String {
    on_paper(HEIGHT, |area| {
        let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).collect();
        let head = Head::of(&chart.title, &chart.note, &names);
        head.draw(area);
        let top = head.height;
        write(area, &chart.y.label, (10, top + 6), 11, SOFT, HPos::Left);
        let (_, plot) = area.split_vertically(top + 16);
        let points = || chart.series.iter().flat_map(|series| &series.points);
        let limits = || chart.limits.iter().flat_map(|limit| &limit.points);
        let x = Stretch::of(chart.x.scale, points().map(|p| p.x).chain(limits().map(|p| p[0])));
        let errors = points().filter_map(|p| p.error).flatten();
        let heights = points().map(|p| p.y).chain(errors).chain(limits().map(|p| p[1]));
        let y = Stretch::of(chart.y.scale, heights);
        let widest = y.texts().iter().map(|text| width_of(text, 11)).max().unwrap_or(0);
        let mut context = ChartBuilder::on(&plot)
            .margin_right(14)
            .margin_top(4)
            .margin_bottom(22)
            .x_label_area_size(22)
            .y_label_area_size(widest + 14)
            .build_cartesian_2d(x.clone(), y.clone())
            .expect("an axis has a length");
        let small = ("sans-serif", 11).into_font().color(&SOFT);
        context
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(LINE)
            .axis_style(SOFT)
            .x_label_style(small.clone())
            .y_label_style(small)
            .draw()
            .expect("strings take what is drawn");
        let middle = (super::WIDTH / 2) as i32;
        write(area, &chart.x.label, (middle, HEIGHT as i32 - 11), 11, SOFT, HPos::Center);

        for limit in &chart.limits {
            let positions: Vec<(f64, f64)> =
                limit.points.iter().map(|[a, b]| (x.position(*a), y.position(*b))).collect();
            let Some(&(end, height)) = positions.last() else { continue };
            let line = LineSeries::new(positions, INK.stroke_width(1));
            context.draw_series(line).expect("strings take what is drawn");
            let style =
                ("sans-serif", 11).into_font().color(&INK).pos(Pos::new(HPos::Right, VPos::Bottom));
            let name = Text::new(limit.name.clone(), (end, height), style);
            context.draw_series([name]).expect("strings take what is drawn");
        }
        for (k, one) in chart.series.iter().enumerate() {
            let color = series(k);
            let position = |p: &Point| (x.position(p.x), y.position(p.y));
            let there = |p: &&Point| position(p).0.is_finite() && position(p).1.is_finite();
            // What has no place parts the line.
            for run in one.points.split(|point| !there(&point)) {
                let line = LineSeries::new(run.iter().map(position), color.stroke_width(2));
                context.draw_series(line).expect("strings take what is drawn");
            }
            let has_marks = one.points.len() <= MARKED;
            for point in one.points.iter().filter(there).filter(|_| has_marks) {
                let (at, height) = position(point);
                if let Some([low, high]) = point.error {
                    bar(&mut context, at, [low, high].map(|end| y.within(end)), color);
                }
                mark(&mut context, k, (at, height), color);
            }
        }
    })
}

type Context<'a, 'b, X, Y> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<X, Y>>;

/// An error bar with its caps.
fn bar<X, Y>(context: &mut Context<'_, '_, X, Y>, at: f64, ends: [f64; 2], color: RGBColor)
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    let style = color.stroke_width(1);
    let stem = PathElement::new(ends.map(|end| (at, end)).to_vec(), style);
    context.draw_series([stem]).expect("strings take what is drawn");
    for end in ends {
        let cap = EmptyElement::at((at, end)) + PathElement::new(vec![(-3, 0), (3, 0)], style);
        context.draw_series([cap]).expect("strings take what is drawn");
    }
}

/// The mark of a series' point: shapes differ where colours may not be told apart.
fn mark<X, Y>(context: &mut Context<'_, '_, X, Y>, number: usize, at: (f64, f64), color: RGBColor)
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    let fill = color.filled();
    let at = EmptyElement::at(at);
    let drawn = match number % 3 {
        0 => context.draw_series([at + Circle::new((0, 0), 3, fill)]).map(|_| ()),
        1 => context.draw_series([at + Rectangle::new([(-3, -3), (3, 3)], fill)]).map(|_| ()),
        _ => context.draw_series([at + TriangleMarker::new((0, 0), 5, fill)]).map(|_| ()),
    };
    drawn.expect("strings take what is drawn");
}
