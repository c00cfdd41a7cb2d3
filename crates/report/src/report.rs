//! What there is to say about a finished run, to read, to print, and to put into a paper.
//!
//! Every number is that of the run's summary and manifest, as `summary.json` has them. A new way of writing a report is a file and
//! a line of [`FORMATS`].

use self::answers::Answers;
use self::estimates::{MOST_EFFECTS, corrected, not_kept};
use super::{Chains, FIGURES, Figure, Needs, ReadModel, ReportError};
use ergodic_analysis::effects::Effects;
use ergodic_analysis::predict::r2::R2;
use ergodic_analysis::predict::scores::PredictionScores;
use ergodic_analysis::{Description, JobError, Recipe};
use ergodic_base::Control;
use ergodic_core::design::censoring;
use ergodic_core::engine::found::Found;
use ergodic_export::label::Label;
use ergodic_export::{Manifest, Results, RunFolder};

mod answers;
mod estimates;
mod facts;
mod found;
mod head;
mod html;
mod latex;
mod markdown;
mod methods;
mod priors;
mod sentence;
mod style;

pub use estimates::{Column, Heading, Section, sections};
pub use head::head;
pub use methods::Worst;
pub use priors::{PriorRow, rows as priors};

/// A report of a run.
#[derive(Debug)]
pub struct Report {
    /// Name and note of the run.
    pub label: Label,
    /// What was run, and how it ended.
    pub manifest: Manifest,
    /// Every choice.
    pub recipe: Recipe,
    /// The model in words, or why it cannot be described.
    pub description: Result<Description, String>,
    /// Results, grouped.
    pub sections: Vec<Section>,
    /// How estimates were corrected by control variates, if they were.
    pub correction: Option<String>,
    /// How the expected outcome differs by the predictors, where there are any and the data are there.
    pub effects: Option<Effects>,
    /// Why that is not told of predictors that there are.
    pub no_effects: Option<String>,
    /// The share of the variance of the outcome that the model explains, where it is defined and the data are there.
    pub r2: Option<R2>,
    /// Scores of the predictions of rows held out, where there are any, the data are there, and these can be scored.
    pub held_out: Option<PredictionScores>,
    /// The worst of each measure of convergence, over all parameters.
    pub worst: Worst,
    /// Priors, those of the effects of groups in one row for all.
    pub priors: Vec<PriorRow>,
    /// Pictures.
    pub figures: Vec<Figure>,
    /// Pictures that cannot be drawn, and why.
    pub no_figures: Vec<String>,
    /// What outputs of the sampler come to.
    pub found: Found,
    /// What to know about the files of the run.
    pub remarks: Vec<String>,
}

impl Report {
    /// Of results with their recipe, without a name; `read` reads the model with its data, where these are there.
    ///
    /// # Errors
    /// They are of no run of this program, or somebody cancelled.
    pub fn of(
        results: &Results,
        recipe: &Recipe,
        description: Result<Description, String>,
        read: Option<ReadModel<'_>>,
        control: &Control,
    ) -> Result<Self, ReportError> {
        let manifest = results.manifest.clone().ok_or(ReportError::OtherOrigin)?;
        let params = description.as_ref().map_or(&[][..], |it| &it.params);
        let answers = match read {
            Some(read) => Answers::find(results, read, control)?,
            None => Answers::default(),
        };
        control.enter("drawing the pictures");
        let (mut figures, mut no_figures) = (Vec::new(), Vec::new());
        match Chains::of(results) {
            Ok(chains) => {
                let chains = chains.with(&answers.curves);
                let is_told = !answers.curves.curves.is_empty();
                let of_effects = FIGURES
                    .iter()
                    .filter(|entry| is_told && entry.needs == Needs::Curves);
                // What needs the model besides takes too long for every report.
                let of_draws = FIGURES.iter().filter(|entry| entry.is_of_draws());
                for entry in of_effects.chain(of_draws) {
                    control.check(ReportError::Cancelled)?;
                    let enough = entry.of_its_own(&chains).len() >= entry.takes.least;
                    match entry.draw(&chains, &[]) {
                        Ok(figure) => figures.push(figure),
                        // A pair of one parameter is missed by nobody.
                        Err(_) if !enough => {}
                        // A sampler without energies has none to miss.
                        Err(ReportError::Unsuitable { .. }) => {}
                        Err(error) => no_figures.push(error.to_string()),
                    }
                }
            }
            Err(error) => no_figures.push(error.to_string()),
        }
        Ok(Self {
            label: Label::default(),
            sections: sections(&results.summary, params, &manifest.template, MOST_EFFECTS)
                .into_iter()
                .chain(not_kept(&results.estimates))
                .chain(results.corrected.as_deref().map(corrected))
                .collect(),
            correction: results.corrected.as_ref().map(|it| it.sentence()),
            effects: answers.effects,
            no_effects: answers.no_effects,
            r2: answers.r2,
            held_out: answers.held_out,
            worst: Worst::of(&results.summary),
            priors: priors::rows(&manifest),
            recipe: recipe.clone(),
            description,
            figures,
            no_figures,
            found: results.found.clone(),
            remarks: results.remarks.clone(),
            manifest,
        })
    }

    /// Of a run folder. Where its data are not there any more, or have changed, the report says so instead of describing the
    /// model.
    ///
    /// # Errors
    /// The folder is damaged, or somebody cancelled.
    pub fn read(
        folder: &RunFolder,
        results: &Results,
        control: &Control,
    ) -> Result<Self, ReportError> {
        let recipe = folder.recipe()?;
        let description = match Description::read(&recipe, folder.path(), control) {
            Err(JobError::Cancelled) => return Err(ReportError::Cancelled),
            other => other.map_err(|error| error.to_string()),
        };
        let read = |control: &Control| folder.fitted(results, control);
        let there = description.is_ok().then_some(&read as ReadModel<'_>);
        Ok(Self {
            label: Label::read(folder.path()).unwrap_or_default(),
            ..Self::of(results, &recipe, description, there, control)?
        })
    }

    /// What the report is of, in one line.
    pub fn title(&self) -> String {
        let model = self.manifest.model_in_words();
        let model = match self.manifest.response.as_str() {
            "" => model,
            response => format!("{model} of {response}"),
        };
        match &self.label.name {
            Some(name) => format!("{name}: {model}"),
            None => model,
        }
    }

    /// How many outcomes are censored: "40 of 120 outcomes are right-censored"; `None` where the formula does not say how far outcomes
    /// were seen.
    fn censored(&self) -> Option<String> {
        let counts = self.manifest.censored?;
        Some(censoring::in_words(counts, self.manifest.rows_used))
    }

    /// The word of the verdict, and its sentence without that word at the head.
    fn verdict(&self) -> (&'static str, &str) {
        let word = self.manifest.verdict.word();
        let sentence = self.manifest.verdict_sentence.as_str();
        let rest = sentence.strip_prefix(word);
        let rest = rest.and_then(|rest| rest.strip_prefix(": "));
        (word, rest.unwrap_or(sentence))
    }
}

/// A way of writing a report.
pub struct Format {
    /// Identifier on the command line.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// What the report holds.
    pub about: &'static str,
    /// Default file name.
    pub file_name: &'static str,
    /// Writes it.
    pub write: fn(&Report) -> String,
}

/// All ways of writing a report, the default first.
pub static FORMATS: &[Format] = &[
    Format {
        id: "html",
        title: "Report, HTML",
        about: "One page with words, tables, pictures and the recipe, to read, print and send: it loads nothing",
        file_name: "report.html",
        write: html::write,
    },
    Format {
        id: "markdown",
        title: "Results, Markdown",
        about: "The table of results with a sentence for each effect on the outcome and for each coefficient, priors, data, methods, \
                references, settings and the recipe",
        file_name: "results.md",
        write: markdown::write,
    },
    Format {
        id: "latex",
        title: "Results, LaTeX",
        about: "The same for a paper: needs \\usepackage{booktabs} and \\usepackage[T1]{fontenc}, and a file in UTF-8",
        file_name: "results.tex",
        write: latex::write,
    },
];

/// The format called `id`; the error lists the known ones.
///
/// # Errors
/// There is no such format.
pub fn find(id: &str) -> Result<&'static Format, ReportError> {
    FORMATS
        .iter()
        .find(|format| format.id == id)
        .ok_or_else(|| {
            let known: Vec<&str> = FORMATS.iter().map(|format| format.id).collect();
            ReportError::UnknownFormat {
                id: id.to_owned(),
                known: known.join(", "),
            }
        })
}

/// Heading of the recipe.
const RECIPE: &str = "Recipe: every choice; ergodic fit makes the run again from it";

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Words.
    Words(String),
    /// A name, a formula or a path as somebody else wrote it.
    Name(String),
}

/// Parts of a sentence of the program, in which names stand between backticks.
fn parts(text: &str) -> impl Iterator<Item = Part> + '_ {
    let parts = text.split('`').enumerate();
    let parts = parts.filter(|(_, part)| !part.is_empty());
    parts.map(|(k, part)| match k % 2 {
        0 => Part::Words(part.to_owned()),
        _ => Part::Name(part.to_owned()),
    })
}
