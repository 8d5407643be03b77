//! Section 8.2.1 of the channels paper, and the rings of its Figure 18.

use super::{
    super::rings::Passing,
    figure::{Figure, at, exactly, linear, lines, logarithmic, series},
    lab::{Lab, number},
    passing::{elements, pass, usual, who},
};

/// **Channels, Section 8.2.1 and Figure 18.** Elements of 16 bytes through one ring: varied are its width and the number of neighbours that share a word of
/// done bits; held are the wavefront and the number of those who pass elements. The rate is in millions of elements a second; a yield is a producer's
/// wavefront that found no room when it came.
pub(crate) fn figure(lab: &Lab) -> Result<Figure, String> {
    let mut figure = Figure::new(
        "done counts and widths of a ring",
        &[
            "done_count",
            "width",
            "rate_median_M_per_s",
            "rate_min",
            "rate_max",
            "yields_per_M_elements",
        ],
    );
    let usual = usual(lab);
    let widths: &[u32] = match (lab.quick, lab.is_gpu()) {
        (true, _) => &[64, 1024],
        (false, false) => &[64, 128, 256, 512, 1024, 4096, 16_384, 65_536],
        (false, true) => &[1024, 4096, 16_384, 65_536, 1 << 18, 1 << 20, 1 << 22],
    };
    figure.say(format!(
        "Channels paper, Section 8.2.1 and Figure 18, for one ring: elements of 16 bytes in wavefronts of {}, {}. \
         A yield is a wavefront that found no room when its producer came.",
        usual.batch,
        who(lab)
    ));
    let (mut rates, mut yields) = (Vec::new(), Vec::new());
    for group in [1, 8, 64] {
        let (mut rate, mut yielded) = (Vec::new(), Vec::new());
        for &width in widths {
            let passing = Passing {
                width,
                group,
                ..usual
            };
            let passed = pass(lab, passing, count(lab, passing))?;
            let [median, least, most] = passed.rate.cells();
            figure.row([
                group.to_string(),
                width.to_string(),
                median,
                least,
                most,
                number(passed.yields),
            ]);
            rate.push(at(width.into(), passed.rate));
            yielded.push(exactly(width.into(), passed.yields));
        }
        let name = format!("done count {group}");
        rates.push(series(&name, rate));
        yields.push(series(name, yielded));
    }
    let across = logarithmic("width of the ring, elements");
    let whole = |x: f64| format!("{x:.0}");
    figure.panels = vec![
        lines(
            "Elements through the ring",
            across,
            whole,
            linear("M elements/s"),
            rates,
        ),
        lines(
            "Yields",
            across,
            whole,
            linear("yields / M elements"),
            yields,
        ),
    ];
    Ok(figure)
}

/// How many elements are passed: fewer where a GPU is slow, as words of few bits are looked at one by one, and narrow rings are full all the time.
fn count(lab: &Lab, passing: Passing) -> u64 {
    match lab.is_gpu() && (passing.group < 64 || passing.width < 1 << 16) {
        true => elements(lab) / 16,
        false => elements(lab),
    }
}
