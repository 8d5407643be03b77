//! Table 5 of the channels paper, Figure 6 of the donation paper, Figure 9 of GTaP's: where the time of those who work goes.

use super::{
    figure::{Figure, bars, exactly, linear, lines, logarithmic, series},
    lab::{How, Lab, number},
};
use millstream_aggregator::{
    Aggregator, Observe, Policy, RunReport,
    timeline::{Span, Timeline, Track, What},
};

/// Spans that are kept of each worker.
const SPANS: u32 = 1 << 20;
/// Bars that can be told apart.
const BARS: usize = 66;

/// Where the time of a run went, as shares of it: with dispatches, with deciding what is next, without anything to do.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Shares {
    working: f64,
    /// By one warp of the GPU, while the others waited.
    narrow: f64,
    deciding: f64,
    idle: f64,
}

/// Time that lies in some span, each moment once.
fn covered(mut spans: Vec<(u64, u64)>) -> u64 {
    spans.sort_unstable();
    let (mut sum, mut end) = (0, 0);
    for (from, to) in spans {
        sum += to.saturating_sub(from.max(end));
        end = end.max(to);
    }
    sum
}

fn times<'s>(
    spans: impl IntoIterator<Item = &'s Span>,
    of: impl Fn(What) -> bool,
) -> Vec<(u64, u64)> {
    let spans = spans.into_iter().filter(|s| of(s.what));
    spans.map(|s| (s.begin, s.end)).collect()
}

const fn is_node(what: What) -> bool {
    matches!(what, What::Node(_))
}

/// The same for a block of a GPU, whose batches hold no other spans of work.
const fn is_node_or_batch(what: What) -> bool {
    matches!(what, What::Node(_) | What::Batch)
}

fn length(spans: &[(u64, u64)]) -> u64 {
    spans.iter().map(|(from, to)| to - from).sum()
}

impl Shares {
    /// None if the timeline is not whole.
    fn of(report: &RunReport) -> Option<Self> {
        let Timeline { tracks, blocks, .. } = &report.timeline;
        if tracks.len() < 2 || report.timeline.missing() > 0 {
            return None;
        }
        let run = length(&times(&tracks[0].spans, |w| w == What::Run)).max(1) as f64;
        if report.workers.is_empty() {
            // Of a GPU that works of which some block does. What no block has a part of is narrow, and done between its decision and the next.
            let wide = times(blocks.iter().flat_map(|t| &t.spans), is_node);
            let all = tracks[1..].iter().flat_map(|t| &t.spans);
            let all = times(all, is_node);
            let working = covered(wide.clone());
            let narrow = narrow(&all, wide);
            let rest = (run - (working + narrow) as f64).max(0.0);
            return Some(Self {
                working: working as f64 / run,
                narrow: narrow as f64 / run,
                deciding: rest / run,
                idle: 0.0,
            });
        }
        let whole = run * tracks[1..].len() as f64;
        let spans = || tracks[1..].iter().flat_map(|t| &t.spans);
        let working = length(&times(spans(), is_node)) as f64 / whole;
        let idle: f64 = report
            .workers
            .iter()
            .map(|w| w.idle.as_nanos() as f64)
            .sum();
        let idle = (idle / whole).min(1.0 - working);
        Some(Self {
            working,
            narrow: 0.0,
            deciding: (1.0 - working - idle).max(0.0),
            idle,
        })
    }
}

/// Time of the dispatches that no block has a part of.
fn narrow(all: &[(u64, u64)], mut wide: Vec<(u64, u64)>) -> u64 {
    wide.sort_unstable();
    let touched = |&&(from, to): &&(u64, u64)| {
        // The first that begins inside.
        let next = wide.partition_point(|(begin, _)| *begin < from);
        wide.get(next).is_some_and(|(begin, _)| *begin < to)
    };
    let untouched: Vec<(u64, u64)> = all.iter().filter(|span| !touched(span)).copied().collect();
    covered(untouched)
}

/// **Channels, Table 5.** How long the device is blocked on who decides. Varied: who that is: on a GPU the host's thread, a warp of the persistent kernel, or
/// both in turn, where a block does narrow levels; on the CPU each thread for itself, alone or beside others. Held: sizes and memory. In percent of the run.
///
/// It comes from a timeline, which costs a few percent itself. Working is what lies in dispatches of the CPU's threads, or where some block of the GPU works;
/// what one warp does by itself on narrow levels, deciding included, is told apart.
pub(crate) fn blocked(lab: &Lab) -> Result<Figure, String> {
    let mut figure = Figure::of_one_round(
        "time blocked on the aggregator",
        &[
            "workload",
            "aggregator",
            "working_percent",
            "narrow_percent",
            "blocked_percent",
            "idle_percent",
            "dispatches",
            "ms",
        ],
    );
    figure.say(
        "Channels paper, Table 5: the paper varies the core that decides, here it is who decides. Shares of the run of one round with a timeline, after a warm-up. \
         Blocked: nobody works, for it is being decided what comes next.",
    );
    let who: Vec<(&str, How)> = match lab.is_gpu() {
        true => vec![
            ("host thread", Aggregator::HostThread),
            ("warp", Aggregator::Persistent),
            ("block and host thread", Aggregator::Auto),
        ]
        .into_iter()
        .map(|(name, aggregator)| {
            let how = How {
                aggregator,
                policy: Policy::Device,
                ..How::default()
            };
            (name, how)
        })
        .collect(),
        false => vec![("one thread", 1), ("all threads", lab.cores())]
            .into_iter()
            .map(|(name, threads)| {
                let how = How {
                    units: Some(threads),
                    ..How::default()
                };
                (name, how)
            })
            .collect(),
    };
    let programs = lab.workloads();
    let mut drawn = Vec::new();
    for (name, how) in who {
        let mut points = Vec::new();
        for (&program, i) in programs.iter().zip(0u32..) {
            let report = lab.once(
                program,
                How {
                    observe: Observe::Timeline(SPANS),
                    ..how
                },
            )?;
            let mut row = vec![program.to_string(), name.to_owned()];
            match Shares::of(&report) {
                Some(shares) => {
                    let Shares {
                        working,
                        narrow,
                        deciding,
                        idle,
                    } = shares;
                    row.extend([working, narrow, deciding, idle].map(|s| number(100.0 * s)));
                    points.push(exactly(i.into(), 100.0 * deciding));
                }
                // Shares of the beginning would be taken for those of the whole.
                None => row.extend(["", "", "", ""].map(str::to_owned)),
            }
            row.push(report.dispatches.to_string());
            row.push(number(report.running.as_secs_f64() * 1e3));
            figure.row(row);
        }
        drawn.push(series(name, points));
    }
    let groups = programs.iter().map(|p| p.name().to_owned()).collect();
    figure.panels = vec![bars(
        "Blocked on who decides",
        groups,
        linear("% of the run"),
        drawn,
    )];
    Ok(figure)
}

/// **Donation, Figure 6.** What each worker did and how long it had nothing to do, on an irregular tree. Workers are threads, or blocks
/// of a GPU, of which it is known when they worked and not on how many elements. Held: the tree and the memory. Time in milliseconds.
///
/// The papers' other schemes, one queue, private queues, stealing, are not built for the CPU or the GPU: this is ours alone.
pub(crate) fn idle(lab: &Lab) -> Result<Figure, String> {
    let program = lab.irregular();
    let mut figure = Figure::of_one_round(
        "what each worker did, and how long it idled",
        &["worker", "tasks", "dispatches", "working_ms", "idle_ms"],
    );
    let how = How {
        observe: Observe::Timeline(SPANS),
        ..How::default()
    };
    let report = lab.once(program, how)?;
    let running = report.running.as_secs_f64() * 1e3;
    let timeline = &report.timeline;
    figure.say(format!(
        "Donation paper, Figure 6, for the {program}: one round of {} ms, with a timeline, after a warm-up. {}",
        number(running),
        match lab.is_gpu() {
            true => "Workers are blocks: what each did are batches that it ran with all that came of them on stacks of its own, and its parts of dispatches across the device. All other time is idle.",
            false => "Workers are threads. Donation alone is built, of the papers' schemes.",
        }
    ));
    if timeline.missing() > 0 {
        figure.say(format!(
            "{} spans found no room: it is the beginning of the run.",
            timeline.missing()
        ));
    }
    let (mut tasks, mut working, mut idle) = (Vec::new(), Vec::new(), Vec::new());
    let (tracks, is_work) = workers(lab, timeline);
    for (i, track) in tracks.iter().enumerate() {
        let spans = times(&track.spans, is_work);
        let worked = length(&spans) as f64 / 1e6;
        let worker = report.workers.get(i);
        let idled = worker.map_or(running - worked, |w| w.idle.as_secs_f64() * 1e3);
        figure.row([
            track.name.clone(),
            worker.map_or(String::new(), |w| w.tasks.to_string()),
            spans.len().to_string(),
            number(worked),
            number(idled),
        ]);
        if i < BARS {
            if let Some(worker) = worker {
                tasks.push(exactly(i as f64, worker.tasks as f64));
            }
            working.push(exactly(i as f64, worked));
            idle.push(exactly(i as f64, idled));
        }
    }
    let named = |(i, track): (usize, &Track)| match tracks.len() {
        0..9 => track.name.clone(),
        _ if i % 8 == 0 => i.to_string(),
        _ => String::new(),
    };
    let groups: Vec<String> = tracks.iter().take(BARS).enumerate().map(named).collect();
    let both = vec![
        series("in dispatches", working),
        series("nothing to do", idle),
    ];
    figure.panels = vec![bars(
        "Time of each worker",
        groups.clone(),
        linear("ms"),
        both,
    )];
    if !lab.is_gpu() {
        let tasks = vec![series("tasks", tasks)];
        figure
            .panels
            .push(bars("Tasks of each worker", groups, linear("tasks"), tasks));
    }
    Ok(figure)
}

/// Who works, and which of their spans are work that no other one is inside of.
fn workers<'t>(lab: &Lab, timeline: &'t Timeline) -> (&'t [Track], fn(What) -> bool) {
    match lab.is_gpu() {
        true => (&timeline.blocks, is_node_or_batch),
        false => (timeline.tracks.get(1..).unwrap_or_default(), is_node),
    }
}

/// Slices that the time of a run is cut into.
const SLICES: usize = 60;

/// **GTaP, Figure 9.** How many workers run tasks over time, and how many elements their dispatches have, on an irregular tree. Workers are threads, or
/// blocks of a GPU. Held: the tree and the memory. In percent of the workers, and elements, means of each of sixty parts of the run.
///
/// The paper shows each warp and how many of its lanes have a task; a dispatch of ours is one wavefront of a level for all who take part in it. Of what runs
/// inside a GPU's blocks no wavefront is kept, but the batches that it came of: their elements are those that they began with.
pub(crate) fn timeline(lab: &Lab) -> Result<Figure, String> {
    let program = lab.irregular();
    let mut figure = Figure::of_one_round(
        "workers at work over time",
        &["time_ms", "workers_percent", "elements_a_dispatch"],
    );
    figure.say(format!(
        "GTaP, Figure 9, for the {program}: the share of the workers, {}, means of each sixtieth of a run with a timeline.",
        match lab.is_gpu() {
            true => "blocks, that run a batch on stacks of their own or have a part of a dispatch, and the elements that it began with",
            false => "threads, that work at a dispatch, and the elements of the dispatches",
        }
    ));
    let how = How {
        observe: Observe::Timeline(SPANS),
        ..How::default()
    };
    let report = lab.once(program, how)?;
    let spans = report.timeline.tracks.iter().flat_map(|t| &t.spans);
    let mut runs = spans.filter(|s| s.what == What::Run);
    let run = runs.next_back().ok_or("the run kept no timeline")?;
    let (begin, end) = (run.begin, run.end);
    let (workers, is_work) = workers(lab, &report.timeline);
    let mut working = [0.0; SLICES];
    let (mut elements, mut time) = ([0.0; SLICES], [0.0; SLICES]);
    for (slice, part, span) in parts(workers, is_work, begin, end) {
        working[slice] += 100.0 * part / workers.len().max(1) as f64;
        // Which elements a block had of a dispatch is not known.
        if span.elements > 0 {
            elements[slice] += part * span.elements as f64;
            time[slice] += part;
        }
    }
    let (mut at_work, mut wide) = (Vec::new(), Vec::new());
    let each = (end - begin) as f64 / SLICES as f64 / 1e6;
    for slice in 0..SLICES {
        let middle = each * (slice as f64 + 0.5);
        let mean = (time[slice] > 0.0).then(|| elements[slice] / time[slice]);
        figure.row([
            number(middle),
            number(working[slice]),
            mean.map_or(String::new(), number),
        ]);
        at_work.push(exactly(middle, working[slice]));
        wide.extend(mean.map(|mean| exactly(middle, mean)));
    }
    let (across, label) = (linear("time since the run began, ms"), |x: f64| {
        format!("{x:.0}")
    });
    let (at_work, wide) = (vec![series("mean", at_work)], vec![series("mean", wide)]);
    figure.panels = vec![
        lines(
            "Workers at work",
            across,
            label,
            linear("% of the workers"),
            at_work,
        ),
        lines(
            if lab.is_gpu() {
                "Elements that a batch began with"
            } else {
                "Elements of a dispatch"
            },
            across,
            label,
            logarithmic("elements"),
            wide,
        ),
    ];
    Ok(figure)
}

/// The slices that dispatches have a part of, which part of each, and the dispatch.
fn parts(
    tracks: &[Track],
    is_work: fn(What) -> bool,
    begin: u64,
    end: u64,
) -> impl Iterator<Item = (usize, f64, &Span)> {
    let place = move |at: u64| {
        let since = at.clamp(begin, end) - begin;
        since as f64 * SLICES as f64 / (end - begin).max(1) as f64
    };
    let spans = tracks.iter().flat_map(|t| &t.spans);
    spans
        .filter(move |s| is_work(s.what))
        .flat_map(move |span| {
            let (from, to) = (place(span.begin), place(span.end));
            let slices = from as usize..(to.ceil() as usize).min(SLICES);
            slices.map(move |s| {
                let part = to.min(s as f64 + 1.0) - from.max(s as f64);
                (s, part.max(0.0), span)
            })
        })
}
