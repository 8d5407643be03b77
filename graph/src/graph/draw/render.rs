//! A drawing as text: DOT for Graphviz, Mermaid for pages, and SVG from a small layered layout of our own.

use super::{Box, Drawing, Node, layers};
use std::fmt::Write;

/// Size of a letter, in the units of the drawing.
const LETTER: (f64, f64) = (7.2, 17.0);

impl Drawing {
    /// As DOT: kernels are boxes, channels dashed boxes with their fields.
    #[must_use]
    pub fn to_dot(&self) -> String {
        let mut out = format!(
            "digraph {:?} {{\n    node [shape=box, fontname=\"Helvetica\"];\n",
            self.name
        );
        for (i, node) in self.boxes.iter().enumerate() {
            let lines: Vec<String> = node
                .lines
                .iter()
                .map(|l| l.replace('\\', "\\\\").replace('"', "\\\""))
                .collect();
            let style = if node.is_channel() {
                ", style=dashed"
            } else {
                ""
            };
            let _ = writeln!(out, "    n{i} [label=\"{}\"{style}];", lines.join("\\n"));
        }
        for arrow in &self.arrows {
            let style = if arrow.dotted {
                ", style=dotted, constraint=false"
            } else {
                ""
            };
            let (from, to) = (arrow.from, arrow.to);
            let _ = writeln!(
                out,
                "    n{from} -> n{to} [label=\"{}\"{style}];",
                arrow.label
            );
        }
        out.push_str("}\n");
        out
    }

    /// As Mermaid, which pages of GitHub and GitLab draw.
    #[must_use]
    pub fn to_mermaid(&self) -> String {
        let mut out = "flowchart TD\n".to_owned();
        for (i, node) in self.boxes.iter().enumerate() {
            let lines: Vec<String> = node.lines.iter().map(|l| entities(l)).collect();
            let lines = lines.join("<br>");
            let _ = match node.is_channel() {
                true => writeln!(out, "    n{i}[\"{lines}\"]:::channel"),
                false => writeln!(out, "    n{i}[\"{lines}\"]"),
            };
        }
        for arrow in &self.arrows {
            let line = if arrow.dotted { "-.->" } else { "-->" };
            let label = match arrow.label.as_str() {
                "" => String::new(),
                label => format!("|\"{}\"|", entities(label)),
            };
            let _ = writeln!(out, "    n{} {line}{label} n{}", arrow.from, arrow.to);
        }
        out.push_str("    classDef channel stroke-dasharray: 6 4\n");
        out
    }

    /// As SVG, in the style of [`to_dot`](Self::to_dot).
    #[must_use]
    pub fn to_svg(&self) -> String {
        let sizes: Vec<(f64, f64)> = self.boxes.iter().map(|b| size(&b.lines)).collect();
        let links = self.arrows.iter().map(|a| layers::Link {
            from: a.from,
            to: a.to,
            label: LETTER.0 * a.label.chars().count() as f64,
            downwards: !a.dotted,
        });
        let layout = layers::layout(&sizes, &links.collect::<Vec<_>>());
        let (width, height) = layout.size;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             font-family=\"Helvetica, sans-serif\" font-size=\"13\" text-anchor=\"middle\">\n\
             <defs><marker id=\"head\" markerWidth=\"9\" markerHeight=\"7\" refX=\"9\" refY=\"3.5\" orient=\"auto\">\
             <path d=\"M0 0 L9 3.5 L0 7 z\"/></marker></defs>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        for (arrow, path) in self.arrows.iter().zip(&layout.paths) {
            let dash = if arrow.dotted {
                " stroke-dasharray=\"2,3\""
            } else {
                ""
            };
            let mut points = path.points.iter().map(|(x, y)| format!("{x:.1} {y:.1}"));
            let start = points.next().unwrap_or_default();
            let curves: Vec<String> = points.collect();
            let curves = curves.join(" ");
            let _ = writeln!(
                out,
                "<path d=\"M{start} C{curves}\" fill=\"none\" stroke=\"black\"{dash} marker-end=\"url(#head)\"/>"
            );
        }
        let labelled = self.arrows.iter().zip(&layout.paths);
        for (arrow, path) in labelled.filter(|(a, _)| !a.label.is_empty()) {
            let (x, y) = (path.label.0, path.label.1 + 4.0);
            let halo = "stroke=\"white\" stroke-width=\"5\" paint-order=\"stroke\"";
            let label = entities(&arrow.label);
            let _ = writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"#444\" {halo}>{label}</text>"
            );
        }
        for ((node, at), (w, h)) in self.boxes.iter().zip(&layout.centres).zip(&sizes) {
            let look = match node.is_channel() {
                false => "fill=\"aliceblue\"",
                true => "fill=\"white\" stroke-dasharray=\"6,4\"",
            };
            let (x, y) = (at.0 - w / 2.0, at.1 - h / 2.0);
            let _ = writeln!(
                out,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{h:.1}\" stroke=\"black\" {look}/>"
            );
            for (i, line) in node.lines.iter().enumerate() {
                let y = y + 6.0 + LETTER.1 * (i as f64 + 0.75);
                let _ = writeln!(
                    out,
                    "<text x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
                    at.0,
                    entities(line)
                );
            }
        }
        out.push_str("</svg>\n");
        out
    }
}

impl Box {
    const fn is_channel(&self) -> bool {
        matches!(self.node, Some(Node::Channel(_)))
    }
}

fn size(lines: &[String]) -> (f64, f64) {
    let width = lines.iter().map(|l| l.chars().count()).max().unwrap_or(0);
    (
        LETTER.0 * width as f64 + 20.0,
        LETTER.1 * lines.len() as f64 + 12.0,
    )
}

/// A text as SVG and Mermaid want it.
fn entities(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
