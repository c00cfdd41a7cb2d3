//! What tells of the bias of a run besides the comparison with a reference: the kernel Stein discrepancy of its draws, and a run at
//! half its step.

use serde::{Deserialize, Serialize};

use super::{BiasReport, BiasRow, Interval, TOLERANCE, compare, excess, worse};
use crate::stein::Discrepancy;
use crate::verdict::{RHAT_LIMIT, Verdict};
use ergodic_base::ParamId;
use ergodic_base::draws::DrawList;

/// Chance with which draws from the posterior have a discrepancy that speaks against them.
pub const LEVEL: f64 = 0.01;

/// What is known of a bias besides the comparison.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Discrepancies of the draws of the run and of its reference, where scores of the model are known.
    pub discrepancies: Option<[Discrepancy; 2]>,
    /// The bias that a run at half the step tells, where its order in the step is known.
    pub by_step: Option<StepBias>,
    /// What the check cost.
    pub passes: Passes,
}

/// What a check cost, in passes over the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Passes {
    /// Of the reference.
    pub control: f64,
    /// Of the scores that the discrepancies need.
    pub discrepancies: f64,
    /// Of the run at half the step.
    pub half_step: f64,
}

impl Passes {
    /// Passes of all kinds.
    pub fn total(&self) -> f64 {
        self.control + self.discrepancies + self.half_step
    }
}

impl Evidence {
    /// Whether the draws do not look like those of the posterior, by scores with which those of the reference do.
    pub fn is_off_in_shape(&self) -> bool {
        let found = self.discrepancies;
        found.is_some_and(|[run, reference]| run.p_value < LEVEL && reference.p_value >= LEVEL)
    }
}

/// The bias at a step h by Richardson's extrapolation: where it is C h^p to first order, runs at h and at h/2 differ by
/// C h^p (1 − 2^{−p}) (Vollmer, Zygalakis and Teh 2016, "Exploration of the (non-)asymptotic bias and variance of stochastic
/// gradient Langevin dynamics"; Durmus, Simsekli, Moulines, Badeau and Richard 2016, "Stochastic gradient
/// Richardson-Romberg Markov chain Monte Carlo").
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepBias {
    /// p.
    pub order: i32,
    /// Draws per chain of the run at half the step.
    pub draws: usize,
    /// Estimates of all quantities: mean less that at step 0, and ratio of standard deviations, with 95 % Monte Carlo intervals of
    /// both runs. Their verdicts are good or not certified: this can show bias, but is not asked to show that there is none.
    pub rows: Vec<BiasRow>,
    /// The row that is farthest out.
    pub worst: Option<usize>,
}

impl StepBias {
    /// Estimates the bias at the step of `run` from a run at half of it, each with weights of its draws or none, whose bias is of
    /// `order` in the step.
    pub fn of(
        names: &[ParamId],
        order: i32,
        half: (&[&DrawList], &[Vec<f64>]),
        run: (&[&DrawList], &[Vec<f64>]),
    ) -> Self {
        let factor = 1.0 / (1.0 - 0.5_f64.powi(order));
        let draws = half.0.iter().map(|list| list.len()).min().unwrap_or(0);
        let rows = compare(names, half, run).rows.into_iter();
        let rows: Vec<BiasRow> = rows.map(|row| extrapolated(row, factor)).collect();
        let known = (0..rows.len()).filter(|&k| rows[k].shift.is_some());
        Self {
            order,
            draws,
            worst: known.max_by(|&a, &b| {
                let is_off = |k: usize| rows[k].verdict == Verdict::NotCertified;
                let by_verdict = is_off(a).cmp(&is_off(b));
                by_verdict.then(excess(&rows[a]).total_cmp(&excess(&rows[b])))
            }),
            rows,
        }
    }

    /// The quantity that is farthest out, if it is surely outside of the tolerance.
    pub fn off(&self) -> Option<&BiasRow> {
        let worst = &self.rows[self.worst?];
        (worst.verdict == Verdict::NotCertified).then_some(worst)
    }
}

/// The bias that a row tells in which the run at half the step is the reference.
fn extrapolated(mut row: BiasRow, factor: f64) -> BiasRow {
    let scaled = |it: Interval, f: &dyn Fn(f64) -> f64| Interval {
        value: f(it.value),
        low: f(it.low),
        high: f(it.high),
    };
    row.shift = row.shift.map(|it| scaled(it, &|x| factor * x));
    row.sd_ratio = row.sd_ratio.map(|it| scaled(it, &|x| x.powf(factor)));
    // Quantiles have errors that are larger still.
    row.tails = None;
    let beyond = |it: Option<Interval>, centre: f64| it.and_then(|it| it.beyond(centre, TOLERANCE));
    let is_off = beyond(row.shift, 0.0).is_some() || beyond(row.sd_ratio, 1.0).is_some();
    // Errors of chains that do not agree are not known.
    let is_sound = row.reference_rhat.is_some_and(|rhat| rhat <= RHAT_LIMIT);
    row.verdict = match is_off && is_sound {
        true => Verdict::NotCertified,
        false => Verdict::Good,
    };
    row
}

impl BiasReport {
    /// The comparison with what else is known. A bias that the step tells is a bias; draws that do not look like the posterior
    /// though they agree with the reference are not certified.
    #[must_use]
    pub fn with(self, evidence: Evidence) -> Self {
        let mut verdict = self.verdict;
        if evidence
            .by_step
            .as_ref()
            .is_some_and(|it| it.off().is_some())
        {
            verdict = worse(verdict, Verdict::NotCertified);
        }
        if evidence.is_off_in_shape() {
            verdict = worse(verdict, Verdict::Watch);
        }
        Self {
            verdict,
            evidence,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::normals;

    fn names(count: usize) -> Vec<ParamId> {
        (0..count).map(|j| format!("b[{j}]").into()).collect()
    }

    /// Biases c h of a mean and of the logarithm of a standard deviation: at h the truth is c h, what two runs tell 2 (c h − c h/2).
    #[test]
    fn richardson_finds_a_bias_of_first_and_of_second_order() {
        for order in [1, 2] {
            let biased = |h: f64, seed: u64| {
                let size = h.powi(order);
                let columns = [
                    (5.0 + 0.8 * size, 2.0),
                    (0.0, (0.3 * size).exp()),
                    (0.0, 1.0),
                ];
                normals(seed, 4000, &columns)
            };
            let (run, half) = (biased(1.0, 11), biased(0.5, 12));
            let [run, half] = [&run, &half].map(|it| it.iter().collect::<Vec<_>>());
            let found = StepBias::of(&names(3), order, (&half, &[]), (&run, &[]));
            // In standard deviations.
            for (row, (shift, ratio)) in
                (found.rows.iter()).zip([(0.4, 1.0), (0.0, 0.3_f64.exp()), (0.0, 1.0)])
            {
                for (it, truth) in [(row.shift.unwrap(), shift), (row.sd_ratio.unwrap(), ratio)] {
                    // Three standard errors instead of two, and the sd at half the step is the unit.
                    let error = 1.6 * it.half_width() + 0.02;
                    assert!((it.value - truth).abs() < error, "order {order}: {row:?}");
                }
            }
            let verdicts: Vec<Verdict> = found.rows.iter().map(|row| row.verdict).collect();
            use Verdict::{Good, NotCertified};
            assert_eq!(verdicts, [NotCertified, NotCertified, Good]);
            assert_eq!(found.off().unwrap().variable, *"b[0]");
            assert_eq!(found.draws, 4000);
        }
    }

    #[test]
    fn all_evidence_goes_into_one_verdict() {
        let (one, other) = (
            normals(1, 4000, &[(0.0, 1.0)]),
            normals(2, 4000, &[(0.0, 1.0)]),
        );
        let [one, other] = [&one, &other].map(|it| it.iter().collect::<Vec<_>>());
        let good = || compare(&names(1), (&one, &[]), (&other, &[]));
        assert_eq!(good().with(Evidence::default()).verdict, Verdict::Good);
        let of = |p_value: f64| Discrepancy {
            points: 100,
            squared: 0.1,
            limit: 0.05,
            p_value,
        };
        let shape = |run: f64, control: f64| Evidence {
            discrepancies: Some([of(run), of(control)]),
            ..Evidence::default()
        };
        assert_eq!(good().with(shape(0.5, 0.5)).verdict, Verdict::Good);
        assert_eq!(good().with(shape(0.001, 0.5)).verdict, Verdict::Watch);
        // What speaks against the control as well says nothing of the run.
        assert_eq!(good().with(shape(0.001, 0.001)).verdict, Verdict::Good);
        let far = normals(3, 4000, &[(0.5, 1.0)]);
        let far: Vec<&DrawList> = far.iter().collect();
        let by_step = Evidence {
            by_step: Some(StepBias::of(&names(1), 1, (&one, &[]), (&far, &[]))),
            ..Evidence::default()
        };
        assert_eq!(good().with(by_step).verdict, Verdict::NotCertified);
    }
}
