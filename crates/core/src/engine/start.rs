//! Where chains start.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::run_section::RunSection;
use crate::models::{Model, NoPriorDraws, ParamInfo};
use ergodic_base::draws::DrawList;
use ergodic_base::{ChainRng, Class, ParamId, Purpose, stream};

/// Default distance of starts from the mode, in posterior standard deviations: wider than the posterior, so
/// that R-hat can notice chains that have not yet forgotten their start.
pub const SPREAD: f64 = 2.0;
/// Most posterior standard deviations around the mode.
pub const MOST_SPREAD: f64 = 1e6;
/// Draws of the prior in which one of finite density is looked for, as many as Stan makes: heavy tails have some that overflow.
const TRIES: usize = 100;
/// Largest difference between a value that was asked for and what the model makes of it, in units of the value, at least 1.
const CLOSE: f64 = 1e-6;
/// What can be written.
const NOTATION: &str = "mode, prior, values such as `b[age]=1, intercept=0` (with `;` between the chains' own), or a run folder";

/// Where the chains of a run start.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Start {
    /// Around the mode, [`RunSection::start_spread`] posterior standard deviations wide; around each mode in turn where there are
    /// several, and where the model says where there is none.
    #[default]
    Mode,
    /// Each at a draw from the prior.
    Prior,
    /// At given values of parameters, on the scale they are reported on: one set for all chains or one for each. Parameters
    /// without a value are where [`Self::Mode`] has them.
    Values(Vec<Assignments>),
    /// Where the chains of another run ended: at its last draws, which [`RunSection::start_draws`] holds. The text says which run.
    Run(String),
}

/// Values of parameters by name or class, the later overruling the earlier.
pub type Assignments = Vec<(String, f64)>;

/// Why a text says no start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartTextError {
    /// Nothing is written.
    #[error("`run.start` says nothing; write {NOTATION}")]
    Empty,
    /// A part of the values is none.
    #[error("`{0}` in `run.start` is not NAME=NUMBER; write {NOTATION}")]
    Assignment(String),
}

/// Why chains cannot start where they are told to: one sentence.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StartError {
    /// A mixture's partitions have no coordinates.
    #[error(
        "The model's unknown is a partition, which starts as its sampler says; leave `run.start` at mode"
    )]
    Partition,
    /// The prior cannot be drawn from.
    #[error("Chains cannot start at draws of the prior, because {0}; choose another `run.start`")]
    NoPrior(NoPriorDraws),
    /// The prior's draws are too far out.
    #[error(
        "Chains cannot start at draws of the prior: {TRIES} draws of it have no finite posterior density; give narrower priors or \
         choose another `run.start`"
    )]
    PriorTooWide,
    /// A name that no parameter has.
    #[error("There is no parameter `{name}` to start at a value of; there are {known}")]
    Unknown {
        /// Name that was written.
        name: String,
        /// Some that there are.
        known: String,
    },
    /// A value that a parameter cannot have.
    #[error(
        "No chain can start with `{name}` = {value}: the model has no such point{}; choose another value",
        match .becomes { Some(other) => format!(" (the nearest has {other})"), None => String::new() }
    )]
    Impossible {
        /// The parameter.
        name: String,
        /// Value that was asked for.
        value: f64,
        /// What the model would make of the value.
        becomes: Option<f64>,
    },
    /// Values, or last draws, of fewer chains than there are.
    #[error(
        "`run.start` has {what} of {has} chains, and the run has {chains}; give one for each or choose {has} chains"
    )]
    Chains {
        /// Values or draws.
        what: &'static str,
        /// Of how many chains.
        has: usize,
        /// Chains of the run.
        chains: usize,
    },
    /// The draws of the other run are not there.
    #[error("The last draws of the run `{0}`, where chains are to start, have not been read")]
    NotRead(String),
    /// A run of another model.
    #[error(
        "Chains cannot start where the run `{run}` ended, because {why}; choose a run of the same parameters"
    )]
    OtherParameters {
        /// The run.
        run: String,
        /// What differs.
        why: String,
    },
    /// A point without a density, and why.
    #[error("{0}")]
    Undefined(String),
    /// A point without a density.
    #[error(
        "Chain {0} cannot start where it is told to: the posterior density is not finite there; choose other values"
    )]
    NoDensity(usize),
}

impl FromStr for Start {
    type Err = StartTextError;

    fn from_str(text: &str) -> Result<Self, StartTextError> {
        match text.trim() {
            "" => Err(StartTextError::Empty),
            "mode" => Ok(Self::Mode),
            "prior" => Ok(Self::Prior),
            text if text.contains('=') => {
                let sets = split_outside(text, ';').into_iter();
                let sets = sets.filter(|set| !set.trim().is_empty()).map(assignments);
                Ok(Self::Values(sets.collect::<Result<_, _>>()?))
            }
            text => Ok(Self::Run(text.to_owned())),
        }
    }
}

/// `b[age]=1, intercept=0`.
fn assignments(text: &str) -> Result<Assignments, StartTextError> {
    let refuse = |part: &str| StartTextError::Assignment(part.trim().to_owned());
    let parts = split_outside(text, ',').into_iter();
    parts
        .map(|part| {
            // Names of terms may have one themselves: `b[plan=pro]`.
            let (name, value) = part.rsplit_once('=').ok_or_else(|| refuse(part))?;
            let value: f64 = value.trim().parse().map_err(|_no_number| refuse(part))?;
            let name = name.trim();
            let is_good = !name.is_empty() && value.is_finite();
            is_good
                .then(|| (name.to_owned(), value))
                .ok_or_else(|| refuse(part))
        })
        .collect()
}

/// Splits at every `mark` outside of brackets and quotes.
fn split_outside(text: &str, mark: char) -> Vec<&str> {
    let (mut parts, mut begin, mut depth, mut quoted) = (Vec::new(), 0, 0_u32, false);
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '[' if !quoted => depth += 1,
            ']' if !quoted => depth = depth.saturating_sub(1),
            c if c == mark && depth == 0 && !quoted => {
                parts.push(&text[begin..at]);
                begin = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[begin..]);
    parts
}

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mode => f.write_str("mode"),
            Self::Prior => f.write_str("prior"),
            Self::Run(run) => f.write_str(run),
            Self::Values(sets) => {
                for (k, set) in sets.iter().enumerate() {
                    f.write_str(if k == 0 { "" } else { "; " })?;
                    for (j, (name, value)) in set.iter().enumerate() {
                        let between = if j == 0 { "" } else { ", " };
                        write!(f, "{between}{name}={value}")?;
                    }
                }
                Ok(())
            }
        }
    }
}

impl Serialize for Start {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Start {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

impl Start {
    /// Whether chains start around the mode, as by default.
    pub fn is_mode(&self) -> bool {
        *self == Self::Mode
    }
}

/// The last draws of the chains of a run, by name of the quantity: what [`RunSection::start_draws`] holds. Chains without draws
/// are left out.
pub fn last_draws(names: &[ParamId], chains: &[&DrawList]) -> BTreeMap<String, Vec<f64>> {
    let chains = chains.iter().filter(|draws| !draws.is_empty());
    let last = |j: usize| {
        chains
            .clone()
            .map(move |draws| draws.value(draws.len() - 1, j))
    };
    let names = names.iter().enumerate();
    names
        .map(|(j, name)| (name.to_string(), last(j).collect()))
        .collect()
}

/// Where chain `chain` (0-based) of a run of `model` starts, in unconstrained coordinates (D); `around_mode` is where it starts
/// by default.
///
/// # Errors
/// The chain cannot start where it is told to.
pub(super) fn position(
    model: &dyn Model,
    run: &RunSection,
    chain: usize,
    around_mode: impl FnOnce() -> Vec<f64>,
) -> Result<Vec<f64>, StartError> {
    if run.start.is_mode() {
        return Ok(around_mode());
    }
    // Chains of one group begin at the same point.
    let chain = run.start_of(chain);
    let density = model.density().ok_or(StartError::Partition)?;
    let mut grad = vec![0.0; model.dim()];
    let mut has_density = |u: &[f64]| {
        u.iter().all(|u| u.is_finite())
            && density.log_density(u, &mut grad).is_finite()
            && grad.iter().all(|g| g.is_finite())
    };
    let u = match &run.start {
        Start::Mode => around_mode(),
        Start::Prior => {
            let mut theta = vec![0.0; model.params().len()];
            let mut draw = |rng: &mut ChainRng, u: &mut [f64]| match model.prior_draws() {
                Some(view) => view.draw_prior(rng, u).map_err(StartError::NoPrior),
                None => {
                    let drawn = model.draw_parameters(rng, &mut theta);
                    drawn.map_err(StartError::NoPrior)?;
                    model.unconstrain(&theta, u);
                    Ok(())
                }
            };
            let mut rng = stream(run.seed, chain, Purpose::Init);
            let mut u = vec![0.0; model.dim()];
            for _ in 0..TRIES {
                draw(&mut rng, &mut u)?;
                if has_density(&u) {
                    return Ok(u);
                }
            }
            return Err(StartError::PriorTooWide);
        }
        Start::Values(sets) => {
            let set = match sets.as_slice() {
                [one] => one,
                many => many.get(chain).ok_or(StartError::Chains {
                    what: "values",
                    has: many.len(),
                    chains: run.chains,
                })?,
            };
            at_values(model, set, around_mode())?
        }
        Start::Run(other) => at_draws(model, run, other, chain)?,
    };
    if has_density(&u) {
        return Ok(u);
    }
    let why = density.why_undefined(&u);
    Err(why.map_or(StartError::NoDensity(chain + 1), StartError::Undefined))
}

/// `u` with the parameters of `set` at their values.
fn at_values(model: &dyn Model, set: &Assignments, u: Vec<f64>) -> Result<Vec<f64>, StartError> {
    let params = model.params();
    let mut theta = vec![0.0; params.len()];
    model.constrain(&u, &mut theta);
    let mut given: Vec<Option<f64>> = vec![None; params.len()];
    for (name, value) in set {
        let named = named(params, name);
        if named.is_empty() {
            /// Parameters that a refusal lists.
            const LISTED: usize = 12;
            let names = params.iter().map(|param| param.name.as_str());
            let mut known: Vec<&str> = names.take(LISTED).collect();
            if params.len() > LISTED {
                known.push("…");
            }
            return Err(StartError::Unknown {
                name: name.clone(),
                known: known.join(", "),
            });
        }
        for j in named {
            (theta[j], given[j]) = (*value, Some(*value));
        }
    }
    let mut u = u;
    model.unconstrain(&theta, &mut u);
    let mut reached = vec![0.0; params.len()];
    model.constrain(&u, &mut reached);
    for ((param, given), reached) in params.iter().zip(given).zip(reached) {
        let Some(value) = given else { continue };
        let is_close = (reached - value).abs() <= CLOSE * value.abs().max(1.0);
        if !is_close || u.iter().any(|u| !u.is_finite()) {
            return Err(StartError::Impossible {
                name: param.name.to_string(),
                value,
                becomes: Some(reached).filter(|it| it.is_finite() && !is_close),
            });
        }
    }
    Ok(u)
}

/// The parameters that `name` names: one by its own name, the intercept, or all of a class but its intercept (`b`, `sd`).
fn named(params: &[ParamInfo], name: &str) -> Vec<usize> {
    let all = params.iter().enumerate();
    let those = |is: &dyn Fn(&ParamId) -> bool| -> Vec<usize> {
        let found = all.clone().filter(|(_, param)| is(&param.name));
        found.map(|(j, _)| j).collect()
    };
    let written = ParamId::from(name);
    let exactly = those(&|id| id.was(&written));
    if !exactly.is_empty() {
        return exactly;
    }
    let is_intercept = |id: &ParamId| {
        let of_term = matches!(
            id.class(),
            Class::Coefficient | Class::LevelCoefficient | Class::Mean
        );
        of_term && id.is_intercept()
    };
    if name.eq_ignore_ascii_case("intercept") {
        return those(&is_intercept);
    }
    those(&|id| id.word() == name && !id.keys().is_empty() && !is_intercept(id))
}

/// The last draw of chain `chain` of the run `other`.
fn at_draws(
    model: &dyn Model,
    run: &RunSection,
    other: &str,
    chain: usize,
) -> Result<Vec<f64>, StartError> {
    let draws = &run.start_draws;
    if draws.is_empty() {
        return Err(StartError::NotRead(other.to_owned()));
    }
    let refuse = |why: String| StartError::OtherParameters {
        run: other.to_owned(),
        why,
    };
    let params = model.params();
    let own: Vec<&str> = params.iter().map(|param| param.name.as_str()).collect();
    if let Some(more) = draws.keys().find(|name| !own.contains(&name.as_str())) {
        return Err(refuse(format!("it has `{more}`, which this model has not")));
    }
    let mut theta = Vec::with_capacity(own.len());
    for name in own {
        let chains = draws.get(name);
        let chains = chains.ok_or_else(|| refuse(format!("it has no `{name}`")))?;
        let value = chains.get(chain).ok_or(StartError::Chains {
            what: "draws",
            has: chains.len(),
            chains: run.chains,
        })?;
        theta.push(*value);
    }
    let mut u = vec![0.0; model.dim()];
    model.unconstrain(&theta, &mut u);
    Ok(u)
}

#[cfg(test)]
mod tests;
