//! Likelihood fits in the background: of the draft's mixed model, of runs, and of two models for a likelihood-ratio test.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::correcting::{Source, source};
use super::entry::RunEntry;
use super::state::AppState;
use super::tasks::Effects;
use ergodic_analysis::Recipe;
use ergodic_analysis::likelihood::{LikelihoodFit, LikelihoodOptions, fit};
use ergodic_analysis::likelihood_ratio::likelihood_ratio;
use ergodic_core::formula::{Formula, term_label};
use ergodic_data::Loaded;

/// Fits the draft with these options.
pub(super) fn start(state: &mut AppState, options: LikelihoodOptions, fx: &mut dyn Effects) {
    state.estimated.cancel();
    let (Some(data), Some(document)) = (&state.data, &state.document) else {
        return;
    };
    let recipe = document.recipe.clone();
    let loaded = Arc::clone(&data.loaded);
    let going = state.begin(
        fx,
        ("Fitting the draft by likelihood", ""),
        move |control| fit(&recipe, Path::new(""), Some(&loaded), &options, control).map(Arc::new),
        |state, ended, _fx| {
            if let Some(why) = state.estimated.end(ended) {
                state.say(why, true);
            }
        },
    );
    state.estimated.begin(going);
}

/// Fits the data and formula of a run, with options of its recipe unless there are others.
pub(super) fn estimate(
    state: &mut AppState,
    id: u64,
    options: Option<LikelihoodOptions>,
    fx: &mut dyn Effects,
) {
    let Some(of) = Fittable::of(state, id) else {
        if let Some(entry) = state.run_mut(id) {
            entry.fitting.forget();
            entry.fitting.refuse(NO_RECIPE);
        }
        return;
    };
    // What was fitted before stays if this is refused or cancelled.
    state.begin_of(
        fx,
        ("Fitting by likelihood the data of", &of.title),
        move |control| {
            let options = options.unwrap_or_else(|| LikelihoodOptions::of(&of.recipe));
            let open = of.open.as_deref();
            fit(&of.recipe, &of.folder, open, &options, control).map(Arc::new)
        },
        (id, |entry| &mut entry.fitting),
    );
}

/// Compares the model of a run with one of another formula by their likelihood ratio; both are fitted by maximum likelihood.
pub(super) fn test_against(state: &mut AppState, id: u64, formula: String, fx: &mut dyn Effects) {
    let Some(of) = Fittable::of(state, id) else {
        if let Some(entry) = state.run_mut(id) {
            entry.likelihood_ratio.forget();
            entry.likelihood_ratio.refuse(NO_RECIPE);
        }
        return;
    };
    if let Some(entry) = state.run_mut(id) {
        entry.likelihood_ratio.forget();
    }
    state.begin_of(
        fx,
        ("Testing by likelihood the model of", &of.title),
        move |control| {
            formula.parse::<Formula>().map_err(|why| why.to_string())?;
            let options = LikelihoodOptions {
                // Restricted likelihoods of models with different predictors cannot be compared.
                reml: false,
                ..LikelihoodOptions::of(&of.recipe)
            };
            let mut other = of.recipe.clone();
            other.model.formula = formula;
            let fitted = |recipe: &Recipe| {
                fit(recipe, &of.folder, of.open.as_deref(), &options, control)
                    .map_err(|why| why.to_string())
            };
            let ratio = likelihood_ratio(&fitted(&of.recipe)?, &fitted(&other)?);
            ratio.map(Arc::new).map_err(|why| why.to_string())
        },
        (id, |entry| &mut entry.likelihood_ratio),
    );
}

/// What cannot be fitted.
const NO_RECIPE: &str = "Draws without a recipe have no data to fit";

/// What a likelihood fit of a run needs.
struct Fittable {
    title: String,
    recipe: Recipe,
    folder: PathBuf,
    /// Data of the run, if they are open.
    open: Option<Arc<Loaded>>,
}

impl Fittable {
    fn of(state: &AppState, id: u64) -> Option<Self> {
        let entry = state.run(id)?;
        let (recipe, folder) = match source(entry)? {
            Source::Job(job) => (job.recipe.clone(), PathBuf::new()),
            Source::Recipe(recipe, folder, _) => (*recipe, folder),
        };
        let fingerprint = entry.data_fingerprint();
        let open = state.data.as_ref().map(|data| Arc::clone(&data.loaded));
        Some(Self {
            title: entry.title(),
            recipe,
            folder,
            open: open.filter(|open| Some(open.table.fingerprint()) == fingerprint),
        })
    }
}

/// Formulas that lack one term of that of a run, each with a word for what it lacks: what likelihood-ratio tests are mostly of.
/// Terms that are part of an interaction stay.
pub fn simpler_formulas(entry: &RunEntry) -> Vec<(String, String)> {
    let formula = entry.recipe.as_ref().map(|recipe| &recipe.model.formula);
    let Some(formula) = formula.and_then(|text| text.parse::<Formula>().ok()) else {
        return Vec::new();
    };
    let terms = formula.terms.iter();
    let is_free = |term: &&Vec<_>| {
        let mut others = formula
            .terms
            .iter()
            .filter(|other| other.len() > term.len());
        !others.any(|other| term.iter().all(|one| other.contains(one)))
    };
    let fixed = terms.filter(is_free).map(|term| {
        let without = formula.without(std::slice::from_ref(term));
        (term_label(term), without.to_string())
    });
    let slopes = formula.groups.iter().enumerate().flat_map(|(at, group)| {
        let only = usize::from(!group.intercept);
        let terms = group.terms.iter().skip(only);
        terms.map(move |term| (at, term, group.group.join(":")))
    });
    let slopes = slopes.map(|(at, term, by)| {
        let mut without = formula.clone();
        without.groups[at].terms.retain(|other| other != term);
        (format!("{} by {by}", term_label(term)), without.to_string())
    });
    fixed.chain(slopes).collect()
}

/// Whether a fit is of `recipe`'s data and formula.
pub fn holds_for(done: &LikelihoodFit, recipe: &Recipe) -> bool {
    done.recipe.data == recipe.data && done.recipe.model == recipe.model
}
