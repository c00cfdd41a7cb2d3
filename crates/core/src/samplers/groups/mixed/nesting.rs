//! Moves between nested groups: what all classes of a school share can be said by the school.
//!
//! Where every group h of one term lies in one group g of another and both have the same column, r_g + c and r_h − c
//! for all h in g leave every predictor as it is. So c | effects does not depend on the rows: it is normal, and drawing
//! it costs no pass. Without it a school follows its classes in steps as small as the rows of the school allow.

use rand_distr::{Distribution as _, StandardNormal};

use super::Spread;
use crate::models::mixed::{GroupTerm, MixedEffects};
use ergodic_base::ChainRng;

/// One effect of two nested terms.
pub struct Nested {
    parent: usize,
    child: usize,
    parent_effect: usize,
    child_effect: usize,
    /// The group around each group of the child.
    around: Vec<u32>,
    /// Precision and linear part of c per group of the parent.
    precision: Vec<f64>,
    linear: Vec<f64>,
}

/// The group of `parent` around each group of `child`, if there is one for each.
fn around(parent: &GroupTerm, child: &GroupTerm) -> Option<Vec<u32>> {
    if child.levels.len() <= parent.levels.len() {
        return None;
    }
    let mut around = vec![u32::MAX; child.levels.len()];
    for (&outer, &inner) in parent.index.iter().zip(&child.index) {
        let known = &mut around[inner as usize];
        if *known == u32::MAX {
            *known = outer;
        }
        if *known != outer {
            return None;
        }
    }
    // A level without rows is nowhere.
    (!around.contains(&u32::MAX)).then_some(around)
}

/// All nested terms of `view`.
pub fn find(view: &dyn MixedEffects) -> Vec<Nested> {
    let terms = view.terms();
    let mut found = Vec::new();
    for (s, parent) in terms.iter().enumerate() {
        for (t, child) in terms.iter().enumerate() {
            let Some(around) = around(parent, child) else {
                continue;
            };
            let (q, p) = (parent.width(), child.width());
            let column = |term: &GroupTerm, j: usize, width: usize| {
                let from = term.z.iter().skip(j).step_by(width);
                from.copied().collect::<Vec<f64>>()
            };
            for a in 0..q {
                let outer = column(parent, a, q);
                for b in 0..p {
                    if column(child, b, p) == outer {
                        found.push(Nested {
                            parent: s,
                            child: t,
                            parent_effect: a,
                            child_effect: b,
                            around: around.clone(),
                            precision: vec![0.0; parent.levels.len()],
                            linear: vec![0.0; parent.levels.len()],
                        });
                    }
                }
            }
        }
    }
    found
}

impl Nested {
    /// Whether both terms are among `block`.
    pub fn is_within(&self, block: &[usize]) -> bool {
        block.contains(&self.parent) && block.contains(&self.child)
    }

    /// Draws c for every group of the parent.
    pub fn draw(
        &mut self,
        terms: &[GroupTerm],
        spreads: &[Spread],
        effects: &mut [f64],
        rng: &mut ChainRng,
    ) {
        let (a, b) = (self.parent_effect, self.child_effect);
        let (outer, inner) = (
            &spreads[self.parent].precision,
            &spreads[self.child].precision,
        );
        let place = |t: usize, group: usize| {
            let q = terms[t].width();
            terms[t].start + group * q..terms[t].start + (group + 1) * q
        };
        let pull = |row: &[f64], r: &[f64]| row.iter().zip(r).map(|(p, r)| p * r).sum::<f64>();
        for g in 0..self.precision.len() {
            self.precision[g] = outer[a][a];
            self.linear[g] = -pull(&outer[a], &effects[place(self.parent, g)]);
        }
        for (h, &g) in self.around.iter().enumerate() {
            self.precision[g as usize] += inner[b][b];
            self.linear[g as usize] += pull(&inner[b], &effects[place(self.child, h)]);
        }
        for (precision, c) in self.precision.iter().zip(&mut self.linear) {
            let normal: f64 = StandardNormal.sample(rng);
            *c = *c / precision + normal / precision.sqrt();
        }
        for (g, c) in self.linear.iter().enumerate() {
            effects[place(self.parent, g).start + a] += c;
        }
        for (h, &g) in self.around.iter().enumerate() {
            effects[place(self.child, h).start + b] -= self.linear[g as usize];
        }
    }
}
