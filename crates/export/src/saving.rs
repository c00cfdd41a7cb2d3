//! Saving results as one step: all new files are written and synced under temporary names, a list of them makes them count, and
//! then they get their names. A crash leaves either what was there before or everything new.

use std::io::{self, Write};
use std::path::Path;

use super::claim::Claim;
use super::folder::RunFolder;
use super::label::LABEL;
use super::record::{self, FileRecord, Records};
use super::saved::{DRAWS, INFO, MANIFEST, MARKS, Pending, RECIPE, SAVING, STARTS, SavedFiles};
use super::{ExportError, FORMATS, Format, Needs, Results, files, find, journal, partitions};
use ergodic_analysis::{Job, Recipe};
use ergodic_core::engine::checkpoint::{self, ChainMark};
use ergodic_core::engine::found;

/// Names of everything that a run folder may hold besides what outputs of samplers come to.
const NAMES: &[&str] = &[
    RECIPE,
    DRAWS,
    INFO,
    STARTS,
    "summary.csv",
    "summary.json",
    partitions::DRAWS,
    MANIFEST,
    MARKS,
    SAVING,
    journal::DRAWS,
    journal::MARKS,
    LABEL,
];

/// Tables of what outputs of samplers come to.
fn tables() -> impl Iterator<Item = &'static Format> {
    let formats = FORMATS.iter();
    formats.filter(|format| matches!(format.needs, Needs::Found(_)))
}

/// Whether a run folder may hold a file of this name: temporary files of these are removed where a crash left them, and no other output
/// replaces them.
pub(super) fn is_own(name: &str) -> bool {
    NAMES.contains(&name)
        || tables().any(|format| format.file_name == name)
        || found::files().any(|(file, _)| file == name)
}

/// What became of results that were to be saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Saved {
    /// The results are in the folder.
    Whole,
    /// The folder holds more draws than the run has made again so far: the journal stays, and the run goes on from it.
    InJournal,
}

impl Saved {
    /// What there is to say about results of the run in `folder` that are not saved there.
    pub fn remark(&self, folder: &RunFolder) -> Option<ExportError> {
        let path = || folder.path().to_owned();
        (*self == Self::InJournal).then(|| ExportError::InJournal(path()))
    }
}

/// New files of a folder under temporary names.
struct Stage<'a> {
    folder: &'a Path,
    pending: Pending,
    records: Records,
    /// Whether the files have a list, so that they must stay.
    counts: bool,
}

impl<'a> Stage<'a> {
    fn new(folder: &'a Path) -> Self {
        Self {
            folder,
            pending: Pending {
                token: files::token(),
                names: Vec::new(),
            },
            records: Records::new(),
            counts: false,
        }
    }

    /// Writes the file that is to be called `name`.
    fn put(
        &mut self,
        name: &str,
        act: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), ExportError> {
        let part = self.pending.part(self.folder, name);
        let (bytes, sha256) = files::write_new(&part, act).map_err(|error| {
            let what = format!("{name} could not be written");
            ExportError::at(what, error, &self.folder.join(name))
        })?;
        self.pending.names.push(name.to_owned());
        let record = FileRecord { bytes, sha256 };
        self.records.insert(name.to_owned(), record);
        Ok(())
    }

    /// From here on the new files count.
    fn commit(mut self) -> Result<(), ExportError> {
        let path = self.folder.join(SAVING);
        let failed = |error| ExportError::at("The run folder could not be written", error, &path);
        let text = self.pending.text().map_err(|error| failed(error.into()))?;
        // Somebody may have removed the folder meanwhile and made it again.
        let part = |name: &String| self.pending.part(self.folder, name);
        let all_there = (self.pending.names.iter())
            .try_for_each(|name| part(name).symlink_metadata().map(drop));
        let listed = all_there
            .and_then(|()| files::sync_folder(self.folder))
            .and_then(|()| files::replace(&path, |out| out.write_all(text.as_bytes())));
        if let Err(error) = listed {
            // The list may be there all the same: only once the disk knows that it is gone do the files not count.
            let gone = files::remove(&path).and_then(|()| files::sync_folder(self.folder));
            self.counts = gone.is_err();
            return Err(failed(error));
        }
        self.counts = true;
        settle(self.folder, &self.pending)
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        if !self.counts {
            for name in &self.pending.names {
                // Best effort: whoever writes the folder next removes them too.
                drop(files::remove(&self.pending.part(self.folder, name)));
            }
        }
    }
}

/// Gives the listed files their names, then removes the journal, which they replace, and the list. May be begun again at any
/// point.
fn settle(folder: &Path, pending: &Pending) -> Result<(), ExportError> {
    let settled = (|| {
        for name in &pending.names {
            let (part, path) = (pending.part(folder, name), folder.join(name));
            if part.symlink_metadata().is_ok() {
                if name == MARKS
                    && let Ok(bytes) = std::fs::read(&path)
                    && checkpoint::decode(&bytes).is_none()
                {
                    files::set_aside(&path)?;
                }
                files::rename(&part, &path)?;
            }
        }
        files::sync_folder(folder)?;
        for name in [journal::DRAWS, journal::MARKS] {
            files::remove(&folder.join(name))?;
        }
        files::sync_folder(folder)?;
        files::remove(&folder.join(SAVING))
    })();
    settled.map_err(|error| {
        ExportError::at(
            "The results are saved, but some files could not get their names; every command of this program reads them, and \
             `ergodic resume` gives them their names",
            error,
            folder,
        )
    })
}

/// Brings a folder whose writer ended at any moment into order, under `claim`: new results that are whole get their names, and
/// temporary files that do not count are removed.
pub(super) fn tidy(claim: &Claim) -> Result<(), ExportError> {
    let folder = claim.folder();
    if let Some(pending) = Pending::read(folder)? {
        settle(folder, &pending)?;
    }
    let failed = |error| ExportError::at("The run folder cannot be read", error, folder);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let whole = name.to_str().and_then(files::whole_of);
        if whole.is_some_and(is_own) {
            // One that stays only takes room.
            drop(files::remove(&entry.path()));
        }
    }
    Ok(())
}

impl RunFolder {
    /// Writes everything in one step, and where the chains stand; the journal has then done its work. `claim` is that of this
    /// folder. `progress` hears what is being written.
    ///
    /// # Errors
    /// The disk is full, or the folder can no longer be written; what was there before is there still.
    pub fn save_all(
        &self,
        claim: &Claim,
        job: &Job,
        results: &Results,
        marks: &[Option<ChainMark>],
        progress: &mut dyn FnMut(&str),
    ) -> Result<(), ExportError> {
        debug_assert_eq!(claim.folder(), self.path(), "the right to another folder");
        self.check_is_no_less(results)?;
        let mut stage = Stage::new(claim.folder());
        for id in ["draws-csv", "info-csv", "summary-csv", "summary-json"] {
            let format = find(id)?;
            format.check(results)?;
            progress(format.file_name);
            stage.put(format.file_name, |out| (format.write)(results, out))?;
        }
        if !results.starts.is_empty() {
            let format = find("starts-csv")?;
            stage.put(format.file_name, |out| (format.write)(results, out))?;
        }
        put_found(&mut stage, results, progress)?;
        let text = recipe_text(&self.recipe_of(job, results));
        stage.put(RECIPE, |out| out.write_all(text.as_bytes()))?;
        let Some(manifest) = &results.manifest else {
            return Err(ExportError::OtherOrigin(self.path().to_owned()));
        };
        stage.put(MARKS, |out| {
            out.write_all(&checkpoint::encode(&job.fingerprint(), marks)?)
        })?;
        let text = record::encode(manifest, &stage.records);
        stage.put(MANIFEST, |out| out.write_all(text?.as_bytes()))?;
        stage.commit()
    }

    /// Refuses results with fewer draws of a chain than are saved.
    fn check_is_no_less(&self, results: &Results) -> Result<(), ExportError> {
        // A manifest that cannot be read protects nothing.
        let saved = SavedFiles::of(self.path()).and_then(|saved| saved.manifest());
        let Ok(Some((saved, _))) = saved else {
            return Ok(());
        };
        let mut chains = saved.chains.iter().zip(&results.draws);
        if chains.any(|(saved, draws)| saved.draws > draws.len()) {
            return Err(ExportError::FewerDraws(self.path().to_owned()));
        }
        Ok(())
    }

    /// Writes the recipe of a run that begins, so that the folder is a run folder at once.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn begin(&self, claim: &Claim, job: &Job) -> Result<(), ExportError> {
        let path = claim.folder().join(RECIPE);
        if path.is_file() {
            return Ok(());
        }
        let mut recipe = job.recipe.clone();
        recipe.data.source = self.source_of(job);
        let text = recipe_text(&recipe);
        files::replace(&path, |out| out.write_all(text.as_bytes()))
            .map_err(|error| ExportError::at("The run folder could not be written", error, &path))
    }

    /// Saves a run that ended where it belongs or, should that fail, in a new folder among temporary files. Nothing that the
    /// folder holds is given up for that.
    ///
    /// # Errors
    /// The results are not where they belong; the sentence says where they are, or from where they can be made again.
    pub fn save_or_rescue(
        &self,
        journal: &mut journal::Journal,
        (job, results, marks): (&Job, &Results, &[Option<ChainMark>]),
        progress: &mut dyn FnMut(&str),
    ) -> Result<Saved, ExportError> {
        journal.finish();
        if journal.holds_more_than(results) {
            return Ok(Saved::InJournal);
        }
        let Err(trouble) = self.save_all(journal.claim(), job, results, marks, progress) else {
            return Ok(Saved::Whole);
        };
        if self.is_saved_as(results) {
            return Err(trouble);
        }
        // What the attempt took is free again: perhaps the journal has room now.
        let kept = journal.finish();
        let rescue = Self::create_rescue(job).and_then(|(rescue, claim)| {
            rescue
                .save_all(&claim, job, results, marks, progress)
                .map(|()| rescue)
        });
        let trouble = Box::new(trouble);
        Err(match rescue {
            Ok(rescue) => ExportError::Rescued(trouble, rescue.path().to_owned()),
            Err(_also_full) if kept && self.is_unfinished() => ExportError::KeptInJournal(trouble),
            Err(_also_full) => ExportError::KeptInPart {
                trouble,
                written: journal.written(),
                drawn: results.total_draws(),
            },
        })
    }

    /// Whether the results that count in the folder are `results`, although not all files have their names.
    fn is_saved_as(&self, results: &Results) -> bool {
        let saved = SavedFiles::of(self.path());
        saved.is_ok_and(|saved| {
            saved.are_pending()
                && saved
                    .manifest()
                    .is_ok_and(|read| read.map(|(manifest, _)| manifest) == results.manifest)
        })
    }
}

/// What outputs come to as tables, labels of units where there are some, and all that is to be read again.
fn put_found(
    stage: &mut Stage<'_>,
    results: &Results,
    progress: &mut dyn FnMut(&str),
) -> Result<(), ExportError> {
    if results.found.0.is_empty() {
        // Where all chains failed, nothing comes of their labels.
        return Ok(());
    }
    let has_labels = results.labels.iter().any(|list| !list.is_empty());
    if has_labels {
        progress(partitions::DRAWS);
    }
    for format in tables().filter(|format| format.check(results).is_ok()) {
        stage.put(format.file_name, |out| (format.write)(results, out))?;
    }
    if has_labels {
        stage.put(partitions::DRAWS, |out| {
            partitions::write_draws(results, out)
        })?;
    }
    for one in &results.found.0 {
        if let Some(file) = one.kind().file {
            stage.put(file, |out| one.write(out))?;
        }
    }
    Ok(())
}

fn recipe_text(recipe: &Recipe) -> String {
    format!(
        "# Replays this run: ergodic fit recipe.toml\n\n{}",
        recipe.to_toml()
    )
}
