//! Comparisons of two finished runs, on threads of their own.

use std::path::PathBuf;
use std::sync::Arc;

use super::entry::{RunEntry, RunPhase};
use super::from_draws::{FromDraws, draws_of, find};
use super::state::AppState;
use super::tasks::Effects;
use ergodic_analysis::Recipe;
use ergodic_analysis::hold_out::FittedRows;
use ergodic_analysis::run_comparison::{
    Cancelled, ComparedRun, DataUsed, DistanceInWords, RunComparison, compare_runs,
};
use ergodic_base::ParamId;
use ergodic_base::draws::DrawList;
use ergodic_core::engine::{Report, RunView};
use ergodic_core::samplers::weight_column;
use ergodic_export::RunFolder;

/// A run beside another one.
#[derive(Debug)]
pub struct Compared {
    /// The run compared with.
    pub with: u64,
    /// Draws of both when they were compared.
    pub draws: [usize; 2],
    /// What was found.
    pub found: RunComparison,
    /// Positions of the parameters, those that change most first.
    pub order: Vec<usize>,
    /// The joint distances in words.
    pub distances: Vec<DistanceInWords>,
}

impl RunEntry {
    /// The comparison with `other` from the draws as they are, once it is there.
    pub fn compared_with(&self, other: &Self) -> Option<&Arc<Compared>> {
        let draws = [self, other].map(draws_of);
        let done = self.compared.done();
        done.filter(|done| done.with == other.id && done.draws == draws)
    }
}

/// Why a run cannot be compared with others now, if so.
pub fn refusal(entry: &RunEntry) -> Option<&'static str> {
    if entry.is_active() {
        Some("Runs are compared once they have ended")
    } else if draws_of(entry) == 0 {
        Some("A run without draws has nothing to compare")
    } else {
        None
    }
}

/// Runs that `entry` can be compared with, in the order of the project.
pub fn others<'a>(state: &'a AppState, entry: &RunEntry) -> impl Iterator<Item = &'a RunEntry> {
    let id = entry.id;
    let mut runs = state.runs.iter();
    std::iter::from_fn(move || runs.find(|other| other.id != id && refusal(other).is_none()))
}

const QUESTION: FromDraws<Compared> = FromDraws {
    kept: |entry| &mut entry.compared,
    what: "Comparing with another run",
    without_recipe: "Draws without a recipe are compared on the command line: `ergodic compare-runs`",
    cancelled: "Comparing the runs was cancelled",
    earlier_stays: false,
};

/// What a comparison needs to know of a run.
struct Known {
    name: String,
    variables: Vec<ParamId>,
    view: Arc<RunView>,
    report: Arc<Report>,
    weights: Vec<Vec<f64>>,
    data: Option<DataUsed>,
    approximation: Option<&'static str>,
    recipe: Option<Recipe>,
    place: Option<PathBuf>,
}

impl Known {
    fn of(entry: &RunEntry) -> Option<Self> {
        let view = entry.view()?;
        let data = match &entry.phase {
            RunPhase::Live(run) => {
                let rows = FittedRows::of(run.job());
                Some(DataUsed {
                    fingerprint: run.job().table.fingerprint().to_owned(),
                    source: run.job().recipe.data.source.clone(),
                    rows: (rows.total, rows.used),
                })
            }
            RunPhase::Read(read) => read.manifest.as_ref().map(|manifest| DataUsed {
                fingerprint: manifest.data_fingerprint.clone(),
                source: manifest.data_source.clone(),
                rows: (manifest.rows_total, manifest.rows_used),
            }),
            _ => None,
        };
        Some(Self {
            name: entry.title(),
            variables: entry.variables(),
            report: entry.report()?,
            weights: view.weights(weight_column(&entry.info_names())),
            view,
            data,
            approximation: entry.sampler().and_then(|spec| spec.bias),
            recipe: entry
                .job()
                .map(|job| job.recipe.clone())
                .or(entry.recipe.clone()),
            place: entry.place().map(ToOwned::to_owned),
        })
    }

    /// The recipe with every choice in it, where its folder has one: what a run was started with leaves defaults open.
    fn complete(&mut self) {
        let folder = self
            .place
            .as_ref()
            .and_then(|place| RunFolder::open(place).ok());
        let saved = folder.and_then(|folder| folder.recipe().ok());
        self.recipe = saved.or(self.recipe.take());
    }

    fn lent<'a>(&'a self, lists: &'a [&'a DrawList]) -> ComparedRun<'a> {
        ComparedRun {
            name: &self.name,
            recipe: self.recipe.as_ref(),
            data: self.data.as_ref(),
            variables: &self.variables,
            summary: &self.report.summary,
            draws: lists,
            weights: &self.weights,
            approximation: self.approximation,
        }
    }
}

/// Compares run `id` with run `with`, unless that is done.
pub(super) fn compare(state: &mut AppState, id: u64, with: u64, fx: &mut dyn Effects) {
    let (Some(entry), Some(other)) = (state.run(id), state.run(with)) else {
        return;
    };
    if let Some(why) = refusal(entry).or(refusal(other)) {
        state.refuse(why);
        return;
    }
    if entry.compared_with(other).is_some() {
        return;
    }
    let draws = [entry, other].map(draws_of);
    let (Some(mut one), Some(mut another)) = (Known::of(entry), Known::of(other)) else {
        return;
    };
    find(state, id, &QUESTION, fx, move |_draws, control| {
        one.complete();
        another.complete();
        let lists = [&one, &another].map(|run| {
            run.view
                .usable()
                .map(|c| &c.draws.draws)
                .collect::<Vec<&DrawList>>()
        });
        let found = compare_runs([&one.lent(&lists[0]), &another.lent(&lists[1])], control)?;
        Ok::<_, Cancelled>(Compared {
            with,
            draws,
            order: found.by_size(),
            distances: found.distances(),
            found,
        })
    });
}

#[cfg(test)]
mod tests {
    use crate::app::testing::Session;
    use crate::app::{Analysis, DraftChange, Question, RunCommand};

    #[test]
    fn a_run_is_compared_with_another_once_and_again_with_more_draws() {
        let (mut session, one) = Session::with_run("churn");
        session.send(DraftChange::Prior(
            "b".to_owned(),
            Some("normal(0, 0.1)".to_owned()),
        ));
        session.send(RunCommand::Start);
        session.wait_for_runs();
        let two = session.state.runs[1].id;
        session.send(Question::Compare(two, one));
        let [a, b] = [&session.state.runs[0], &session.state.runs[1]];
        let compared = b.compared_with(a).unwrap();
        assert!(a.compared_with(b).is_none());
        let settings = compared.found.settings.as_ref().unwrap();
        let keys: Vec<&str> = settings.iter().map(|it| it.key.as_str()).collect();
        assert_eq!(keys, ["priors.b"]);
        assert_eq!(settings[0].values[0].as_deref(), Some("normal(0, 0.1)"));
        assert_eq!(compared.found.subject, "Same data and model, other priors");
        assert!(session.begin(Question::Compare(two, one)).is_empty());
        session.send(RunCommand::AddDraws(one, 20));
        session.wait_for_runs();
        let [a, b] = [&session.state.runs[0], &session.state.runs[1]];
        assert!(b.compared_with(a).is_none());
        let work = session.begin(Question::Compare(two, one)).remove(0);
        session.send(Question::Cancel(two, Analysis::Comparison));
        session.end(work());
        assert!(session.state.runs[1].compared.working().is_none());
    }
}
