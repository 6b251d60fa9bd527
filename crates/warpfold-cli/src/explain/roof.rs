//! [`Roof`]: the roofline of the page: a kernel under the roofs of a device, for every place of the sliders. The model computes all of it here; the page's script only moves what is drawn.

use std::fmt::Write as _;

use serde::Serialize;
use warpfold_ladder::model::{DEVICES, Device, Limit, Prediction, Standing, Surface};

use super::html::escaped;
use super::timed::Timed;

const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 46.0;

/// A roofline with all that its sliders can show.
pub(super) struct Roof {
    axes: Axes,
    places: RoofData,
    /// Numbers of the device, the block and the elements a thread that are shown first.
    first: [usize; 3],
}

/// What the script moves.
#[derive(Serialize)]
struct RoofData {
    devices: Vec<Ceiling>,
    blocks: Vec<String>,
    items: Vec<String>,
    points: Vec<Point>,
}

/// The roofs of a device.
#[derive(Serialize)]
struct Ceiling {
    name: &'static str,
    /// The points of the line.
    roof: String,
    /// Where the words along the slope stand, and what they are.
    slope: String,
    reading: String,
    /// How high the words above the flat part stand, and what they are.
    flat: String,
    issuing: String,
    /// The fastest place of this device, in words.
    fastest: String,
}

/// A kernel's place, or why there is none.
#[derive(Serialize)]
struct Point {
    /// Across, down, and how far down the roof above is.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<[f64; 3]>,
    text: String,
    /// Percent of the time that each limit would take alone.
    shares: Vec<u32>,
    /// The number of the limit that binds.
    binds: usize,
}

/// Logarithmic axes.
struct Axes {
    x: [f64; 2],
    y: [f64; 2],
}

impl Axes {
    /// Axes that hold every kernel and every corner.
    fn new(stands: &[Standing]) -> Axes {
        let corner = |device: &Device| Standing {
            intensity: device.issuing() / device.reading(),
            rate: device.issuing(),
        };
        let all = || stands.iter().copied().chain(DEVICES.iter().map(corner));
        let ends = |of: fn(Standing) -> f64| {
            let least = all().map(of).fold(f64::INFINITY, f64::min);
            [least, all().map(of).fold(0.0, f64::max)]
        };
        let ([left, right], [low, high]) = (ends(|s| s.intensity), ends(|s| s.rate));
        Axes { x: [left / 2.5, right * 4.0], y: [low / 2.0, high * 2.0] }
    }

    fn across(&self, intensity: f64) -> f64 {
        let [from, to] = self.x;
        LEFT + (WIDTH - LEFT - RIGHT) * (intensity / from).ln() / (to / from).ln()
    }

    fn down(&self, rate: f64) -> f64 {
        let [from, to] = self.y;
        HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (rate / from).ln() / (to / from).ln()
    }

    /// The highest rate that a device's roofs allow.
    fn roof(device: &Device, intensity: f64) -> f64 {
        device.issuing().min(intensity * device.reading())
    }

    fn ceiling(&self, device: &'static Device, fastest: String) -> Ceiling {
        let (flat, reading) = (device.issuing(), device.reading());
        let corner = flat / reading;
        let start = self.x[0].max(self.y[0] / reading);
        let line = [start, corner, self.x[1]];
        let at = |x: f64| (self.across(x), self.down(Axes::roof(device, x)));
        let points: Vec<String> =
            line.iter().map(|&x| at(x)).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        // The words stand above the middle of the slope.
        let ((x0, y0), (x1, y1)) = (at(start), at(corner));
        let angle = (y1 - y0).atan2(x1 - x0).to_degrees();
        let (x, y) = ((x0 + x1) / 2.0, (y0 + y1) / 2.0);
        Ceiling {
            name: device.name,
            roof: points.join(" "),
            slope: format!("translate({x:.1} {y:.1}) rotate({angle:.1})"),
            reading: format!("reading {reading:.0} GB/s"),
            flat: format!("{:.1}", self.down(flat) - 6.0),
            issuing: format!("issuing {}", figure(flat)),
            fastest,
        }
    }

    fn point(&self, device: &Device, found: Result<&Prediction, &str>, what: &str) -> Point {
        let prediction = match found {
            Ok(prediction) => prediction,
            Err(why) => {
                let text = format!("{}, {what}: {why}.", device.name);
                return Point { at: None, text, shares: Vec::new(), binds: 0 };
            }
        };
        let Standing { intensity, rate } = Standing::of(prediction, device);
        let top = self.down(Axes::roof(device, intensity));
        let at = [self.across(intensity), self.down(rate), top].map(|x| (x * 10.0).round() / 10.0);
        let share = |limit| (100.0 * prediction.share(limit)).round() as u32;
        let binding = prediction.binding();
        Point {
            at: Some(at),
            text: format!(
                "{}, {what}: {} µs, {} GB/s, {} by {} ({} % of the time).",
                device.name,
                figure(prediction.microseconds),
                figure(prediction.gigabytes),
                if binding == Limit::Latency { "held up" } else { "bound" },
                binding.name(),
                share(binding),
            ),
            shares: Limit::ALL.map(share).to_vec(),
            binds: Limit::ALL.iter().position(|limit| *limit == binding).unwrap_or_default(),
        }
    }

    /// Lines at powers of ten, with what they are.
    fn grid(&self) -> String {
        let mut out = String::new();
        let decades = |[from, to]: [f64; 2]| {
            (from.log10().ceil() as i32..=to.log10().floor() as i32).map(|k| 10f64.powi(k))
        };
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for intensity in decades(self.x) {
            let x = self.across(intensity);
            let text = figure(intensity);
            let below = bottom + 17.0;
            write!(
                out,
                "<path class=\"lines\" d=\"M{x:.1} {TOP}V{bottom}\"/><text x=\"{x:.1}\" y=\"{below}\" text-anchor=\"middle\">{text}</text>"
            )
            .expect("strings take text");
        }
        for rate in decades(self.y) {
            let y = self.down(rate);
            let (text, before, middle) = (figure(rate), LEFT - 6.0, y + 4.5);
            write!(
                out,
                "<path class=\"lines\" d=\"M{LEFT} {y:.1}H{right}\"/><text x=\"{before}\" y=\"{middle:.1}\" text-anchor=\"end\">{text}</text>"
            )
            .expect("strings take text");
        }
        out
    }
}

/// About three digits, and powers of ten as such.
fn figure(x: f64) -> String {
    match x {
        _ if x >= 100.0 => format!("{x:.0}"),
        _ if (x.log10() - x.log10().round()).abs() < 1e-9 => x.to_string(),
        _ => format!("{x:.1}"),
    }
}

impl Roof {
    /// Predicts all places; `block` and `device` are what is shown first.
    pub(super) fn new(timed: &Timed, block: u64, device: &'static Device) -> Roof {
        let surface = timed.surface();
        let first_block = surface.blocks.iter().position(|b| u64::from(*b) == block).unwrap_or(0);
        let first_device = DEVICES.iter().position(|d| d.key == device.key).unwrap_or(0);
        let all: Vec<_> = (0..DEVICES.len())
            .flat_map(|d| (0..surface.blocks.len()).map(move |b| (d, b)))
            .flat_map(|(d, b)| (0..surface.items.len()).map(move |k| (d, b, k)))
            .collect();
        let stands: Vec<Standing> = all
            .iter()
            .filter_map(|&(d, b, k)| Some(Standing::of(surface.at(d, b, k).ok()?, &DEVICES[d])))
            .collect();
        let axes = Axes::new(&stands);
        let point = |&(d, b, k): &(usize, usize, usize)| {
            axes.point(&DEVICES[d], surface.at(d, b, k), &what(&surface, d, b, k))
        };
        let points = all.iter().map(point).collect();
        let ceiling = |(d, device)| {
            let fastest = surface.fastest(d).and_then(|(b, k)| {
                let found = surface.at(d, b, k).ok()?;
                let what = what(&surface, d, b, k);
                let time = figure(found.microseconds);
                (all.len() > DEVICES.len())
                    .then(|| format!("Fastest on the {}: {what}, {time} µs.", DEVICES[d].name))
            });
            axes.ceiling(device, fastest.unwrap_or_default())
        };
        let devices = DEVICES.iter().enumerate().map(ceiling).collect();
        let name = |items: &Option<u64>| match (items, timed) {
            (Some(items), _) => items.to_string(),
            (None, Timed::Rung(..)) => "the rung’s own".to_owned(),
            (None, Timed::Library(..)) => "the plan’s own".to_owned(),
        };
        let block = |block: &u32| match block {
            0 => "the plan’s own".to_owned(),
            block => block.to_string(),
        };
        let places = RoofData {
            devices,
            blocks: surface.blocks.iter().map(block).collect(),
            items: surface.items.iter().map(name).collect(),
            points,
        };
        Roof { axes, places, first: [first_device, first_block, 0] }
    }

    fn shown(&self) -> (&Ceiling, &Point) {
        let RoofData { devices, blocks, items, points } = &self.places;
        let [d, b, k] = self.first;
        (&devices[d], &points[(d * blocks.len() + b) * items.len() + k])
    }

    /// The section of the page.
    pub(super) fn section(&self, next: &str) -> String {
        let (ceiling, point) = self.shown();
        let data = serde_json::to_string(&self.places).expect("plain values are JSON");
        format!(
            "<section aria-labelledby=\"time-title\"><h2 id=\"time-title\">Time on a GPU that is not here</h2>\
             <p>{next}</p><div id=\"roofline\"><figure>{picture}</figure>\
             <div id=\"dials\" hidden>{dials}</div>\
             <div><p id=\"time\" aria-live=\"polite\">{text}</p><ul id=\"limits\" aria-label=\"What each limit would take alone, of the time\"{hidden}>{limits}</ul>\
             <p id=\"fastest\" class=\"note\">{fastest}</p></div></div>\
             <p class=\"note\">The roofs are what all schedulers issue and what memory delivers; the dot is the kernel. The dashed line is what it loses to other limits: \
             the bars say what part of the time each would take alone. Predicted, not measured: counts of simulated blocks, turned into time by a model of queues.</p>\
             <script type=\"application/json\" id=\"roof-data\">{data}</script></section>\n",
            next = escaped(next),
            picture = self.picture(ceiling, point),
            dials = self.dials(),
            text = escaped(&point.text),
            hidden = if point.at.is_some() { "" } else { " hidden" },
            limits = limits(point),
            fastest = escaped(&ceiling.fastest),
            data = data.replace('<', "\\u003c"),
        )
    }

    fn picture(&self, ceiling: &Ceiling, point: &Point) -> String {
        let Ceiling { roof, slope, reading, flat, issuing, .. } = ceiling;
        let hidden = if point.at.is_some() { "" } else { " hidden" };
        let [x, y, top] = point.at.unwrap_or_default();
        let (right, middle) = (WIDTH - RIGHT - 4.0, LEFT + (WIDTH - LEFT - RIGHT) / 2.0);
        let (label, side) = (HEIGHT - 8.0, TOP + (HEIGHT - TOP - BOTTOM) / 2.0);
        format!(
            "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"Roofline: instructions a second over instructions for each byte\">{grid}\
             <text x=\"{middle}\" y=\"{label}\" text-anchor=\"middle\">warp instructions for each byte of memory</text>\
             <text transform=\"translate(14 {side}) rotate(-90)\" text-anchor=\"middle\">10⁹ warp instructions a second</text>\
             <polyline id=\"roof-line\" class=\"roof\" points=\"{roof}\"/>\
             <text id=\"roof-slope\" transform=\"{slope}\" dy=\"-7\" text-anchor=\"middle\">{reading}</text>\
             <text id=\"roof-flat\" x=\"{right}\" y=\"{flat}\" text-anchor=\"end\">{issuing}</text>\
             <g id=\"roof-kernel\"{hidden}><line id=\"roof-gap\" class=\"gap\" x1=\"{x}\" x2=\"{x}\" y1=\"{top}\" y2=\"{y}\"/>\
             <circle id=\"roof-dot\" class=\"kernel\" r=\"7\" cx=\"{x}\" cy=\"{y}\"/></g></svg>",
            grid = self.axes.grid(),
        )
    }

    /// A slider each for device, block and elements a thread.
    fn dials(&self) -> String {
        let RoofData { devices, blocks, items, .. } = &self.places;
        let names: Vec<String> = devices.iter().map(|device| device.name.to_owned()).collect();
        let dials = [
            ("device", "GPU", &names),
            ("block", "Threads of a block", blocks),
            ("items", "Elements a thread", items),
        ];
        let mut out = String::new();
        for ((id, label, names), first) in dials.into_iter().zip(self.first) {
            let (most, name) = (names.len() - 1, escaped(&names[first]));
            let off = if most == 0 { " disabled" } else { "" };
            write!(
                out,
                "<label>{label}<output>{name}</output><input id=\"dial-{id}\" type=\"range\" min=\"0\" max=\"{most}\" value=\"{first}\"{off}></label>"
            )
            .expect("strings take text");
        }
        out
    }
}

/// A place in words.
fn what(surface: &Surface, device: usize, block: usize, items: usize) -> String {
    let found = surface.at(device, block, items).ok();
    let own =
        if surface.items.len() > 1 && surface.items[items].is_none() { " (its own)" } else { "" };
    let items = found.map_or(surface.items[items], |found| Some(found.items));
    let items = items.map_or_else(String::new, |items| {
        let plural = if items == 1 { "" } else { "s" };
        format!("{items} element{plural} a thread{own}")
    });
    match (surface.blocks[block], items.as_str()) {
        (0, items) => items.to_owned(),
        (block, "") => format!("blocks of {block}"),
        (block, items) => format!("blocks of {block}, {items}"),
    }
}

fn limits(point: &Point) -> String {
    let mut out = String::new();
    for (k, limit) in Limit::ALL.iter().enumerate() {
        let share = point.shares.get(k).copied().unwrap_or_default();
        let class = if k == point.binds { " class=\"binds\"" } else { "" };
        let (name, width) = (limit.name(), share.min(100));
        write!(
            out,
            "<li{class}><span>{name}</span><i style=\"width:{width}%\"></i><b>{share} %</b></li>"
        )
        .expect("strings take text");
    }
    out
}
