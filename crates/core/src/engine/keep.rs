//! Which reported quantities a run keeps draws of. Of the others it keeps running moments alone.
//!
//! ```text
//! all
//! b[*], sd[*], sigma
//! ```
//!
//! Commas stand between names (neither within brackets nor within double quotes, which a name with odd brackets needs), and `*`
//! for any characters, as in the settings of samplers that name parameters.

use crate::models::ParamInfo;
use crate::samplers::named_blocks::{matches, names_in, unknown};
use ergodic_base::ParamId;
use ergodic_base::settings::SettingError;

/// The setting.
pub const KEY: &str = "run.keep";
/// The word for the draws of all reported quantities.
pub const ALL: &str = "all";
/// What the setting takes, in a refusal.
const TAKES: &str = "all, or names and patterns with commas between them, such as b[*], sigma";

/// The reported quantities of a model, divided into those whose draws are kept and the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keep {
    kept: Vec<usize>,
    unkept: Vec<usize>,
}

/// Refuses a text that names nothing.
///
/// # Errors
/// The text names nothing.
pub fn check(text: &str) -> Result<(), SettingError> {
    match names_in(text).is_empty() {
        false => Ok(()),
        true => Err(SettingError::Value {
            key: KEY.to_owned(),
            takes: TAKES.to_owned(),
            value: text.to_owned(),
        }),
    }
}

impl Keep {
    /// All of `count` quantities.
    pub fn all(count: usize) -> Self {
        Self {
            kept: (0..count).collect(),
            unkept: Vec::new(),
        }
    }

    /// The quantities of `params` that `text` names.
    ///
    /// # Errors
    /// The text names nothing, or what the model does not report.
    pub fn of(text: &str, params: &[ParamInfo]) -> Result<Self, SettingError> {
        check(text)?;
        if text.trim() == ALL {
            return Ok(Self::all(params.len()));
        }
        let mut named = vec![false; params.len()];
        for pattern in names_in(text) {
            let mut fits = false;
            for (param, named) in params.iter().zip(&mut named) {
                if matches(&pattern, param.name.as_str()) {
                    (*named, fits) = (true, true);
                }
            }
            if !fits {
                let known = params.iter().map(|param| &param.name);
                return Err(SettingError::unfit(KEY, unknown(&pattern, known)));
            }
        }
        let (kept, unkept) = (0..params.len()).partition(|&j| named[j]);
        Ok(Self { kept, unkept })
    }

    /// Places of the quantities whose draws are kept among all that the model reports, ascending.
    pub fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// Places of the others, ascending.
    pub fn unkept(&self) -> &[usize] {
        &self.unkept
    }

    /// Whether the draws of all quantities are kept.
    pub fn is_all(&self) -> bool {
        self.unkept.is_empty()
    }
}

/// The names of the quantities at `places`.
pub fn names(params: &[ParamInfo], places: &[usize]) -> Vec<ParamId> {
    let names = places.iter().map(|&j| params[j].name.clone());
    names.collect()
}

/// The refusal of what needs draws that a run has not kept; what that is begins the sentence, such as "Predictions need".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0} draws of quantities that this run did not keep; run it again with the setting `{KEY}` at `{ALL}`"
)]
pub struct NotKept(pub &'static str);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::{PriorOf, PriorSource};

    fn params() -> Vec<ParamInfo> {
        let names = [
            "b[Intercept]",
            "b[age]",
            "sd[g,Intercept]",
            "r[g,a, b,age]",
            "sigma",
        ];
        let info = |name: &&str| ParamInfo {
            name: (*name).into(),
            meaning: String::new(),
            prior: PriorOf::NONE,
            prior_source: PriorSource::MODEL,
        };
        names.iter().map(info).collect()
    }

    #[test]
    fn quantities_are_named_one_by_one_or_by_patterns() {
        let kept = |text: &str| Keep::of(text, &params()).unwrap().kept().to_vec();
        assert_eq!(kept("all"), [0, 1, 2, 3, 4]);
        assert_eq!(kept("*"), [0, 1, 2, 3, 4]);
        assert_eq!(kept(" b[*], sigma "), [0, 1, 4]);
        assert_eq!(kept("sigma,b[age],b[age]"), [1, 4]);
        assert_eq!(kept("r[g,a, b,age]"), [3]);
        assert_eq!(kept("*[g,*"), [2, 3]);
        let keep = Keep::of("b[*]", &params()).unwrap();
        assert_eq!((keep.unkept(), keep.is_all()), (&[2, 3, 4][..], false));
        assert_eq!(names(&params(), keep.kept()), ["b[Intercept]", "b[age]"]);
        assert!(Keep::of("all", &params()).unwrap().is_all());
    }

    #[test]
    fn what_the_model_does_not_report_is_refused() {
        let refused = |text: &str| Keep::of(text, &params()).unwrap_err().to_string();
        assert_eq!(
            refused("b[*], tau"),
            "Setting `run.keep` names `tau`, which the model does not have; it has `b[Intercept]`, `b[age]`, `sd[g,Intercept]`, \
             `r[g,a, b,age]`, `sigma`"
        );
        assert!(refused("mu[*]").contains("names `mu[*]`"));
        for nothing in ["", " , "] {
            assert!(
                refused(nothing).contains("takes all, or names"),
                "{nothing}"
            );
        }
    }
}
