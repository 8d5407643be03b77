//! Whole numbers that a job computes: lengths, arguments and parameters.

use crate::support::Folder;

#[test]
fn whole_numbers_have_their_methods_and_casts() {
    let t = Folder::new();
    t.write(
        "sizes.rs",
        "#[millstream::program] mod sizes { #[task] pub fn all(a: &[u8], n: i32, m: u64) -> (usize, i32, u64) { (a.len(), n, m) } }",
    );
    let run = |len: &str, n: &str| {
        [
            "run",
            "sizes.rs",
            "-q",
            "--set",
            "n=100",
            "--set",
            "m=n.pow(2)",
            "--buffer",
        ]
        .map(ToString::to_string)
        .into_iter()
        .chain([format!("a=zeros:{len}"), "-e".into()])
        .chain([format!("all(&a, {n}, m)")])
        .collect::<Vec<String>>()
    };
    let good = |len: &str, n: &str| {
        let args = run(len, n);
        t.good(&args.iter().map(String::as_str).collect::<Vec<&str>>())
    };
    assert_eq!(
        good("[n.div_ceil(16) * 2]", "-(n as i32)"),
        "(14, -100, 10000)\n"
    );
    let len = "[m.isqrt() + n.next_power_of_two() + n.ilog2() as usize]";
    assert_eq!(good(len, "n.min(7).max(-3)"), "(234, 7, 10000)\n");
    let len = "[n.next_multiple_of(8) + n.abs_diff(103)]";
    assert_eq!(good(len, "(-n).max(-7)"), "(107, -7, 10000)\n");
    for (len, n, says) in [
        ("[n.div_ceil(0)]", "1", "`n.div_ceil(0)` has no value"),
        ("[n.pow(99)]", "1", "`n.pow(99)` has no value"),
        ("[n.sqrt()]", "1", "`sqrt` cannot be asked of a number so"),
        ("[n.pow()]", "1", "`pow` cannot be asked of a number so"),
        (
            "[a.len()]",
            "1",
            "there is no buffer `a` to ask for its size",
        ),
        ("[5]", "m as u8", "10000 is no `u8`"),
        ("[5]", "m as f32", "only whole numbers are cast here"),
        ("[5]", "(-n).isqrt()", "`(-n).isqrt()` has no value"),
    ] {
        let args = run(len, n);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        t.bad(2, &args, &[says]);
    }
}
