//! Charts: lines or bars of numbers with their least and most, one panel below another, a legend beside each, a caption below all of them.

use super::draw::{Area, Svg, decades, short};
use std::fmt::Write as _;

const WIDTH: f64 = 960.0;
const LEFT: f64 = 90.0;
const INNER: f64 = 610.0;
const LEGEND: f64 = LEFT + INNER + 24.0;
const HEIGHT: f64 = 210.0;
/// Room of a panel for its title above, and for its marks and the name of its axis below.
const ABOVE: f64 = 34.0;
const BELOW: f64 = 54.0;
/// Letters of a line of the caption.
const LINE: usize = 140;
/// Letters of a legend.
const SHORT: usize = 34;

/// Colours that people who see fewer can tell apart: Okabe and Ito's.
const COLOURS: [&str; 7] = [
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#555555",
];

/// A number that was measured, and the least and the most that it was.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Point {
    /// Where it is on the horizontal axis; of bars, the number of their group.
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// What is drawn in one colour.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<Point>,
}

/// An axis: what it shows, with its unit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Axis {
    pub(crate) name: &'static str,
    /// By the logarithm.
    pub(crate) log: bool,
}

/// What stands along the horizontal axis.
#[derive(Clone, Debug)]
pub(crate) enum Across {
    /// Lines, with a mark where a number was measured.
    Lines(Axis, fn(f64) -> String),
    /// Groups of bars, by their names.
    Bars(Vec<String>),
}

/// One diagram.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) across: Across,
    pub(crate) up: Axis,
    pub(crate) series: Vec<Series>,
}

/// The picture: a headline, what it is about, its panels, where and when it was measured.
pub(crate) fn svg(title: &str, about: &[String], panels: &[Panel], caption: &[String]) -> String {
    let (about, caption) = (wrapped(about), wrapped(caption));
    let top = 44.0 + 16.0 * about.len() as f64;
    let each = ABOVE + HEIGHT + BELOW;
    let end = top + each * panels.len() as f64;
    let mut out = Svg::plain(WIDTH, end + 16.0 * caption.len() as f64 + 12.0);
    let big = "font-size=\"18\" font-weight=\"bold\"";
    out.text((LEFT, 28.0), big, title);
    for (line, row) in about.iter().zip(0u32..) {
        out.text((LEFT, 48.0 + 16.0 * f64::from(row)), "", line);
    }
    for (panel, row) in panels.iter().zip(0u32..) {
        let area = Area {
            x: LEFT,
            y: top + ABOVE + each * f64::from(row),
            width: INNER,
            height: HEIGHT,
        };
        draw(&mut out, area, panel);
    }
    for (line, row) in caption.iter().zip(0u32..) {
        let at = (LEFT, end + 8.0 + 16.0 * f64::from(row));
        out.text(at, "font-size=\"11\" fill=\"#555\"", line);
    }
    out.done()
}

/// Texts in lines that the picture has room for.
fn wrapped(texts: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    for text in texts {
        let mut line = String::new();
        for word in text.split_whitespace() {
            if !line.is_empty() && line.len() + word.len() >= LINE {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

/// Where numbers lie along an axis.
#[derive(Clone, Copy, Debug)]
struct Scale {
    log: bool,
    from: f64,
    to: f64,
}

impl Scale {
    /// From the least to the most of what is drawn; from 0 if it is not by the logarithm.
    fn of(values: impl Iterator<Item = f64> + Clone, log: bool) -> Self {
        let values = values.filter(|v| v.is_finite() && (!log || *v > 0.0));
        let most = values.clone().fold(f64::MIN_POSITIVE, f64::max);
        let least = values.fold(most, f64::min);
        match log {
            true => Self {
                log,
                from: least.log10(),
                to: most.log10().max(least.log10() + 1e-9),
            },
            false => Self {
                log,
                from: 0.0,
                to: most,
            },
        }
    }

    /// Of the vertical axis: it ends where there are marks, or a little above.
    fn rounded(self) -> Self {
        match self.log {
            true => Self {
                from: (self.from - 0.02).floor(),
                to: self.to + 0.05 * (self.to - self.from.floor()).max(1.0),
                ..self
            },
            false => Self {
                to: self.to * 1.06,
                ..self
            },
        }
    }

    /// From 0 to 1.
    fn part(self, value: f64) -> f64 {
        let at = match self.log {
            true => value.max(f64::MIN_POSITIVE).log10(),
            false => value,
        };
        ((at - self.from) / (self.to - self.from).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0)
    }

    /// Where marks stand.
    fn marks(self) -> Vec<f64> {
        if self.log {
            let (low, high) = (10f64.powf(self.from), 10f64.powf(self.to));
            // Where there are few powers of ten, twos and fives stand between them.
            let between: &[f64] = match self.to - self.from {
                0.0..2.5 => &[1.0, 2.0, 5.0],
                _ => &[1.0],
            };
            let marks = decades(high / low).flat_map(|d| between.iter().map(move |b| b * d * low));
            return marks.filter(|m| *m >= low && *m <= high).collect();
        }
        let rough = 10f64.powf((self.to / 5.0).log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|s| s * rough);
        let step = steps.into_iter().find(|s| self.to / s <= 6.0);
        let step = step.unwrap_or(self.to);
        (0..)
            .map(|i| step * f64::from(i))
            .take_while(|m| *m <= self.to)
            .collect()
    }
}

fn draw(out: &mut Svg, area: Area, panel: &Panel) {
    let points = || panel.series.iter().flat_map(|s| &s.points);
    let up = Scale::of(points().flat_map(|p| [p.low, p.y, p.high]), panel.up.log).rounded();
    let y = |value: f64| area.bottom() - area.height * up.part(value);
    for mark in up.marks() {
        // What comes of tenths that are added up.
        let label = short((mark * 1e9).round() / 1e9);
        out.y_tick(area, y(mark), &label, true);
    }
    let inner = (area.x + 14.0, area.width - 28.0);
    match &panel.across {
        Across::Lines(axis, label) => {
            let across = Scale::of(points().map(|p| p.x), axis.log);
            let x = |value: f64| inner.0 + inner.1 * across.part(value);
            let mut marks: Vec<f64> = match axis.log {
                true => points().map(|p| p.x).collect(),
                false => across.marks(),
            };
            marks.sort_by(f64::total_cmp);
            let mut end = f64::MIN;
            for mark in marks {
                let label = label(mark);
                let half = 3.6 * label.len() as f64;
                if x(mark) - half > end {
                    out.x_tick(area, x(mark), &label);
                    end = x(mark) + half + 6.0;
                }
            }
            let middle = (area.x + area.width / 2.0, area.bottom() + 36.0);
            out.text(middle, "text-anchor=\"middle\" fill=\"#555\"", axis.name);
            for (series, colour) in panel.series.iter().zip(COLOURS.iter().cycle()) {
                line(out, series, colour, &x, &y);
            }
        }
        Across::Bars(groups) => {
            let each = area.width / groups.len().max(1) as f64;
            for (name, i) in groups.iter().zip(0u32..) {
                out.x_tick(area, area.x + each * (f64::from(i) + 0.5), name);
            }
            let wide = each * 0.8 / panel.series.len().max(1) as f64;
            for ((series, colour), i) in panel.series.iter().zip(COLOURS.iter().cycle()).zip(0u32..)
            {
                for point in &series.points {
                    let left = area.x + each * (point.x + 0.1) + wide * f64::from(i);
                    let (top, end) = (y(point.y), area.bottom());
                    out.raw(format_args!(
                        "<path d=\"M{left:.1} {end:.1}V{top:.1}h{wide:.1}V{end:.1}z\" fill=\"{colour}\"/>"
                    ));
                    whisker(
                        out,
                        "#222",
                        left + wide / 2.0,
                        (y(point.low), y(point.high)),
                    );
                }
            }
        }
    }
    out.panel(area, &panel.title, panel.up.name);
    for ((series, colour), i) in panel.series.iter().zip(COLOURS.iter().cycle()).zip(0u32..) {
        let name: String = series.name.chars().take(SHORT).collect();
        let at = (LEGEND, area.y + 14.0 + 20.0 * f64::from(i));
        out.legend(at, &format!("fill=\"{colour}\""), &name);
    }
}

fn line(
    out: &mut Svg,
    series: &Series,
    colour: &str,
    x: &dyn Fn(f64) -> f64,
    y: &dyn Fn(f64) -> f64,
) {
    let mut path = String::new();
    for point in &series.points {
        let step = if path.is_empty() { 'M' } else { 'L' };
        // Writing to a string cannot fail.
        let _ = write!(path, "{step}{:.1} {:.1}", x(point.x), y(point.y));
    }
    out.raw(format_args!(
        "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\"/>"
    ));
    for point in &series.points {
        let (x, at) = (x(point.x), y(point.y));
        whisker(out, colour, x, (y(point.low), y(point.high)));
        out.raw(format_args!(
            "<circle cx=\"{x:.1}\" cy=\"{at:.1}\" r=\"3\" fill=\"{colour}\"/>"
        ));
    }
}

/// From the least to the most.
fn whisker(out: &mut Svg, colour: &str, x: f64, (low, high): (f64, f64)) {
    if low - high > 1.0 {
        out.raw(format_args!(
            "<path d=\"M{x:.1} {low:.1}V{high:.1}\" stroke=\"{colour}\" stroke-width=\"1.2\"/>"
        ));
    }
}
