//! One word and one sentence about a run: what holds, why, and what to do next.
//!
//! Limits: R-hat and effective sample sizes from Vehtari, Gelman, Simpson, Carpenter, Bürkner (2021,
//! doi 10.1214/20-BA1221), divergences from Betancourt (2017, arXiv 1701.02434).

use serde::{Deserialize, Serialize};

use super::Missing;
use super::bias::BiasReport;
use super::sentence::{count, duration, rhat_text, sentence};
use super::summary::SummaryRow;

/// Largest rank-normalised split R-hat of a usable run.
pub const RHAT_LIMIT: f64 = 1.01;
/// Smallest bulk and tail effective sample size per chain.
pub const ESS_PER_CHAIN: f64 = 100.0;
/// Draws per chain before anything is said.
pub const MIN_DRAWS: usize = 100;
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

/// What a verdict is made of.
#[derive(Clone, Copy, Debug)]
pub struct VerdictInputs<'a> {
    /// Summary of the kept draws of the chains that work.
    pub rows: &'a [SummaryRow],
    /// Kept draws in the shortest working chain.
    pub draws_per_chain: usize,
    /// Whether more draws are coming.
    pub running: bool,
    /// Chains asked for.
    pub chains: usize,
    /// Chains that ended with an error, 1-based.
    pub failed: &'a [usize],
    /// Chains that do not move, 1-based.
    pub stuck: &'a [usize],
    /// Divergent transitions after warm-up, over all chains.
    pub divergences: u64,
    /// Name of the sampler if its target is approximate ("SGLD-CV"); `None` for an exact sampler.
    pub biased: Option<&'a str>,
    /// Result of the bias check, if it has run.
    pub bias: Option<&'a BiasReport>,
    /// Estimated seconds until the criteria hold, while running.
    pub secs_to_target: Option<f64>,
    /// The precision that was to end the run, if something else has ended it.
    pub target: Option<Precision>,
}

/// A precision that a run is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Effective draws of every variable, in the bulk and in the tails, all chains together, where they are named.
    pub ess: Option<f64>,
    /// Largest R-hat.
    pub rhat: f64,
}

/// In what a variable falls short of a precision, and its value.
#[derive(Clone, Copy, Debug)]
enum Lack {
    Bulk(f64),
    Tail(f64),
    Rhat(f64),
}

impl Precision {
    /// Whether all variables have it; those that are constant have nothing to reach.
    pub fn is_met(self, rows: &[SummaryRow]) -> bool {
        let mut moving = rows
            .iter()
            .filter(|row| row.missing != Some(Missing::Constant))
            .peekable();
        let known = |row: &SummaryRow| {
            row.ess_bulk.is_some() && row.ess_tail.is_some() && row.rhat.is_some()
        };
        moving.peek().is_some()
            && moving.all(|row| known(row) && self.lacks(row).all(|(growth, _)| growth <= 1.0))
    }

    /// What `rows` lack: a sentence with the worst variable and numbers, and what to do. `None` if nothing is missing.
    pub fn shortfall(
        self,
        rows: &[SummaryRow],
        draws_per_chain: usize,
    ) -> Option<(String, String)> {
        let (row, lack) = self.worst(rows)?;
        let name = &row.variable;
        let wanted = count(self.ess.unwrap_or_default());
        let what = match lack {
            Lack::Bulk(ess) => format!(
                "`{name}` has {} effective draws of the {wanted} asked for",
                count(ess)
            ),
            Lack::Tail(ess) => {
                format!(
                    "`{name}` has {} effective draws in its tails of the {wanted} asked for",
                    count(ess)
                )
            }
            Lack::Rhat(rhat) => {
                format!(
                    "R-hat of `{name}` is {}, at most {} was asked for",
                    rhat_text(rhat),
                    self.rhat
                )
            }
        };
        let remedy = match self.draws_needed(rows, draws_per_chain) {
            Some(draws) => format!("add about {} draws per chain", count(draws as f64)),
            None => "add draws".to_owned(),
        };
        Some((format!("The run ended short of its target: {what}"), remedy))
    }

    /// How many times as many draws `row` would need, for each thing that is asked of it, and its value now. Effective
    /// draws grow in proportion to the draws, and R-hat² - 1 falls in inverse proportion once chains mix.
    fn lacks(self, row: &SummaryRow) -> impl Iterator<Item = (f64, Lack)> {
        let ess = self.ess.unwrap_or_default();
        [
            row.ess_bulk.map(|has| (ess / has, Lack::Bulk(has))),
            row.ess_tail.map(|has| (ess / has, Lack::Tail(has))),
            row.rhat.map(|has| {
                let growth = (has * has - 1.0) / (self.rhat * self.rhat - 1.0);
                (growth, Lack::Rhat(has))
            }),
        ]
        .into_iter()
        .flatten()
    }

    /// The variable that needs most draws, and in what.
    fn worst(self, rows: &[SummaryRow]) -> Option<(&SummaryRow, Lack)> {
        let lacks = rows
            .iter()
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
    pub fn draws_needed(self, rows: &[SummaryRow], draws_per_chain: usize) -> Option<usize> {
        let known = rows.iter().filter(|row| row.missing.is_none());
        let growth = known
            .flat_map(|row| self.lacks(row))
            .map(|(growth, _)| growth)
            .reduce(f64::max)?;
        let needed = (growth.max(1.0) - 1.0) * draws_per_chain as f64;
        needed.is_finite().then(|| needed.ceil() as usize)
    }
}

/// Judges a run: the verdict, and a sentence of at most [`SENTENCE_LIMIT`] characters without a final period.
/// Names of variables stand between backticks. The first of these that applies decides: no working chain, too few
/// draws, values that are not finite or chains that stand still, missing proof for an approximate sampler, R-hat,
/// effective sample size, divergences, failed chains, doubtful bias, a target that was missed, fewer than four chains.
pub fn judge(inputs: &VerdictInputs<'_>) -> (Verdict, String) {
    let failure = judge_failure(inputs);
    failure
        .or_else(|| judge_bias(inputs))
        .or_else(|| judge_mixing(inputs))
        .or_else(|| judge_cautions(inputs))
        .or_else(|| judge_target(inputs))
        .or_else(|| judge_chains(inputs))
        .unwrap_or_else(|| (Verdict::Good, praise(inputs)))
}

fn judge_failure(inputs: &VerdictInputs<'_>) -> Option<(Verdict, String)> {
    let chains = inputs.chains;
    let working = working(inputs);
    if working == 0 {
        let which = if chains == 1 {
            "the chain".to_owned()
        } else {
            format!("all {chains} chains")
        };
        return Some((
            Verdict::Bad,
            format!("Not usable: {which} failed; the log says why"),
        ));
    }
    if inputs.draws_per_chain < MIN_DRAWS {
        let draws = inputs.draws_per_chain;
        let next = if inputs.running {
            time_left(inputs)
        } else {
            Some("add draws".to_owned())
        };
        let before = format!("Too early: {draws} of {MIN_DRAWS} draws per chain needed to judge");
        return Some((
            Verdict::TooEarly,
            sentence(&before, None, "", next.as_deref()),
        ));
    }
    if let Some(row) = inputs
        .rows
        .iter()
        .find(|row| row.missing == Some(Missing::NotFinite))
    {
        let text = sentence(
            "Not usable: ",
            Some(&row.variable),
            " is not finite in some draws",
            Some("check the priors"),
        );
        return Some((Verdict::Bad, text));
    }
    if inputs
        .rows
        .iter()
        .any(|row| row.missing == Some(Missing::Weights))
    {
        let text = "Not usable: the weights of the draws cancel";
        let next = if inputs.running {
            None
        } else {
            Some("add draws or raise the batch size")
        };
        return Some((Verdict::Bad, sentence(text, None, "", next)));
    }
    if let Some(&chain) = inputs.stuck.first() {
        let what = if inputs.stuck.len() == 1 {
            format!("chain {chain} stands still")
        } else {
            format!("{} of {chains} chains stand still", inputs.stuck.len())
        };
        return Some((
            Verdict::Bad,
            format!("Not usable: {what}; run again with another seed or sampler"),
        ));
    }
    if !inputs.rows.is_empty()
        && inputs
            .rows
            .iter()
            .all(|row| row.missing == Some(Missing::Constant))
    {
        return Some((
            Verdict::Bad,
            "Not usable: no variable has moved; run again with another sampler".to_owned(),
        ));
    }
    None
}

fn judge_bias(inputs: &VerdictInputs<'_>) -> Option<(Verdict, String)> {
    let sampler = inputs.biased?;
    let mixes = judge_mixing(inputs).is_none();
    let Some(report) = inputs
        .bias
        .filter(|report| report.verdict != Verdict::TooEarly)
    else {
        let before = if mixes {
            format!("Not certified: mixing is fine, the bias of {sampler} is not checked")
        } else {
            format!("Not certified: chains do not mix yet and {sampler} is approximate")
        };
        let next = if inputs.running {
            None
        } else {
            Some("run the bias check")
        };
        return Some((Verdict::NotCertified, sentence(&before, None, "", next)));
    };
    if report.verdict != Verdict::NotCertified {
        return None;
    }
    let row = &report.rows[report.worst?];
    let next = Some("take a smaller step");
    let outside = |value: f64| value.abs() > super::bias::TOLERANCE;
    let text = match (row.shift, row.sd_ratio) {
        (Some(shift), _) if outside(shift.value) => {
            let after = format!(
                " is off by {:.2} ± {:.2} sd",
                shift.value.abs(),
                shift.half_width()
            );
            sentence("Not certified: ", Some(&row.variable), &after, next)
        }
        (_, Some(ratio)) => {
            let after = format!(
                " is {:.2} ± {:.2} times too wide",
                ratio.value,
                ratio.half_width()
            );
            let narrow = format!(
                " has {:.2} ± {:.2} of its width",
                ratio.value,
                ratio.half_width()
            );
            let after = if ratio.value > 1.0 { after } else { narrow };
            sentence("Not certified: ", Some(&row.variable), &after, next)
        }
        _ => sentence(
            "Not certified: ",
            Some(&row.variable),
            " is constant in one of the runs",
            next,
        ),
    };
    Some((Verdict::NotCertified, text))
}

fn judge_mixing(inputs: &VerdictInputs<'_>) -> Option<(Verdict, String)> {
    let (state, next) = if inputs.running {
        ("Not usable yet: ", time_left(inputs))
    } else {
        ("Not usable: ", Some("add draws".to_owned()))
    };
    let largest = |f: fn(&SummaryRow) -> Option<f64>| {
        let values = inputs.rows.iter().filter_map(|row| Some((row, f(row)?)));
        values.max_by(|a, b| a.1.total_cmp(&b.1))
    };
    if let Some((row, rhat)) = largest(|row| row.rhat).filter(|(_, rhat)| *rhat > RHAT_LIMIT) {
        let cause = if working(inputs) == 1 {
            "the chain still drifts in "
        } else {
            "chains disagree on "
        };
        let verdict = if inputs.running && rhat.is_finite() {
            Verdict::Watch
        } else {
            Verdict::Bad
        };
        let after = if inputs.running {
            String::new()
        } else {
            format!(" (R-hat {})", rhat_text(rhat))
        };
        let before = format!("{state}{cause}");
        return Some((
            verdict,
            sentence(&before, Some(&row.variable), &after, next.as_deref()),
        ));
    }
    let wanted = ESS_PER_CHAIN * working(inputs) as f64;
    let least_ess = |row: &SummaryRow| match (row.ess_bulk, row.ess_tail) {
        (Some(bulk), Some(tail)) => Some(-bulk.min(tail)),
        (bulk, tail) => bulk.or(tail).map(|ess| -ess),
    };
    let (row, ess) = largest(least_ess)
        .map(|(row, ess)| (row, -ess))
        .filter(|(_, ess)| *ess < wanted)?;
    // The table has a column of each.
    let kind = if row.ess_bulk.is_some_and(|bulk| bulk <= ess) {
        "effective draws"
    } else {
        "effective tail draws"
    };
    let before = if inputs.running {
        state
    } else {
        "Use with care: "
    };
    let after = format!(" has {} {kind} of {}", count(ess), count(wanted));
    Some((
        Verdict::Watch,
        sentence(before, Some(&row.variable), &after, next.as_deref()),
    ))
}

fn judge_cautions(inputs: &VerdictInputs<'_>) -> Option<(Verdict, String)> {
    let care = |text: &str, next: &str| {
        Some((
            Verdict::Watch,
            sentence(&format!("Use with care: {text}"), None, "", Some(next)),
        ))
    };
    match inputs.divergences {
        0 => {}
        1 => return care("1 divergence after warm-up", "raise the target acceptance"),
        some => {
            return care(
                &format!("{} divergences after warm-up", count(some as f64)),
                "raise the target acceptance",
            );
        }
    }
    let (working, chains) = (working(inputs), inputs.chains);
    if !inputs.failed.is_empty() {
        let text = if working == 1 {
            format!(
                "{} of {chains} chains failed, only 1 is left",
                inputs.failed.len()
            )
        } else {
            format!(
                "{} of {chains} chains failed, the other {working} agree",
                inputs.failed.len()
            )
        };
        return care(&text, "the log says why");
    }
    if let Some(report) = inputs
        .bias
        .filter(|report| inputs.biased.is_some() && report.verdict != Verdict::Good)
    {
        let row = report.worst.map(|worst| &report.rows[worst]);
        let largest = row
            .and_then(|row| row.shift)
            .map(|shift| shift.value.abs() + shift.half_width());
        let after = largest.map_or_else(
            || " may be biased".to_owned(),
            |most| format!(" may be off by up to {most:.2} sd"),
        );
        let name = row.map(|row| row.variable.as_str());
        return Some((
            Verdict::Watch,
            sentence(
                "Use with care: ",
                name,
                &after,
                Some("draw a longer reference"),
            ),
        ));
    }
    None
}

fn judge_target(inputs: &VerdictInputs<'_>) -> Option<(Verdict, String)> {
    let target = inputs.target?;
    let (row, lack) = target.worst(inputs.rows)?;
    let wanted = count(target.ess.unwrap_or_default());
    let (before, after) = match lack {
        Lack::Bulk(ess) => (
            "",
            format!(" has {} of {wanted} effective draws", count(ess)),
        ),
        Lack::Tail(ess) => (
            "",
            format!(" has {} of {wanted} effective tail draws", count(ess)),
        ),
        Lack::Rhat(rhat) => (
            "R-hat of ",
            format!(" is {}, not {}", rhat_text(rhat), target.rhat),
        ),
    };
    let next = match target.draws_needed(inputs.rows, inputs.draws_per_chain) {
        Some(draws) => format!("add {} per chain", count(draws as f64)),
        None => "add draws".to_owned(),
    };
    let before = format!("Target missed: {before}");
    Some((
        Verdict::Watch,
        sentence(&before, Some(&row.variable), &after, Some(&next)),
    ))
}

fn judge_chains(inputs: &VerdictInputs<'_>) -> Option<(Verdict, String)> {
    let working = working(inputs);
    let text = match working {
        ADVISED_CHAINS.. => return None,
        1 => "1 chain only".to_owned(),
        _ => format!("only {working} chains agree"),
    };
    let before = format!("Use with care: {text}, {ADVISED_CHAINS} are advised");
    Some((
        Verdict::Watch,
        sentence(&before, None, "", Some("run more chains")),
    ))
}

fn praise(inputs: &VerdictInputs<'_>) -> String {
    let least = |of: fn(&SummaryRow) -> Option<f64>| {
        let all = inputs.rows.iter().filter_map(of);
        all.fold(f64::INFINITY, f64::min)
    };
    let (bulk, tail) = (least(|row| row.ess_bulk), least(|row| row.ess_tail));
    let (least, kind) = if bulk <= tail {
        (bulk, "effective draws")
    } else {
        (tail, "effective tail draws")
    };
    let variables = match inputs.rows.len() {
        1 => "the variable".to_owned(),
        many => format!("all {} variables", count(many as f64)),
    };
    let before = format!("Good: {} chains agree on {variables}", working(inputs));
    let draws = least
        .is_finite()
        .then(|| format!("at least {} {kind}", count(least)));
    sentence(&before, None, "", draws.as_deref())
}

fn working(inputs: &VerdictInputs<'_>) -> usize {
    inputs.chains.saturating_sub(inputs.failed.len())
}

/// "about 50 s more".
fn time_left(inputs: &VerdictInputs<'_>) -> Option<String> {
    inputs
        .secs_to_target
        .filter(|secs| secs.is_finite() && *secs >= 0.0)
        .map(|secs| format!("about {} more", duration(secs)))
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
