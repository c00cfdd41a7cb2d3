//! The notation of priors: `flat`, or a distribution with its arguments as in Stan. All priors are read here.

/// A prior as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PriorText<'a> {
    text: &'a str,
    forms: &'static str,
    /// The distribution.
    pub name: &'a str,
    /// What stands in its brackets; nothing for `flat`.
    pub arguments: Vec<Argument>,
}

/// An argument of a prior.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Argument {
    /// A finite number.
    Number(f64),
    /// One over this share of the covariance between groups: `Sigma/0.16`.
    ShareOfSigma(f64),
}

/// What is wrong with a prior.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PriorProblem {
    /// No distribution of this name and number of arguments, where it stands.
    #[error("is not understood")]
    Unknown,
    /// The closing bracket is missing.
    #[error("lacks its closing bracket")]
    Unclosed,
    /// An argument is no finite number.
    #[error("has the argument `{0}`, which is not a number")]
    NotANumber(String),
    /// A scale is not positive.
    #[error("needs a scale above 0")]
    Scale,
    /// Degrees of freedom or a scale are not positive.
    #[error("needs degrees of freedom and a scale above 0")]
    FreedomOrScale,
    /// An argument is not positive.
    #[error("needs arguments above 0")]
    Arguments,
    /// A distribution that is not one of positive numbers.
    #[error("is not one of a positive parameter")]
    OfPositive,
    /// A location other than 0 for a positive parameter.
    #[error("must have location 0 for a parameter that is positive")]
    Location,
    /// A distribution that is not one of chances.
    #[error("is not one of a chance")]
    OfChances,
    /// A distribution that is not one of correlations.
    #[error("is not one of correlations")]
    OfCorrelations,
    /// A spread that is not written as a share of the covariance between groups.
    #[error("has a spread that is not a share of Sigma")]
    Spread,
    /// The number of groups that a prior mean counts for is not positive.
    #[error("needs a positive lambda")]
    Lambda,
}

/// Why a prior is refused, with what can be written in its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Prior `{text}` {problem}; write {forms}")]
pub struct PriorError {
    /// The prior as it is written.
    pub text: String,
    /// What is wrong.
    pub problem: PriorProblem,
    /// The forms that are understood there.
    pub forms: &'static str,
}

impl PriorError {
    pub(super) fn new(text: &str, problem: PriorProblem, forms: &'static str) -> Self {
        Self {
            text: text.trim().to_owned(),
            problem,
            forms,
        }
    }
}

impl<'a> PriorText<'a> {
    /// Reads the notation; `forms` are those that are known where the prior stands.
    pub fn read(text: &'a str, forms: &'static str) -> Result<Self, PriorError> {
        let refuse = |problem| PriorError::new(text, problem, forms);
        let written = |name, arguments| Self {
            text,
            forms,
            name,
            arguments,
        };
        if text.trim() == "flat" {
            return Ok(written("flat", Vec::new()));
        }
        let (name, rest) =
            (text.trim().split_once('(')).ok_or_else(|| refuse(PriorProblem::Unknown))?;
        let inside = rest
            .strip_suffix(')')
            .ok_or_else(|| refuse(PriorProblem::Unclosed))?;
        let argument = |piece: &str| {
            let piece = piece.trim();
            let share = piece
                .strip_prefix("Sigma")
                .and_then(|rest| rest.trim_start().strip_prefix('/'));
            match share.unwrap_or(piece).trim().parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(match share {
                    Some(_) => Argument::ShareOfSigma(value),
                    None => Argument::Number(value),
                }),
                _ => Err(refuse(PriorProblem::NotANumber(piece.to_owned()))),
            }
        };
        let arguments = inside.split(',').map(argument);
        Ok(written(name.trim(), arguments.collect::<Result<_, _>>()?))
    }

    /// The refusal of this prior.
    pub fn refuse(&self, problem: PriorProblem) -> PriorError {
        PriorError::new(self.text, problem, self.forms)
    }

    /// The numbers of `name` if it has `N` of them, all positive; `None` for another distribution or number of arguments.
    pub fn positive<const N: usize>(&self, name: &str) -> Result<Option<[f64; N]>, PriorError> {
        let number = |argument: &Argument| match argument {
            Argument::Number(value) => Some(*value),
            Argument::ShareOfSigma(_) => None,
        };
        let numbers: Option<Vec<f64>> = self.arguments.iter().map(number).collect();
        let numbers = numbers.and_then(|numbers| <[f64; N]>::try_from(numbers).ok());
        match numbers.filter(|_| self.name == name) {
            Some(numbers) if numbers.iter().any(|&number| number <= 0.0) => {
                Err(self.refuse(PriorProblem::Arguments))
            }
            numbers => Ok(numbers),
        }
    }
}
