//! SVG by hand: what a plot is made of. Texts, axes, colours.

use std::fmt::{Display, Write};

/// Where something is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Area {
    pub(super) const fn right(self) -> f64 {
        self.x + self.width
    }

    pub(super) const fn bottom(self) -> f64 {
        self.y + self.height
    }
}

/// Dark to light, as people who see fewer colours can tell apart: viridis.
const COLOURS: [[f64; 3]; 9] = [
    [68.0, 1.0, 84.0],
    [71.0, 44.0, 122.0],
    [59.0, 81.0, 139.0],
    [44.0, 113.0, 142.0],
    [33.0, 144.0, 141.0],
    [39.0, 173.0, 129.0],
    [92.0, 200.0, 99.0],
    [170.0, 220.0, 50.0],
    [253.0, 231.0, 37.0],
];
/// Colours that a heat map has.
pub(super) const SHADES: usize = 24;

/// A picture that is being drawn.
#[derive(Debug)]
pub(super) struct Svg(String);

impl Svg {
    /// One with the colours of a heat map.
    pub(super) fn new(width: f64, height: f64) -> Self {
        let mut out = Self::plain(width, height);
        let mut style = String::from("<style>");
        for shade in 0..SHADES {
            let _ = write!(style, ".s{shade}{{fill:{}}}", colour(shade));
        }
        out.raw(style + "</style>");
        out
    }

    /// An empty one.
    pub(super) fn plain(width: f64, height: f64) -> Self {
        Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#222\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        ))
    }

    pub(super) fn done(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }

    /// An element as it is written.
    pub(super) fn raw(&mut self, text: impl Display) {
        let _ = writeln!(self.0, "{text}");
    }

    /// What follows belongs together and has these numbers, until [`close`](Self::close).
    pub(super) fn open(&mut self, what: &str, numbers: &[(&str, u64)]) {
        let _ = write!(self.0, "<g id=\"{}\"", entities(what));
        for (name, number) in numbers {
            let _ = write!(self.0, " data-{name}=\"{number}\"");
        }
        self.0.push_str(">\n");
    }

    pub(super) fn close(&mut self) {
        self.0.push_str("</g>\n");
    }

    /// A text, with attributes beside its place.
    pub(super) fn text(&mut self, (x, y): (f64, f64), attributes: &str, text: &str) {
        let text = entities(text);
        self.raw(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" {attributes}>{text}</text>"
        ));
    }

    /// What is shown of a group where a pointer rests.
    pub(super) fn title(&mut self, text: &str) {
        let text = entities(text);
        self.raw(format_args!("<title>{text}</title>"));
    }

    /// A rectangle of a shade.
    pub(super) fn cell(&mut self, area: Area, shade: usize) {
        let Area {
            x,
            y,
            width,
            height,
        } = area;
        self.raw(format_args!(
            "<path class=\"s{shade}\" d=\"M{x:.1} {y:.1}h{width:.1}v{height:.1}H{x:.1}z\"/>"
        ));
    }

    /// The frame of a panel, its title, and what its two axes are.
    pub(super) fn panel(&mut self, area: Area, title: &str, y_axis: &str) {
        let Area {
            x,
            y,
            width,
            height,
        } = area;
        self.raw(format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"none\" stroke=\"#888\"/>"
        ));
        self.text((x, y - 8.0), "font-size=\"14\" font-weight=\"bold\"", title);
        let (at, middle) = (x - 62.0, y + height / 2.0);
        let turned = format!(
            "text-anchor=\"middle\" fill=\"#555\" transform=\"rotate(-90 {at:.1} {middle:.1})\""
        );
        self.text((at, middle), &turned, y_axis);
    }

    /// A mark on the axis of time.
    pub(super) fn x_tick(&mut self, area: Area, x: f64, label: &str) {
        let (top, end) = (area.bottom(), area.bottom() + 5.0);
        self.raw(format_args!(
            "<path d=\"M{x:.1} {top:.1}V{end:.1}\" stroke=\"#888\"/>"
        ));
        let below = (x, area.bottom() + 18.0);
        self.text(below, "text-anchor=\"middle\"", label);
    }

    /// A mark on the axis of a panel, and a line across it.
    pub(super) fn y_tick(&mut self, area: Area, y: f64, label: &str, line: bool) {
        let (from, to) = (area.x - 5.0, if line { area.right() } else { area.x });
        self.raw(format_args!(
            "<path d=\"M{from:.1} {y:.1}H{to:.1}\" stroke=\"#888\" stroke-opacity=\"0.4\"/>"
        ));
        let at = (area.x - 8.0, y + 4.0);
        self.text(at, "text-anchor=\"end\"", label);
    }

    /// A colour and what it means.
    pub(super) fn legend(&mut self, (x, y): (f64, f64), fill: &str, text: &str) {
        self.raw(format_args!(
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"12\" height=\"12\" {fill}/>",
            y - 10.0
        ));
        self.text((x + 18.0, y), "", text);
    }
}

/// The colour of a shade: more is darker.
fn colour(shade: usize) -> String {
    let at = (SHADES - 1 - shade) as f64 * (COLOURS.len() - 1) as f64 / (SHADES - 1) as f64;
    let (low, part) = (at as usize, at.fract());
    let high = (low + 1).min(COLOURS.len() - 1);
    let mix = |i: usize| {
        let mixed = COLOURS[low][i] * (1.0 - part) + COLOURS[high][i] * part;
        mixed.round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

/// A text as SVG wants it.
fn entities(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// Powers of ten from 1 up to the most, few enough to be read.
pub(super) fn decades(most: f64) -> impl Iterator<Item = f64> {
    let powers = most.max(1.0).log10().floor() as i32;
    let every = (powers / 6 + 1) as usize;
    (0..=powers).step_by(every).map(|power| 10f64.powi(power))
}

/// 1,000 as 1k.
pub(super) fn short(number: f64) -> String {
    match number {
        n if n >= 1e9 => format!("{}G", n / 1e9),
        n if n >= 1e6 => format!("{}M", n / 1e6),
        n if n >= 1e3 => format!("{}k", n / 1e3),
        n => format!("{n}"),
    }
}
