//! Drawings of a channel graph: DOT for Graphviz, and SVG from a small layered layout of our own.

use super::{Channel, ChannelGraph, Edge, Field, Kernel, Node, Role, layers};
use petgraph::{graph::NodeIndex, visit::EdgeRef};
use std::fmt::Write;

/// Size of a letter, in the units of the drawing.
const LETTER: (f64, f64) = (7.2, 17.0);

impl ChannelGraph {
    /// As DOT: kernels are boxes, channel stacks dashed boxes with their fields, as in the paper's Figure 11.
    #[must_use]
    pub fn to_dot(&self) -> String {
        let mut out = format!(
            "digraph {:?} {{\n    node [shape=box, fontname=\"Helvetica\"];\n",
            self.name()
        );
        for node in self.graph().node_indices() {
            let lines: Vec<String> = self
                .lines(node)
                .iter()
                .map(|l| l.replace('\\', "\\\\").replace('"', "\\\""))
                .collect();
            let style = match self.graph()[node] {
                Node::Kernel(_) => "",
                Node::Channel(_) => ", style=dashed",
            };
            let _ = writeln!(
                out,
                "    n{} [label=\"{}\"{style}];",
                node.index(),
                lines.join("\\n")
            );
        }
        for edge in self.graph().edge_references() {
            let style = if dotted(*edge.weight()) {
                ", style=dotted, constraint=false"
            } else {
                ""
            };
            let (from, to) = (edge.source().index(), edge.target().index());
            let _ = writeln!(
                out,
                "    n{from} -> n{to} [label=\"{}\"{style}];",
                label(*edge.weight())
            );
        }
        out.push_str("}\n");
        out
    }

    /// As SVG, in the style of [`to_dot`](Self::to_dot).
    #[must_use]
    pub fn to_svg(&self) -> String {
        let lines: Vec<Vec<String>> = self.graph().node_indices().map(|n| self.lines(n)).collect();
        let sizes: Vec<(f64, f64)> = lines.iter().map(|l| size(l)).collect();
        let links = self.graph().edge_references().map(|e| layers::Link {
            from: e.source().index(),
            to: e.target().index(),
            label: LETTER.0 * label(*e.weight()).chars().count() as f64,
            downwards: !dotted(*e.weight()),
        });
        let layout = layers::layout(&sizes, &links.collect::<Vec<_>>());
        let (width, height) = layout.size;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             font-family=\"Helvetica, sans-serif\" font-size=\"13\" text-anchor=\"middle\">\n\
             <defs><marker id=\"head\" markerWidth=\"9\" markerHeight=\"7\" refX=\"9\" refY=\"3.5\" orient=\"auto\">\
             <path d=\"M0 0 L9 3.5 L0 7 z\"/></marker></defs>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        for (edge, path) in self.graph().edge_references().zip(&layout.paths) {
            let dash = if dotted(*edge.weight()) {
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
        for (edge, path) in self
            .graph()
            .edge_references()
            .zip(&layout.paths)
            .filter(|(e, _)| !label(*e.weight()).is_empty())
        {
            let (x, y) = (path.label.0, path.label.1 + 4.0);
            let halo = "stroke=\"white\" stroke-width=\"5\" paint-order=\"stroke\"";
            let _ = writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"#444\" {halo}>{}</text>",
                label(*edge.weight())
            );
        }
        for (node, (lines, at)) in self
            .graph()
            .node_indices()
            .zip(lines.iter().zip(&layout.centres))
        {
            let (w, h) = sizes[node.index()];
            let look = match self.graph()[node] {
                Node::Kernel(_) => "fill=\"aliceblue\"",
                Node::Channel(_) => "fill=\"white\" stroke-dasharray=\"6,4\"",
            };
            let (x, y) = (at.0 - w / 2.0, at.1 - h / 2.0);
            let _ = writeln!(
                out,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.1}\" height=\"{h:.1}\" stroke=\"black\" {look}/>"
            );
            for (i, line) in lines.iter().enumerate() {
                let y = y + 6.0 + LETTER.1 * (i as f64 + 0.75);
                let _ = writeln!(
                    out,
                    "<text x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
                    at.0,
                    escape(line)
                );
            }
        }
        out.push_str("</svg>\n");
        out
    }

    fn lines(&self, node: NodeIndex) -> Vec<String> {
        match self.graph()[node] {
            Node::Kernel(key) => self.kernel(key).map(kernel_lines).unwrap_or_default(),
            Node::Channel(key) => self.channel(key).map(channel_lines).unwrap_or_default(),
        }
    }
}

fn kernel_lines(kernel: &Kernel) -> Vec<String> {
    match kernel.role {
        Role::Host => vec![kernel.name.clone()],
        Role::Segment(..) => vec![format!("kernel {}", kernel.name)],
    }
}

fn channel_lines(channel: &Channel) -> Vec<String> {
    let list = |fields: &[Field]| {
        fields
            .iter()
            .map(|f| format!("{}: {}", f.name, f.ty))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let mut out = vec![
        format!("stack {} ({} B)", channel.name, channel.bytes),
        list(&channel.fields),
    ];
    if let Some(frame) = &channel.frame {
        out.push(format!(
            "frame ({} B): {}",
            frame.bytes,
            list(&frame.fields)
        ));
    }
    out
}

fn label(edge: Edge) -> String {
    match edge {
        Edge::Call => "call".into(),
        Edge::Spawn(Some(1)) => "spawn".into(),
        Edge::Spawn(Some(n)) => format!("spawn \u{d7}{n}"),
        Edge::Spawn(None) => "spawn \u{d7}n".into(),
        Edge::Continue => "continue".into(),
        Edge::Consume => String::new(),
        Edge::Return => "return".into(),
    }
}

const fn dotted(edge: Edge) -> bool {
    matches!(edge, Edge::Return)
}

fn size(lines: &[String]) -> (f64, f64) {
    let width = lines.iter().map(|l| l.chars().count()).max().unwrap_or(0);
    (
        LETTER.0 * width as f64 + 20.0,
        LETTER.1 * lines.len() as f64 + 12.0,
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
