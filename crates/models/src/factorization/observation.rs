//! Ratings of rows, known and new, under draws of the factors.
//!
//! A user whom the fit did not have is one more of the population: a_u ~ N(0, 1/λ_a) and U_u ~ N(0, I/λ_U), so that a rating of item v is
//! normal around m + b_v with the variance 1/τ + 1/λ_a + |V_v|²/λ_U; likewise an item, and of two new ones the product has the variance
//! K/(λ_U λ_V) and is taken as normal. Each λ is its mean given the draw.

use std::sync::Arc;

use rand::RngExt as _;
use rand_distr::StandardNormal;

use super::reading::Table;
use super::{BlockPrior, LOG_NORMAL, Layout};
use crate::design::{
    Design, ObservationModel, ObservationRows, Predictor, ReadError, ResponseInfo,
};
use ergodic_base::ChainRng;

/// What a row follows from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub layout: Layout,
    pub priors: [BlockPrior; 4],
    /// τ.
    pub precision: f64,
    /// m.
    pub mean: f64,
}

/// The view of ratings.
#[derive(Debug)]
pub(super) struct Ratings {
    rule: Rule,
    response: ResponseInfo,
    outcome: Vec<String>,
    groupings: Vec<String>,
}

impl Ratings {
    pub fn new(rule: Rule, design: &Design, table: &Table) -> Self {
        Self {
            rule,
            response: design.response.clone(),
            outcome: vec![design.response.column().to_owned()],
            groupings: table.names.to_vec(),
        }
    }
}

impl ObservationModel for Ratings {
    fn response(&self) -> &ResponseInfo {
        &self.response
    }

    fn refusal(&self) -> Option<&str> {
        None
    }

    fn is_whole(&self) -> bool {
        false
    }

    fn outcome_columns(&self) -> &[String] {
        &self.outcome
    }

    fn predictors(&self) -> &[String] {
        &self.groupings
    }

    fn num_parameters(&self) -> usize {
        self.rule.layout.dim()
    }

    /// Behind the draws stand the mean precisions of the four blocks.
    fn prepare(&self, mut draws: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        let count = draws.first().map_or(0, Vec::len);
        for (k, prior) in self.rule.priors.iter().enumerate() {
            let block = self.rule.layout.block(k);
            let precision = |s: usize| {
                let squares = draws[block.clone()].iter().map(|draws| draws[s] * draws[s]);
                prior.precision_given(block.len(), squares.sum())
            };
            let precisions = (0..count).map(precision).collect();
            draws.push(precisions);
        }
        draws
    }

    fn code(
        &self,
        columns: &[(String, Predictor)],
        has_outcome: &[bool],
    ) -> Result<Arc<dyn ObservationRows>, ReadError> {
        let column = |name: &String| {
            let found = columns.iter().find(|(known, _)| known == name);
            found.map(|(_, column)| column)
        };
        let groups = |side: usize| {
            let name = &self.groupings[side];
            match column(name) {
                // Codes behind the levels are of groups that the fit did not have.
                Some(Predictor::Categorical { codes, .. }) => Ok(codes
                    .iter()
                    .map(|&code| Some(code as usize))
                    .map(|code| code.filter(|&code| code < self.rule.layout.groups[side]))
                    .collect()),
                _ => Err(format!("The column `{name}` says no group of the rows")),
            }
        };
        let observed = match column(&self.outcome[0]) {
            Some(Predictor::Numeric(values)) => {
                let values = values.iter().zip(has_outcome);
                let value = |(value, has): (&f64, &bool)| if *has { *value } else { f64::NAN };
                values.map(value).collect()
            }
            _ => vec![f64::NAN; has_outcome.len()],
        };
        Ok(Arc::new(RatedRows {
            rule: self.rule,
            groups: [groups(0)?, groups(1)?],
            observed,
        }))
    }
}

/// Rows with their users and items, `None` of those that the fit did not have.
#[derive(Debug)]
struct RatedRows {
    rule: Rule,
    groups: [Vec<Option<usize>>; 2],
    observed: Vec<f64>,
}

impl RatedRows {
    /// Mean and variance of the rating of row `i` under draw `s`.
    fn moments(&self, i: usize, draws: &[Vec<f64>], s: usize) -> [f64; 2] {
        let Rule {
            layout,
            precision,
            mean,
            ..
        } = self.rule;
        let width = layout.factors;
        let (mut expected, mut variance) = (mean, 1.0 / precision);
        let of_block = |kind: usize| 1.0 / draws[layout.dim() + kind][s];
        let groups = [0, 1].map(|side| self.groups[side][i]);
        for (side, group) in groups.into_iter().enumerate() {
            match group {
                Some(group) => expected += draws[layout.block(side).start + group][s],
                None => variance += of_block(side),
            }
        }
        let factor = |side: usize, group: usize, k: usize| {
            draws[layout.block(2 + side).start + group * width + k][s]
        };
        match groups {
            [Some(user), Some(item)] => {
                let products = (0..width).map(|k| factor(0, user, k) * factor(1, item, k));
                expected += products.sum::<f64>();
            }
            [Some(group), None] => {
                let squares: f64 = (0..width).map(|k| factor(0, group, k).powi(2)).sum();
                variance += squares * of_block(3);
            }
            [None, Some(group)] => {
                let squares: f64 = (0..width).map(|k| factor(1, group, k).powi(2)).sum();
                variance += squares * of_block(2);
            }
            [None, None] => variance += width as f64 * of_block(2) * of_block(3),
        }
        [expected, variance]
    }
}

impl ObservationRows for RatedRows {
    fn observed(&self) -> &[f64] {
        &self.observed
    }

    fn trials(&self) -> Option<&[f64]> {
        None
    }

    /// Mean and standard deviation.
    fn width(&self) -> usize {
        2
    }

    fn distribution(&self, i: usize, draws: &[Vec<f64>], first: usize, out: &mut [f64]) {
        let len = out.len() / 2;
        let (means, sds) = out.split_at_mut(len);
        for (k, (mean, sd)) in means.iter_mut().zip(sds).enumerate() {
            let [expected, variance] = self.moments(i, draws, first + k);
            (*mean, *sd) = (expected, variance.sqrt());
        }
    }

    fn draw(&self, distribution: &[f64], rng: &mut ChainRng, out: &mut [f64]) {
        let (means, sds) = distribution.split_at(out.len());
        for (out, (mean, sd)) in out.iter_mut().zip(means.iter().zip(sds)) {
            *out = mean + sd * rng.sample::<f64, _>(StandardNormal);
        }
    }

    fn chance(&self, _distribution: &[f64], _level: usize, out: &mut [f64]) {
        // Ratings are numbers here, not levels.
        out.fill(f64::NAN);
    }

    fn log_density(&self, i: usize, draws: &[Vec<f64>], first: usize, out: &mut [f64]) {
        for (k, out) in out.iter_mut().enumerate() {
            let [expected, variance] = self.moments(i, draws, first + k);
            let residual = self.observed[i] - expected;
            *out = -0.5 * residual * residual / variance - 0.5 * variance.ln() - LOG_NORMAL;
        }
    }
}
