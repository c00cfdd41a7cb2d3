//! Partial failures and remarks that do not stop the work: collected, shown, and kept with the result.

use std::any::Any;
use std::sync::Arc;

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

/// What a layer remarks on: an enum with the data of each kind. Programs match on it; its sentences are made here alone.
pub trait Remark: Any + Send + Sync {
    /// The remark in words.
    fn tell(&self) -> Warning;
}

/// Declares a [`Remark`]: an enum whose kinds are followed by how much each matters, its code, its sentence, the column or setting
/// concerned and what to do, of which the last two may be left out. All of these can use the kind's data.
///
/// ```
/// ergodic_base::remarks! {
///     /// What a parser remarks on.
///     pub enum Remark {
///         /// A column without values.
///         NoValues {
///             /// The column.
///             column: String,
///         }
///         Watch "no-values" ("Column `{column}` has no values") about (column) advice ("Leave `{column}` out");
///     }
/// }
/// let column = "age".to_owned();
/// let warning = ergodic_base::Warning::from(Remark::NoValues { column });
/// assert_eq!(warning.to_string(), "Column `age` has no values; leave `age` out");
/// assert!(matches!(warning.remark(), Some(Remark::NoValues { .. })));
/// ```
#[macro_export]
macro_rules! remarks {
    ($(#[$about:meta])* $vis:vis enum $Remark:ident {$(
        $(#[$doc:meta])* $Kind:ident { $($(#[$field_doc:meta])* $field:ident: $Type:ty,)* }
        $severity:ident $code:literal ($($message:tt)*)
        $(about ($subject:expr))?
        $(advice ($($advice:tt)*))?;
    )*}) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        $vis enum $Remark {$(
            $(#[$doc])* $Kind { $($(#[$field_doc])* $field: $Type,)* },
        )*}

        impl $crate::Remark for $Remark {
            fn tell(&self) -> $crate::Warning {
                use std::fmt::format;
                use $crate::{Severity, Warning};
                match self {$(
                    Self::$Kind { $($field,)* } => {
                        $(let _ = $field;)*
                        let code = format(format_args!($code));
                        Warning::new(Severity::$severity, &code, format(format_args!($($message)*)))
                            $(.about($subject))?
                            $(.with_advice(format(format_args!($($advice)*))))?
                    }
                )*}
            }
        }
    };
}

/// One remark in words, as it is shown and saved: what happened, where, and what to do, in one sentence without a final
/// period.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Warning {
    /// How much the remark matters.
    pub severity: Severity,
    /// Stable identifier of the cause, for grouping repeats: `missing-values`, `constant-column`, …
    pub code: String,
    /// The sentence.
    pub message: String,
    /// What to do, if there is something to do; `remedy` in files.
    #[serde(rename = "remedy")]
    pub advice: Option<String>,
    /// Column or setting concerned.
    pub subject: Option<String>,
    /// What these are the words of; a folder has the words alone.
    #[serde(skip)]
    remark: Option<Arc<dyn Any + Send + Sync>>,
}

impl PartialEq for Warning {
    fn eq(&self, other: &Self) -> bool {
        self.severity == other.severity
            && self.code == other.code
            && self.message == other.message
            && self.advice == other.advice
            && self.subject == other.subject
    }
}

impl Eq for Warning {}

impl<R: Remark> From<R> for Warning {
    fn from(remark: R) -> Self {
        let words = remark.tell();
        Self {
            remark: Some(Arc::new(remark)),
            ..words
        }
    }
}

impl Warning {
    /// The remark that these are the words of, if it is one of `R`; `None` for what was read from a folder.
    pub fn remark<R: Remark>(&self) -> Option<&R> {
        self.remark.as_deref()?.downcast_ref()
    }

    /// A remark with this severity, cause and sentence.
    pub fn new(severity: Severity, code: &str, message: impl Into<String>) -> Self {
        Self {
            severity,
            code: code.to_owned(),
            message: message.into(),
            advice: None,
            subject: None,
            remark: None,
        }
    }

    /// Adds what to do.
    #[must_use]
    pub fn with_advice(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
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
    /// The sentence and what to do: advice is written to stand alone, so that here its first letter becomes small.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)?;
        let Some(advice) = &self.advice else {
            return Ok(());
        };
        let mut chars = advice.chars();
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
    /// Adds a remark.
    pub fn report(&mut self, remark: impl Into<Warning>) {
        self.warnings.push(remark.into());
    }
}
