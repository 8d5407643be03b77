//! Pictures: pixels to PNG files.

use std::io;

/// A PNG file's bytes. A pixel is `0xRRGGBB`; row after row, from the top.
///
/// ```
/// let red_and_blue = millstream::image::png(2, 1, &[0xff0000, 0x0000ff])?;
/// assert_eq!(&red_and_blue[1..4], b"PNG");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// If there is no pixel, or are not `width * height` of them.
pub fn png(width: u32, height: u32, pixels: &[u32]) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::High);
    let bytes: Vec<u8> = pixels
        .iter()
        .flat_map(|pixel| {
            let [_, red, green, blue] = pixel.to_be_bytes();
            [red, green, blue]
        })
        .collect();
    encoder.write_header()?.write_image_data(&bytes)?;
    Ok(out)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends there")]
mod tests {
    use super::*;

    #[test]
    fn pixels_come_back_and_a_picture_of_another_size_is_refused() {
        let pixels: Vec<u32> = (0..300u32).map(|i| (i * 0x01_02_03) & 0xff_ffff).collect();
        let file = png(20, 15, &pixels).unwrap();
        let mut reader = png::Decoder::new(io::Cursor::new(file))
            .read_info()
            .unwrap();
        let mut bytes = vec![0; 900];
        let info = reader.next_frame(&mut bytes).unwrap();
        assert_eq!((info.width, info.height), (20, 15));
        let back: Vec<u32> = bytes
            .chunks_exact(3)
            .map(|p| u32::from_be_bytes([0, p[0], p[1], p[2]]))
            .collect();
        assert_eq!(back, pixels);
        assert!(png(20, 16, &pixels).is_err());
        assert!(png(0, 0, &[]).is_err());
    }
}
