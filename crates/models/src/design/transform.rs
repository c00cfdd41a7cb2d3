//! Functions of columns fitted to the rows used: means, polynomial coefficients and knots, kept for new data.

use super::smooth::Smooth;
use super::spline::Spline;
use crate::design::error::{BadNumber, DesignError, NumberAt, Place, Unmade, argument};
use crate::formula::factor::{Elementwise, Factor, Function, Operator};

/// A function of a column as a formula names it, with what was computed from the rows used.
#[derive(Clone, Debug, PartialEq)]
pub struct Transform {
    /// The function as the formula has it.
    pub factor: Factor,
    /// From the innermost function outwards; all but the last give one number.
    steps: Vec<Step>,
    num_columns: usize,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Elementwise(Elementwise),
    Power(i32),
    Inside(Operator, f64),
    Scale { mean: f64, sd: f64 },
    Orthogonal(Orthogonal),
    Powers,
    Spline(Spline),
    Smooth(Smooth),
}

/// Polynomials orthonormal over the rows, by their three-term recurrence (R's `poly`).
#[derive(Clone, Debug, PartialEq)]
struct Orthogonal {
    /// α_1…α_d: p_j = (x − α_j) p_{j−1} − (s_{j−1}/s_{j−2}) p_{j−2}.
    alpha: Vec<f64>,
    /// s_0…s_d, the sums of squares of p_j over the rows.
    norm2: Vec<f64>,
}

impl Transform {
    /// Fits `factor`, a call, to the values of its column. Returns it with its columns, n long each. `place` says
    /// which row value `i` is in. Errors: values outside the domain of a function, constant columns, too few different
    /// values.
    pub(crate) fn fit(
        factor: &Factor,
        column: Vec<f64>,
        place: &dyn Fn(usize) -> Place,
    ) -> Result<(Self, Vec<Vec<f64>>), DesignError> {
        let mut calls: Vec<(Function, &Factor)> = Vec::new();
        let mut inner = factor;
        while let Factor::Call(function, of) = inner {
            calls.push((*function, of));
            inner = of;
        }
        let mut transform = Self {
            factor: factor.clone(),
            steps: Vec::new(),
            num_columns: 1,
        };
        let mut columns = vec![column];
        for (function, of) in calls.into_iter().rev() {
            let values = columns.swap_remove(0);
            let step = fit_step(function, of, &values)?;
            transform.num_columns = function.num_columns();
            columns = vec![vec![0.0; values.len()]; transform.num_columns];
            let mut row = vec![0.0; transform.num_columns];
            for (i, &x) in values.iter().enumerate() {
                step.evaluate(x, &mut row);
                if !row.iter().all(|value| value.is_finite()) {
                    return Err(outside(function, of, x, place(i)).into());
                }
                columns
                    .iter_mut()
                    .zip(&row)
                    .for_each(|(column, value)| column[i] = *value);
            }
            transform.steps.push(step);
        }
        Ok((transform, columns))
    }

    /// How many columns the transform gives.
    pub fn num_columns(&self) -> usize {
        self.num_columns
    }

    /// Writes the values at `x` (as many as there are columns) into `out`; NaN where a function has none.
    pub fn evaluate(&self, x: f64, out: &mut [f64]) {
        let Some((last, before)) = self.steps.split_last() else {
            out.fill(x);
            return;
        };
        let mut value = [x];
        for step in before {
            step.evaluate(value[0], &mut value);
        }
        last.evaluate(value[0], out);
    }

    /// Interior knots, for splines.
    pub fn interior_knots(&self) -> &[f64] {
        match self.steps.last() {
            Some(Step::Spline(spline)) => spline.interior_knots(),
            _ => &[],
        }
    }
}

impl Step {
    fn evaluate(&self, x: f64, out: &mut [f64]) {
        match self {
            Self::Elementwise(function) => out[0] = function.at(x),
            Self::Power(power) => out[0] = x.powi(*power),
            Self::Inside(operator, value) => out[0] = operator.at(x, *value),
            Self::Scale { mean, sd } => out[0] = (x - mean) / sd,
            Self::Orthogonal(polynomials) => polynomials.evaluate(x, out),
            Self::Powers => {
                let mut power = 1.0;
                for out in out {
                    power *= x;
                    *out = power;
                }
            }
            Self::Spline(spline) => spline.evaluate(x, out),
            Self::Smooth(smooth) => smooth.evaluate(x, out),
        }
    }
}

fn fit_step(function: Function, of: &Factor, values: &[f64]) -> Result<Step, Unmade> {
    let call = || Factor::Call(function, Box::new(of.clone()));
    let few = |needed: usize| {
        let distinct = distinct(values);
        match distinct >= needed {
            true => Ok(()),
            false => Err(Unmade::Values {
                call: call(),
                needed,
                found: distinct,
            }),
        }
    };
    let splined = |spline: Option<Spline>| {
        let spline = spline.map(Step::Spline);
        spline.ok_or_else(|| Unmade::Knots(call()))
    };
    Ok(match function {
        Function::Elementwise(function) => Step::Elementwise(function),
        Function::Power(power) => Step::Power(power as i32),
        Function::Inside { operator, value } => Step::Inside(operator, value.value()),
        Function::Scale => {
            let (mean, sd) = mean_and_sample_sd(values);
            if sd <= 1e-14 * mean.abs() || !sd.is_finite() {
                return Err(Unmade::Scale(call(), sd));
            }
            Step::Scale { mean, sd }
        }
        Function::Poly { degree, raw } => {
            few(degree as usize + 1)?;
            if raw {
                Step::Powers
            } else {
                Step::Orthogonal(Orthogonal::of(values, degree as usize))
            }
        }
        Function::Natural { df } => {
            few(df as usize + 1)?;
            splined(Spline::natural(&sorted(values), df as usize))?
        }
        Function::BSpline { df, degree } => {
            few(df as usize + 1)?;
            splined(Spline::b_spline(
                &sorted(values),
                df as usize,
                degree as usize,
            ))?
        }
        Function::Smooth { k } => {
            few(k as usize)?;
            let smooth = Smooth::fit(values, k as usize);
            Step::Smooth(smooth.ok_or_else(|| Unmade::Smooth(call()))?)
        }
    })
}

impl Orthogonal {
    fn of(values: &[f64], degree: usize) -> Self {
        let mut fitted = Self {
            alpha: Vec::with_capacity(degree),
            norm2: vec![values.len() as f64],
        };
        let mut before = vec![0.0; values.len()];
        let mut last = vec![1.0; values.len()];
        // Centred values keep the sums below accurate where the mean is large.
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        for j in 0..degree {
            let squares = fitted.norm2[j];
            let moment: f64 = values
                .iter()
                .zip(&last)
                .map(|(x, p)| (x - mean) * p * p)
                .sum();
            let alpha = mean + moment / squares;
            let ratio = if j == 0 {
                0.0
            } else {
                squares / fitted.norm2[j - 1]
            };
            for ((before, last), x) in before.iter_mut().zip(&mut last).zip(values) {
                let next = (x - alpha) * *last - ratio * *before;
                *before = *last;
                *last = next;
            }
            fitted.alpha.push(alpha);
            fitted.norm2.push(last.iter().map(|p| p * p).sum());
        }
        fitted
    }

    fn evaluate(&self, x: f64, out: &mut [f64]) {
        let (mut before, mut last) = (0.0, 1.0);
        for (j, out) in out.iter_mut().enumerate() {
            let ratio = if j == 0 {
                0.0
            } else {
                self.norm2[j] / self.norm2[j - 1]
            };
            let next = (x - self.alpha[j]) * last - ratio * before;
            before = last;
            last = next;
            *out = next / self.norm2[j + 1].sqrt();
        }
    }
}

/// The refusal of a value without a finite result.
fn outside(function: Function, of: &Factor, x: f64, place: Place) -> BadNumber {
    let call = Factor::Call(function, Box::new(of.clone()));
    let number = NumberAt::new(of.column(), x, place);
    match function {
        Function::Elementwise(function) => {
            BadNumber::Domain(number, function, call.to_string(), argument(&call))
        }
        _ => BadNumber::Large(number, call),
    }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

fn distinct(values: &[f64]) -> usize {
    let mut sorted = sorted(values);
    // -0 and 0 are one value.
    sorted.dedup_by(|a, b| a == b);
    sorted.len()
}

/// Mean and standard deviation with n − 1.
fn mean_and_sample_sd(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0)).sqrt())
}
