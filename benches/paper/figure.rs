//! What an experiment gives: rows for a CSV file, panels for an SVG, and what is to be known of both.

use super::{
    super::report::Header,
    lab::{Lab, Spread},
};
use crate::plot::chart::{self, Across, Axis, Panel, Point, Series};
use millstream::job::{check_place, write_file};
use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

/// Columns that a table on the output has room for are this wide at most.
const WIDEST: usize = 24;

/// How often it was measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rounds {
    /// Until the time was known.
    Several,
    /// Once: what is counted, or seen in a timeline.
    One,
}

/// What an experiment gives.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    pub(crate) title: String,
    /// Which figure of which paper, what is varied, what is held, what could not be measured and why.
    pub(crate) about: Vec<String>,
    /// With their units.
    pub(crate) columns: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<String>>,
    pub(crate) panels: Vec<Panel>,
    pub(crate) rounds: Rounds,
}

impl Figure {
    pub(crate) fn new(title: &str, columns: &[&'static str]) -> Self {
        Self {
            title: title.to_owned(),
            about: Vec::new(),
            columns: columns.to_vec(),
            rows: Vec::new(),
            panels: Vec::new(),
            rounds: Rounds::Several,
        }
    }

    /// One of what is measured once.
    pub(crate) fn of_one_round(title: &str, columns: &[&'static str]) -> Self {
        Self {
            rounds: Rounds::One,
            ..Self::new(title, columns)
        }
    }

    /// Says something of it.
    pub(crate) fn say(&mut self, text: impl Into<String>) {
        self.about.push(text.into());
    }

    /// Adds a row; there are as many values as columns.
    pub(crate) fn row(&mut self, values: impl IntoIterator<Item = String>) {
        let row = Vec::from_iter(values);
        debug_assert_eq!(row.len(), self.columns.len(), "{row:?}");
        self.rows.push(row);
    }

    /// The rows for readers of the output.
    pub(crate) fn table(&self) -> String {
        let head = self.columns.iter().map(|c| (*c).to_owned()).collect();
        let all: Vec<Vec<String>> = std::iter::once(head)
            .chain(self.rows.iter().cloned())
            .collect();
        let wide = |column: usize| all.iter().map(|r| r[column].len()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|c| wide(c).min(WIDEST))
            .collect();
        let mut out = String::new();
        for row in &all {
            for (value, width) in row.iter().zip(&widths) {
                // Writing to a string cannot fail.
                let _ = write!(out, "{value:>width$}  ");
            }
            out.truncate(out.trim_end().len());
            out.push('\n');
        }
        out.truncate(out.trim_end().len());
        out
    }

    fn csv(&self, name: &str, lab: &Lab, header: &Header) -> String {
        let mut out = format!("# {name}: {}\n", self.title);
        for line in self.about.iter().chain(&caption(self.rounds, lab, header)) {
            let _ = writeln!(out, "# {line}");
        }
        let quoted = |value: &str| match value.contains([',', '"']) {
            true => format!("\"{}\"", value.replace('"', "\"\"")),
            false => value.to_owned(),
        };
        out += &self.columns.join(",");
        out.push('\n');
        for row in &self.rows {
            out += &Vec::from_iter(row.iter().map(|v| quoted(v))).join(",");
            out.push('\n');
        }
        out
    }
}

/// Where, when and how often it was measured.
fn caption(rounds: Rounds, lab: &Lab, header: &Header) -> Vec<String> {
    let Header {
        machine,
        cores,
        date,
        commit,
        profile,
        load,
        ..
    } = header;
    let often = match rounds {
        Rounds::Several => format!("Median, least and most of {}", lab.how_often()),
        Rounds::One => "One round".to_owned(),
    };
    let quick = match lab.quick {
        true => " QUICK: small sizes, not to be cited.",
        false => "",
    };
    vec![
        format!(
            "Measured on {}; host: {machine}, {cores} cores, load {load} when it began; {date}; commit {commit}, by profile {profile}.",
            lab.name()
        ),
        format!("{often}, after a warm-up; what it came to was checked.{quick}"),
    ]
}

/// A folder for figures.
#[derive(Debug)]
pub(crate) struct Place(PathBuf);

impl Place {
    /// The folder, made if need be; whether it can be written to is known before anything is measured.
    pub(crate) fn new(folder: &Path) -> Result<Self, String> {
        let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
        fs::create_dir_all(folder).map_err(failed)?;
        check_place(&folder.join("figure.csv")).map_err(failed)?;
        Ok(Self(folder.to_owned()))
    }

    /// Writes the files of a figure, each whole or not at all.
    pub(crate) fn write(
        &self,
        name: &str,
        figure: &Figure,
        lab: &Lab,
        header: &Header,
    ) -> Result<[PathBuf; 2], String> {
        let caption = caption(figure.rounds, lab, header);
        let title = format!("{name}: {}", figure.title);
        let svg = chart::svg(&title, &figure.about, &figure.panels, &caption);
        let files = [("csv", figure.csv(name, lab, header)), ("svg", svg)].map(|(kind, text)| {
            let path = self.0.join(format!("{name}.{kind}"));
            match write_file(&path, text.as_bytes()) {
                Ok(()) => Ok(path),
                Err(e) => Err(format!("{}: {e}", path.display())),
            }
        });
        let [csv, svg] = files;
        Ok([csv?, svg?])
    }
}

/// An axis by its own measure.
pub(crate) const fn linear(name: &'static str) -> Axis {
    Axis { name, log: false }
}

/// An axis by the logarithm.
pub(crate) const fn logarithmic(name: &'static str) -> Axis {
    Axis { name, log: true }
}

/// What was measured at a place.
pub(crate) const fn at(x: f64, spread: Spread) -> Point {
    Point {
        x,
        y: spread.median,
        low: spread.least,
        high: spread.most,
    }
}

/// What was counted at a place.
pub(crate) const fn exactly(x: f64, y: f64) -> Point {
    Point {
        x,
        y,
        low: y,
        high: y,
    }
}

/// Lines over an axis.
pub(crate) fn lines(
    title: &str,
    across: Axis,
    label: fn(f64) -> String,
    up: Axis,
    series: Vec<Series>,
) -> Panel {
    Panel {
        title: title.to_owned(),
        across: Across::Lines(across, label),
        up,
        series,
    }
}

/// Groups of bars.
pub(crate) fn bars(title: &str, groups: Vec<String>, up: Axis, series: Vec<Series>) -> Panel {
    Panel {
        title: title.to_owned(),
        across: Across::Bars(groups),
        up,
        series,
    }
}

/// What is drawn in one colour.
pub(crate) fn series(name: impl Into<String>, points: Vec<Point>) -> Series {
    Series {
        name: name.into(),
        points,
    }
}
