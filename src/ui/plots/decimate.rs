//! Fewer points for the same picture: the smallest and the largest draw of each pixel column.
//!
//! A chunk that lies inside one pixel column is not read at all, its extremes are known. Values that are not
//! finite are never merged with others: the line breaks there, and the draws beside the gap are kept.

use std::ops::Range;

use egui_plot::PlotPoint;

use ergodic_base::draws::DrawList;

/// Pieces of a line: points in order of x, broken where a draw was not finite.
#[derive(Clone, Debug, Default)]
pub struct Pieces {
    points: Vec<PlotPoint>,
    starts: Vec<usize>,
}

impl Pieces {
    /// Removes all points and keeps the memory.
    pub fn clear(&mut self) {
        self.points.clear();
        self.starts.clear();
    }

    /// The unbroken pieces in order; each has at least one point.
    pub fn iter(&self) -> impl Iterator<Item = &[PlotPoint]> {
        let ends = self
            .starts
            .iter()
            .skip(1)
            .copied()
            .chain(std::iter::once(self.points.len()));
        self.starts
            .iter()
            .zip(ends)
            .map(|(&from, to)| &self.points[from..to])
    }

    /// All points, whatever piece they belong to.
    pub fn points(&self) -> &[PlotPoint] {
        &self.points
    }

    /// Smallest and largest y; `None` without points.
    pub fn extremes(&self) -> Option<(f64, f64)> {
        self.points.iter().fold(None, |range, point| match range {
            None => Some((point.y, point.y)),
            Some((low, high)) => Some((point.y.min(low), point.y.max(high))),
        })
    }
}

/// Replaces `out` by the draws `range` of column `column`, at most `pixels` pixel columns wide.
///
/// Draw i has x = `x0` + i·`step`. At most two points a pixel column are kept, and beside them the first and
/// the last draw of each piece. Draws beyond the list are left out.
pub fn decimate(
    list: &DrawList,
    column: usize,
    range: Range<usize>,
    pixels: usize,
    (x0, step): (f64, f64),
    out: &mut Pieces,
) {
    out.clear();
    let range = range.start..range.end.min(list.len());
    if range.is_empty() || column >= list.width() {
        return;
    }
    let num_draws = range.len();
    // With two draws a pixel or fewer there is nothing to gain: every draw is its own column.
    let columns = if num_draws <= 2 * pixels {
        num_draws
    } else {
        pixels.max(1)
    };
    let mut line = Line {
        x0,
        step,
        out,
        open: None,
        last: None,
    };
    let mut at = range.start;
    let size = list.chunk_draws();
    for chunk in list.chunks().skip(range.start / size) {
        let first = at - at % size;
        let chunk_end = range.end.min(first + size);
        let values = chunk.column(column);
        while at < chunk_end {
            // The first draw of the next pixel column is the smallest i with i·columns/num_draws above this one.
            let pixel = (at - range.start) * columns / num_draws;
            let column_end = range.start + ((pixel + 1) * num_draws).div_ceil(columns);
            let end = chunk_end.min(column_end);
            if at == first && end == first + size && chunk.all_finite(column) {
                line.add_chunk(at, chunk.extremes(column), values);
            } else {
                for i in at..end {
                    line.add(i, values[i - first]);
                }
            }
            if end == column_end {
                line.close_column(false);
            }
            at = end;
        }
        if at >= range.end {
            break;
        }
    }
    line.close_column(true);
}

/// A draw: index and value.
type Draw = (usize, f64);

/// What is known of the pixel column being filled.
struct Column {
    first: Draw,
    last: Draw,
    min: Draw,
    max: Draw,
}

struct Line<'a> {
    x0: f64,
    step: f64,
    out: &'a mut Pieces,
    open: Option<Column>,
    /// Last draw of the last closed column of the current piece; `None` while the piece has no points.
    last: Option<Draw>,
}

impl Line<'_> {
    fn add(&mut self, i: usize, value: f64) {
        if value.is_finite() {
            self.merge((i, value), (i, value), (i, value), (i, value));
        } else {
            self.close_column(true);
        }
    }

    /// Merges the `values` of a full chunk that starts at draw `i`. Where in the chunk its extremes lie is not known and not
    /// visible, because the chunk lies inside one pixel column: they are placed in its middle.
    fn add_chunk(&mut self, i: usize, (min, max): (f64, f64), values: &[f64]) {
        let (middle, end) = (i + values.len() / 2, values.len() - 1);
        self.merge(
            (i, values[0]),
            (i + end, values[end]),
            (middle, min),
            (middle, max),
        );
    }

    fn merge(&mut self, first: Draw, last: Draw, min: Draw, max: Draw) {
        match &mut self.open {
            None => {
                self.open = Some(Column {
                    first,
                    last,
                    min,
                    max,
                });
            }
            Some(column) => {
                column.last = last;
                if min.1 < column.min.1 {
                    column.min = min;
                }
                if max.1 > column.max.1 {
                    column.max = max;
                }
            }
        }
    }

    /// Writes the points of the open column; `end` also ends the piece.
    fn close_column(&mut self, end: bool) {
        if let Some(Column {
            first,
            last,
            min,
            max,
        }) = self.open.take()
        {
            if self.last.is_none() {
                self.out.starts.push(self.out.points.len());
                self.push(first);
            }
            let (a, b) = if min.0 <= max.0 {
                (min, max)
            } else {
                (max, min)
            };
            self.push(a);
            self.push(b);
            self.last = Some(last);
        }
        if end && let Some(last) = self.last.take() {
            self.push(last);
        }
    }

    fn push(&mut self, (i, value): Draw) {
        let point = PlotPoint::new(self.x0 + self.step * i as f64, value);
        let from = self.out.starts.last().copied().unwrap_or(0);
        if self.out.points[from..].last() != Some(&point) {
            self.out.points.push(point);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn list(values: &[f64]) -> DrawList {
        let mut list = DrawList::new(1);
        for &value in values {
            list.push(&[value]);
        }
        list
    }

    fn run(values: &[f64], range: Range<usize>, pixels: usize) -> Pieces {
        let mut out = Pieces::default();
        decimate(&list(values), 0, range, pixels, (0.0, 1.0), &mut out);
        out
    }

    /// A reproducible rough sequence.
    fn rough(len: usize) -> Vec<f64> {
        (0..len)
            .map(|i| ((i * 7919 + 13) % 1009) as f64 / 1009.0 + (i as f64 / 500.0).sin())
            .collect()
    }

    #[test]
    fn short_columns_keep_every_draw() {
        let values = rough(300);
        let out = run(&values, 0..300, 200);
        let ys: Vec<f64> = out.points().iter().map(|p| p.y).collect();
        assert_eq!(ys, values);
        assert_eq!(out.iter().count(), 1);
    }

    #[test]
    fn first_last_and_extremes_survive() {
        let mut values = rough(50_000);
        values[12_345] = 99.0;
        values[23_456] = -99.0;
        let out = run(&values, 0..50_000, 400);
        assert!(out.points().len() <= 2 * 400 + 2, "{}", out.points().len());
        assert_eq!((out.points()[0].x, out.points()[0].y), (0.0, values[0]));
        let last = out.points().last().unwrap();
        assert_eq!((last.x, last.y), (49_999.0, values[49_999]));
        assert_eq!(out.extremes(), Some((-99.0, 99.0)));
    }

    #[test]
    fn one_gap_makes_two_pieces_that_keep_their_ends() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut values = rough(20_000);
            values[7_000] = bad;
            let out = run(&values, 0..20_000, 100);
            let pieces: Vec<&[PlotPoint]> = out.iter().collect();
            assert_eq!(pieces.len(), 2, "{bad}");
            assert_eq!(pieces[0].last().unwrap().x, 6_999.0);
            assert_eq!(pieces[1][0].x, 7_001.0);
            assert!(out.points().iter().all(|p| p.y.is_finite()));
        }
    }

    #[test]
    fn a_lonely_draw_between_gaps_is_a_piece_of_one_point() {
        let out = run(&[f64::NAN, 1.0, f64::NAN, f64::NAN, 2.0, 3.0], 0..6, 3);
        let lengths: Vec<usize> = out.iter().map(<[PlotPoint]>::len).collect();
        assert_eq!(lengths, [1, 2]);
    }

    #[test]
    fn nothing_in_nothing_out() {
        assert!(run(&[], 0..10, 100).points().is_empty());
        assert!(run(&[f64::NAN; 5], 0..5, 100).points().is_empty());
        assert!(run(&[1.0; 5], 5..5, 100).points().is_empty());
        assert!(run(&[1.0; 5], 7..9, 100).points().is_empty());
        assert_eq!(run(&[1.0; 5], 3..50, 100).points().len(), 2);
    }

    #[test]
    fn x_follows_origin_and_step() {
        let mut out = Pieces::default();
        decimate(
            &list(&[5.0, 6.0, 7.0]),
            0,
            1..3,
            100,
            (1000.0, 10.0),
            &mut out,
        );
        let xs: Vec<f64> = out.points().iter().map(|p| p.x).collect();
        assert_eq!(xs, [1010.0, 1020.0]);
    }

    /// Reference result by reading every value: for each pixel column and piece the smallest and largest value.
    fn naive(values: &[f64], range: Range<usize>, pixels: usize) -> Vec<Vec<(f64, f64)>> {
        let range = range.start..range.end.min(values.len());
        let num_draws = range.len();
        let columns = if num_draws <= 2 * pixels {
            num_draws
        } else {
            pixels
        };
        let mut pieces: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
        let mut open: Option<(usize, f64, f64)> = None;
        for i in range.clone() {
            let pixel = (i - range.start) * columns / num_draws;
            let value = values[i];
            if let Some((p, low, high)) = open
                && (p != pixel || !value.is_finite())
            {
                pieces.last_mut().unwrap().push((low, high));
                open = None;
            }
            if value.is_finite() {
                open = Some(match open {
                    None => (pixel, value, value),
                    Some((p, low, high)) => (p, value.min(low), value.max(high)),
                });
            } else if !pieces.last().unwrap().is_empty() {
                pieces.push(Vec::new());
            }
        }
        if let Some((_, low, high)) = open {
            pieces.last_mut().unwrap().push((low, high));
        }
        pieces.retain(|piece| !piece.is_empty());
        pieces
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn columns_have_the_extremes_of_a_full_scan(
            len in 1_usize..12_000,
            pixels in 1_usize..60,
            cut in (0.0_f64..1.0, 0.0_f64..1.0),
            gaps in proptest::collection::vec((0.0_f64..1.0, 1_usize..4, 0_usize..3), 0..6),
        ) {
            let mut values = rough(len);
            for (place, width, kind) in gaps {
                let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY][kind];
                let at = (place * len as f64) as usize;
                for value in values.iter_mut().skip(at).take(width) {
                    *value = bad;
                }
            }
            let (a, b) = ((cut.0 * len as f64) as usize, (cut.1 * len as f64) as usize);
            let range = a.min(b)..a.max(b).max(a.min(b) + 1);
            let out = run(&values, range.clone(), pixels);
            let expected = naive(&values, range.clone(), pixels);
            let pieces: Vec<&[PlotPoint]> = out.iter().collect();
            prop_assert_eq!(pieces.len(), expected.len());
            let num_draws = range.end.min(len) - range.start;
            let columns = if num_draws <= 2 * pixels { num_draws } else { pixels };
            for (piece, expected) in pieces.iter().zip(&expected) {
                // At most two points a column beside the ends, in order of x, finite.
                prop_assert!(piece.len() <= 2 * expected.len() + 2);
                prop_assert!(piece.windows(2).all(|w| w[0].x <= w[1].x));
                prop_assert!(piece.iter().all(|p| p.y.is_finite()));
                let mut found: Vec<(usize, f64, f64)> = Vec::new();
                for p in *piece {
                    let pixel = (p.x as usize - range.start) * columns / num_draws;
                    match found.last_mut() {
                        Some((last, low, high)) if *last == pixel => {
                            *low = low.min(p.y);
                            *high = high.max(p.y);
                        }
                        _ => found.push((pixel, p.y, p.y)),
                    }
                }
                let found: Vec<(f64, f64)> = found.into_iter().map(|(_, low, high)| (low, high)).collect();
                prop_assert_eq!(&found, expected);
            }
        }
    }
}
