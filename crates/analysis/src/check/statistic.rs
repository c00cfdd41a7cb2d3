//! Test statistics: one number of a data set, of the observed one and of replicated ones.
//!
//! The posterior predictive p-value is the share of replicated data sets with a statistic at least as large as the observed one
//! (Gelman, Meng and Stern 1996), or at least as small where that share is smaller.

use super::{Band, SURPRISING};
use ergodic_base::numerals::{brief, fixed, thousands};
use ergodic_core::design::{ResponseInfo, ResponseKind};

/// A number of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Statistic {
    /// Mean.
    Mean,
    /// Standard deviation (divisor n − 1).
    Sd,
    /// The smallest.
    Least,
    /// The largest.
    Largest,
    /// Share of rows that are 0.
    Zeros,
    /// Share of successes, all trials together.
    Successes,
}

impl Statistic {
    /// The statistics that suit an outcome.
    pub fn of(kind: &ResponseKind) -> &'static [Self] {
        match kind {
            ResponseKind::Binary { .. } => &[Self::Successes],
            ResponseKind::Successes => &[Self::Successes, Self::Sd, Self::Least, Self::Largest],
            ResponseKind::Count { .. } => &[
                Self::Mean,
                Self::Sd,
                Self::Least,
                Self::Largest,
                Self::Zeros,
            ],
            // Their frequencies are in the picture.
            ResponseKind::Unordered { .. } => &[],
            _ => &[Self::Mean, Self::Sd, Self::Least, Self::Largest],
        }
    }

    /// Name in tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Sd => "sd",
            Self::Least => "min",
            Self::Largest => "max",
            Self::Zeros => "share of zeros",
            Self::Successes => "share of successes",
        }
    }

    /// At the start of a sentence.
    fn subject(self, response: &ResponseInfo) -> String {
        let outcome = match response.kind {
            ResponseKind::Successes => "share of successes in a row",
            _ => "outcome",
        };
        match self {
            Self::Mean => format!("The mean of {}", response.column()),
            Self::Sd if response.kind == ResponseKind::Successes => {
                "The standard deviation of the shares of successes".to_owned()
            }
            Self::Sd => format!("The standard deviation of {}", response.column()),
            Self::Least => format!("The smallest {outcome}"),
            Self::Largest => format!("The largest {outcome}"),
            Self::Zeros => "The share of zeros".to_owned(),
            Self::Successes => match response.success() {
                Some(success) => {
                    format!("The share of rows where {} is {success}", response.column())
                }
                None => "The share of successes".to_owned(),
            },
        }
    }
}

/// What statistics of a data set are made of, one outcome after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tally {
    /// What is taken from outcomes before they are added up.
    centre: f64,
    rows: f64,
    trials: f64,
    /// Of outcomes, successes of all trials together.
    sum: f64,
    /// Of outcomes per trial.
    shares: f64,
    squares: f64,
    least: f64,
    largest: f64,
    zeros: f64,
}

impl Tally {
    /// Of no rows.
    pub(super) fn new(centre: f64) -> Self {
        Self {
            centre,
            rows: 0.0,
            trials: 0.0,
            sum: 0.0,
            shares: 0.0,
            squares: 0.0,
            least: f64::INFINITY,
            largest: f64::NEG_INFINITY,
            zeros: 0.0,
        }
    }

    /// Adds an outcome.
    pub(super) fn add(&mut self, y: f64, trials: f64) {
        let share = y / trials;
        let away = share - self.centre;
        self.rows += 1.0;
        self.trials += trials;
        self.sum += y - trials * self.centre;
        self.shares += away;
        self.squares += away * away;
        self.least = self.least.min(share);
        self.largest = self.largest.max(share);
        self.zeros += f64::from(u8::from(y == 0.0));
    }

    /// Adds other rows.
    pub(super) fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        self.trials += other.trials;
        self.sum += other.sum;
        self.shares += other.shares;
        self.squares += other.squares;
        self.least = self.least.min(other.least);
        self.largest = self.largest.max(other.largest);
        self.zeros += other.zeros;
    }

    /// The statistic of the rows added.
    pub(super) fn value(&self, statistic: Statistic) -> f64 {
        match statistic {
            Statistic::Mean | Statistic::Successes => self.centre + self.sum / self.trials,
            Statistic::Sd => {
                let mean = self.shares / self.rows;
                let squares = self.squares - self.rows * mean * mean;
                (squares.max(0.0) / (self.rows - 1.0)).sqrt()
            }
            Statistic::Least => self.least,
            Statistic::Largest => self.largest,
            Statistic::Zeros => self.zeros / self.rows,
        }
    }
}

/// A statistic of the observed data among those of replicated data.
#[derive(Clone, Debug, PartialEq)]
pub struct TestStatistic {
    /// The statistic.
    pub statistic: Statistic,
    /// Of the observed data.
    pub observed: f64,
    /// Of replicated data.
    pub replicated: Band,
    /// Share of replicated data sets whose statistic is at least as large as the observed one.
    pub at_least: f64,
    /// Share of replicated data sets whose statistic is at most as large as the observed one.
    pub at_most: f64,
    /// Of each replicated data set, ascending.
    pub values: Vec<f64>,
}

impl TestStatistic {
    /// The statistics that suit an outcome.
    pub(super) fn all(kind: &ResponseKind, observed: &Tally, replicated: &[Tally]) -> Vec<Self> {
        let of = |&statistic: &Statistic| {
            let values = replicated.iter().map(|tally| tally.value(statistic));
            Self::of(statistic, observed.value(statistic), values.collect())
        };
        let all = Statistic::of(kind).iter().map(of);
        // The standard deviation of a single row is no number.
        all.filter(|statistic| statistic.observed.is_finite())
            .collect()
    }

    /// An observed value among replicated ones; those that are no number count as larger.
    pub fn of(statistic: Statistic, observed: f64, mut replicated: Vec<f64>) -> Self {
        replicated.sort_unstable_by(f64::total_cmp);
        let count = replicated.len();
        let share = |holds: &dyn Fn(&f64) -> bool| {
            replicated.iter().filter(|value| holds(value)).count() as f64 / count as f64
        };
        let at_most = share(&|value| *value <= observed);
        let below = share(&|value| *value < observed);
        Self {
            statistic,
            observed,
            at_least: 1.0 - below,
            at_most,
            replicated: Band::of(&mut replicated),
            values: replicated,
        }
    }

    /// Share of replicated data sets that are at least as far out on the side where the observed statistic lies.
    pub fn p(&self) -> f64 {
        self.at_least.min(self.at_most)
    }

    /// The p-value as it is written: one that no replicated data set reaches is below one in their number.
    pub fn p_in_words(&self) -> String {
        p_in_words(self.p(), self.values.len())
    }

    /// Whether the observed statistic is not like those of the model.
    pub fn is_surprising(&self) -> bool {
        monte_carlo_p(self.p(), self.values.len()) < 0.5 * SURPRISING
    }

    /// Where the observed statistic lies, in one sentence.
    pub fn sentence(&self, response: &ResponseInfo) -> String {
        let subject = self.statistic.subject(response);
        let (side, share) = if self.at_least <= self.at_most {
            ("larger", 1.0 - self.at_least)
        } else {
            ("smaller", 1.0 - self.at_most)
        };
        let share = if share == 1.0 {
            format!(
                "all {} replicated data sets",
                thousands(self.values.len() as u64)
            )
        } else {
            format!("{} % of replicated data sets", fixed(100.0 * share, 1))
        };
        format!(
            "{subject}, {}, is {side} than in {share}: {}",
            brief(self.observed),
            self.p_in_words()
        )
    }
}

/// The p-value of a share of `count` data sets to judge by, with the observed data counted among them (Davison and Hinkley 1997, section
/// 4.2): few data sets that reach nothing say little.
pub(super) fn monte_carlo_p(share: f64, count: usize) -> f64 {
    let count = count as f64;
    (share * count + 1.0) / (count + 1.0)
}

/// A share of `count` data sets as a p-value: "p = 0.003".
pub(super) fn p_in_words(p: f64, count: usize) -> String {
    if p <= 0.0 {
        let decimals = (count as f64).log10().ceil().max(1.0) as usize;
        return format!("p < {}", fixed(1.0 / count as f64, decimals));
    }
    format!("p = {}", fixed(p, 3))
}
