//! Why an experiment has no table: one sentence each.

use std::path::PathBuf;

use ergodic_analysis::JobError;
use ergodic_analysis::predict::PredictError;
use ergodic_analysis::predict::log_lik::LogLikError;
use ergodic_analysis::predict::scores::ScoresError;
use ergodic_analysis::zero_variance::CorrectError;
use ergodic_core::estimators::ModeError;
use ergodic_core::fit::FitError;
use ergodic_core::oracle::StepError;
use ergodic_core::samplers::KernelError;

/// Why an experiment has no table.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// A run that cannot be prepared.
    #[error(transparent)]
    Job(JobError),
    /// A fit of a plain density.
    #[error(transparent)]
    Fit(FitError),
    /// A mode that is not found.
    #[error(transparent)]
    Mode(ModeError),
    /// A gradient that is not known.
    #[error(transparent)]
    Gradient(StepError),
    /// Gradients at draws that are not known.
    #[error(transparent)]
    Gradients(CorrectError),
    /// Rows without predictions.
    #[error(transparent)]
    Predict(PredictError),
    /// Rows without a density.
    #[error(transparent)]
    LogLik(LogLikError),
    /// Predictions without scores.
    #[error(transparent)]
    Scores(ScoresError),
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
    /// A model that is not what the experiment needs.
    #[error(transparent)]
    Lacking(#[from] Lacking),
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

/// What a model lacks that the experiment needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lacking {
    /// A density of parameters.
    #[error("The model has no density")]
    Density,
    /// Rows that add to the density.
    #[error("The model has no rows")]
    Rows,
    /// Topics.
    #[error("The model has no topics")]
    Topics,
    /// A way to read new rows.
    #[error("The model does not read ratings held out")]
    HeldOut,
    /// A posterior in closed form.
    #[error("The posterior is not known")]
    Posterior,
    /// Hidden units.
    #[error("No network")]
    Network,
    /// Levels as the outcome of hidden units.
    #[error("The model is no network for levels")]
    Levels,
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

impl<E: Into<JobError>> From<E> for BenchError {
    fn from(error: E) -> Self {
        Self::Job(error.into())
    }
}
