//! Averages over the rows of the data of expected outcomes and of their slopes, one number per draw.
//!
//! For draw s, row i and a change c of the data the linear predictor is η_sic; what is wanted is Σ_i w_i g(η_sic) / Σ_i w_i with g
//! the expected outcome, or Σ_i w_i g'(η_si) δ_si / Σ_i w_i with δ the slope of η in a column. Rows are coded in tiles and draws are
//! taken in blocks, so memory grows with rows plus draws times what is asked for, not with rows times draws. Each draw adds its
//! rows in their order, whatever the number of threads.
//!
//! Levels without an order have a linear predictor each but the first, and what is averaged is the probability of each level p_k, or its
//! slope p_k (δ_k − Σ_j p_j δ_j).
//!
//! A change costs what it changes: η_sic = η_si + Σ_j (x_icj − x_ij) b_sj over the columns j that differ. Where the expected
//! outcome is the linear predictor itself, the average of the rows says all: each draw is asked once.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::EffectsError;
use super::what_if::{Change, Rows, To};
use crate::predict::{Around, Linear, Posterior, Work, chance_of};
use ergodic_base::Control;
use ergodic_base::linalg::axpy;
use ergodic_core::design::NewRows;
use ergodic_core::families::unordered::{MAX_PREDICTORS, Unordered};
use ergodic_core::families::{Link, Outcome};
use ergodic_core::formula::Elementwise;

/// Rows that are coded together: few megabytes for a hundred changes of a few columns.
const TILE: usize = 512;
/// Draws in a block: predictors of a block and what is added up for it stay in the cache.
const BLOCK: usize = 256;

/// What to average over the rows.
#[derive(Clone, Debug)]
pub(super) enum Ask {
    /// The expected outcome after changes of the data.
    Expected(Vec<Change>),
    /// The slope of the expected outcome in a column.
    Slope {
        column: String,
        /// A little below and a little above the column as it is, one number per row each.
        ends: [Arc<[f64]>; 2],
    },
}

impl Ask {
    /// What becomes of the data.
    pub fn changes(&self) -> Vec<Change> {
        match self {
            Self::Expected(changes) => changes.clone(),
            Self::Slope { column, ends } => {
                vec![Change::new(column, To::Numbers(Arc::clone(&ends[0])))]
            }
        }
    }
}

/// For each question the averages, one per draw of what is expected or of each level, or why there are none.
pub(super) type Averages = Vec<Result<Vec<Vec<f64>>, EffectsError>>;

/// A number as a sum over vectors of draws: their places and factors, ascending by place, and a constant.
#[derive(Clone, Debug, Default)]
struct Sum {
    parts: Vec<(u32, f64)>,
    constant: f64,
}

/// How the predictors of a tile are made.
struct Tile {
    /// The rows as they are.
    base: Vec<Sum>,
    /// For each question what is added to them, or their slope.
    asked: Vec<Option<Vec<Sum>>>,
}

/// Sums over rows for the draws of a block.
struct Block {
    first: usize,
    /// Draws.
    len: usize,
    /// Questions × what is asked of each × draws.
    sums: Vec<f64>,
}

/// The vectors of draws that predictors are sums of: coefficients, then effects of the groups of each term.
struct Vectors<'a> {
    all: Vec<&'a [f64]>,
    /// Place of the first effect of each group term.
    terms: Vec<usize>,
}

impl<'a> Vectors<'a> {
    fn of(linear: &'a Linear) -> Self {
        let mut all: Vec<&[f64]> = linear.coefficients.iter().map(Vec::as_slice).collect();
        let mut terms = Vec::new();
        for term in &linear.terms {
            terms.push(all.len());
            all.extend(term.effects.iter().map(Vec::as_slice));
        }
        Self { all, terms }
    }

    /// The predictor of row `i`.
    fn sum(&self, rows: &NewRows, i: usize) -> Sum {
        let mut parts = Vec::new();
        let mut add = |place: usize, factor: f64| {
            if factor != 0.0 {
                parts.push((place as u32, factor));
            }
        };
        for (j, x) in rows.x.row(i).iter().enumerate() {
            add(j, *x);
        }
        for (first, (grouping, z)) in self.terms.iter().zip(&rows.terms) {
            let group = rows.groups[*grouping].index[i] as usize;
            let row = z.row(i);
            for (k, value) in row.iter().enumerate() {
                add(first + group * row.len() + k, *value);
            }
        }
        Sum {
            parts,
            constant: rows.offset.as_ref().map_or(0.0, |offset| offset[i]),
        }
    }
}

impl Sum {
    /// The sum less another, times a factor.
    fn less(&self, other: &Self, factor: f64) -> Self {
        let mut parts = Vec::new();
        let (mut a, mut b) = (self.parts.as_slice(), other.parts.as_slice());
        loop {
            let (place, value) = match (a.first(), b.first()) {
                (Some(&(i, x)), Some(&(j, y))) if i == j => (i, x - y),
                (Some(&(i, x)), Some(&(j, _))) if i < j => (i, x),
                (Some(&(i, x)), None) => (i, x),
                (_, Some(&(j, y))) => (j, -y),
                (None, None) => break,
            };
            a = &a[usize::from(a.first().is_some_and(|part| part.0 == place))..];
            b = &b[usize::from(b.first().is_some_and(|part| part.0 == place))..];
            if value != 0.0 {
                parts.push((place, value * factor));
            }
        }
        Self {
            parts,
            constant: (self.constant - other.constant) * factor,
        }
    }

    /// Writes values of the sum for the draws from `first` on.
    fn write(&self, vectors: &Vectors<'_>, first: usize, out: &mut [f64]) {
        self.write_shifted(vectors, 0, first, out);
    }

    /// Writes values of the sum with vectors `by` places further on, which are those of another linear predictor.
    fn write_shifted(&self, vectors: &Vectors<'_>, by: usize, first: usize, out: &mut [f64]) {
        out.fill(self.constant);
        for (place, factor) in &self.parts {
            axpy(
                *factor,
                &vectors.all[*place as usize + by][first..][..out.len()],
                out,
            );
        }
    }
}

/// From the linear predictor to the expected outcome.
#[derive(Clone, Copy)]
pub(super) struct Expectation {
    pub link: Link,
    function: Option<Elementwise>,
}

impl Expectation {
    /// None where there is no linear predictor.
    pub fn of(posterior: &Posterior) -> Option<Self> {
        let linear = posterior.linear()?;
        Some(Self {
            link: match &linear.around {
                Around::One(outcomes) => outcomes[0].family().definition().link,
                Around::Levels(_) => Link::Logit,
            },
            function: posterior.function,
        })
    }

    /// Whether the expected outcome is the linear predictor.
    pub fn is_linear(self) -> bool {
        self.link == Link::Identity && self.function.is_none()
    }

    /// The expected outcome at `z` in a draw; the median outcome where the model explains a function of it.
    fn at(self, outcome: Outcome, z: f64) -> f64 {
        let mean = outcome.mean(z);
        self.function
            .map_or(mean, |function| function.inverse(mean))
    }

    /// The derivative of the expected outcome at `z`.
    fn slope_at(self, outcome: Outcome, z: f64) -> f64 {
        let slope = outcome.mean_slope(z);
        match self.function {
            // The derivative of the inverse of f at y is 1 / f'(f⁻¹(y)).
            Some(f) => slope / f.slope_at(f.inverse(outcome.mean(z))),
            None => slope,
        }
    }
}

/// Averages `asks` over `rows` after the changes `at`, with `weights` of rows, for every draw of `posterior`.
///
/// # Errors
/// Somebody cancelled, or the rows as they are cannot be coded.
pub(super) fn averages(
    posterior: &Posterior,
    (rows, at): (&Rows<'_>, &[Change]),
    weights: Option<&[f64]>,
    asks: &[Ask],
    control: &Control,
) -> Result<Averages, EffectsError> {
    let (Some(predictors), Some(curve)) = (posterior.linear(), Expectation::of(posterior)) else {
        return averages_of_rows(posterior, (rows, at), weights, asks, control);
    };
    let vectors = Vectors::of(predictors);
    let draws = posterior.len();
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let total: f64 = (0..rows.len()).map(weight).sum();
    let mut failed: Vec<Option<EffectsError>> = asks.iter().map(|_| None).collect();
    let mut blocks: Vec<Block> = Vec::new();
    let mut linear: Vec<BTreeMap<u32, f64>> = vec![BTreeMap::new(); asks.len()];
    let mut constants = vec![0.0; asks.len()];
    let per_ask = match &predictors.around {
        Around::One(_) => 1,
        Around::Levels(levels) => levels.num_levels(),
    };
    if !curve.is_linear() {
        blocks.extend((0..draws).step_by(BLOCK).map(|first| {
            let len = BLOCK.min(draws - first);
            Block {
                first,
                len,
                sums: vec![0.0; asks.len() * per_ask * len],
            }
        }));
    }
    control.expect(rows.len() as u64);
    for first in (0..rows.len()).step_by(TILE) {
        control.check(EffectsError::Cancelled)?;
        let range = first..(first + TILE).min(rows.len());
        let tile = Tile::code(&vectors, (rows, at), range.clone(), asks, &mut failed)?;
        if curve.is_linear() {
            for (a, asked) in tile.asked.iter().enumerate() {
                for (i, sum) in asked.iter().flatten().enumerate() {
                    // Slopes are of a predictor without its base.
                    let base = matches!(asks[a], Ask::Expected(_)).then(|| &tile.base[i]);
                    for sum in base.into_iter().chain([sum]) {
                        for (place, factor) in &sum.parts {
                            *linear[a].entry(*place).or_default() += weight(first + i) * factor;
                        }
                        constants[a] += weight(first + i) * sum.constant;
                    }
                }
            }
        } else {
            blocks.par_iter_mut().for_each_init(
                || [(); 2].map(|()| vec![0.0; predictors.num_predictors() * BLOCK]),
                |work, block| {
                    if control.is_cancelled() {
                        return;
                    }
                    let weight = |i: usize| weight(first + i);
                    match &predictors.around {
                        Around::One(outcomes) => {
                            let outcomes = &outcomes[block.first..];
                            block.add(&tile, &vectors, (curve, outcomes), asks, weight, work);
                        }
                        Around::Levels(levels) => {
                            block.add_levels(&tile, &vectors, *levels, asks, weight, work);
                        }
                    }
                },
            );
        }
        control.advance(range.len() as u64);
    }
    control.check(EffectsError::Cancelled)?;
    let made = failed.into_iter().enumerate().map(|(a, failed)| {
        if let Some(error) = failed {
            return Err(error);
        }
        let of_each = (0..per_ask).map(|k| {
            let mut values = vec![0.0; draws];
            if curve.is_linear() {
                let sum = Sum {
                    parts: linear[a].iter().map(|(place, x)| (*place, *x)).collect(),
                    constant: constants[a],
                };
                sum.write(&vectors, 0, &mut values);
            }
            for block in &blocks {
                let sums = &block.sums[(a * per_ask + k) * block.len..][..block.len];
                values[block.first..][..block.len].copy_from_slice(sums);
            }
            values.iter_mut().for_each(|value| *value /= total);
            values
        });
        Ok(of_each.collect())
    });
    Ok(made.collect())
}

/// Averages where rows do not follow from linear predictors: what is expected of each row is asked for in every draw, and slopes are
/// differences of it between the ends of a column.
fn averages_of_rows(
    posterior: &Posterior,
    (rows, at): (&Rows<'_>, &[Change]),
    weights: Option<&[f64]>,
    asks: &[Ask],
    control: &Control,
) -> Result<Averages, EffectsError> {
    let draws = posterior.len();
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let total: f64 = (0..rows.len()).map(weight).sum();
    let mut failed: Vec<Option<EffectsError>> = asks.iter().map(|_| None).collect();
    let mut sums = vec![vec![0.0; draws]; asks.len()];
    control.expect(rows.len() as u64);
    for first in (0..rows.len()).step_by(TILE) {
        control.check(EffectsError::Cancelled)?;
        let range = first..(first + TILE).min(rows.len());
        let coded = |column: &str, to: &To| {
            let change = Change::new(column, to.clone());
            rows.coded(range.clone(), &[at, &[change]].concat())
        };
        for ((ask, failed), sums) in asks.iter().zip(&mut failed).zip(&mut sums) {
            if failed.is_some() {
                continue;
            }
            let made = match ask {
                Ask::Expected(changes) => {
                    (rows.coded(range.clone(), &[at, changes].concat())).map(|plus| (plus, None))
                }
                Ask::Slope { column, ends } => {
                    let end = |end: &Arc<[f64]>| coded(column, &To::Numbers(Arc::clone(end)));
                    let plus = end(&ends[1]);
                    plus.and_then(|plus| Ok((plus, Some((end(&ends[0])?, ends)))))
                }
            };
            let (plus, minus) = match made {
                Ok(made) => made,
                Err(error) => {
                    *failed = Some(error);
                    continue;
                }
            };
            sums.par_chunks_mut(BLOCK).enumerate().for_each_init(
                || (Work::new(0), [vec![0.0; BLOCK], vec![0.0; BLOCK]]),
                |(work, [above, below]), (b, sums)| {
                    let (above, below) = (&mut above[..sums.len()], &mut below[..sums.len()]);
                    for i in 0..range.len() {
                        if control.is_cancelled() {
                            return;
                        }
                        let mut expect = |rows: &NewRows, out: &mut [f64]| {
                            posterior.expected(rows, i, b * BLOCK, 0, work, out);
                            if let Some(function) = posterior.function {
                                out.iter_mut()
                                    .for_each(|value| *value = function.inverse(*value));
                            }
                        };
                        let mut factor = weight(first + i);
                        expect(&plus, above);
                        if let Some((minus, ends)) = &minus {
                            expect(minus, below);
                            let each = above.iter_mut().zip(&*below);
                            each.for_each(|(above, below)| *above -= below);
                            factor /= ends[1][first + i] - ends[0][first + i];
                        }
                        axpy(factor, above, sums);
                    }
                },
            );
        }
        control.advance(range.len() as u64);
    }
    control.check(EffectsError::Cancelled)?;
    let made = sums
        .into_iter()
        .zip(failed)
        .map(|(mut values, failed)| match failed {
            Some(error) => Err(error),
            None => {
                values.iter_mut().for_each(|value| *value /= total);
                Ok(vec![values])
            }
        });
    Ok(made.collect())
}

impl Tile {
    /// Codes rows as they are and as each question changes them; a question that cannot be coded is dropped and noted.
    fn code(
        vectors: &Vectors<'_>,
        (rows, at): (&Rows<'_>, &[Change]),
        range: Range<usize>,
        asks: &[Ask],
        failed: &mut [Option<EffectsError>],
    ) -> Result<Self, EffectsError> {
        let sums = |changes: &[Change]| -> Result<Vec<Sum>, EffectsError> {
            let changes = [at, changes].concat();
            let coded = rows.coded(range.clone(), &changes)?;
            Ok((0..range.len()).map(|i| vectors.sum(&coded, i)).collect())
        };
        let base = sums(&[])?;
        let asked = asks.par_iter().zip(&mut *failed).map(|(ask, failed)| {
            if failed.is_some() {
                return None;
            }
            let made = match ask {
                Ask::Expected(changes) => sums(changes).map(|changed| {
                    let pairs = changed.iter().zip(&base);
                    pairs
                        .map(|(changed, base)| changed.less(base, 1.0))
                        .collect()
                }),
                Ask::Slope { column, ends } => slopes(&sums, column, ends, &range),
            };
            made.map_err(|error| *failed = Some(error)).ok()
        });
        let asked = asked.collect();
        Ok(Self { base, asked })
    }
}

/// The slope of the linear predictor in a column, by rows: that between the column's ends.
fn slopes(
    sums: &impl Fn(&[Change]) -> Result<Vec<Sum>, EffectsError>,
    column: &str,
    ends: &[Arc<[f64]>; 2],
    range: &Range<usize>,
) -> Result<Vec<Sum>, EffectsError> {
    let at = |end: &Arc<[f64]>| sums(&[Change::new(column, To::Numbers(Arc::clone(end)))]);
    let (below, above) = (at(&ends[0])?, at(&ends[1])?);
    let pairs = above.iter().zip(&below).zip(range.clone());
    Ok(pairs
        .map(|((above, below), i)| above.less(below, 1.0 / (ends[1][i] - ends[0][i])))
        .collect())
}

impl Block {
    fn add(
        &mut self,
        tile: &Tile,
        vectors: &Vectors<'_>,
        (curve, outcomes): (Expectation, &[Outcome]),
        asks: &[Ask],
        weight: impl Fn(usize) -> f64,
        [base, change]: &mut [Vec<f64>; 2],
    ) {
        let len = self.len;
        let (base, change) = (&mut base[..len], &mut change[..len]);
        for (i, row) in tile.base.iter().enumerate() {
            row.write(vectors, self.first, base);
            for (a, asked) in tile.asked.iter().enumerate() {
                let Some(asked) = asked else { continue };
                asked[i].write(vectors, self.first, change);
                let sums = self.sums[a * len..][..len].iter_mut();
                let pairs = sums.zip(outcomes).zip(base.iter().zip(&*change));
                let weight = weight(i);
                match asks[a] {
                    Ask::Expected(_) => {
                        pairs.for_each(|((sum, outcome), (z, more))| {
                            *sum += weight * curve.at(*outcome, z + more);
                        });
                    }
                    Ask::Slope { .. } => {
                        pairs.for_each(|((sum, outcome), (z, d))| {
                            *sum += weight * curve.slope_at(*outcome, *z) * d;
                        });
                    }
                }
            }
        }
    }

    /// [`Self::add`] of the probabilities of levels.
    fn add_levels(
        &mut self,
        tile: &Tile,
        vectors: &Vectors<'_>,
        levels: Unordered,
        asks: &[Ask],
        weight: impl Fn(usize) -> f64,
        [base, change]: &mut [Vec<f64>; 2],
    ) {
        let (len, predictors) = (self.len, levels.num_predictors());
        let columns = vectors.all.len() / predictors;
        let (base, change) = (
            &mut base[..predictors * len],
            &mut change[..predictors * len],
        );
        let write = |sum: &Sum, first: usize, out: &mut [f64]| {
            for (l, out) in out.chunks_exact_mut(len).enumerate() {
                sum.write_shifted(vectors, l * columns, first, out);
            }
        };
        let mut of_draw = [[0.0; MAX_PREDICTORS]; 2];
        let [z, d] = of_draw.each_mut().map(|values| &mut values[..predictors]);
        for (i, row) in tile.base.iter().enumerate() {
            write(row, self.first, base);
            for (a, asked) in tile.asked.iter().enumerate() {
                let Some(asked) = asked else { continue };
                write(&asked[i], self.first, change);
                let sums = &mut self.sums[a * (predictors + 1) * len..][..(predictors + 1) * len];
                let weight = weight(i);
                let is_slope = matches!(asks[a], Ask::Slope { .. });
                for s in 0..len {
                    for l in 0..predictors {
                        d[l] = change[l * len + s];
                        z[l] = base[l * len + s] + if is_slope { 0.0 } else { d[l] };
                    }
                    let first = chance_of(levels, z, 1);
                    if is_slope {
                        let mean: f64 = z.iter().zip(&*d).map(|(p, d)| p * d).sum();
                        sums[s] -= weight * first * mean;
                        for l in 0..predictors {
                            sums[(l + 1) * len + s] += weight * z[l] * (d[l] - mean);
                        }
                    } else {
                        sums[s] += weight * first;
                        for l in 0..predictors {
                            sums[(l + 1) * len + s] += weight * z[l];
                        }
                    }
                }
            }
        }
    }
}
