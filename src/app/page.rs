//! The pages of the window, and what is shown on them.

use super::command::Act;
use super::state::AppState;
use super::tasks::Effects;
use super::{examples, predicting, scoring};
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

impl Act for Page {
    fn apply(self, state: &mut AppState, _fx: &mut dyn Effects) {
        if self != state.page && state.toast.as_ref().is_some_and(|toast| toast.is_error) {
            state.toast = None;
        }
        state.page = self;
        predicting::cancel_hidden(state);
    }
}

/// A choice of what is shown on a page.
#[derive(Clone, Debug, PartialEq)]
pub enum ViewCommand {
    /// Show a run.
    SelectRun(u64),
    /// Show a variable.
    SelectVariable(usize),
    /// Show a row of the open table, 0-based, on the data page.
    ShowRow(usize),
    /// Keep the arrangement of the panes of runs; `None`: as at first.
    KeepPanes(Option<PaneLayout>),
    /// Draw the pictures of the bundled data sets.
    DrawExamples,
}

impl Act for ViewCommand {
    fn apply(self, state: &mut AppState, fx: &mut dyn Effects) {
        match self {
            Self::SelectRun(id) => {
                state.selected_run = Some(id);
                state.page = Page::Runs;
                predicting::cancel_hidden(state);
                let count = state.run(id).map_or(0, |entry| entry.variables().len());
                state.selected_variable = state.selected_variable.min(count.saturating_sub(1));
            }
            Self::SelectVariable(index) => {
                state.selected_variable = index;
                state.variable_is_chosen = true;
            }
            Self::ShowRow(row) => scoring::show_row(state, row),
            Self::KeepPanes(panes) => state.panes = panes,
            Self::DrawExamples => examples::draw(state, fx),
        }
    }

    fn takes_what_is_typed(&self) -> bool {
        !matches!(self, Self::KeepPanes(_) | Self::DrawExamples)
    }
}
