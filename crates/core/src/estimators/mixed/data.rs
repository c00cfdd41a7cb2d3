//! What a mixed model is fitted to: fixed-effect columns, response, group terms.

use ndarray::{ArrayView1, s};

use super::{Method, Misfit, MixedError};
use crate::design::censoring::Censoring;
use crate::design::{Design, Scaling};
use crate::families::{Family, Outcome, ordered};
use crate::formula::Factor;
use ergodic_base::INTERCEPT;

/// Effects that vary by the groups of one factor: `(1 + x | g)`; or what bends a smooth curve `s(x)`, the coefficients of its q
/// columns, as effects of one group that has all rows.
#[derive(Clone, Debug)]
pub struct RandomTerm {
    /// Name of the grouping factor.
    pub group: String,
    /// Names of its groups.
    pub levels: Vec<String>,
    /// Group of each row, a position in `levels` (n).
    pub index: Vec<u32>,
    /// n × q columns, row-major, each divided by its scale; 1 for a varying intercept.
    pub z: Vec<f64>,
    /// Names of the q columns: `Intercept`, `age`.
    pub names: Vec<String>,
    /// What each column was divided by (q).
    pub scale: Vec<f64>,
    /// Whether effects of one group are correlated (`|`) or independent (`||`).
    pub correlated: bool,
    /// What a curve goes along, where this is what bends it: its effects are independent with one standard deviation.
    pub along: Option<String>,
}

impl RandomTerm {
    /// Whether the term is what bends a smooth curve.
    pub fn is_curve(&self) -> bool {
        self.along.is_some()
    }

    /// q, the number of effects of one group.
    pub fn width(&self) -> usize {
        self.names.len()
    }

    /// Number of effects of all groups.
    pub fn num_effects(&self) -> usize {
        self.width() * self.levels.len()
    }

    /// The columns of a row (q).
    #[inline]
    pub fn row(&self, row: usize) -> &[f64] {
        let width = self.names.len();
        &self.z[row * width..(row + 1) * width]
    }
}

/// Data of a mixed model: n rows, p fixed-effect columns.
#[derive(Clone, Debug)]
pub struct MixedData {
    /// n × p, row-major, centred and scaled as `scaling` says.
    pub x: Vec<f64>,
    /// Names of the p columns.
    pub columns: Vec<String>,
    /// The way back to the columns as they are.
    pub scaling: Scaling,
    /// n responses.
    pub y: Vec<f64>,
    /// Name of the response.
    pub response: String,
    /// n weights: how often each row counts, whatever the response. (lme4 takes those of a Gaussian response as precisions.)
    pub weights: Option<Vec<f64>>,
    /// n known parts of the linear predictor.
    pub offset: Option<Vec<f64>>,
    /// What is known of each row besides its response (n): numbers of trials, standard errors, or
    /// how far it was seen.
    pub known: Option<Vec<f64>>,
    /// Levels of a response with an order, lowest first; of others none.
    pub levels: Vec<String>,
    /// Group terms, then what bends smooth curves; without any the model is a plain regression.
    pub terms: Vec<RandomTerm>,
}

impl MixedData {
    /// n.
    pub fn num_obs(&self) -> usize {
        self.y.len()
    }

    /// How often a row counts.
    #[inline]
    pub fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[row])
    }

    /// What is known of a row besides its response; 1 where there is nothing.
    #[inline]
    pub fn known(&self, row: usize) -> f64 {
        self.known.as_ref().map_or(1.0, |known| known[row])
    }

    /// n, each row counted as often as its weight says.
    pub(crate) fn total_weight(&self) -> f64 {
        (0..self.num_obs()).map(|row| self.weight(row)).sum()
    }

    /// p.
    pub fn num_columns(&self) -> usize {
        self.columns.len()
    }

    /// Group terms.
    pub fn groups(&self) -> impl Iterator<Item = &RandomTerm> {
        self.terms.iter().filter(|term| !term.is_curve())
    }

    /// Number of random effects of all terms and groups.
    pub fn num_effects(&self) -> usize {
        self.terms.iter().map(RandomTerm::num_effects).sum()
    }

    /// The fixed-effect columns of a row (p).
    #[inline]
    pub fn row(&self, row: usize) -> &[f64] {
        let p = self.columns.len();
        &self.x[row * p..(row + 1) * p]
    }

    /// Refuses what no method can fit.
    ///
    /// # Errors
    /// A factor with one group; a slope that does not vary within any group while the intercept of the
    /// same groups varies too; a slope of zeros.
    pub fn check(&self) -> Result<(), MixedError> {
        for term in self.groups() {
            let group = &term.group;
            if term.levels.len() < 2 {
                return Err(Misfit::OneGroup {
                    group: group.clone(),
                    effects: term.names.join(" + "),
                }
                .into());
            }
            let intercept = term.names.iter().position(|name| name == INTERCEPT);
            for (j, name) in term.names.iter().enumerate() {
                if Some(j) == intercept {
                    continue;
                }
                let column = || term.z.iter().skip(j).step_by(term.width());
                if column().all(|value| *value == 0.0) {
                    return Err(Misfit::ZeroSlope {
                        column: name.clone(),
                        group: group.clone(),
                    }
                    .into());
                }
                if intercept.is_some() && !varies_within(term, j) {
                    return Err(Misfit::ConstantSlope {
                        column: name.clone(),
                        group: group.clone(),
                    }
                    .into());
                }
            }
        }
        Ok(())
    }

    /// Refuses plain regressions and smooth curves, for a method that is about effects of groups.
    ///
    /// # Errors
    /// There is no group term, or a curve.
    pub(super) fn check_groups(&self, method: Method) -> Result<(), MixedError> {
        if let Some(curve) = self.terms.iter().find(|term| term.is_curve()) {
            return Err(Misfit::Curve {
                method,
                curve: curve.group.clone(),
            }
            .into());
        }
        if self.terms.is_empty() {
            return Err(Misfit::NoGroups(method).into());
        }
        Ok(())
    }

    /// The response of `family` where a search begins: ordered levels as often as in the rows.
    ///
    /// # Errors
    /// A level has no row, or there is no intercept for the first cut point.
    pub(super) fn outcome(&self, family: Family) -> Result<Outcome, MixedError> {
        if family != Family::Ordered {
            return Ok(family.outcome());
        }
        if !self.scaling.has_intercept || self.levels.len() < 3 {
            return Err(Misfit::Levels.into());
        }
        let mut rows = vec![0.0; self.levels.len()];
        for (row, y) in self.y.iter().enumerate() {
            rows[*y as usize - 1] += self.weight(row);
        }
        if let Some(level) = rows.iter().position(|count| *count == 0.0) {
            return Err(Misfit::EmptyLevel {
                level: self.levels[level].clone(),
                response: self.response.clone(),
            }
            .into());
        }
        Ok(Outcome::Ordered(ordered::Outcome::with_shares(&rows)))
    }

    /// Refuses group terms that a Gaussian response cannot tell from its residuals.
    ///
    /// # Errors
    /// A term has as many effects as there are rows, or more; the response is constant within all groups of a term.
    pub(super) fn check_gaussian(&self) -> Result<(), MixedError> {
        let n = self.num_obs();
        for term in self.groups() {
            if term.num_effects() >= n {
                return Err(Misfit::ManyEffects {
                    effects: term.names.join(" + "),
                    group: term.group.clone(),
                    count: term.num_effects(),
                    rows: n,
                }
                .into());
            }
        }
        for term in self.groups() {
            let offset = |row: usize| self.offset.as_ref().map_or(0.0, |o| o[row]);
            if constant_within(term, |row| self.y[row] - offset(row)) {
                return Err(Misfit::NoResidual {
                    response: self.response.clone(),
                    group: term.group.clone(),
                }
                .into());
            }
        }
        Ok(())
    }
}

fn varies_within(term: &RandomTerm, column: usize) -> bool {
    !constant_within(term, |row| term.row(row)[column])
}

fn constant_within(term: &RandomTerm, value: impl Fn(usize) -> f64) -> bool {
    let mut first = vec![f64::NAN; term.levels.len()];
    term.index.iter().enumerate().all(|(row, &level)| {
        let first = &mut first[level as usize];
        if first.is_nan() {
            *first = value(row);
        }
        *first == value(row)
    })
}

impl From<Design> for MixedData {
    fn from(design: Design) -> Self {
        let mut scaling = design.scaling();
        let curves = curves_of(&design);
        let bends: usize = curves.iter().map(RandomTerm::width).sum();
        let p = design.num_columns() - bends;
        scaling.center.truncate(p);
        scaling.scale.truncate(p);
        let statuses = |it: Vec<Censoring>| it.into_iter().map(Censoring::known).collect();
        let groups = design.groups;
        Self {
            x: design.x.slice(s![.., ..p]).iter().copied().collect(),
            columns: design.terms[..p].iter().map(String::from).collect(),
            scaling,
            y: design.y,
            levels: design.response.levels().to_vec(),
            response: design.response.name,
            weights: design.weights,
            offset: design.offset,
            known: (design.trials)
                .or(design.se)
                .or(design.censoring.map(statuses)),
            terms: design
                .group_terms
                .into_iter()
                .map(|term| RandomTerm {
                    group: groups[term.factor].name.clone(),
                    levels: groups[term.factor].levels.clone(),
                    index: groups[term.factor].index.clone(),
                    z: term.z.into_raw_vec_and_offset().0,
                    names: term.names,
                    scale: term.scale,
                    correlated: term.correlated,
                    along: None,
                })
                .chain(curves)
                .collect(),
        }
    }
}

/// What bends the curves of a design, whose columns are the last ones, in their own units.
fn curves_of(design: &Design) -> Vec<RandomTerm> {
    let mut curves: Vec<(RandomTerm, Vec<usize>)> = Vec::new();
    for (j, term) in design.terms.iter().enumerate() {
        let Some((factor, number)) = term.bend() else {
            continue;
        };
        if number == 1 {
            let along = match factor {
                Factor::Call(_, of) => of.label(),
                plain => plain.label(),
            };
            let curve = RandomTerm {
                group: factor.label(),
                levels: vec![String::new()],
                index: vec![0; design.num_obs()],
                z: Vec::new(),
                names: Vec::new(),
                scale: Vec::new(),
                correlated: false,
                along: Some(along),
            };
            curves.push((curve, Vec::new()));
        }
        if let Some((curve, columns)) = curves.last_mut() {
            curve.names.push(number.to_string());
            curve.scale.push(1.0);
            columns.push(j);
        }
    }
    let filled = curves.into_iter().map(|(mut curve, columns)| {
        let rows = design.x.rows().into_iter();
        let of_row = |row: ArrayView1<'_, f64>| -> Vec<f64> {
            let in_units = |&j: &usize| row[j] * design.raw_scale[j];
            columns.iter().map(in_units).collect()
        };
        curve.z = rows.flat_map(of_row).collect();
        curve
    });
    filled.collect()
}
