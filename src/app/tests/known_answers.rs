//! Answers of the window about well-known data, beside those of other programs (`tests/reference/answers`): the same that
//! `tests/answers.rs` asks the command line.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::app::answering::{AnswersAsked, OfOutcome};
use crate::app::draft_change::DraftChange;
use crate::app::testing::Session;
use crate::app::{DataCommand, Question};
use ergodic_analysis::effects::Derived;
use ergodic_analysis::loo::CrossValidation;
use ergodic_base::settings::Value;
use ergodic_diagnostics::loo::{RowScore, Total};

/// An analysis by clicks.
struct Analysis {
    set: &'static str,
    template: &'static str,
    formula: &'static str,
    /// The formula of the model that the first is compared with.
    other: &'static str,
    /// A predictor whose numbers are taken as categories.
    categorical: Option<&'static str>,
    family: Option<&'static str>,
    prior: Option<[&'static str; 2]>,
}

/// An answer of another program.
#[derive(Deserialize)]
struct Reference {
    set: String,
    what: String,
    of: String,
    at: String,
    mean: f64,
    mcse: f64,
    sd: f64,
}

/// The score of a row by both models, with the effects of groups integrated out.
#[derive(Deserialize)]
struct RowReference {
    set: String,
    full: f64,
    mcse_full: f64,
    other: f64,
    mcse_other: f64,
}

/// Pareto k below which importance weights have a variance, so that a score has a Monte Carlo error.
const FINITE_VARIANCE: f64 = 0.5;
/// Least share of rows with such weights: fewer say little of a difference.
const LEAST_SHARE: f64 = 0.7;

fn references<T: DeserializeOwned>(file: &str) -> Vec<T> {
    let mut rows = csv::Reader::from_path(folder().join(file)).unwrap();
    rows.deserialize().map(Result::unwrap).collect()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/answers")
}

/// Asserts that `found`, with its Monte Carlo error where it has one, is the mean that is known.
#[track_caller]
fn close(known: &Reference, (found, mcse): (f64, Option<f64>)) {
    let Reference {
        set, what, of, at, ..
    } = known;
    let name = format!("{set}: {what} of {of} {at}");
    let allowed = 4.0 * mcse.unwrap_or(known.mcse).hypot(known.mcse);
    assert!(
        allowed < 0.3 * known.sd,
        "{name} is hardly known: {allowed}"
    );
    let off = (found - known.mean).abs();
    assert!(off < allowed, "{name}: off by {off}, allowed {allowed}");
}

/// Both fits of an analysis.
struct Fits {
    set: &'static str,
    session: Session,
    /// The run of the first formula, and that of the other.
    ids: [u64; 2],
    known: Vec<Reference>,
    /// Of the table, which is read again by nobody.
    _folder: tempfile::TempDir,
}

impl Fits {
    fn of(analysis: &Analysis) -> Self {
        let name = format!("{}.csv", analysis.set);
        let text = std::fs::read_to_string(folder().join(&name)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut session = Session::with_file(&folder, &name, &text);
        session.send(DataCommand::AcceptImport);
        let mut draft = |change: DraftChange| session.send(change);
        draft(DraftChange::Template(analysis.template.to_owned()));
        if let Some(family) = analysis.family {
            let family = Some(Value::Text(family.to_owned()));
            draft(DraftChange::ModelSetting("family".to_owned(), family));
        }
        draft(DraftChange::Formula(analysis.formula.to_owned()));
        if let Some(predictor) = analysis.categorical {
            draft(DraftChange::Categorical(predictor.to_owned(), true));
        }
        if let Some([class, prior]) = analysis.prior {
            draft(DraftChange::Prior(class.to_owned(), Some(prior.to_owned())));
        }
        draft(DraftChange::Sampler("nuts".to_owned()));
        let ids = [analysis.formula, analysis.other].map(|formula| {
            session.send(DraftChange::Formula(formula.to_owned()));
            session.run(4, 1000, 2000);
            session.state.runs.last().unwrap().id
        });
        let known: Vec<Reference> = references("answers.csv");
        Self {
            set: analysis.set,
            session,
            ids,
            known: (known.into_iter())
                .filter(|it| it.set == analysis.set)
                .collect(),
            _folder: folder,
        }
    }

    fn known<'a>(&'a self, what: &'a str) -> impl Iterator<Item = &'a Reference> {
        self.known.iter().filter(move |it| it.what == what)
    }

    fn answers(&mut self) -> Arc<OfOutcome> {
        let asked = AnswersAsked {
            all_levels: true,
            all_pictures: true,
            ..AnswersAsked::default()
        };
        self.session.send(Question::AskAnswers(self.ids[0], asked));
        let entry = self.session.state.run(self.ids[0]).unwrap();
        Arc::clone(entry.answers().unwrap().outcome.as_ref().unwrap())
    }

    /// Effects of predictors, contrasts of their levels, and means at typical predictors.
    fn effects_agree(&mut self) {
        let answers = self.answers();
        let number = |value: &Derived| (value.mean(), value.summary.mcse_mean);
        let mut count = 0;
        for known in self.known("effect") {
            let mut effects = answers.effects.effects.iter();
            let found =
                effects.find(|it| it.predictor == known.of && it.contrast.label() == known.at);
            close(known, number(&found.unwrap().value));
            count += 1;
        }
        assert!(count > 0);
        for known in self.known("typical") {
            let curve = answers.curves.iter().find(|it| it.predictor == known.of);
            let mut points = curve.unwrap().curves[0].points.iter();
            let found = points.find(|it| it.at.label() == known.at);
            close(known, number(&found.unwrap().value));
        }
    }

    /// Scores of both runs, after `command` of each.
    fn scores(&mut self, command: fn(u64) -> Question) -> [Arc<CrossValidation>; 2] {
        self.ids.map(|id| {
            self.session.send(command(id));
            let scores = &self.session.state.run(id).unwrap().scores;
            Arc::clone(scores.done().unwrap())
        })
    }

    /// Scores of both models and their difference.
    fn scores_agree(&mut self) {
        let [full, other] = self.scores(Question::Score);
        let both = full.loo.mcse().zip(other.loo.mcse());
        for known in self.known("score") {
            let (total, mcse) = match (known.of.as_str(), known.at.as_str()) {
                (_, "difference") => (
                    other.loo.difference(&full.loo),
                    both.map(|(one, other)| one.hypot(other)),
                ),
                ("full", _) => (full.loo.elpd(), full.loo.mcse()),
                _ => (other.loo.elpd(), other.loo.mcse()),
            };
            let Total { estimate, se } = total;
            close(known, (estimate, mcse));
            // The standard error over rows hardly has an error.
            assert!((se - known.sd).abs() < 0.06 * known.sd, "{se} {}", known.sd);
        }
        assert_eq!(self.known("score").count(), 3);
    }

    /// The difference of both models over the rows whose scores have a Monte Carlo error by both, with draws moved for doubtful rows.
    fn difference_agrees_where_weights_are_good(&mut self) {
        self.scores(Question::Score);
        let [full, other] = self.scores(Question::MatchMoments);
        let known: Vec<RowReference> = references("scores.csv");
        let known: Vec<_> = known.iter().filter(|it| it.set == self.set).collect();
        assert_eq!(
            [full.loo.rows.len(), other.loo.rows.len()],
            [known.len(); 2]
        );
        let is_good = |row: &RowScore| row.k < FINITE_VARIANCE;
        let rows = known.iter().zip(full.loo.rows.iter().zip(&other.loo.rows));
        let good: Vec<_> = rows
            .filter(|(_, (full, other))| is_good(full) && is_good(other))
            .collect();
        assert!(good.len() as f64 > LEAST_SHARE * known.len() as f64);
        let off: f64 = good
            .iter()
            .map(|(known, (full, other))| (other.elpd - full.elpd) - (known.other - known.full))
            .sum();
        let variance: f64 = good
            .iter()
            .map(|(known, (full, other))| {
                let known = known.mcse_full.powi(2) + known.mcse_other.powi(2);
                known + full.mc_variance + other.mc_variance
            })
            .sum();
        let allowed = 4.0 * variance.sqrt();
        assert!(
            off.abs() < allowed,
            "{}: off by {off}, allowed {allowed}",
            self.set
        );
    }
}

#[test]
fn low_birth_weight() {
    let mut fits = Fits::of(&Analysis {
        set: "birthwt",
        template: "logistic",
        formula: "low ~ age + lwt + race + smoke + ptl + ht + ui",
        other: "low ~ age + lwt + smoke + ptl + ht + ui",
        categorical: Some("race"),
        family: None,
        prior: None,
    });
    fits.effects_agree();
    fits.scores_agree();
}

#[test]
fn miles_per_gallon() {
    let mut fits = Fits::of(&Analysis {
        set: "mtcars",
        template: "linear",
        formula: "mpg ~ wt + hp + cyl",
        other: "mpg ~ wt + cyl",
        categorical: Some("cyl"),
        family: None,
        prior: Some(["sigma", "exponential(1)"]),
    });
    fits.effects_agree();
    fits.scores_agree();
}

#[test]
#[ignore = "long: run by .ci/long"]
fn infected_herds() {
    let mut fits = Fits::of(&Analysis {
        set: "cbpp",
        template: "mixed",
        formula: "incidence / size ~ period + (1 | herd)",
        other: "incidence / size ~ 1 + (1 | herd)",
        categorical: Some("period"),
        family: Some("binomial"),
        prior: Some(["sd", "exponential(1)"]),
    });
    fits.effects_agree();
    fits.scores_agree();
    fits.difference_agrees_where_weights_are_good();
}

#[test]
#[ignore = "long: run by .ci/long"]
fn seizures() {
    let mut fits = Fits::of(&Analysis {
        set: "epil",
        template: "mixed",
        formula: "y ~ lbase * trt + lage + V4 + (1 | subject)",
        other: "y ~ lbase + lage + V4 + (1 | subject)",
        categorical: None,
        family: Some("poisson"),
        prior: Some(["sd", "exponential(1)"]),
    });
    fits.effects_agree();
    fits.difference_agrees_where_weights_are_good();
}

#[test]
fn reaction_times() {
    let mut fits = Fits::of(&Analysis {
        set: "sleepstudy",
        template: "mixed",
        formula: "Reaction ~ Days + (Days | Subject)",
        other: "Reaction ~ Days + (1 | Subject)",
        categorical: None,
        family: None,
        prior: Some(["sigma", "exponential(1)"]),
    });
    fits.effects_agree();
    fits.scores_agree();
}
