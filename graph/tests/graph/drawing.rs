//! Pictures: rows of nodes, and edges past them.

#[path = "../../src/graph/draw/layers.rs"]
mod layers;

use layers::*;

fn link(from: usize, to: usize) -> Link {
    Link {
        from,
        to,
        label: 40.0,
        downwards: true,
    }
}

#[test]
fn rows_follow_edges_and_nothing_overlaps() {
    let sizes = [(100.0, 20.0); 5];
    let mut links: Vec<Link> = [
        (0, 1),
        (1, 2),
        (2, 1),
        (1, 3),
        (3, 4),
        (0, 2),
        (4, 4),
        (1, 2),
    ]
    .map(|(a, b)| link(a, b))
    .into();
    links.push(Link {
        downwards: false,
        ..link(4, 0)
    });
    let layout = layout(&sizes, &links);
    for (a, b) in [(0, 1), (1, 2), (1, 3), (3, 4)] {
        assert!(
            layout.centres[a].1 < layout.centres[b].1,
            "{a} is above {b}"
        );
    }
    let nodes = layout.centres.iter().map(|c| (*c, (100.0, 20.0)));
    let labels = layout.paths.iter().map(|p| (p.label, (40.0, BEAD.0)));
    let boxes: Vec<_> = nodes.chain(labels).collect();
    for (i, (a, s)) in boxes.iter().enumerate() {
        for (b, t) in &boxes[..i] {
            let apart = |a: f64, b: f64, sizes: f64| (a - b).abs() + 1e-6 >= sizes / 2.0;
            assert!(
                apart(a.0, b.0, s.0 + t.0) || apart(a.1, b.1, s.1 + t.1),
                "{a:?} and {b:?} overlap"
            );
        }
        assert!(
            a.0 - s.0 / 2.0 >= 0.0
                && a.0 + s.0 / 2.0 <= layout.size.0
                && a.1 + s.1 / 2.0 <= layout.size.1,
            "{a:?} is outside"
        );
    }
    assert_eq!(layout.paths.len(), links.len());
}

#[test]
fn an_edge_past_a_row_runs_between_its_nodes() {
    let sizes = [(100.0, 20.0); 3];
    let layout = layout(&sizes, &[link(0, 1), link(1, 2), link(0, 2)]);
    let node = layout.centres[1];
    for p in &layout.paths[2].points {
        assert!(
            (p.1 - node.1).abs() > 10.0 || (p.0 - node.0).abs() > 50.0,
            "{p:?} lies in the node at {node:?}"
        );
    }
}
