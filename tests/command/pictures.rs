//! Buffers that are written as pictures.

use crate::support::Folder;

const PAINT: &str = "#[millstream::program]
mod paint {
    #[task]
    pub fn stripes(pixels: &mut [u32], width: usize) {
        for i in 0..pixels.len() { pixels[i] = (i % width * 0x20) as u32; }
    }
}
";

fn folder() -> Folder {
    let t = Folder::new();
    t.write("paint.rs", PAINT);
    t
}

const CALL: [&str; 5] = [
    "run",
    "paint.rs",
    "-q",
    "--entry",
    "stripes(&mut pixels, 4)",
];

#[test]
fn a_matrix_of_pixels_becomes_a_png_file() {
    let t = folder();
    let args = [
        "--buffer",
        "pixels=zeros:u32:[3, 4]",
        "--output",
        "pixels=out.png",
    ];
    t.good(&[&CALL[..], &args].concat());
    let row = [0, 0x20, 0x40, 0x60];
    let expected = millstream::image::png(4, 3, &[row, row, row].concat()).unwrap();
    assert!(t.read("out.png") == expected);
}

#[test]
fn what_is_no_picture_is_not_written_as_one_and_none_is_read() {
    let t = folder();
    let bad = |code, buffer: &str, says: &[&str]| {
        let args = ["--buffer", buffer, "--output", "pixels=out.png"];
        t.bad(code, &[&CALL[..], &args].concat(), says);
    };
    let help = "a picture is a buffer of `[ROWS, COLUMNS]` x `u32`, each pixel `0xRRGGBB`";
    bad(1, "pixels=zeros:u32:12", &["it is of [12] x `u32`", help]);
    bad(
        1,
        "pixels=zeros:u32:[0, 4]",
        &["it is of [0, 4] x `u32`", help],
    );
    let args = ["--input", "pixels=in.png"];
    t.bad(
        2,
        &[&CALL[..], &args].concat(),
        &["a picture can be written, but not read"],
    );
}
