//! Run folders: one run each, complete enough to read, replay and continue.
//!
//! `recipe.toml` (complete, replays), `draws.csv`, `info.csv`, `starts.csv`, `summary.csv`, `summary.json`, `run.json` (manifest and
//! checksums), `checkpoint.dat`; of mixtures also `partition.csv`, `partitions.csv` and `clusters.json`. While the run goes on,
//! and after a crash, `journal.dat` has its draws. `docs/run-folder.md` says in which order they are written.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::claim::{self, Claim};
use super::manifest::other_arithmetic;
use super::saved::{Damage, RECIPE, SAVING, SavedFiles};
use super::{ExportError, Results, files, journal, saving};
use ergodic_analysis::{Job, Recipe, SAMPLE_PREFIX};
use ergodic_base::RunningMoments;
use ergodic_base::draws::ChainDraws;
use ergodic_core::engine::checkpoint::{self, ChainMark, Marks};
use ergodic_core::engine::{Continuation, Sampling as _};

#[cfg(test)]
mod tests;

/// How often a folder is read again that changes while it is read.
const READINGS: usize = 5;
/// Bytes of a data file's name in the name of a folder: file systems allow 255 in all.
const STEM_BYTES: usize = 100;

/// The place of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

/// What a folder holds of its run.
#[derive(Debug)]
pub struct Standing {
    /// Results without a summary.
    results: Results,
    /// Draws of each chain from its first on without a gap.
    pub whole: Vec<u64>,
    /// Draws of each chain up to the last that is there, gaps included.
    pub reach: Vec<u64>,
    /// Draws that each chain was to make, where the run was cut short and this is known.
    pub plan: Option<Vec<u64>>,
    /// Whether the run was cut short.
    pub is_cut_short: bool,
    /// Fingerprint of the job, if the journal knows it.
    job: Option<String>,
    /// Why the run cannot be continued although its draws are whole.
    gap: Option<Damage>,
}

impl Standing {
    /// The results; their summary is empty.
    pub fn results(&self) -> &Results {
        &self.results
    }

    /// The results with their summary.
    fn into_results(self) -> Results {
        let mut results = self.results;
        let seconds = results.seconds();
        if self.is_cut_short {
            journal::judge_recovered(&mut results, seconds);
        } else {
            results.summarise(seconds);
        }
        results
    }
}

/// How a run goes on.
#[derive(Debug)]
pub struct Onward {
    /// Where; `None` if it begins again.
    pub continuation: Option<Continuation>,
    /// Why not from where it ended: one sentence each.
    pub remarks: Vec<String>,
}

impl RunFolder {
    /// A new folder and the right to write into it; runs are immutable, so an existing one must be empty.
    ///
    /// # Errors
    /// The folder cannot be made or written, or holds something.
    pub fn create(path: &Path) -> Result<(Self, Claim), ExportError> {
        let made = make_folders(path)?;
        // Nothing of a folder with other things in it is touched.
        check_empty(path).inspect_err(|_refused| claim::remove_empty(&made))?;
        let claim = Claim::take_unless_busy(path, made)?
            .ok_or_else(|| ExportError::OutputBusy(path.to_owned()))?;
        check_empty(path)?;
        saving::tidy(&claim)?;
        let folder = Self {
            path: path.to_owned(),
        };
        Ok((folder, claim))
    }

    /// Whether [`Self::create`] can make `path`; nothing stays behind.
    ///
    /// # Errors
    /// As there.
    pub fn check(path: &Path) -> Result<(), ExportError> {
        Self::create(path).map(|_claimed| ())
    }

    /// What the name of a run's folder begins with: data and sampler.
    pub fn stem_of(job: &Job) -> String {
        let data = job.recipe.sample().map_or_else(
            || {
                let stem = Path::new(job.table.source()).file_stem();
                stem.unwrap_or_default().to_string_lossy().into_owned()
            },
            str::to_owned,
        );
        let data = data.split('.').find(|part| !part.is_empty());
        let data = data.unwrap_or("run");
        let end = data.floor_char_boundary(STEM_BYTES);
        format!("{}-{}", &data[..end], job.sampler.spec.id)
    }

    /// Whether [`Self::create_numbered`] can make a folder in `parent`; nothing stays behind.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub fn check_numbered(parent: &Path) -> Result<(), ExportError> {
        // Under a name, and in a folder, that no other program makes and removes at the same moment.
        let is_there = |folder: &&Path| folder.as_os_str().is_empty() || folder.exists();
        let there = parent.ancestors().find(is_there).unwrap_or(parent);
        Self::check(&there.join(format!(".{}", files::token())))
    }

    /// The first unused folder `stem-1`, `stem-2`, … in `parent`.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub fn create_numbered(parent: &Path, stem: &str) -> Result<(Self, Claim), ExportError> {
        let mut made = make_folders(parent)?;
        let mut number = 1;
        loop {
            let path = parent.join(format!("{stem}-{number}"));
            match files::make_folder(&path) {
                Ok(()) => {
                    made.push(path.clone());
                    let claim = Claim::take_unless_busy(&path, made)?;
                    let claim = claim
                        .ok_or_else(|| no_folder(io::ErrorKind::ResourceBusy.into(), &path))?;
                    return Ok((Self { path }, claim));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => {
                    claim::remove_empty(&made);
                    return Err(no_folder(error, &path));
                }
            }
        }
    }

    /// A new folder among temporary files that nobody can guess and no other user can read.
    ///
    /// # Errors
    /// As [`Self::create`].
    pub(super) fn create_rescue(job: &Job) -> Result<(Self, Claim), ExportError> {
        let name = format!("ergodic-{}-{}", Self::stem_of(job), files::token());
        let path = std::env::temp_dir().join(name);
        files::make_private_folder(&path).map_err(|error| no_folder(error, &path))?;
        let claim = Claim::take_unless_busy(&path, vec![path.clone()])?;
        let claim = claim.ok_or_else(|| no_folder(io::ErrorKind::ResourceBusy.into(), &path))?;
        Ok((Self { path }, claim))
    }

    /// An existing folder.
    ///
    /// # Errors
    /// It is not a run folder.
    pub fn open(path: &Path) -> Result<Self, ExportError> {
        if path.is_file() {
            return Err(ExportError::File(path.to_owned()));
        }
        if !path.is_dir() {
            return Err(ExportError::NoFolder(path.to_owned()));
        }
        let folder = Self {
            path: path.to_owned(),
        };
        if !folder.path.join(RECIPE).is_file() && !folder.path.join(SAVING).is_file() {
            return Err(ExportError::NoRun(path.to_owned()));
        }
        Ok(folder)
    }

    /// An existing folder and the right to write into it, brought into order if its last writer was cut short.
    ///
    /// # Errors
    /// It is not a run folder, or another program writes it.
    pub fn claim(path: &Path) -> Result<(Self, Claim), ExportError> {
        let folder = Self::open(path)?;
        let claim = Claim::take(path)?;
        saving::tidy(&claim)?;
        Ok((folder, claim))
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the run in it goes on, or was cut short.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.path.join(journal::DRAWS).is_file() && !self.path.join(SAVING).is_file()
    }

    /// The data source as the folder's recipe names it.
    pub(super) fn source_of(&self, job: &Job) -> String {
        if job.recipe.data.source.starts_with(SAMPLE_PREFIX) {
            job.recipe.data.source.clone()
        } else {
            relative_to(&self.path, Path::new(job.table.source()))
        }
    }

    /// The recipe that replays exactly what is in the folder.
    pub(super) fn recipe_of(&self, job: &Job, results: &Results) -> Recipe {
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
        recipe.run.until_precise = false;
        recipe
    }

    /// The recipe.
    ///
    /// # Errors
    /// It is damaged.
    pub fn recipe(&self) -> Result<Recipe, ExportError> {
        let path = SavedFiles::of(&self.path)?.path(RECIPE);
        Ok(Recipe::read(&path, &[])?)
    }

    /// What there is to say about making this run again as `job`: one sentence. Nothing where no results are saved or they cannot
    /// be read.
    pub fn replay_remark(&self, job: &Job) -> Option<String> {
        let saved = SavedFiles::of(&self.path).and_then(|saved| saved.manifest());
        let (manifest, _) = saved.ok().flatten()?;
        other_arithmetic(manifest.arithmetic, job.arithmetic)
    }

    /// The results; of an unfinished run those that reached the disk.
    ///
    /// # Errors
    /// A file is missing or damaged.
    pub fn results(&self) -> Result<Results, ExportError> {
        let standing = self.standing()?;
        let standing = standing.ok_or_else(|| ExportError::NoDraws(self.path.clone()))?;
        Ok(standing.into_results())
    }

    /// What there is of the run; `None` before its first draw was written.
    ///
    /// # Errors
    /// A file is missing or damaged.
    pub fn standing(&self) -> Result<Option<Standing>, ExportError> {
        let mut reading = 1;
        loop {
            let before = self.look();
            let read = self.read_standing();
            let is_plain =
                matches!(&read, Ok(it) if it.iter().all(|it| it.results.remarks.is_empty()));
            // Between two of its files, the program that writes it may have saved the run.
            if is_plain || reading == READINGS || self.look() == before {
                return read;
            }
            reading += 1;
        }
    }

    /// What stands in the folder of a run that is to be continued: a journal whose beginning is damaged, so that nothing in it
    /// can be read, gets another name. The sentences say so. `claim` is that of this folder.
    ///
    /// # Errors
    /// As [`Self::standing`].
    pub(crate) fn standing_to_continue(
        &self,
        claim: &Claim,
    ) -> Result<(Option<Standing>, Vec<String>), ExportError> {
        let path = claim.folder().join(journal::DRAWS);
        match self.standing() {
            Err(error) if self.is_unfinished() && journal::has_no_beginning(&path) => {
                let failed = |error| {
                    ExportError::at("The damaged journal could not be renamed", error, &path)
                };
                let aside = files::set_aside(&path).map_err(failed)?;
                files::remove(&path).map_err(failed)?;
                let remark = format!("{error}; it is kept as {}", aside.display());
                Ok((self.standing()?, vec![remark]))
            }
            standing => Ok((standing?, Vec::new())),
        }
    }

    /// What changes when results are saved.
    fn look(&self) -> impl PartialEq {
        [super::saved::MANIFEST, SAVING, journal::DRAWS].map(|name| {
            let about = self.path.join(name).metadata().ok();
            about.map(|about| (about.modified().ok(), about.len()))
        })
    }

    fn read_standing(&self) -> Result<Option<Standing>, ExportError> {
        if self.is_unfinished() {
            // Read first, a checkpoint is never ahead of the journal of a run that goes on.
            let reach = self.marks(journal::MARKS).ok().flatten();
            let recovered = journal::read(&self.path)?;
            let mut results = recovered.results;
            let behind = |(whole, mark): (&u64, &Option<ChainMark>)| {
                mark.as_ref().is_some_and(|mark| mark.draws > *whole)
            };
            if let Some((_, marks)) = &reach {
                // Of the last place that the chains have written down, up to a second before the last draw.
                results.take_moments(marks);
            }
            if let Some((_, marks)) = reach
                && results.remarks.is_empty()
                && recovered.whole.iter().zip(&marks).any(behind)
            {
                results.remarks.push(format!(
                    "The end of the unfinished run's journal is missing; `ergodic resume` makes those draws again: {}",
                    self.path.join(journal::DRAWS).display()
                ));
            }
            return Ok(Some(Standing {
                results,
                whole: recovered.whole,
                reach: recovered.reach,
                plan: recovered.plan,
                is_cut_short: true,
                job: recovered.job,
                gap: recovered.gap,
            }));
        }
        let saved = SavedFiles::of(&self.path)?.results()?;
        Ok(saved.map(|saved| Standing {
            whole: saved.results.lengths(),
            reach: saved.results.lengths(),
            results: saved.results,
            plan: None,
            is_cut_short: false,
            job: None,
            gap: saved.gap,
        }))
    }

    /// Fingerprint and marks of a checkpoint; `None` if it is not there.
    fn marks(&self, name: &str) -> Result<Option<(String, Marks)>, ExportError> {
        let path = self.path.join(name);
        let bytes = SavedFiles::of(&self.path)?
            .read(name)
            .map_err(|error| ExportError::at("The checkpoint cannot be read", error, &path))?;
        let Some(bytes) = bytes else {
            return Ok(None);
        };
        let marks = checkpoint::decode(&bytes).map(Some);
        marks.ok_or(ExportError::Checkpoint(path))
    }

    /// Where each chain of the saved run ended, which `job` was made from this folder's recipe to follow; none where no checkpoint was
    /// kept.
    ///
    /// # Errors
    /// The checkpoint is damaged or of another job.
    pub fn ends(&self, job: &Job) -> Result<Marks, ExportError> {
        match self.marks(super::saved::MARKS)? {
            Some((of, _)) if !job.continues(&of) => Err(ExportError::OtherJob(self.path.clone())),
            Some((_, marks)) => Ok(marks),
            None => Ok(Vec::new()),
        }
    }

    /// How `job`, made from this folder's recipe, goes on from `standing`: from the newest checkpoint that the draws reach
    /// without a gap, otherwise from its beginning, which gives the same draws again.
    ///
    /// # Errors
    /// The folder is of another job, or what the sampler says besides its draws is damaged.
    pub fn continuation(&self, job: &Job, standing: Standing) -> Result<Onward, ExportError> {
        let other = || ExportError::OtherJob(self.path.clone());
        if let Some(damage) = standing.gap {
            return Err(ExportError::Gap(damage, self.path.clone()));
        }
        if standing.job.as_ref().is_some_and(|it| !job.continues(it)) {
            return Err(other());
        }
        let mut remarks = Vec::new();
        let mut newest: Option<Marks> = None;
        let drawn = |marks: &[Option<ChainMark>]| -> u64 {
            marks.iter().flatten().map(|mark| mark.draws).sum()
        };
        for name in [journal::MARKS, super::saved::MARKS] {
            match self.marks(name) {
                Ok(None) => {}
                Ok(Some((of, marks))) => {
                    if !job.continues(&of) || marks.len() != standing.whole.len() {
                        return Err(other());
                    }
                    let reached = |(mark, whole): (&Option<ChainMark>, &u64)| {
                        mark.as_ref().is_none_or(|mark| mark.draws <= *whole)
                    };
                    if !marks.iter().zip(&standing.whole).all(reached) {
                        remarks.push(format!(
                            "Draws before a checkpoint are missing; the run goes on from an earlier place and makes them \
                             again: {}",
                            self.path.join(name).display()
                        ));
                    } else if newest.as_ref().is_none_or(|it| drawn(it) < drawn(&marks)) {
                        newest = Some(marks);
                    }
                }
                Err(error) => remarks.push(error.to_string()),
            }
        }
        let Some(marks) = newest else {
            remarks.push(
                "No checkpoint says where the chains stood; the run begins again and makes the same draws".to_owned(),
            );
            return Ok(Onward {
                continuation: None,
                remarks,
            });
        };
        let continuation = continue_from(marks, standing, job)
            .ok_or_else(|| ExportError::NoInfo(self.path.clone()))?;
        Ok(Onward {
            continuation: Some(continuation),
            remarks,
        })
    }
}

/// The draws up to each chain's mark; those beyond, which a crash may leave, are made again. `None` if what the sampler said
/// about them is missing.
fn continue_from(marks: Marks, standing: Standing, job: &Job) -> Option<Continuation> {
    let num_info = job.num_info();
    let results = standing.results;
    let mut labels = results.labels.into_iter();
    let mut draws = Vec::with_capacity(marks.len());
    let lists = results.draws.into_iter().zip(results.info);
    for ((list, info), (mark, whole)) in lists.zip(marks.iter().zip(&standing.whole)) {
        let kept = mark.as_ref().map_or(*whole, |mark| mark.draws);
        let mut chain = ChainDraws::new(list.width(), num_info);
        chain.labels = labels.next().unwrap_or_default().first(kept);
        chain.draws = list.first(kept as usize);
        chain.unkept = Arc::new(
            mark.as_ref()
                .map_or_else(RunningMoments::default, |mark| mark.unkept.clone()),
        );
        chain.info = info.first(kept as usize);
        if chain.info.width() != num_info || chain.info.len() != chain.draws.len() {
            return None;
        }
        draws.push(chain);
    }
    let manifest = results.manifest;
    let ended = manifest.as_ref().and_then(|manifest| manifest.stop_reason);
    let chains = manifest
        .as_ref()
        .map_or(&[][..], |manifest| &manifest.chains);
    let longest = |pick: fn(&super::manifest::ChainManifest) -> f64| {
        chains.iter().map(pick).fold(0.0, f64::max)
    };
    Some(Continuation {
        marks,
        draws,
        earlier_secs: (
            longest(|chain| chain.draw_secs),
            longest(|chain| chain.warmup_secs),
        ),
        ended: ended.filter(|_| !standing.is_cut_short),
    })
}

fn no_folder(error: io::Error, path: &Path) -> ExportError {
    ExportError::at("Cannot create the run folder", error, path)
}

/// Makes `path` and what it is in; returns those that were not there, outermost first.
fn make_folders(path: &Path) -> Result<Vec<PathBuf>, ExportError> {
    let named = |path: &&Path| !path.as_os_str().is_empty();
    let mut missing: Vec<&Path> = path
        .ancestors()
        .filter(named)
        .take_while(|path| !path.exists())
        .collect();
    missing.reverse();
    let mut made = Vec::new();
    for folder in missing {
        match files::make_folder(folder) {
            Ok(()) => made.push(folder.to_owned()),
            // Another program was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
            Err(error) => {
                claim::remove_empty(&made);
                return Err(no_folder(error, path));
            }
        }
    }
    if !path.is_dir() {
        return Err(no_folder(io::ErrorKind::AlreadyExists.into(), path));
    }
    Ok(made)
}

/// Refuses a folder with anything in it but what a crash before the first file leaves.
fn check_empty(path: &Path) -> Result<(), ExportError> {
    let failed = |error| ExportError::at("The output folder cannot be read", error, path);
    let mut is_empty = true;
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let name = name.to_string_lossy();
        is_empty &= name == claim::LOCK || files::whole_of(&name) == Some(RECIPE);
    }
    if is_empty {
        return Ok(());
    }
    let has = |name: &str| path.join(name).is_file();
    let refuse = if Claim::is_taken(path) {
        ExportError::OutputBusy
    } else if has(journal::DRAWS) || (has(RECIPE) && !has(super::saved::MANIFEST)) {
        ExportError::OutputCutShort
    } else {
        ExportError::OutputNotEmpty
    };
    Err(refuse(path.to_owned()))
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
