//! Indeterminate forms: a factor of exactly 0 times its logarithm, and differences of infinities.
//!
//! 0 · log 0 counts as 0, and log(e^−∞ + e^b) is b, where arithmetic has NaN for both. Such numbers are chosen by a condition, but only
//! where a program can get there: parameters are never exactly 0 or 1, and columns are looked at. All others stay as they are written, for
//! a condition costs time in every row, and priors and linear predictors are recognised by their form.

use super::Lowering;
use crate::functions::Function;
use crate::graph::{Id, Node};
use crate::syntax::Binary;

/// Numbers looked at before one is taken to be always finite: sums over thousands of columns are, and looking at all would take long.
pub(super) const MOST_LOOKED_AT: usize = 1000;

impl Lowering<'_> {
    /// a b, which is 0 where `a` is, also where `b` is infinite.
    pub(super) fn times(&mut self, a: Id, b: Id) -> Id {
        let product = self.graph.binary(Binary::Mul, a, b);
        let mut left = MOST_LOOKED_AT;
        if self.can_be(a, 0.0, &mut left) && self.can_be_infinite(b) {
            let zero = self.graph.constant(0.0);
            return self.graph.select(a, product, zero);
        }
        product
    }

    /// ln Σ e^x over `first` and `rest`.
    pub(super) fn log_sum_exp(&mut self, first: Id, rest: &[Id]) -> Id {
        let (mut sum, mut is_limit) = (first, self.can_be_infinite(first));
        for &item in rest {
            let of_item = self.can_be_infinite(item);
            sum = self.log_sum_exp_of_two([sum, item], [is_limit, of_item]);
            is_limit &= of_item;
        }
        sum
    }

    /// ln(e^a + e^b), and which of both can be infinite.
    fn log_sum_exp_of_two(&mut self, [a, b]: [Id; 2], can_be_infinite: [bool; 2]) -> Id {
        let is_lowest = |it: &Self, id: Id| it.graph.as_constant(id) == Some(f64::NEG_INFINITY);
        if is_lowest(self, a) {
            return b;
        }
        if is_lowest(self, b) {
            return a;
        }
        let difference = self.graph.binary(Binary::Sub, b, a);
        let more = self.graph.call(Function::Softplus, difference);
        let mut sum = self.graph.binary(Binary::Add, a, more);
        for (one, other, can_be_infinite) in
            [(b, a, can_be_infinite[1]), (a, b, can_be_infinite[0])]
        {
            if can_be_infinite {
                let lowest = self.graph.constant(f64::NEG_INFINITY);
                let is = self.graph.binary(Binary::Equal, one, lowest);
                sum = self.graph.select(is, other, sum);
            }
        }
        sum
    }

    /// Whether a number can be infinite, as far as a look at its parts says.
    fn can_be_infinite(&mut self, id: Id) -> bool {
        let mut left = MOST_LOOKED_AT;
        self.is_infinite_somewhere(id, &mut left)
    }

    fn is_infinite_somewhere(&mut self, id: Id, left: &mut usize) -> bool {
        if let Some(is) = self.is_known(id, left, f64::is_infinite) {
            return is;
        }
        match *self.graph.node(id) {
            Node::Call(function, a) => {
                let is_pole = match function {
                    Function::Log => self.can_be(a, 0.0, left),
                    Function::Log1p => self.can_be(a, -1.0, left),
                    Function::Log1mExp => self.can_be(a, 0.0, left),
                    Function::Softplus | Function::Square | Function::Sqrt | Function::Abs => false,
                    _ => return false,
                };
                is_pole || self.is_infinite_somewhere(a, left)
            }
            Node::Binary(Binary::Add | Binary::Sub | Binary::Mul, a, b) | Node::Select(_, a, b) => {
                self.is_infinite_somewhere(b, left) || self.is_infinite_somewhere(a, left)
            }
            Node::Binary(Binary::Div, a, b) => {
                self.can_be(b, 0.0, left) || self.is_infinite_somewhere(a, left)
            }
            _ => false,
        }
    }

    /// Whether a number can be `value` exactly, which no parameter is.
    fn can_be(&mut self, id: Id, value: f64, left: &mut usize) -> bool {
        if let Some(is) = self.is_known(id, left, |it| it == value) {
            return is;
        }
        let is_zero = value == 0.0;
        match *self.graph.node(id) {
            Node::Select(_, a, b) => self.can_be(b, value, left) || self.can_be(a, value, left),
            Node::Binary(operation, a, b) => {
                let known = [a, b].map(|it| self.graph.as_constant(it));
                match (operation, known) {
                    (Binary::Less | Binary::LessEqual | Binary::Equal, _) => {
                        is_zero || value == 1.0
                    }
                    (Binary::Mul, [Some(factor), _]) if factor != 0.0 => {
                        self.can_be(b, value / factor, left)
                    }
                    (Binary::Mul, _) => {
                        is_zero && (self.can_be(b, 0.0, left) || self.can_be(a, 0.0, left))
                    }
                    (Binary::Div | Binary::Pow, _) => is_zero && self.can_be(a, 0.0, left),
                    (Binary::Add, [Some(known), _]) => self.can_be(b, value - known, left),
                    (Binary::Add, [_, Some(known)]) => self.can_be(a, value - known, left),
                    (Binary::Sub, [Some(known), _]) => self.can_be(b, known - value, left),
                    (Binary::Sub, [_, Some(known)]) => self.can_be(a, value + known, left),
                    (Binary::Add | Binary::Sub, _) => {
                        is_zero && self.can_be(b, 0.0, left) && self.can_be(a, 0.0, left)
                    }
                }
            }
            Node::Call(Function::Square | Function::Sqrt | Function::Abs, a) => {
                is_zero && self.can_be(a, 0.0, left)
            }
            _ => false,
        }
    }

    /// What constants and columns say of a number; `Some(false)` too once as many were looked at as may be.
    fn is_known(&mut self, id: Id, left: &mut usize, is: impl Fn(f64) -> bool) -> Option<bool> {
        if *left == 0 {
            return Some(false);
        }
        *left -= 1;
        if let Some(value) = self.graph.as_constant(id) {
            return Some(is(value));
        }
        if !self.graph.is_data(id) {
            return None;
        }
        let columns = self.columns;
        let values = self.evaluated.of(&self.graph, columns, id)?;
        Some(values.iter().any(|&value| is(value)))
    }
}
