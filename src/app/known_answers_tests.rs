//! Answers of the window about well-known data, beside those of other programs (`tests/reference/answers/answers.R`): the same that
//! `tests/answers.rs` asks the command line.

use std::path::{Path, PathBuf};

use super::Command;
use super::answering::AnswersAsked;
use super::draft_change::DraftChange;
use super::testing::Session;
use ergodic_base::settings::Value;

/// An analysis by clicks.
struct Analysis {
    set: &'static str,
    template: &'static str,
    formula: &'static str,
    /// Whose effects are compared, and whether its numbers are taken as categories.
    predictor: &'static str,
    is_categorical: bool,
    family: Option<&'static str>,
    prior: Option<[&'static str; 2]>,
}

fn references() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/answers")
}

/// Contrast, mean, its Monte Carlo error and standard deviation of the known effects of a predictor.
fn known(set: &str, predictor: &str) -> Vec<(String, [f64; 3])> {
    let mut rows = csv::Reader::from_path(references().join("answers.csv")).unwrap();
    let rows = rows.records().map(Result::unwrap);
    rows.filter(|row| row[0] == *set && row[1] == *"effect" && row[2] == *predictor)
        .map(|row| {
            (
                row[3].to_owned(),
                [4, 5, 6].map(|at| row[at].parse().unwrap()),
            )
        })
        .collect()
}

fn check(analysis: &Analysis) {
    let Analysis { set, .. } = analysis;
    let name = format!("{set}.csv");
    let text = std::fs::read_to_string(references().join(&name)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut session = Session::with_file(&folder, &name, &text);
    session.send(Command::AcceptImport);
    let mut draft = |change| session.send(Command::Draft(change));
    draft(DraftChange::Template(analysis.template.to_owned()));
    if let Some(family) = analysis.family {
        let family = Some(Value::Text(family.to_owned()));
        draft(DraftChange::ModelSetting("family".to_owned(), family));
    }
    draft(DraftChange::Formula(analysis.formula.to_owned()));
    if analysis.is_categorical {
        let predictor = analysis.predictor.to_owned();
        draft(DraftChange::Categorical(predictor, true));
    }
    if let Some([class, prior]) = analysis.prior {
        draft(DraftChange::Prior(class.to_owned(), Some(prior.to_owned())));
    }
    draft(DraftChange::Sampler("nuts".to_owned()));
    session.run(4, 500, 1000);
    let id = session.state.runs.last().unwrap().id;
    session.send(Command::AskAnswers(
        id,
        AnswersAsked {
            all_levels: true,
            ..AnswersAsked::default()
        },
    ));
    let answers = session.state.run(id).unwrap().answers().unwrap();
    let answers = answers.outcome.as_ref().unwrap();
    let known = known(set, analysis.predictor);
    assert!(!known.is_empty(), "{set}");
    for (contrast, [mean, mcse, sd]) in known {
        let mut effects = answers.effects.effects.iter();
        let found = effects
            .find(|it| it.predictor == analysis.predictor && it.contrast.label() == contrast);
        let found = found.unwrap_or_else(|| panic!("{set}: no {contrast}"));
        let summary = &found.value.summary;
        let allowed = 4.0 * summary.mcse_mean.unwrap().hypot(mcse);
        assert!(allowed < 0.3 * sd, "{set}, {contrast}: hardly known");
        let off = (found.value.mean() - mean).abs();
        assert!(
            off < allowed,
            "{set}, {contrast}: off by {off}, allowed {allowed}"
        );
    }
}

#[test]
fn answers_about_known_data_are_those_of_other_programs() {
    for analysis in [
        Analysis {
            set: "birthwt",
            template: "logistic",
            formula: "low ~ age + lwt + race + smoke + ptl + ht + ui",
            predictor: "race",
            is_categorical: true,
            family: None,
            prior: None,
        },
        Analysis {
            set: "mtcars",
            template: "linear",
            formula: "mpg ~ wt + hp + cyl",
            predictor: "cyl",
            is_categorical: true,
            family: None,
            prior: Some(["sigma", "exponential(1)"]),
        },
        Analysis {
            set: "cbpp",
            template: "mixed",
            formula: "incidence / size ~ period + (1 | herd)",
            predictor: "period",
            is_categorical: true,
            family: Some("binomial"),
            prior: Some(["sd", "exponential(1)"]),
        },
        Analysis {
            set: "epil",
            template: "mixed",
            formula: "y ~ lbase * trt + lage + V4 + (1 | subject)",
            predictor: "trt",
            is_categorical: false,
            family: Some("poisson"),
            prior: Some(["sd", "exponential(1)"]),
        },
        Analysis {
            set: "sleepstudy",
            template: "mixed",
            formula: "Reaction ~ Days + (Days | Subject)",
            predictor: "Days",
            is_categorical: false,
            family: None,
            prior: Some(["sigma", "exponential(1)"]),
        },
    ] {
        check(&analysis);
    }
}
