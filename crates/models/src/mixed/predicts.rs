//! Draws of a mixed model on the scale of the data.

use super::MixedModel;
use super::terms::GroupTerm;
use crate::LogDensity as _;
use crate::families::rows::RowFamily;
use crate::predicts::{Law, Point, PointTerm, Predicts};

impl<F: RowFamily> Predicts for MixedModel<F> {
    fn point(&self, theta: &[f64]) -> Option<Point> {
        if theta.len() != self.params.len() {
            return None;
        }
        let mut u = vec![0.0; self.dim()];
        self.read_scales(theta, &mut u);
        let outcome = self
            .rows
            .family()
            .outcome(&self.rows.shared(self.of_rows(&u)));
        let reported = &theta[self.shares().end..];
        let terms = self.terms.iter().zip(&self.design.group_terms);
        Some(Point {
            coefficients: self.head.coefficients.raw(&u),
            law: Law::One(outcome.scaled(self.response.scale)),
            terms: terms
                .map(|(term, columns)| {
                    // Units of the data per internal unit of each effect.
                    let units: Vec<f64> = columns
                        .scale
                        .iter()
                        .map(|scale| self.response.scale / scale)
                        .collect();
                    point_term(term, &units, reported, &u)
                })
                .collect(),
            layer: None,
        })
    }
}

fn point_term(term: &GroupTerm, units: &[f64], reported: &[f64], u: &[f64]) -> PointTerm {
    let q = term.width();
    let mut effects = reported[term.start..][..term.effects.len()].to_vec();
    for group in effects.chunks_exact_mut(q) {
        for ((r, unit), told) in group.iter_mut().zip(units).zip(&term.units) {
            *r *= unit / told;
        }
    }
    let mut factor = term.covariance_factor(u);
    for (row, unit) in factor.chunks_exact_mut(q).zip(units) {
        row.iter_mut().for_each(|entry| *entry *= unit);
    }
    PointTerm { effects, factor }
}
