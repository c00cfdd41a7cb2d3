//! Results in memory: draws, the sampler's information, the summary and the manifest of a run, or draws of other origin.

use std::sync::Arc;

use super::draws_csv::ReadDraws;
use super::manifest::Manifest;
use ergodic_analysis::predict::log_lik::LogLik;
use ergodic_analysis::zero_variance::Corrected;
use ergodic_analysis::{BayesFactor, Job, Sensitivity};
use ergodic_base::draws::{DrawList, LabelList};
use ergodic_base::{ParamId, RunningMoments};
use ergodic_core::engine::checkpoint::ChainMark;
use ergodic_core::engine::found::Found;
use ergodic_core::engine::keep::NotKept;
use ergodic_core::engine::{ChainView, Report, RunView, Sampling as _, labels};
use ergodic_core::samplers::{WEIGHT, energy_column, weight_column};
use ergodic_diagnostics::energy::ebfmi;
use ergodic_diagnostics::estimates::{Estimate, estimates};
use ergodic_diagnostics::extra::{Extra, ExtraInputs, Extras};
use ergodic_diagnostics::{Inefficiency, SummaryRow, summarise, weights};

/// Results in memory, of a run or read from files.
#[derive(Clone, Debug)]
pub struct Results {
    /// Reported quantities.
    pub variables: Vec<ParamId>,
    /// Where the warm-up of each chain ended, if it was ended by hand.
    pub warmup_of_chains: Option<Vec<u64>>,
    /// Kept draws per chain.
    pub draws: Vec<DrawList>,
    /// Where each chain started: a list of one draw, or of none where that is not known of the chain; no lists where it is known of
    /// no chain.
    pub starts: Vec<DrawList>,
    /// Names of the sampler's information columns.
    pub info_names: Vec<String>,
    /// Values of the information columns per chain.
    pub info: Vec<DrawList>,
    /// One row per variable.
    pub summary: Vec<SummaryRow>,
    /// Moments of the quantities whose draws were not kept, per chain; empty where all were.
    pub moments: Vec<Arc<RunningMoments>>,
    /// One row per quantity whose draws were not kept.
    pub estimates: Arc<Vec<Estimate>>,
    /// What was run, if known.
    pub manifest: Option<Manifest>,
    /// Estimates corrected by control variates, if somebody asked for them.
    pub corrected: Option<Arc<Corrected>>,
    /// Further columns of the summary, if somebody asked.
    pub extras: Option<Arc<Extras>>,
    /// How much prior and likelihood matter, if somebody asked.
    pub sensitivity: Option<Arc<Sensitivity>>,
    /// Bayes factors of coefficients against 0, if somebody asked.
    pub bayes_factors: Option<Arc<Vec<BayesFactor>>>,
    /// The log likelihood of each row at each draw, if somebody asked.
    pub log_lik: Option<Arc<LogLik>>,
    /// What outputs of the sampler come to.
    pub found: Found,
    /// Drawn partitions per chain, for samplers of partitions; empty where they are not in memory.
    pub labels: Vec<LabelList>,
    /// Names of the units that these partition.
    pub units_kept: Vec<String>,
    /// What to know about the files that they were read from: one sentence each.
    pub remarks: Vec<String>,
}

impl Results {
    /// The results of a run as it stands.
    pub fn of(job: &Job, view: &RunView, report: &Report) -> Self {
        Self {
            variables: job.variables(),
            warmup_of_chains: view.warmup_of_chains(),
            draws: view
                .chains
                .iter()
                .map(|chain| chain.draws.draws.clone())
                .collect(),
            starts: starts_of(view),
            info_names: job.info_names(),
            info: view
                .chains
                .iter()
                .map(|chain| chain.draws.info.clone())
                .collect(),
            summary: report.summary.clone(),
            moments: (view.chains.iter())
                .map(|chain| Arc::clone(&chain.draws.unkept))
                .collect(),
            estimates: Arc::clone(&report.estimates),
            manifest: Some(Manifest::of(job, view, report)),
            corrected: report.corrected.clone(),
            extras: None,
            sensitivity: None,
            bayes_factors: None,
            log_lik: None,
            found: report.found.clone(),
            labels: view
                .chains
                .iter()
                .map(|chain| chain.draws.labels.clone())
                .collect(),
            units_kept: labels::names_kept(job.model.as_ref()),
            remarks: Vec::new(),
        }
    }

    /// Draws with the sampler's information columns, summarised; `seconds` of sampling are 0 if unknown.
    pub fn new(
        variables: Vec<ParamId>,
        draws: Vec<DrawList>,
        info: (Vec<String>, Vec<DrawList>),
        seconds: f64,
    ) -> Self {
        let mut results = Self::without_summary(variables, draws, info);
        results.summarise(seconds);
        results
    }

    /// Results with an empty summary, which takes long for many draws.
    pub(super) fn without_summary(
        variables: Vec<ParamId>,
        draws: Vec<DrawList>,
        (info_names, info): (Vec<String>, Vec<DrawList>),
    ) -> Self {
        Self {
            variables,
            draws,
            starts: Vec::new(),
            info_names,
            info,
            summary: Vec::new(),
            moments: Vec::new(),
            estimates: Arc::default(),
            manifest: None,
            corrected: None,
            extras: None,
            sensitivity: None,
            bayes_factors: None,
            log_lik: None,
            warmup_of_chains: None,
            found: Found::default(),
            labels: Vec::new(),
            units_kept: Vec::new(),
            remarks: Vec::new(),
        }
    }

    /// Draws of unknown origin, summarised.
    pub fn of_draws(read: ReadDraws) -> Self {
        let info = info_of(&read);
        Self::new(read.names, read.chains, info, 0.0)
    }

    /// Summarises the chains that did not fail, as the run itself did.
    pub(super) fn summarise(&mut self, seconds: f64) {
        let (lists, weights) = self.usable();
        self.summary = summarise(&self.variables, &lists, &weights, seconds);
        let working = self.working().into_iter();
        let moments: Vec<&RunningMoments> = working
            .filter_map(|chain| self.moments.get(chain).map(AsRef::as_ref))
            .collect();
        let not_kept = self.manifest.as_ref().map_or(&[][..], |it| &it.not_kept);
        self.estimates = Arc::new(estimates(not_kept, &moments, &weights));
    }

    /// Takes the moments of quantities whose draws were not kept from where the chains stand.
    pub(super) fn take_moments(&mut self, marks: &[Option<ChainMark>]) {
        let moments = |mark: &Option<ChainMark>| {
            let moments = mark.as_ref().map(|mark| Arc::new(mark.unkept.clone()));
            moments.unwrap_or_default()
        };
        self.moments = marks.iter().map(moments).collect();
    }

    /// Refuses what needs draws of all parameters where some were not kept; `what` begins the sentence, such as "Predictions need".
    ///
    /// # Errors
    /// Some were not.
    pub fn check_all_kept(&self, what: &'static str) -> Result<(), NotKept> {
        let not_kept = self
            .manifest
            .as_ref()
            .is_some_and(|it| !it.not_kept.is_empty());
        if not_kept { Err(NotKept(what)) } else { Ok(()) }
    }

    /// Kept draws of each chain.
    pub(super) fn lengths(&self) -> Vec<u64> {
        self.draws.iter().map(|list| list.len() as u64).collect()
    }

    /// Kept draws of all chains.
    pub fn total_draws(&self) -> usize {
        self.draws.iter().map(DrawList::len).sum()
    }

    /// Chains that did not fail, 0-based.
    pub fn working(&self) -> Vec<usize> {
        let works = |index: &usize| {
            let manifest = self.manifest.as_ref();
            let chain = manifest.and_then(|manifest| manifest.chains.get(*index));
            chain.is_none_or(|chain| chain.failure.is_none())
        };
        (0..self.draws.len()).filter(works).collect()
    }

    /// Kept draws of the chains that did not fail, and their weights: one vector per chain, or none.
    pub fn usable(&self) -> (Vec<&DrawList>, Vec<Vec<f64>>) {
        let usable = self.working();
        let lists = usable.iter().map(|&chain| &self.draws[chain]).collect();
        let weights = self.weights();
        let weights = usable
            .iter()
            .filter_map(|&chain| weights.get(chain).cloned())
            .collect();
        (lists, weights)
    }

    /// Seconds of sampling of the slowest chain, 0 if unknown.
    pub(super) fn seconds(&self) -> f64 {
        let chains = self.manifest.iter().flat_map(|it| &it.chains);
        chains.map(|chain| chain.draw_secs).fold(0.0, f64::max)
    }

    /// Adds the columns `wanted` to the summary: without `superchains` there is no nested R-hat, without `rope` no share in it;
    /// `interval` is the probability in intervals.
    pub fn add_extras(
        &mut self,
        wanted: &[Extra],
        superchains: Option<usize>,
        (interval, rope): (f64, Option<[f64; 2]>),
    ) {
        let (lists, weights) = self.usable();
        let numbers: Vec<usize> = self.working().iter().map(|chain| chain + 1).collect();
        let extras = Extras::of(
            wanted,
            &ExtraInputs {
                chains: &lists,
                numbers: &numbers,
                weights: &weights,
                seconds: self.seconds(),
                superchains,
                interval,
                rope,
            },
        );
        self.extras = Some(Arc::new(extras));
    }

    /// Draws and seconds per effective draw, over all variables; `None` where no variable has an effective sample size.
    pub fn inefficiency(&self) -> Option<Inefficiency> {
        let lists = self.usable().0;
        let shortest = lists.iter().map(|list| list.len()).min().unwrap_or(0);
        Inefficiency::of(&self.summary, shortest * lists.len(), self.seconds())
    }

    /// Estimated Bayesian fraction of missing information of each chain, for samplers that report energies; empty for others.
    pub fn ebfmi(&self) -> Vec<Option<f64>> {
        energy_column(&self.info_names).map_or_else(Vec::new, |column| {
            let energies = self.info.iter().map(|info| info.column(column));
            energies.map(|energies| ebfmi(&energies).ok()).collect()
        })
    }

    /// Weights of the kept draws, one vector per chain; empty where there are none.
    pub fn weights(&self) -> Vec<Vec<f64>> {
        weights_of(&self.info_names, &self.info)
    }

    /// Whether averages over the draws are weighted: there are weights, and they differ.
    pub fn is_weighted(&self) -> bool {
        weights::matter(&self.weights())
    }
}

/// Where the chains of a run started: what [`Results::starts`] holds.
pub fn starts_of(view: &RunView) -> Vec<DrawList> {
    if view.chains.iter().all(|chain| chain.started_at.is_none()) {
        return Vec::new();
    }
    let list = |chain: &ChainView| {
        let mut list = DrawList::new(chain.draws.draws.width());
        if let Some(at) = &chain.started_at {
            list.push(at);
        }
        list
    };
    view.chains.iter().map(list).collect()
}

fn weights_of(info_names: &[String], info: &[DrawList]) -> Vec<Vec<f64>> {
    weight_column(info_names).map_or_else(Vec::new, |column| {
        info.iter().map(|chain| chain.column(column)).collect()
    })
}

/// What a table of draws says besides the variables: its weights, if it has them.
pub(super) fn info_of(read: &ReadDraws) -> (Vec<String>, Vec<DrawList>) {
    match &read.weights {
        Some(weights) => (vec![WEIGHT.to_owned()], weights.clone()),
        None => (Vec::new(), vec![DrawList::new(0); read.chains.len()]),
    }
}
