//! Which priors hold where none is set: `priors.default` of a recipe.
//!
//! | name | intercept | coefficients | standard deviations of groups |
//! |---|---|---|---|
//! | `weakly-informative` | normal(c, 2.5) | normal(0, 2.5) | half_student_t(3, 0, 2.5) |
//! | `cautious` | normal(c, 2.5) | normal(0, 1) | half_student_t(3, 0, 1) |
//! | `papers` | normal(0, 10) | normal(0, 10) | half_student_t(3, 0, 2.5) |
//!
//! They hold per standard deviation of a predictor and, where the link is the identity, in standard deviations of the response
//! from its mean. The centre c of the intercept is 0 but for counts, where it is the logarithm of the mean count per exposure:
//! a centre at one count would depend on the unit in which the exposure is given. 2.5 is the convention of rstanarm; 10 that of
//! the papers on stochastic gradients whose experiments the program repeats.

use ergodic_base::settings::SettingError;

use super::PriorSource;

/// Key of the choice among the priors of a recipe.
pub const KEY: &str = "default";

/// A set of priors for parameters that have none of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DefaultPriors {
    /// Wide enough for any effect met in practice, narrow enough to rule out absurd ones.
    WeaklyInformative,
    /// Most effects are small.
    Cautious,
    /// Priors of the papers' experiments, which hardly rule out anything. A recipe that names no defaults means these, because
    /// it was written when there were no others.
    #[default]
    Papers,
}

impl DefaultPriors {
    /// All sets of priors, from the narrowest to the widest.
    pub const ALL: [Self; 3] = [Self::Cautious, Self::WeaklyInformative, Self::Papers];

    /// The name in recipes.
    pub fn id(self) -> &'static str {
        match self {
            Self::WeaklyInformative => "weakly-informative",
            Self::Cautious => "cautious",
            Self::Papers => "papers",
        }
    }

    /// The defaults called `id`.
    ///
    /// # Errors
    /// There are none of this name.
    pub fn find(id: &str) -> Result<Self, SettingError> {
        Self::ALL
            .into_iter()
            .find(|defaults| defaults.id() == id)
            .ok_or_else(|| {
                let known = Self::ALL.map(Self::id).join(", ");
                let takes = format!("one of {known}");
                SettingError::Value {
                    key: "priors.default".to_owned(),
                    takes,
                    value: id.to_owned(),
                }
            })
    }

    /// The name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::WeaklyInformative => "Default priors",
            Self::Cautious => "Cautious priors",
            Self::Papers => "Papers' priors",
        }
    }

    /// What the priors say, for people.
    pub fn about(self) -> &'static str {
        match self {
            Self::WeaklyInformative => {
                "normal(0, 2.5) for coefficients: any effect met in practice, but no absurd one"
            }
            Self::Cautious => "normal(0, 1) for coefficients: most effects are small",
            Self::Papers => {
                "normal(0, 10) for coefficients, as in the papers on stochastic gradients: hardly rules out anything"
            }
        }
    }

    /// Where such a prior comes from.
    pub fn source(self) -> PriorSource {
        match self {
            Self::WeaklyInformative => PriorSource::DEFAULT,
            Self::Cautious => PriorSource::by_default("cautious default"),
            Self::Papers => PriorSource::by_default("the papers' default"),
        }
    }

    /// Standard deviation of the prior of the intercept. Caution is about effects: outcomes may be as rare as under the default.
    pub(crate) fn intercept_sd(self) -> f64 {
        match self {
            Self::Cautious => Self::WeaklyInformative.sd(),
            Self::WeaklyInformative | Self::Papers => self.sd(),
        }
    }

    /// Standard deviation of the prior of a coefficient, per standard deviation of its predictor.
    pub fn sd(self) -> f64 {
        match self {
            Self::WeaklyInformative => 2.5,
            Self::Cautious => 1.0,
            Self::Papers => 10.0,
        }
    }

    /// Scale of the half-Student-t prior of the standard deviation of groups.
    pub(crate) fn group_scale(self) -> f64 {
        match self {
            Self::Cautious => 1.0,
            Self::WeaklyInformative | Self::Papers => 2.5,
        }
    }

    /// Whether the prior follows the units of the data wherever they play a part. Those of the papers hold for the numbers as they
    /// are where there is a link: around 0, and with `standardize = false` per unit of a column.
    pub(crate) fn follows_units(self) -> bool {
        self != Self::Papers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_others_are_refused_with_the_names_there_are() {
        for defaults in DefaultPriors::ALL {
            assert_eq!(DefaultPriors::find(defaults.id()), Ok(defaults));
        }
        assert_eq!(
            DefaultPriors::find("vague").unwrap_err().to_string(),
            "Setting `priors.default` takes one of cautious, weakly-informative, papers, not `vague`"
        );
    }
}
