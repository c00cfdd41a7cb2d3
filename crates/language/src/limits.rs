//! Values that numbers of a distribution may have, and the first line in which a position gives others.

use ergodic_base::numerals::{brief, ordinal};
use ergodic_core::arithmetic::SimdLevel;

use crate::code::{Code, once};
use crate::distributions::{Distribution, Support};
use crate::graph::{Id, Node};
use crate::lower::{Lowered, Parameter};
use crate::machine::{ONE, Registers, run_once};
use crate::place::{Fault, ProgramError, Span};

/// Numbers that are looked at: the first lines tell what is wrong, and long lists repeat themselves.
const MOST: usize = 1000;

/// Values that a number of a distribution may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limits {
    Finite,
    Positive,
    NonNegative,
    /// From 0 to 1.
    Share,
    /// Of a threshold less the next one.
    Negative,
}

impl Limits {
    /// Limits of what has a distribution with this support.
    fn of_values(support: Support) -> Self {
        match support {
            Support::Positive | Support::Above => Self::Positive,
            Support::Unit => Self::Share,
            Support::Counts | Support::Trials | Support::Binary => Self::NonNegative,
            Support::Real
            | Support::Between
            | Support::Simplex
            | Support::Levels
            | Support::Categories => Self::Finite,
        }
    }

    pub fn hold(self, value: f64) -> bool {
        match self {
            Self::Finite => value.is_finite(),
            Self::Positive => value > 0.0,
            Self::NonNegative => value >= 0.0,
            Self::Share => (0.0..=1.0).contains(&value),
            Self::Negative => value < 0.0,
        }
    }

    /// The limits in words, of what keeps them.
    pub fn words(self) -> &'static str {
        match self {
            Self::Finite => "a finite number",
            Self::Positive => "above 0",
            Self::NonNegative => "at least 0",
            Self::Share => "between 0 and 1",
            Self::Negative => "below 0",
        }
    }

    /// How the parameter `name` keeps them.
    fn declaration(self, name: &str) -> Option<String> {
        match self {
            Self::Positive | Self::NonNegative => Some(format!("declare `{name}: positive`")),
            Self::Share => Some(format!("declare `{name} in (0, 1)`")),
            Self::Finite | Self::Negative => None,
        }
    }

    /// What makes any number one of them.
    fn advice(self) -> &'static str {
        match self {
            Self::Positive | Self::NonNegative => {
                "; give what it is made of bounds, or take `exp(…)` of it"
            }
            Self::Share => "; give what it is made of bounds, or take `logistic(…)` of it",
            Self::Finite | Self::Negative => "",
        }
    }
}

/// Which number of a distribution.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    /// What has the distribution.
    Value,
    /// One of its parameters, by its place.
    Parameter(usize),
    /// A threshold, from 0, less the next one.
    Threshold(usize),
}

/// A number of a distribution, where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limited {
    pub number: Id,
    pub what: What,
    pub distribution: &'static Distribution,
    pub span: Span,
}

impl Limited {
    fn limits(&self) -> Limits {
        match self.what {
            What::Value => Limits::of_values(self.distribution.support),
            What::Parameter(at) => self.distribution.limits[at],
            What::Threshold(_) => Limits::Negative,
        }
    }

    /// What is wrong with `value`, which `parameter` has by itself where one is named.
    fn fault(&self, value: f64, parameter: Option<&str>) -> Fault {
        let (name, limits) = (self.distribution.name, self.limits());
        let message = match self.what {
            What::Threshold(at) => format!(
                "The {} threshold of `{name}` is not above the one before where the chain would start; declare thresholds as `c: ordered(n)`",
                ordinal(at + 2)
            ),
            What::Value => format!(
                "What has the distribution `{name}` is {} where the chain would start, but has to be {}{}",
                brief(value),
                limits.words(),
                limits.advice()
            ),
            What::Parameter(at) => {
                let declaration = parameter.and_then(|name| limits.declaration(name));
                format!(
                    "`{}` of `{name}` is {} where the chain would start, but has to be {}{}",
                    self.distribution.parameters[at],
                    brief(value),
                    limits.words(),
                    declaration.map_or_else(
                        || limits.advice().to_owned(),
                        |declaration| format!("; {declaration}")
                    )
                )
            }
        };
        Fault::new(self.span, message)
    }
}

/// Numbers of a program's distributions that depend on parameters alone.
pub(crate) struct Starts {
    numbers: Vec<Limited>,
    /// The parameter that a number is by itself, where it is one.
    parameters: Vec<Option<String>>,
    code: Code,
    /// Where the summands of the log density that are the same for all rows stand.
    terms: Vec<Span>,
    /// Where the rows are.
    row: Option<Span>,
    text: String,
}

impl Starts {
    /// What is asked about starts of the program `text`.
    pub fn of(lowered: &Lowered, text: &str) -> Self {
        let graph = &lowered.graph;
        let is_asked = |it: &&Limited| {
            let depends = graph.depends(it.number);
            depends.parameters && !depends.lane
        };
        let all = lowered.limited.iter().filter(is_asked);
        let numbers: Vec<Limited> = all.take(MOST).copied().collect();
        let of_element = |at: usize| {
            let mut parameters = lowered.parameters.iter();
            let is_mine = |it: &&Parameter| (it.offset..it.offset + it.len()).contains(&at);
            parameters.find(is_mine).map(|it| it.name.clone())
        };
        let parameters = numbers.iter().map(|it| match *graph.node(it.number) {
            Node::Parameter(at) => of_element(at),
            _ => None,
        });
        let ids: Vec<Id> = numbers.iter().map(|it| it.number).collect();
        Self {
            parameters: parameters.collect(),
            code: once(graph, &ids),
            terms: lowered.terms.iter().map(|&id| graph.span(id)).collect(),
            row: lowered.row.map(|id| graph.span(id)),
            text: text.to_owned(),
            numbers,
        }
    }

    /// Why there is no density where the parameters are `theta`, the summands `terms`, and those of the rows are all finite or not.
    pub fn why(
        &self,
        level: SimdLevel,
        theta: &[f64],
        terms: &[f64],
        rows_are_finite: bool,
    ) -> Option<String> {
        let mut registers: Registers<ONE> = Registers::of(&self.code, 0);
        let code = &self.code;
        if !self.numbers.is_empty() {
            run_once(level, code, theta, &mut registers, None);
        }
        let numbers = self.numbers.iter().zip(&self.parameters);
        let fault = numbers
            .zip(&code.outputs)
            .find_map(|((number, parameter), output)| {
                let value = registers.output(*output);
                let is_wrong = !number.limits().hold(value);
                is_wrong.then(|| number.fault(value, parameter.as_deref()))
            });
        let of_sum = || {
            let at = terms.iter().position(|term| !term.is_finite());
            let of_rows = self.row.filter(|_| !rows_are_finite);
            let span = at.and_then(|at| self.terms.get(at).copied()).or(of_rows)?;
            let message = "The log density of this line is not a finite number where the chain would start; check the bounds of what it is \
                           made of, or start elsewhere with `run.start`";
            Some(Fault::new(span, message))
        };
        let fault = fault.or_else(of_sum)?;
        Some(ProgramError::of(fault, &self.text).to_string())
    }
}
