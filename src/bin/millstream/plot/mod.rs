//! `--plot`: a run as a picture. Elements a level over time (of a graph of kernels, a kernel), elements a dispatch over time, what the workers did over time.
//!
//! It is drawn from the timeline of the run's report ([`slices`] has the numbers), and each number in it, drawn or as a `data-` attribute, is one of the report.
//! SVG is written by hand ([`draw`]): it is three panels, and a crate that draws charts takes longer to build than the command's own code for them.

// What is measured needs both devices.
#[cfg(all(feature = "cpu", feature = "cuda"))]
pub(crate) mod chart;
mod draw;
mod slices;
#[cfg(test)]
mod tests;

use crate::report::{count, grouped};
use draw::{Area, SHADES, Svg, decades, short};
use millstream::{Bytes, RunReport};
use slices::{SLICES, Slices, Widths};
use std::fmt::Write as _;

const WIDTH: f64 = 960.0;
/// What is drawn, between the labels of the axes and the legends.
const LEFT: f64 = 90.0;
const INNER: f64 = 690.0;
const LEGEND: f64 = LEFT + INNER + 20.0;

/// Letters of a call that a line has room for.
const LONGEST_CALL: usize = 72;
/// Of a program's file, beside what else is said there.
const LONGEST_PATH: usize = 40;
/// Of what stands at an axis.
const LONGEST_LABEL: usize = 12;

/// Colours of what is no heat map.
const RAN: &str = "fill=\"#2c718e\"";
const DECIDED: &str = "fill=\"#f0b429\"";
const IDLE: &str = "fill=\"#e6e6e6\"";
const RANGE: &str = "fill=\"#a9cfdd\"";

/// What stands above the panels, beside what the report says.
#[derive(Debug)]
pub(crate) struct Caption<'a> {
    /// The program: its file.
    pub(crate) program: &'a str,
    pub(crate) call: &'a str,
    /// The device, with the name of a GPU.
    pub(crate) device: &'a str,
    /// Threads that it has.
    pub(crate) threads: u32,
}

/// The picture; none if the run kept no timeline.
pub(crate) fn svg(report: &RunReport, caption: &Caption<'_>) -> Option<String> {
    let slices = Slices::of(report)?;
    let rows = slices.rows.len() as f64;
    let heat = Area {
        x: LEFT,
        y: 122.0,
        width: INNER,
        height: (rows * 18.0).clamp(90.0, 336.0),
    };
    let below = |above: Area, height| Area {
        y: above.bottom() + 62.0,
        height,
        ..heat
    };
    let widths = below(heat, 190.0);
    let workers = below(widths, 150.0);
    let mut out = Svg::new(WIDTH, workers.bottom() + 50.0);
    head(&mut out, report, caption, &slices);
    heat_map(&mut out, heat, &slices);
    dispatches(&mut out, widths, report, &slices);
    utilisation(&mut out, workers, &slices);
    for area in [heat, widths, workers] {
        times(&mut out, area, slices.time.whole, area.y == workers.y);
    }
    Some(out.done())
}

/// What ran, where, and its totals.
fn head(out: &mut Svg, report: &RunReport, caption: &Caption<'_>, slices: &Slices) {
    let big = "font-size=\"18\" font-weight=\"bold\"";
    out.open(
        "run",
        &[
            ("tasks", report.total),
            ("leaves", report.leaves),
            ("levels", report.levels),
            ("dispatches", report.dispatches),
            ("peak", report.peak),
            ("budget", report.budget),
            ("running-ns", report.running.as_nanos() as u64),
        ],
    );
    // A pointer that rests there is shown all of it.
    out.title(caption.call);
    out.text((LEFT, 30.0), big, &cut(caption.call, LONGEST_CALL));
    let workers = match report.workers.len() as u64 {
        0 => String::new(),
        all if all == u64::from(caption.threads) => {
            format!(", {}", count(all, "thread", "threads"))
        }
        some => format!(", {} of {} threads", grouped(some), caption.threads),
    };
    let memory = format!("{} of memory for channels", Bytes(report.budget));
    let program = without_folders(caption.program);
    let first = format!("{program}, on {}{workers}, {memory}", caption.device);
    out.text((LEFT, 50.0), "", &first);
    let what = match slices.levels {
        true => format!(
            "{}, {} of them leaves; {}",
            count(report.total, "task", "tasks"),
            grouped(report.leaves),
            count(report.levels, "level", "levels"),
        ),
        false => count(report.total, "element", "elements"),
    };
    let second = format!(
        "{what}, {}; {} in channels at most; {}",
        count(report.dispatches, "dispatch", "dispatches"),
        Bytes(report.peak),
        nanoseconds(report.running.as_nanos() as f64),
    );
    out.text((LEFT, 67.0), "", &second);
    // What is not known of single blocks in dispatches of a program of tasks is not drawn anyway.
    let missing = report.timeline.tracks.iter().map(|t| t.missing).sum();
    if missing > 0 {
        let text = format!(
            "the timeline had no room for {}: this is the first {}",
            count(missing, "dispatch or wait", "dispatches and waits"),
            nanoseconds(slices.time.whole as f64)
        );
        out.text((LEFT, 84.0), "fill=\"#b00\"", &text);
    }
    out.close();
}

/// Elements a level, or a node, over time.
fn heat_map(out: &mut Svg, area: Area, slices: &Slices) {
    let rows = &slices.rows;
    let elements = rows.iter().map(|r| r.elements).sum();
    let cells = rows.iter().flat_map(|r| &r.cells);
    let most = cells.fold(1.0, |a: f64, b| a.max(*b));
    // From 1 to the most, by the logarithm; what is less is the mean of a slice in which one was there for a part.
    let shade = |cell: f64| {
        let part = cell.max(1.0).ln() / most.max(2.0).ln();
        (part * (SHADES - 1) as f64).round() as usize
    };
    let kind = if slices.levels { "level" } else { "node" };
    out.open("rows", &[("elements", elements)]);
    let height = area.height / rows.len() as f64;
    for (i, row) in rows.iter().enumerate() {
        let id = format!("{kind}-{}", row.name.replace(' ', "-"));
        out.open(&id, &[("consumed", row.elements)]);
        let y = area.y + height * i as f64;
        let mut slice = 0;
        while slice < SLICES {
            // Less than a hundredth of an element is what rounding leaves.
            let shown = |s: usize| (row.cells[s] > 0.01).then(|| shade(row.cells[s]));
            let of = shown(slice);
            let end = (slice..SLICES).find(|s| shown(*s) != of).unwrap_or(SLICES);
            if let Some(shade) = of {
                let cell = Area {
                    x: at(area, slice as f64),
                    y,
                    width: (end - slice) as f64 * area.width / SLICES as f64,
                    height,
                };
                out.cell(cell, shade);
            }
            slice = end;
        }
        out.close();
    }
    match slices.levels {
        true if rows[0].levels > 1 => {
            let axis = format!("level, {} a row", grouped(rows[0].levels));
            out.panel(area, "Elements alive, by level", &axis);
        }
        true => out.panel(area, "Elements alive, by level", "level"),
        false => out.panel(area, "Elements consumed, by kernel", ""),
    }
    let every = rows.len().div_ceil(12);
    for (i, row) in rows.iter().enumerate().filter(|(i, _)| i % every == 0) {
        let y = area.y + height * (i as f64 + 0.5);
        out.y_tick(area, y, &cut(&row.label, LONGEST_LABEL), false);
    }
    scale(out, area, most, slices);
    out.close();
}

/// What the colours mean.
fn scale(out: &mut Svg, area: Area, most: f64, slices: &Slices) {
    let slice = nanoseconds(slices.time.whole as f64 / SLICES as f64);
    let [first, second] = match slices.levels {
        true => ["elements, mean".into(), format!("of each {slice}")],
        false => ["elements".into(), format!("in each {slice}")],
    };
    out.text((LEGEND, area.y + 10.0), "", &first);
    out.text((LEGEND, area.y + 24.0), "", &second);
    let whole = area.height - 34.0;
    let strip = Area {
        x: LEGEND,
        y: area.y + 34.0,
        width: 14.0,
        height: whole / SHADES as f64,
    };
    for i in 0..SHADES {
        let y = strip.y + strip.height * (SHADES - 1 - i) as f64;
        out.cell(Area { y, ..strip }, i);
    }
    let (top, low) = (strip.y + 6.0, strip.y + whole - 4.0);
    let x = LEGEND + 20.0;
    out.text((x, top + 4.0), "", &grouped(most.round() as u64));
    for decade in decades(most) {
        let part = decade.ln() / most.max(2.0).ln();
        let y = (strip.y + whole * (1.0 - part)).min(low);
        if y > top + 14.0 {
            out.text((x, y + 4.0), "", &short(decade));
        }
    }
}

/// Elements a dispatch.
fn dispatches(out: &mut Svg, area: Area, report: &RunReport, slices: &Slices) {
    let elements: u64 = report.nodes.iter().map(|n| n.elements).sum();
    let full: Vec<u64> = report.nodes.iter().map(|n| n.width).collect();
    let full = full.iter().max().copied().unwrap_or(0);
    let numbers = [
        ("dispatches", slices.dispatches),
        ("elements", elements),
        ("widest", slices.widest),
        ("full", report.nodes.iter().map(|n| n.full).sum()),
    ];
    out.open("widths", &numbers);
    let top = (slices.widest.max(full).max(10) as f64).log10() * 1.05;
    let y = |width: f64| area.bottom() - area.height * (width.max(1.0).log10() / top);
    for decade in decades(10f64.powf(top)) {
        out.y_tick(area, y(decade), &short(decade), true);
    }
    let mut range = String::new();
    let mut line = String::new();
    let mut drawn = false;
    for (slice, widths) in slices.widths.iter().enumerate() {
        let Some(mean) = widths.mean() else {
            drawn = false;
            continue;
        };
        let (from, to) = (at(area, slice as f64), at(area, slice as f64 + 1.0));
        let Widths { least, most, .. } = widths;
        // What has one width is still seen.
        let (low, high) = (y(*least as f64) + 1.0, y(*most as f64) - 1.0);
        let _ = write!(range, "M{from:.1} {low:.1}V{high:.1}H{to:.1}V{low:.1}z");
        let how = if drawn { 'L' } else { 'M' };
        let mean = y(mean);
        let _ = write!(line, "{how}{from:.1} {mean:.1}H{to:.1}");
        drawn = true;
    }
    out.raw(format_args!("<path d=\"{range}\" {RANGE}/>"));
    out.raw(format_args!(
        "<path d=\"{line}\" fill=\"none\" stroke=\"#1d4e63\" stroke-width=\"1.5\"/>"
    ));
    if full > 0 {
        let (x, right, y) = (area.x, area.right(), y(full as f64));
        out.raw(format_args!(
            "<path d=\"M{x:.1} {y:.1}H{right:.1}\" stroke=\"#b00\" stroke-dasharray=\"5,4\"/>"
        ));
    }
    out.panel(area, "Elements a dispatch", "elements");
    out.legend((LEGEND, area.y + 14.0), RANGE, "least to most");
    out.legend((LEGEND, area.y + 36.0), "fill=\"#1d4e63\"", "mean by time");
    if full > 0 {
        let text = format!("full: {}", grouped(full));
        out.legend((LEGEND, area.y + 58.0), "fill=\"#b00\"", &text);
    }
    let widest = format!("widest: {}", grouped(slices.widest));
    out.text((LEGEND, area.y + 84.0), "", &widest);
    out.close();
}

/// What the workers did, all together.
fn utilisation(out: &mut Svg, area: Area, slices: &Slices) {
    let workers = &slices.workers;
    let running = workers.iter().map(|w| w.running).sum();
    let waiting = workers.iter().map(|w| w.waiting).sum();
    out.open(
        "workers",
        &[("running-ns", running), ("waiting-ns", waiting)],
    );
    for worker in workers {
        let numbers = [
            ("dispatches", worker.dispatches),
            ("running-ns", worker.running),
            ("waiting-ns", worker.waiting),
        ];
        out.open(&worker.name.replace(' ', "-"), &numbers);
        out.close();
    }
    let many = workers.len().max(1) as f64;
    let mean = |of: &dyn Fn(usize) -> f64| (0..SLICES).map(|s| of(s) / many).collect::<Vec<_>>();
    let ran = mean(&|s| workers.iter().map(|w| w.ran[s]).sum());
    let idle = mean(&|s| workers.iter().map(|w| w.idle[s]).sum());
    let y = |share: f64| area.bottom() - area.height * share.clamp(0.0, 1.0);
    let mut layer = |fill: &str, top: &dyn Fn(usize) -> f64| {
        let mut path = format!("M{:.1} {:.1}", area.x, area.bottom());
        for slice in 0..SLICES {
            let (y, to) = (y(top(slice)), at(area, slice as f64 + 1.0));
            let _ = write!(path, "V{y:.1}H{to:.1}");
        }
        out.raw(format_args!(
            "<path d=\"{path}V{:.1}z\" {fill}/>",
            area.bottom()
        ));
    };
    layer(IDLE, &|_| 1.0);
    layer(DECIDED, &|s| 1.0 - idle[s]);
    layer(RAN, &|s| ran[s]);
    for percent in [0, 25, 50, 75, 100] {
        let label = format!("{percent} %");
        out.y_tick(area, y(f64::from(percent) / 100.0), &label, true);
    }
    match workers[..] {
        [ref one] if one.name == "gpu" => out.panel(area, "What the GPU did", "share of its time"),
        [ref one, ..] if one.name.starts_with("block ") => {
            out.panel(area, "What the GPU's blocks did", "share of their time");
        }
        _ => out.panel(area, "What the workers did", "share of their time"),
    }
    let share = |shares: &[f64]| 100.0 * shares.iter().sum::<f64>() / SLICES as f64;
    let (ran, idle) = (share(&ran), share(&idle));
    let rows = [
        (RAN, "dispatches", ran),
        (DECIDED, "between them", 100.0 - ran - idle),
        (IDLE, "nothing to do", idle),
    ];
    for ((fill, what, percent), row) in rows.into_iter().zip(0u32..) {
        let at = (LEGEND, area.y + 14.0 + 22.0 * f64::from(row));
        out.legend(at, fill, &format!("{what} {:.1} %", percent.max(0.0)));
    }
    out.close();
}

/// Where a slice begins.
fn at(area: Area, slice: f64) -> f64 {
    area.x + area.width * slice / SLICES as f64
}

/// The axis of time.
fn times(out: &mut Svg, area: Area, whole: u64, named: bool) {
    let (unit, name) = match whole {
        0..10_000 => (1.0, "ns"),
        10_000..10_000_000 => (1e3, "us"),
        10_000_000..10_000_000_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    let all = whole as f64 / unit;
    let rough = 10f64.powf((all / 6.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|s| s * rough);
    let step = steps.into_iter().find(|s| all / s <= 8.0).unwrap_or(all);
    let mut tick = 0.0;
    while tick <= all {
        let x = area.x + area.width * tick / all;
        out.x_tick(area, x, &grouped(tick.round() as u64));
        tick += step;
    }
    if named {
        let middle = (area.x + area.width / 2.0, area.bottom() + 38.0);
        let text = format!("time since the run began, {name}");
        out.text(middle, "text-anchor=\"middle\" fill=\"#555\"", &text);
    }
}

/// A text as there is room for it.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let begin: String = text.chars().take(most - 3).collect();
    begin + " .."
}

/// A path as a caption has room for it: the end of a long one.
fn without_folders(path: &str) -> String {
    match path.chars().count().checked_sub(LONGEST_PATH) {
        Some(left @ 1..) => format!(".. {}", path.chars().skip(left).collect::<String>()),
        _ => path.to_owned(),
    }
}

fn nanoseconds(time: f64) -> String {
    match time {
        t if t >= 1e9 => format!("{:.2} s", t / 1e9),
        t if t >= 1e6 => format!("{:.1} ms", t / 1e6),
        t if t >= 1e3 => format!("{:.1} us", t / 1e3),
        t => format!("{t:.0} ns"),
    }
}
