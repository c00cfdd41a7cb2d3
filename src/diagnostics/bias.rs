//! How far an approximate sampler is from the truth, measured against draws of an exact one.
//!
//! R-hat and effective sample size cannot see this error: they measure mixing towards a target that may be wrong.

use std::sync::Arc;

use rayon::prelude::*;

use super::Missing;
use super::mcse::{pooled_mcse_mean, pooled_mcse_sd};
use super::pooled::{Pooled, Tables};
use super::rhat::pooled_rhat;
use super::summary::{append_column, shortest};
use super::verdict::{RHAT_LIMIT, Verdict};
use crate::base::draws::DrawList;

/// Largest shift of a mean that is tolerated, in posterior sd; and the same for the sd, as a share of it.
pub const TOLERANCE: f64 = 0.1;

/// Half width of a 95 % interval in standard errors.
const NORMAL_95: f64 = 1.959_963_984_540_054;

/// A number with its 95 % Monte Carlo interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Estimate.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
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
}

/// The comparison of one reported quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct BiasRow {
    /// Name.
    pub variable: String,
    /// (mean - reference mean) / reference sd. `None` if a chain is too short, constant or not finite.
    pub shift: Option<Interval>,
    /// sd / reference sd.
    pub sd_ratio: Option<Interval>,
    /// Rank-normalised split R-hat of the reference: a reference that disagrees with itself proves nothing.
    pub reference_rhat: Option<f64>,
    /// Good, not certified where it is off, watch where that cannot be told; too early without enough draws.
    pub verdict: Verdict,
}

/// The comparison of a run with its reference.
#[derive(Clone, Debug, PartialEq)]
pub struct BiasReport {
    /// One per quantity, in the order given.
    pub rows: Vec<BiasRow>,
    /// The worst row's verdict; watch at best if the reference cannot be trusted.
    pub verdict: Verdict,
    /// The row that decided it: among those of the worst verdict, the one farthest out. `None` without rows.
    pub worst: Option<usize>,
    /// What is wrong with the reference, in one sentence, if its own diagnostics say that something is.
    pub doubt: Option<String>,
}

impl BiasReport {
    /// The same comparison with a reference about which `doubt` was found: it can show bias, but not that there is none.
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
/// reference, a standard deviation within the same share of it.
pub fn compare(
    names: &[String],
    (reference, reference_weights): (&[&DrawList], &[Vec<f64>]),
    (approximate, approximate_weights): (&[&DrawList], &[Vec<f64>]),
) -> BiasReport {
    let tables = [
        (reference, reference_weights),
        (approximate, approximate_weights),
    ]
    .map(|(chains, weights)| Tables::new(chains.len(), shortest(chains), weights));
    let rows: Vec<BiasRow> = (names, 0..names.len())
        .into_par_iter()
        .map_init(
            || {
                tables
                    .each_ref()
                    .map(|tables| Pooled::new(Arc::clone(tables)))
            },
            |[exact, other], (name, column)| {
                exact.load(|values| append_column(values, reference, column, shortest(reference)));
                other.load(|values| {
                    append_column(values, approximate, column, shortest(approximate));
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
    }
}

/// What the comparison needs of one run.
struct Estimates {
    mean: f64,
    mcse_mean: f64,
    sd: f64,
    mcse_sd: f64,
}

fn estimates(pooled: &mut Pooled) -> Option<Estimates> {
    Some(Estimates {
        mean: pooled.mean().ok()?,
        mcse_mean: pooled_mcse_mean(pooled).ok()?,
        sd: pooled.sd().ok()?,
        mcse_sd: pooled_mcse_sd(pooled).ok()?,
    })
}

fn row(variable: String, exact: &mut Pooled, other: &mut Pooled) -> BiasRow {
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
            reference_rhat,
            verdict,
        };
    };
    let value = (o.mean - e.mean) / e.sd;
    let error = (o.mcse_mean / e.sd)
        .hypot(e.mcse_mean / e.sd)
        .hypot(value * e.mcse_sd / e.sd);
    let shift = Interval {
        value,
        low: value - NORMAL_95 * error,
        high: value + NORMAL_95 * error,
    };
    // On the log scale, where the error of a ratio is symmetric.
    let value = o.sd / e.sd;
    let factor = (NORMAL_95 * (o.mcse_sd / o.sd).hypot(e.mcse_sd / e.sd)).exp();
    let sd_ratio = Interval {
        value,
        low: value / factor,
        high: value * factor,
    };
    let mut verdict = worse(
        shift.within(-TOLERANCE, TOLERANCE),
        sd_ratio.within(1.0 - TOLERANCE, 1.0 + TOLERANCE),
    );
    // A reference that disagrees with itself proves nothing good; what it shows to be wrong stays wrong.
    if reference_rhat.is_none_or(|rhat| rhat > RHAT_LIMIT) {
        verdict = worse(verdict, Verdict::Watch);
    }
    BiasRow {
        variable,
        shift: Some(shift),
        sd_ratio: Some(sd_ratio),
        reference_rhat,
        verdict,
    }
}

/// Farthest point of the intervals outside or inside the band, in tolerances.
fn excess(row: &BiasRow) -> f64 {
    let shift = row.shift.map_or(0.0, |s| s.value.abs() + s.half_width());
    let ratio = row
        .sd_ratio
        .map_or(0.0, |r| (r.value - 1.0).abs() + r.half_width());
    shift.max(ratio)
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
    use crate::base::rng::{Purpose, stream};
    use rand::RngExt as _;
    use rand_distr::StandardNormal;

    fn chains(seed: u64, draws: usize, columns: &[(f64, f64)]) -> Vec<DrawList> {
        (0..4)
            .map(|chain| {
                let mut rng = stream(seed, chain, Purpose::Diagnostics);
                let mut list = DrawList::new(columns.len());
                for _ in 0..draws {
                    let row: Vec<f64> = columns
                        .iter()
                        .map(|(mean, sd)| mean + sd * rng.sample::<f64, _>(StandardNormal))
                        .collect();
                    list.push(&row);
                }
                list
            })
            .collect()
    }

    fn report(exact: &[DrawList], other: &[DrawList]) -> BiasReport {
        let names: Vec<String> = (0..exact[0].width()).map(|j| format!("b[{j}]")).collect();
        compare(
            &names,
            (&exact.iter().collect::<Vec<_>>(), &[]),
            (&other.iter().collect::<Vec<_>>(), &[]),
        )
    }

    #[test]
    fn known_shifts_and_scales_are_measured_and_judged() {
        let exact = chains(1, 4000, &[(3.0, 2.0); 4]);
        let other = chains(2, 4000, &[(3.0, 2.0), (3.8, 2.0), (3.0, 2.6), (3.2, 2.0)]);
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
        }
        assert_eq!(report.verdict, Verdict::NotCertified);
        assert_eq!(report.worst, Some(1));
    }

    #[test]
    fn short_runs_cannot_prove_the_absence_of_bias() {
        let report = report(&chains(3, 60, &[(0.0, 1.0)]), &chains(4, 60, &[(0.0, 1.0)]));
        assert_eq!(report.verdict, Verdict::Watch);
    }

    #[test]
    fn a_reference_that_disagrees_with_itself_proves_nothing() {
        let mut exact = chains(5, 1000, &[(0.0, 1.0)]);
        exact[3] = chains(6, 1000, &[(0.5, 1.0)]).remove(0);
        let near = report(&exact, &chains(7, 1000, &[(0.125, 1.0)]));
        assert!(near.rows[0].reference_rhat.unwrap() > RHAT_LIMIT);
        assert_eq!(near.verdict, Verdict::Watch);
        // Nor does it excuse what is far off by any of its chains.
        let far = report(&exact, &chains(7, 1000, &[(30.0, 1.0)]));
        assert_eq!(far.verdict, Verdict::NotCertified);
    }

    #[test]
    fn a_doubted_reference_certifies_nothing() {
        let draws = |seed| chains(seed, 4000, &[(0.0, 1.0)]);
        let same = report(&draws(1), &draws(2));
        assert_eq!(same.clone().doubted(None).verdict, Verdict::Good);
        let doubted = same.doubted(Some("200 transitions diverged".to_owned()));
        assert_eq!(doubted.verdict, Verdict::Watch);
        let off = report(&draws(1), &chains(2, 4000, &[(3.0, 1.0)]));
        let doubted = off.doubted(Some("200 transitions diverged".to_owned()));
        assert_eq!(doubted.verdict, Verdict::NotCertified);
    }

    #[test]
    fn constants_agree_or_do_not() {
        let report = report(
            &chains(8, 200, &[(1.0, 0.0), (1.0, 0.0)]),
            &chains(9, 200, &[(1.0, 0.0), (2.0, 0.0)]),
        );
        assert_eq!(report.rows[0].verdict, Verdict::Good);
        assert_eq!(report.rows[1].verdict, Verdict::NotCertified);
        assert_eq!(report.worst, Some(1));
    }
}
