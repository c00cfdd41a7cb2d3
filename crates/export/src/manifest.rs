//! The manifest of a run, `run.json`: what was run, where it came from, how it ended.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use ergodic_analysis::hold_out::FittedRows;
use ergodic_analysis::{Job, Scale, bias_check, templates};
use ergodic_base::{ParamId, Warning};
use ergodic_core::arithmetic::Class;
use ergodic_core::design::censoring;
use ergodic_core::engine::{
    ChainState, Remark, Report, RunState, RunView, Sampling as _, StopReason, stages,
};
use ergodic_core::estimators::Search;
use ergodic_core::families::Family;
use ergodic_core::models::{Marginal, PriorOf, PriorSource};
use ergodic_core::oracle::GradientNoise;
use ergodic_diagnostics::Verdict;
use ergodic_diagnostics::bias::BiasReport;

/// Everything about a run besides its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Program and version that ran it.
    pub program: String,
    /// Where draws are promised to be the same, bit for bit.
    pub reproducible_on: String,
    /// How its processor adds products, which decides the last digits of draws; earlier versions did not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arithmetic: Option<Class>,
    /// Template.
    pub template: String,
    /// Response family, where the template leaves it open; earlier versions did not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// Formula.
    pub formula: String,
    /// Sampler.
    pub sampler: String,
    /// Why this sampler.
    pub sampler_reason: String,
    /// Why draws are not exactly from the posterior, if they are not.
    pub approximation: Option<String>,
    /// How the mode was found, if one was.
    #[serde(default)]
    pub mode: Option<Search>,
    /// Noise of the gradients from minibatches, plain and with control variates, of samplers whose steps have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gradient_noise: Option<GradientNoise>,
    /// How the draws' weights enter, where they differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
    /// Seed.
    pub seed: u64,
    /// Data source.
    pub data_source: String,
    /// SHA-256 of the data.
    pub data_fingerprint: String,
    /// Rows in the data that are not held out.
    pub rows_total: usize,
    /// Rows used.
    pub rows_used: usize,
    /// Rows kept out of the fit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rows_held_out: usize,
    /// Response and its success level.
    pub response: String,
    /// Success level, if the response has levels.
    pub success: Option<String>,
    /// Outcomes of rows used that are only known to be larger than their value, and those only known to be smaller, where the formula
    /// says how far outcomes were seen; earlier versions did not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub censored: Option<[usize; 2]>,
    /// Reference level of each categorical predictor.
    pub reference_levels: Vec<(String, String)>,
    /// Scale of priors and of reported coefficients.
    pub scales: String,
    /// Prior of each variable and where it comes from.
    pub priors: Vec<(String, PriorOf, PriorSource)>,
    /// Marginal posteriors that are known in closed form, by the place of their variable among those whose draws are kept.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub exact_marginals: BTreeMap<usize, Marginal>,
    /// Reported quantities whose draws were not kept (`run.keep`), in the order of their moments in the checkpoint.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_kept: Vec<ParamId>,
    /// One entry per chain.
    pub chains: Vec<ChainManifest>,
    /// Seconds from start to end, pauses excluded.
    pub elapsed_secs: f64,
    /// Gradients of single rows, all chains.
    pub datum_grads: u64,
    /// Passes over the data, all chains.
    pub passes: f64,
    /// Why the run ended.
    pub stop_reason: Option<StopReason>,
    /// How the draws themselves decided how many there are, where they did; the recipe of a run that has ended says their number alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_rule: Option<StopRule>,
    /// Divergent transitions among kept draws.
    pub divergences: u64,
    /// One word.
    pub verdict: Verdict,
    /// One sentence.
    pub verdict_sentence: String,
    /// Result of the bias check, if it has run: worst shift in posterior sd and its variable, and what else it says.
    pub bias_check: Option<String>,
    /// Numbers of the bias check, parameter by parameter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bias: Option<BiasReport>,
    /// Warnings.
    pub warnings: Vec<Warning>,
}

/// The precision that decided how many draws a run made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StopRule {
    /// Effective sample size asked for of every variable, in the bulk and in the tails, all chains together, where one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ess: Option<f64>,
    /// Largest R-hat asked for.
    pub rhat: f64,
    /// Draws per chain after which it was not reached, so that chains were extended, ascending; empty where it was looked at all along.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extended_at: Vec<u64>,
}

impl StopRule {
    /// Of a run that was asked for a precision, or that went on by itself; `None` of others.
    fn of(job: &Job, view: &RunView) -> Option<Self> {
        let run = &job.recipe.run;
        let extended = view
            .log
            .iter()
            .filter_map(|entry| match entry.warning.remark() {
                Some(Remark::GoingOn { draws, .. }) => Some(*draws),
                _ => None,
            });
        let extended_at: Vec<u64> = extended.collect();
        let asked = run.precision();
        let by_itself = (!extended_at.is_empty()).then(|| stages::precision(view.usable().count()));
        let precision = asked.or(by_itself)?;
        Some(Self {
            ess: precision.ess,
            rhat: precision.rhat,
            extended_at,
        })
    }
}

/// One chain's part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChainManifest {
    /// Kept draws.
    pub draws: usize,
    /// Iterations of warm-up.
    pub warmup: usize,
    /// Seconds of warm-up.
    pub warmup_secs: f64,
    /// Seconds of sampling.
    pub draw_secs: f64,
    /// The sentence of its failure, if it failed.
    pub failure: Option<String>,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Manifest {
    /// The precision that the run was asked for, if it ended before that was reached; `None` also of a rule that went by itself.
    pub fn unmet_rule(&self) -> Option<&StopRule> {
        let is_met = self.stop_reason == Some(StopReason::Precision);
        let rule = self.stop_rule.as_ref().filter(|_| !is_met);
        rule.filter(|rule| rule.extended_at.is_empty())
    }

    /// The sentence of a verdict that is not good: what is to be minded of everything that is computed from the draws.
    pub fn caution(&self) -> Option<&str> {
        (self.verdict != Verdict::Good).then_some(self.verdict_sentence.as_str())
    }

    /// The model in words: the title of its template or, where that leaves the response family open, what a model of the family is,
    /// which is mixed if effects vary by group.
    pub fn model_in_words(&self) -> String {
        let family = self.family.as_deref().and_then(Family::find);
        templates::model_in_words(&self.template, family, &self.formula)
    }

    /// The manifest of a run.
    pub fn of(job: &Job, view: &RunView, report: &Report) -> Self {
        let recipe = &job.recipe;
        let rows = FittedRows::of(job);
        let datum_grads: u64 = view.chains.iter().map(|chain| chain.datum_grads).sum();
        Self {
            program: format!("ergodic {}", env!("CARGO_PKG_VERSION")),
            reproducible_on: format!(
                "the same version on {} {} with the same vector instructions, any number of threads",
                std::env::consts::OS,
                std::env::consts::ARCH
            ),
            arithmetic: Some(job.arithmetic),
            template: recipe.model.template.clone(),
            family: templates::chosen_family(&recipe.model.template, &recipe.model.settings)
                .map(|family| family.id().to_owned()),
            formula: recipe.model.formula.clone(),
            sampler: recipe.sampler.id.clone(),
            sampler_reason: job.sampler_reason.clone(),
            approximation: job.sampler.spec.bias.map(str::to_owned),
            mode: job.mode.as_deref().cloned(),
            gradient_noise: job.gradient_noise(),
            weights: report.weighted.then(|| {
                "every average is the ratio of weighted sums, with the information column `weight`"
                    .to_owned()
            }),
            seed: recipe.run.seed,
            data_source: recipe.data.source.clone(),
            data_fingerprint: job.table.fingerprint().to_owned(),
            rows_total: rows.total,
            rows_used: rows.used,
            rows_held_out: rows.held_out,
            exact_marginals: (job.keep().kept().iter().enumerate())
                .filter_map(|(place, &index)| Some((place, job.model.marginal(index)?)))
                .collect(),
            not_kept: job.unkept_variables(),
            response: job.design.response.name.clone(),
            success: job.design.response.success().map(str::to_owned),
            censored: job.design.censoring.as_deref().map(censoring::counts),
            reference_levels: job.design.reference_levels.clone(),
            scales: scales(job),
            priors: job
                .model
                .params()
                .iter()
                .map(|param| {
                    (
                        param.name.to_string(),
                        param.prior.clone(),
                        param.prior_source.clone(),
                    )
                })
                .collect(),
            chains: view
                .chains
                .iter()
                .map(|chain| ChainManifest {
                    draws: chain.draws.draws.len(),
                    warmup: chain
                        .warmup_end
                        .map_or(chain.draws.warmup.len(), |end| end as usize),
                    warmup_secs: chain.warmup_secs,
                    draw_secs: chain.draw_secs,
                    failure: match &chain.state {
                        ChainState::Failed(why) => Some(why.clone()),
                        _ => None,
                    },
                })
                .collect(),
            elapsed_secs: view.elapsed_secs,
            datum_grads,
            passes: datum_grads as f64 / job.model.num_obs().max(1) as f64,
            stop_reason: match view.state {
                RunState::Finished(reason) => Some(reason),
                _ => None,
            },
            stop_rule: StopRule::of(job, view),
            divergences: report.divergences,
            verdict: report.verdict,
            verdict_sentence: report.sentence.clone(),
            bias_check: report.bias.as_deref().map(|bias| {
                let further = bias_check::further_sentences(bias);
                let first = std::iter::once(bias_check::sentence(bias));
                first.chain(further).collect::<Vec<_>>().join("; ")
            }),
            bias: report.bias.as_deref().cloned(),
            warnings: view
                .log
                .iter()
                .map(|entry| entry.warning.clone())
                .chain(report.warnings.iter().cloned())
                .collect(),
        }
    }
}

/// The sentence about draws of one class of processor that are continued or made again by `here`; `None` if the class is the
/// same or not known.
pub(crate) fn other_arithmetic(made: Option<Class>, here: Class) -> Option<String> {
    let made = made.filter(|made| *made != here)?;
    let [theirs, ours] = match made {
        Class::Fused => ["with", "has none"],
        Class::Separate => ["without", "has it"],
    };
    Some(format!(
        "The run was made on a processor {theirs} fused multiply-add and this one {ours}, so draws made here agree with those made \
         there within Monte Carlo error, not digit for digit"
    ))
}

fn scales(job: &Job) -> String {
    if job.model.simplex().is_some() {
        return "priors hold for the probabilities that are reported".to_owned();
    }
    if job.reports_weights() {
        let predictors = match job.recipe.model.standardize {
            true => "standardised predictors (mean 0, sd 1)",
            false => "predictors as they are",
        };
        return format!("priors hold and weights are reported for {predictors}");
    }
    if !job.reports_predictors() {
        return "parameters are reported for columns as they are".to_owned();
    }
    let standardised = "standardised predictors (mean 0, sd 1), intercept at average predictors";
    let original = "predictors as they are, intercept at 0";
    let priors = if job.recipe.model.standardize {
        standardised
    } else {
        original
    };
    if job.reports_units_of_outcome() {
        let unit = |standardised: bool| {
            if standardised {
                "standard deviations of the outcome"
            } else {
                "its own unit"
            }
        };
        let reported_standardised = job.recipe.report.scale == Scale::Standardised;
        let reported = if reported_standardised {
            standardised
        } else {
            original
        };
        return format!(
            "priors hold for {priors}, outcome in {}; coefficients are reported for {reported}, outcome in {}",
            unit(job.recipe.model.standardize),
            unit(reported_standardised)
        );
    }
    let reported = match job.recipe.report.scale {
        Scale::Standardised => standardised,
        Scale::Original => original,
    };
    format!("priors hold for {priors}; coefficients are reported for {reported}")
}

#[cfg(test)]
mod tests {
    use rand::RngExt as _;

    use std::path::Path;

    use super::*;
    use ergodic_analysis::Recipe;
    use ergodic_base::settings::Value;
    use ergodic_base::{Control, Streams};

    /// A text's priors hold as they are written, whatever its parameters are called.
    #[test]
    fn priors_of_a_text_hold_for_columns_as_they_are() {
        let mut recipe = Recipe::new("sample:churn", "own", "");
        let text = "parameters\n b[plan] ~ normal(0, 1)\nrows\n (churned == \"yes\") ~ bernoulli_logit(b[plan])\n";
        let text = Value::Text(text.to_owned());
        recipe.model.settings.set("program", text);
        let job = Job::prepare(&recipe, Path::new(""), None, &Control::default()).unwrap();
        assert_eq!(
            scales(&job),
            "parameters are reported for columns as they are"
        );
    }

    /// Weights of a network are per standard deviation of its inputs, unless these are taken as they are.
    #[test]
    fn weights_of_a_network_are_told_on_the_scale_of_its_inputs() {
        let folder = tempfile::tempdir().unwrap();
        let text = "r,x\nred,0\nblue,1\ngreen,2\nblue,0\ngreen,1\nred,2\n";
        std::fs::write(folder.path().join("levels.csv"), text).unwrap();
        let mut recipe = Recipe::new("levels.csv", "neural-net", "r ~ x");
        recipe.model.settings.set("hidden_units", Value::Int(2));
        for (standardize, predictors) in [
            (true, "standardised predictors (mean 0, sd 1)"),
            (false, "predictors as they are"),
        ] {
            recipe.model.standardize = standardize;
            let job = Job::prepare(&recipe, folder.path(), None, &Control::default()).unwrap();
            let expected = format!("priors hold and weights are reported for {predictors}");
            assert_eq!(scales(&job), expected);
        }
    }

    /// Effective draws per second of a run that was read are those of the run itself, to the last digit.
    #[test]
    fn seconds_are_read_as_they_were_written() {
        let mut rng = Streams::new(1, 0).noise;
        for _ in 0..1000 {
            let chain = ChainManifest {
                draws: 1,
                warmup: 1,
                warmup_secs: rng.random(),
                draw_secs: rng.random::<f64>() * 100.0,
                failure: None,
            };
            let text = serde_json::to_string_pretty(&chain).unwrap();
            assert_eq!(serde_json::from_str::<ChainManifest>(&text).unwrap(), chain);
        }
    }
}
