//! What is asked of a run and of each variable, and the word that says whether it holds.
//!
//! Limits: R-hat and effective sample sizes from Vehtari, Gelman, Simpson, Carpenter, Bürkner (2021,
//! doi 10.1214/20-BA1221). [`findings`](super::findings) makes the verdict on a run of them.

use std::borrow::Borrow;

use serde::{Deserialize, Serialize};

use super::Missing;
use super::sentence::{count, rhat_text};
use super::summary::SummaryRow;

/// Largest rank-normalised split R-hat of a run that is good.
pub const RHAT_LIMIT: f64 = 1.01;
/// Largest R-hat of a run that can be used with care: the limit that was usual before 1.01, as programs still have it.
pub(crate) const RHAT_BAD: f64 = 1.05;
/// Smallest bulk and tail effective sample size per chain of a run that is good.
pub const ESS_PER_CHAIN: f64 = 100.0;
/// Smallest effective sample size per chain of a run that can be used with care: with 80 effective draws of four chains a mean is
/// known to a ninth of its standard deviation, and with fewer R-hat and the effective sample size are themselves hardly known.
pub(crate) const ESS_BAD_PER_CHAIN: f64 = 20.0;
/// Draws per chain before anything is said; of each group of chains that begin at one point together.
const MIN_DRAWS: usize = 100;
/// Draws of each chain of such a group before anything is said: with fewer there are no effective sample sizes.
const MIN_DRAWS_IN_GROUP: usize = 4;
/// Chains that make R-hat meaningful.
pub const ADVISED_CHAINS: usize = 4;
/// Characters in a verdict sentence.
pub const SENTENCE_LIMIT: usize = 90;

/// The state of a run in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All criteria hold.
    Good,
    /// Usable with care, or not usable yet.
    Watch,
    /// Not usable.
    Bad,
    /// Too few draws to say.
    TooEarly,
    /// An approximate sampler whose bias is unknown or too large: a lack of proof, not a failure to mix.
    NotCertified,
}

impl Verdict {
    /// The word on a badge and in a manifest.
    pub fn word(self) -> &'static str {
        match self {
            Self::Good => "Good",
            Self::Watch => "Watch",
            Self::Bad => "Bad",
            Self::TooEarly => "Too early",
            Self::NotCertified => "Not certified",
        }
    }
}

/// Something that is measured of a variable, with its value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// Effective sample size in the bulk.
    Bulk(f64),
    /// Effective sample size in the tails.
    Tail(f64),
    /// Rank-normalised split R-hat, or nested R-hat where chains begin in groups.
    Rhat(f64),
}

/// What is asked of each variable: one criterion for the verdict, the table and its order.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Chains that work.
    pub chains: usize,
    /// Groups of neighbouring chains that began at one point each, where all chains work. A group counts as one chain does: what is
    /// asked of a chain alone is asked of all its chains together, and nested R-hat says whether the groups agree (Margossian,
    /// Hoffman, Sountsov, Riou-Durand, Vehtari, Gelman 2024, arXiv 2110.13017).
    pub superchains: Option<usize>,
    /// Whether a variable counts; numbers that do not matter for the result decide nothing.
    pub decides: fn(&SummaryRow) -> bool,
}

impl Limits {
    /// Limits for a run with this number of working chains, all of whose variables count.
    pub fn of(chains: usize) -> Self {
        Self {
            chains,
            superchains: None,
            decides: |_row| true,
        }
    }

    /// Chains, or groups of chains that count as one.
    fn units(&self) -> usize {
        self.superchains.unwrap_or(self.chains).max(1)
    }

    /// Neighbouring chains that are judged together: those of a group, or one.
    pub fn chains_per_unit(&self) -> usize {
        (self.chains / self.units()).max(1)
    }

    /// Draws per chain before anything is said.
    pub fn least_draws(&self) -> usize {
        match self.superchains {
            None => MIN_DRAWS,
            Some(_) => MIN_DRAWS
                .div_ceil(self.chains_per_unit())
                .max(MIN_DRAWS_IN_GROUP),
        }
    }

    /// Effective sample size that every variable should have, in the bulk and in the tails.
    pub fn ess(&self) -> f64 {
        ESS_PER_CHAIN * self.units() as f64
    }

    /// Everything that is measured of `row`, with its distance from the limit: above 1 is past it.
    pub(super) fn measures(&self, row: &SummaryRow) -> impl Iterator<Item = (f64, Measure)> {
        let wanted = self.ess();
        [
            row.convergence()
                .map(|rhat| ((rhat - 1.0) / (RHAT_LIMIT - 1.0), Measure::Rhat(rhat))),
            row.ess_bulk.map(|ess| (wanted / ess, Measure::Bulk(ess))),
            row.ess_tail.map(|ess| (wanted / ess, Measure::Tail(ess))),
        ]
        .into_iter()
        .flatten()
    }

    /// The measure of `row` that is farthest beyond its limit, or nearest to it, and its distance.
    pub fn worst(&self, row: &SummaryRow) -> Option<(f64, Measure)> {
        self.measures(row).max_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// How far `row` is from what is asked of it: above 1 it is past a limit, and larger is worse. 0 for a variable that
    /// does not count; 1 where nothing is known.
    pub fn distance(&self, row: &SummaryRow) -> f64 {
        match row.missing {
            Some(Missing::NotFinite | Missing::Weights) => f64::INFINITY,
            _ if !(self.decides)(row) => 0.0,
            Some(_) if row.convergence().is_none() => 1.0,
            _ => self.worst(row).map_or(0.0, |(distance, _)| distance),
        }
    }

    /// The word that `row` alone would give a run that has ended.
    pub fn verdict(&self, row: &SummaryRow) -> Verdict {
        let distance = self.distance(row);
        if distance <= 1.0 {
            return Verdict::Good;
        }
        let is_bad = self.measures(row).any(|(_, measure)| match measure {
            Measure::Rhat(rhat) => rhat > RHAT_BAD,
            Measure::Bulk(ess) | Measure::Tail(ess) => {
                ess < ESS_BAD_PER_CHAIN * self.units() as f64
            }
        });
        if is_bad || distance.is_infinite() {
            Verdict::Bad
        } else {
            Verdict::Watch
        }
    }
}

/// A precision that a run is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Effective draws of every variable, in the bulk and in the tails, all chains together, where they are named.
    pub ess: Option<f64>,
    /// Largest R-hat.
    pub rhat: f64,
}

impl Precision {
    /// Whether all variables have it; those that are constant have nothing to reach.
    pub fn is_met<R: Borrow<SummaryRow>>(self, rows: &[R]) -> bool {
        let mut moving = rows
            .iter()
            .map(Borrow::borrow)
            .filter(|row| row.missing != Some(Missing::Constant))
            .peekable();
        let known = |row: &SummaryRow| {
            row.ess_bulk.is_some() && row.ess_tail.is_some() && row.convergence().is_some()
        };
        moving.peek().is_some()
            && moving.all(|row| known(row) && self.lacks(row).all(|(growth, _)| growth <= 1.0))
    }

    /// What the worst of `rows` lacks, with its numbers, as the rest of a sentence; `None` if nothing is missing.
    pub fn lack_in_words<R: Borrow<SummaryRow>>(self, rows: &[R]) -> Option<String> {
        let (row, lack) = self.worst(rows)?;
        Some(self.words(&row.variable, lack))
    }

    /// What a variable lacks, as the rest of a sentence.
    pub(super) fn words(self, name: &str, lack: Measure) -> String {
        let size = |where_: &str, ess: f64| {
            let wanted = count(self.ess.unwrap_or_default());
            format!(
                "the effective sample size of `{name}`{where_} is {}, not {wanted}",
                count(ess)
            )
        };
        match lack {
            Measure::Bulk(ess) => size("", ess),
            Measure::Tail(ess) => size(" in the tails", ess),
            Measure::Rhat(rhat) => {
                format!(
                    "R-hat of `{name}` is {}, not {} or less",
                    rhat_text(rhat),
                    self.rhat
                )
            }
        }
    }

    /// How many times as many draws `row` would need, for each thing that is asked of it, and its value now. Effective
    /// draws grow in proportion to the draws, and R-hat² - 1 falls in inverse proportion once chains mix.
    fn lacks(self, row: &SummaryRow) -> impl Iterator<Item = (f64, Measure)> {
        let ess = self.ess.unwrap_or_default();
        [
            row.ess_bulk.map(|has| (ess / has, Measure::Bulk(has))),
            row.ess_tail.map(|has| (ess / has, Measure::Tail(has))),
            row.convergence().map(|has| {
                let growth = (has * has - 1.0) / (self.rhat * self.rhat - 1.0);
                (growth, Measure::Rhat(has))
            }),
        ]
        .into_iter()
        .flatten()
    }

    /// The variable that needs most draws, and in what.
    pub(super) fn worst<R: Borrow<SummaryRow>>(self, rows: &[R]) -> Option<(&SummaryRow, Measure)> {
        let lacks = rows
            .iter()
            .map(Borrow::borrow)
            .filter(|row| row.missing.is_none())
            .flat_map(|row| {
                self.lacks(row)
                    .map(move |(growth, lack)| (growth, row, lack))
            });
        let (growth, row, lack) = lacks.max_by(|a, b| a.0.total_cmp(&b.0))?;
        (growth > 1.0).then_some((row, lack))
    }

    /// Draws per chain still needed, 0 if none are. `None` while that cannot be told: no row has a finite R-hat and
    /// effective sample size, or a chain stands still.
    pub fn draws_needed<R: Borrow<SummaryRow>>(
        self,
        rows: &[R],
        draws_per_chain: usize,
    ) -> Option<usize> {
        let rows = rows.iter().map(Borrow::borrow);
        let known = rows.filter(|row| row.missing.is_none());
        let growth = known
            .flat_map(|row| self.lacks(row))
            .map(|(growth, _)| growth)
            .reduce(f64::max)?;
        let needed = (growth.max(1.0) - 1.0) * draws_per_chain as f64;
        needed.is_finite().then(|| needed.ceil() as usize)
    }
}
