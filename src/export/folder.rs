//! Run folders: one run each, complete enough to read, replay and continue.
//!
//! `recipe.toml` (complete, replays), `draws.csv`, `info.csv`, `summary.csv`, `summary.json`, `run.json` (manifest),
//! `checkpoint.dat`; of mixtures also `partition.csv`, `partitions.csv` and `clusters.json`. While the run goes on, and after
//! a crash, `journal.dat` has its draws.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::draws_csv::{self, ReadDraws};
use super::manifest::Manifest;
use super::{ExportError, find, journal, partitions, write};
use crate::base::draws::{ChainDraws, DrawList, LabelList};
use crate::diagnostics::{SummaryRow, summarise, weights};
use crate::engine::checkpoint::{self, ChainMark};
use crate::engine::clusters::{self, Clusters};
use crate::engine::recipe::SAMPLE_PREFIX;
use crate::engine::run::Continuation;
use crate::engine::sensitivity::Sensitivity;
use crate::engine::zero_variance::Corrected;
use crate::engine::{ChainState, Job, Recipe, Report, RunView};
use crate::samplers::{WEIGHT, weight_column};

/// Results in memory, of a run or read from files.
#[derive(Clone, Debug)]
pub struct Results {
    /// Reported quantities.
    pub variables: Vec<String>,
    /// Where the warm-up of each chain ended, if it was ended by hand.
    pub warmup_of_chains: Option<Vec<u64>>,
    /// Kept draws per chain.
    pub draws: Vec<DrawList>,
    /// Names of the sampler's information columns.
    pub info_names: Vec<String>,
    /// Their values per chain.
    pub info: Vec<DrawList>,
    /// One row per variable.
    pub summary: Vec<SummaryRow>,
    /// What was run, if known.
    pub manifest: Option<Manifest>,
    /// Estimates corrected by control variates, if somebody asked for them.
    pub corrected: Option<Arc<Corrected>>,
    /// How much prior and likelihood matter, if somebody asked.
    pub sensitivity: Option<Arc<Sensitivity>>,
    /// The clusters, for samplers of partitions.
    pub clusters: Option<Arc<Clusters>>,
    /// Drawn partitions per chain, for samplers of partitions; empty where they are not in memory.
    pub labels: Vec<LabelList>,
    /// Names of the units that these partition.
    pub units_kept: Vec<String>,
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
            info_names: job
                .sampler
                .spec
                .info
                .iter()
                .map(|column| column.name.to_owned())
                .collect(),
            info: view
                .chains
                .iter()
                .map(|chain| chain.draws.info.clone())
                .collect(),
            summary: report.summary.clone(),
            manifest: Some(Manifest::of(job, view, report)),
            corrected: None,
            sensitivity: None,
            clusters: report.clusters.clone(),
            labels: view
                .chains
                .iter()
                .map(|chain| chain.draws.labels.clone())
                .collect(),
            units_kept: clusters::names_kept(job.model.as_ref()),
        }
    }

    /// Draws with the sampler's information columns, summarised; `seconds` of sampling are 0 if unknown.
    pub fn new(
        variables: Vec<String>,
        draws: Vec<DrawList>,
        (info_names, info): (Vec<String>, Vec<DrawList>),
        seconds: f64,
    ) -> Self {
        let lists: Vec<&DrawList> = draws.iter().collect();
        let weights = weights_of(&info_names, &info);
        let summary = summarise(&variables, &lists, &weights, seconds);
        Self {
            variables,
            draws,
            info_names,
            info,
            summary,
            manifest: None,
            corrected: None,
            sensitivity: None,
            warmup_of_chains: None,
            clusters: None,
            labels: Vec::new(),
            units_kept: Vec::new(),
        }
    }

    /// Draws of unknown origin, summarised.
    pub fn of_draws(read: ReadDraws) -> Self {
        let info = info_of(&read);
        Self::new(read.names, read.chains, info, 0.0)
    }

    /// Summarises again without the chains that failed, as the run itself did.
    pub(super) fn leave_out_failed(&mut self, manifest: &Manifest, seconds: f64) {
        let (lists, weights) = self.working(Some(manifest));
        if lists.len() < self.draws.len() {
            self.summary = summarise(&self.variables, &lists, &weights, seconds);
        }
    }

    /// Kept draws of the chains that did not fail, and their weights: one vector per chain, or none.
    pub fn usable(&self) -> (Vec<&DrawList>, Vec<Vec<f64>>) {
        self.working(self.manifest.as_ref())
    }

    fn working(&self, manifest: Option<&Manifest>) -> (Vec<&DrawList>, Vec<Vec<f64>>) {
        let working = |index: &usize| {
            let chain = manifest.and_then(|manifest| manifest.chains.get(*index));
            chain.is_none_or(|chain| chain.failure.is_none())
        };
        let usable: Vec<usize> = (0..self.draws.len()).filter(working).collect();
        let lists = usable.iter().map(|&chain| &self.draws[chain]).collect();
        let weights = self.weights();
        let weights = usable
            .iter()
            .filter_map(|&chain| weights.get(chain).cloned())
            .collect();
        (lists, weights)
    }

    /// Weights of the kept draws, one vector per chain; empty where there are none.
    pub fn weights(&self) -> Vec<Vec<f64>> {
        weights_of(&self.info_names, &self.info)
    }

    /// The same as lists of one column, if there are weights that differ.
    pub fn weight_lists(&self) -> Option<Vec<DrawList>> {
        let list = |weights: &Vec<f64>| {
            let mut list = DrawList::new(1);
            for &weight in weights {
                list.push(&[weight]);
            }
            list
        };
        let weights = self.weights();
        weights::matter(&weights).then(|| weights.iter().map(list).collect())
    }

    /// Whether averages over the draws are weighted: there are weights, and they differ.
    pub fn is_weighted(&self) -> bool {
        weights::matter(&self.weights())
    }
}

fn weights_of(info_names: &[String], info: &[DrawList]) -> Vec<Vec<f64>> {
    weight_column(info_names).map_or_else(Vec::new, |column| {
        info.iter().map(|chain| chain.column(column)).collect()
    })
}

/// What a table of draws says besides the variables: its weights, if it has them.
fn info_of(read: &ReadDraws) -> (Vec<String>, Vec<DrawList>) {
    match &read.weights {
        Some(weights) => (vec![WEIGHT.to_owned()], weights.clone()),
        None => (Vec::new(), vec![DrawList::new(0); read.chains.len()]),
    }
}

/// The place of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// A new folder; runs are immutable, so an existing one must be empty.
    ///
    /// # Errors
    /// The folder cannot be made or written, or holds something.
    pub fn create(path: &Path) -> Result<Self, ExportError> {
        std::fs::create_dir_all(path)
            .map_err(|error| ExportError::at("The output folder cannot be made", &error, path))?;
        let mut entries = std::fs::read_dir(path)
            .map_err(|error| ExportError::at("The output folder cannot be read", &error, path))?;
        if journal::is_claimed(path) {
            return Err(ExportError(format!(
                "The output folder holds a run that still goes on; name another folder: {}",
                path.display()
            )));
        }
        if path.join(journal::DRAWS).is_file() {
            return Err(ExportError(format!(
                "The output folder holds a run that was cut short; `ergodic resume` continues it, or name another \
                 folder: {}",
                path.display()
            )));
        }
        if entries.next().is_some() {
            return Err(ExportError(format!(
                "The output folder is not empty; runs are never overwritten, name another one: {}",
                path.display()
            )));
        }
        // Found out now, not after an hour of sampling.
        let probe = path.join(".writable");
        std::fs::write(&probe, b"")
            .and_then(|()| std::fs::remove_file(&probe))
            .map_err(|error| {
                ExportError::at("The output folder cannot be written", &error, path)
            })?;
        Ok(Self {
            path: path.to_owned(),
        })
    }

    /// Whether [`Self::create`] can make `path`; nothing stays behind.
    ///
    /// # Errors
    /// As there.
    pub fn check(path: &Path) -> Result<(), ExportError> {
        let missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let missing: Vec<&Path> = path.ancestors().take_while(missing).collect();
        let made = Self::create(path);
        for folder in missing {
            // One that another program has put something into since stays.
            drop(std::fs::remove_dir(folder));
        }
        made.map(|_folder| ())
    }

    /// The first unused folder `stem-1`, `stem-2`, … in `parent`.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub fn create_numbered(parent: &Path, stem: &str) -> Result<Self, ExportError> {
        let mut number = 1;
        loop {
            let path = parent.join(format!("{stem}-{number}"));
            if !path.exists() {
                return Self::create(&path);
            }
            number += 1;
        }
    }

    /// An existing folder.
    ///
    /// # Errors
    /// It is not a run folder.
    pub fn open(path: &Path) -> Result<Self, ExportError> {
        if !path.is_dir() {
            return Err(ExportError(format!(
                "There is no such run folder: {}",
                path.display()
            )));
        }
        if !path.join("recipe.toml").is_file() {
            return Err(ExportError(format!(
                "This folder holds no run (no recipe.toml): {}",
                path.display()
            )));
        }
        Ok(Self {
            path: path.to_owned(),
        })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the run in it has no results yet: it goes on, or was cut short.
    pub fn is_unfinished(&self) -> bool {
        self.path.join(journal::DRAWS).is_file()
    }

    /// Whether a program is writing the run now.
    pub fn is_busy(&self) -> bool {
        journal::is_claimed(&self.path)
    }

    /// Writes the recipe of a run that begins, so that the folder is a run folder at once.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn begin(&self, job: &Job) -> Result<(), ExportError> {
        if self.path.join("recipe.toml").is_file() {
            return Ok(());
        }
        let mut recipe = job.recipe.clone();
        recipe.data.source = self.source_of(job);
        self.write_recipe(&recipe)
    }

    /// Writes everything, and where the chains stand; the journal has then done its work.
    ///
    /// # Errors
    /// The disk is full, or the folder can no longer be written.
    pub fn save_all(
        &self,
        job: &Job,
        results: &Results,
        marks: &[Option<ChainMark>],
    ) -> Result<(), ExportError> {
        self.save(job, results)?;
        self.save_checkpoint(job, marks)?;
        journal::remove(&self.path)
    }

    /// Writes everything but the checkpoint.
    ///
    /// # Errors
    /// The disk is full, or the folder can no longer be written.
    pub fn save(&self, job: &Job, results: &Results) -> Result<(), ExportError> {
        let recipe = self.recipe_of(job, results);
        self.write_recipe(&recipe)?;
        for id in ["draws-csv", "info-csv", "summary-csv", "summary-json"] {
            let format = find(id)?;
            write(format, results, &self.path.join(format.file_name))?;
        }
        self.save_clusters(results)?;
        let manifest = serde_json::to_string_pretty(&results.manifest)
            .map_err(|error| ExportError(format!("The manifest cannot be written: {error}")))?;
        self.write_text("run.json", &(manifest + "\n"))
    }

    /// Writes the clusters, where there are some.
    fn save_clusters(&self, results: &Results) -> Result<(), ExportError> {
        let Some(clusters) = &results.clusters else {
            return Ok(());
        };
        write(
            find("partition")?,
            results,
            &self.path.join(partitions::POINT),
        )?;
        if !clusters.densities.is_empty() {
            write(
                find("density")?,
                results,
                &self.path.join(partitions::DENSITY),
            )?;
        }
        let mut draws = Vec::new();
        let path = self.path.join(partitions::DRAWS);
        partitions::write_draws(results, &mut draws).map_err(|error| {
            ExportError::at("The partitions could not be written", &error, &path)
        })?;
        self.write_text(partitions::DRAWS, &String::from_utf8_lossy(&draws))?;
        let text = serde_json::to_string(clusters.as_ref())
            .map_err(|error| ExportError(format!("The clusters cannot be written: {error}")))?;
        self.write_text(partitions::CLUSTERS, &(text + "\n"))
    }

    /// Writes where the chains stand, so that the run can be continued.
    ///
    /// # Errors
    /// As [`Self::save`].
    pub fn save_checkpoint(
        &self,
        job: &Job,
        marks: &[Option<ChainMark>],
    ) -> Result<(), ExportError> {
        let path = self.path.join("checkpoint.dat");
        checkpoint::write(&path, &job.fingerprint(), marks)
            .map_err(|error| ExportError::at("The checkpoint could not be written", &error, &path))
    }

    fn write_recipe(&self, recipe: &Recipe) -> Result<(), ExportError> {
        let mut text = String::from("# Replays this run: ergodic fit recipe.toml\n\n");
        text.push_str(&recipe.to_toml());
        self.write_text("recipe.toml", &text)
    }

    /// The data source as the folder's recipe names it.
    fn source_of(&self, job: &Job) -> String {
        if job.recipe.data.source.starts_with(SAMPLE_PREFIX) {
            job.recipe.data.source.clone()
        } else {
            relative_to(&self.path, Path::new(job.table.source()))
        }
    }

    fn write_text(&self, name: &str, text: &str) -> Result<(), ExportError> {
        let path = self.path.join(name);
        let part = self.path.join(format!("{name}.part"));
        std::fs::write(&part, text)
            .and_then(|()| std::fs::rename(&part, &path))
            .map_err(|error| ExportError::at("The run folder could not be written", &error, &path))
    }

    /// The recipe that replays exactly what is in the folder.
    fn recipe_of(&self, job: &Job, results: &Results) -> Recipe {
        let mut recipe = job.recipe.clone();
        recipe.data.source = self.source_of(job);
        let draws: Vec<u64> = results
            .draws
            .iter()
            .map(|draws| draws.len() as u64)
            .collect();
        if results.warmup_of_chains.is_some() {
            recipe
                .run
                .warmup_of_chains
                .clone_from(&results.warmup_of_chains);
        }
        let as_planned = draws.iter().all(|&draws| draws == recipe.run.draws);
        recipe.run.draws_of_chains = None;
        if !as_planned {
            match draws.first() {
                Some(&first) if first > 0 && draws.iter().all(|&draws| draws == first) => {
                    recipe.run.draws = first;
                }
                _ => recipe.run.draws_of_chains = Some(draws),
            }
        }
        // Time and precision depend on the machine; the number of draws is what replays.
        recipe.run.max_seconds = None;
        recipe.run.target_ess = None;
        recipe.run.target_rhat = None;
        recipe
    }

    /// The recipe.
    ///
    /// # Errors
    /// It is damaged.
    pub fn recipe(&self) -> Result<Recipe, ExportError> {
        Recipe::read(&self.path.join("recipe.toml"), &[])
            .map_err(|error| ExportError(error.to_string()))
    }

    /// The results; of an unfinished run those that reached the disk.
    ///
    /// # Errors
    /// A file is missing or damaged.
    pub fn results(&self) -> Result<Results, ExportError> {
        if self.is_unfinished() {
            return journal::read(&self.path);
        }
        let path = self.path.join("run.json");
        let text = std::fs::read_to_string(&path)
            .map_err(|error| ExportError::at("The run folder is incomplete", &error, &path))?;
        let manifest: Manifest = serde_json::from_str(&text).map_err(|error| {
            ExportError(format!(
                "The manifest is damaged ({error}): {}",
                path.display()
            ))
        })?;
        let path = self.path.join("draws.csv");
        let file = std::fs::File::open(&path)
            .map_err(|error| ExportError::at("The run folder is incomplete", &error, &path))?;
        let draws = draws_csv::read_chains(std::io::BufReader::new(file), manifest.chains.len())
            .map_err(|what| ExportError(format!("{what}: {}", path.display())))?;
        let info = std::fs::File::open(self.path.join("info.csv"))
            .ok()
            .and_then(|file| {
                let input = std::io::BufReader::new(file);
                draws_csv::read_info(input, manifest.chains.len()).ok()
            })
            // Without the sampler's information the draws still know their weights.
            .unwrap_or_else(|| info_of(&draws));
        let seconds = manifest
            .chains
            .iter()
            .map(|chain| chain.draw_secs)
            .fold(0.0, f64::max);
        let mut results = Results::new(draws.names, draws.chains, info, seconds);
        results.leave_out_failed(&manifest, seconds);
        let partitions = std::fs::File::open(self.path.join(partitions::DRAWS)).ok();
        let labels = partitions.and_then(|file| {
            partitions::read_draws(std::io::BufReader::new(file), manifest.chains.len())
        });
        results.clusters = partitions::read_clusters(&self.path);
        results.labels = labels.unwrap_or_default();
        results.manifest = Some(manifest);
        Ok(results)
    }

    /// Where `job`, made from this folder's recipe, goes on.
    ///
    /// # Errors
    /// The run still goes on elsewhere, or its checkpoint is missing, damaged, or of another job.
    pub fn continuation(&self, job: &Job) -> Result<Continuation, ExportError> {
        if self.is_busy() {
            return Err(ExportError(format!(
                "The run cannot be continued: it still goes on in another program; wait for its end or stop it there: {}",
                self.path.display()
            )));
        }
        let name = if self.is_unfinished() {
            journal::MARKS
        } else {
            "checkpoint.dat"
        };
        let path = self.path.join(name);
        let (fingerprint, marks) = checkpoint::read(&path)
            .map_err(|error| ExportError::at("The run cannot be continued", &error, &path))?;
        if fingerprint != job.fingerprint() {
            return Err(ExportError(format!(
                "The run cannot be continued: its checkpoint belongs to other data, settings or another version: {}",
                path.display()
            )));
        }
        let results = self.results()?;
        let chains = results
            .manifest
            .as_ref()
            .map_or(&[][..], |manifest| &manifest.chains);
        let num_info = job.sampler.spec.info.len();
        let mut labels = results.labels.into_iter();
        let draws = results
            .draws
            .into_iter()
            .zip(results.info)
            .zip(&marks)
            .map(|((draws, info), mark)| {
                let mut chain = ChainDraws::new(draws.width(), num_info);
                // Draws beyond the mark, which a crash may leave, are made again.
                let kept = mark
                    .as_ref()
                    .map_or(draws.len(), |mark| draws.len().min(mark.draws as usize));
                chain.labels = labels.next().unwrap_or_default().first(kept as u64);
                chain.draws = first(draws, kept);
                if info.width() == num_info {
                    chain.info = first(info, kept);
                }
                chain
            })
            .collect();
        let longest = |pick: fn(&super::manifest::ChainManifest) -> f64| {
            chains.iter().map(pick).fold(0.0, f64::max)
        };
        Ok(Continuation {
            marks,
            draws,
            earlier_secs: (
                longest(|chain| chain.draw_secs),
                longest(|chain| chain.warmup_secs),
            ),
        })
    }
}

/// The first `count` rows of a list.
fn first(list: DrawList, count: usize) -> DrawList {
    if count >= list.len() {
        return list;
    }
    let mut kept = DrawList::new(list.width());
    for i in 0..count {
        let row: Vec<f64> = (0..list.width()).map(|j| list.value(i, j)).collect();
        kept.push(&row);
    }
    kept
}

/// Whether any chain has draws worth keeping.
pub fn has_draws(view: &RunView) -> bool {
    view.chains
        .iter()
        .any(|chain| !chain.draws.draws.is_empty())
        && !view
            .chains
            .iter()
            .all(|chain| matches!(chain.state, ChainState::Failed(_)))
}

/// `source` as seen from `folder`: relative where both share more than the root, so that a project can be moved.
pub(super) fn relative_to(folder: &Path, source: &Path) -> String {
    let absolute =
        |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_missing| path.to_owned());
    let (folder, source) = (absolute(folder), absolute(source));
    let shared = folder
        .components()
        .zip(source.components())
        .take_while(|(a, b)| a == b)
        .count();
    let beyond_root = folder
        .components()
        .take(shared)
        .any(|component| matches!(component, Component::Normal(_)));
    if !beyond_root {
        return source.display().to_string();
    }
    let up = folder
        .components()
        .skip(shared)
        .map(|_| Component::ParentDir);
    let relative: PathBuf = up.chain(source.components().skip(shared)).collect();
    relative.display().to_string()
}
