//! Results on disk: run folders and the formats that other tools read.
//!
//! To add a format, write a file with a function `fn(&Results, &mut dyn Write) -> io::Result<()>` and add its
//! [`Format`] to [`FORMATS`].
//!
//! ```no_run
//! use std::path::Path;
//!
//! let run = ergodic_export::RunFolder::open(Path::new("tour"))?;
//! let results = run.results()?;
//! for row in &results.summary {
//!     println!("{} {:?}", row.variable, row.mean);
//! }
//! # Ok::<(), ergodic_export::ExportError>(())
//! ```

use std::io::Write;
use std::path::{Path, PathBuf};

use ergodic_base::Control;
use ergodic_core::engine::found::Found;

pub mod check;
mod claim;
pub mod draws_csv;
pub mod effects;
mod error;
pub mod files;
mod fitted;
mod folder;
mod journal;
pub mod label;
pub mod likelihood;
mod log_lik;
pub mod loo;
mod manifest;
pub mod number;
mod partitions;
mod place;
pub mod predictions;
pub mod project;
mod record;
mod results;
pub mod resume;
pub mod run_comparison;
mod saved;
mod saving;
pub mod scores;
pub mod spreadsheet;
mod starts;
pub mod summary;
mod topics;
mod trajectories;

pub use claim::Claim;
pub use error::ExportError;
pub use folder::{Onward, RunFolder, Standing};
pub use journal::Journal;
pub use manifest::{ChainManifest, Manifest, StopRule};
pub use place::{check_place, check_spares};
pub use record::RecordError;
pub use results::{Results, starts_of};
pub use saved::Damage;
pub use saving::Saved;
pub use starts::{StartsError, read_start};
pub use trajectories::{TrajectoriesError, trajectories};

/// One way of writing results.
pub struct Format {
    /// Identifier on the command line.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// Who reads it.
    pub about: &'static str,
    /// Default file name.
    pub file_name: &'static str,
    /// What results must have.
    pub needs: Needs,
    /// Whether the format writes [`Results::extras`] and [`Results::corrected`], if who writes it has added them.
    pub is_summary: bool,
    /// Writes it.
    pub write: fn(&Results, &mut dyn Write) -> std::io::Result<()>,
}

/// What a format writes, and so needs results to have.
#[derive(Clone, Copy, Debug)]
pub enum Needs {
    /// Draws, as all results have.
    Draws,
    /// Where the chains started.
    Starts,
    /// [`Results::log_lik`], which who writes the format has to add to the results first.
    LogLik,
    /// What an output of the sampler comes to; otherwise the function says what is lacking.
    Found(fn(&Found) -> Result<(), &'static str>),
}

impl Format {
    /// Refuses results that it cannot write because they are of another kind of run.
    ///
    /// # Errors
    /// What they lack.
    pub fn check(&self, results: &Results) -> Result<(), ExportError> {
        let found = match self.needs {
            Needs::Draws => Ok(()),
            Needs::Starts if results.starts.is_empty() => {
                Err("does not say where its chains started")
            }
            Needs::Starts => Ok(()),
            Needs::LogLik if results.log_lik.is_none() => {
                Err("explains no outcome, or its model and data are not known")
            }
            Needs::LogLik => Ok(()),
            Needs::Found(in_found) => in_found(&results.found),
        };
        let title = self.title;
        found.map_err(|lacks| ExportError::Unsuitable { title, lacks })
    }
}

/// All formats, in the order in which lists show them.
pub static FORMATS: &[Format] = &[
    Format {
        id: "draws-csv",
        title: "Draws, CSV",
        about: "One row per draw with .chain, .iteration, .draw: R's posterior, pandas, spreadsheets",
        file_name: "draws.csv",
        needs: Needs::Draws,
        is_summary: false,
        write: draws_csv::write,
    },
    Format {
        id: "summary-csv",
        title: "Summary, CSV",
        about: "One row per variable: mean, Monte Carlo error, quantiles, effective sample sizes, R-hat",
        file_name: "summary.csv",
        needs: Needs::Draws,
        is_summary: true,
        write: summary::write_csv,
    },
    Format {
        id: "summary-json",
        title: "Summary, JSON",
        about: "The same with the run's manifest",
        file_name: "summary.json",
        needs: Needs::Draws,
        is_summary: true,
        write: summary::write_json,
    },
    Format {
        id: "info-csv",
        title: "Sampler information, CSV",
        about: "One row per draw: acceptance, step size, divergences and what else the sampler reports",
        file_name: "info.csv",
        needs: Needs::Draws,
        is_summary: false,
        write: draws_csv::write_info,
    },
    Format {
        id: "starts-csv",
        title: "Starts, CSV",
        about: "One row per chain: where it started, before its first step",
        file_name: "starts.csv",
        needs: Needs::Starts,
        is_summary: false,
        write: draws_csv::write_starts,
    },
    Format {
        id: "log-lik-csv",
        title: "Log likelihood, CSV",
        about: "One row per draw, one column per row of the data: log density of each outcome, for R's loo and ArviZ, which count draws \
                alike; weights of a weighted run are in draws-csv",
        file_name: log_lik::FILE,
        needs: Needs::LogLik,
        is_summary: false,
        write: log_lik::write,
    },
    Format {
        id: "partition",
        title: "Clusters, CSV",
        about: "One row per unit of a mixture: its cluster in the point partition, and how often it was with the others there \
                (NA for one alone, or one of more than 2000); names that begin as a formula of spreadsheets have ' before them",
        file_name: partitions::POINT,
        needs: Needs::Found(|found| partitions::clusters(found).map(drop)),
        is_summary: false,
        write: partitions::write_point,
    },
    Format {
        id: "density",
        title: "Predictive density, CSV",
        about: "One row per point of each numeric column of a mixture: where a further unit would lie, with the 90 % band; names \
                that begin as a formula of spreadsheets have ' before them",
        file_name: partitions::DENSITY,
        needs: Needs::Found(|found| partitions::with_densities(found).map(drop)),
        is_summary: false,
        write: partitions::write_density,
    },
    Format {
        id: "top-words",
        title: "Topics, CSV",
        about: "One row per word of each topic, the most probable ones: topic with its share of words, rank, word and probability; \
                words that begin as a formula of spreadsheets have ' before them",
        file_name: topics::WORDS,
        needs: Needs::Found(|found| topics::top_words(found).map(drop)),
        is_summary: false,
        write: topics::write,
    },
];

/// The format called `id`; the error lists the known ones.
///
/// # Errors
/// There is no such format.
pub fn find(id: &str) -> Result<&'static Format, ExportError> {
    FORMATS
        .iter()
        .find(|format| format.id == id)
        .ok_or_else(|| {
            let known: Vec<&str> = FORMATS.iter().map(|format| format.id).collect();
            let (id, known) = (id.to_owned(), known.join(", "));
            ExportError::UnknownFormat { id, known }
        })
}

/// Writes `results` to `path` through a temporary file, so that a failure leaves nothing half-written and what stood
/// there before stays.
///
/// # Errors
/// The path cannot be written, or the results are not those of the kind of run that the format is for.
pub fn write(format: &Format, results: &Results, path: &Path) -> Result<(), ExportError> {
    write_watched(format, results, path, &Control::default())
}

/// Writes results as [`write()`] does, to a file that may be given up while it is written.
///
/// # Errors
/// As [`write()`], and somebody cancelled: what stood there before stays.
pub fn write_watched(
    format: &Format,
    results: &Results,
    path: &Path,
    control: &Control,
) -> Result<(), ExportError> {
    format.check(results)?;
    control.enter("writing the file");
    write_file("The export could not be written", path, |out| {
        (format.write)(results, &mut Watched { out, control })
    })
}

/// What is written unless somebody cancels.
struct Watched<'a> {
    out: &'a mut dyn Write,
    control: &'a Control,
}

impl Write for Watched<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.control.check(std::io::Error::other("cancelled"))?;
        self.out.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

/// Devices and pipes, which have no place for a temporary file beside them.
fn is_special(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|about| !about.is_file() && !about.is_dir())
}

/// The file that `path`, named by the user, leads to: that one is replaced, and links to it stay. In run folders no link is
/// followed.
fn target_of(path: &Path) -> PathBuf {
    path.canonicalize()
        .unwrap_or_else(|_missing| path.to_owned())
}

/// Whether somebody stopped reading what is written, also where the error comes by way of a table in CSV.
pub fn is_closed_pipe(error: &std::io::Error) -> bool {
    let in_csv = error
        .get_ref()
        .and_then(|it| it.downcast_ref::<csv::Error>());
    let kind = match in_csv.map(csv::Error::kind) {
        Some(csv::ErrorKind::Io(inside)) => inside.kind(),
        _ => error.kind(),
    };
    kind == std::io::ErrorKind::BrokenPipe
}

/// Writes what `act` writes to `path` through a temporary file, so that what stood there before stays if that fails; `what` begins
/// the sentence then.
///
/// # Errors
/// The path cannot be written, or `act` fails.
pub fn write_file(
    what: &str,
    path: &Path,
    act: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), ExportError> {
    let written = if is_special(path) {
        std::fs::File::create(path).and_then(|file| {
            let mut out = std::io::BufWriter::new(file);
            act(&mut out)?;
            out.flush()
        })
    } else {
        files::replace(&target_of(path), act)
    };
    written.map_err(|error| ExportError::at(what, error, path))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_is_one_by_way_of_a_table_too() {
        let error = |kind: std::io::ErrorKind| std::io::Error::from(kind);
        let in_csv = |kind| std::io::Error::from(csv::Error::from(error(kind)));
        let (closed, full) = (
            std::io::ErrorKind::BrokenPipe,
            std::io::ErrorKind::StorageFull,
        );
        assert!(is_closed_pipe(&error(closed)) && is_closed_pipe(&in_csv(closed)));
        assert!(!is_closed_pipe(&error(full)) && !is_closed_pipe(&in_csv(full)));
    }

    #[test]
    fn a_link_that_the_user_names_stays_and_what_it_leads_to_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
        std::fs::write(&file, "before").unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        let failed = write_file("It could not be written", &link, |out| {
            out.write_all(b"half")?;
            Err(std::io::ErrorKind::StorageFull.into())
        });
        let failed = failed.unwrap_err().to_string();
        assert!(failed.contains("the disk is full"), "{failed}");
        assert_eq!(std::fs::read(&file).unwrap(), b"before");
        check_place(&link, [&file; 0]).unwrap();
        write_file("It could not be written", &link, |out| {
            out.write_all(b"after")
        })
        .unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"after");
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
