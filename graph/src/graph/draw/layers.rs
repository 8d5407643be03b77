//! A layered layout (Sugiyama's): nodes in rows by their distance from the sources, and a place of its own for all that lies between.
//!
//! Rows are counted in twos: nodes stand in the even ones, labels in the odd ones between. An edge is a chain of *beads*: one in
//! each row that it crosses, as wide as its label in the row next to its start. Beads are ordered and placed like nodes, so no
//! edge runs through a node, no label lies on another, and edges between the same two nodes are apart.

use std::{cmp::Ordering, collections::BTreeMap};

/// Distance between two rows, and between two things in a row.
const GAP: (f64, f64) = (14.0, 22.0);
const MARGIN: f64 = 16.0;
/// Height of a row of labels, and width of a bead without one.
pub(super) const BEAD: (f64, f64) = (17.0, 6.0);
/// How far an edge runs straight before it bends.
const BEND: f64 = 16.0;
/// Distance between the ends of edges at a node, at most.
const PORT: f64 = 36.0;
/// How often the rows are ordered, and how often they are straightened.
const SWEEPS: usize = 24;

/// An edge to be laid out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) from: usize,
    pub(super) to: usize,
    /// How wide its label is.
    pub(super) label: f64,
    /// Whether its end has to stand below its start.
    pub(super) downwards: bool,
}

/// Where everything goes.
#[derive(Debug)]
pub(super) struct Layout {
    /// The middle of each node.
    pub(super) centres: Vec<(f64, f64)>,
    /// The way of each edge.
    pub(super) paths: Vec<Path>,
    /// Width and height of it all.
    pub(super) size: (f64, f64),
}

/// A chain of cubic curves: its start, then three points a curve; and where its label stands.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub(super) points: Vec<(f64, f64)>,
    pub(super) label: (f64, f64),
}

/// Nodes and beads alike.
#[derive(Debug)]
struct Item {
    row: usize,
    width: f64,
    /// What stands in the next row up and down and is joined to it.
    above: Vec<usize>,
    below: Vec<usize>,
}

/// Lays out nodes of these sizes, joined by these edges.
pub(super) fn layout(sizes: &[(f64, f64)], links: &[Link]) -> Layout {
    let rows = rows(sizes.len(), links);
    let mut items: Vec<Item> = rows
        .iter()
        .zip(sizes)
        .map(|(r, s)| Item {
            row: 2 * r,
            width: s.0,
            above: vec![],
            below: vec![],
        })
        .collect();
    let chains: Vec<Vec<usize>> = links.iter().map(|l| chain(&mut items, *l)).collect();
    let order = ordered(&items);
    let x = straightened(&items, &order);

    let height = |row: &Vec<usize>| {
        row.iter()
            .map(|i| sizes.get(*i).map_or(BEAD.0, |s| s.1))
            .fold(0.0, f64::max)
    };
    let heights: Vec<f64> = order.iter().map(height).collect();
    let mut middle = Vec::new();
    let mut top = MARGIN;
    for h in &heights {
        middle.push(top + h / 2.0);
        top += h + GAP.0;
    }
    let place = |i: usize| (x[i], middle[items[i].row]);
    let ports = ports(&items, links, &chains, &x);
    let paths = links
        .iter()
        .zip(&chains)
        .enumerate()
        .map(|(e, (link, chain))| {
            let port = |node: usize, end: usize, up: bool| {
                let (x, y) = place(node);
                let half = sizes[node].1 / 2.0;
                (
                    x + ports.get(&(e, end)).copied().unwrap_or(0.0),
                    if up { y - half } else { y + half },
                )
            };
            let label = place(chain[0]);
            if rows[link.from] == rows[link.to] {
                let (start, end) = (port(link.from, 0, false), port(link.to, 1, false));
                let depth = label.1 + BEAD.0;
                return Path {
                    points: vec![start, (start.0, depth), (end.0, depth), end],
                    label,
                };
            }
            let up = rows[link.from] > rows[link.to];
            // Between two rows of nodes only a label has to be met.
            let beads = chain.iter().enumerate().map(|(k, b)| {
                (
                    k,
                    place(*b),
                    heights[items[*b].row] / 2.0,
                    items[*b].row.is_multiple_of(2),
                )
            });
            let met =
                beads.filter(|(k, _, _, past_nodes)| *past_nodes || *k == 0 && link.label > 0.0);
            let beads: Vec<_> = met
                .map(|(_, at, half, past_nodes)| (at, half, past_nodes))
                .collect();
            Path {
                points: curve(port(link.from, 0, up), &beads, port(link.to, 1, !up)),
                label,
            }
        });
    let paths = paths.collect();
    let centres: Vec<(f64, f64)> = (0..sizes.len()).map(place).collect();
    let right = items
        .iter()
        .zip(&x)
        .map(|(i, x)| x + i.width / 2.0)
        .fold(0.0, f64::max);
    Layout {
        size: (right + MARGIN, top - GAP.0 + MARGIN),
        centres,
        paths,
    }
}

/// Adds the beads of an edge, from its start to its end.
fn chain(items: &mut Vec<Item>, link: Link) -> Vec<usize> {
    let (a, b) = (items[link.from].row, items[link.to].row);
    let between: Vec<usize> = match a.cmp(&b) {
        Ordering::Less => (a + 1..b).collect(),
        Ordering::Greater => (b + 1..a).rev().collect(),
        Ordering::Equal => vec![a + 1],
    };
    let mut last = link.from;
    let mut out = Vec::new();
    for row in between {
        let width = if out.is_empty() {
            link.label.max(BEAD.1)
        } else {
            BEAD.1
        };
        items.push(Item {
            row,
            width,
            above: vec![],
            below: vec![],
        });
        let bead = items.len() - 1;
        out.push(bead);
        join(items, last, bead);
        last = bead;
    }
    join(items, last, link.to);
    out
}

fn join(items: &mut [Item], a: usize, b: usize) {
    let (upper, lower) = if items[a].row < items[b].row {
        (a, b)
    } else {
        (b, a)
    };
    items[upper].below.push(lower);
    items[lower].above.push(upper);
}

/// The row of each node: the length of the longest way to it along edges that lead downwards; of a cycle one edge is left out.
fn rows(nodes: usize, links: &[Link]) -> Vec<usize> {
    let mut state = vec![0u8; nodes];
    let mut kept = Vec::new();
    // A stack of nodes and of the next edge to look at; the order of the edges decides which of a cycle goes back.
    for root in 0..nodes {
        let mut stack = if state[root] == 0 {
            vec![(root, 0)]
        } else {
            vec![]
        };
        while let Some((node, next)) = stack.pop() {
            state[node] = 1;
            match links
                .iter()
                .enumerate()
                .skip(next)
                .find(|(_, l)| l.from == node && l.downwards)
            {
                Some((i, link)) => {
                    stack.push((node, i + 1));
                    if state[link.to] != 1 {
                        kept.push((node, link.to));
                    }
                    if state[link.to] == 0 {
                        stack.push((link.to, 0));
                    }
                }
                None => state[node] = 2,
            }
        }
    }
    let mut row = vec![0; nodes];
    for _ in 0..nodes {
        kept.iter()
            .for_each(|(a, b)| row[*b] = row[*b].max(row[*a] + 1));
    }
    row
}

/// The rows, each from left to right: sorted again and again by where the neighbours above, then below stand; the order with the
/// fewest crossings is kept.
fn ordered(items: &[Item]) -> Vec<Vec<usize>> {
    let mut order = vec![Vec::new(); items.iter().map(|i| i.row + 1).max().unwrap_or(0)];
    items
        .iter()
        .enumerate()
        .for_each(|(i, item)| order[item.row].push(i));
    let mut best = (crossings(items, &order), order.clone());
    for sweep in 0..SWEEPS {
        let down = sweep % 2 == 0;
        let mut position = positions(items.len(), &order);
        let rows: Vec<usize> = if down {
            (0..order.len()).collect()
        } else {
            (0..order.len()).rev().collect()
        };
        for r in rows {
            let wish = |i: usize| {
                let neighbours = if down {
                    &items[i].above
                } else {
                    &items[i].below
                };
                mean(neighbours.iter().map(|n| position[*n])).unwrap_or(position[i])
            };
            let mut wishes: Vec<(f64, usize)> = order[r].iter().map(|i| (wish(*i), *i)).collect();
            wishes.sort_by(|a, b| a.0.total_cmp(&b.0));
            order[r] = wishes.into_iter().map(|(_, i)| i).collect();
            let share = 1.0 / order[r].len().max(1) as f64;
            order[r]
                .iter()
                .enumerate()
                .for_each(|(k, i)| position[*i] = (k as f64 + 0.5) * share);
        }
        let now = crossings(items, &order);
        if now < best.0 {
            best = (now, order.clone());
        }
    }
    best.1
}

/// Where in its row each item stands, from 0 to 1.
fn positions(items: usize, order: &[Vec<usize>]) -> Vec<f64> {
    let mut position = vec![0.0; items];
    for row in order {
        row.iter()
            .enumerate()
            .for_each(|(k, i)| position[*i] = (k as f64 + 0.5) / row.len() as f64);
    }
    position
}

fn crossings(items: &[Item], order: &[Vec<usize>]) -> usize {
    let position = positions(items.len(), order);
    let mut count = 0;
    for row in order {
        let ends: Vec<(f64, f64)> = row
            .iter()
            .flat_map(|i| items[*i].below.iter().map(|j| (position[*i], position[*j])))
            .collect();
        for (k, a) in ends.iter().enumerate() {
            count += ends[..k]
                .iter()
                .filter(|b| (a.0 - b.0) * (a.1 - b.1) < 0.0)
                .count();
        }
    }
    count
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0.0), |(s, c), v| (s + v, c + 1.0));
    (count > 0.0).then(|| sum / count)
}

/// The middle of each item: as near to the neighbours' as the order of the rows and the widths allow.
fn straightened(items: &[Item], order: &[Vec<usize>]) -> Vec<f64> {
    let mut x = vec![0.0; items.len()];
    for sweep in 0..=SWEEPS {
        for k in 0..order.len() {
            let row = &order[if sweep % 2 == 0 {
                k
            } else {
                order.len() - 1 - k
            }];
            let wish = |i: &usize| {
                let (above, below) = (&items[*i].above, &items[*i].below);
                let neighbours = match sweep {
                    0 => [above.as_slice(), &[]],
                    _ => [above.as_slice(), below],
                };
                // Long edges are kept straight before short ones.
                let bead = |n: usize| items[n].width <= BEAD.1;
                let weight = |n: usize| if bead(n) && bead(*i) { 6 } else { 1 };
                mean(
                    neighbours
                        .concat()
                        .into_iter()
                        .flat_map(|n| std::iter::repeat_n(x[n], weight(n))),
                )
                .unwrap_or(x[*i])
            };
            let wishes: Vec<f64> = row.iter().map(wish).collect();
            spread(row, items, &wishes, &mut x);
        }
    }
    let left = items
        .iter()
        .zip(&x)
        .map(|(i, x)| x - i.width / 2.0)
        .fold(f64::INFINITY, f64::min);
    x.iter_mut().for_each(|x| *x += MARGIN - left);
    x
}

/// Puts the items of a row where they wish, as far as they do not overlap: the least squares, by pooling those that would.
fn spread(row: &[usize], items: &[Item], wishes: &[f64], x: &mut [f64]) {
    let mut offset = 0.0;
    // Groups that stand side by side: the sum of their wishes less their offsets, and how many they are.
    let mut groups: Vec<(f64, usize)> = Vec::new();
    let mut offsets = Vec::new();
    for (k, i) in row.iter().enumerate() {
        if k > 0 {
            offset += (items[row[k - 1]].width + items[*i].width) / 2.0 + GAP.1;
        }
        offsets.push(offset);
        groups.push((wishes[k] - offset, 1));
        while let [.., a, b] = groups.as_slice()
            && a.0 / a.1 as f64 > b.0 / b.1 as f64
        {
            let joined = (a.0 + b.0, a.1 + b.1);
            groups.truncate(groups.len() - 2);
            groups.push(joined);
        }
    }
    let starts = groups
        .iter()
        .flat_map(|(sum, count)| std::iter::repeat_n(sum / *count as f64, *count));
    for ((i, start), offset) in row.iter().zip(starts).zip(offsets) {
        x[*i] = start + offset;
    }
}

/// An edge, and which end of it: 0 is the start.
type End = (usize, usize);

/// How far from the middle of its node each end of each edge lies: side by side, in the order of the beads they lead to.
fn ports(items: &[Item], links: &[Link], chains: &[Vec<usize>], x: &[f64]) -> BTreeMap<End, f64> {
    // The ends at each side of each node, with where they lead.
    let mut sides: BTreeMap<(usize, bool), Vec<(f64, End)>> = BTreeMap::new();
    for (e, (link, chain)) in links.iter().zip(chains).enumerate() {
        for (end, node, bead) in [
            (0, link.from, chain[0]),
            (1, link.to, chain[chain.len() - 1]),
        ] {
            sides
                .entry((node, items[bead].row > items[node].row))
                .or_default()
                .push((x[bead], (e, end)));
        }
    }
    let mut out = BTreeMap::new();
    for ((node, _), mut ends) in sides {
        ends.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let step = (items[node].width / (ends.len() + 1) as f64).min(PORT);
        let first = -step * (ends.len() - 1) as f64 / 2.0;
        for (k, (_, end)) in ends.iter().enumerate() {
            out.insert(*end, first + step * k as f64);
        }
    }
    out
}

/// A point that an edge runs through, and its direction there; its length is how far it is felt.
type Waypoint = ((f64, f64), (f64, f64));

/// From a node through the beads, each with half the height of its row, to a node: upright at both ends and past other nodes.
fn curve(start: (f64, f64), beads: &[((f64, f64), f64, bool)], end: (f64, f64)) -> Vec<(f64, f64)> {
    let down = if end.1 > start.1 { 1.0 } else { -1.0 };
    let upright = (0.0, down * BEND);
    let mut way: Vec<Waypoint> = vec![(start, upright)];
    for ((x, y), half, past_nodes) in beads {
        if *past_nodes {
            way.extend([
                ((*x, y - down * half), upright),
                ((*x, y + down * half), upright),
            ]);
        } else {
            let (a, b) = (start, end);
            let slope = if beads.len() == 1 {
                (b.0 - a.0) / (b.1 - a.1)
            } else {
                0.0
            };
            way.push(((*x, *y), (slope * down * BEND / 2.0, down * BEND / 2.0)));
        }
    }
    way.push((end, upright));
    let mut points = vec![start];
    for pair in way.windows(2) {
        let [(a, from), (b, to)] = [pair[0], pair[1]];
        points.extend([(a.0 + from.0, a.1 + from.1), (b.0 - to.0, b.1 - to.1), b]);
    }
    points
}
