//! Probabilities below and above a value, and their logarithms, as functions: what rows that were cut off need.

use super::Lowering;
use crate::distributions::{self, Distribution};
use crate::functions::Function;
use crate::graph::Id;
use crate::place::{Fault, Span};
use crate::syntax::Binary;

/// The functions, of the value and the parameters of the distribution, named and called as in Stan: each with its distribution and what it
/// tells.
pub(crate) const TAILS: [(&str, &str, Tail); 11] = [
    ("normal_cdf", "normal", Tail::Below),
    ("normal_lcdf", "normal", Tail::LogBelow),
    ("normal_lccdf", "normal", Tail::LogAbove),
    ("lognormal_lcdf", "lognormal", Tail::LogBelow),
    ("lognormal_lccdf", "lognormal", Tail::LogAbove),
    ("logistic_lcdf", "logistic", Tail::LogBelow),
    ("logistic_lccdf", "logistic", Tail::LogAbove),
    ("exponential_lcdf", "exponential", Tail::LogBelow),
    ("exponential_lccdf", "exponential", Tail::LogAbove),
    ("weibull_lcdf", "weibull", Tail::LogBelow),
    ("weibull_lccdf", "weibull", Tail::LogAbove),
];

/// What a function tells of a value.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Tail {
    /// The probability below it.
    Below,
    /// The logarithm of that.
    LogBelow,
    /// The logarithm of the probability above it.
    LogAbove,
}

/// The distribution whose probabilities the function `name` tells, and what it tells; `None` of other functions.
pub(super) fn find(name: &str) -> Option<(&'static Distribution, Tail)> {
    let (_, distribution, tail) = TAILS.into_iter().find(|(known, ..)| *known == name)?;
    Some((distributions::find(distribution)?, tail))
}

impl Lowering<'_> {
    /// What is told of `y` under `parameters`, as many as the distribution has.
    ///
    /// # Errors
    /// A constant that the distribution does not take as a parameter.
    pub(super) fn tail(
        &mut self,
        (distribution, tail): (&'static Distribution, Tail),
        y: Id,
        parameters: &[Id],
        span: Span,
    ) -> Result<Id, Fault> {
        self.note_limits(distribution, (y, parameters), span)?;
        Ok(match (distribution.name, parameters) {
            // Above y: −(y/s)^k, and −λy.
            ("weibull", &[shape, scale]) => {
                let share = self.graph.binary(Binary::Div, y, scale);
                let hazard = self.graph.binary(Binary::Pow, share, shape);
                self.of_hazard(hazard, tail)
            }
            ("exponential", &[rate]) => {
                let hazard = self.graph.binary(Binary::Mul, rate, y);
                self.of_hazard(hazard, tail)
            }
            (name, parameters) => {
                let y = match name {
                    "lognormal" => self.graph.call(Function::Log, y),
                    _ => y,
                };
                // Of the probability above, the distance from the middle the other way round.
                let distance = match tail {
                    Tail::LogAbove => self.graph.binary(Binary::Sub, parameters[0], y),
                    _ => self.graph.binary(Binary::Sub, y, parameters[0]),
                };
                let distance = self.graph.binary(Binary::Div, distance, parameters[1]);
                if name == "logistic" {
                    let minus = self.graph.negate(distance);
                    let log = self.graph.call(Function::Softplus, minus);
                    return Ok(self.graph.negate(log));
                }
                let function = match tail {
                    Tail::Below => Function::Phi,
                    _ => Function::LogPhi,
                };
                self.graph.call(function, distance)
            }
        })
    }

    /// The logarithm of e^{−H} or of 1 − e^{−H}.
    fn of_hazard(&mut self, hazard: Id, tail: Tail) -> Id {
        let log_above = self.graph.negate(hazard);
        match tail {
            Tail::LogAbove => log_above,
            _ => self.graph.call(Function::Log1mExp, log_above),
        }
    }
}
