//! Figure 17 of the channels paper.

use super::{
    super::{gpu_rings, rings::Lie, rings::Passing},
    figure::{Figure, at, bars, linear, lines, logarithmic, series},
    lab::Lab,
    passing::{elements, pass, usual, who},
};

/// **Channels, Figure 17.** What one reservation for a whole wavefront gains, and how elements lie in memory. Varied: elements that are reserved,
/// published, taken and freed by one operation each, from one; and whether elements of 16 bytes are arrays of words, structures side by side, or
/// structures in lines of their own, of which all words are read or the first. Held: width and done count of the ring, and who passes elements. Rate in
/// millions of elements a second.
///
/// The paper changes the channel below whole workloads. Here it is the ring alone: stacks, which the workloads use, have no reservation by the element.
pub(crate) fn figure(lab: &Lab) -> Result<Figure, String> {
    let mut figure = Figure::new(
        "one reservation a wavefront, and how elements lie",
        &[
            "elements_a_reservation",
            "layout",
            "words_read",
            "rate_median_M_per_s",
            "rate_min",
            "rate_max",
        ],
    );
    let usual = usual(lab);
    figure.say(format!(
        "Channels paper, Figure 17, for one ring of {} elements of 16 bytes; {}. On a CPU a wavefront is a thread's run of elements, and a lane one element.",
        usual.width,
        who(lab)
    ));
    let batches: &[u32] = match lab.gpu() {
        // An operation a lane, a warp, a block.
        Some(_) => &[1, 32, gpu_rings::TILE],
        None => &[1, 2, 4, 8, 16, 32, 64, 128, 256],
    };
    let mut rates = Vec::new();
    for &batch in batches {
        rates.push(at(
            batch.into(),
            one(lab, &mut figure, Passing { batch, ..usual })?,
        ));
    }
    let lies = [
        (Lie::Arrays, "arrays of words"),
        (Lie::Structs, "structures"),
        (Lie::Padded, "a line each"),
    ];
    let mut reads = Vec::new();
    for (whole, name) in [(true, "all words read"), (false, "first word read")] {
        let mut rates = Vec::new();
        for ((lie, _), i) in lies.into_iter().zip(0u32..) {
            let passing = Passing {
                lie,
                whole,
                ..usual
            };
            rates.push(at(i.into(), one(lab, &mut figure, passing)?));
        }
        reads.push(series(name, rates));
    }
    let across = logarithmic("elements a reservation");
    figure.panels = vec![
        lines(
            "Elements through the ring, by the size of a reservation",
            across,
            |x| format!("{x:.0}"),
            logarithmic("M elements/s"),
            vec![series("arrays of words", rates)],
        ),
        bars(
            "Elements through the ring, by how they lie",
            lies.map(|(_, name)| name.to_owned()).into(),
            linear("M elements/s"),
            reads,
        ),
    ];
    Ok(figure)
}

fn one(lab: &Lab, figure: &mut Figure, passing: Passing) -> Result<super::lab::Spread, String> {
    // An operation a lane is some thirty times as slow on a GPU.
    let count = elements(lab)
        / if lab.is_gpu() && passing.batch == 1 {
            16
        } else {
            1
        };
    let rate = pass(lab, passing, count)?.rate;
    let [median, least, most] = rate.cells();
    let lie = match passing.lie {
        Lie::Arrays => "arrays",
        Lie::Structs => "structures",
        Lie::Padded => "padded",
    };
    let words = if passing.whole { 4 } else { 1 };
    figure.row([
        passing.batch.to_string(),
        lie.to_owned(),
        words.to_string(),
        median,
        least,
        most,
    ]);
    Ok(rate)
}
