use super::*;
use crate::app::testing::Session;
use crate::app::{
    DataCommand, DraftChange, PathCommand, Pick, Product, ProjectCommand, Question, RunCommand,
};
use ergodic_analysis::Recipe;
use ergodic_core::engine::RunSection;

/// A session with a finished, saved run of a table in its folder.
fn with_run() -> Session {
    let mut session = Session::default();
    let mut text = String::from("y,x\n");
    for i in 0..60 {
        text.push_str(&format!("{},{}\n", (i * 7 % 5) % 2, f64::from(i) / 7.0));
    }
    let path = session.folder.path().join("table.csv");
    std::fs::write(&path, text).unwrap();
    session.send(DataCommand::Open(path));
    session.send(DataCommand::AcceptImport);
    session.send(DraftChange::Formula("y ~ x".to_owned()));
    session.run(2, 60, 80);
    session
}

fn reopened(path: &Path) -> Session {
    let mut session = Session::default();
    session.send(DataCommand::Open(path.to_owned()));
    session
}

#[test]
fn a_project_opens_with_the_same_draft_and_results_and_notices_changes() {
    let mut session = with_run();
    assert!(session.state.has_unsaved_changes());
    session.send(ProjectCommand::Save);
    let proposed = Pick::Save(Product::Project, "table.ergodic".to_owned());
    assert_eq!(session.fx.picks, [proposed]);
    let path = session.folder.path().join("study");
    session.send(PathCommand::Write(Product::Project, path.clone()));
    let path = path.with_extension(EXTENSION);
    assert!(!session.state.has_unsaved_changes());
    assert_eq!(session.state.preferences.recent[0], path);
    assert!(
        session.state.runs[0]
            .place()
            .unwrap()
            .starts_with(session.folder.path())
    );

    let mut again = reopened(&path);
    assert_eq!(again.state.page, Page::Runs);
    assert_eq!(again.state.document, session.state.document);
    assert!(again.state.data.is_some() && again.state.check.is_some());
    let summary = |session: &Session| session.state.runs[0].report().unwrap().summary.clone();
    assert_eq!(summary(&again), summary(&session));
    assert!(!again.state.has_unsaved_changes());
    let draft = |session: &Session| session.state.document.clone().unwrap().recipe;
    assert!(!again.state.runs[0].is_stale(&draft(&again)));

    // A change makes results stale, is asked about, and is kept if the answer says so.
    again.send(DraftChange::Prior(
        "b".to_owned(),
        Some("normal(0, 1)".to_owned()),
    ));
    assert!(again.state.runs[0].is_stale(&draft(&again)));
    again.send(ProjectCommand::Quit);
    assert_eq!(again.state.asking, Some(Then::Quit));
    again.send(ProjectCommand::CancelQuestion);
    assert!(!again.state.closing);
    again.send(ProjectCommand::Quit);
    again.send(ProjectCommand::Answer { save: true });
    assert!(again.state.closing);
    let third = reopened(&path);
    assert_eq!(draft(&third), draft(&again));
    assert!(third.state.runs[0].is_stale(&draft(&third)));
}

#[test]
fn a_project_is_opened_again_whatever_its_name() {
    let mut session = with_run();
    let path = session.folder.path().join("p.toml");
    session.send(PathCommand::Write(Product::Project, path.clone()));
    let file = session.folder.path().join("p.toml.ergodic");
    assert_eq!(session.state.project.as_ref().unwrap().path, file);
    assert!(!path.exists());
    assert_eq!(reopened(&file).state.runs.len(), 1);
    // One that was saved by an earlier version, or given another name since, stays where it is.
    std::fs::rename(&file, &path).unwrap();
    let mut again = reopened(&path);
    assert_eq!(again.state.problem, None);
    assert_eq!(again.state.runs.len(), 1);
    again.send(DraftChange::NewSeed);
    again.send(ProjectCommand::Save);
    assert!(!again.state.has_unsaved_changes() && !file.exists());
    assert_eq!(file_of(Path::new("a/b.ERGODIC")), Path::new("a/b.ERGODIC"));
    assert_eq!(file_of(Path::new("a/b.v2")), Path::new("a/b.v2.ergodic"));
}

#[test]
fn a_project_of_an_earlier_version_opens_and_is_saved_in_the_words_of_today() {
    let folder = tempfile::tempdir().unwrap();
    let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference");
    for place in ["earlier_project", "earlier_runs/hierarchical"] {
        let to = folder.path().join(place);
        std::fs::create_dir_all(&to).unwrap();
        for file in std::fs::read_dir(reference.join(place)).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
        }
    }
    let path = folder.path().join("earlier_project/study.ergodic");
    let mut session = reopened(&path);
    assert_eq!(session.state.problem, None);
    assert_eq!(session.state.page, Page::Runs);
    assert!(session.state.data.is_some() && session.state.panes.is_some());
    let recipe = session.state.document.clone().unwrap().recipe;
    let parametrisation = |recipe: &Recipe| {
        recipe
            .model
            .settings
            .text("parametrisation")
            .map(str::to_owned)
    };
    assert_eq!(parametrisation(&recipe).as_deref(), Some("non-centred"));
    let check = session.state.check.as_ref().unwrap();
    assert_eq!(check.error, None);
    let run = &session.state.runs[0];
    assert!(run.report().unwrap().summary.len() > 2);
    assert!(!run.is_stale(&recipe));

    session.send(ProjectCommand::Save);
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(!written.contains("noncentred") && written.contains("non-centred"));
    assert!(written.contains("\"peak\""));
}

#[test]
fn missing_data_and_runs_are_told_with_advice_and_the_rest_is_there() {
    let mut session = with_run();
    let path = session.folder.path().join("study.ergodic");
    session.send(PathCommand::Write(Product::Project, path.clone()));
    let table = session.folder.path().join("table.csv");
    let moved = session.folder.path().join("moved.csv");
    std::fs::rename(&table, &moved).unwrap();
    let mut again = reopened(&path);
    let problem = again.state.problem.clone().unwrap().message;
    assert!(
        problem.contains("open the data where they are now"),
        "{problem}"
    );
    assert!(again.state.runs[0].report().is_some());
    // The draft goes on with the data at their new place.
    again.send(DataCommand::Open(moved));
    assert!(again.state.problem.is_none() && again.state.check.is_some());
    assert_eq!(
        again.state.document.as_ref().unwrap().recipe.model,
        session.state.document.as_ref().unwrap().recipe.model
    );

    std::fs::remove_dir_all(session.state.runs[0].place().unwrap()).unwrap();
    let again = reopened(&path);
    assert!(again.state.runs.is_empty());
    let words = again.state.toast.unwrap().text;
    assert!(
        words.contains("Run 1") && words.contains("put its folder back"),
        "{words}"
    );
}

#[test]
fn draws_of_a_run_are_not_asked_about_data_that_have_changed_since() {
    let mut session = with_run();
    let path = session.folder.path().join("study.ergodic");
    session.send(PathCommand::Write(Product::Project, path.clone()));
    let table = session.folder.path().join("table.csv");
    let text = std::fs::read_to_string(&table).unwrap();
    // The same rows and columns, with other outcomes.
    let other: String = text
        .lines()
        .map(|line| match line.split_once(',') {
            Some(("0", x)) => format!("1,{x}\n"),
            Some(("1", x)) => format!("0,{x}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    std::fs::write(&table, other).unwrap();
    let mut again = reopened(&path);
    let id = again.state.runs[0].id;
    for command in [
        Question::FindAnswers(id),
        Question::Replicate(id, None),
        Question::Predict(id, true),
        Question::Score(id),
    ] {
        again.send(command);
    }
    let entry = &again.state.runs[0];
    let answers = entry.answers().unwrap().outcome.as_ref();
    for why in [
        answers.err().map(String::as_str),
        entry.replicated.refusal(),
        entry.predicted.refusal(),
        entry.scores.refusal(),
    ] {
        let why = why.unwrap_or_default();
        assert!(why.contains("The data are not those"), "{why}");
    }
    std::fs::write(&table, text).unwrap();
    again.send(Question::Predict(id, true));
    assert!(again.state.runs[0].predictions(true).is_some());
}

#[test]
fn a_run_that_goes_on_is_among_the_recent_files_until_it_is_saved() {
    let mut session = Session::with_draft("churn");
    session.send(DraftChange::Run(RunSection {
        chains: 1,
        warmup: Some(1_000_000),
        draws: 1000,
        ..RunSection::default()
    }));
    session.send(RunCommand::Start);
    let place = session.state.runs[0].place().unwrap().to_owned();
    assert!(place.is_dir());
    assert!(session.state.preferences.recent.contains(&place));
    session.send(RunCommand::Stop(session.state.runs[0].id));
    session.wait_for_runs();
    assert!(!session.state.preferences.recent.contains(&place));
}

#[test]
fn a_project_names_a_run_from_its_start_and_keeps_the_draft_it_was_saved_with() {
    let mut session = with_run();
    let path = session.folder.path().join("study.ergodic");
    session.send(PathCommand::Write(Product::Project, path.clone()));
    let saved = Project::read(&path).unwrap();
    session.send(DraftChange::Run(RunSection {
        chains: 1,
        warmup: Some(20),
        draws: 100_000_000,
        ..RunSection::default()
    }));
    session.send(RunCommand::Start);
    let entry = &session.state.runs[1];
    let place = entry.place().unwrap().to_owned();
    let begun = std::time::Instant::now();
    while session.state.runs[1].view().unwrap().draws_per_chain() < 500 {
        assert!(begun.elapsed().as_secs() < 60, "no draws come");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let named = Project::read(&path).unwrap();
    assert_eq!(named.runs[1].path, place);
    assert_eq!(
        (&named.draft, &named.runs[..1]),
        (&saved.draft, &saved.runs[..])
    );
    assert!(session.state.has_unsaved_changes());

    // A crash leaves what was written until then.
    let Session { state, folder, .. } = session;
    drop(state);
    let again = reopened(&path);
    assert_eq!(again.state.runs.len(), 2, "{:?}", again.state.messages);
    let entry = &again.state.runs[1];
    assert!(entry.view().unwrap().draws_per_chain() >= 500 && entry.report().is_some());
    drop(folder);
}

#[test]
fn a_run_and_its_check_share_one_folder() {
    let mut session = with_run();
    let folder = session.state.runs[0].place().unwrap().to_owned();
    session.send(RunCommand::AddDraws(1, 40));
    session.wait_for_runs();
    assert_eq!(session.state.runs[0].place().unwrap(), folder);
    let results = ergodic_export::RunFolder::open(&folder)
        .unwrap()
        .results()
        .unwrap();
    assert!(results.draws.iter().all(|draws| draws.len() == 120));
    let parent = folder.parent().unwrap();
    assert_eq!(std::fs::read_dir(parent).unwrap().count(), 1);
}
