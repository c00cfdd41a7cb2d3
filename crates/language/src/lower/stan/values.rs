//! Values of distributions: elsewhere log densities are −∞ here, where Stan refuses them or computes something else.

use super::code::{At, fixed};
use super::{MOST_WRITTEN_OUT, Writer};
use crate::distributions::{self, Distribution, Support};
use crate::graph::Node;
use crate::lower::support::ends_are_values;
use crate::lower::{Pick, Picks};
use crate::place::Fault;
use crate::syntax::{Expr, ExprKind, Law, Name};

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
fn condition(distribution: &Distribution, y: &str, arguments: &[String], levels: usize) -> String {
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
    /// The complete log density at an outcome, whose code is `y`: −∞ where that is no value of the distribution, if it may be none.
    pub(super) fn possible_density(
        &mut self,
        law: &Law,
        (outcome, y): (&Expr, &str),
        at: &[At],
    ) -> Result<String, Fault> {
        let density = self.log_density(law, y, at)?;
        if !self.may_be_impossible(law, outcome, at) {
            return Ok(density);
        }
        let Some(distribution) = distributions::find(&law.name.text) else {
            return Ok(density);
        };
        // Thresholds stand last.
        let levels = match law.arguments.last() {
            Some(last) => self.low.shape(last)?.first().map_or(0, |count| count + 1),
            None => 0,
        };
        let (_, arguments) = self.law_parts(law, at)?;
        let is_value = condition(distribution, y, &arguments, levels);
        Ok(match is_value.is_empty() {
            true => density,
            false => format!("({is_value} ? {density} : negative_infinity())"),
        })
    }

    /// Whether the log density at an outcome chooses −∞ at a position, as it does where the outcome may be no value of the distribution.
    pub(super) fn may_be_impossible(&mut self, law: &Law, outcome: &Expr, at: &[At]) -> bool {
        let mut arguments = vec![outcome.clone()];
        arguments.extend(law.arguments.iter().cloned());
        let name = Name {
            text: format!("{}_lpdf", law.name.text),
            span: law.name.span,
        };
        let density = Expr {
            kind: ExprKind::Call(name, arguments),
            span: law.span,
        };
        if let Some(picks) = picks(at) {
            return self.is_choice(&density, &picks);
        }
        // Of positions that only Stan knows, any may be; too many are not looked at.
        let sizes = self.low.shape(&density).unwrap_or_default();
        let count: usize = sizes.iter().product();
        count > MOST_WRITTEN_OUT
            || (0..count).any(|k| {
                picks(&fixed(k, &sizes)).is_some_and(|picks| self.is_choice(&density, &picks))
            })
    }

    fn is_choice(&mut self, density: &Expr, picks: &Picks) -> bool {
        let Ok(id) = self.low.part(density, picks) else {
            return false;
        };
        let graph = &self.low.graph;
        matches!(*graph.node(id), Node::Select(_, a, _) if graph.as_constant(a) == Some(f64::NEG_INFINITY))
    }
}
