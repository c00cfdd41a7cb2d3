//! Scores of predictions by what was observed: averages over rows with their standard errors, and the ROC curve.
//!
//! Rows may have weights: one of weight w counts as w rows in every average. Definitions are those of scikit-learn, whose
//! numbers `tests/reference/scores.py` makes.
//!
//! | score | of row i | source |
//! |---|---|---|
//! | log loss | −log p(y_i) | Good (1952) |
//! | Brier score | (p_i − y_i)², y_i 1 for yes and 0 for no | Brier (1950) |
//! | area under the ROC curve | the probability that a yes is predicted higher than a no, ties counting half | Hanley and McNeil (1982) |
//!
//! The standard error of a mean is that over rows, sd / √n; that of the area is by placements (DeLong, DeLong and
//! Clarke-Pearson 1988, Biometrics 44:837), for rows without weights.

/// A score with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// The score.
    pub value: f64,
    /// Standard error over rows; `None` where there is none, as for one row.
    pub se: Option<f64>,
}

impl Score {
    /// The mean of `values` with `weights` of rows, which are all 1 where there are none. Of no values NaN.
    pub fn mean(values: &[f64], weights: Option<&[f64]>) -> Self {
        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
        let rows = || values.iter().enumerate();
        let total: f64 = rows().map(|(i, _)| weight(i)).sum();
        let value = rows().map(|(i, v)| weight(i) * v).sum::<f64>() / total;
        let squares: f64 = rows().map(|(i, v)| (weight(i) * (v - value)).powi(2)).sum();
        let n = values.len() as f64;
        let se = (n / (n - 1.0) * squares).sqrt() / total;
        Self {
            value,
            se: se.is_finite().then_some(se),
        }
    }

    /// The square root, its standard error to first order.
    #[must_use]
    pub fn root(self) -> Self {
        let value = self.value.sqrt();
        let se = self.se.map(|se| se / (2.0 * value));
        Self {
            value,
            se: se.filter(|se| se.is_finite()),
        }
    }

    /// e to its power, the standard error to first order.
    #[must_use]
    pub fn exponential(self) -> Self {
        let value = self.value.exp();
        let se = self.se.map(|se| se * value);
        Self {
            value,
            se: se.filter(|se| se.is_finite()),
        }
    }

    /// With the other sign.
    #[must_use]
    pub fn negated(self) -> Self {
        Self {
            value: -self.value,
            ..self
        }
    }
}

/// The squared differences of probabilities of yes and outcomes, 1 for yes and 0 for no: the parts of the Brier score.
pub fn brier(probabilities: &[f64], outcomes: &[f64]) -> Vec<f64> {
    let pairs = probabilities.iter().zip(outcomes);
    pairs.map(|(p, y)| (p - y) * (p - y)).collect()
}

/// What happens where all rows predicted at least as high as a threshold are called yes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RocPoint {
    /// The threshold; infinite at the first point, where no row is called yes.
    pub threshold: f64,
    /// Share of the rows with no that are called yes.
    pub false_positives: f64,
    /// Share of the rows with yes that are called yes.
    pub true_positives: f64,
}

/// A receiver operating characteristic.
#[derive(Clone, Debug, PartialEq)]
pub struct Roc {
    /// One point before all thresholds, then one for every predicted probability, falling: from (0, 0) to (1, 1).
    pub points: Vec<RocPoint>,
    /// The area under it.
    pub area: Score,
}

/// The curve of probabilities of yes and outcomes, 1 for yes and 0 for no, with weights of rows, which are all 1 where there are
/// none; `None` where all outcomes are the same.
pub fn roc(probabilities: &[f64], outcomes: &[f64], weights: Option<&[f64]>) -> Option<Roc> {
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.retain(|&i| weight(i) != 0.0);
    order.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
    // Weight of yes and of no, then numbers of them, of rows with the same probability.
    let mut steps: Vec<(f64, [f64; 2], [usize; 2])> = Vec::new();
    for i in order {
        let p = probabilities[i];
        if steps.last().is_none_or(|step| step.0 != p) {
            steps.push((p, [0.0; 2], [0; 2]));
        }
        if let Some((_, weights, rows)) = steps.last_mut() {
            let side = usize::from(outcomes[i] != 1.0);
            weights[side] += weight(i);
            rows[side] += 1;
        }
    }
    let totals = [0, 1].map(|side| steps.iter().map(|step| step.1[side]).sum::<f64>());
    if !totals.iter().all(|total| *total > 0.0) {
        return None;
    }
    let mut points = vec![RocPoint {
        threshold: f64::INFINITY,
        false_positives: 0.0,
        true_positives: 0.0,
    }];
    let (mut area, mut above) = (0.0, [0.0; 2]);
    let mut placements: [Vec<(f64, usize)>; 2] = [Vec::new(), Vec::new()];
    for (threshold, [yes, no], rows) in steps {
        // Shares that are predicted lower than those of the step, half of equal ones with them: of no for a yes, of yes for a no.
        let lower_no = (totals[1] - above[1] - 0.5 * no) / totals[1];
        let higher_yes = (above[0] + 0.5 * yes) / totals[0];
        area += no / totals[1] * higher_yes;
        placements[0].push((lower_no, rows[0]));
        placements[1].push((higher_yes, rows[1]));
        above = [above[0] + yes, above[1] + no];
        points.push(RocPoint {
            threshold,
            false_positives: above[1] / totals[1],
            true_positives: above[0] / totals[0],
        });
    }
    let variance: Option<f64> = placements.iter().map(|it| variance_of_mean(it)).sum();
    let se = variance.filter(|_| weights.is_none()).map(f64::sqrt);
    Some(Roc {
        points,
        area: Score { value: area, se },
    })
}

/// Variance of the mean of values that each occur n times; `None` for fewer than two.
fn variance_of_mean(values: &[(f64, usize)]) -> Option<f64> {
    let n = values.iter().map(|(_, times)| *times).sum::<usize>() as f64;
    let sum = |f: &dyn Fn(f64) -> f64| -> f64 {
        values.iter().map(|(v, times)| *times as f64 * f(*v)).sum()
    };
    let mean = sum(&|v| v) / n;
    let variance = sum(&|v| (v - mean) * (v - mean)) / (n - 1.0) / n;
    (n > 1.0).then_some(variance)
}

#[cfg(test)]
mod tests;
