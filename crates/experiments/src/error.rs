//! Why an experiment has no table: one sentence each.

use std::error::Error;
use std::path::PathBuf;

use ergodic_analysis::JobError;
use ergodic_core::samplers::KernelError;

/// Why an experiment has no table.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A run that cannot be prepared.
    #[error(transparent)]
    Job(JobError),
    /// What else is not known of a model or a run: its mode, gradients, predictions, scores.
    #[error(transparent)]
    Unknown(Box<dyn Error + Send + Sync>),
    /// Nothing known at the mode.
    #[error("The posterior mode was not found")]
    NoMode,
    /// No such sampler.
    #[error("There is no sampler `{0}`")]
    NoSampler(String),
    /// A chain that ended.
    #[error("Sampler `{0}` failed: {1}")]
    Failed(&'static str, KernelError),
    /// A step or a rate, of what, and what explodes.
    #[error("No {0} of {1} that was tried keeps {2} from exploding")]
    Explodes(&'static str, String, &'static str),
    /// A method without a step that would do.
    #[error("No step of {0} leads anywhere")]
    LeadsNowhere(&'static str),
    /// Control variates without a step that would do.
    #[error("No step leads anywhere with control variates `{0}`")]
    ControlLeadsNowhere(&'static str),
    /// What a model lacks that the experiment makes itself: in a sentence, as only its author can act on it.
    #[error("{0}")]
    Lacking(&'static str),
    /// A file without columns.
    #[error("The file has no columns")]
    NoColumns,
    /// A column of text.
    #[error("The column `{0}` holds text, not numbers")]
    Text(&'static str),
    /// A first column of text.
    #[error("The first column holds no numbers, along which shares could be compared")]
    FirstColumn,
    /// A file without images.
    #[error("`{path}` {1}", path = .0.display())]
    Images(PathBuf, BadImages),
}

/// What is wrong with a file of images, in words that can follow its name.
#[derive(Debug, thiserror::Error)]
pub enum BadImages {
    /// The system does not read it.
    #[error("cannot be read ({0}); put the four files of MNIST there, unpacked")]
    Unread(std::io::Error),
    /// It has another format.
    #[error("is no file of unsigned bytes in the format idx")]
    Format,
    /// It has not as many bytes as it says.
    #[error("is shorter or longer than its head says")]
    Length,
    /// It has more or fewer images than there are labels.
    #[error("has not as many images as there are labels")]
    Labels,
    /// A table without columns.
    #[error("has no columns")]
    NoColumns,
    /// A table with a column of text.
    #[error("has the column `{0}`, which is not one of numbers")]
    Text(String),
}

impl BenchError {
    pub(crate) fn unknown(error: impl Error + Send + Sync + 'static) -> Self {
        Self::Unknown(Box::new(error))
    }
}

impl<E: Into<JobError>> From<E> for BenchError {
    fn from(error: E) -> Self {
        Self::Job(error.into())
    }
}
