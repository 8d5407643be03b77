//! `bench paper`: its files, and what is refused before anything is measured.

use crate::support::Folder;

/// A CSV file: what stands before it, its columns and its rows.
struct Table {
    remarks: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn read(folder: &Folder, name: &str) -> Self {
        let text = String::from_utf8(folder.read(name)).unwrap();
        let (remarks, rest): (Vec<&str>, Vec<&str>) =
            text.lines().partition(|line| line.starts_with('#'));
        let mut rows = rest.into_iter().map(|line| {
            // No value of these tables needs quotes.
            line.split(',').map(str::to_owned).collect::<Vec<_>>()
        });
        Self {
            remarks: remarks.join("\n"),
            columns: rows.next().unwrap(),
            rows: rows.collect(),
        }
    }

    fn value(&self, row: &[String], column: &str) -> f64 {
        let at = self.columns.iter().position(|c| c == column);
        let at = at.unwrap_or_else(|| panic!("`{column}` is none of {:?}", self.columns));
        row[at].parse().unwrap_or_else(|_| panic!("{row:?}"))
    }
}

/// Whether each element that begins ends, in order; gives the texts.
fn texts(svg: &str) -> Vec<String> {
    let (mut open, mut texts) = (Vec::new(), Vec::new());
    let mut rest = svg;
    while let Some((before, from)) = rest.split_once('<') {
        if !before.trim().is_empty() {
            texts.push(before.trim().to_owned());
        }
        let (tag, behind) = from.split_once('>').unwrap();
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        assert!(!tag.contains('<') && !tag.contains("NaN"), "{tag}");
        match (tag.strip_prefix('/'), tag.strip_suffix('/')) {
            (Some(name), _) => assert_eq!(open.pop(), Some(name), "{tag}"),
            (None, Some(_)) => {}
            (None, None) => open.push(tag.split(' ').next().unwrap()),
        }
        rest = behind;
    }
    assert_eq!(open, [""; 0]);
    texts
}

#[test]
fn each_experiment_writes_a_table_and_a_picture() {
    let t = Folder::new();
    let only = "fig17,fig18,fig19,table4,table5";
    let out = t.good(&[
        "bench", "paper", "--quick", "--out", "figures", "--only", only,
    ]);
    let mut files = Vec::new();
    for (name, rows, title) in [
        ("fig17", 9 + 6, "one reservation a wavefront"),
        ("fig18", 4 * 2, "what narrow channels cost"),
        ("fig19", 4 + 2, "branch divergence"),
        ("table4", 3, "tasks beside plain kernels"),
        ("table5", 4 * 2, "time blocked on the aggregator"),
    ] {
        assert!(out.contains(&format!("-> figures/{name}.csv")), "{out}");
        let table = Table::read(&t, &format!("figures/{name}.csv"));
        let said = [
            &format!("# {name}: {title}")[..],
            "Measured on the CPU",
            "commit",
            "QUICK",
        ];
        for words in said {
            assert!(table.remarks.contains(words), "{words}: {}", table.remarks);
        }
        assert_eq!(table.rows.len(), rows, "{name}");
        for row in &table.rows {
            assert_eq!(row.len(), table.columns.len(), "{name}: {row:?}");
        }
        let svg = String::from_utf8(t.read(&format!("figures/{name}.svg"))).unwrap();
        let texts = texts(&svg);
        let has = |words: &str| texts.iter().any(|t| t.contains(words));
        assert!(
            has(&format!("{name}: {title}")) && has("Measured on the CPU"),
            "{texts:?}"
        );
        files.extend([format!("{name}.csv"), format!("{name}.svg")]);
    }
    let mut written: Vec<String> = std::fs::read_dir(t.path("figures"))
        .unwrap()
        .map(|f| f.unwrap().file_name().into_string().unwrap())
        .collect();
    written.sort();
    assert_eq!(written, files);
    numbers_are_what_they_should_be(&t);
}

fn numbers_are_what_they_should_be(t: &Folder) {
    let widths = Table::read(t, "figures/fig18.csv");
    for row in &widths.rows {
        let of = |column| widths.value(row, column);
        assert!(
            0.0 < of("ms_min") && of("ms_min") <= of("ms_median"),
            "{row:?}"
        );
        assert!(of("ms_median") <= of("ms_max"), "{row:?}");
        assert!(of("peak_bytes") <= of("memory_bytes"), "{row:?}");
    }
    let lanes = Table::read(t, "figures/fig19.csv");
    for row in &lanes.rows {
        let quarters = [
            "percent_1_to_8_lanes",
            "percent_9_to_16",
            "percent_17_to_24",
            "percent_25_to_32",
        ];
        let sum: f64 = quarters.map(|q| lanes.value(row, q)).iter().sum();
        assert!((sum - 100.0).abs() < 0.1, "{row:?}");
        assert!(
            lanes.value(row, "percent_of_all_lanes")
                <= lanes.value(row, "percent_of_lanes_with_an_element")
        );
    }
    // Leaves that are in no wavefront leave those that go the same way.
    let share = |leaves: &str| {
        let row = lanes
            .rows
            .iter()
            .find(|r| r[0].starts_with("fib") && r[1] == leaves);
        lanes.value(row.unwrap(), "percent_of_lanes_with_an_element")
    };
    assert!(share("apart") > share("mixed") + 10.0);
    let blocked = Table::read(t, "figures/table5.csv");
    for row in &blocked.rows {
        let shares = [
            "working_percent",
            "narrow_percent",
            "blocked_percent",
            "idle_percent",
        ];
        let sum: f64 = shares.map(|s| blocked.value(row, s)).iter().sum();
        assert!((sum - 100.0).abs() < 0.1, "{row:?}");
    }
    let plain = Table::read(t, "figures/table4.csv");
    // The lines of `place` and of `queens` in the example.
    assert_eq!(plain.value(&plain.rows[0], "lines_tasks"), 19.0 + 5.0);
}

#[test]
fn what_cannot_be_done_is_said_before_anything_is_measured() {
    let t = Folder::new();
    t.bad(
        1,
        &["bench", "paper", "--only", "fig15,fig99"],
        &[
            "there is no experiment `fig99`",
            "fig15, fig17, fig18, done-count, fig19, table3, table4, table5, idle, timeline, memory",
        ],
    );
    t.bad(
        1,
        &["bench", "paper", "--device", "gpu"],
        &["there is no device `gpu`; there are cpu and cuda:0"],
    );
    t.write("taken", "");
    for out in ["taken", "taken/figures"] {
        let ended = t.run(&["bench", "paper", "--quick", "--out", out]);
        assert_eq!((ended.code, &ended.out[..]), (Some(1), ""), "{}", ended.err);
        assert!(ended.err.contains(out), "{}", ended.err);
    }
}
