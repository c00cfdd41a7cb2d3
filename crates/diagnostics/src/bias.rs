//! How far an approximate sampler is from the truth, measured against draws of an exact one.
//!
//! R-hat and effective sample size cannot see this error: they measure mixing towards a target that may be wrong.

use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Deserializer, Serialize};

mod evidence;

pub use evidence::{Evidence, LEVEL, Passes, StepBias};

use super::Missing;
use super::mcse::{pooled_mcse_mean, pooled_mcse_quantile, pooled_mcse_sd};
use super::pooled::{Pooled, Tables};
use super::quantiles::NORMAL_95;
use super::rhat::pooled_rhat;
use super::summary::{append_column, shortest};
use super::verdict::{RHAT_LIMIT, Verdict};
use ergodic_base::ParamId;
use ergodic_base::draws::DrawList;

/// Largest shift of a mean that is tolerated, in posterior sd; and the same for the sd, as a share of it.
pub const TOLERANCE: f64 = 0.1;

/// Probabilities of the quantiles that are compared, the ends of the interval that tables show.
pub const TAILS: [f64; 2] = [0.05, 0.95];
/// Largest shift of them that is tolerated, in posterior sd: that of a normal posterior whose mean and sd are both as far off
/// as they may be.
pub(crate) const TAIL_TOLERANCE: f64 = TOLERANCE * (1.0 + 1.645);

/// A number with its 95 % Monte Carlo interval; in files null stands for what is not finite.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Estimate.
    #[serde(deserialize_with = "or_nan")]
    pub value: f64,
    /// Lower end.
    #[serde(deserialize_with = "or_nan")]
    pub low: f64,
    /// Upper end.
    #[serde(deserialize_with = "or_nan")]
    pub high: f64,
}

/// A number, or NaN for null.
pub(super) fn or_nan<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}

impl Interval {
    /// How far it is wholly outside of `centre` ± `tolerance`, in tolerances from the centre; `None` if some of it is inside.
    pub fn beyond(&self, centre: f64, tolerance: f64) -> Option<f64> {
        let nearest = (self.low - centre).max(centre - self.high);
        (nearest > tolerance).then_some(nearest / tolerance)
    }

    /// Good if it lies inside `low..=high`, not certified if outside, watch if it crosses an end.
    fn within(&self, low: f64, high: f64) -> Verdict {
        if self.low >= low && self.high <= high {
            Verdict::Good
        } else if self.high < low || self.low > high {
            Verdict::NotCertified
        } else {
            Verdict::Watch
        }
    }

    /// Half of the interval's width.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Monte Carlo standard error.
    pub fn error(&self) -> f64 {
        self.half_width() / NORMAL_95
    }
}

/// The comparison of one reported quantity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BiasRow {
    /// Name.
    pub variable: ParamId,
    /// (mean - reference mean) / reference sd. `None` if a chain is too short, constant or not finite.
    pub shift: Option<Interval>,
    /// sd / reference sd.
    pub sd_ratio: Option<Interval>,
    /// (quantile - reference quantile) / reference sd at both [`TAILS`]. They can show bias, but are not asked to show that
    /// there is none: their errors are two to four times that of a mean, and up to 16 times as many draws would be needed.
    pub tails: Option<[Interval; 2]>,
    /// Rank-normalised split R-hat of the reference: a reference that disagrees with itself proves nothing.
    pub reference_rhat: Option<f64>,
    /// Good, not certified where it is off, watch where that cannot be told; too early without enough draws.
    pub verdict: Verdict,
}

impl BiasRow {
    /// The quantiles that are surely off: probability, shift, and how far beyond in tolerances.
    pub fn tails_off(&self) -> impl Iterator<Item = (f64, Interval, f64)> + '_ {
        let tails = TAILS.into_iter().zip(self.tails.iter().flatten());
        tails.filter_map(|(prob, tail)| Some((prob, *tail, tail.beyond(0.0, TAIL_TOLERANCE)?)))
    }
}

/// The comparison of a run with its reference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BiasReport {
    /// One per quantity, in the order given.
    pub rows: Vec<BiasRow>,
    /// The worst row's verdict; watch at best if the reference cannot be trusted.
    pub verdict: Verdict,
    /// The row that decided it: among those of the worst verdict, the one farthest out. `None` without rows.
    pub worst: Option<usize>,
    /// What is wrong with the reference, in one sentence, if its own diagnostics say that something is.
    pub doubt: Option<String>,
    /// What else is known.
    pub evidence: Evidence,
}

impl BiasReport {
    /// The comparison with a reference about which `doubt` was found: it can show bias, but not that there is none.
    #[must_use]
    pub fn doubted(self, doubt: Option<String>) -> Self {
        let verdict = match &doubt {
            Some(_) => worse(self.verdict, Verdict::Watch),
            None => self.verdict,
        };
        Self {
            verdict,
            doubt,
            ..self
        }
    }
}

/// Compares kept draws of an approximate sampler with those of a reference, column by column, in parallel.
///
/// Both come with the weights of their draws, one vector per chain, or none. Every list has one column per name. The
/// intervals hold the Monte Carlo errors of both runs, of means and of
/// standard deviations (independent runs, first order). A mean is good within [`TOLERANCE`] posterior sd of the
/// reference, a standard deviation within the same share of it. A quantile that is surely off is not good either.
pub fn compare(
    names: &[ParamId],
    reference: (&[&DrawList], &[Vec<f64>]),
    approximate: (&[&DrawList], &[Vec<f64>]),
) -> BiasReport {
    let columns: Vec<[usize; 2]> = (0..names.len()).map(|column| [column; 2]).collect();
    compare_columns(names, &columns, reference, approximate)
}

/// [`compare`] of lists with other columns besides: those of each name, in the reference and in the other, are given.
pub fn compare_columns(
    names: &[ParamId],
    columns: &[[usize; 2]],
    (reference, reference_weights): (&[&DrawList], &[Vec<f64>]),
    (approximate, approximate_weights): (&[&DrawList], &[Vec<f64>]),
) -> BiasReport {
    let tables = [
        (reference, reference_weights),
        (approximate, approximate_weights),
    ]
    .map(|(chains, weights)| Tables::new(chains.len(), shortest(chains), weights));
    let rows: Vec<BiasRow> = (names, columns)
        .into_par_iter()
        .map_init(
            || {
                tables
                    .each_ref()
                    .map(|tables| Pooled::new(Arc::clone(tables)))
            },
            |[exact, other], (name, [own, others])| {
                exact.load(|values| append_column(values, reference, *own, shortest(reference)));
                other.load(|values| {
                    append_column(values, approximate, *others, shortest(approximate));
                });
                row(name.clone(), exact, other)
            },
        )
        .collect();
    let worst = (0..rows.len()).max_by(|&i, &j| {
        let distance = |i: usize| excess(&rows[i]);
        severity(rows[i].verdict)
            .cmp(&severity(rows[j].verdict))
            .then(distance(i).total_cmp(&distance(j)))
    });
    BiasReport {
        verdict: worst.map_or(Verdict::TooEarly, |i| rows[i].verdict),
        rows,
        worst,
        doubt: None,
        evidence: Evidence::default(),
    }
}

/// What the comparison needs of one run.
struct Estimates {
    mean: f64,
    mcse_mean: f64,
    sd: f64,
    mcse_sd: f64,
    /// Quantiles at [`TAILS`], each with its error.
    tails: [(f64, f64); 2],
}

fn estimates(pooled: &mut Pooled) -> Option<Estimates> {
    let mut tails = [(0.0, 0.0); 2];
    for (tail, prob) in tails.iter_mut().zip(TAILS) {
        *tail = (
            pooled.quantile(prob).ok()?,
            pooled_mcse_quantile(pooled, prob).ok()?,
        );
    }
    Some(Estimates {
        tails,
        mean: pooled.mean().ok()?,
        mcse_mean: pooled_mcse_mean(pooled).ok()?,
        sd: pooled.sd().ok()?,
        mcse_sd: pooled_mcse_sd(pooled).ok()?,
    })
}

fn row(variable: ParamId, exact: &mut Pooled, other: &mut Pooled) -> BiasRow {
    let reference_rhat = pooled_rhat(exact).ok();
    let (Some(e), Some(o)) = (estimates(exact), estimates(other)) else {
        // Constants have no interval: they agree or they do not.
        let verdict = match (exact.defect(), other.defect()) {
            (Some(Missing::Constant), Some(Missing::Constant)) if exact.mean() == other.mean() => {
                Verdict::Good
            }
            (Some(Missing::Constant), None | Some(Missing::Constant))
            | (None, Some(Missing::Constant)) => Verdict::NotCertified,
            _ => Verdict::TooEarly,
        };
        return BiasRow {
            variable,
            shift: None,
            sd_ratio: None,
            tails: None,
            reference_rhat,
            verdict,
        };
    };
    // Of two estimates with their errors, in sd of the reference, whose own error counts as well.
    let between = |(o, o_error): (f64, f64), (r, r_error): (f64, f64)| {
        let value = (o - r) / e.sd;
        let error = (o_error / e.sd)
            .hypot(r_error / e.sd)
            .hypot(value * e.mcse_sd / e.sd);
        Interval {
            value,
            low: value - NORMAL_95 * error,
            high: value + NORMAL_95 * error,
        }
    };
    let shift = between((o.mean, o.mcse_mean), (e.mean, e.mcse_mean));
    let tails = [0, 1].map(|k| between(o.tails[k], e.tails[k]));
    // On the log scale, where the error of a ratio is symmetric.
    let value = o.sd / e.sd;
    let factor = (NORMAL_95 * (o.mcse_sd / o.sd).hypot(e.mcse_sd / e.sd)).exp();
    let sd_ratio = Interval {
        value,
        low: value / factor,
        high: value * factor,
    };
    let mut row = BiasRow {
        variable,
        shift: Some(shift),
        sd_ratio: Some(sd_ratio),
        tails: Some(tails),
        reference_rhat,
        verdict: worse(
            shift.within(-TOLERANCE, TOLERANCE),
            sd_ratio.within(1.0 - TOLERANCE, 1.0 + TOLERANCE),
        ),
    };
    if row.tails_off().next().is_some() {
        row.verdict = Verdict::NotCertified;
    }
    // A reference that disagrees with itself proves nothing good; what it shows to be wrong stays wrong.
    if reference_rhat.is_none_or(|rhat| rhat > RHAT_LIMIT) {
        row.verdict = worse(row.verdict, Verdict::Watch);
    }
    row
}

/// Farthest point of the intervals outside or inside the band, in tolerances. Of quantiles only those count that are surely off.
fn excess(row: &BiasRow) -> f64 {
    let farthest = |interval: &Interval, centre: f64, tolerance: f64| {
        ((interval.value - centre).abs() + interval.half_width()) / tolerance
    };
    let shift = row.shift.map_or(0.0, |it| farthest(&it, 0.0, TOLERANCE));
    let ratio = row.sd_ratio.map_or(0.0, |it| farthest(&it, 1.0, TOLERANCE));
    row.tails_off()
        .map(|(_, tail, _)| farthest(&tail, 0.0, TAIL_TOLERANCE))
        .fold(shift.max(ratio), f64::max)
}

fn worse(a: Verdict, b: Verdict) -> Verdict {
    if severity(b) > severity(a) { b } else { a }
}

fn severity(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Good => 0,
        Verdict::TooEarly => 1,
        Verdict::Watch => 2,
        Verdict::Bad => 3,
        Verdict::NotCertified => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::normals;

    fn report(exact: &[DrawList], other: &[DrawList]) -> BiasReport {
        let names: Vec<ParamId> = (0..exact[0].width())
            .map(|j| format!("b[{j}]").into())
            .collect();
        compare(
            &names,
            (&exact.iter().collect::<Vec<_>>(), &[]),
            (&other.iter().collect::<Vec<_>>(), &[]),
        )
    }

    #[test]
    fn known_shifts_and_scales_are_measured_and_judged() {
        let exact = normals(1, 4000, &[(3.0, 2.0); 4]);
        let other = normals(2, 4000, &[(3.0, 2.0), (3.8, 2.0), (3.0, 2.6), (3.2, 2.0)]);
        let report = report(&exact, &other);
        let verdicts: Vec<Verdict> = report.rows.iter().map(|row| row.verdict).collect();
        // The last one sits on the edge of the band.
        assert_eq!(
            verdicts,
            [
                Verdict::Good,
                Verdict::NotCertified,
                Verdict::NotCertified,
                Verdict::Watch
            ]
        );
        for (row, (shift, ratio)) in
            report
                .rows
                .iter()
                .zip([(0.0, 1.0), (0.4, 1.0), (0.0, 1.3), (0.1, 1.0)])
        {
            // Three standard errors instead of two, for eight intervals with fixed seeds.
            for (interval, truth) in [(row.shift.unwrap(), shift), (row.sd_ratio.unwrap(), ratio)] {
                assert!(
                    (interval.value - truth).abs() < 1.6 * interval.half_width(),
                    "{row:?}"
                );
            }
            assert!(
                (row.shift.unwrap().half_width() - 1.96 * (2.0_f64 / 16000.0).sqrt()).abs() < 0.005
            );
            for (tail, z) in row.tails.unwrap().iter().zip([-1.645, 1.645]) {
                let truth = shift + z * (ratio - 1.0);
                assert!(
                    (tail.value - truth).abs() < 1.6 * tail.half_width(),
                    "{row:?}"
                );
                // sqrt(p (1 - p)) / density, of which there are two.
                let error =
                    0.05_f64.sqrt() * 0.95_f64.sqrt() / 0.103_136 * (1.0 + ratio * ratio).sqrt();
                let expected = 1.96 * error / 16000.0_f64.sqrt();
                // Known from some fifty draws to either side.
                assert!((tail.half_width() / expected - 1.0).abs() < 0.4, "{row:?}");
            }
        }
        assert_eq!(report.verdict, Verdict::NotCertified);
        assert_eq!(report.worst, Some(1));
    }

    #[test]
    fn short_runs_cannot_prove_the_absence_of_bias() {
        let report = report(
            &normals(3, 60, &[(0.0, 1.0)]),
            &normals(4, 60, &[(0.0, 1.0)]),
        );
        assert_eq!(report.verdict, Verdict::Watch);
    }

    #[test]
    fn a_reference_that_disagrees_with_itself_proves_nothing() {
        let mut exact = normals(5, 1000, &[(0.0, 1.0)]);
        exact[3] = normals(6, 1000, &[(0.5, 1.0)]).remove(0);
        let near = report(&exact, &normals(7, 1000, &[(0.125, 1.0)]));
        assert!(near.rows[0].reference_rhat.unwrap() > RHAT_LIMIT);
        assert_eq!(near.verdict, Verdict::Watch);
        // Nor does it excuse what is far off by any of its chains.
        let far = report(&exact, &normals(7, 1000, &[(30.0, 1.0)]));
        assert_eq!(far.verdict, Verdict::NotCertified);
    }

    #[test]
    fn a_doubted_reference_certifies_nothing() {
        let draws = |seed| normals(seed, 4000, &[(0.0, 1.0)]);
        let same = report(&draws(1), &draws(2));
        assert_eq!(same.clone().doubted(None).verdict, Verdict::Good);
        let doubted = same.doubted(Some("200 transitions diverged".to_owned()));
        assert_eq!(doubted.verdict, Verdict::Watch);
        let off = report(&draws(1), &normals(2, 4000, &[(3.0, 1.0)]));
        let doubted = off.doubted(Some("200 transitions diverged".to_owned()));
        assert_eq!(doubted.verdict, Verdict::NotCertified);
    }

    /// A posterior that is cut off, with the same mean and sd: only its quantiles tell.
    #[test]
    fn a_tail_that_is_missing_is_seen() {
        // Two values with a little noise have quantiles at ± 1 sd, those of a normal are at ± 1.645.
        let two = |seed| {
            let mut lists = normals(seed, 4000, &[(0.0, 1.0)]);
            for list in &mut lists {
                let mut cut = DrawList::new(1);
                for i in 0..list.len() {
                    cut.push(&[list.value(i, 0).signum() + 1e-3 * list.value(i, 0)]);
                }
                *list = cut;
            }
            lists
        };
        let found = report(&normals(10, 4000, &[(0.0, 1.0)]), &two(11));
        let row = &found.rows[0];
        let inside = |it: Option<Interval>, centre| it.unwrap().beyond(centre, TOLERANCE).is_none();
        assert!(
            inside(row.shift, 0.0) && inside(row.sd_ratio, 1.0),
            "{row:?}"
        );
        for (tail, expected) in row.tails.unwrap().iter().zip([0.645, -0.645]) {
            assert!((tail.value - expected).abs() < 0.1, "{row:?}");
        }
        assert_eq!(found.verdict, Verdict::NotCertified);
        let same = report(&two(12), &two(13));
        assert_eq!(same.verdict, Verdict::Good, "{:?}", same.rows);
    }

    #[test]
    fn constants_agree_or_do_not() {
        let report = report(
            &normals(8, 200, &[(1.0, 0.0), (1.0, 0.0)]),
            &normals(9, 200, &[(1.0, 0.0), (2.0, 0.0)]),
        );
        assert_eq!(report.rows[0].verdict, Verdict::Good);
        assert_eq!(report.rows[1].verdict, Verdict::NotCertified);
        assert_eq!(report.worst, Some(1));
    }
}
