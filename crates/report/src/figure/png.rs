//! Figures as PNG, with the fonts of the window.

use std::io;

use skrifa::instance::{LocationRef, Size};
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::{FontRef, GlyphId, MetadataProvider as _};
use vello_cpu::color::{AlphaColor, Srgb};
use vello_cpu::kurbo::{Affine, BezPath, Cap, Circle, Join, Rect, Shape as _, Stroke};
use vello_cpu::{Pixmap, RenderContext, Resources};

use super::Figure;
use super::compose::compose;
use super::drawing::{Anchor, Element, RING};
use super::ink::Ink;

/// Default dots per inch: what journals ask for.
pub const DOTS_PER_INCH: f64 = 300.0;
/// Points per inch.
const POINTS: f64 = 72.0;
/// Dots per metre of one per inch.
const PER_METRE: f64 = 1.0 / 0.0254;
/// How far curves may be from what approximates them, in points.
const TOLERANCE: f64 = 0.02;
/// The letters.
const FONT: &[u8] = include_bytes!("../../../../assets/fonts/Inter-Regular.otf");

/// The picture with `dpi` dots per inch, in the colours of the light theme.
///
/// # Errors
/// It has more dots than the format, or the memory for them, allows.
pub fn write(figure: &Figure, dpi: f64) -> io::Result<Vec<u8>> {
    let (drawing, size) = compose(figure);
    let scale = dpi / POINTS;
    let dots = size.map(|points| (points * scale).ceil());
    if dots
        .iter()
        .any(|dots| !(1.0..=f64::from(u16::MAX)).contains(dots))
    {
        let [wide, high] = dots;
        return Err(io::Error::other(format!(
            "{wide} by {high} dots are more than a picture can have; draw fewer parameters"
        )));
    }
    let [wide, high] = dots.map(|dots| dots as u16);
    let letters = Letters::new().map_err(io::Error::other)?;
    let mut canvas = RenderContext::new(wide, high);
    canvas.set_transform(Affine::scale(scale));
    for element in &drawing.elements {
        draw(element, &letters, &mut canvas);
    }
    canvas.flush();
    let mut pixels = Pixmap::new(wide, high);
    canvas.render(&mut pixels, &mut Resources::new());
    // White paper lies under everything. The last dots, of which the figure fills a part, would be dark without it.
    let colors: Vec<u8> = (pixels.data().iter())
        .flat_map(|pixel| {
            let white = 255 - pixel.a;
            [pixel.r, pixel.g, pixel.b].map(|part| part.saturating_add(white))
        })
        .collect();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, u32::from(wide), u32::from(high));
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let per_metre = (dpi * PER_METRE).round() as u32;
    encoder.set_pixel_dims(Some(png::PixelDimensions {
        xppu: per_metre,
        yppu: per_metre,
        unit: png::Unit::Meter,
    }));
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&colors)?;
    writer.finish()?;
    Ok(bytes)
}

fn draw(element: &Element, letters: &Letters<'_>, canvas: &mut RenderContext) {
    match element {
        Element::Line {
            path,
            ink,
            thickness,
            dash,
        } => {
            let Ok(path) = BezPath::from_svg(path) else {
                return;
            };
            canvas.set_paint(color(*ink, 1.0));
            let lengths = dash
                .split(' ')
                .filter_map(|length| length.parse::<f64>().ok());
            let stroke = Stroke::new(*thickness)
                .with_caps(Cap::Butt)
                .with_join(Join::Round)
                .with_dashes(0.0, lengths.collect::<Vec<f64>>());
            canvas.set_stroke(stroke);
            canvas.stroke_path(&path);
        }
        Element::Area { path, ink, opacity } => {
            if let Ok(path) = BezPath::from_svg(path) {
                canvas.set_paint(color(*ink, *opacity));
                canvas.fill_path(&path);
            }
        }
        Element::Rectangle { at, ink, opacity } => {
            canvas.set_paint(color(*ink, *opacity));
            canvas.fill_rect(&rectangle(*at));
        }
        Element::Dots { dots, ink, opacity } => {
            canvas.set_paint(color(*ink, *opacity));
            for (at, radius) in dots {
                canvas.fill_path(&Circle::new((at[0], at[1]), *radius).to_path(TOLERANCE));
            }
        }
        Element::Ring { at, radius, ink } => {
            let circle = Circle::new((at[0], at[1]), *radius).to_path(TOLERANCE);
            canvas.set_paint(color(Ink::Paper, 1.0));
            canvas.fill_path(&circle);
            canvas.set_paint(color(*ink, 1.0));
            canvas.set_stroke(Stroke::new(RING));
            canvas.stroke_path(&circle);
        }
        Element::Words {
            at,
            words,
            ink,
            size,
            anchor,
        } => {
            canvas.set_paint(color(*ink, 1.0));
            let path = letters.path(words, *size, *at, *anchor);
            canvas.fill_path(&path);
        }
        Element::Clip { at, .. } => canvas.push_clip_path(&rectangle(*at).to_path(TOLERANCE)),
        Element::EndClip => canvas.pop_clip_path(),
    }
}

fn rectangle([left, top, width, height]: [f64; 4]) -> Rect {
    Rect::new(left, top, left + width, top + height)
}

/// The colour of an ink on paper.
fn color(ink: Ink, opacity: f64) -> AlphaColor<Srgb> {
    let part = |at: usize| {
        let digits = ink.on_paper().get(at..at + 2).unwrap_or("00");
        u8::from_str_radix(digits, 16).unwrap_or(0)
    };
    let alpha = (opacity.clamp(0.0, 1.0) * 255.0).round() as u8;
    AlphaColor::from_rgba8(part(1), part(3), part(5), alpha)
}

/// The font.
struct Letters<'a> {
    font: FontRef<'a>,
}

impl Letters<'_> {
    fn new() -> Result<Self, skrifa::raw::ReadError> {
        let font = FontRef::new(FONT)?;
        Ok(Self { font })
    }

    /// The outlines of `words` of a size in points whose line goes through `at`.
    fn path(&self, words: &str, size: f64, [x, y]: [f64; 2], anchor: Anchor) -> BezPath {
        let points = Size::new(size as f32);
        let (map, outlines) = (self.font.charmap(), self.font.outline_glyphs());
        let widths = self.font.glyph_metrics(points, LocationRef::default());
        // Numbers have spaces that few fonts have.
        let of_letter = |letter: char| match letter {
            '\u{202f}' | '\u{2009}' => ' ',
            other => other,
        };
        let glyphs: Vec<(GlyphId, f64)> = words
            .chars()
            .map(|letter| {
                let glyph = map.map(of_letter(letter)).unwrap_or_default();
                (glyph, f64::from(widths.advance_width(glyph).unwrap_or(0.0)))
            })
            .collect();
        let width: f64 = glyphs.iter().map(|(_, width)| width).sum();
        let mut left = match anchor {
            Anchor::Start => x,
            Anchor::Middle => x - 0.5 * width,
            Anchor::End => x - width,
        };
        let mut path = BezPath::new();
        for (glyph, width) in glyphs {
            if let Some(outline) = outlines.get(glyph) {
                let mut pen = Pen {
                    path: &mut path,
                    at: [left, y],
                };
                let settings = DrawSettings::unhinted(points, LocationRef::default());
                // A letter that cannot be drawn leaves its room free.
                drop(outline.draw(settings, &mut pen));
            }
            left += width;
        }
        path
    }
}

/// Takes down an outline, whose y goes up.
struct Pen<'a> {
    path: &'a mut BezPath,
    at: [f64; 2],
}

impl Pen<'_> {
    fn place(&self, x: f32, y: f32) -> (f64, f64) {
        (self.at[0] + f64::from(x), self.at[1] - f64::from(y))
    }
}

impl OutlinePen for Pen<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(self.place(x, y));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(self.place(x, y));
    }

    fn quad_to(&mut self, cx: f32, cy: f32, x: f32, y: f32) {
        self.path.quad_to(self.place(cx, cy), self.place(x, y));
    }

    fn curve_to(&mut self, ax: f32, ay: f32, bx: f32, by: f32, x: f32, y: f32) {
        self.path
            .curve_to(self.place(ax, ay), self.place(bx, by), self.place(x, y));
    }

    fn close(&mut self) {
        self.path.close_path();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Axis, Line, Panel};

    fn decoded(bytes: &[u8]) -> (png::OutputInfo, Vec<u8>, Option<png::PixelDimensions>) {
        let mut reader = png::Decoder::new(io::Cursor::new(bytes))
            .read_info()
            .unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        let dims = reader.info().pixel_dims;
        (info, pixels, dims)
    }

    #[test]
    fn lines_and_words_stand_where_they_belong() {
        let mut figure = Figure::new("test", "A line".to_owned());
        let mut panel = Panel::new(
            "A title",
            Axis::numbers("x", (0.0, 1.0)),
            Axis::numbers("", (0.0, 1.0)),
        );
        panel.add(
            "line",
            Ink::Bad,
            Line::curve(vec![[0.0, 0.5], [1.0, 0.5]], 2.0),
        );
        figure.panels.push(Some(panel));
        let bytes = write(&figure, 96.0).unwrap();
        let (info, pixels, dims) = decoded(&bytes);
        let (_, [wide, high]) = compose(&figure);
        assert_eq!(f64::from(info.width), (wide * 96.0 / 72.0).ceil());
        assert_eq!(f64::from(info.height), (high * 96.0 / 72.0).ceil());
        assert_eq!(dims.unwrap().xppu, 3780);
        let at = |x: u32, y: u32| -> [u8; 3] {
            let first = 3 * (y * info.width + x) as usize;
            [pixels[first], pixels[first + 1], pixels[first + 2]]
        };
        let rgb = |ink: Ink| {
            let color = color(ink, 1.0).to_rgba8();
            [color.r, color.g, color.b]
        };
        let count = |ink: Ink| {
            let all = (0..info.height).flat_map(|y| (0..info.width).map(move |x| (x, y)));
            all.filter(|&(x, y)| at(x, y) == rgb(ink)).count()
        };
        // The corner is paper; the line crosses most of the width, two points thick.
        assert_eq!(at(0, 0), rgb(Ink::Paper));
        let (of_line, width) = (count(Ink::Bad), info.width as usize);
        assert!(
            of_line > width && of_line < 4 * width,
            "{of_line} of {width}"
        );
        // Strokes of letters are thinner than a dot here, and nearly black all the same.
        let dark = pixels
            .chunks_exact(3)
            .filter(|dot| dot.iter().all(|&part| part < 96));
        assert!(dark.count() > 20);
        // The last dots, which the figure does not fill, are paper too.
        assert_eq!(at(info.width - 1, info.height - 1), rgb(Ink::Paper));
    }

    #[test]
    fn words_are_as_wide_as_their_letters_and_end_where_they_are_told() {
        let letters = Letters::new().unwrap();
        let bounds = |words: &str, anchor| {
            letters
                .path(words, 10.0, [100.0, 50.0], anchor)
                .bounding_box()
        };
        let start = bounds("mm", Anchor::Start);
        let end = bounds("mm", Anchor::End);
        assert!(start.x0 >= 100.0 && start.x0 < 102.0, "{start:?}");
        assert!(end.x1 <= 100.0 && end.x1 > 98.0, "{end:?}");
        let middle = bounds("mm", Anchor::Middle);
        assert!((middle.center().x - 100.0).abs() < 0.5, "{middle:?}");
        // Letters stand on their line.
        assert!(
            (start.y1 - 50.0).abs() < 0.3 && start.y0 > 43.0,
            "{start:?}"
        );
        assert!(bounds("mmm", Anchor::Start).width() > 1.3 * start.width());
    }

    #[test]
    fn a_picture_that_is_too_large_is_refused() {
        let figure = Figure::new("test", "Large".to_owned());
        let refused = write(&figure, 1e5).unwrap_err().to_string();
        assert!(refused.contains("fewer parameters"), "{refused}");
    }
}
