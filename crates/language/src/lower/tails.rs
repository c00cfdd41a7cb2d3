//! Probabilities below and above a value, and their logarithms, as functions: what rows that were cut off need.

use super::Lowering;
use crate::distributions;
use crate::functions::Function;
use crate::graph::Id;
use crate::place::{Fault, Span};
use crate::syntax::Binary;

/// The functions, of the value and the parameters of the distribution; named and called as in Stan.
pub(crate) const TAILS: [&str; 11] = [
    "normal_cdf",
    "normal_lcdf",
    "normal_lccdf",
    "lognormal_lcdf",
    "lognormal_lccdf",
    "logistic_lcdf",
    "logistic_lccdf",
    "exponential_lcdf",
    "exponential_lccdf",
    "weibull_lcdf",
    "weibull_lccdf",
];

/// What a function tells of a value.
#[derive(Clone, Copy, PartialEq)]
enum Tail {
    /// The probability below it.
    Below,
    /// The logarithm of that.
    LogBelow,
    /// The logarithm of the probability above it.
    LogAbove,
}

/// The distribution whose probabilities the function `name` tells; `None` of other functions.
pub(super) fn distribution_of(name: &str) -> Option<&'static str> {
    let known = TAILS.into_iter().find(|known| *known == name)?;
    known
        .split_once('_')
        .map(|(distribution, _tail)| distribution)
}

impl Lowering<'_> {
    /// What the function `name`, one of [`TAILS`], tells of `y` under `parameters`, as many as the distribution has.
    ///
    /// # Errors
    /// A constant that the distribution does not take as a parameter.
    pub(super) fn tail(
        &mut self,
        name: &str,
        y: Id,
        parameters: &[Id],
        span: Span,
    ) -> Result<Id, Fault> {
        let distribution = distribution_of(name).unwrap_or(name);
        if let Some(distribution) = distributions::find(distribution) {
            self.note_limits(distribution, (y, parameters), span)?;
        }
        let tail = match name {
            name if name.ends_with("_lccdf") => Tail::LogAbove,
            name if name.ends_with("_lcdf") => Tail::LogBelow,
            _ => Tail::Below,
        };
        Ok(match (distribution, parameters) {
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
            (_, parameters) => {
                let y = match distribution {
                    "lognormal" => self.graph.call(Function::Log, y),
                    _ => y,
                };
                // Of the probability above, the distance from the middle the other way round.
                let distance = match tail {
                    Tail::LogAbove => self.graph.binary(Binary::Sub, parameters[0], y),
                    _ => self.graph.binary(Binary::Sub, y, parameters[0]),
                };
                let distance = self.graph.binary(Binary::Div, distance, parameters[1]);
                if distribution == "logistic" {
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
