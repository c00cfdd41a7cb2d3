//! Differences of the gamma function's logarithm, which lose their digits where both are large.

use super::Lowering;
use crate::functions::Function;
use crate::graph::Id;
use crate::syntax::Binary;

/// From here on the difference is taken by Stirling's series, of which the first term, 1/(12x), is then all that a number holds: the next
/// is below 3e-18. Below, the logarithms are at most 1.1e6 and rounded by 1e-10.
const LARGE: f64 = 1e5;

impl Lowering<'_> {
    /// log Γ(x + a) − log Γ(x), for large x
    ///
    /// ```text
    /// (x − 1/2) log(1 + a/x) + a log(x + a) − a + 1/(12 (x + a)) − 1/(12 x).
    /// ```
    ///
    /// Densities say it as `lgamma_rise(x, a)`.
    pub(super) fn lgamma_rise(&mut self, x: Id, a: Id) -> Id {
        let graph = &mut self.graph;
        let sum = graph.binary(Binary::Add, a, x);
        let (above, below) = (
            graph.call(Function::Lgamma, sum),
            graph.call(Function::Lgamma, x),
        );
        let plain = graph.binary(Binary::Sub, above, below);
        let large = graph.constant(LARGE);
        let is_usual = graph.binary(Binary::Less, x, large);
        if graph.as_constant(is_usual) == Some(1.0) {
            return plain;
        }
        // What is not chosen stays finite, for its derivative is multiplied by 0.
        let x = graph.select(is_usual, large, x);
        let sum = graph.binary(Binary::Add, a, x);
        let (half, twelfth) = (graph.constant(0.5), graph.constant(1.0 / 12.0));
        let ratio = graph.binary(Binary::Div, a, x);
        let log_ratio = graph.call(Function::Log1p, ratio);
        let power = graph.binary(Binary::Sub, x, half);
        let first = graph.binary(Binary::Mul, power, log_ratio);
        let log_sum = graph.call(Function::Log, sum);
        let second = graph.binary(Binary::Mul, a, log_sum);
        let tails = [sum, x].map(|it| graph.binary(Binary::Div, twelfth, it));
        let tail = graph.binary(Binary::Sub, tails[0], tails[1]);
        let all = graph.binary(Binary::Add, first, second);
        let all = graph.binary(Binary::Sub, all, a);
        let stirling = graph.binary(Binary::Add, all, tail);
        self.graph.select(is_usual, plain, stirling)
    }
}
