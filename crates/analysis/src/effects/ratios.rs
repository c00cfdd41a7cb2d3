//! exp of coefficients: ratios of odds, rates, means or medians.

use ergodic_base::Control;
use ergodic_base::ParamId;
use ergodic_core::design::{ResponseInfo, ResponseKind};
use ergodic_core::families::Link;
use ergodic_core::formula::Elementwise;

use super::averages::Expectation;
use super::derived::Layout;
use super::what_if::Rows;
use super::{Asked, Contrast, Derived, EffectsError, EffectsOptions, words};
use crate::predict::{Fitted, Posterior};

/// Rows that are coded together.
const TILE: usize = 4096;

/// What the odds, rate, mean or median is multiplied by where a term is higher, exp(δ b).
#[derive(Clone, Debug, PartialEq)]
pub struct Ratio {
    /// Name of the column of the design; of levels without an order `level: column`.
    pub term: String,
    /// The predictors that the term is made of: several of an interaction.
    pub predictors: Vec<String>,
    /// The change δ of the term: 1, or one standard deviation where 1 is much less or much more than rows differ by.
    pub contrast: Contrast,
    /// The ratio.
    pub value: Derived,
}

/// What exp of a coefficient is.
pub(super) fn kind(response: &ResponseInfo, posterior: &Posterior) -> Option<&'static str> {
    match (Expectation::of(posterior)?.link, response.kind.function()) {
        (Link::Logit, _) if matches!(response.kind, ResponseKind::Unordered { .. }) => {
            Some("odds ratio against the reference")
        }
        (Link::Logit, _) => Some("odds ratio"),
        (Link::Log, _) if matches!(response.kind, ResponseKind::Count { .. }) => Some("rate ratio"),
        (Link::Log, _) => Some("ratio of means"),
        (Link::Identity, Some(Elementwise::Log)) => Some("ratio of medians"),
        (Link::Identity, _) => None,
    }
}

impl Fitted {
    /// Ratios of the coefficients of terms with a predictor that is asked for.
    pub(super) fn ratios(
        &self,
        posterior: &Posterior,
        layout: &Layout,
        (rows, asked): (&Rows<'_>, &[Asked<'_>]),
        options: &EffectsOptions,
        control: &Control,
    ) -> Result<Vec<Ratio>, EffectsError> {
        let linear = posterior.linear();
        let coefficients = linear.map_or(&[][..], |linear| &linear.coefficients);
        let of_predictors = coefficients.chunks(self.terms.len().max(1));
        let changes = self.changes_of_terms(rows, control)?;
        // The intercept belongs to no predictor.
        let of = |column: &str| asked.iter().any(|it| it.column.name == column);
        let mut contrasts: Vec<(Contrast, Vec<String>)> = Vec::new();
        let mut values: Vec<(ParamId, Vec<f64>)> = Vec::new();
        for (l, coefficients) in of_predictors.enumerate() {
            // The reference has none.
            let level = self.level_asked(l + 1);
            for ((term, draws), contrast) in self.terms.iter().zip(coefficients).zip(&changes) {
                if !term.factors().iter().any(|it| of(it.column())) {
                    continue;
                }
                let name = match &level {
                    Some(level) => ParamId::named(&format!("{level}: {term}")),
                    None => ParamId::named(term.as_str()),
                };
                let by = match contrast {
                    Contrast::Sd(sd) => *sd,
                    _ => 1.0,
                };
                values.push((name, draws.iter().map(|b| (by * b).exp()).collect()));
                let mut predictors: Vec<String> = Vec::new();
                for factor in term.factors() {
                    if !predictors.iter().any(|name| name == factor.column()) {
                        predictors.push(factor.column().to_owned());
                    }
                }
                contrasts.push((contrast.clone(), predictors));
            }
        }
        // A range of no effect is one of differences.
        let options = EffectsOptions {
            rope: None,
            ..options.clone()
        };
        let derived = layout
            .derive(&values, 1.0, &options)
            .ok_or(EffectsError::Weights)?;
        let ratios = values.into_iter().zip(contrasts).zip(derived);
        Ok(ratios
            .map(|(((term, _), (contrast, predictors)), value)| Ratio {
                term: term.to_string(),
                predictors,
                contrast,
                value,
            })
            .collect())
    }

    /// The change of each column of the design that its ratio is told for.
    fn changes_of_terms(
        &self,
        rows: &Rows<'_>,
        control: &Control,
    ) -> Result<Vec<Contrast>, EffectsError> {
        // Mean and sum of squares around it, row by row (Welford's recursion), and whether all are 0 or 1.
        let mut moments = vec![(0.0, 0.0, true); self.terms.len()];
        for first in (0..rows.len()).step_by(TILE) {
            control.check(EffectsError::Cancelled)?;
            let coded = rows.coded(first..(first + TILE).min(rows.len()), &[])?;
            for (i, row) in coded.x.rows().into_iter().enumerate() {
                let count = (first + i + 1) as f64;
                for ((mean, squares, is_two), x) in moments.iter_mut().zip(row) {
                    let off = x - *mean;
                    *mean += off / count;
                    *squares += off * (x - *mean);
                    *is_two &= *x == 0.0 || *x == 1.0;
                }
            }
        }
        let change = |(_, squares, is_two): (f64, f64, bool)| {
            let sd = (squares / (rows.len().max(2) - 1) as f64).sqrt();
            if is_two || sd == 0.0 || words::is_readable(sd) {
                Contrast::Unit
            } else {
                Contrast::Sd(sd)
            }
        };
        Ok(moments.into_iter().map(change).collect())
    }
}
