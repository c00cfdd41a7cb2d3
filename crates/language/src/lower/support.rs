//! Values that a distribution never has: their log density is −∞, which the formula of the density does not say.
//!
//! A condition chooses −∞ there, but only where a program can get there: columns and constants are looked at, parameters stay within
//! their bounds. All other densities stay as they are written, for a condition costs time in every row, and priors and linear predictors
//! are recognised by their form.

use super::indeterminate::MOST_LOOKED_AT;
use super::{Bounds, Lowering};
use crate::distributions::{Distribution, Support};
use crate::functions::Function;
use crate::graph::{Id, Node};
use crate::syntax::{Binary, Expr, ExprKind};

/// An end of a distribution's values.
struct End {
    at: Id,
    is_upper: bool,
    /// Whether it is a value itself.
    is_value: bool,
}

/// Numbers between which another one is.
type Range = [f64; 2];
const ANYWHERE: Range = [f64::NEG_INFINITY, f64::INFINITY];

impl Lowering<'_> {
    /// `log_p` where `y` is a value of the distribution, −∞ elsewhere, and `log_p` too where `y` is no number.
    pub(super) fn within_support(
        &mut self,
        distribution: &Distribution,
        (y, numbers): (Id, &[Id]),
        log_p: Id,
    ) -> Id {
        let ends = self.ends(distribution, numbers);
        if ends.is_empty() || self.are_values(distribution.support, y, numbers) {
            return log_p;
        }
        let mut outside = Vec::new();
        for end in ends {
            if !self.may_pass(y, &end) {
                continue;
            }
            let (less, more) = if end.is_upper {
                (end.at, y)
            } else {
                (y, end.at)
            };
            let operation = match end.is_value {
                true => Binary::Less,
                false => Binary::LessEqual,
            };
            let is_beyond = self.graph.binary(operation, less, more);
            if self.holds_somewhere(is_beyond) {
                outside.push(is_beyond);
            }
        }
        // Parameters are no whole numbers, so of what depends on them nobody asks that.
        if distribution.support.is_discrete() && !self.graph.depends(y).parameters {
            let whole = self.graph.call(Function::Floor, y);
            let is_between = self.graph.binary(Binary::Less, whole, y);
            if self.holds_somewhere(is_between) {
                outside.push(is_between);
            }
        }
        // What data alone decide comes last: numbers that are lost where it takes nothing of them do not count.
        let (of_parameters, of_data): (Vec<Id>, Vec<Id>) = outside
            .into_iter()
            .partition(|&id| self.graph.depends(id).parameters);
        let impossible = self.graph.constant(f64::NEG_INFINITY);
        let conditions = [of_parameters, of_data];
        let conditions = conditions
            .iter()
            .filter(|conditions| !conditions.is_empty());
        conditions.fold(log_p, |log_p, conditions| {
            let is_outside = self.graph.sum(conditions);
            self.graph.select(is_outside, impossible, log_p)
        })
    }

    /// Whether columns or constants are values of a distribution for certain, by a look at them alone.
    fn are_values(&mut self, support: Support, y: Id, numbers: &[Id]) -> bool {
        let most = match support {
            Support::Above | Support::Between | Support::Levels => return false,
            Support::Trials => match self.graph.as_constant(numbers[0]) {
                None => return false,
                most => most,
            },
            _ => None,
        };
        if let Some(y) = self.graph.as_constant(y) {
            return support.holds(y, most);
        }
        let columns = self.columns;
        let values = self.evaluated.of(&self.graph, columns, y);
        values.is_some_and(|values| values.iter().all(|&y| support.holds(y, most)))
    }

    /// The ends of the values of a distribution with these parameters.
    fn ends(&mut self, distribution: &Distribution, numbers: &[Id]) -> Vec<End> {
        let is_value = ends_are_values(distribution);
        let graph = &mut self.graph;
        let mut constant = |value: f64| graph.constant(value);
        let (lower, upper, is_value) = match distribution.support {
            // Categories are looked at where they are numbered.
            Support::Real | Support::Simplex | Support::Categories => return Vec::new(),
            Support::Positive => (constant(0.0), None, is_value),
            Support::Unit => (constant(0.0), Some(constant(1.0)), is_value),
            Support::Above => (numbers[0], None, true),
            Support::Between => (numbers[0], Some(numbers[1]), true),
            Support::Binary => (constant(0.0), Some(constant(1.0)), true),
            Support::Counts => (constant(0.0), None, true),
            Support::Trials => (constant(0.0), Some(numbers[0]), true),
            // One more than thresholds, which stand behind the linear predictor.
            Support::Levels => (constant(1.0), Some(constant(numbers.len() as f64)), true),
        };
        let mut ends = vec![End {
            at: lower,
            is_upper: false,
            is_value,
        }];
        ends.push(match upper {
            Some(at) => End {
                at,
                is_upper: true,
                is_value,
            },
            None => End {
                at: constant(f64::INFINITY),
                is_upper: true,
                is_value: false,
            },
        });
        if distribution.support == Support::Above {
            // The parameter is above 0: numbers below that are outside for certain.
            ends.push(End {
                at: constant(0.0),
                is_upper: false,
                is_value: false,
            });
        }
        ends
    }

    /// Whether bounds of parameters leave room beyond an end for `y`.
    fn may_pass(&mut self, y: Id, end: &End) -> bool {
        let Some(at) = self.graph.as_constant(end.at) else {
            return true;
        };
        if !self.graph.depends(y).parameters {
            return true;
        }
        let [lower, upper] = self.range_of(y);
        // No parameter is at its bound exactly.
        match end.is_upper {
            true => upper > at,
            false => lower < at,
        }
    }

    /// Whether a condition may hold anywhere; one that parameters have a part in may.
    fn holds_somewhere(&mut self, condition: Id) -> bool {
        if let Some(is) = self.graph.as_constant(condition) {
            return is != 0.0;
        }
        let columns = self.columns;
        let values = self.evaluated.of(&self.graph, columns, condition);
        values.is_none_or(|values| values.iter().any(|&is| is != 0.0))
    }

    /// Numbers between which a number is, as far as a look at its parts says.
    pub(super) fn range_of(&mut self, id: Id) -> [f64; 2] {
        let mut left = MOST_LOOKED_AT;
        self.range(id, &mut left)
    }

    fn range(&mut self, id: Id, left: &mut usize) -> Range {
        if *left == 0 {
            return ANYWHERE;
        }
        *left -= 1;
        if let Some(value) = self.graph.as_constant(id) {
            return [value; 2];
        }
        if self.graph.is_data(id) {
            let columns = self.columns;
            let values = self.evaluated.of(&self.graph, columns, id);
            return values.map_or(ANYWHERE, |values| {
                let both = |[a, b]: Range, &x: &f64| [a.min(x), b.max(x)];
                values.iter().fold([f64::INFINITY, f64::NEG_INFINITY], both)
            });
        }
        let found = match *self.graph.node(id) {
            Node::Parameter(offset) | Node::Gather { offset, .. } | Node::Element { offset } => {
                let at = self.parameters.partition_point(|it| it.offset <= offset);
                match self.parameters[..at].last().map(|it| it.bounds) {
                    Some(Bounds::Above(lower)) => [lower, f64::INFINITY],
                    Some(Bounds::Below(upper)) => [f64::NEG_INFINITY, upper],
                    Some(Bounds::Between(lower, upper)) => [lower, upper],
                    Some(Bounds::Simplex) => [0.0, 1.0],
                    Some(Bounds::Real | Bounds::Ordered) | None => ANYWHERE,
                }
            }
            Node::Call(function, _) => match function {
                Function::Exp
                | Function::Softplus
                | Function::Square
                | Function::Sqrt
                | Function::Abs => [0.0, f64::INFINITY],
                Function::Logistic => [0.0, 1.0],
                _ => ANYWHERE,
            },
            Node::Binary(operation, a, b) => {
                let (a, b) = (self.range(a, left), self.range(b, left));
                let is_positive = a[0] >= 0.0 && b[0] >= 0.0;
                match operation {
                    Binary::Add => [a[0] + b[0], a[1] + b[1]],
                    Binary::Sub => [a[0] - b[1], a[1] - b[0]],
                    Binary::Mul if is_positive => [a[0] * b[0], a[1] * b[1]],
                    Binary::Div if is_positive => [0.0, f64::INFINITY],
                    Binary::Pow if a[0] >= 0.0 => [0.0, f64::INFINITY],
                    _ => ANYWHERE,
                }
            }
            Node::Select(_, a, b) => {
                let (a, b) = (self.range(a, left), self.range(b, left));
                [a[0].min(b[0]), a[1].max(b[1])]
            }
            Node::Constant(_) | Node::Column(_) | Node::LevelIs { .. } => ANYWHERE,
        };
        // 0 × ∞ and the like.
        match found.iter().any(|it| it.is_nan()) {
            true => ANYWHERE,
            false => found,
        }
    }
}

/// Whether the ends of a distribution's values are values themselves.
pub(super) fn ends_are_values(distribution: &Distribution) -> bool {
    !distribution.tree().is_some_and(has_poles)
}

/// Whether a density takes the logarithm or the inverse of its value, so that the ends of the values are none themselves.
fn has_poles(density: &Expr) -> bool {
    let is_value = |e: &Expr| matches!(&e.kind, ExprKind::Name(name) if name == "y");
    let mut found = false;
    density.walk(&mut |e| {
        found |= match &e.kind {
            ExprKind::Call(name, arguments) => name.text == "log" && arguments.iter().any(is_value),
            ExprKind::Binary(Binary::Div, _, b) => is_value(b),
            _ => false,
        };
    });
    found
}
