//! Everything a user can do, as data: menus, palette, shortcuts, buttons and tests send the same commands.

use std::path::PathBuf;

use super::analysis::Analysis;
use super::answering::AnswersAsked;
use super::draft_change::DraftChange;
use super::extras::ColumnsAsked;
use super::preferences::{Depth, Theme};
use super::product::Product;
use ergodic_analysis::comparison::Variant;
use ergodic_analysis::likelihood::LikelihoodOptions;
use ergodic_data::roles::{Conversion, Role};
use ergodic_data::sniff::ImportOptions;
use ergodic_diagnostics::zero_variance::Order;
use ergodic_export::project::PaneLayout;

/// The pages of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Page {
    /// Nothing is open.
    #[default]
    Start,
    /// The table and how it is read.
    Data,
    /// Formula, roles and priors.
    Model,
    /// Sampler and its settings.
    Sampler,
    /// Live and finished runs.
    Runs,
    /// Samplers side by side.
    Compare,
}

impl Page {
    /// The steps of the top bar, in order.
    pub const STEPS: [Self; 4] = [Self::Data, Self::Model, Self::Sampler, Self::Runs];

    /// All pages.
    const ALL: [Self; 6] = [
        Self::Start,
        Self::Data,
        Self::Model,
        Self::Sampler,
        Self::Runs,
        Self::Compare,
    ];

    /// What saved projects know it by.
    pub fn id(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Data => "data",
            Self::Model => "model",
            Self::Sampler => "sampler",
            Self::Runs => "runs",
            Self::Compare => "compare",
        }
    }

    /// The page called `id` in a saved project.
    pub fn find(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|page| page.id() == id)
    }

    /// One word.
    pub fn label(self) -> &'static str {
        match self {
            Self::Start => "Start",
            Self::Data => "Data",
            Self::Model => "Model",
            Self::Sampler => "Sampler",
            Self::Runs => "Runs",
            Self::Compare => "Compare",
        }
    }
}

/// A user's act.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Show a page.
    GoTo(Page),
    /// Open a data file, recipe, project, run folder or file of draws; the kind is found out.
    Open(PathBuf),
    /// Open a bundled data set.
    OpenSample(String),
    /// Begin a model as text that needs no data.
    BeginWithoutData,
    /// Run the bundled recipe that ends badly, to see what that looks like.
    RunLesson,
    /// Ask for a file to open with the system's dialog.
    PickOpen,
    /// Ask for its path in the window.
    TypeOpen,
    /// Use the path that was typed.
    TypedPath(PathBuf),
    /// Stop typing a path.
    CancelTyping,
    /// Stop reading the file.
    CancelLoad,
    /// Read the file again with these options.
    SetImport(ImportOptions),
    /// Read the file that was refused again with these options.
    ReadAgain(ImportOptions),
    /// Use the table as it was read and go on to the model.
    AcceptImport,
    /// Look whether the file of the open data has changed since it was read.
    LookAtFile,
    /// Close the data and the draft; runs stay.
    CloseData,

    /// Change the draft, which can be taken back.
    Draft(DraftChange),
    /// Do what a refused role offered, then give the role.
    Convert(String, Conversion, Role),
    /// Look at what a prior being typed expects, by class or parameter, or no longer.
    PreviewPrior(Option<(String, String)>),

    /// Find the mode of the draft's posterior and rank all samplers for it.
    Advise,
    /// Stop doing that.
    CancelAdvice,
    /// Run these samplers on the draft's model, one after the other, and compare bias and cost.
    CompareSamplers(Vec<Variant>),
    /// Stop doing that; finished rows stay.
    CancelComparison,
    /// Try step sizes of the draft's sampler and set the best.
    RunTrials,
    /// Stop doing that.
    CancelTrials,
    /// Calibrate the draft's model and sampler by simulation.
    Calibrate,
    /// Stop doing that, and show what is done.
    CancelCalibration,
    /// Fit the draft's mixed model by likelihood.
    Estimate(LikelihoodOptions),
    /// Stop doing that.
    CancelEstimate,

    /// Start a run of the draft.
    StartRun,
    /// Let the chains of a run wait.
    Pause(u64),
    /// Let them go on.
    Resume(u64),
    /// End the warm-up of all chains now, keeping what they have learnt.
    Freeze(u64),
    /// End a run, or its preparation; everything drawn is kept.
    Stop(u64),
    /// Make more draws per chain, without new warm-up.
    AddDraws(u64, u64),
    /// Go on with a run that was read from its folder: with what was planned if it was cut short, else with as many draws.
    ContinueRun(u64),
    /// Run again with the mode looked for from the mean of this run's draws.
    RefreshCentre(u64),
    /// Run a run's recipe again with these changes, written as for `--set`.
    RunAgain(u64, Vec<String>),
    /// Run NUTS as a control of an approximate run.
    CheckBias(u64),
    /// Check the bias of an approximate run, the first, against an exact run that is there, the second.
    CheckBiasAgainst(u64, u64),
    /// Look at how much the prior of a run matters, by power scaling.
    FindPriorSensitivity(u64),
    /// Compute the further columns of a run's summary from the draws that there are.
    ComputeColumns(u64),
    /// Compute them with another interval or another range that counts as 0.
    AskColumns(u64, ColumnsAsked),
    /// Leave the rows of a run out, one at a time, by importance weights.
    Score(u64),
    /// Leaves a sample of the rows of a run out.
    ScoreSample(u64),
    /// Fits a run again without each row whose Pareto k is not good, and takes the scores of these rows from there.
    Refit(u64),
    /// Move the draws of a run for each row whose Pareto k is not good, and score these rows by them.
    MatchMoments(u64),
    /// Fit a run again without each of a number of parts of its rows, the second, and score every row by the fit that does not know it.
    ScoreInFolds(u64, u32),
    /// Compare a run, the first, with another, the second.
    CompareRuns(u64, u64),
    /// Show a row of the open table, 0-based, on the data page.
    ShowRow(usize),
    /// Correct the estimates of a run by control variates of this order, or go back to the plain ones.
    Correct(u64, Option<Order>),
    /// Predict the rows of a run, with group effects or without.
    Predict(u64, bool),
    /// Find what a run says of its outcome, predictor by predictor.
    FindAnswers(u64),
    /// Find it again, with more asked or less.
    AskAnswers(u64, AnswersAsked),
    /// Check a run by data that its model makes, with numbers in that number of bins, or as many as suit the rows.
    Replicate(u64, Option<usize>),
    /// Score the predictions of the rows that a run holds out.
    ScoreHeldOut(u64),
    /// Follow trajectories from where the chains of a run ended.
    FollowTrajectories(u64),
    /// Fit the data and formula of a run by likelihood, with these options or those that its recipe says.
    EstimateRun(u64, Option<LikelihoodOptions>),
    /// Compare the model of a run with one of this formula, which has fewer or more terms, by their likelihood ratio.
    TestAgainst(u64, String),
    /// Stop working something out of a run.
    CancelAnalysis(u64, Analysis),
    /// Show a run.
    SelectRun(u64),
    /// Take a run out of the list; its folder stays.
    RemoveRun(u64),
    /// Put it back.
    BringBackRun(u64),
    /// Ask for the name and the note of a run, or no longer.
    AskRunName(Option<u64>),
    /// Give a run a name and a note; empty ones are none.
    NameRun(u64, String, String),
    /// Use a run's recipe as the draft.
    UseRecipeOf(u64),
    /// Show a variable.
    SelectVariable(usize),
    /// Keep the arrangement of the panes of runs; `None`: as at first.
    KeepPanes(Option<PaneLayout>),
    /// Draw the pictures of the bundled data sets.
    DrawExamples,

    /// Ask by the system's dialog where to write something.
    PickPlace(Product),
    /// Ask for it in the window.
    TypePlace(Product),
    /// Write it here.
    Write(Product, PathBuf),
    /// Save the project, asking for a file if it has none.
    SaveProject,
    /// Close the project and begin with nothing.
    NewProject,
    /// Close the window, asking about unsaved changes first.
    Quit,
    /// Save the changes that were asked about, or not, and go on.
    Answer {
        /// Save them.
        save: bool,
    },
    /// Do neither.
    CancelQuestion,

    /// Take back the last change of the draft.
    Undo,
    /// Make it again.
    Redo,
    /// Choose the theme.
    SetTheme(Theme),
    /// Show numbers with a decimal comma, or with a point.
    SetDecimalComma(bool),
    /// Choose how much is shown.
    SetDepth(Depth),
    /// Show the further columns of the summary table, or only the usual ones.
    SetMoreColumns(bool),
    /// Choose the size of everything.
    SetZoom(f32),
    /// Stop a task of the list of what goes on.
    CancelTask(u64),
    /// Take the toast away.
    DismissToast,
    /// Take the sentence about a file away.
    DismissProblem,
}

impl From<DraftChange> for Command {
    fn from(change: DraftChange) -> Self {
        Self::Draft(change)
    }
}

impl Command {
    /// Whether what stands typed in fields is taken before the command: whatever runs, saves, leaves or changes something is about what is
    /// on the screen. Only looks, and what the window sends by itself, are not.
    pub fn takes_what_is_typed(&self) -> bool {
        !matches!(
            self,
            Self::PreviewPrior(_)
                | Self::LookAtFile
                | Self::KeepPanes(_)
                | Self::DrawExamples
                | Self::SetTheme(_)
                | Self::SetDecimalComma(_)
                | Self::SetZoom(_)
                | Self::CancelTask(_)
                | Self::DismissToast
                | Self::DismissProblem
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_looks_and_what_the_window_sends_leave_what_is_typed() {
        let leave = [
            Command::PreviewPrior(None),
            Command::LookAtFile,
            Command::KeepPanes(None),
            Command::DrawExamples,
            Command::SetTheme(Theme::Dark),
            Command::SetDecimalComma(true),
            Command::SetZoom(1.5),
            Command::CancelTask(1),
            Command::DismissToast,
            Command::DismissProblem,
        ];
        for command in leave {
            assert!(!command.takes_what_is_typed(), "{command:?}");
        }
        let take = [
            Command::GoTo(Page::Data),
            Command::CloseData,
            Command::PickPlace(Product::Project),
            Command::Draft(DraftChange::NewSeed),
            Command::Undo,
            Command::Advise,
            Command::StartRun,
            Command::Score(1),
            Command::Quit,
            Command::SetDepth(Depth::Everything),
            Command::SetMoreColumns(true),
            Command::SelectRun(1),
        ];
        for command in take {
            assert!(command.takes_what_is_typed(), "{command:?}");
        }
    }
}
