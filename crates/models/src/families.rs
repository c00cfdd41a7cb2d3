//! Response families: how a response is distributed given its linear predictor, each defined once.
//!
//! A family is one file here and one line of the registry below. Its file says what it is called, how its response column is
//! read, its link, its parameters besides the linear predictor, its log density with derivatives, and how to draw from it.
//! Families are told apart by [`Family`]; their identifiers are text only in recipes, on the command line and in files.

use ergodic_base::ChainRng;

use crate::design::{Design, ResponseKind, ResponseUse};
use ergodic_base::special::logistic;
use notation::Notation;
use rows::{MAX_AUX, RowUse};

pub(crate) mod bernoulli;
mod beta;
pub(crate) mod binomial;
mod censoring;
mod choices;
mod gamma;
mod gaussian;
mod gaussian_se;
mod lognormal;
mod negative_binomial;
pub(crate) mod notation;
pub mod ordered;
pub(crate) mod poisson;
pub mod rows;
pub(crate) mod student;
pub mod unordered;
mod weibull;
mod zero_inflated;
mod zero_inflated_negative_binomial;
mod zero_inflated_poisson;

/// What families are registered: a variant of [`Family`] and of [`Outcome`], the file that defines it, and the rows there of
/// families whose responses may be censored.
macro_rules! registry {
    (@takes) => { false };
    (@takes $rows:ident) => { true };
    (@censored $family:ident $design:ident $with:ident $module:ident) => {
        Err(FamilyError::Censored { response: $design.response.name.clone(), family: $family.id() })
    };
    (@censored $family:ident $design:ident $with:ident $module:ident $rows:ident) => {
        Ok($with.of(censoring::rows($module::$rows, $design)))
    };
    ($($(#[$doc:meta])* $name:ident: $module:ident $([censored $rows:ident])?,)*) => {
        /// A response family.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Family {
            $($(#[$doc])* $name,)*
        }

        /// A response family with its parameters: the distribution of a response around its linear predictor z.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Outcome {
            $($(#[$doc])* $name($module::Outcome),)*
        }

        impl Family {
            /// All families.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// What the family is.
            pub const fn definition(self) -> &'static Definition {
                match self {
                    $(Self::$name => &$module::DEFINITION,)*
                }
            }

            /// The distribution with the parameters where a search for them starts.
            pub fn outcome(self) -> Outcome {
                match self {
                    $(Self::$name => Outcome::$name($module::Outcome::START),)*
                }
            }
        }

        impl Family {
            /// What comes of `with` and the rows of `design` in the layout of the family.
            ///
            /// # Errors
            /// The response cannot be of the family.
            pub(crate) fn rows<U: RowUse>(self, design: &Design, with: U) -> Result<U::Made, FamilyError> {
                (self.definition().check)(design)?;
                if design.censoring.is_some() {
                    return self.censored_rows(design, with);
                }
                match self {
                    $(Self::$name => $module::rows(design).map(|rows| with.of(rows)),)*
                }
            }

            /// What comes of `with` and rows of which some are censored.
            fn censored_rows<U: RowUse>(self, design: &Design, with: U) -> Result<U::Made, FamilyError> {
                match self {
                    $(Self::$name => registry!(@censored self design with $module $($rows)?),)*
                }
            }

            /// Whether responses may be censored.
            pub const fn takes_censoring(self) -> bool {
                match self {
                    $(Self::$name => registry!(@takes $($rows)?),)*
                }
            }

            /// The family in other notations.
            pub(crate) fn notation(self, design: &Design) -> Notation {
                match self {
                    $(Self::$name => $module::notation(design),)*
                }
            }
        }

        impl Outcome {
            /// The family.
            pub fn family(&self) -> Family {
                match self {
                    $(Self::$name(_) => Family::$name,)*
                }
            }

            /// The distribution where a unit of the response is split into `by` units; families with a link have no unit.
            #[must_use]
            pub fn scaled(&self, by: f64) -> Self {
                match self {
                    $(Self::$name(it) => Self::$name(it.scaled(by)),)*
                }
            }

            /// A response at z of a row of which `known` is known ([`Design::known`]). Where a mean is too small or too large for a distribution, the
            /// mean.
            pub fn draw(&self, z: f64, known: f64, rng: &mut ChainRng) -> f64 {
                match self {
                    $(Self::$name(it) => it.draw(z, known, rng),)*
                }
            }

            /// log p and derivatives at z for response `y` of a row of which `known` is known ([`Design::known`]).
            #[inline]
            pub fn at(&self, z: f64, y: f64, known: f64) -> Derivatives {
                match self {
                    $(Self::$name(it) => it.at(z, y, known),)*
                }
            }

            /// The part of log p that does not depend on z.
            pub fn constant(&self, y: f64, known: f64) -> f64 {
                match self {
                    $(Self::$name(it) => it.constant(y, known),)*
                }
            }

            /// How many [`Self::coordinates`] mean something. None of a normal outcome, of which fits integrate the scale out.
            pub fn num_coordinates(&self) -> usize {
                match self {
                    $(Self::$name(it) => it.num_coordinates(),)*
                }
            }

            /// The parameters besides the linear predictor on the real line ([`Self::num_coordinates`]): of ordered levels the
            /// logarithms of gaps between cut points.
            pub fn coordinates(&self) -> Vec<f64> {
                match self {
                    $(Self::$name(it) => it.all_coordinates(),)*
                }
            }

            /// The distribution with other parameters besides the linear predictor ([`Self::num_coordinates`]).
            #[must_use]
            pub fn with_coordinates(&self, at: &[f64]) -> Self {
                match self {
                    $(Self::$name(it) => Self::$name(it.with_all_coordinates(at)),)*
                }
            }

            /// The expected response at z: of successes their share, of ordered levels the mean of their places from 1. Student-t
            /// noise without a mean has its middle there. It may depend on the shape, so a family alone has none.
            #[inline]
            pub fn mean(&self, z: f64) -> f64 {
                match self {
                    $(Self::$name(it) => it.mean(z, $module::DEFINITION.link),)*
                }
            }

            /// The derivative of [`Self::mean`] at z.
            #[inline]
            pub fn mean_slope(&self, z: f64) -> f64 {
                match self {
                    $(Self::$name(it) => it.mean_slope(z, $module::DEFINITION.link),)*
                }
            }

            /// The variance of a response at z of a row of which `known` is known ([`Design::known`]): of successes that of their
            /// number, of ordered levels that of their places from 1. Infinite where the noise has none.
            pub fn variance(&self, z: f64, known: f64) -> f64 {
                match self {
                    $(Self::$name(it) => it.variance(z, known),)*
                }
            }

            /// Writes derivatives of log p (constant included), score and weight in each of the coordinates
            /// ([`Self::num_coordinates`]).
            pub fn in_coordinates(&self, z: f64, y: f64, known: f64, out: &mut [[f64; 3]]) {
                match self {
                    $(Self::$name(it) => it.in_all_coordinates(z, y, known, out),)*
                }
            }
        }
    };
}

registry! {
    /// Numbers with normal noise.
    Gaussian: gaussian,
    /// Numbers with known standard errors.
    GaussianSe: gaussian_se,
    /// Yes or no.
    Bernoulli: bernoulli,
    /// Successes among trials.
    Binomial: binomial,
    /// Counts whose variance is their mean.
    Poisson: poisson,
    /// Counts whose variance is larger.
    NegativeBinomial: negative_binomial,
    /// Poisson counts, and more zeros.
    ZeroInflatedPoisson: zero_inflated_poisson,
    /// Counts whose variance is larger, and more zeros.
    ZeroInflatedNegativeBinomial: zero_inflated_negative_binomial,
    /// Positive numbers whose standard deviation is a share of their mean.
    Gamma: gamma,
    /// Positive numbers whose logarithm is normal.
    Lognormal: lognormal [censored NormalLogarithms],
    /// Positive numbers whose hazard is a power of them.
    Weibull: weibull [censored Times],
    /// Numbers between 0 and 1.
    Beta: beta,
    /// Numbers with Student-t noise.
    Student: student,
    /// Levels with an order.
    Ordered: ordered,
}

/// What a family is.
#[derive(Debug)]
pub struct Definition {
    /// Identifier in recipes, on the command line and in files.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// What comes before "regression" and "mixed model" in the name of a model of the family, with a capital letter.
    pub kind: &'static str,
    /// Outcomes that it is for, as what can follow "for".
    pub about: &'static str,
    /// What the linear predictor is, as what can stand before the name of the response: "log odds of".
    pub quantity: &'static str,
    /// How the response column is read.
    pub response: ResponseUse,
    /// Refuses responses that the family cannot have.
    pub check: fn(&Design) -> Result<(), FamilyError>,
    /// From the expected response, or a share of it that all rows have in common, to the linear predictor.
    pub link: Link,
    /// Whether responses are whole numbers.
    pub is_whole: bool,
    /// Variance of a row on the scale of the linear predictor besides that of `sigma`, where such a variance is free of the
    /// mean.
    pub latent_variance: Option<f64>,
    /// Parameters besides the linear predictor.
    pub auxiliaries: &'static [Auxiliary],
}

impl Definition {
    /// What a model of the family is, `has_groups` if effects vary by group: "Weibull regression", "Linear mixed model".
    pub fn model(&self, has_groups: bool) -> String {
        let what = if has_groups {
            "mixed model"
        } else {
            "regression"
        };
        format!("{} {what}", self.kind)
    }
}

/// What parameters of a family besides the linear predictor are on the real line, in the order of [`Definition::auxiliaries`];
/// those past the last are 0.
type Coordinates = [f64; MAX_AUX];

/// What values a parameter can have, and which real number stands for each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Support {
    /// Numbers above this; the coordinate is the logarithm of what is above it.
    Above(f64),
    /// Chances between 0 and 1; the coordinate is the logarithm of their odds.
    Chance,
}

impl Support {
    /// The value that stands at a coordinate.
    pub fn value(self, coordinate: f64) -> f64 {
        match self {
            Self::Above(lower) => lower + coordinate.exp(),
            Self::Chance => logistic(coordinate),
        }
    }

    /// The coordinate at which a value stands.
    pub fn coordinate(self, value: f64) -> f64 {
        match self {
            Self::Above(lower) => (value - lower).ln(),
            Self::Chance => value.ln() - (-value).ln_1p(),
        }
    }
}

/// A parameter of a family besides the linear predictor.
#[derive(Debug)]
pub struct Auxiliary {
    /// Name of the parameter, which is also the key of its prior, and that of its class in brms: `sigma`.
    pub name: &'static str,
    /// Meaning of the parameter, for a comment.
    pub what: &'static str,
    /// What the parameter says about the response, in words.
    pub meaning: fn(&Design) -> String,
    /// What values it can have.
    pub support: Support,
    /// Whether the parameter has the unit of the response.
    pub has_unit: bool,
    /// Prior where the user sets none, in the notation of recipes.
    pub prior: &'static str,
}

/// Why rows cannot be of a family.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FamilyError {
    /// Successes without a number of trials, for the family binomial.
    #[error("The outcome `{response}` has no number of trials; set model.family = \"{instead}\"")]
    NoTrials {
        /// The outcome.
        response: String,
        /// The family that has none.
        instead: &'static str,
    },
    /// Successes among trials, for the family bernoulli.
    #[error(
        "The outcome `{response}` has successes among trials; set model.family = \"{instead}\""
    )]
    Trials {
        /// The outcome.
        response: String,
        /// The family that has them.
        instead: &'static str,
    },
    /// An outcome without standard errors, for the family of known ones.
    #[error(
        "The outcome `{response}` has no known standard errors; write `{response} | se(s)` with their column, or set \
         model.family = \"gaussian\""
    )]
    NoErrors {
        /// The outcome.
        response: String,
    },
    /// Censored outcomes, for a family that has no chance of what is above or below.
    #[error(
        "The family {family} takes no censored outcomes; leave `cens()` out, or choose the family {instead} for `{response}`",
        instead = Family::ids_for_censoring().join(" or ")
    )]
    Censored {
        /// The outcome.
        response: String,
        /// The family.
        family: &'static str,
    },
    /// An outcome that is no ordered level, for the family of these.
    #[error("The outcome `{response}` has no ordered levels here, which the family ordered needs")]
    NotOrdered {
        /// The outcome.
        response: String,
    },
    /// A formula without an intercept, for ordered levels.
    #[error(
        "The family ordered needs the intercept, which moves the cut points between the levels of `{response}`; leave `0 +` or \
         `- 1` out of the formula"
    )]
    NoCutPoint {
        /// The outcome.
        response: String,
    },
    /// An outcome that is not above 0.
    #[error(
        "The outcome `{response}` is {value} in row {row}, and outcomes of the family {family} are above 0; leave such rows out \
         or choose another family"
    )]
    NotPositive {
        /// The outcome.
        response: String,
        /// Value of the outcome.
        value: f64,
        /// Row of the file, from 1.
        row: usize,
        /// The family.
        family: &'static str,
    },
    /// An outcome that is not between 0 and 1.
    #[error(
        "The outcome `{response}` is {value} in row {row}, and outcomes of the family {family} are above 0 and below 1; write \
         percentages as shares, leave such rows out, or move all of n outcomes y inwards by (y × (n − 1) + 0.5)/n"
    )]
    NotShare {
        /// The outcome.
        response: String,
        /// Value of the outcome.
        value: f64,
        /// Row of the file, from 1.
        row: usize,
        /// The family.
        family: &'static str,
    },
    /// An outcome that is the same in all rows.
    #[error(
        "The outcome `{response}`{less} is {value} in all {rows} rows used, so there is nothing to explain; choose another \
         outcome"
    )]
    Constant {
        /// The outcome.
        response: String,
        /// Words for "after the offset", if there is one.
        less: &'static str,
        /// Value of the outcome.
        value: f64,
        /// Rows.
        rows: usize,
    },
}

impl Definition {
    /// What the linear predictor is, in words: "log odds of y".
    pub(crate) fn quantity_of(&self, name: &str) -> String {
        format!("{} {name}", self.quantity)
    }
}

/// For families that can have every response that is read as theirs.
fn any(_design: &Design) -> Result<(), FamilyError> {
    Ok(())
}

/// Row of the file, from 1, that became row `i` of the design.
fn row_of_file(design: &Design, i: usize) -> usize {
    design.row.get(i).map_or(i, |row| *row as usize) + 1
}

/// The function of the expected response that is linear. A family whose expected response depends on its shape, too, has the link
/// of what is left: of lognormal responses the median. [`Outcome::mean`] puts the two together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// The response itself.
    Identity,
    /// The logarithm of the expected response.
    Log,
    /// The logarithm of the odds.
    Logit,
}

impl Link {
    /// What has the linear predictor `z`; see [`Outcome::mean`] for the expected response.
    #[inline]
    fn inverse(self, z: f64) -> f64 {
        match self {
            Self::Identity => z,
            Self::Log => z.exp(),
            Self::Logit => {
                let e = (-z.abs()).exp();
                if z >= 0.0 {
                    1.0 / (1.0 + e)
                } else {
                    e / (1.0 + e)
                }
            }
        }
    }

    /// The derivative of [`Self::inverse`] at `z`.
    #[inline]
    fn inverse_slope(self, z: f64) -> f64 {
        match self {
            Self::Identity => 1.0,
            Self::Log => z.exp(),
            Self::Logit => {
                let e = (-z.abs()).exp();
                e / ((1.0 + e) * (1.0 + e))
            }
        }
    }
}

/// log p of a row and derivatives in z: the score s, the weight w = −s', and w'.
#[derive(Clone, Copy, Debug)]
pub struct Derivatives {
    /// log p without the constant of [`Outcome::constant`].
    pub log_p: f64,
    /// ∂ log p/∂z.
    pub score: f64,
    /// −∂² log p/∂z².
    pub weight: f64,
    /// ∂ weight/∂z.
    pub slope: f64,
}

/// What the file of a family says of its distribution; see the methods of [`Outcome`].
trait Distribution: Copy {
    /// Parameters where a search for them starts.
    const START: Self;
    /// How many of [`Coordinates`] mean something.
    const COORDINATES: usize = 0;

    fn draw(self, z: f64, known: f64, rng: &mut ChainRng) -> f64;

    fn at(self, z: f64, y: f64, known: f64) -> Derivatives;

    fn constant(self, y: f64, known: f64) -> f64;

    fn scaled(self, _by: f64) -> Self {
        self
    }

    /// See [`Outcome::variance`].
    fn variance(self, z: f64, known: f64) -> f64;

    /// The expected response is this times what the inverse link makes of z.
    fn mean_factor(self) -> f64 {
        1.0
    }

    /// See [`Outcome::mean`].
    #[inline]
    fn mean(self, z: f64, link: Link) -> f64 {
        self.mean_factor() * link.inverse(z)
    }

    /// See [`Outcome::mean_slope`].
    #[inline]
    fn mean_slope(self, z: f64, link: Link) -> f64 {
        self.mean_factor() * link.inverse_slope(z)
    }

    fn coordinates(self) -> Coordinates {
        [0.0; MAX_AUX]
    }

    fn with_coordinates(self, _at: Coordinates) -> Self {
        self
    }

    fn in_coordinates(self, _z: f64, _y: f64, _known: f64) -> [[f64; 3]; MAX_AUX] {
        [[0.0; 3]; MAX_AUX]
    }

    /// See [`Outcome::num_coordinates`].
    fn num_coordinates(self) -> usize {
        Self::COORDINATES
    }

    /// See [`Outcome::coordinates`].
    fn all_coordinates(self) -> Vec<f64> {
        self.coordinates()[..Self::COORDINATES].to_vec()
    }

    /// See [`Outcome::with_coordinates`].
    fn with_all_coordinates(self, at: &[f64]) -> Self {
        let mut few = [0.0; MAX_AUX];
        few[..Self::COORDINATES].copy_from_slice(at);
        self.with_coordinates(few)
    }

    /// See [`Outcome::in_coordinates`].
    fn in_all_coordinates(self, z: f64, y: f64, known: f64, out: &mut [[f64; 3]]) {
        out.copy_from_slice(&self.in_coordinates(z, y, known)[..Self::COORDINATES]);
    }
}

impl Outcome {
    /// Whether responses are whole numbers.
    pub fn is_whole(&self) -> bool {
        self.family().definition().is_whole
    }
}

impl Family {
    /// Identifiers of all.
    pub const IDS: &'static [&'static str] = &{
        let mut ids = [""; Self::ALL.len()];
        let mut k = 0;
        while k < ids.len() {
            ids[k] = Self::ALL[k].id();
            k += 1;
        }
        ids
    };

    /// Identifier in recipes, on the command line and in files.
    pub const fn id(self) -> &'static str {
        self.definition().id
    }

    /// Identifiers of families whose responses may be censored.
    pub(crate) fn ids_for_censoring() -> Vec<&'static str> {
        let of_family = Self::ALL.iter().filter(|family| family.takes_censoring());
        of_family.map(|family| family.id()).collect()
    }

    /// The family called `id` among [`Self::ALL`].
    pub fn find(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|family| family.id() == id)
    }

    /// The family called `id`.
    ///
    /// # Errors
    /// There is none; the sentence lists those that there are.
    pub fn named(id: &str) -> Result<Self, UnknownFamily> {
        Self::find(id).ok_or_else(|| UnknownFamily(id.to_owned()))
    }
}

/// The logarithm of the mean of counts or positive numbers per exposure, which is exp(offset); 0 where it is not finite.
pub fn log_mean(design: &Design) -> f64 {
    let [first, _unit] = design.response_units();
    let log_mean = match (&design.response.kind, &design.offset) {
        (ResponseKind::Count { .. }, _) => first,
        (_, None) => first.ln(),
        // Units are those of numbers less their offset.
        (_, Some(offset)) => {
            let n = offset.len() as f64;
            let largest = offset.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let exposure: f64 = offset.iter().map(|o| (o - largest).exp()).sum();
            (first + offset.iter().sum::<f64>() / n).ln() - (exposure / n).ln() - largest
        }
    };
    if log_mean.is_finite() { log_mean } else { 0.0 }
}

impl serde::Serialize for Family {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

/// A name that no family has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("There is no family `{0}`; there are {ids}", ids = Family::IDS.join(", "))]
pub struct UnknownFamily(pub String);

#[cfg(test)]
mod tests;

pub use choices::FAMILY_CHOICES;
