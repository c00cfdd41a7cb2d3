//! Why something could not be written or read.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::draws_csv::DrawsError;
use super::project::FORMAT;
use super::record::RecordError;
use super::saved::{DRAWS, Damage, MANIFEST};
use ergodic_analysis::RecipeError;

/// Why something could not be written or read: one sentence, path last.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// Reading or writing failed.
    #[error("{what}: {}: {}", reason(error, path), path.display())]
    Io {
        /// What could not be done.
        what: String,
        /// Why.
        error: io::Error,
        /// Where.
        path: PathBuf,
    },
    /// No format of this name.
    #[error("There is no format `{id}`; there are {known}")]
    UnknownFormat {
        /// Id that was written.
        id: String,
        /// The formats that there are.
        known: String,
    },
    /// Results of another kind of run than the format is for.
    #[error("{title} cannot be written: the run {lacks}")]
    Unsuitable {
        /// The format.
        title: &'static str,
        /// What the run lacks.
        lacks: &'static str,
    },
    /// An output file that a command reads.
    #[error("The output file is one that this command reads; name another one: {}", .0.display())]
    OverInput(PathBuf),
    /// An output file that belongs to a run.
    #[error("The output file is one of a run, and runs are never overwritten; name another one: {}", .0.display())]
    OverRun(PathBuf),
    /// A folder for a likelihood fit that has something in it.
    #[error("The folder is not empty; choose a new one: {}", .0.display())]
    NotEmpty(PathBuf),
    /// A folder for a run that has something in it.
    #[error("The output folder is not empty; runs are never overwritten, name another one: {}", .0.display())]
    OutputNotEmpty(PathBuf),
    /// A folder for a run that has one, which goes on.
    #[error("The output folder holds a run that still goes on; name another folder: {}", .0.display())]
    OutputBusy(PathBuf),
    /// A folder for a run that has one, which was cut short.
    #[error(
        "The output folder holds a run that was cut short; `ergodic resume` continues it, or name another folder: {}",
        .0.display()
    )]
    OutputCutShort(PathBuf),
    /// A run to be continued that another program goes on with.
    #[error(
        "This run still goes on in another program; wait for its end or stop it there, then continue it: {}",
        .0.display()
    )]
    Busy(PathBuf),
    /// No folder.
    #[error("There is no such run folder: {}", .0.display())]
    NoFolder(PathBuf),
    /// A file where a run folder is to be named.
    #[error("A run is named by its folder, and this is a file: {}", .0.display())]
    File(PathBuf),
    /// A folder of something else.
    #[error("This folder holds no run (no recipe.toml): {}", .0.display())]
    NoRun(PathBuf),
    /// A run without draws.
    #[error(
        "The run has no draws yet: it goes on, or it was cut short before its first, and then `ergodic resume` begins it again: {}",
        .0.display()
    )]
    NoDraws(PathBuf),
    /// A run's recipe.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// A file of draws that cannot be understood.
    #[error("{0}: {path}", path = .1.display())]
    Draws(DrawsError, PathBuf),
    /// A damaged file among a run's saved results.
    #[error(
        "{0}; `ergodic summarise` of the file itself reads it as it is, and `ergodic fit` of the folder makes the run again: {path}",
        path = .1.display()
    )]
    Results(Damage, PathBuf),
    /// A damaged manifest in this folder.
    #[error(
        "The manifest is damaged ({0}); `ergodic summarise` of {draws} reads the draws without it: {path}",
        draws = .1.join(DRAWS).display(), path = .1.join(MANIFEST).display()
    )]
    Manifest(RecordError, PathBuf),
    /// A damaged list of files that were being saved.
    #[error(
        "The list of files that were being saved is damaged; remove it if {DRAWS} and {MANIFEST} are those of one run: {}",
        .0.display()
    )]
    SavingList(PathBuf),
    /// A damaged checkpoint.
    #[error("A checkpoint is damaged or of another version: {}", .0.display())]
    Checkpoint(PathBuf),
    /// A journal that does not say what it is of.
    #[error(
        "The beginning of the unfinished run's journal is damaged or of another version; `ergodic resume` keeps the file under \
         another name and goes on from what else there is: {}",
        .0.display()
    )]
    Journal(PathBuf),
    /// A journal in this folder without the results that it continues.
    #[error(
        "The unfinished run continues results that are no longer there; put {MANIFEST} back as it was: {}",
        .0.display()
    )]
    JournalBase(PathBuf),
    /// A run to be continued that is of another job.
    #[error(
        "The run cannot be continued: it is of other data, settings or another version: {}",
        .0.display()
    )]
    OtherJob(PathBuf),
    /// A run to be continued whose sampler's information, or partitions, are damaged.
    #[error(
        "The run cannot be continued: {0}; `ergodic fit` of its recipe makes the run again: {path}",
        path = .1.display()
    )]
    Gap(Damage, PathBuf),
    /// A run to be continued whose sampler's information is not there.
    #[error(
        "The run cannot be continued: what the sampler said about its draws is missing: {}",
        .0.display()
    )]
    NoInfo(PathBuf),
    /// Draws that no run of this program made.
    #[error("Draws of other origin cannot be saved as a run: {}", .0.display())]
    OtherOrigin(PathBuf),
    /// Results with fewer draws than the folder has saved.
    #[error("The results were not saved, because the folder holds more draws of the run: {}", .0.display())]
    FewerDraws(PathBuf),
    /// Results with fewer draws than the folder's journal.
    #[error(
        "The folder holds more draws of this run than it has here; they stay, and `ergodic resume` goes on from there: {}",
        .0.display()
    )]
    InJournal(PathBuf),
    /// Results that were saved elsewhere.
    #[error("{0}; nothing is lost, the whole run is here instead: {path}", path = .1.display())]
    Rescued(Box<Self>, PathBuf),
    /// Results that are in the journal alone.
    #[error("{0}; its draws are in the folder's journal, and `ergodic resume` goes on from there")]
    KeptInJournal(Box<Self>),
    /// Results that are lost in part.
    #[error(
        "{trouble}; {written} of its {drawn} draws are in the folder, and `ergodic resume` makes the same draws again from the \
         last that it can go on from"
    )]
    KeptInPart {
        /// Why they could not be saved.
        trouble: Box<Self>,
        /// Draws in the journal.
        written: u64,
        /// All draws.
        drawn: usize,
    },
    /// A file that is no project.
    #[error("The project is not understood{place}: {what}: {}", path.display())]
    Project {
        /// On which line, with a space before it, or nothing.
        place: String,
        /// What is wrong there.
        what: String,
        /// The file.
        path: PathBuf,
    },
    /// A project of another version.
    #[error(
        "The project has format {0}, this version reads format {FORMAT}; use the version that wrote it: {path}",
        path = .1.display()
    )]
    ProjectFormat(u32, PathBuf),
    /// Somebody cancelled.
    #[error("cancelled")]
    Cancelled,
    /// A run of a project, by its number.
    #[error("Run {0} of the project is missing; put its folder back or forget the run ({1})")]
    ProjectRun(u64, Box<Self>),
}

impl ExportError {
    /// What happened to `path`.
    pub fn at(what: impl Into<String>, error: io::Error, path: &Path) -> Self {
        Self::Io {
            what: what.into(),
            error,
            path: path.to_owned(),
        }
    }
}

/// Why reading or writing `path` failed.
pub(super) fn reason(error: &io::Error, path: &Path) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        ErrorKind::PermissionDenied => "there is no permission".to_owned(),
        ErrorKind::StorageFull => "the disk is full; free some space and write again".to_owned(),
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        ErrorKind::NotADirectory => match path.ancestors().find(|part| part.is_file()) {
            Some(file) => format!("{} is a file, not a folder", file.display()),
            None => "part of the path is a file, not a folder".to_owned(),
        },
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        ErrorKind::AlreadyExists => "a file of that name is there".to_owned(),
        _ => error.to_string(),
    }
}
