//! Partial failures and remarks that do not stop the work: collected, shown, and kept with the result.

use serde::{Deserialize, Serialize};

/// How much a warning matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know.
    Info,
    /// The result may not be what the user expects.
    Watch,
    /// The result cannot be trusted or could not be made.
    Bad,
}

/// One remark: what happened, where, and what to do, in one sentence without a final period.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// How much it matters.
    pub severity: Severity,
    /// Stable identifier of the cause, for grouping repeats: `missing-values`, `constant-column`, …
    pub code: String,
    /// The sentence.
    pub message: String,
    /// What to do, if there is something to do.
    pub remedy: Option<String>,
    /// Column or setting concerned.
    pub subject: Option<String>,
}

impl Warning {
    /// A remark with this severity, cause and sentence.
    pub fn new(severity: Severity, code: &str, message: impl Into<String>) -> Self {
        Self {
            severity,
            code: code.to_owned(),
            message: message.into(),
            remedy: None,
            subject: None,
        }
    }

    /// Adds what to do.
    #[must_use]
    pub fn with_remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// Adds the column or setting concerned.
    #[must_use]
    pub fn about(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
        self
    }
}

impl std::fmt::Display for Warning {
    /// The sentence and what to do: a remedy is written to stand alone, so that here its first letter becomes small.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)?;
        let Some(remedy) = &self.remedy else {
            return Ok(());
        };
        let mut chars = remedy.chars();
        let first = chars.next().map(char::to_lowercase);
        write!(
            f,
            "; {}{}",
            first.into_iter().flatten().collect::<String>(),
            chars.as_str()
        )
    }
}

/// Collects warnings while work goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reporter {
    /// In the order they were reported.
    pub warnings: Vec<Warning>,
}

impl Reporter {
    /// Adds a warning.
    pub fn report(&mut self, warning: Warning) {
        self.warnings.push(warning);
    }

    /// Adds an information.
    pub fn info(&mut self, code: &str, message: impl Into<String>) {
        self.report(Warning::new(Severity::Info, code, message));
    }

    /// Adds something to watch.
    pub fn watch(&mut self, code: &str, message: impl Into<String>) {
        self.report(Warning::new(Severity::Watch, code, message));
    }
}
