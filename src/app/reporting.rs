//! Reports and pictures of runs, on threads of their own.

use std::path::PathBuf;

use super::correcting::{Source, source};
use super::entry::RunEntry;
use super::following::ends;
use super::state::AppState;
use super::tasks::Effects;
use super::writing::results_of;
use ergodic_analysis::predict::{Fitted, PredictError};
use ergodic_analysis::{Description, JobError, Recipe};
use ergodic_base::Control;
use ergodic_export::{Results, RunFolder};
use ergodic_report::report::find as find_format;
use ergodic_report::{
    Access, Chains, FollowChains, OtherRun, OtherShown, Pictured, ReadModel, Report, ReportError,
    find, write_picture,
};

/// A picture of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Which figure.
    pub figure: &'static str,
    /// The parameter that it is of, or around.
    pub variable: usize,
}

/// Saves a report of a run as it stands.
pub(super) fn save_report(
    state: &mut AppState,
    (id, format): (u64, &'static str),
    path: PathBuf,
    fx: &mut dyn Effects,
) {
    let Some(entry) = state.run(id) else { return };
    let Some(results) = results_of(entry) else {
        state.refuse("This run has no draws to report");
        return;
    };
    let Some(source) = source(entry) else {
        state.refuse(ReportError::OtherOrigin.to_string());
        return;
    };
    let (title, place) = (entry.title(), entry.place().map(ToOwned::to_owned));
    let label = entry.label.clone();
    let work = move |control: &Control| -> Result<String, ReportError> {
        let format = find_format(format)?;
        let report = Report {
            label,
            ..report_of(&results, &source, place, control)?
        };
        let text = (format.write)(&report);
        control.check(ReportError::Cancelled)?;
        ergodic_export::write_file("The report could not be written", &path, |out| {
            out.write_all(text.as_bytes())
        })?;
        Ok(format!("Saved as {}", path.display()))
    };
    let say = |state: &mut AppState, ended, _fx: &mut dyn Effects| state.say_ended(ended);
    state
        .begin(fx, ("Writing the report of", &title), work, say)
        .keep();
}

/// The report of a run, whose folder is at `place` if it has one.
fn report_of(
    results: &Results,
    source: &Source,
    place: Option<PathBuf>,
    control: &Control,
) -> Result<Report, ReportError> {
    let (recipe, description) = match source {
        Source::Job(job) => (&job.recipe, Description::of(&job.recipe, &job.table)),
        Source::Recipe(recipe, folder, _) => {
            (&**recipe, Description::read(recipe, folder, control))
        }
    };
    let description = match description {
        Err(JobError::Cancelled) => return Err(ReportError::Cancelled),
        other => other.map_err(|error| error.to_string()),
    };
    // The recipe that was saved has the draws that were made, where those were others than planned.
    let saved = |place: PathBuf| -> Option<Recipe> { RunFolder::open(&place).ok()?.recipe().ok() };
    let recipe = place.and_then(saved).unwrap_or_else(|| recipe.clone());
    let read = |control: &Control| source.fitted(control);
    let there = description.is_ok().then_some(&read as ReadModel<'_>);
    Report::of(results, &recipe, description, there, control)
}

/// Name and results of the run that `entry` was compared with last, where `picture` compares two.
fn other_run(state: &AppState, entry: &RunEntry, picture: Picture) -> Option<(String, Results)> {
    let shown = find(picture.figure).ok()?.other;
    let compared = entry.compared.done();
    let compared = compared.filter(|_| shown == OtherShown::Always)?;
    let with = state.run(compared.with)?;
    Some((with.title(), results_of(with)?))
}

/// Saves a picture of a run as it stands.
pub(super) fn save_picture(
    state: &mut AppState,
    (id, picture): (u64, Picture),
    path: PathBuf,
    fx: &mut dyn Effects,
) {
    let Some(entry) = state.run(id) else { return };
    let Some(results) = results_of(entry) else {
        state.refuse("This run has no draws to draw");
        return;
    };
    let (title, source) = (entry.title(), source(entry));
    let (named, other) = (title.clone(), other_run(state, entry, picture));
    let bins = entry.replicated.done().and_then(|done| done.bins);
    let ends = entry.view().map_or_else(Vec::new, |view| ends(&view));
    let work = move |control: &Control| -> Result<String, ReportError> {
        let entry = find(picture.figure)?;
        let around = entry.around(&Chains::of(&results)?, picture.variable);
        let read = |control: &Control| -> Result<Fitted, PredictError> {
            let unknown =
                || PredictError::Refused("The model of these draws is not known".to_owned());
            source.as_ref().ok_or_else(unknown)?.fitted(control)
        };
        let known = source.as_ref();
        let follow = known.map(|source| |control: &Control| source.trajectories(&ends, control));
        let pictured = Pictured {
            results: &results,
            parameters: &around,
            access: Access {
                model: known.map(|_known| &read as ReadModel<'_>),
                trajectories: follow.as_ref().map(|follow| follow as FollowChains<'_>),
                bins,
                columns: &[],
            },
            other: other.as_ref().map(|(with, results)| OtherRun {
                names: [named.clone(), with.clone()],
                results,
            }),
        };
        write_picture(entry, &pictured, &path, control)?;
        Ok(format!("Saved as {}", path.display()))
    };
    let say = |state: &mut AppState, ended, _fx: &mut dyn Effects| state.say_ended(ended);
    state
        .begin(fx, ("Drawing a picture of", &title), work, say)
        .keep();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::Session;
    use crate::app::{DataCommand, DraftChange, PathCommand, Pick, Product};

    #[test]
    fn reports_and_pictures_are_saved_of_live_runs_and_of_read_ones() {
        let mut session = Session::with_draft("churn");
        session.run(2, 60, 120);
        let place = session.state.runs[0].place().unwrap().to_owned();
        session.send(DataCommand::Open(place));
        let folder = tempfile::tempdir().unwrap();
        let mut pages = Vec::new();
        for index in 0..2 {
            let entry: &RunEntry = &session.state.runs[index];
            let (id, number) = (entry.id, entry.number);
            session.send(PathCommand::Pick(Product::Report(id, "html")));
            let name = format!("run-{number}-report.html");
            assert_eq!(
                session.fx.picks.pop(),
                Some(Pick::Save(Product::Report(id, "html"), name.clone()))
            );
            let path = folder.path().join(name);
            session.send(PathCommand::Write(
                Product::Report(id, "html"),
                path.clone(),
            ));
            let page = std::fs::read_to_string(path).unwrap();
            assert!(page.contains("<h2>Methods</h2>") && page.contains("Stan program"));
            // How long it took to read the run again is no part of it.
            pages.push(page);
            for figure in ergodic_report::FIGURES {
                let picture = Picture {
                    figure: figure.id,
                    variable: 1,
                };
                session.send(PathCommand::Pick(Product::Picture(id, picture)));
                let Some(Pick::Save(_, name)) = session.fx.picks.pop() else {
                    panic!("{}", figure.id)
                };
                let path = folder.path().join(name);
                session.send(PathCommand::Write(
                    Product::Picture(id, picture),
                    path.clone(),
                ));
                // Outcomes are yes or no, there are no groups or clusters, no rows are held out, no run is compared with, and the sampler
                // is exact.
                let others = [
                    "groups",
                    "ecdf",
                    "survival",
                    "outcomes",
                    "rootogram",
                    "roc",
                    "course",
                    "moments",
                    "bias",
                    "clusters",
                    "likelihood",
                ];
                if others.contains(&figure.id) {
                    let toast = session.state.toast.as_ref().unwrap();
                    assert!(toast.is_error && !path.exists(), "{}", figure.id);
                    continue;
                }
                let text = std::fs::read_to_string(path).unwrap();
                assert!(text.ends_with("</svg>\n"), "{}", figure.id);
            }
        }
        assert_eq!(pages[0], pages[1]);
        let picture = Picture {
            figure: "trace",
            variable: 0,
        };
        let path = folder.path().join("trace.png");
        session.send(PathCommand::Write(
            Product::Picture(1, picture),
            path.clone(),
        ));
        assert!(std::fs::read(path).unwrap().starts_with(b"\x89PNG\r\n"));
        let path = folder.path().join("trace.jpg");
        session.send(PathCommand::Write(Product::Picture(1, picture), path));
        let toast = session.state.toast.as_ref().unwrap();
        assert!(toast.is_error && toast.text.contains("end the name in .svg, .png or .csv"));
    }
    #[test]
    fn nothing_is_written_over_the_data_or_over_a_run() {
        let folder = tempfile::tempdir().unwrap();
        let rows = (0..60).map(|i| format!("{},{}\n", (i * 7 % 5) % 2, f64::from(i) / 7.0));
        let text = format!("y,x\n{}", rows.collect::<String>());
        let mut session = Session::with_file(&folder, "table.csv", &text);
        session.send(DataCommand::AcceptImport);
        session.send(DraftChange::Formula("y ~ x".to_owned()));
        session.run(1, 20, 30);
        let (id, place) = {
            let entry = &session.state.runs[0];
            (entry.id, entry.place().unwrap().to_owned())
        };
        let draws = place.join("draws.csv");
        let before = std::fs::read(&draws).unwrap();
        for path in [folder.path().join("table.csv"), draws.clone()] {
            for command in [
                PathCommand::Write(Product::Results(id, "summary-csv"), path.clone()),
                PathCommand::Write(Product::Report(id, "html"), path.clone()),
                PathCommand::Write(Product::Recipe, path.clone()),
                PathCommand::Write(Product::Project, path.clone()),
            ] {
                session.send(command);
                let toast = session.state.toast.take().unwrap();
                assert!(toast.text.contains("name another one"), "{}", toast.text);
            }
        }
        assert_eq!(std::fs::read(draws).unwrap(), before);
        assert_eq!(
            std::fs::read_to_string(folder.path().join("table.csv")).unwrap(),
            text
        );
    }
}
