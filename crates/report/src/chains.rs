//! The chains of a run that pictures are drawn of: those that did not fail.

use super::{FigureInputs, ReportError};
use ergodic_base::ParamId;
use ergodic_base::draws::DrawList;
use ergodic_core::engine::found::Found;
use ergodic_core::estimators::Search;
use ergodic_core::models::Marginal;
use ergodic_core::samplers::{DIVERGENT, energy_column};
use ergodic_diagnostics::bias::BiasReport;
use ergodic_diagnostics::{DivergentPair, SummaryRow, weights, worst_pairs};
use ergodic_export::Results;

/// The working chains of a run.
#[derive(Debug)]
pub struct Chains<'a> {
    results: &'a Results,
    /// Number of each working chain, 0-based among all.
    numbers: Vec<usize>,
    lists: Vec<&'a DrawList>,
    weights: Vec<Vec<f64>>,
    inputs: Option<&'a FigureInputs<'a>>,
}

impl<'a> Chains<'a> {
    /// Of results that have draws.
    ///
    /// # Errors
    /// They have none.
    pub fn of(results: &'a Results) -> Result<Self, ReportError> {
        let (lists, weights) = results.usable();
        if lists.iter().all(|list| list.is_empty()) {
            return Err(ReportError::NoDraws);
        }
        Ok(Self {
            results,
            numbers: results.working(),
            lists,
            weights: if weights::matter(&weights) {
                weights
            } else {
                Vec::new()
            },
            inputs: None,
        })
    }

    /// The chains with what some figures are drawn of besides draws.
    #[must_use]
    pub fn with(self, inputs: &'a FigureInputs<'a>) -> Self {
        Self {
            inputs: Some(inputs),
            ..self
        }
    }

    /// What some figures are drawn of besides draws.
    pub fn inputs(&self) -> Option<&'a FigureInputs<'a>> {
        self.inputs
    }

    /// The marginal posterior of a parameter, where it is known in closed form.
    pub fn marginal(&self, parameter: usize) -> Option<Marginal> {
        let manifest = self.results.manifest.as_ref()?;
        manifest.exact_marginals.get(&parameter).copied()
    }

    /// Energies of the draws of each chain; `None` where the sampler has none.
    pub fn energies(&self) -> Option<Vec<Vec<f64>>> {
        let column = energy_column(&self.results.info_names)?;
        let of_chain = |&chain: &usize| Some(self.results.info.get(chain)?.column(column));
        self.numbers.iter().map(of_chain).collect()
    }

    /// Names of what the sampler reports with each draw.
    pub fn info_names(&self) -> &'a [String] {
        &self.results.info_names
    }

    /// What the sampler reports in `column`, by chain.
    pub fn info(&self, column: usize) -> Vec<Vec<f64>> {
        let of_chain = |&chain: &usize| {
            let info = self.results.info.get(chain);
            info.map_or_else(Vec::new, |info| info.column(column))
        };
        self.numbers.iter().map(of_chain).collect()
    }

    /// What the bias check found, where it has run.
    pub fn bias(&self) -> Option<&'a BiasReport> {
        self.results.manifest.as_ref()?.bias.as_ref()
    }

    /// How the mode was found, where it was.
    pub fn search(&self) -> Option<&'a Search> {
        self.results.manifest.as_ref()?.mode.as_ref()
    }

    /// What outputs of the sampler come to.
    pub fn found(&self) -> &'a Found {
        &self.results.found
    }

    /// Identifier of the sampler; `None` for draws of other origin.
    pub fn sampler(&self) -> Option<&'a str> {
        let manifest = self.results.manifest.as_ref();
        manifest.map(|manifest| manifest.sampler.as_str())
    }

    /// Reported quantities.
    pub fn names(&self) -> &'a [ParamId] {
        &self.results.variables
    }

    /// Number of each chain, 0-based among all chains of the run.
    pub fn numbers(&self) -> &[usize] {
        &self.numbers
    }

    /// Kept draws of each chain.
    pub fn lists(&self) -> &[&'a DrawList] {
        &self.lists
    }

    /// Where each chain started, before its first step, in this parameter; `None` where that is not known.
    pub fn starts(&self, parameter: usize) -> Vec<Option<f64>> {
        let start = |&chain: &usize| {
            let list = self.results.starts.get(chain)?;
            (!list.is_empty()).then(|| list.value(0, parameter))
        };
        self.numbers.iter().map(start).collect()
    }

    /// Draws of a parameter by chain.
    pub fn columns(&self, parameter: usize) -> Vec<Vec<f64>> {
        self.lists
            .iter()
            .map(|list| list.column(parameter))
            .collect()
    }

    /// Weights of the draws by chain; empty where they do not matter.
    pub fn weights(&self) -> &[Vec<f64>] {
        &self.weights
    }

    /// Draws of the shortest chain.
    pub fn shortest(&self) -> usize {
        self.lists.iter().map(|list| list.len()).min().unwrap_or(0)
    }

    /// Draws of the longest chain.
    pub fn longest(&self) -> usize {
        self.lists.iter().map(|list| list.len()).max().unwrap_or(0)
    }

    /// The row of the summary of a parameter.
    pub fn summary(&self, parameter: usize) -> Option<&'a SummaryRow> {
        self.results.summary.get(parameter)
    }

    /// Whether each draw of each chain ended a divergent transition; `None` where the sampler has none.
    pub fn divergent(&self) -> Option<Vec<Vec<bool>>> {
        let column = self
            .results
            .info_names
            .iter()
            .position(|name| name == DIVERGENT)?;
        let of_chain = |&chain: &usize| -> Option<Vec<bool>> {
            let info = self.results.info.get(chain)?;
            Some(info.column(column).iter().map(|&it| it > 0.0).collect())
        };
        self.numbers.iter().map(of_chain).collect()
    }

    /// The pair of parameters that goes most along with divergent transitions; `None` where there are none.
    pub fn worst_pair(&self) -> Option<DivergentPair> {
        let divergent = self.divergent()?;
        let places = divergent.iter().enumerate().flat_map(|(chain, draws)| {
            let ended = draws.iter().enumerate().filter(|(_, ended)| **ended);
            ended.map(move |(draw, _)| (chain, draw))
        });
        let places: Vec<(usize, usize)> = places.collect();
        worst_pairs(&self.lists, &places, 1).pop()
    }
}
