//! A likelihood fit and a posterior side by side: the same parameters by their reported names.

use std::collections::HashMap;

use super::likelihood::LikelihoodFit;
use super::recipe::{Recipe, Scale};
use ergodic_base::{Class, ParamId};
use ergodic_diagnostics::SummaryRow;
use ergodic_diagnostics::quantiles::NORMAL_90;

/// One parameter in both.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedRow {
    /// Reported name of the quantity.
    pub variable: ParamId,
    /// Estimate by likelihood; of a group's effect its mode.
    pub estimate: f64,
    /// Standard error, of a group's effect its conditional standard deviation; absent for variances and correlations.
    pub se: Option<f64>,
    /// Posterior mean.
    pub mean: f64,
    /// Posterior standard deviation.
    pub sd: f64,
    /// Posterior 5 % and 95 % quantiles.
    pub posterior: [f64; 2],
    /// Whether the parameter is an effect of a group, or a function that bends a curve.
    pub of_group: bool,
}

impl ComparedRow {
    /// 90 % interval of the estimate.
    pub fn interval(&self) -> Option<[f64; 2]> {
        let half = NORMAL_90 * self.se?;
        Some([self.estimate - half, self.estimate + half])
    }

    /// Estimate less posterior mean, in posterior standard deviations.
    pub fn difference(&self) -> f64 {
        (self.estimate - self.mean) / self.sd
    }
}

/// Why a run and a likelihood fit cannot stand side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotComparable {
    /// Parameters on different scales.
    #[error(
        "The run reports coefficients of standardised predictors, the likelihood fit those of predictors as they are; run again \
         with `report.scale = \"original\"` to see them side by side"
    )]
    Scale,
    /// Fits of different models.
    #[error(
        "The run and the likelihood fit have no parameter in common; fit the run's formula by likelihood"
    )]
    Parameters,
}

/// The parameters that both have, in the order of `summary`, the summary of a run of `recipe`.
///
/// # Errors
/// The run reports another scale, or they have no parameter in common.
pub fn compared_rows(
    done: &LikelihoodFit,
    recipe: &Recipe,
    summary: &[SummaryRow],
) -> Result<Vec<ComparedRow>, NotComparable> {
    if recipe.report.scale == Scale::Standardised {
        return Err(NotComparable::Scale);
    }
    let estimates = estimates(done);
    let rows: Vec<ComparedRow> = summary
        .iter()
        .filter_map(|row| {
            let &(estimate, se, of_group) = estimates.get(&row.variable)?;
            Some(ComparedRow {
                variable: row.variable.clone(),
                estimate,
                se,
                mean: row.mean?,
                sd: row.sd?,
                posterior: [row.q5?, row.q95?],
                of_group,
            })
        })
        .collect();
    if rows.is_empty() {
        return Err(NotComparable::Parameters);
    }
    Ok(rows)
}

/// Estimate, standard error and whether it is a group's, by the names of templates `mixed` and `hierarchical`.
fn estimates(done: &LikelihoodFit) -> HashMap<ParamId, (f64, Option<f64>, bool)> {
    let fit = &done.fit;
    let mut all = HashMap::new();
    for effect in &fit.fixed {
        let (name, value) = (&effect.name, (effect.estimate, Some(effect.se), false));
        all.insert(ParamId::of(Class::Coefficient, [name]), value);
        all.insert(ParamId::of(Class::Mean, [name]), value);
    }
    for cut in &fit.cuts {
        let value = (cut.estimate, Some(cut.se), false);
        all.insert(ParamId::of(Class::CutPoint, [&cut.name]), value);
    }
    for (one, value) in fit.parameters() {
        all.insert(ParamId::named(one.name), (value, None, false));
    }
    for component in &fit.components {
        let (group, names, q) = (&component.group, &component.names, component.names.len());
        for (i, name) in names.iter().enumerate() {
            let sd = component.sd[i];
            all.insert(ParamId::of(Class::Sd, [group, name]), (sd, None, false));
            for (j, other) in names.iter().enumerate() {
                let correlation = if i == j {
                    1.0
                } else {
                    component.correlation[i * q + j]
                };
                let covariance = sd * component.sd[j] * correlation;
                let of_both = ParamId::of(Class::Covariance, [name, other]);
                all.insert(of_both, (covariance, None, false));
                if i != j && component.correlated {
                    all.insert(
                        ParamId::of(Class::Correlation, [group, name, other]),
                        (correlation, None, false),
                    );
                }
            }
        }
        if let Some(icc) = component.icc {
            let of_group = ParamId::of(Class::VarianceShare, [group]);
            all.insert(of_group, (icc, None, false));
        }
    }
    for curve in &fit.curves {
        let spread = ParamId::of(Class::Sd, [&curve.name]);
        all.insert(spread, (curve.sd, None, false));
        for (k, (bend, sd)) in curve.bends.iter().zip(&curve.bend_sds).enumerate() {
            let id = ParamId::of(Class::Bend, [curve.name.clone(), (k + 1).to_string()]);
            all.insert(id, (*bend, Some(*sd), true));
        }
    }
    for effects in &fit.effects {
        let (group, q) = (&effects.group, effects.names.len());
        for (k, (mode, sd)) in effects.mode.iter().zip(&effects.sd).enumerate() {
            let (level, name) = (&effects.levels[k / q], &effects.names[k % q]);
            all.insert(
                ParamId::of(Class::Effect, [group, level, name]),
                (*mode, Some(*sd), true),
            );
            // A hierarchical model reports the coefficient itself; its standard error is not known.
            if let Some(fixed) = fit.fixed.iter().find(|fixed| fixed.name == *name) {
                let coefficient = (fixed.estimate + mode, None, true);
                let in_group = ParamId::of(Class::GroupCoefficient, [level, name]);
                all.insert(in_group, coefficient);
            }
        }
    }
    all
}
