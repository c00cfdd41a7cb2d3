//! Two runs beside each other: what differs in their settings, how far their posteriors are apart, and whether Monte Carlo error
//! explains it.
//!
//! Parameters are compared one by one (shift of the mean, ratio of standard deviations, Kolmogorov-Smirnov and total variation
//! distance) and as a whole ([`ergodic_diagnostics::distance`]). A difference is clear where Monte Carlo error would make one as large in fewer than
//! one comparison of a hundred, whatever the number of parameters ([`LEVEL`]).

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::recipe::Recipe;
use super::recipe_differences::SettingDifference;
use ergodic_base::draws::DrawList;
use ergodic_base::{Control, ParamId};
use ergodic_core::formula::Formula;
use ergodic_diagnostics::bias::{BiasRow, Interval, TOLERANCE, compare_columns};
use ergodic_diagnostics::distance::{self, Apart, Cloud, MOST_QUANTITIES};
use ergodic_diagnostics::kolmogorov::{distance_between, p_value};
use ergodic_diagnostics::total_variation::{self, TotalVariation};
use ergodic_diagnostics::{Missing, SummaryRow, Verdict as Certified, quantiles};

mod words;

pub use words::DistanceInWords;

/// Chance that Monte Carlo error alone makes any of all differences of two runs look clear, at most (Bonferroni's bound).
pub const LEVEL: f64 = 0.01;
/// Differences that each parameter is looked at for: mean, standard deviation, shape.
const KINDS: f64 = 3.0;
/// Joint distances from which parameters that agree one by one differ as a whole, in distances between halves of one run: these
/// are of half as many draws and twice as large by chance.
const JOINTLY_CLEAR: f64 = 3.0;

/// What is known of the data of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataUsed {
    /// SHA-256 of the file.
    pub fingerprint: String,
    /// Where the data come from.
    pub source: String,
    /// Rows in the data, and those that the model used.
    pub rows: (usize, usize),
}

/// One of two runs.
#[derive(Clone, Copy, Debug)]
pub struct ComparedRun<'a> {
    /// Name of the run in sentences.
    pub name: &'a str,
    /// Recipe of the run, if known.
    pub recipe: Option<&'a Recipe>,
    /// Data of the run, if known.
    pub data: Option<&'a DataUsed>,
    /// Reported quantities, in the order of the columns of its draws.
    pub variables: &'a [ParamId],
    /// Summary of them, in the same order.
    pub summary: &'a [SummaryRow],
    /// Kept draws of each chain that works.
    pub draws: &'a [&'a DrawList],
    /// Weights of these, one vector per chain, or none.
    pub weights: &'a [Vec<f64>],
    /// Why draws are not exactly from the posterior, if they are not.
    pub approximation: Option<&'a str>,
}

/// A reported quantity of both runs.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterRow {
    /// Name of the quantity.
    pub variable: ParamId,
    /// Posterior mean in each run.
    pub means: [Option<f64>; 2],
    /// Posterior standard deviation in each run.
    pub sds: [Option<f64>; 2],
    /// Mean of the second less that of the first, in standard deviations of the first, with its 95 % Monte Carlo interval. `None`
    /// where a chain is too short, constant or not finite.
    pub shift: Option<Interval>,
    /// Standard deviation of the second over that of the first, with its interval.
    pub sd_ratio: Option<Interval>,
    /// Kolmogorov-Smirnov distance: largest difference of the probabilities of being below a value.
    pub ks: Option<f64>,
    /// Total variation distance: largest difference of the probabilities of being in a set of values. `None` where effective draws are
    /// not known or weights are negative.
    pub total_variation: Option<TotalVariation>,
    /// What differs beyond Monte Carlo error, if anything does.
    pub change: Option<Change>,
}

/// What about a parameter differs beyond Monte Carlo error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// The mean, in standard deviations of the first run.
    Shift(Interval),
    /// The standard deviation, as a ratio.
    Width(Interval),
    /// Neither, but its distribution, by this Kolmogorov-Smirnov distance.
    Shape(f64),
    /// A constant in one run that is not the same in the other.
    Constant,
}

impl Change {
    /// How large it is, on a scale on which a shift counts its standard deviations.
    pub fn size(self) -> f64 {
        match self {
            Self::Shift(shift) => shift.value.abs(),
            Self::Width(ratio) => ratio.value.ln().abs(),
            // Of a small shift by δ standard deviations of a normal distribution it is δ/√2π.
            Self::Shape(ks) => ks * std::f64::consts::TAU.sqrt(),
            Self::Constant => f64::INFINITY,
        }
    }

    /// Whether the change is within what a bias check tolerates.
    pub(crate) fn is_small(self) -> bool {
        self.size() < TOLERANCE
    }
}

/// What the parameters say together.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Not one parameter is in both runs and varies.
    NothingShared,
    /// The outcomes that the runs explain are different columns.
    OtherOutcome([String; 2]),
    /// Too few draws to know any Monte Carlo error.
    TooEarly,
    /// Nothing differs beyond Monte Carlo error.
    Agree {
        /// The largest Monte Carlo standard error of a shift.
        error: f64,
    },
    /// Parameters agree one by one, but not as a whole.
    Jointly {
        /// Energy distance, and the largest between halves of one run.
        energy: [f64; 2],
    },
    /// Something differs.
    Differ {
        /// The parameter that changes most.
        variable: ParamId,
        /// How that parameter changes.
        change: Change,
        /// Parameters that differ, and all that were compared.
        counts: (usize, usize),
    },
}

/// Why there are no joint distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoJoint {
    /// No parameter.
    #[error("No parameter varies in both runs, so there is no joint distance")]
    Nothing,
    /// Other outcomes.
    #[error("Parameters of other outcomes have no joint distance")]
    OtherOutcome,
    /// Too many parameters.
    #[error(
        "{0} parameters are too many for joint distances, which take at most {MOST_QUANTITIES}"
    )]
    TooMany(usize),
    /// Draws.
    #[error("There are no joint distances: {0}")]
    Draws(Missing),
}

/// Somebody cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Comparing the runs was cancelled")]
pub struct Cancelled;

/// Two runs beside each other.
#[derive(Clone, Debug)]
pub struct RunComparison {
    /// What the runs are called.
    pub names: [String; 2],
    /// Whether model, priors, data and rows are known to be the same: both are runs of one posterior.
    pub has_one_posterior: bool,
    /// Whether model and data are the same, or what is not, in one sentence.
    pub subject: String,
    /// Entries of the recipes that differ; `None` where a run has no recipe.
    pub settings: Option<Vec<SettingDifference>>,
    /// Parameters of both runs, in the order of the first.
    pub parameters: Vec<ParameterRow>,
    /// Parameters of one run only.
    pub only: [Vec<ParamId>; 2],
    /// How far apart the posteriors are as a whole.
    pub joint: Result<Apart, NoJoint>,
    /// What the comparison comes to.
    pub verdict: Verdict,
    /// What to know about the numbers: one sentence each.
    pub remarks: Vec<String>,
}

/// Compares two runs.
///
/// # Errors
/// Somebody cancelled.
pub fn compare_runs(
    runs: [&ComparedRun<'_>; 2],
    control: &Control,
) -> Result<RunComparison, Cancelled> {
    let [one, other] = runs;
    control.enter("comparing parameters");
    let places: BTreeMap<&ParamId, usize> = other.variables.iter().zip(0..).collect();
    let in_both = one.variables.iter().zip(0..).filter_map(|(name, own)| {
        let others = places.get(name)?;
        Some((name.clone(), [own, *others]))
    });
    let (names, columns): (Vec<ParamId>, Vec<[usize; 2]>) = in_both.unzip();
    let only = |of: &ComparedRun<'_>| -> Vec<ParamId> {
        let alone = of.variables.iter().filter(|name| !names.contains(name));
        alone.cloned().collect()
    };
    let only = [only(one), only(other)];
    let report = compare_columns(
        &names,
        &columns,
        (one.draws, one.weights),
        (other.draws, other.weights),
    );
    control.check(Cancelled)?;
    let parameters: Vec<ParameterRow> = (report.rows, &columns)
        .into_par_iter()
        .map(|(row, columns)| parameter(runs, row, *columns, names.len()))
        .collect();
    control.check(Cancelled)?;
    control.enter("measuring joint distances");
    let outcomes = other_outcomes(runs);
    let (joint, groups_left_out) = match outcomes {
        None => joint(runs, &parameters, &columns),
        Some(_) => (Err(NoJoint::OtherOutcome), 0),
    };
    control.check(Cancelled)?;
    let verdict = match outcomes {
        None => verdict(&parameters, joint.as_ref().ok()),
        Some(outcomes) => Verdict::OtherOutcome(outcomes),
    };
    let settings = one.recipe.zip(other.recipe).map(|(a, b)| a.differences(b));
    let same_data = one
        .data
        .zip(other.data)
        .is_some_and(|(a, b)| a.fingerprint == b.fingerprint);
    let settings = settings.map(|mut settings| {
        // The same file has another relative place for a run in another folder.
        settings.retain(|it| !(same_data && it.key == "data.source"));
        settings
    });
    Ok(RunComparison {
        names: runs.map(|run| run.name.to_owned()),
        has_one_posterior: has_one_posterior(runs),
        subject: words::subject(runs),
        settings,
        remarks: words::remarks(runs, &names, joint.as_ref().ok(), groups_left_out),
        parameters,
        only,
        joint,
        verdict,
    })
}

/// The outcomes of both runs, where these are different columns.
fn other_outcomes(runs: [&ComparedRun<'_>; 2]) -> Option<[String; 2]> {
    let outcome = |run: &ComparedRun<'_>| {
        let formula: Formula = run.recipe?.model.formula.parse().ok()?;
        formula.response.map(|response| response.column)
    };
    let (one, other) = (outcome(runs[0])?, outcome(runs[1])?);
    (one != other).then_some([one, other])
}

/// Whether both runs are known to be of one model with its priors, and of the same rows of the same data.
fn has_one_posterior([one, other]: [&ComparedRun<'_>; 2]) -> bool {
    has_one_model([one, other]) == Some(true)
        && (one.data.zip(other.data))
            .is_some_and(|(a, b)| a.fingerprint == b.fingerprint && a.rows == b.rows)
}

/// Whether both runs have one model, with its priors; `None` where that is not known.
fn has_one_model([one, other]: [&ComparedRun<'_>; 2]) -> Option<bool> {
    let recipes = one.recipe.zip(other.recipe);
    recipes.map(|(a, b)| a.has_the_model_of(b) && a.data.import == b.data.import)
}

/// The row of a parameter, one of `count`, from what is known of shift and width.
fn parameter(
    runs: [&ComparedRun<'_>; 2],
    row: BiasRow,
    columns: [usize; 2],
    count: usize,
) -> ParameterRow {
    let summary = [0, 1].map(|k| runs[k].summary.get(columns[k]));
    let draws = [0, 1].map(|k| Marginal::of(runs[k], columns[k]));
    let effective = summary.map(|row| row?.ess_bulk);
    let fewer = effective[0].zip(effective[1]).map(|(a, b)| a.min(b));
    let mut found = ParameterRow {
        means: summary.map(|row| row?.mean),
        sds: summary.map(|row| row?.sd),
        shift: row.shift,
        sd_ratio: row.sd_ratio,
        ks: kolmogorov(&draws).ok(),
        total_variation: fewer.and_then(|fewer| {
            let [one, other] = draws.each_ref().map(Marginal::by_chain);
            total_variation::compare(one, other, total_variation::bins(fewer)).ok()
        }),
        change: None,
        variable: row.variable,
    };
    let level = LEVEL / (KINDS * count as f64);
    let far = quantiles::normal(1.0 - 0.5 * level);
    let (Some(shift), Some(ratio)) = (row.shift, row.sd_ratio) else {
        found.change = (row.verdict == Certified::NotCertified).then_some(Change::Constant);
        return found;
    };
    let moved = shift.value.abs() > far * shift.error();
    // The interval of a ratio is symmetric on the log scale.
    let error = 0.5 * (ratio.high / ratio.low).ln() / quantiles::NORMAL_95;
    let widened = ratio.value.ln().abs() > far * error;
    let shaped = found.ks.filter(|ks| {
        // Between two samples the distance is that of one of this many draws.
        let effective = summary.map(|row| Some(row?.ess_bulk?.min(row?.ess_tail?)));
        let [Some(a), Some(b)] = effective else {
            return false;
        };
        p_value(*ks, (1.0 / (1.0 / a + 1.0 / b)) as usize) < level
    });
    let changes = [
        moved.then_some(Change::Shift(shift)),
        widened.then_some(Change::Width(ratio)),
    ];
    let largest = changes
        .into_iter()
        .flatten()
        .max_by(|a, b| a.size().total_cmp(&b.size()));
    found.change = largest.or(shaped.map(Change::Shape));
    found
}

/// Draws of a quantity by chain, cut to the shortest as for every other number, and their weights, one vector per chain or none.
struct Marginal {
    chains: Vec<Vec<f64>>,
    weights: Vec<Vec<f64>>,
}

impl Marginal {
    fn of(run: &ComparedRun<'_>, column: usize) -> Self {
        let draws = run.draws.iter().map(|list| list.len()).min().unwrap_or(0);
        let first = |mut values: Vec<f64>| {
            values.truncate(draws);
            values
        };
        Self {
            chains: (run.draws.iter())
                .map(|list| first(list.column(column)))
                .collect(),
            weights: run.weights.iter().cloned().map(first).collect(),
        }
    }

    fn by_chain(&self) -> total_variation::Sample<'_> {
        (&self.chains, &self.weights)
    }
}

fn kolmogorov(draws: &[Marginal; 2]) -> Result<f64, Missing> {
    let [(x, u), (y, v)] = draws
        .each_ref()
        .map(|of| (of.chains.concat(), of.weights.concat()));
    distance_between((&x, &u), (&y, &v))
}

/// Joint distances over the parameters that vary in both runs, and how many effects of groups were left out for them.
fn joint(
    runs: [&ComparedRun<'_>; 2],
    parameters: &[ParameterRow],
    columns: &[[usize; 2]],
) -> (Result<Apart, NoJoint>, usize) {
    let varies = |row: &ParameterRow| row.sds.iter().all(|sd| sd.is_some_and(|sd| sd > 0.0));
    let all = parameters.iter().zip(columns);
    let all: Vec<_> = all.filter(|(row, _)| varies(row)).collect();
    let is_population = |row: &ParameterRow| !row.variable.is_varying();
    let kept: Vec<_> = match all.len() {
        ..=MOST_QUANTITIES => all.clone(),
        _ => (all.iter().copied())
            .filter(|(row, _)| is_population(row))
            .collect(),
    };
    let left_out = all.len() - kept.len();
    if kept.is_empty() || kept.len() > MOST_QUANTITIES {
        let why = match kept.len() {
            0 => NoJoint::Nothing,
            many => NoJoint::TooMany(many),
        };
        return (Err(why), left_out);
    }
    let cloud = |k: usize| {
        let columns: Vec<usize> = kept.iter().map(|(_, columns)| columns[k]).collect();
        Cloud::of(runs[k].draws, runs[k].weights, &columns)
    };
    let apart = cloud(0).and_then(|one| distance::compare(&one, &cloud(1)?));
    (apart.map_err(NoJoint::Draws), left_out)
}

fn verdict(parameters: &[ParameterRow], joint: Option<&Apart>) -> Verdict {
    if parameters.is_empty() {
        return Verdict::NothingShared;
    }
    let mut changed: Vec<(&ParameterRow, Change)> = (parameters.iter())
        .filter_map(|row| Some((row, row.change?)))
        .collect();
    changed.sort_by(|a, b| b.1.size().total_cmp(&a.1.size()));
    if let Some((row, change)) = changed.first() {
        return Verdict::Differ {
            variable: row.variable.clone(),
            change: *change,
            counts: (changed.len(), parameters.len()),
        };
    }
    let errors = parameters.iter().filter_map(|row| Some(row.shift?.error()));
    let Some(error) = errors.reduce(f64::max) else {
        // Constants that agree have no error.
        let known = parameters.iter().all(|row| row.sds == [Some(0.0); 2]);
        return match known {
            true => Verdict::Agree { error: 0.0 },
            false => Verdict::TooEarly,
        };
    };
    let energy = joint.and_then(|it| Some([it.distances.energy, it.halves?.energy]));
    match energy {
        Some([found, chance]) if found > JOINTLY_CLEAR * chance => Verdict::Jointly {
            energy: [found, chance],
        },
        _ => Verdict::Agree { error },
    }
}

impl RunComparison {
    /// Positions of [`Self::parameters`], those that change most first.
    pub fn by_size(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.parameters.len()).collect();
        let size = |&k: &usize| self.parameters[k].size();
        order.sort_by(|a, b| size(b).total_cmp(&size(a)));
        order
    }
}

impl ParameterRow {
    /// How much the parameter changes, by what stands out most: 0 where nothing is known.
    pub fn size(&self) -> f64 {
        let shift = self.shift.map(|shift| Change::Shift(shift).size());
        let clear = self.change.map(Change::size);
        clear.into_iter().chain(shift).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests;
