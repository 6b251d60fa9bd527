//! Axes: from numbers to places, and the numbers that are written beside them.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

/// One axis of a chart.
pub(crate) struct Axis {
    /// What it shows, with its unit.
    pub(crate) label: String,
    pub(crate) scale: Scale,
}

/// How numbers become places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Equal differences are equally long; zero is there, as bars begin at it.
    Linear,
    /// Equal differences are equally long; zero is there only if it is not far.
    Near,
    /// Equal quotients are equally long; powers of two are named.
    Log2,
    /// Equal quotients are equally long; powers of ten are named, and what lies between where there is room.
    Log10,
}

/// Numbers that are written beside an axis, at most.
const MOST: usize = 8;

impl Scale {
    /// Where a number is.
    fn position(self, number: f64) -> f64 {
        match self {
            Scale::Linear | Scale::Near => number,
            Scale::Log2 => number.log2(),
            Scale::Log10 => number.log10(),
        }
    }

    /// The places from the least to the greatest of some numbers, with a little room on either side.
    fn range(self, numbers: impl Iterator<Item = f64>) -> Range<f64> {
        let numbers = numbers.filter(|number| number.is_finite());
        let positions =
            numbers.map(|number| self.position(number)).filter(|position| position.is_finite());
        let (least, greatest) =
            positions.fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(x), b.max(x)));
        if least > greatest {
            return 0.0..1.0;
        }
        let margin = ((greatest - least) * 0.06).max(match self {
            Scale::Linear => greatest.abs().max(least.abs()).max(1e-300) * 0.06,
            Scale::Near if greatest > least => 0.0,
            Scale::Near => greatest.abs().max(1.0) * 0.06,
            Scale::Log2 => 0.3,
            Scale::Log10 => 0.08,
        });
        match self {
            Scale::Linear => {
                let (below, above) = (least.min(0.0), greatest.max(0.0));
                let (start, end) = (if below < 0.0 { below - margin } else { 0.0 }, above + margin);
                start..if above > 0.0 || below == 0.0 { end } else { 0.0 }
            }
            // Numbers that lie about zero are shown from there on.
            Scale::Near if least >= 0.0 && least <= greatest - least => 0.0..greatest + margin,
            _ => least - margin..greatest + margin,
        }
    }

    /// The places that get a number.
    fn ticks(self, range: &Range<f64>) -> Vec<f64> {
        let span = range.end - range.start;
        match self {
            Scale::Linear | Scale::Near => multiples(range, round_step(span)),
            Scale::Log2 => multiples(range, (span / MOST as f64).ceil().max(1.0)),
            Scale::Log10 if span < 1.0 => {
                let numbers = 10f64.powf(range.start)..10f64.powf(range.end);
                let step = round_step(numbers.end - numbers.start);
                multiples(&numbers, step).into_iter().map(f64::log10).collect()
            }
            Scale::Log10 if span < 3.0 => {
                let decades = range.start.floor() as i32..=range.end.floor() as i32;
                let positions =
                    decades.flat_map(|k| [1.0, 3.0].map(|d: f64| d.log10() + f64::from(k)));
                positions.filter(|position| (range.start..=range.end).contains(position)).collect()
            }
            Scale::Log10 => multiples(range, (span / MOST as f64).ceil()),
        }
    }

    /// The number at a place.
    fn text(self, position: f64) -> String {
        match self {
            Scale::Linear | Scale::Near => number(position),
            Scale::Log2 if position < 13.5 && position > -0.5 => number(position.exp2()),
            Scale::Log2 => format!("2{}", superscript(position.round() as i32)),
            Scale::Log10 => number(10f64.powf(position)),
        }
    }
}

/// Numbers farther from zero would make lengths that no number holds; their places are in thousands.
const FARTHEST: f64 = f64::MAX / 8.0;

/// A number beside others that are a step apart, in as many digits as tell them apart.
fn apart(value: f64, step: f64) -> String {
    let size = value.abs();
    if size >= 1e15 || size < step / 2.0 || step < 1e-9 {
        return number(value);
    }
    let digits = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{value:.digits$}")
}

/// A step of 1, 2 or 5 times a power of ten that divides a stretch as often as there may be numbers.
fn round_step(span: f64) -> f64 {
    let rough = span / MOST as f64;
    let decade = 10f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|k| k * decade);
    steps.into_iter().find(|step| *step >= rough).unwrap_or(rough)
}

/// The multiples of a step in a stretch.
fn multiples(range: &Range<f64>, step: f64) -> Vec<f64> {
    let (first, last) = ((range.start / step).ceil() as i64, (range.end / step).floor() as i64);
    (first..=last).map(|k| k as f64 * step).collect()
}

/// A scale over a stretch of it, as plotters wants it: points are given by their places.
#[derive(Clone)]
pub(super) struct Stretch {
    scale: Scale,
    /// What numbers are divided by before they have places: a power of ten, so that round numbers stay round.
    unit: f64,
    range: Range<f64>,
}

impl Stretch {
    /// The stretch that holds some numbers.
    pub(super) fn of(scale: Scale, numbers: impl Iterator<Item = f64>) -> Stretch {
        let numbers: Vec<f64> = numbers.filter(|number| number.is_finite()).collect();
        let is_far = numbers.iter().any(|number| number.abs() > FARTHEST);
        let unit = if is_far && matches!(scale, Scale::Linear | Scale::Near) { 1e3 } else { 1.0 };
        Stretch { scale, unit, range: scale.range(numbers.into_iter().map(|x| x / unit)) }
    }

    /// Where a number is.
    pub(super) fn position(&self, number: f64) -> f64 {
        self.scale.position(number / self.unit)
    }

    /// The places of the numbers that are written beside it.
    pub(super) fn ticks(&self) -> Vec<f64> {
        let mut ticks = self.scale.ticks(&self.range);
        ticks.retain(|position| (position * self.unit).is_finite());
        ticks
    }

    /// Those numbers.
    pub(super) fn texts(&self) -> Vec<String> {
        self.ticks().into_iter().map(|position| self.text(position)).collect()
    }

    /// The number at a place, told from its neighbours.
    pub(super) fn text(&self, position: f64) -> String {
        let step = || round_step(self.range.end - self.range.start) * self.unit;
        match self.scale {
            Scale::Near => apart(position * self.unit, step()),
            scale => scale.text(position * self.unit),
        }
    }

    /// Where a number is, at the border if it is beyond.
    pub(super) fn within(&self, number: f64) -> f64 {
        let position = self.position(number);
        if position.is_nan() {
            self.range.start
        } else {
            position.clamp(self.range.start, self.range.end)
        }
    }
}

impl Ranged for Stretch {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, position: &f64, (first, last): (i32, i32)) -> i32 {
        let part = (position - self.range.start) / (self.range.end - self.range.start);
        first + (f64::from(last - first) * part).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Stretch {
    fn format_ext(&self, position: &f64) -> String {
        self.text(*position)
    }
}

/// A number in as few characters as tell it.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if !size.is_finite() => value.to_string(),
        0.0 => "0".to_owned(),
        1e6.. | ..1e-4 => power(value),
        999.5.. => format!("{:.0}", value),
        _ => {
            let digits = (2 - size.log10().floor() as i32).clamp(0, 9) as usize;
            let text = format!("{value:.digits$}");
            match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
                false => text,
            }
        }
    }
}

/// A large or small number: `10⁹`, `-4.72·10¹³`.
fn power(value: f64) -> String {
    let text = format!("{value:.2e}");
    let (digits, power) = text.split_once('e').expect("it was written with one");
    let power = superscript(power.parse().expect("it was written as a number"));
    match digits.trim_end_matches('0').trim_end_matches('.') {
        "1" => format!("10{power}"),
        "-1" => format!("-10{power}"),
        digits => format!("{digits}·10{power}"),
    }
}

/// A power.
fn superscript(power: i32) -> String {
    let digit = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        _ => char::from_u32('⁰' as u32 + c as u32 - '0' as u32).expect("a digit"),
    };
    power.to_string().chars().map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let texts = [0.0, 0.05, 2.5, 40.0, 1234.0, 1e9].map(number);
        assert_eq!(texts, ["0", "0.05", "2.5", "40", "1234", "10⁹"]);
        let texts = [-4.716981e13, -1e6, 9.999e8, 3e-7, f64::NAN, f64::NEG_INFINITY].map(number);
        assert_eq!(texts, ["-4.72·10¹³", "-10⁶", "10⁹", "3·10⁻⁷", "NaN", "-inf"]);
        assert_eq!(Scale::Log2.text(25.0), "2²⁵");
        assert_eq!(Scale::Log2.text(10.0), "1024");
    }

    #[test]
    fn an_axis_has_some_numbers_and_not_too_many() {
        for (scale, least, greatest) in [
            (Scale::Linear, 0.0, 97.3),
            (Scale::Linear, 0.0, 4.1e12),
            (Scale::Near, 1e9, 1e9 + 299.0),
            (Scale::Near, -3.5, -3.2),
            (Scale::Log2, 32.0, 1024.0),
            (Scale::Log2, 1024.0, 2f64.powi(30)),
            (Scale::Log10, 1.3, 4700.0),
            (Scale::Log10, 400.0, 700.0),
        ] {
            let range = scale.range([least, greatest].into_iter());
            let ticks = scale.ticks(&range);
            assert!((2..=9).contains(&ticks.len()), "{scale:?} {least} {greatest}: {ticks:?}");
            assert!(ticks.iter().all(|tick| range.contains(tick)), "{ticks:?} in {range:?}");
        }
    }

    #[test]
    fn bars_have_zero_and_lines_what_they_are_of() {
        let range = |scale: Scale, numbers: &[f64]| scale.range(numbers.iter().copied());
        for numbers in [&[-1000.0, -1001.0, -1002.0][..], &[-1.0, -7.0], &[3.0, 9.0], &[-2.0, 5.0]]
        {
            let range = range(Scale::Linear, numbers);
            assert!(range.start <= 0.0 && range.end >= 0.0, "{range:?}");
            assert!(numbers.iter().all(|x| range.contains(x)), "{range:?}");
        }
        let years = range(Scale::Near, &[1970.0, 2025.0]);
        assert!(years.start > 1960.0 && years.end < 2035.0, "{years:?}");
        assert_eq!(range(Scale::Near, &[1.0, 50.0]).start, 0.0);
        let stretch = Stretch::of(Scale::Near, [20_260_101.0, 20_260_228.0].into_iter());
        let texts = stretch.texts();
        assert!(texts.iter().all(|text| text.starts_with("20260")), "{texts:?}");
    }

    #[test]
    fn the_greatest_numbers_are_told_apart() {
        for scale in [Scale::Linear, Scale::Near] {
            let widest = Stretch::of(scale, [-1.7e308, f64::MAX].into_iter());
            assert!((widest.range.end - widest.range.start).is_finite());
            let texts = widest.texts();
            assert!(texts.len() > 2 && texts.iter().all(|text| !text.contains("inf")), "{texts:?}");
            let stretch = Stretch::of(scale, [5e307, 1e308, 0.0, f64::INFINITY].into_iter());
            let [half, whole] = [5e307, 1e308].map(|x| stretch.map(&stretch.within(x), (0, 1000)));
            assert!((half * 2 - whole).abs() <= 2 && whole > 900, "{half} {whole}");
            assert!(stretch.texts().contains(&"8·10³⁰⁷".to_owned()), "{:?}", stretch.texts());
        }
    }

    #[test]
    fn nothing_to_show_is_no_reason_to_fail() {
        for scale in [Scale::Linear, Scale::Near, Scale::Log2, Scale::Log10] {
            let range = scale.range([f64::NAN, f64::INFINITY].into_iter());
            assert!(range.start < range.end);
            assert!(scale.range([5.0].into_iter()).contains(&scale.position(5.0)));
        }
    }
}
