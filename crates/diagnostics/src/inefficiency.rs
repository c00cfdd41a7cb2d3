//! How much a run pays for an independent draw: inefficiency factor and computational time of Quiroz, Kohn, Villani, Tran
//! (2019, doi 10.1080/01621459.2018.1448827).

use ergodic_base::numerals::significant;
use serde::Serialize;

use super::quantiles::of_sorted;
use super::summary::SummaryRow;

/// Smallest, median and largest value over variables.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Of the best variable.
    pub minimum: f64,
    /// Median over variables.
    pub median: f64,
    /// Of the worst variable.
    pub maximum: f64,
}

impl Spread {
    /// `None` without values.
    fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_unstable_by(f64::total_cmp);
        Some(Self {
            minimum: *values.first()?,
            median: of_sorted(&values, 0.5),
            maximum: *values.last()?,
        })
    }

    fn words(self) -> String {
        let [least, middle, most] =
            [self.minimum, self.median, self.maximum].map(|x| significant(x, 3));
        format!("minimum {least}, median {middle}, maximum {most}")
    }

    fn times(self, factor: f64) -> Self {
        Self {
            minimum: factor * self.minimum,
            median: factor * self.median,
            maximum: factor * self.maximum,
        }
    }
}

/// What independent draws cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Inefficiency {
    /// Draws per effective draw of the mean: 1 + 2 Σ of autocorrelations.
    pub factor: Spread,
    /// Seconds of sampling per effective draw of the mean, all chains together: the factor times the seconds per draw. Missing where
    /// seconds are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub computational_time: Option<Spread>,
}

impl Inefficiency {
    /// Of the variables in `rows`, which are summaries of `draws` draws of all chains, made in `seconds` seconds, 0 if unknown. `None`
    /// if no variable has an effective sample size.
    pub fn of<'a>(
        rows: impl IntoIterator<Item = &'a SummaryRow>,
        draws: usize,
        seconds: f64,
    ) -> Option<Self> {
        let factors = rows.into_iter().filter_map(|row| row.inefficiency(draws));
        let factor = Spread::of(factors.collect())?;
        Some(Self {
            factor,
            computational_time: (seconds > 0.0).then(|| factor.times(seconds / draws as f64)),
        })
    }

    /// The factors and, where they are known, the times over all variables, in a line each.
    pub fn lines(&self) -> Vec<String> {
        let factor = format!("Inefficiency factor: {}", self.factor.words());
        let time = self.computational_time;
        let time = time.map(|time| format!("Computational time in seconds: {}", time.words()));
        [factor].into_iter().chain(time).collect()
    }
}

impl SummaryRow {
    /// Effective sample size of the mean, from what its error says: (sd / mcse_mean)².
    pub fn ess_mean(&self) -> Option<f64> {
        let ratio = self.sd? / self.mcse_mean?;
        Some(ratio * ratio).filter(|ess| ess.is_finite() && *ess > 0.0)
    }

    /// Inefficiency factor of the mean, with `draws` draws of all chains behind the row.
    pub fn inefficiency(&self, draws: usize) -> Option<f64> {
        Some(draws as f64 / self.ess_mean()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ess::ess_mean;
    use crate::summarise;
    use ergodic_base::draws::DrawList;

    #[test]
    fn factors_are_draws_over_effective_sizes_and_times_follow() {
        let mut list = DrawList::new(3);
        for i in 0..400_u32 {
            // A walk through 20 places, a scattered sequence, and one that stands still.
            list.push(&[f64::from(i / 20), f64::from(i * 37 % 101), 1.0]);
        }
        let names = ["a", "b", "c"].map(Into::into);
        let rows = summarise(&names, &[&list], &[], 2.0);
        let expected = [0, 1].map(|j| 400.0 / ess_mean(&[&list.column(j)]).unwrap());
        assert!(expected[0] > expected[1]);
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-12;
        let found = Inefficiency::of(&rows, 400, 2.0).unwrap();
        assert!(close(found.factor.maximum, expected[0]), "{found:?}");
        assert!(close(found.factor.minimum, expected[1]), "{found:?}");
        assert!(close(
            found.factor.median,
            0.5 * (expected[0] + expected[1])
        ));
        let time = found.computational_time.unwrap();
        assert!(close(time.maximum, 2.0 * expected[0] / 400.0), "{time:?}");
        assert_eq!(rows[2].inefficiency(400), None);
        assert_eq!(Inefficiency::of(&rows[2..], 400, 2.0), None);
        let lines = found.lines();
        assert_eq!(lines.len(), 2);
        let least = significant(found.factor.minimum, 3);
        assert!(lines[0].starts_with(&format!("Inefficiency factor: minimum {least}, median ")));
        assert!(lines[1].starts_with("Computational time in seconds: minimum "));
        let untimed = Inefficiency::of(&rows, 400, 0.0).unwrap();
        assert_eq!(untimed.lines().len(), 1);
        assert_eq!(untimed.computational_time, None);
    }
}
