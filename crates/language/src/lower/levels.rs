//! Outcomes that are levels with an order: cumulative log odds (McCullagh 1980, JRSS B 42; `ordered_logistic` of Stan).
//!
//! With thresholds c_1 < … < c_{K−1} the chance of a level of at most k is σ(c_k − z), so that of level k with a = c_{k−1} and b = c_k
//!
//! ```text
//! log p(k) = −log(1 + e^(z − b)) − log(1 + e^(a − z)) + log(1 − e^(a − b)),
//! ```
//!
//! without the first and the last for K, the second and the last for 1. The last is the same for all rows and computed once.

use super::{Lowering, Pick, Picks, Section, shape_words};
use crate::distributions::{Distribution, Support};
use crate::functions::Function;
use crate::graph::Id;
use crate::limits::{Limited, What};
use crate::place::{Fault, Span};
use crate::syntax::{Binary, Expr};

/// Most levels of an outcome: more are numbers in all but name.
pub(super) const MOST_LEVELS: usize = 50;

/// An outcome that is a level.
pub(super) struct Level {
    pub log_p: Id,
    /// The level, from 1.
    pub y: Id,
    /// The linear predictor and the thresholds; of categories one number each.
    pub numbers: Vec<Id>,
}

impl Lowering<'_> {
    /// log p of a level, given its linear predictor and a vector of thresholds, or of a category, given a vector.
    pub(super) fn level(
        &mut self,
        distribution: &'static Distribution,
        (outcome, arguments): (&Expr, &[Expr]),
        picks: &Picks,
        span: Span,
    ) -> Result<Level, Fault> {
        if distribution.support == Support::Categories {
            return self.log_category(distribution, (outcome, arguments), picks, span);
        }
        let [z, thresholds] = arguments else {
            return Err(Fault::new(
                span,
                "`ordered_logistic` takes two parameters, a number and a vector of thresholds",
            ));
        };
        self.check_single(outcome, "A number")?;
        self.check_single(z, "A number")?;
        let sizes = self.shape(thresholds)?;
        let &[count] = &sizes[..] else {
            return Err(Fault::new(
                thresholds.span,
                "A vector of thresholds is needed here, such as a parameter `c: ordered(3)` for four levels",
            ));
        };
        if count == 0 || count >= MOST_LEVELS {
            let message =
                format!("Thresholds part 2 to {MOST_LEVELS} levels, but here are {count}");
            return Err(Fault::new(thresholds.span, message));
        }
        let y = self.part(outcome, picks)?;
        let z = self.part(z, picks)?;
        let mut cuts = Vec::new();
        for k in 0..count {
            cuts.push(self.number(thresholds, &Picks::Each(vec![Pick::At(k)]))?);
        }
        self.graph.place = span;
        let log_p = self.log_level(y, z, &cuts);
        for (at, neighbours) in cuts.windows(2).enumerate() {
            let number = self.graph.binary(Binary::Sub, neighbours[0], neighbours[1]);
            self.limited.push(Limited {
                number,
                what: What::Threshold(at),
                distribution,
                span,
            });
        }
        cuts.insert(0, z);
        let log_p = self.within_support(distribution, (y, &cuts), log_p);
        Ok(Level {
            log_p,
            y,
            numbers: cuts,
        })
    }

    /// Refuses vectors and matrices where `what` is needed.
    pub(super) fn check_single(&mut self, one: &Expr, what: &str) -> Result<(), Fault> {
        let sizes = self.shape(one)?;
        if sizes.is_empty() {
            return Ok(());
        }
        let message = format!("{what} is needed here, but this is {}", shape_words(&sizes));
        Err(Fault::new(one.span, message))
    }

    fn log_level(&mut self, y: Id, z: Id, cuts: &[Id]) -> Id {
        let graph = &mut self.graph;
        let last = cuts.len() - 1;
        // By levels from the top down; where a level has no such threshold, another stands in, which counts as 0 times.
        let (mut upper, mut lower) = (cuts[last], cuts[last]);
        let mut between = graph.constant(0.0);
        for k in (0..=last).rev() {
            let above = graph.constant(k as f64 + 2.0);
            let is_at_most = graph.binary(Binary::Less, y, above);
            upper = graph.select(is_at_most, cuts[k], upper);
            lower = graph.select(is_at_most, cuts[k.saturating_sub(1)], lower);
            let width = if k == 0 {
                graph.constant(0.0)
            } else {
                let difference = graph.binary(Binary::Sub, cuts[k - 1], cuts[k]);
                let ratio = graph.call(Function::Exp, difference);
                let minus = graph.negate(ratio);
                graph.call(Function::Log1p, minus)
            };
            between = graph.select(is_at_most, width, between);
        }
        let (one, top) = (graph.constant(1.0), graph.constant(cuts.len() as f64 + 1.0));
        let is_below_top = graph.binary(Binary::Less, y, top);
        let is_above_bottom = graph.binary(Binary::Less, one, y);
        let over = graph.binary(Binary::Sub, z, upper);
        let over = graph.call(Function::Softplus, over);
        let over = graph.binary(Binary::Mul, is_below_top, over);
        let under = graph.binary(Binary::Sub, lower, z);
        let under = graph.call(Function::Softplus, under);
        let under = graph.binary(Binary::Mul, is_above_bottom, under);
        let rest = graph.binary(Binary::Sub, between, over);
        graph.binary(Binary::Sub, rest, under)
    }

    /// Refuses columns, and constants, with values that are no level of as many as `said` says there are.
    pub(super) fn check_levels(
        &mut self,
        y: Id,
        (levels, said): (usize, &str),
        span: Span,
    ) -> Result<(), Fault> {
        let constant = self.graph.as_constant(y).map(|value| vec![value]);
        let columns = self.columns;
        let values = match constant {
            Some(value) => value,
            None if self.section == Section::Rows => {
                match self.evaluated.of(&self.graph, columns, y) {
                    Some(values) => values.to_vec(),
                    None => return Ok(()),
                }
            }
            None => return Ok(()),
        };
        let is_level = |value: &f64| value.fract() == 0.0 && (1.0..=levels as f64).contains(value);
        match values.iter().position(|value| !is_level(value)) {
            None => Ok(()),
            Some(row) => {
                let message = format!(
                    "{said} numbered from 1 to {levels}, but this is {}",
                    values[row]
                );
                let fault = Fault::new(span, message);
                Err(if values.len() > 1 {
                    fault.in_row(row)
                } else {
                    fault
                })
            }
        }
    }
}
