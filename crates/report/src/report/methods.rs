//! The paragraph on methods, and what it cites.

use super::estimates::Column;
use super::{Part, Report, parts, priors};
use ergodic_analysis::templates;
use ergodic_base::numerals::{brief, thousands};
use ergodic_base::settings::Value;
use ergodic_base::shown::capitalised;
use ergodic_core::engine::stages::MOST_DRAWS;
use ergodic_core::engine::start::SPREAD;
use ergodic_core::engine::{Start, StopReason};
use ergodic_core::samplers::{self, DIVERGENT};
use ergodic_diagnostics::sentence::{count, rhat_text};
use ergodic_diagnostics::{ESS_PER_CHAIN, RHAT_LIMIT, SummaryRow};
use ergodic_export::StopRule;

/// Where control variates of finished runs come from.
const MIRA: &str = "Mira, Solgi, Imparato (2013), \"Zero variance Markov chain Monte Carlo for Bayesian estimators\", Statistics and \
                    Computing 23";
/// Where R-hat and the effective sample sizes come from.
const VEHTARI: &str = "Vehtari, Gelman, Simpson, Carpenter, Bürkner (2021), \"Rank-normalization, folding, and localization: an \
                       improved R-hat for assessing convergence of MCMC\", Bayesian Analysis 16, doi 10.1214/20-BA1221";

/// How the results were made, in sentences ready for a paper.
pub fn paragraph(report: &Report) -> Vec<Part> {
    let manifest = &report.manifest;
    let words = |text: String| Part::Words(text);
    let [used, total] =
        [manifest.rows_used, manifest.rows_total].map(|rows| thousands(rows as u64));
    let rows = match used == total {
        true => format!("all {total} rows"),
        false => format!("{used} of the {total} rows"),
    };
    let mut paragraph = vec![words("The model ".to_owned())];
    // A text's formula says which columns it reads, its outcome among them, and not what it makes of them.
    if !manifest.formula.is_empty() && !templates::is_text(&manifest.template) {
        paragraph.extend([Part::Name(manifest.formula.clone()), words(" ".to_owned())]);
    }
    paragraph.extend([
        words(format!(
            "({}) was fitted to {rows} of ",
            lower_first(&manifest.model_in_words())
        )),
        Part::Name(manifest.data_source.clone()),
        words(match manifest.rows_held_out {
            0 => String::new(),
            rows => format!(", {} further rows being held out,", thousands(rows as u64)),
        }),
        words(format!(" with {}. ", program(report))),
    ]);
    if let Some(censored) = report.censored() {
        paragraph.push(words(format!("In these rows {censored}. ")));
    }
    for sentence in priors::sentences(manifest) {
        paragraph.extend(parts(&sentence));
        paragraph.push(words(" ".to_owned()));
    }
    paragraph.extend(parts(&sampling(report)));
    paragraph
}

/// How draws were made and what they are worth; names stand between backticks.
fn sampling(report: &Report) -> String {
    let manifest = &report.manifest;
    let mut text: Vec<String> = Vec::new();
    let spec = samplers::find(&manifest.sampler).map(|entry| &entry.spec);
    let sampler = spec.map_or(manifest.sampler.as_str(), |spec| spec.title);
    let cite = spec.map_or_else(String::new, |spec| format!(" ({})", spec.cite));
    text.push(format!(
        "Posterior draws were made with {sampler}{cite}: {}, seed {}.",
        chains(report),
        manifest.seed
    ));
    text.extend(own_settings(report));
    text.extend(starts(report));
    let failed = manifest
        .chains
        .iter()
        .filter(|chain| chain.failure.is_some())
        .count();
    if failed > 0 {
        text.push(format!(
            "Of these chains {failed} ended with an error and {} no part of the results.",
            if failed == 1 { "is" } else { "are" }
        ));
    }
    let rule = manifest.stop_rule.as_ref();
    text.extend(rule.map(|rule| precision(report, rule)));
    match manifest.stop_reason {
        None | Some(StopReason::Draws) => {}
        // The rule has just been told with its numbers.
        Some(StopReason::Precision) if rule.is_some() => {}
        Some(reason) => text.push(format!("How the run ended: {}.", reason.sentence())),
    }
    if let Some(bias) = &manifest.approximation {
        text.push(format!("The draws are approximate: {bias}."));
    }
    if let Some(check) = &manifest.bias_check {
        text.push(format!("Bias check: {check}."));
    }
    if let Some(weights) = &manifest.weights {
        text.push(format!("Draws are weighted: {weights}."));
    }
    if let Some(sentence) = convergence(report) {
        text.push(sentence);
    }
    let counts_divergences =
        spec.is_some_and(|spec| spec.info.iter().any(|column| column.name == DIVERGENT));
    if counts_divergences {
        text.push(match manifest.divergences {
            0 => "There were no divergent transitions.".to_owned(),
            1 => "There was one divergent transition.".to_owned(),
            many => format!("There were {} divergent transitions.", thousands(many)),
        });
    }
    text.push(format!("{}.", capitalised(&manifest.scales)));
    text.push(
        "Reported are posterior means with their Monte Carlo standard errors, standard deviations, medians and central 90 % intervals."
            .to_owned(),
    );
    if let Some(correction) = &report.correction {
        text.push(format!(
            "Beside them stand means and standard deviations corrected by control variates: {correction}."
        ));
    }
    text.join(" ")
}

/// How the precision of the draws decided how many there are.
fn precision(report: &Report, rule: &StopRule) -> String {
    let sizes = rule.ess.map_or_else(String::new, |ess| {
        format!(
            ", and every effective sample size, in the bulk and in the tails, at least {}",
            count(ess)
        )
    });
    let wanted = format!("every R-hat was at most {}{sizes}", rule.rhat);
    let reason = report.manifest.stop_reason;
    let Some((last, first)) = rule.extended_at.split_last() else {
        // Looked at while chains draw, so that they end a little later.
        return match reason {
            Some(StopReason::Precision) => format!("Chains drew until {wanted}."),
            _ => format!("Chains were to draw until {wanted}, and ended before."),
        };
    };
    let first: Vec<String> = first.iter().map(|&draws| thousands(draws)).collect();
    let not_yet = match first.as_slice() {
        [] => thousands(*last),
        first => format!("{} and {}", first.join(", "), thousands(*last)),
    };
    let made = report
        .manifest
        .chains
        .iter()
        .map(|chain| chain.draws as u64);
    let made = made.max().unwrap_or(0);
    let draws = thousands(made);
    let end = match reason {
        Some(StopReason::Precision) => format!("at {draws} it was"),
        Some(StopReason::Draws) if made >= MOST_DRAWS => {
            format!("and they ended at {draws}, the most that the rule allows")
        }
        Some(StopReason::Draws) => format!(
            "and they ended at {draws}, since more would have taken long or would not have helped"
        ),
        _ => format!("and they ended at {draws}"),
    };
    format!(
        "Chains were extended until {wanted}: at {not_yet} draws of each this was not reached, {end}."
    )
}

/// The settings of the sampler that its defaults do not say: those that differ from them, or are chosen for each model.
fn own_settings(report: &Report) -> Option<String> {
    let entry = samplers::find(&report.manifest.sampler)?;
    let settings = report.recipe.sampler.settings.iter();
    let own: Vec<String> = settings
        .filter_map(|(key, value)| {
            let field = entry.spec.fields.iter().find(|field| field.key == key)?;
            let value = match value {
                value if field.is_default(value) => return None,
                Value::Real(number) => brief(*number),
                other => other.to_string(),
            };
            Some(format!("{} `{value}`", lower_first(field.label)))
        })
        .collect();
    (!own.is_empty()).then(|| format!("Settings besides fixed defaults: {}.", own.join(", ")))
}

/// Where chains started, if not where they do by default.
fn starts(report: &Report) -> Option<String> {
    let run = &report.recipe.run;
    let place = match &run.start {
        Start::Mode if run.start_spread == SPREAD => return None,
        Start::Mode => {
            let spread = brief(run.start_spread);
            format!("around the mode, {spread} posterior standard deviations wide")
        }
        Start::Prior => "at draws of the prior".to_owned(),
        Start::Values(_) => format!("at `{}`", run.start),
        Start::Run(run) => format!("at the last draws of the run `{run}`"),
    };
    Some(format!("Chains started {place}."))
}

/// What the paragraph cites, in the order of its sentences.
pub fn references(report: &Report) -> Vec<String> {
    let spec = samplers::find(&report.manifest.sampler).map(|entry| &entry.spec);
    let cite = spec.map(|spec| format!("{}: {}", spec.title, spec.cite));
    let software = format!(
        "{}, a workbench for Bayesian model fitting",
        program(report)
    );
    [
        Some(software),
        cite,
        Some(format!("R-hat and effective sample sizes: {VEHTARI}")),
        (report.correction.as_ref()).map(|_| format!("Control variates: {MIRA}")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// "Ergodic, version 0.1.0".
fn program(report: &Report) -> String {
    match report.manifest.program.rsplit_once(' ') {
        Some((_, version)) => format!("Ergodic, version {version}"),
        None => report.manifest.program.clone(),
    }
}

/// "4 chains of 1 000 draws each after 500 iterations of warm-up that were discarded, 4 000 draws in all".
fn chains(report: &Report) -> String {
    let chains = &report.manifest.chains;
    let range = |pick: fn(&ergodic_export::ChainManifest) -> usize| {
        let ends = [chains.iter().map(pick).min(), chains.iter().map(pick).max()];
        let [low, high] = ends.map(|end| end.unwrap_or(0));
        let text = match low == high {
            true => thousands(low as u64),
            false => format!("{} to {}", thousands(low as u64), thousands(high as u64)),
        };
        (text, high)
    };
    let (draws, _) = range(|chain| chain.draws);
    let (warmup, most) = range(|chain| chain.warmup);
    let warmup = match most {
        0 => String::new(),
        1 => " after one iteration of warm-up that was discarded".to_owned(),
        _ => format!(" after {warmup} iterations of warm-up that were discarded"),
    };
    let total: usize = chains.iter().map(|chain| chain.draws).sum();
    match chains.len() {
        1 => format!("one chain of {draws} draws{warmup}"),
        many => format!(
            "{many} chains of {draws} draws each{warmup}, {} draws in all",
            thousands(total as u64)
        ),
    }
}

/// The largest R-hat and the smallest effective sample sizes of all parameters that have any; those that a report leaves out
/// count.
fn convergence(report: &Report) -> Option<String> {
    let worst = &report.worst;
    let (rhat, bulk, tail) = (worst.rhat?, worst.ess_bulk?, worst.ess_tail?);
    let of = match report.manifest.not_kept.is_empty() {
        true => "all parameters",
        false => "the parameters whose draws were kept",
    };
    let chains = report.manifest.chains.iter();
    let chains = chains.filter(|chain| chain.failure.is_none()).count();
    let (units, unit) = match report.recipe.run.superchains {
        Some(groups) => (groups, "group of chains"),
        None => (chains, "chain"),
    };
    Some(format!(
        "Convergence was judged by R-hat of at most {RHAT_LIMIT} and effective sample sizes of at least {} ({ESS_PER_CHAIN} per {unit}). \
         Over {of} the largest rank-normalised split R-hat is {} and the smallest effective sample sizes are {} in the \
         bulk and {} in the tails (Vehtari et al. 2021).",
        count(ESS_PER_CHAIN * units as f64),
        rhat_text(rhat),
        count(bulk),
        count(tail)
    ))
}

/// The worst of each measure of convergence.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Worst {
    /// Largest R-hat.
    pub rhat: Option<f64>,
    /// Smallest effective sample size in the bulk.
    pub ess_bulk: Option<f64>,
    /// Smallest effective sample size in the tails.
    pub ess_tail: Option<f64>,
}

impl Worst {
    /// Of all rows of a summary but those of units that may have other numbers in another chain.
    pub fn of(rows: &[SummaryRow]) -> Self {
        let all = |column: Column| {
            let rows = rows.iter().filter(|row| !row.variable.is_exchangeable());
            rows.filter_map(move |row| column.value(row))
        };
        Self {
            rhat: all(Column::Rhat).reduce(f64::max),
            ess_bulk: all(Column::Bulk).reduce(f64::min),
            ess_tail: all(Column::Tail).reduce(f64::min),
        }
    }
}

/// Titles that begin with the name of a person.
const NAMES: [&str; 4] = ["Poisson", "Dirichlet", "Student", "Weibull"];

/// A title inside a sentence; words in capitals and names stay.
fn lower_first(text: &str) -> String {
    let is_name = NAMES.iter().any(|name| text.starts_with(name));
    let mut letters = text.chars();
    let first = letters.next();
    let rest = letters.as_str();
    match first {
        Some(c) if !is_name && !rest.starts_with(char::is_uppercase) => {
            c.to_lowercase().chain(rest.chars()).collect()
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use ergodic_base::ParamId;
    use ergodic_base::draws::DrawList;
    use ergodic_diagnostics::summarise;

    use super::*;

    /// Hidden units that have other numbers in another chain make no R-hat of a report.
    #[test]
    fn units_that_may_change_their_numbers_do_not_count() {
        let lists: Vec<DrawList> = [0.0, 50.0]
            .map(|apart| {
                let mut list = DrawList::new(2);
                for k in 0..200 {
                    let wave = (f64::from(k) * 1.7).sin();
                    list.push(&[wave + apart, wave]);
                }
                list
            })
            .into();
        let lists: Vec<&DrawList> = lists.iter().collect();
        let worst = |first: &str| {
            let names: [ParamId; 2] = [first, "precision[output]"].map(ParamId::from);
            Worst::of(&summarise(&names, &lists, &[], 0.0))
        };
        assert!(worst("hidden_weight[1,x]").rhat.is_some_and(|it| it < 1.2));
        assert!(worst("b[x]").rhat.is_some_and(|it| it > 1.5));
    }
}
