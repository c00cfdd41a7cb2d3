//! Penalised smooth curves: thin plate regression splines of one column, as mgcv's `s(x)` has them, in the form of a mixed
//! model.
//!
//! Functions are f(t) = a + b t + Σ_i δ_i |t − t_i|³/12 with Σ δ_i = Σ δ_i t_i = 0, the natural cubic splines with knots at the
//! different values t_i; their wiggliness ∫ f''² is δ'Eδ with E_ij = |t_i − t_j|³/12. Of these functions those are kept whose
//! δ lies in the span of the k eigenvectors of E with the largest eigenvalues in size (Wood 2003). That leaves k − 2 functions
//! besides the straight lines.
//!
//! In the mixed model form (Ruppert, Wand and Carroll 2003, section 4.9; Wood 2004) the straight line has a coefficient like
//! any other and what bends it is Σ_j s_j c_j(x) with s_j ~ N(0, sd²) independent, which is the penalty ∫ f''²/(2 sd²) up to the
//! unit of sd. The c_j are any basis in which the penalty is s's. Here they are the one of Demmler and Reinsch (1975): over the
//! rows the c_j are orthogonal to the constant, to the straight line and to each other, from the smoothest to the wiggliest, so
//! that the intercept is identified, the coefficient of the line is the slope of the line through the whole curve, and a
//! sampler sees coefficients that hardly depend on each other. The unit is Σ_j c_j² = 1 on average over the rows: sd is the
//! standard deviation of the curve around its line in a row chosen at random.
//!
//! Outside of the range of the values curves go on as straight lines.

use ergodic_base::linalg::{axpy, dot, symmetric_eigen};

/// Most knots: with more different values, as many of them as this, evenly spaced in their order. The work is that of
/// eigenvectors of a matrix of this size; mgcv goes to 2,000 and takes them at random.
const MOST_KNOTS: usize = 300;

/// Functions of x: x itself, then k − 2 that bend.
#[derive(Clone, Debug, PartialEq)]
pub struct Smooth {
    /// Different values, ascending (m).
    knots: Vec<f64>,
    /// Each function's values at the knots, and its second derivatives there: m × (k − 2), row-major.
    values: Vec<f64>,
    seconds: Vec<f64>,
}

impl Smooth {
    /// The functions for the rows' `values`, of which at least `k` ≥ 3 differ. `None` where they cannot be told apart in numbers.
    pub fn fit(values: &[f64], k: usize) -> Option<Self> {
        let knots = knots_of(values);
        let (m, width) = (knots.len(), k - 2);
        let (first, last) = (knots[0], knots[m - 1]);
        let (centre, half) = (0.5 * first + 0.5 * last, 0.5 * last - 0.5 * first);
        // From −1 to 1: the functions do not depend on the unit of x, and sums of cubes keep their digits.
        let t: Vec<f64> = knots.iter().map(|x| (x - centre) / half).collect();
        if !t.windows(2).all(|pair| pair[1] - pair[0] > f64::EPSILON) {
            return None;
        }
        let delta = bending(&t, k)?;
        let mut smooth = Self {
            values: sums(&t, &delta, |distance| distance.powi(3) / 12.0),
            seconds: sums(&t, &delta, |distance| 0.5 * distance),
            knots: t,
        };
        let rows: Vec<f64> = values.iter().map(|x| (x - centre) / half).collect();
        smooth.level(&rows, width);
        smooth.turn(&rows, width)?;
        // Second derivatives in units of x, knots exactly as they are in the data.
        let unit = half * half;
        smooth.seconds.iter_mut().for_each(|value| *value /= unit);
        smooth.knots = knots;
        let mut numbers = smooth.values.iter().chain(&smooth.seconds);
        numbers.all(|value| value.is_finite()).then_some(smooth)
    }

    /// Takes the straight line of least squares over the `rows` off each function.
    fn level(&mut self, rows: &[f64], width: usize) {
        let n = rows.len() as f64;
        let mean = rows.iter().sum::<f64>() / n;
        let squares: f64 = rows.iter().map(|t| (t - mean).powi(2)).sum();
        // Once more for what rounding left.
        for _ in 0..2 {
            let (mut heights, mut slopes) = (vec![0.0; width], vec![0.0; width]);
            let mut at = vec![0.0; width];
            for t in rows {
                self.bends(*t, &mut at);
                axpy(1.0 / n, &at, &mut heights);
                axpy((t - mean) / squares, &at, &mut slopes);
            }
            for (t, values) in self.knots.iter().zip(self.values.chunks_exact_mut(width)) {
                axpy(-1.0, &heights, values);
                axpy(mean - t, &slopes, values);
            }
        }
    }

    /// Turns the functions, whose penalty is that of independent coefficients of one variance, to orthogonal ones over the
    /// `rows`, from the largest to the smallest, and gives them their unit.
    fn turn(&mut self, rows: &[f64], width: usize) -> Option<()> {
        let mut gram = vec![0.0; width * width];
        let mut at = vec![0.0; width];
        for t in rows {
            self.bends(*t, &mut at);
            for (value, line) in at.iter().zip(gram.chunks_exact_mut(width)) {
                axpy(value / rows.len() as f64, &at, line);
            }
        }
        let (sizes, vectors) = symmetric_eigen(&gram, width)?;
        let total: f64 = sizes.iter().sum();
        if !(total > 0.0 && sizes[0] > f64::EPSILON * f64::EPSILON * total) {
            return None;
        }
        let mut turned: Vec<Vec<f64>> = vectors.chunks_exact(width).map(<[f64]>::to_vec).collect();
        turned.reverse();
        let end = self.values.chunks_exact(width).next_back()?.to_vec();
        for vector in &mut turned {
            // Eigenvectors have no sign of their own: functions end above their line.
            let sign = if dot(vector, &end) < 0.0 { -1.0 } else { 1.0 };
            vector.iter_mut().for_each(|v| *v *= sign / total.sqrt());
        }
        for numbers in [&mut self.values, &mut self.seconds] {
            for line in numbers.chunks_exact_mut(width) {
                at.copy_from_slice(line);
                for (value, vector) in line.iter_mut().zip(&turned) {
                    *value = dot(vector, &at);
                }
            }
        }
        Some(())
    }

    /// Writes x and the k − 2 functions at `x` into `out`.
    pub fn evaluate(&self, x: f64, out: &mut [f64]) {
        out[0] = x;
        self.bends(x, &mut out[1..]);
    }

    /// The functions that bend.
    fn bends(&self, x: f64, out: &mut [f64]) {
        let (width, last) = (out.len(), self.knots.len() - 1);
        let line = |numbers: &'_ [f64], a: usize, j: usize| numbers[a * width + j];
        let a = self.knots.partition_point(|&knot| knot <= x);
        let a = a.clamp(1, last) - 1;
        let (low, high) = (self.knots[a], self.knots[a + 1]);
        let step = high - low;
        for (j, out) in out.iter_mut().enumerate() {
            let [y0, y1] = [a, a + 1].map(|a| line(&self.values, a, j));
            let [m0, m1] = [a, a + 1].map(|a| line(&self.seconds, a, j));
            let slope = (y1 - y0) / step;
            *out = if x < low {
                y0 + (x - low) * (slope - step * (2.0 * m0 + m1) / 6.0)
            } else if x > high {
                y1 + (x - high) * (slope + step * (m0 + 2.0 * m1) / 6.0)
            } else {
                let (b, c) = ((high - x) / step, (x - low) / step);
                let bent = (b.powi(3) - b) * m0 + (c.powi(3) - c) * m1;
                b * y0 + c * y1 + bent * step * step / 6.0
            };
        }
    }
}

/// The different values in order, thinned where there are very many.
fn knots_of(values: &[f64]) -> Vec<f64> {
    let mut knots = values.to_vec();
    knots.sort_unstable_by(f64::total_cmp);
    // -0 and 0 are one value.
    knots.dedup_by(|a, b| a == b);
    let m = knots.len();
    if m <= MOST_KNOTS {
        return knots;
    }
    let place = |j: usize| (j * (m - 1) + (MOST_KNOTS - 1) / 2) / (MOST_KNOTS - 1);
    (0..MOST_KNOTS).map(|j| knots[place(j)]).collect()
}

/// δ of k − 2 functions whose penalties δ'Eδ are those of the identity, m × (k − 2) row-major.
fn bending(t: &[f64], k: usize) -> Option<Vec<f64>> {
    let (m, width) = (t.len(), k - 2);
    let mut e = vec![0.0; m * m];
    for (a, line) in e.chunks_exact_mut(m).enumerate() {
        for (e, other) in line.iter_mut().zip(t) {
            *e = (t[a] - other).abs().powi(3) / 12.0;
        }
    }
    let (values, vectors) = symmetric_eigen(&e, m)?;
    let mut order: Vec<usize> = (0..m).collect();
    order.sort_by(|&a, &b| values[b].abs().total_cmp(&values[a].abs()));
    order.truncate(k);
    let vector = |j: usize| &vectors[order[j] * m..(order[j] + 1) * m];
    // Coordinates of the constant and of the line in the span, and an orthonormal basis of what is orthogonal to both: the
    // eigenvectors of the projection with eigenvalue 1, the last k − 2.
    let constant: Vec<f64> = (0..k).map(|j| vector(j).iter().sum()).collect();
    let line: Vec<f64> = (0..k).map(|j| dot(vector(j), t)).collect();
    let u = unit(&constant)?;
    let mut rest = line.clone();
    axpy(-dot(&u, &line), &u, &mut rest);
    let v = unit(&rest)?;
    let mut projection = vec![0.0; k * k];
    for i in 0..k {
        for j in 0..k {
            let identity = f64::from(u8::from(i == j));
            projection[i * k + j] = identity - u[i] * u[j] - v[i] * v[j];
        }
    }
    let (_zeros_and_ones, basis) = symmetric_eigen(&projection, k)?;
    let basis: Vec<&[f64]> = basis.chunks_exact(k).skip(2).collect();
    let mut penalty = vec![0.0; width * width];
    for i in 0..width {
        for j in 0..width {
            let terms = (0..k).map(|l| basis[i][l] * values[order[l]] * basis[j][l]);
            penalty[i * width + j] = terms.sum();
        }
    }
    let (sizes, turns) = symmetric_eigen(&penalty, width)?;
    if sizes[0].is_nan() || sizes[0] <= 0.0 {
        return None;
    }
    let mut delta = vec![0.0; m * width];
    for (j, (size, turn)) in sizes.iter().zip(turns.chunks_exact(width)).enumerate() {
        let mut weights = vec![0.0; k];
        for (share, basis) in turn.iter().zip(&basis) {
            axpy(share / size.sqrt(), basis, &mut weights);
        }
        for (l, weight) in weights.iter().enumerate() {
            for (delta, u) in delta[j..].iter_mut().step_by(width).zip(vector(l)) {
                *delta += weight * u;
            }
        }
    }
    Some(delta)
}

/// Σ_i δ_i g(|t − t_i|) at all knots, m × (k − 2) row-major.
fn sums(t: &[f64], delta: &[f64], g: impl Fn(f64) -> f64) -> Vec<f64> {
    let width = delta.len() / t.len();
    let mut out = vec![0.0; delta.len()];
    for (at, out) in t.iter().zip(out.chunks_exact_mut(width)) {
        for (other, delta) in t.iter().zip(delta.chunks_exact(width)) {
            axpy(g((at - other).abs()), delta, out);
        }
    }
    out
}

/// x over its length; `None` where it has none.
fn unit(x: &[f64]) -> Option<Vec<f64>> {
    let length = dot(x, x).sqrt();
    (length > 0.0 && length.is_finite()).then(|| x.iter().map(|x| x / length).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(n: usize) -> Vec<f64> {
        (0..n)
            .map(|i| 50.0 + 7.0 * (i as f64 * 0.61803).fract().powi(2))
            .collect()
    }

    fn columns(smooth: &Smooth, x: &[f64], k: usize) -> Vec<Vec<f64>> {
        let mut at = vec![0.0; k - 1];
        let rows: Vec<Vec<f64>> = x
            .iter()
            .map(|x| {
                smooth.evaluate(*x, &mut at);
                at.clone()
            })
            .collect();
        (0..k - 1)
            .map(|j| rows.iter().map(|row| row[j]).collect())
            .collect()
    }

    /// The functions are orthogonal to the constant, the line and each other, from the largest to the smallest, and have their
    /// unit; the penalty of each, ∫ c''² by Simpson's rule between knots, where c'' is linear, is the same.
    #[test]
    fn columns_are_orthogonal_and_have_one_penalty() {
        for (n, k) in [(40, 10), (12, 12), (200, 4), (1000, 20), (5, 3)] {
            let x = values(n);
            let smooth = Smooth::fit(&x, k).unwrap();
            let columns = columns(&smooth, &x, k);
            assert_eq!(columns[0], x);
            let mean = x.iter().sum::<f64>() / n as f64;
            let line: Vec<f64> = x.iter().map(|x| x - mean).collect();
            let mut total = 0.0;
            let mut before = f64::INFINITY;
            for (j, c) in columns.iter().enumerate().skip(1) {
                let size = dot(c, c) / n as f64;
                assert!(size <= before * (1.0 + 1e-9), "{n} {k} {j}");
                before = size;
                total += size;
                let root = dot(c, c).sqrt();
                assert!(
                    c.iter().sum::<f64>().abs() < 1e-9 * root * (n as f64).sqrt(),
                    "{n} {k} {j}"
                );
                assert!(
                    dot(c, &line).abs() < 1e-9 * root * dot(&line, &line).sqrt(),
                    "{n} {k} {j}"
                );
                for other in &columns[j + 1..] {
                    assert!(
                        dot(c, other).abs() < 1e-8 * root * dot(other, other).sqrt(),
                        "{n} {k} {j}"
                    );
                }
            }
            assert!((total - 1.0).abs() < 1e-9, "{total}");
            let width = k - 2;
            let penalty = |i: usize, j: usize| -> f64 {
                let at = |a: usize, j: usize| smooth.seconds[a * width + j];
                (1..smooth.knots.len())
                    .map(|a| {
                        let middle = |j| 0.5 * (at(a - 1, j) + at(a, j));
                        let ends = at(a - 1, i) * at(a - 1, j) + at(a, i) * at(a, j);
                        let step = smooth.knots[a] - smooth.knots[a - 1];
                        step / 6.0 * (ends + 4.0 * middle(i) * middle(j))
                    })
                    .sum()
            };
            let one = penalty(0, 0);
            for i in 0..width {
                for j in 0..width {
                    let expected = if i == j { one } else { 0.0 };
                    assert!(
                        (penalty(i, j) - expected).abs() < 1e-6 * one,
                        "{n} {k}: {i} {j}"
                    );
                }
            }
        }
    }

    /// Beyond the values functions are straight, with the slope of their ends; between them they do not jump.
    #[test]
    fn curves_go_on_as_straight_lines() {
        let x = values(60);
        let k = 8;
        let smooth = Smooth::fit(&x, k).unwrap();
        let [first, last] = [smooth.knots[0], smooth.knots[smooth.knots.len() - 1]];
        for (end, out) in [(first, -1.0), (last, 1.0)] {
            let at = [-1e-5, 0.0, 1e-5, 3.0, 6.0].map(|step| end + out * step);
            for c in &columns(&smooth, &at, k)[1..] {
                let inner = (c[1] - c[0]) / 1e-5;
                let outer = (c[2] - c[1]) / 1e-5;
                assert!(
                    (inner - outer).abs() < 1e-3 * (1.0 + outer.abs()),
                    "{inner} {outer}"
                );
                assert!((c[4] - 2.0 * c[3] + c[1]).abs() < 1e-9 * (1.0 + c[4].abs()));
            }
        }
    }

    /// Curves do not depend on the unit of x, nor on the order of the rows.
    #[test]
    fn curves_do_not_depend_on_units() {
        let x = values(50);
        let mut turned: Vec<f64> = x.iter().map(|x| 1e-6 * x - 3.0).collect();
        let plain = columns(&Smooth::fit(&x, 7).unwrap(), &x, 7);
        turned.reverse();
        let mut other = columns(&Smooth::fit(&turned, 7).unwrap(), &turned, 7);
        for (a, b) in plain.iter().zip(&mut other).skip(1) {
            b.reverse();
            for (a, b) in a.iter().zip(b.iter()) {
                assert!((a - b).abs() < 1e-5, "{a} {b}");
            }
        }
    }

    /// Few different values, words, and a curve without any are refused in one sentence; new rows get the same functions.
    #[test]
    fn designs_with_curves_are_made_and_new_rows_coded() {
        use crate::design::coding::Coding;
        use crate::design::columns::{MemoryColumns, Values};
        use crate::design::{Design, ModelFrame};
        let x = values(30);
        let number = |values: Vec<f64>| Values::Numbers(values);
        let word = |i: usize| Some(["a", "b"][i % 2].to_owned());
        let columns = vec![
            ("y".to_owned(), number((0..30).map(f64::from).collect())),
            ("x".to_owned(), number(x.clone())),
            (
                "few".to_owned(),
                number((0..30).map(|i| f64::from(i % 7)).collect()),
            ),
            (
                "two".to_owned(),
                number((0..30).map(|i| f64::from(i % 2)).collect()),
            ),
            (
                "word".to_owned(),
                Values::Texts((0..30).map(word).collect()),
            ),
        ];
        let table = MemoryColumns::new("t", columns).unwrap();
        let frame = |formula: &str| ModelFrame {
            response_use: crate::design::response::ResponseUse::Number,
            ..ModelFrame::new(formula.parse().unwrap())
        };
        for (formula, part) in [
            (
                "y ~ s(few)",
                "s(few) needs at least 10 different values, but `few` has 7; lower k, as in s(few, k = 7)",
            ),
            (
                "y ~ s(two)",
                "no curve goes through so few, so leave `s()` out",
            ),
            (
                "y ~ s(word)",
                "s(word) needs numbers, but `word` holds text",
            ),
        ] {
            let error = Design::build(&table, &frame(formula))
                .unwrap_err()
                .to_string();
            assert!(error.contains(part), "{error}");
        }
        let frame = frame("y ~ s(x, k = 6) + few");
        let (design, _) = Design::build(&table, &frame).unwrap();
        // What bends comes last.
        assert_eq!(
            design.terms,
            [
                "Intercept",
                "s(x)",
                "few",
                "s(x)1",
                "s(x)2",
                "s(x)3",
                "s(x)4"
            ]
        );
        let bends: Vec<usize> = (design.terms.iter())
            .filter_map(|term| Some(term.bend()?.1))
            .collect();
        assert_eq!(bends, [1, 2, 3, 4]);
        let coding = Coding::of(&table, &frame, &design).unwrap();
        let new = MemoryColumns::new(
            "new",
            vec![
                ("few".to_owned(), number(vec![2.0, 3.0])),
                ("x".to_owned(), number(vec![x[4], x[9]])),
            ],
        )
        .unwrap();
        let coded = coding.code(&new, None, true).unwrap();
        let row_of = |row: u32| design.row.iter().position(|&other| other == row).unwrap();
        for (i, row) in [row_of(4), row_of(9)].into_iter().enumerate() {
            for j in [0, 1, 3, 4, 5, 6] {
                let raw = design.x[[row, j]] * design.raw_scale[j] + design.raw_center[j];
                assert!((coded.x[[i, j]] - raw).abs() < 1e-9, "{i} {j}");
            }
        }
        let remarks = crate::design::checks::check(&design).warnings;
        assert!(
            remarks.iter().all(|it| !it.message.contains("s(x)")),
            "{remarks:?}"
        );
    }

    #[test]
    fn values_that_cannot_be_told_apart_are_refused() {
        let near: Vec<f64> = (0..5).map(|i| 1.0 + f64::from(i) * f64::EPSILON).collect();
        assert!(Smooth::fit(&[0.0, 1.0, 1.0 + f64::EPSILON, 2.0], 3).is_none());
        // Their unit is their range, whatever that is.
        assert!(Smooth::fit(&near, 3).is_some());
    }
}
