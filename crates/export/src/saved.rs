//! The saved results of a run folder: where each file is, whether it is as it was written, and what it says.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use super::draws_csv::{self, DrawsError, ReadDraws};
use super::error::reason;
use super::manifest::Manifest;
use super::record::{self, RecordError, Records};
use super::results::{Results, info_of};
use super::{ExportError, files, partitions, summary};
use ergodic_base::draws::DrawList;
use ergodic_core::engine::{checkpoint, found, gradients};
use ergodic_data::Bounded;

/// File name of the manifest.
pub const MANIFEST: &str = "run.json";
/// File name of where the chains started.
pub const STARTS: &str = "starts.csv";
/// File name of the recipe.
pub const RECIPE: &str = ergodic_analysis::RUN_RECIPE;
/// File name of the draws.
pub const DRAWS: &str = "draws.csv";
/// File name of the sampler's information.
pub const INFO: &str = "info.csv";
/// File name of the summary with all that was found.
const SUMMARY: &str = "summary.json";
/// File name of where the chains stand.
pub const MARKS: &str = "checkpoint.dat";
/// File name of the list of new files that do not have their names yet.
pub const SAVING: &str = "saving.json";

/// Longest manifest or checkpoint: what never ends, such as a device, ends here.
const MOST_BYTES: u64 = 4_000_000_000;

/// What is wrong with a file of saved results.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    /// A file that cannot be read.
    #[error("{name} cannot be read: {}: {name}", reason(error, Path::new(name)))]
    Unreadable {
        /// The file.
        name: String,
        /// Why.
        error: io::Error,
    },
    /// A file that is not as it was written.
    #[error("{0} is not as the run wrote it (its checksum differs from that in {MANIFEST})")]
    Changed(String),
    /// A file that is no table of draws.
    #[error(transparent)]
    Table(#[from] DrawsError),
    /// A file that is nothing of its kind.
    #[error("{0} is damaged")]
    Unlike(&'static str),
    /// A file with more or fewer draws than the run.
    #[error("{name} has {has} draws of chain {chain}, and not the {made} that the run made")]
    Draws {
        /// The file.
        name: &'static str,
        /// Draws in it.
        has: usize,
        /// Number of the chain.
        chain: usize,
        /// Draws of the run.
        made: usize,
    },
    /// A file that had the draws' weights.
    #[error("{0}, and with it the draws' weights")]
    Weights(Box<Self>),
}

/// New results that are whole, under temporary names with one token: where this list is, they count and not what stands under
/// their names, nor the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pending {
    pub token: String,
    pub names: Vec<String>,
}

impl Pending {
    /// The list of `folder`, if there is one.
    pub fn read(folder: &Path) -> Result<Option<Self>, ExportError> {
        let path = folder.join(SAVING);
        let bytes = match files::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if is_missing(&error) => return Ok(None),
            Err(error) => {
                return Err(ExportError::at(
                    "The run folder cannot be read",
                    error,
                    &path,
                ));
            }
        };
        let parsed = || -> Option<Self> {
            let value = record::unseal(std::str::from_utf8(&bytes).ok()?).ok()?;
            let names = value["files"].as_array()?.iter();
            let names: Option<Vec<String>> =
                names.map(|it| it.as_str().map(str::to_owned)).collect();
            let pending = Self {
                token: value["token"].as_str()?.to_owned(),
                names: names?,
            };
            // Names are only those of files of this folder, whoever wrote the list.
            let is_own = |name: &String| {
                let part = pending.part(Path::new(""), name);
                files::is_plain(name)
                    && part.to_str().and_then(files::whole_of) == Some(name.as_str())
            };
            pending.names.iter().all(is_own).then_some(pending)
        };
        let pending = parsed().map(Some);
        pending.ok_or(ExportError::SavingList(path))
    }

    /// The text of the list.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        let value: Value = json!({"files": self.names, "token": self.token});
        record::seal(&value)
    }

    /// The temporary name of `name`.
    pub fn part(&self, folder: &Path, name: &str) -> PathBuf {
        files::part_of(&folder.join(name), &self.token)
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Where the saved files of a run folder are.
pub(super) struct SavedFiles<'a> {
    folder: &'a Path,
    pending: Option<Pending>,
}

/// What [`SavedFiles::results`] found.
pub(super) struct SavedRun {
    /// Results without a summary.
    pub results: Results,
    /// The manifest; the results have it too.
    pub manifest: Manifest,
    /// Why the run cannot be continued although its draws are whole: what it says besides is damaged.
    pub gap: Option<Damage>,
}

impl<'a> SavedFiles<'a> {
    pub fn of(folder: &'a Path) -> Result<Self, ExportError> {
        Ok(Self {
            folder,
            pending: Pending::read(folder)?,
        })
    }

    /// Whether new results are whole and have not all got their names.
    pub fn are_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// Where the file called `name` is now.
    pub fn path(&self, name: &str) -> PathBuf {
        let part = self.pending.as_ref().map(|it| it.part(self.folder, name));
        part.filter(|part| part.is_file())
            .unwrap_or_else(|| self.folder.join(name))
    }

    /// Opens the file called `name`.
    pub fn open(&self, name: &str) -> io::Result<std::fs::File> {
        if let Some(pending) = &self.pending
            && pending.names.iter().any(|it| it == name)
        {
            match files::open(&pending.part(self.folder, name)) {
                // It has got its name.
                Err(error) if is_missing(&error) => {}
                opened => return opened,
            }
        }
        files::open(&self.folder.join(name))
    }

    /// The whole of the file called `name`; `None` if there is none.
    pub fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        match self.open(name) {
            Ok(file) => Bounded::new(file, MOST_BYTES, "which is too long for such a file")
                .read_to_end(&mut bytes)
                .map(|_count| Some(bytes)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The manifest and the records of the other files; `None` where nothing was saved.
    pub fn manifest(&self) -> Result<Option<(Manifest, Records)>, ExportError> {
        let path = self.folder.join(MANIFEST);
        let bytes = self
            .read(MANIFEST)
            .map_err(|error| ExportError::at("The run folder cannot be read", error, &path))?;
        let Some(bytes) = bytes else {
            return Ok(None);
        };
        let text = String::from_utf8(bytes).map_err(RecordError::from);
        let read = text.and_then(|text| record::decode(&text)).map(Some);
        read.map_err(|error| ExportError::Manifest(error, self.folder.to_owned()))
    }

    /// Reads `name` by `act` and tells whether it is as `records` say; `None` for a file that was not recorded.
    fn checked<T>(
        &self,
        name: &str,
        records: &Records,
        act: impl FnOnce(&mut dyn io::Read) -> Result<T, Damage>,
    ) -> Result<T, Damage> {
        let unreadable = |error| Damage::Unreadable {
            name: name.to_owned(),
            error,
        };
        let file = self.open(name).map_err(unreadable)?;
        let mut input = files::HashingReader::new(io::BufReader::new(file));
        let read = act(&mut input);
        if let Some(record) = records.get(name)
            && input.finish().map_err(unreadable)? != record.sha256
        {
            return Err(Damage::Changed(name.to_owned()));
        }
        read
    }

    /// The results without a summary; `None` where nothing was saved.
    ///
    /// # Errors
    /// The manifest or the draws are missing, damaged or changed.
    pub fn results(&self) -> Result<Option<SavedRun>, ExportError> {
        let Some((manifest, records)) = self.manifest()? else {
            return Ok(None);
        };
        let path = self.folder.join(DRAWS);
        let refuse = |damage| ExportError::Results(damage, path.clone());
        let count = manifest.chains.len();
        let draws = self
            .checked(DRAWS, &records, |input| {
                Ok(draws_csv::read_chains(input, count)?)
            })
            .and_then(|read| same_lengths(DRAWS, &read.chains, &manifest).map(|()| read))
            .map_err(refuse)?;
        let mut remarks = Vec::new();
        let mut gap = None;
        let info = match self.info(&records, &manifest) {
            Ok(info) => info,
            Err(why) if manifest.weights.is_some() && draws.weights.is_none() => {
                return Err(refuse(Damage::Weights(Box::new(why))));
            }
            Err(why) => {
                remarks.push(format!(
                    "{why}; the draws are whole, what the sampler says besides is left out"
                ));
                gap = Some(why);
                info_of_draws(&draws)
            }
        };
        let mut results = Results::without_summary(draws.names, draws.chains, info);
        if records.contains_key(STARTS) {
            let read = self.checked(STARTS, &records, |input| {
                Ok(draws_csv::read_chains(input, count)?)
            });
            let is_like = |read: &ReadDraws| read.names == results.variables;
            match read {
                Ok(read) if is_like(&read) => results.starts = read.chains,
                Ok(_) => remarks.push(Damage::Unlike(STARTS).to_string()),
                Err(why) => remarks.push(format!("{why}; where chains started is left out")),
            }
        }
        if records.contains_key(partitions::DRAWS) || self.open(partitions::DRAWS).is_ok() {
            let read = self.checked(partitions::DRAWS, &records, |input| {
                partitions::read_draws(input, count).ok_or(Damage::Unlike(partitions::DRAWS))
            });
            match read {
                Ok(labels) => results.labels = labels,
                Err(why) => {
                    remarks.push(format!("{why}; the drawn partitions are left out"));
                    gap.get_or_insert(why);
                }
            }
        }
        for (file, kind) in found::files() {
            if records.contains_key(file) || self.open(file).is_ok() {
                let read = self.checked(file, &records, |input| {
                    (kind.read)(input).ok_or(Damage::Unlike(file))
                });
                match read {
                    Ok(one) => results.found.0.push(one),
                    Err(why) => remarks.push(format!("{why}; the {} are left out", kind.output)),
                }
            }
        }
        if !manifest.not_kept.is_empty() {
            let read = self.checked(MARKS, &records, |input| {
                let mut bytes = Vec::new();
                let read = Bounded::new(input, MOST_BYTES, "which is too long for such a file")
                    .read_to_end(&mut bytes);
                read.map_err(|error| Damage::Unreadable {
                    name: MARKS.to_owned(),
                    error,
                })?;
                checkpoint::decode(&bytes).ok_or(Damage::Unlike(MARKS))
            });
            match read {
                Ok((_, marks)) => results.take_moments(&marks),
                Err(why) => remarks.push(format!(
                    "{why}; estimates of the quantities whose draws were not kept are left out"
                )),
            }
        }
        let mut keeps_gradients = results.info_names.iter();
        let keeps_gradients = keeps_gradients.any(|name| gradients::is_gradient(name));
        if keeps_gradients {
            let read = self.checked(SUMMARY, &records, |input| {
                summary::read_corrected(input).ok_or(Damage::Unlike(SUMMARY))
            });
            match read {
                Ok(corrected) => results.corrected = corrected.map(Arc::new),
                Err(why) => remarks.push(format!(
                    "{why}; estimates corrected by control variates are left out"
                )),
            }
        }
        let read_above: Vec<&str> = [DRAWS, INFO, STARTS, partitions::DRAWS]
            .into_iter()
            .chain(found::files().map(|(file, _)| file))
            .collect();
        for name in records
            .keys()
            .filter(|it| !read_above.contains(&it.as_str()))
            .filter(|it| manifest.not_kept.is_empty() || *it != MARKS)
            .filter(|it| !keeps_gradients || *it != SUMMARY)
        {
            // Nothing is taken from these, but whoever reads them should know.
            if let Err(why) = self.checked(name, &records, |_input| Ok(())) {
                remarks.push(why.to_string());
            }
        }
        results.remarks = remarks;
        results.manifest = Some(manifest.clone());
        Ok(Some(SavedRun {
            results,
            manifest,
            gap,
        }))
    }

    /// The sampler's information.
    fn info(
        &self,
        records: &Records,
        manifest: &Manifest,
    ) -> Result<(Vec<String>, Vec<DrawList>), Damage> {
        let (names, mut info) = self.checked(INFO, records, |input| {
            Ok(draws_csv::read_info(input, manifest.chains.len())?)
        })?;
        if names.is_empty() {
            // Without columns there is nothing to lose: rows are as many as draws.
            info = empty_rows(manifest.chains.iter().map(|chain| chain.draws));
        }
        same_lengths(INFO, &info, manifest)?;
        Ok((names, info))
    }
}

/// Lists without columns.
fn empty_rows(lengths: impl Iterator<Item = usize>) -> Vec<DrawList> {
    lengths
        .map(|length| {
            let mut list = DrawList::new(0);
            (0..length).for_each(|_| list.push(&[]));
            list
        })
        .collect()
}

/// What the draws say about themselves where the sampler's information is missing.
fn info_of_draws(draws: &ReadDraws) -> (Vec<String>, Vec<DrawList>) {
    match &draws.weights {
        Some(_) => info_of(draws),
        None => (
            Vec::new(),
            empty_rows(draws.chains.iter().map(DrawList::len)),
        ),
    }
}

fn same_lengths(name: &'static str, lists: &[DrawList], manifest: &Manifest) -> Result<(), Damage> {
    for (index, (list, chain)) in lists.iter().zip(&manifest.chains).enumerate() {
        if list.len() != chain.draws {
            return Err(Damage::Draws {
                name,
                has: list.len(),
                chain: index + 1,
                made: chain.draws,
            });
        }
    }
    Ok(())
}
