//! The model of a run that was read from its folder, made again in the background from its recipe and data: what its
//! parameters mean, and their priors.

use std::path::Path;
use std::sync::Arc;

use super::correcting::{Source, source};
use super::entry::{ReadRun, RunEntry, RunPhase};
use super::state::AppState;
use super::tasks::{Effects, Outcome};
use ergodic_analysis::{Recipe, job};
use ergodic_base::param::ParamId;
use ergodic_core::design::matrix::Design;
use ergodic_core::models::{self, Model, ParamInfo};
use ergodic_data::load::{LoadControl, Loaded};

/// Whether the model of a reopened run is known again.
#[derive(Clone, Default)]
pub enum Recalled {
    /// Nobody has looked at the run yet.
    #[default]
    No,
    /// The run's data are being read.
    Working,
    /// The model is known.
    Done(Arc<dyn Model>),
    /// The model cannot be known: the data are gone or others.
    Refused,
}

/// Begins to recall the model of the run shown, where it was read from a folder.
pub(super) fn recall_shown(state: &mut AppState, fx: &mut dyn Effects) {
    let open = state.data.as_ref().map(|data| Arc::clone(&data.loaded));
    let Some(id) = state.selected_run else { return };
    let Some(entry) = state.run_mut(id) else {
        return;
    };
    if !matches!(entry.recalled, Recalled::No) {
        return;
    }
    let Some(Source::Recipe(recipe, folder)) = source(entry) else {
        return;
    };
    entry.recalled = Recalled::Working;
    let fingerprint = entry.data_fingerprint().map(str::to_owned);
    let names = entry.variables();
    let is_same = |loaded: &Arc<Loaded>| Some(loaded.table.fingerprint()) == fingerprint.as_deref();
    let open = open.filter(is_same);
    fx.spawn(
        "recall-model",
        Box::new(move || Outcome::Recalled {
            run: id,
            model: model_of(&recipe, &folder, open)
                .filter(|(found, _)| fingerprint.as_ref().is_none_or(|it| it == found))
                .map(|(_, model)| model)
                .filter(|model| {
                    let params = model.params();
                    let is_same = |(param, name): (&ParamInfo, &ParamId)| param.name.was(name);
                    params.len() == names.len() && params.iter().zip(&names).all(is_same)
                }),
        }),
    );
}

/// The model of a recipe that stands in `folder`, with the fingerprint of its data.
fn model_of(
    recipe: &Recipe,
    folder: &Path,
    open: Option<Arc<Loaded>>,
) -> Option<(String, Arc<dyn Model>)> {
    let loaded = match open {
        Some(open) => open,
        None => Arc::new(job::load_data(recipe, folder, &LoadControl::default()).ok()?),
    };
    let entry = models::find(&recipe.model.template).ok()?;
    let frame = job::model_frame(recipe, &loaded.table).ok()?;
    let (design, _) = Design::build(&loaded.table, &frame).ok()?;
    let options = job::model_options(recipe).ok()?;
    let model = (entry.build)(Arc::new(design), &options).ok()?;
    Some((loaded.table.fingerprint().to_owned(), model))
}

/// Takes a model that was recalled.
pub(super) fn recalled(state: &mut AppState, id: u64, model: Option<Arc<dyn Model>>) {
    let Some(entry) = state.run_mut(id) else {
        return;
    };
    if let (Some(model), RunPhase::Read(read)) = (&model, &mut entry.phase) {
        read.call_as(model.as_ref());
    }
    entry.recalled = model.map_or(Recalled::Refused, Recalled::Done);
}

impl ReadRun {
    /// Takes the names of `model`, which tell more than those that an earlier version wrote.
    fn call_as(&mut self, model: &dyn Model) {
        let names: Vec<ParamId> = model.params().iter().map(|it| it.name.clone()).collect();
        if self.variables != names {
            let report = Arc::make_mut(&mut self.report);
            for (row, name) in report.summary.iter_mut().zip(&names) {
                row.variable = name.clone();
            }
            self.variables = names;
        }
    }
}

impl RunEntry {
    /// The model, once it is known.
    pub fn model(&self) -> Option<&Arc<dyn Model>> {
        match (&self.phase, &self.recalled) {
            (RunPhase::Live(run), _) => Some(&run.job().model),
            (_, Recalled::Done(model)) => Some(model),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::app::Command;
    use crate::app::testing::Session;
    use ergodic_core::engine::run_section::RunSection;

    #[test]
    fn a_reopened_run_knows_its_parameters_again_as_long_as_its_data_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let mut text = String::from("y,x\n");
        for i in 0..60 {
            text.push_str(&format!("{},{}\n", (i * 7 % 5) % 2, f64::from(i) / 7.0));
        }
        let mut session = Session::with_file(&folder, "t.csv", &text);
        session.send(Command::AcceptImport);
        session.send(Command::SetFormula("y ~ x".to_owned()));
        session.send(Command::SetRun(RunSection {
            chains: 1,
            warmup: Some(20),
            draws: 20,
            ..RunSection::default()
        }));
        session.send(Command::StartRun);
        session.wait_for_runs();
        let place = session.state.runs[0].place().unwrap().to_owned();
        let model = session.state.runs[0].model().unwrap().clone();

        let reopened = || {
            let mut again = Session::default();
            again.send(Command::Open(place.clone()));
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
