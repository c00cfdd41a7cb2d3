//! Values of distributions: elsewhere log densities as functions are −∞ here, where Stan refuses them or computes something else.

use super::Writer;
use super::code::At;
use crate::distributions::{Distribution, Support};
use crate::graph::Node;
use crate::lower::support::ends_are_values;
use crate::lower::{Pick, Picks};
use crate::syntax::Expr;

/// A position as one of the program, unless it is known only to Stan.
pub(super) fn picks(at: &[At]) -> Option<Picks> {
    let each = at.iter().map(|at| match at {
        At::Fixed(at) => Some(Pick::At(at - 1)),
        At::Code(_) => None,
    });
    each.collect::<Option<_>>().map(Picks::Each)
}

/// The type of whole numbers of these values, of which the data are between `lowest` and `highest`: other numbers Stan would refuse to read.
pub(super) fn whole_type(support: Support, [lowest, highest]: [f64; 2]) -> &'static str {
    match support {
        Support::Binary if lowest >= 0.0 && highest <= 1.0 => "int<lower=0, upper=1>",
        Support::Levels | Support::Categories if lowest >= 1.0 => "int<lower=1>",
        _ if lowest >= 0.0 => "int<lower=0>",
        _ => "int",
    }
}

/// The condition in Stan that `y` is a value of a distribution with these arguments, and of `levels` levels; empty where every number is.
pub(super) fn condition(
    distribution: &Distribution,
    y: &str,
    arguments: &[String],
    levels: usize,
) -> String {
    let sign = match ends_are_values(distribution) {
        true => "<=",
        false => "<",
    };
    let between = |lower: &str, upper: &str| format!("{lower} {sign} {y} && {y} {sign} {upper}");
    match (distribution.support, arguments) {
        (Support::Real | Support::Simplex | Support::Categories, _) => String::new(),
        (Support::Positive | Support::Counts, _) => format!("0 {sign} {y}"),
        (Support::Unit | Support::Binary, _) => between("0", "1"),
        (Support::Levels, _) => between("1", &levels.to_string()),
        (Support::Above, [lower, ..]) => format!("{lower} <= {y}"),
        (Support::Between, [lower, upper, ..]) => between(lower, upper),
        (Support::Trials, [trials, ..]) => between("0", trials),
        (Support::Above | Support::Between | Support::Trials, _) => String::new(),
    }
}

impl Writer<'_, '_> {
    /// Whether a log density chooses −∞ at a position, as it does where what it is of may be no value of the distribution.
    pub(super) fn may_be_impossible(&mut self, density: &Expr, at: &[At]) -> bool {
        let Some(picks) = picks(at) else {
            return true;
        };
        let Ok(id) = self.low.part(density, &picks) else {
            return false;
        };
        let graph = &self.low.graph;
        matches!(*graph.node(id), Node::Select(_, a, _) if graph.as_constant(a) == Some(f64::NEG_INFINITY))
    }
}
