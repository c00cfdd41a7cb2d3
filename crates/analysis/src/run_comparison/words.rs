//! What a comparison of two runs says in words.

use super::{Change, ComparedRun, DataUsed, LEVEL, RunComparison, Verdict, has_one_model};
use crate::recipe::Recipe;
use ergodic_base::ParamId;
use ergodic_base::numerals::{fixed, plural, significant, thousands};
use ergodic_diagnostics::bias::{Interval, TOLERANCE};
use ergodic_diagnostics::distance::{Apart, Distances};
use ergodic_diagnostics::sentence::rhat_text;
use ergodic_diagnostics::{RHAT_LIMIT, weights};

/// Digits of a fingerprint that tell files apart for people.
const FINGERPRINT: usize = 12;

/// Whether model and data are the same.
pub(super) fn subject([one, other]: [&ComparedRun<'_>; 2]) -> String {
    let same_model = has_one_model([one, other]);
    let data = match (one.data, other.data) {
        (Some(a), Some(b)) if a.fingerprint != b.fingerprint => {
            let [a, b] = [(one, a), (other, b)].map(|(run, data)| of_data(run.name, data));
            return format!("Different data: {a}, {b}");
        }
        (Some(a), Some(b)) if a.rows.1 != b.rows.1 => {
            return format!(
                "Same data, of which {} uses {} rows and {} {}",
                one.name,
                thousands(a.rows.1 as u64),
                other.name,
                thousands(b.rows.1 as u64)
            );
        }
        (Some(_), Some(_)) => true,
        _ => false,
    };
    match (same_model, data) {
        (Some(true), true) => "Same model and data".to_owned(),
        (Some(false), true) => match one.recipe.zip(other.recipe) {
            Some((a, b)) if only_priors_differ(a, b) => "Same data and model, other priors",
            _ => "Same data, other model",
        }
        .to_owned(),
        (Some(true), false) => "Same model; of the data nothing is known".to_owned(),
        (Some(false), false) => "Other model; of the data nothing is known".to_owned(),
        (None, _) => "Of model and data of draws from a file nothing is known".to_owned(),
    }
}

fn only_priors_differ(one: &Recipe, other: &Recipe) -> bool {
    one.model == other.model
        && one.data.storage == other.data.storage
        && one.data.import == other.data.import
}

fn of_data(name: &str, data: &DataUsed) -> String {
    let fingerprint = data.fingerprint.get(..FINGERPRINT);
    format!(
        "{name} has {} of {} rows of {} (fingerprint {}…)",
        thousands(data.rows.1 as u64),
        thousands(data.rows.0 as u64),
        data.source,
        fingerprint.unwrap_or(&data.fingerprint)
    )
}

/// What to know about the numbers.
pub(super) fn remarks(
    runs: [&ComparedRun<'_>; 2],
    shared: &[ParamId],
    joint: Option<&Apart>,
    groups_left_out: usize,
) -> Vec<String> {
    let mut remarks = Vec::new();
    for run in runs {
        // Units may have other numbers in another chain without any consequence.
        let rhats = (run.summary.iter())
            .filter(|row| shared.contains(&row.variable) && !row.variable.is_exchangeable());
        let worst = rhats
            .filter_map(|row| Some((row, row.convergence()?)))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((row, rhat)) = worst.filter(|(_, rhat)| *rhat > RHAT_LIMIT) {
            remarks.push(format!(
                "The chains of {} do not agree with each other (R-hat of {} is {}), so its Monte Carlo errors are larger than they look",
                run.name,
                row.variable,
                rhat_text(rhat)
            ));
        }
        if let Some(why) = run.approximation {
            remarks.push(format!(
                "The draws of {} are not exactly from its posterior: {why}",
                run.name
            ));
        }
        if weights::matter(run.weights) {
            remarks.push(format!("The draws of {} are weighted", run.name));
        }
    }
    let [one, other] = runs.map(|run| run.recipe);
    if one
        .zip(other)
        .is_some_and(|(a, b)| a.report.scale != b.report.scale)
    {
        remarks.push(
            "The runs report coefficients on different scales, so these differ whatever the posteriors do".to_owned(),
        );
    }
    if let Some(apart) = joint {
        if groups_left_out > 0 {
            remarks.push(format!(
                "Joint distances are without the {} of groups",
                plural(groups_left_out, "effect")
            ));
        }
        let [a, b] = apart.paired.map(|draws| thousands(draws as u64));
        remarks.push(format!(
            "Energy distance and divergences are from {a} and {b} draws, evenly spaced; the divergences fall short of large differences"
        ));
    }
    remarks
}

/// One of the joint distances, for people.
#[derive(Clone, Debug, PartialEq)]
pub struct DistanceInWords {
    /// Name of the distance.
    pub name: String,
    /// Value of the distance.
    pub value: f64,
    /// The largest between halves of one run, where a run can be split.
    pub chance: Option<f64>,
    /// Meaning of the distance.
    pub meaning: String,
}

impl RunComparison {
    /// The result in one sentence.
    pub fn sentence(&self) -> String {
        match &self.verdict {
            Verdict::NothingShared => {
                "The two runs have no parameter in common, so their posteriors cannot be compared"
                    .to_owned()
            }
            Verdict::OtherOutcome([one, other]) => format!(
                "The two runs explain different outcomes (`{one}` and `{other}`), so their parameters cannot be compared, also where they \
                 have one name"
            ),
            Verdict::TooEarly => {
                "There are too few draws to tell differences from Monte Carlo error".to_owned()
            }
            Verdict::Agree { error } if *error > TOLERANCE => format!(
                "The two posteriors agree within Monte Carlo error, which is up to {} sd of a mean: longer runs would show smaller \
                 differences",
                significant(*error, 2)
            ),
            Verdict::Agree { .. } => "The two posteriors agree within Monte Carlo error".to_owned(),
            Verdict::Jointly {
                energy: [found, chance],
            } => format!(
                "Each parameter agrees within Monte Carlo error, but not all of them together: their energy distance is {}, of halves \
                 of one run {}",
                significant(*found, 2),
                significant(*chance, 2)
            ),
            Verdict::Differ {
                variable,
                change,
                counts: (changed, all),
            } => {
                let what = change.sentence(variable);
                let little = if change.is_small() {
                    ", which is little"
                } else {
                    ""
                };
                match changed - 1 {
                    0 => format!("{what}{little}"),
                    more => format!(
                        "{what}{little}; {more} more of {} {} beyond Monte Carlo error",
                        plural(*all, "parameter"),
                        if more == 1 { "differs" } else { "differ" }
                    ),
                }
            }
        }
    }

    /// Whether nothing differs beyond Monte Carlo error.
    pub fn agrees(&self) -> bool {
        matches!(self.verdict, Verdict::Agree { .. })
    }

    /// The joint distances; none where there are none.
    pub fn distances(&self) -> Vec<DistanceInWords> {
        let Ok(apart) = &self.joint else {
            return Vec::new();
        };
        let found = &apart.distances;
        let line = |name: &str, pick: &dyn Fn(&Distances) -> f64, meaning: String| {
            let chance = apart.halves.as_ref().map(pick);
            let beyond = match chance {
                Some(chance) if pick(found) <= chance => ", no more than halves of one run differ",
                _ => "",
            };
            DistanceInWords {
                name: name.to_owned(),
                value: pick(found),
                chance,
                meaning: format!("{meaning}{beyond}"),
            }
        };
        let mut lines = vec![
            line(
                "energy distance",
                &|it| it.energy,
                format!(
                    "{} % of the mean distance between draws of the two",
                    fixed(100.0 * found.energy_share, 1)
                ),
            ),
            line(
                "Wasserstein-2 distance",
                &|it| it.wasserstein,
                format!(
                    "posterior sd by which the normal approximation has to move, {} of them for the means",
                    significant(found.wasserstein_means, 2)
                ),
            ),
        ];
        if found.sliced.is_some() {
            lines.push(line(
                "sliced Wasserstein-2 distance",
                &|it| it.sliced.unwrap_or(f64::NAN),
                "posterior sd by which draws have to move, shapes included".to_owned(),
            ));
        }
        if found.rosenblatt.is_some() {
            lines.push(line(
                "Kolmogorov-Smirnov distance",
                &|it| it.rosenblatt.unwrap_or(f64::NAN),
                "mean over parameters, each less its regression on those before it (Rosenblatt), so that how they hang together counts"
                    .to_owned(),
            ));
        }
        if let Some(divergence) = found.divergence {
            for (way, value) in divergence.into_iter().enumerate() {
                let (from, to) = (&self.names[way], &self.names[1 - way]);
                // Of two normal distributions with the same width, δ²/2.
                let shift = (2.0 * value.max(0.0)).sqrt();
                lines.push(line(
                    &format!("divergence of {to} from {from}"),
                    &move |it| it.divergence.map_or(f64::NAN, |both| both[way].max(0.0)),
                    format!("nats, as by a shift of {} sd", significant(shift, 2)),
                ));
            }
        }
        lines
    }

    /// What "beyond Monte Carlo error" means here.
    pub fn level(&self) -> String {
        format!(
            "Differences are beyond Monte Carlo error where chance would make any of them in fewer than {} of 100 comparisons of runs",
            fixed(100.0 * LEVEL, 0)
        )
    }
}

impl Change {
    /// The change of `variable`, with its Monte Carlo standard error.
    pub fn sentence(self, variable: &ParamId) -> String {
        match self {
            Self::Shift(shift) => {
                let [value, error] = with_error(shift.value, &shift);
                format!("`{variable}` moves by {value} sd (± {error})")
            }
            Self::Width(ratio) => {
                let [value, error] = with_error(ratio.value, &ratio);
                format!("`{variable}` is {value} times as wide (± {error})")
            }
            Self::Shape(ks) => format!(
                "`{variable}` has the same mean and sd and another shape (Kolmogorov-Smirnov distance {})",
                significant(ks, 2)
            ),
            Self::Constant => {
                format!("`{variable}` is constant in one of the runs, or in both with other values")
            }
        }
    }
}

/// A number and its error, with two decimals or as many as the error needs to show a digit.
fn with_error(value: f64, interval: &Interval) -> [String; 2] {
    let error = interval.error();
    let decimals = match error {
        error if error > 0.0 && error.is_finite() => (-error.log10().floor()).clamp(2.0, 12.0),
        _ => 2.0,
    };
    [value, error].map(|number| fixed(number, decimals as usize))
}
