//! Leave-one-out cross-validation of finished runs, and how models of the same rows compare.
//!
//! Everything is computed again from draws and data, so that runs keep nothing for it; rows are taken one at a time, in
//! parallel, and each by itself, so that threads change no bit. See [`ergodic_diagnostics::loo`] for what is computed.

use rayon::prelude::*;

use super::predict::log_lik::{LogLik, LogLikError, Observed};
use super::predict::{Fitted, PredictError, thinned};
use ergodic_base::Control;
use ergodic_base::draws::DrawList;
use ergodic_base::names::listed;
use ergodic_base::numerals::{fixed, plural, thousands};
use ergodic_core::engine::keep::NotKept;
use ergodic_diagnostics::loo::{Chains, Loo, RowScore, Scorer, Total, stacking};
use ergodic_diagnostics::{Missing, Verdict};

mod moment_match;
mod points;
mod refit;
pub mod subsample;

pub use refit::job_without;

/// Rows between two looks at the control.
const TILE: usize = 16;
/// Differences below it are small whatever their standard error, which is then too small; larger ones are compared with it (Sivula,
/// Magnusson, Matamoros and Vehtari 2020).
const SMALL_DIFFERENCE: f64 = 4.0;
/// Rows below which standard errors of differences are too small (same source).
const FEW_ROWS: usize = 100;
/// Standard errors from which a difference is clear.
const CLEAR: f64 = 4.0;
/// Standard errors from which a difference is probably one of new rows as well.
const PROBABLE: f64 = 2.0;

/// Why there are no scores: one sentence.
#[derive(Debug, thiserror::Error)]
pub enum LooError {
    /// Somebody cancelled.
    #[error("Leaving rows out was cancelled")]
    Cancelled,
    /// Model, data or draws.
    #[error(transparent)]
    LogLik(#[from] LogLikError),
    /// A row has no density at a draw.
    #[error(
        "The log density of the outcome in {0} is not a finite number at some draw, so no score is known; leave such rows out"
    )]
    NotFinite(String),
    /// A fit without a row does not know its levels.
    #[error(
        "A fit without {0} does not know a level that only this row has, so it cannot score it"
    )]
    UnknownLevel(String),
    /// Too few draws.
    #[error("One draw is too few to leave rows out; draw more")]
    TooFew,
    /// Draws with negative weights.
    #[error(
        "Some draws have negative weights, which cannot be importance weights; leave rows out of a run whose sampler makes none"
    )]
    SignedWeights,
    /// No density to move draws by.
    #[error("Moving draws needs the density of the posterior, which this model does not have")]
    NoDensity,
    /// Draws of some parameters were not kept.
    #[error("{}", NotKept("Moment matching needs"))]
    NotKept,
    /// Weighted draws.
    #[error(
        "Draws that have weights cannot be moved; fit again without those rows, or run a sampler whose draws have none"
    )]
    Weighted,
    /// Not all draws were used.
    #[error("Moving draws takes all of them; leave the number of draws out")]
    Thinned,
}

/// Cross-validation of a run.
#[derive(Clone, Debug)]
pub struct CrossValidation {
    /// Scores, one per row used.
    pub loo: Loo,
    /// What the rows observed.
    pub observed: Observed,
    /// Draws there are; [`Loo::draws`] were used.
    pub draws_total: usize,
    /// Whether draws had weights of their own.
    pub weighted: bool,
    /// Whether the model has effects of groups.
    pub has_groups: bool,
    /// Why the draws are not exactly from the posterior, if they are not.
    pub approximation: Option<String>,
    /// Rows of the table, 0-based, ascending, whose scores are those of fits without them.
    pub refitted: Vec<u32>,
    /// Rows of the table, 0-based, ascending, whose scores are those of draws moved by moment matching.
    pub matched: Vec<u32>,
    /// Rows for which draws were moved, whether that helped or not.
    tried: Vec<u32>,
    /// Why the draws are not usable, if they are not.
    unusable: Option<String>,
}

/// Leaves each row of `fitted` out, by importance weights of `draws` (one list per chain, with `weights` or none), of which at
/// most `most` are used, evenly spaced. `approximation` says why these are not exactly from the posterior, if they are not.
///
/// # Errors
/// See [`LooError`].
pub fn cross_validate(
    fitted: &Fitted,
    (draws, weights): (&[&DrawList], &[Vec<f64>]),
    most: usize,
    approximation: Option<String>,
    control: &Control,
) -> Result<CrossValidation, LooError> {
    let log_lik = fitted.log_lik(draws, weights, most, control);
    let log_lik = log_lik.map_err(|error| match error {
        LogLikError::Predict(PredictError::Cancelled) => LooError::Cancelled,
        other => other.into(),
    })?;
    let loo = scores(fitted, &log_lik, None, control)?;
    Ok(CrossValidation {
        loo,
        observed: log_lik.observed().clone(),
        draws_total: log_lik.draws_total(),
        weighted: log_lik.draw_weights().is_some(),
        has_groups: fitted.has_groups(),
        approximation,
        refitted: Vec::new(),
        matched: Vec::new(),
        tried: Vec::new(),
        unusable: None,
    })
}

/// Why draws with this verdict and its sentence are not usable, without the words of the verdict; `None` where they are.
fn unusable(verdict: Verdict, sentence: &str) -> Option<String> {
    let why = sentence.split_once(": ").map_or(sentence, |(_, why)| why);
    matches!(verdict, Verdict::Bad | Verdict::TooEarly).then(|| why.to_owned())
}

impl LooError {
    fn of(error: PredictError) -> Self {
        match error {
            PredictError::Cancelled => Self::Cancelled,
            other => LogLikError::from(other).into(),
        }
    }
}

/// Scores of all rows, or of those at `places`.
fn scores(
    fitted: &Fitted,
    log_lik: &LogLik,
    places: Option<&[usize]>,
    control: &Control,
) -> Result<Loo, LooError> {
    let count = places.map_or(log_lik.num_rows(), <[usize]>::len);
    let at = |k: usize| places.map_or(k, |places| places[k]);
    let chains = Chains::new(log_lik.chains(), log_lik.draw_weights());
    let chains = chains.map_err(|_signed| LooError::SignedWeights)?;
    control.enter("leaving rows out");
    control.expect(count as u64);
    let mut rows: Vec<Result<RowScore, Missing>> = vec![Ok(RowScore::default()); count];
    rows.par_chunks_mut(TILE).enumerate().for_each_init(
        || (Scorer::new(&chains), vec![0.0; chains.num_draws()]),
        |(scorer, values), (t, tile)| {
            if control.is_cancelled() {
                return;
            }
            for (k, row) in tile.iter_mut().enumerate() {
                log_lik.row(at(t * TILE + k), 0, values);
                *row = scorer.score(values);
            }
            control.advance(tile.len() as u64);
        },
    );
    control.check(LooError::Cancelled)?;
    let place = |k: usize| fitted.place(log_lik.observed().rows[at(k)]);
    let refuse = |(i, row): (usize, Result<RowScore, Missing>)| {
        row.map_err(|missing| match missing {
            Missing::TooFew => LooError::TooFew,
            _ => LooError::NotFinite(place(i)),
        })
    };
    let rows = rows.into_iter().enumerate().map(refuse);
    Ok(Loo {
        rows: rows.collect::<Result<_, _>>()?,
        draws: log_lik.num_draws(),
    })
}

/// Effective parameters per row from which on the weights of so few rows are not believed, however good their Pareto k: with three rows
/// of a straight line they are 0.7, and elpd_loo is 0.6 above that of fits without each row.
const MOST_OF_ROWS: f64 = 1.0 / 3.0;

impl CrossValidation {
    /// The scores of a run with this verdict and its sentence: importance weights say how far a row moves the draws, not whether the draws
    /// are from the posterior.
    #[must_use]
    pub fn of_run(mut self, verdict: Verdict, sentence: &str) -> Self {
        self.unusable = unusable(verdict, sentence);
        self
    }

    /// Rows of the table, 0-based, whose Pareto k is not good, with it, the largest first.
    pub fn doubtful(&self) -> Vec<(u32, f64)> {
        let found = self.loo.doubtful().into_iter();
        found
            .map(|i| (self.observed.rows[i], self.loo.rows[i].k))
            .collect()
    }

    /// What the Pareto k of the rows say together, in one sentence.
    pub fn reliability(&self) -> String {
        if let Some(why) = &self.unusable {
            return format!(
                "The draws of this run are not usable, so neither are these scores, whatever their Pareto k: {why}"
            );
        }
        let counts = self.loo.reliability();
        let limit = fixed(self.loo.threshold(), 2);
        let all = self.loo.rows.len();
        let p = self.loo.p().estimate;
        match counts.bad + counts.very_bad {
            0 if self.refitted.len() < all && p > MOST_OF_ROWS * all as f64 => format!(
                "All Pareto k are good (up to {limit}), but p_loo is {} with {}: each row decides much of the posterior that scores it, \
                 so elpd_loo may be too optimistic",
                fixed(p, 1),
                plural(all, "row")
            ),
            0 => format!("All Pareto k are good (up to {limit}), so the estimates can be trusted"),
            wrong => {
                let very = match counts.very_bad {
                    0 => String::new(),
                    very => format!(", {very} of them above 1"),
                };
                let (have, them) = match wrong {
                    1 => ("has", "it"),
                    _ => ("have", "them"),
                };
                // What is wrong with the score of a row that was left out of a fit is not its weights.
                if self
                    .doubtful()
                    .iter()
                    .all(|(row, _)| self.refitted.contains(row))
                {
                    return format!(
                        "{} of {} {have} a Pareto k above {limit}{very} even by fits without {them}: hardly a draw expects anything \
                         like {them}, so elpd_loo is too uncertain to use",
                        thousands(wrong as u64),
                        plural(all, "row")
                    );
                }
                format!(
                    "{} of {} {have} a Pareto k above {limit}{very}: leaving {them} out changes the posterior so much that its \
                     draws cannot say how, and elpd_loo may be too optimistic",
                    thousands(wrong as u64),
                    plural(all, "row")
                )
            }
        }
    }

    /// What to know about these scores: what was left out, of what they are, whose draws they come from.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        let observed = &self.observed;
        if let Some(function) = observed.function {
            let column = &observed.column;
            remarks.push(format!(
                "The model explains {}({column}); densities are taken back to {column}, so that they compare with those of models of \
                 {column} itself",
                function.name()
            ));
        }
        let matched: Vec<String> = (self.matched.iter())
            .filter(|row| !self.refitted.contains(row))
            .map(|row| (row + 1).to_string())
            .collect();
        if !matched.is_empty() {
            let (word, them) = match matched.len() {
                1 => ("Row", "it"),
                _ => ("Rows", "each of them"),
            };
            remarks.push(format!(
                "{word} {} scored by draws moved to the moments of the posterior without {them}",
                matched.join(", ")
            ));
        }
        if !self.refitted.is_empty() {
            let rows: Vec<String> = self
                .refitted
                .iter()
                .map(|row| (row + 1).to_string())
                .collect();
            let (word, them) = match rows.len() {
                1 => ("Row", "it"),
                _ => ("Rows", "each of them"),
            };
            remarks.push(format!(
                "{word} {} scored by a fit without {them}, with scales and default priors of the other rows",
                rows.join(", ")
            ));
            let unreached: Vec<String> = self
                .doubtful()
                .into_iter()
                .filter(|(row, _)| self.refitted.contains(row))
                .map(|(row, _)| (row + 1).to_string())
                .collect();
            if !unreached.is_empty() {
                let (word, its) = match unreached.len() {
                    1 => ("row", "its score is"),
                    _ => ("rows", "their scores are"),
                };
                remarks.push(format!(
                    "Hardly a draw of these fits expects anything like {word} {}, so {its} too uncertain to use",
                    unreached.join(", ")
                ));
            }
        }
        if self.has_groups {
            remarks.push(
                "Rows are left out and their groups stay: this is prediction of further rows of known groups, not of new groups"
                    .to_owned(),
            );
        }
        if observed.weights.is_some() {
            remarks
                .push("A row of weight w counts as w rows that are left out together".to_owned());
        }
        remarks.extend(thinned((self.loo.draws, self.draws_total)));
        if self.weighted {
            remarks.push(
                "The draws have weights of their own, which multiply the importance weights of rows left out"
                    .to_owned(),
            );
        }
        if let Some(why) = &self.approximation {
            remarks.push(format!(
                "The draws are not exactly from the posterior, and neither are these scores: {why}"
            ));
        }
        remarks
    }
}

/// Why two runs cannot be compared: one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Incomparable {
    /// A model as text of whose outcome nothing is known.
    #[error(
        "The rows of {0} have no single line `outcome ~ distribution(…)`, so what they score is not known and cannot be compared"
    )]
    Unknown(String),
    /// Other columns.
    #[error(
        "{one} and {other} explain different outcomes (`{of_one}` and `{of_other}`), so their scores are not of the same thing"
    )]
    Outcome {
        /// A run.
        one: String,
        /// Another.
        other: String,
        /// Outcome of the one.
        of_one: String,
        /// Outcome of the other.
        of_other: String,
    },
    /// Other rows.
    #[error(
        "{one} and {other} use different rows of the data ({of_one} and {of_other}, {shared} of them in both), so their scores cannot \
         be compared; fit both to the same rows"
    )]
    Rows {
        /// A run.
        one: String,
        /// Another.
        other: String,
        /// Rows of the one.
        of_one: usize,
        /// Rows of the other.
        of_other: usize,
        /// Rows of both.
        shared: usize,
    },
    /// Other values in them.
    #[error(
        "{one} and {other} have different {what} in the same rows, so their scores cannot be compared; fit both to the same data"
    )]
    Values {
        /// A run.
        one: String,
        /// Another.
        other: String,
        /// What differs.
        what: String,
    },
}

/// Whether two runs scored the same rows; `names` are what sentences call them.
///
/// # Errors
/// They did not.
pub fn check_comparable(
    names: [&str; 2],
    [one, other]: [&Observed; 2],
) -> Result<(), Incomparable> {
    let [a, b] = names.map(str::to_owned);
    let different = |what: &str| {
        Err(Incomparable::Values {
            one: a.clone(),
            other: b.clone(),
            what: what.to_owned(),
        })
    };
    for (name, of) in [(&a, one), (&b, other)] {
        if of.column.is_empty() {
            return Err(Incomparable::Unknown(name.clone()));
        }
    }
    let same_values = one.values == other.values && one.labels == other.labels;
    if one.column != other.column && !same_values {
        return Err(Incomparable::Outcome {
            one: a,
            other: b,
            of_one: one.column.clone(),
            of_other: other.column.clone(),
        });
    }
    if one.rows != other.rows {
        let shared = one.rows.iter();
        return Err(Incomparable::Rows {
            shared: shared
                .filter(|row| other.rows.binary_search(row).is_ok())
                .count(),
            one: a,
            other: b,
            of_one: one.rows.len(),
            of_other: other.rows.len(),
        });
    }
    if !same_values {
        return different(&format!("values of `{}`", one.column));
    }
    if one.trials != other.trials {
        return different("numbers of trials");
    }
    if one.censoring != other.censoring {
        return different("censored rows");
    }
    if one.weights != other.weights {
        return different("weights of rows");
    }
    Ok(())
}

/// One of several models.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Position among those compared.
    pub index: usize,
    /// elpd_loo.
    pub elpd: Total,
    /// Effective number of parameters.
    pub p: Total,
    /// elpd less that of the best, with the standard error of differences row by row.
    pub difference: Total,
    /// Share in the mixture of all of them that predicts best.
    pub weight: f64,
}

/// Models of the same rows, the best first.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The models.
    pub models: Vec<Compared>,
    /// One sentence for each model after the first: how it compares with that.
    pub sentences: Vec<String>,
    /// What to know about the differences.
    pub remarks: Vec<String>,
}

/// Compares runs, each with what sentences call it.
///
/// # Errors
/// They are not of the same rows.
pub fn compare(runs: &[(String, &CrossValidation)]) -> Result<Comparison, Incomparable> {
    if let Some(((name, first), rest)) = runs.split_first() {
        for (other, run) in rest {
            check_comparable([name, other], [&first.observed, &run.observed])?;
        }
    }
    let loos: Vec<&Loo> = runs.iter().map(|(_, run)| &run.loo).collect();
    let elpds: Vec<Total> = loos.iter().map(|loo| loo.elpd()).collect();
    let weights = stacking(&loos);
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by(|&a, &b| elpds[b].estimate.total_cmp(&elpds[a].estimate));
    let best = order.first().copied().unwrap_or_default();
    let models: Vec<Compared> = order
        .iter()
        .map(|&index| Compared {
            index,
            elpd: elpds[index],
            p: loos[index].p(),
            difference: if index == best {
                Total::default()
            } else {
                loos[index].difference(loos[best])
            },
            weight: weights[index],
        })
        .collect();
    let sentence = |other: &Compared| {
        difference_in_words(
            [&runs[best].0, &runs[other.index].0],
            other.difference.times(-1.0),
        )
    };
    Ok(Comparison {
        sentences: models.iter().skip(1).map(sentence).collect(),
        remarks: remarks(runs),
        models,
    })
}

/// How much better the first of two models predicts, in one sentence.
pub fn difference_in_words([better, other]: [&str; 2], difference: Total) -> String {
    let Total { estimate, se } = difference;
    if estimate == 0.0 {
        return format!("{better} and {other} predict equally well");
    }
    let by = format!("by {} ± {}", fixed(estimate, 1), fixed(se, 1));
    // What the digits that are shown do not tell apart.
    if (10.0 * estimate).round() == 0.0 {
        return format!("{better} and {other} predict about equally well: they differ {by}");
    }
    if estimate.abs() < SMALL_DIFFERENCE {
        return format!(
            "{better} predicts better than {other} {by}; a difference below {SMALL_DIFFERENCE} is small, so both predict new rows about \
             equally well"
        );
    }
    let errors = estimate / se;
    if errors.is_nan() || errors < 1.0 {
        return format!(
            "{better} predicts better than {other} {by}; the difference is smaller than its uncertainty, so neither can be said to \
             predict better"
        );
    }
    let about = match errors.round() {
        n if n <= 4.0 => ["two", "three", "four"][(n as usize).clamp(2, 4) - 2].to_owned(),
        n => fixed(n, 0),
    };
    let (size, meaning) = if errors < PROBABLE {
        ("less than two".to_owned(), "so it may be chance".to_owned())
    } else if errors < CLEAR {
        (
            format!("about {about}"),
            format!("so {better} probably predicts new rows better"),
        )
    } else {
        (
            format!("about {about}"),
            format!("so {better} clearly predicts new rows better"),
        )
    };
    format!("{better} predicts better than {other} {by}; that is {size} standard errors, {meaning}")
}

/// What to know about differences over so few rows.
pub(crate) fn few_rows(rows: usize) -> Option<String> {
    (rows < FEW_ROWS).then(|| {
        format!(
            "With fewer than {FEW_ROWS} rows the standard error of a difference is often too small"
        )
    })
}

/// What to know about differences from the scores of runs whose draws are not usable, called `names`; `None` where there are none.
pub fn unusable_runs(names: &[&str]) -> Option<String> {
    let their = match names.len() {
        0 => return None,
        1 => "its",
        _ => "their",
    };
    let listed = listed(names.iter().copied(), names.len());
    Some(format!(
        "The draws of {listed} are not usable, so neither are differences from {their} scores"
    ))
}

fn remarks(runs: &[(String, &CrossValidation)]) -> Vec<String> {
    let mut remarks = Vec::new();
    let rows = runs.first().map_or(0, |(_, run)| run.loo.rows.len());
    remarks.extend(few_rows(rows));
    let named = |holds: &dyn Fn(&CrossValidation) -> bool| -> Vec<&str> {
        let runs = runs.iter().filter(|(_, run)| holds(run));
        runs.map(|(name, _)| name.as_str()).collect()
    };
    remarks.extend(unusable_runs(&named(&|run| run.unusable.is_some())));
    let names = named(&|run| !run.loo.doubtful().is_empty());
    if !names.is_empty() {
        remarks.push(format!(
            "Some rows of {} have a Pareto k that is not good, so differences may be off by more than their standard errors",
            names.join(", ")
        ));
    }
    let whole = runs.iter().filter(|(_, run)| run.observed.is_whole).count();
    if whole > 0 && whole < runs.len() {
        remarks.push(
            "Some models give whole numbers a probability and others a density; these compare only as far as a density stands for \
             the probability of an interval of width 1"
                .to_owned(),
        );
    }
    remarks
}

#[cfg(test)]
mod tests;
