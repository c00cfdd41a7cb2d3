//! B-splines and natural cubic splines as R's `splines::bs` and `splines::ns` make them.
//!
//! Interior knots stand at quantiles of the values, boundary knots at their range. Beyond the range B-splines go
//! on as the polynomials of the outermost pieces, natural splines as straight lines, as `predict` does in R.

use ergodic_diagnostics::quantiles::of_sorted as quantile;

use crate::formula::factor::MAX_DEGREE;

/// Most B-splines that are not 0 at one point.
const MAX_ORDER: usize = MAX_DEGREE as usize + 1;
/// Order of cubic splines: their degree plus one.
const CUBIC_ORDER: usize = 4;

/// Functions of x that span splines without the constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Spline {
    /// All knots in order, boundary knots `order` times.
    knots: Vec<f64>,
    /// Degree of the pieces plus one.
    order: usize,
    natural: Option<Natural>,
}

/// What makes natural splines of cubic B-splines.
#[derive(Clone, Debug, PartialEq)]
struct Natural {
    /// m × df, row-major: the coefficients of the natural splines in the m B-splines.
    map: Vec<f64>,
    /// The straight lines before the first and after the last knot.
    ends: [Line; 2],
}

/// Straight lines through one point.
#[derive(Clone, Debug, PartialEq)]
struct Line {
    /// A boundary knot.
    at: f64,
    /// df values there.
    values: Vec<f64>,
    /// df slopes there.
    slopes: Vec<f64>,
}

impl Spline {
    /// B-splines of `degree` with `df` functions, the first left out for the intercept (`bs(x, df, degree)`). `sorted`
    /// holds the values in order; `None` if knots fall together. `df` must not be below `degree`.
    pub fn b_spline(sorted: &[f64], df: usize, degree: usize) -> Option<Self> {
        let order = degree + 1;
        Some(Self {
            knots: place_knots(sorted, df - degree, order)?,
            order,
            natural: None,
        })
    }

    /// Natural cubic splines with `df` ≥ 1 functions (`ns(x, df)`): cubic B-splines without the first, restricted to those
    /// whose second derivatives vanish at the boundary knots.
    pub fn natural(sorted: &[f64], df: usize) -> Option<Self> {
        let knots = place_knots(sorted, df - 1, CUBIC_ORDER)?;
        let mut spline = Self {
            knots,
            order: CUBIC_ORDER,
            natural: None,
        };
        let m = spline.num_basis();
        let boundary = [spline.knots[0], spline.knots[spline.knots.len() - 1]];
        // R: const = second derivatives without the first B-spline; basis · Q of the QR decomposition of constᵀ, without
        // the two columns that span constᵀ. Householder's reflections fix Q's signs, so they are done here as LINPACK does.
        let mut columns = boundary.map(|at| spline.derivative(spline.order, 2, at)[1..].to_vec());
        let mut reflections: Vec<Vec<f64>> = Vec::new();
        for j in 0..2 {
            let mut v = columns[j].clone();
            v[..j].fill(0.0);
            let norm = v.iter().map(|v| v * v).sum::<f64>().sqrt();
            v[j] += norm.copysign(v[j]);
            for column in &mut columns[j..] {
                reflect(&v, column);
            }
            reflections.push(v);
        }
        let mut map = vec![0.0; m * df];
        let mut row = vec![0.0; m - 1];
        for i in 1..m {
            row.fill(0.0);
            row[i - 1] = 1.0;
            for v in &reflections {
                reflect(v, &mut row);
            }
            map[i * df..(i + 1) * df].copy_from_slice(&row[2..]);
        }
        let ends = boundary.map(|at| {
            let project = |basis: Vec<f64>| {
                let mut out = vec![0.0; df];
                for (value, row) in basis.iter().zip(map.chunks_exact(df)) {
                    out.iter_mut()
                        .zip(row)
                        .for_each(|(out, map)| *out += value * map);
                }
                out
            };
            Line {
                at,
                values: project(spline.derivative(spline.order, 0, at)),
                slopes: project(spline.derivative(spline.order, 1, at)),
            }
        });
        spline.natural = Some(Natural { map, ends });
        Some(spline)
    }

    /// Interior knots.
    pub fn interior_knots(&self) -> &[f64] {
        &self.knots[self.order..self.knots.len() - self.order]
    }

    /// m, the number of B-splines.
    fn num_basis(&self) -> usize {
        self.knots.len() - self.order
    }

    /// Writes the df values at `x` into `out`.
    pub fn evaluate(&self, x: f64, out: &mut [f64]) {
        let mut local = [0.0; MAX_ORDER];
        match &self.natural {
            None => {
                let first = self.local(self.order, x, &mut local);
                out.fill(0.0);
                for (r, value) in local[..self.order].iter().enumerate() {
                    // The B-spline 0 is left out.
                    if first + r > 0 {
                        out[first + r - 1] = *value;
                    }
                }
            }
            Some(Natural {
                map,
                ends: [low, high],
            }) => {
                let line = if x < low.at {
                    Some(low)
                } else if x > high.at {
                    Some(high)
                } else {
                    None
                };
                if let Some(line) = line {
                    for (j, out) in out.iter_mut().enumerate() {
                        *out = line.values[j] + (x - line.at) * line.slopes[j];
                    }
                    return;
                }
                let first = self.local(self.order, x, &mut local);
                let df = out.len();
                out.fill(0.0);
                for (r, value) in local[..self.order].iter().enumerate() {
                    let row = &map[(first + r) * df..][..df];
                    out.iter_mut()
                        .zip(row)
                        .for_each(|(out, map)| *out += value * map);
                }
            }
        }
    }

    /// The `order` B-splines of that order on these knots that are not 0 in the interval of `x`, by the recursion of Cox
    /// and de Boor; returns the index of the first. Beyond the knots the outermost pieces go on.
    fn local(&self, order: usize, x: f64, out: &mut [f64; MAX_ORDER]) -> usize {
        let interval = self
            .knots
            .partition_point(|&knot| knot <= x)
            .clamp(self.order, self.knots.len() - self.order)
            - 1;
        let knot = |i: usize| self.knots[i];
        out[0] = 1.0;
        for j in 1..order {
            let mut saved = 0.0;
            for r in 0..j {
                let (left, right) = (knot(interval + 1 + r - j), knot(interval + 1 + r));
                let share = out[r] / (right - left);
                out[r] = saved + (right - x) * share;
                saved = (x - left) * share;
            }
            out[j] = saved;
        }
        interval + 1 - order
    }

    /// Derivatives of all B-splines of `order` on these knots at `x`.
    fn derivative(&self, order: usize, times: usize, x: f64) -> Vec<f64> {
        let count = self.knots.len() - order;
        if times == 0 {
            let mut local = [0.0; MAX_ORDER];
            let first = self.local(order, x, &mut local);
            let mut all = vec![0.0; count];
            all[first..first + order].copy_from_slice(&local[..order]);
            return all;
        }
        let lower = self.derivative(order - 1, times - 1, x);
        let degree = (order - 1) as f64;
        let share = |i: usize| {
            let width = self.knots[i + order - 1] - self.knots[i];
            // B-splines between equal knots are 0.
            if width > 0.0 {
                degree * lower[i] / width
            } else {
                0.0
            }
        };
        (0..count).map(|i| share(i) - share(i + 1)).collect()
    }
}

/// `count` knots at quantiles between boundary knots repeated `order` times; `None` unless they rise.
fn place_knots(sorted: &[f64], count: usize, order: usize) -> Option<Vec<f64>> {
    let (first, last) = (*sorted.first()?, *sorted.last()?);
    let mut knots = vec![first; order];
    for k in 1..=count {
        knots.push(quantile(sorted, k as f64 / (count + 1) as f64));
    }
    knots.extend(std::iter::repeat_n(last, order));
    knots[order - 1..knots.len() - order + 1]
        .windows(2)
        .all(|pair| pair[0] < pair[1])
        .then_some(knots)
}

/// x − 2 v v'x / v'v.
fn reflect(v: &[f64], x: &mut [f64]) {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let share = 2.0 * dot(v, x) / dot(v, v);
    x.iter_mut().zip(v).for_each(|(x, v)| *x -= share * v);
}
