//! Draws of a hierarchical model on the scale of the data.

use super::{HierarchicalModel, options};
use crate::families::Family;
use crate::families::rows::RowFamily;
use crate::predicts::{Law, Point, PointTerm, Predicts};
use ergodic_base::linalg::Cholesky;

impl<F: RowFamily> Predicts for HierarchicalModel<F> {
    fn point(&self, theta: &[f64]) -> Option<Point> {
        if theta.len() != self.params.len() {
            return None;
        }
        let p = self.layout.terms;
        let raw = |values: &[f64]| -> Vec<f64> {
            let mut raw = values.to_vec();
            // Reports are on the standardised scale where there is no map to them.
            if self.scaling.is_none() {
                self.design.scaling().to_raw(values, &mut raw);
            }
            raw
        };
        let mean = raw(&theta[..p]);
        let mut sigma = vec![0.0; p * p];
        for (value, (i, j)) in theta[p..].iter().zip(options::upper_triangle(p)) {
            sigma[i * p + j] = *value;
            sigma[j * p + i] = *value;
        }
        options::map_both_sides(&mut sigma, p, raw);
        // The group term names the same columns as the fixed part, in an order of its own.
        let terms = &self.design.terms;
        let order: Vec<usize> = self.design.group_terms[0]
            .names
            .iter()
            .map(|name| terms.iter().position(|term| term == name))
            .collect::<Option<_>>()?;
        let mut ordered = Vec::with_capacity(p * p);
        for &i in &order {
            ordered.extend(order.iter().map(|&j| sigma[i * p + j]));
        }
        let factor = Cholesky::of(&ordered, p).ok()?.lower().to_vec();
        let groups = theta[p + self.layout.factor_len()..].chunks_exact(p);
        let effects = groups.flat_map(|group| {
            let group = raw(group);
            let deviation = |&j: &usize| group[j] - mean[j];
            order.iter().map(deviation).collect::<Vec<f64>>()
        });
        Some(Point {
            law: Law::One(Family::Bernoulli.outcome()),
            terms: vec![PointTerm {
                effects: effects.collect(),
                factor,
            }],
            coefficients: mean,
            layer: None,
        })
    }
}
