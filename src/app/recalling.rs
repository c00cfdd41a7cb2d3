//! The model of a run that was read from its folder, made again in the background from its recipe and data: what its
//! parameters mean, and their priors.

use ergodic_analysis::templates;
use std::path::Path;
use std::sync::Arc;

use super::correcting::{Source, source};
use super::entry::{RunEntry, RunPhase};
use super::state::AppState;
use super::tasks::Effects;
use ergodic_analysis::{Recipe, job};
use ergodic_base::Control;
use ergodic_core::design::Design;
use ergodic_core::engine::keep::{self, Keep};
use ergodic_core::models::Model;
use ergodic_data::Loaded;

/// Begins to recall the model of the run shown, where it was read from a folder.
pub(super) fn recall_shown(state: &mut AppState, fx: &mut dyn Effects) {
    let open = state.data.as_ref().map(|data| Arc::clone(&data.loaded));
    let Some(id) = state.selected_run else { return };
    let Some(entry) = state.run(id).filter(|entry| entry.recalled.is_idle()) else {
        return;
    };
    let Some(Source::Recipe(recipe, folder, _)) = source(entry) else {
        return;
    };
    let fingerprint = entry.data_fingerprint().map(str::to_owned);
    let names = entry.variables();
    let is_same = |loaded: &Arc<Loaded>| Some(loaded.table.fingerprint()) == fingerprint.as_deref();
    let open = open.filter(is_same);
    let title = entry.title();
    let going = state.begin(
        fx,
        ("Reading the model of", &title),
        move |control| {
            model_of(&recipe, &folder, open, control)
                .filter(|(found, _)| fingerprint.as_ref().is_none_or(|it| it == found))
                .map(|(_, model)| model)
                .filter(|model| {
                    let params = model.params();
                    let keep = Keep::of(&recipe.run.keep, params);
                    keep.is_ok_and(|keep| keep::names(params, keep.kept()) == names)
                })
                .ok_or("The data of the run are gone or others")
        },
        move |state, ended, _fx| {
            if let Some(entry) = state.run_mut(id) {
                entry.recalled.end(ended);
                if entry.recalled.is_idle() {
                    entry.recalled.refuse("Reading the model was cancelled");
                }
            }
        },
    );
    if let Some(entry) = state.run_mut(id) {
        entry.recalled.begin(going);
    }
}

/// The model of a recipe that stands in `folder`, with the fingerprint of its data.
fn model_of(
    recipe: &Recipe,
    folder: &Path,
    open: Option<Arc<Loaded>>,
    control: &Control,
) -> Option<(String, Arc<dyn Model>)> {
    let loaded = match open {
        Some(open) => open,
        None => Arc::new(job::load_data(recipe, folder, control).ok()?),
    };
    let entry = templates::find(&recipe.model.template).ok()?;
    let frame = job::model_frame(recipe, &loaded.table).ok()?;
    let (design, _) = Design::build(&loaded.table, &frame).ok()?;
    let options = job::model_options(recipe).ok()?;
    let model = (entry.build)(Arc::new(design), &options).ok()?;
    Some((loaded.table.fingerprint().to_owned(), model))
}

impl RunEntry {
    /// The model, once it is known.
    pub fn model(&self) -> Option<&Arc<dyn Model>> {
        match &self.phase {
            RunPhase::Live(run) => Some(&run.job().model),
            _ => self.recalled.done(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::app::testing::Session;
    use crate::app::{DataCommand, DraftChange};

    #[test]
    fn a_reopened_run_knows_its_parameters_again_as_long_as_its_data_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let mut text = String::from("y,x\n");
        for i in 0..60 {
            text.push_str(&format!("{},{}\n", (i * 7 % 5) % 2, f64::from(i) / 7.0));
        }
        let mut session = Session::with_file(&folder, "t.csv", &text);
        session.send(DataCommand::AcceptImport);
        session.send(DraftChange::Formula("y ~ x".to_owned()));
        session.run(1, 20, 20);
        let place = session.state.runs[0].place().unwrap().to_owned();
        let model = session.state.runs[0].model().unwrap().clone();

        let reopened = || {
            let mut again = Session::default();
            again.send(DataCommand::Open(place.clone()));
            again.tick();
            again
        };
        let again = reopened();
        let entry = &again.state.runs[0];
        assert!(again.state.data.is_none() && entry.run().is_none());
        let recalled = entry.model().unwrap();
        let (mine, theirs) = (&model.params()[1], &recalled.params()[1]);
        assert!(!mine.meaning.is_empty());
        assert_eq!(mine.meaning, theirs.meaning);
        assert_eq!(model.prior_density(1, 0.3), recalled.prior_density(1, 0.3));

        std::fs::write(folder.path().join("t.csv"), text + "1,2\n").unwrap();
        assert!(reopened().state.runs[0].model().is_none());
    }
}
