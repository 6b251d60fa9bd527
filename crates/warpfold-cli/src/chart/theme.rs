//! Colours, on light paper and on dark.
//!
//! A picture is drawn in the light colours, as attributes, which every program that shows SVG understands. Where style sheets are understood too,
//! one puts the dark colour in place of each on screens whose owner prefers that.

use std::fmt::Write as _;

use plotters::style::RGBColor;

use crate::explain::escaped;

pub(super) const PAPER: RGBColor = RGBColor(0xfd, 0xfd, 0xfb);
pub(super) const INK: RGBColor = RGBColor(0x1d, 0x21, 0x26);
pub(super) const SOFT: RGBColor = RGBColor(0x5c, 0x65, 0x70);
pub(super) const LINE: RGBColor = RGBColor(0xd9, 0xdc, 0xe0);

/// Each colour with the one that takes its place on dark paper. Those from the fifth on are for series: told apart by hue and by lightness.
const COLORS: [(RGBColor, &str); 11] = [
    (PAPER, "#15181c"),
    (INK, "#e6e8ea"),
    (SOFT, "#9aa4af"),
    (LINE, "#343a41"),
    (RGBColor(0x2f, 0x6f, 0xbf), "#5b9be6"),
    (RGBColor(0xd0, 0x6a, 0x0c), "#f0a03c"),
    (RGBColor(0x1f, 0x8a, 0x4c), "#4fbf78"),
    (RGBColor(0x8a, 0x4f, 0xc4), "#b48ae6"),
    (RGBColor(0xc2, 0x32, 0x5e), "#f07a9c"),
    (RGBColor(0x0f, 0x86, 0x90), "#3cc4cc"),
    (RGBColor(0x7d, 0x62, 0x30), "#c9ab6a"),
];

/// The colour of a series by its number.
pub(super) fn series(number: usize) -> RGBColor {
    let of_series = &COLORS[4..];
    of_series[number % of_series.len()].0
}

/// The style sheet that charts need, once a page.
pub(crate) fn style() -> String {
    let mut css = String::from(".chart text { font-family: system-ui, sans-serif; }\n");
    css += "@media (prefers-color-scheme: dark) {\n";
    for (RGBColor(r, g, b), dark) in COLORS {
        writeln!(
            css,
            ".chart [fill=\"#{r:02X}{g:02X}{b:02X}\"] {{ fill: {dark}; }} .chart [stroke=\"#{r:02X}{g:02X}{b:02X}\"] {{ stroke: {dark}; }}"
        )
        .expect("strings take text");
    }
    css + "}\n"
}

/// The picture with its style sheet, half as large again as it was drawn.
pub(super) fn alone(drawn: &str, title: &str) -> String {
    let (head, body, [width, height]) = parts(drawn);
    let (title, style) = (escaped(title), style());
    let [wide, high] = [width, height].map(|pixels| pixels * 3 / 2);
    format!(
        "<svg class=\"chart\" role=\"img\" width=\"{wide}\" height=\"{high}\" {head}<title>{title}</title>\n<style>\n{style}</style>\n{body}"
    )
}

/// Pictures below each other, as one.
pub(super) fn stacked(drawn: &[String], title: &str) -> String {
    let (mut inner, mut below, mut width) = (String::new(), 0, 0);
    for picture in drawn {
        let (_, body, [wide, high]) = parts(picture);
        write!(inner, "<svg y=\"{below}\" width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {wide} {high}\">{body}")
            .expect("strings take text");
        below += high;
        width = width.max(wide);
    }
    let whole = format!(
        "<svg width=\"{width}\" height=\"{below}\" viewBox=\"0 0 {width} {below}\" xmlns=\"http://www.w3.org/2000/svg\">\n{inner}</svg>\n"
    );
    alone(&whole, title)
}

/// The picture without a size of its own.
pub(super) fn embedded(drawn: &str, title: &str) -> String {
    let (head, body, _) = parts(drawn);
    format!("<svg class=\"chart\" role=\"img\" aria-label=\"{}\" {head}{body}", escaped(title))
}

/// The first tag's attributes but its size, what follows it, and the size.
fn parts(drawn: &str) -> (&str, &str, [u32; 2]) {
    let (tag, body) = drawn.split_once('>').expect("a picture begins with a tag");
    let at = tag.find("viewBox").expect("which has a box");
    let end = at + tag.len() - at + 1;
    let numbers = tag[at..].split('"').nth(1).expect("of four numbers");
    let mut size = numbers.split(' ').skip(2).map(|n| n.parse().expect("of four numbers"));
    let size = [size.next(), size.next()].map(|n| n.expect("of four numbers"));
    (&drawn[at..end], body, size)
}
