//! The rows of a family against the density that it has for one response.

use super::store::WORTH_KEEPING;
use super::*;
use crate::BLOCK_ROWS;
use crate::conformance::{censor, design_of};
use crate::design::Design;
use crate::families::bernoulli::{SignedBernoulli, signed};
use crate::families::rows::{
    CurvatureWith, Factors, FamilyRows, MANY_LOOPS, OfLog, ResponseScale, RowUse, TermsWith,
    value_or,
};
use crate::families::{Family, Outcome, student};
use crate::numerics::arithmetic::Arithmetic;
use crate::testing::regressions::{Shape, design};

const ROWS: usize = 40;
/// By how much the intercept is moved to compare values.
const MOVE: f64 = 0.3;

/// Compares all rows of the design.
struct Against<'a>(&'a Design, SimdLevel);

fn near(here: f64, there: f64) -> bool {
    (here - there).abs() < 1e-9 * (1.0 + there.abs())
}

/// Linear predictor with offset, and response, of row `i` in internal units, where covariates alone make `z`.
fn internal(design: &Design, scale: ResponseScale, i: usize, z: f64) -> (f64, f64) {
    let offset = value_or(&design.offset, i, 0.0);
    match scale.identity {
        true => (z, (design.y[i] - offset - scale.centre) / scale.scale),
        false => (z + offset, design.y[i]),
    }
}

impl RowUse for Against<'_> {
    type Made = ();

    fn of<F: RowFamily>(self, rows: FamilyRows<F>) {
        let Self(design, level) = self;
        let columns = design.terms.len();
        let scale = rows.response;
        let rows = GlmRows::new(rows.family, columns, rows.data).at_level(level);
        let mut scratch = rows.scratch();
        let mut u = vec![0.15; columns];
        u.extend([0.4, 0.3].iter().cycle().take(rows.num_aux()));
        let outcome = rows.family().outcome(&rows.shared(&u));
        let width = rows.width();
        let mut slopes = vec![0.0; ROWS * width];
        let mut weights = vec![0.0; ROWS];
        let [mut values, mut moved] = [vec![0.0; ROWS], vec![0.0; ROWS]];
        rows.residuals(&u, Rows::All, &mut scratch, &mut slopes);
        rows.pointwise(&u, Rows::All, &mut scratch, &mut values);
        rows.per_row(
            &u,
            Rows::All,
            &mut scratch,
            CurvatureOf,
            |k, _x, lane, c| {
                weights[k] = c.zz[lane];
            },
        );
        let z: Vec<f64> = design
            .x
            .rows()
            .into_iter()
            .map(|x| 0.15 * x.sum())
            .collect();
        u[0] += MOVE;
        rows.pointwise(&u, Rows::All, &mut scratch, &mut moved);
        for i in 0..ROWS {
            let known = design.known(i);
            let (z, y) = internal(design, scale, i, z[i]);
            let (at, after) = (outcome.at(z, y, known), outcome.at(z + MOVE, y, known));
            let what = format!("{outcome:?} row {i}");
            assert!(near(slopes[i * width], at.score), "{what}: {at:?}");
            assert!(near(weights[i], at.weight), "{what}: {at:?}");
            assert!(near(moved[i] - values[i], after.log_p - at.log_p), "{what}");
            // Rows of trials leave out the number of their orders.
            if design.trials.is_none() || known == 1.0 {
                let constant = outcome.constant(y, known) - scale.scale.ln();
                assert!(near(values[i], at.log_p + constant), "{what}");
            }
        }
    }
}

#[test]
fn rows_have_the_density_of_their_family() {
    for &family in Family::ALL {
        let shape = Shape {
            offset: true,
            trials: family == Family::Binomial,
            ..Shape::default()
        };
        let mut design = design_of(family, shape, ROWS);
        for level in SimdLevel::available() {
            family.rows(&design, Against(&design, level)).unwrap();
        }
        censor(&mut design);
        for level in SimdLevel::available() {
            let censored = family.rows(&design, Against(&design, level));
            assert_eq!(censored.is_ok(), family.takes_censoring());
        }
    }
}

/// Looks at all rows of the design where predictors are far out and auxiliary coordinates are, too.
struct FarOut<'a>(&'a Design, SimdLevel);

/// Distances of predictors; the exponential of those from 710 on is no number.
const FAR: [f64; 7] = [50.0, 100.0, 300.0, 690.0, 720.0, 2000.0, 1e5];

impl RowUse for FarOut<'_> {
    type Made = ();

    fn of<F: RowFamily>(self, rows: FamilyRows<F>) {
        let Self(design, level) = self;
        let columns = design.terms.len();
        let scale = rows.response;
        let rows = GlmRows::new(rows.family, columns, rows.data).at_level(level);
        let (mut scratch, width) = (rows.scratch(), rows.width());
        let [mut values, mut slopes] = [vec![0.0; ROWS], vec![0.0; ROWS * width]];
        let signs = FAR.iter().flat_map(|&far| [-far, far]);
        // Cut points say gaps to twelve digits of the cut points alone.
        let least = if rows.num_aux() > F::AUX { -8.0 } else { -30.0 };
        let places = signs.flat_map(|z| [least, -8.0, 0.4, 8.0, 30.0].map(|aux| (z, aux)));
        for ((z, aux), turned) in places.flat_map(|place| [(place, 1.0), (place, -1.0)]) {
            let mut u = vec![0.0; columns];
            u[0] = z;
            u.extend([aux, turned * aux].iter().cycle().take(rows.num_aux()));
            let outcome = rows.family().outcome(&rows.shared(&u));
            rows.pointwise(&u, Rows::All, &mut scratch, &mut values);
            rows.residuals(&u, Rows::All, &mut scratch, &mut slopes);
            for (i, value) in values.iter().enumerate() {
                let known = design.known(i);
                let (z, y) = internal(design, scale, i, z);
                let at = outcome.at(z, y, known);
                // Rows of trials leave out the number of their orders.
                let constant = match design.trials.is_none() || known == 1.0 {
                    true => outcome.constant(y, known),
                    false => 0.0,
                };
                let expected = at.log_p + constant - scale.scale.ln();
                let what = format!("{outcome:?} row {i}: {y} at {z}, {value} and not {expected}");
                assert!(*value < 1.0 && expected < 1.0, "{what}");
                assert!(!slopes[i * width].is_nan(), "{what}");
                // Exponentials of rows end at the largest number, so that what is impossible for one response is nearly so.
                let impossible = expected == f64::NEG_INFINITY && *value < -1e9;
                assert!(impossible || near(*value, expected), "{what}");
            }
        }
    }
}

/// Chains that begin far out stay where a density rises without bound.
#[test]
fn densities_are_small_and_right_where_predictors_are_far_out() {
    for &family in Family::ALL {
        let shape = Shape {
            trials: family == Family::Binomial,
            ..Shape::default()
        };
        let mut design = design_of(family, shape, ROWS);
        for level in SimdLevel::available() {
            family.rows(&design, FarOut(&design, level)).unwrap();
        }
        if family.takes_censoring() {
            censor(&mut design);
            family
                .rows(&design, FarOut(&design, SimdLevel::available()[0]))
                .unwrap();
        }
    }
}

/// Student rows whose logarithms are one at the end of a pass, beside those of which each takes its own.
#[test]
fn the_logarithm_of_a_product_is_the_sum_of_logarithms() {
    /// More tiles than factors are multiplied of before a logarithm, and no whole number of tiles.
    const MANY: usize = 4500;
    let design = design_of(Family::Student, Shape::default(), MANY);
    let columns = design.terms.len();
    let levels = SimdLevel::available().into_iter();
    let cases = levels.flat_map(|level| [None, Some(4.2), Some(1e6)].map(|nu| (level, nu)));
    // An outlier whose factor alone is beyond products of the others; it also is most of the sum, so that the others are seen without it.
    for ((level, nu), outlier) in cases.flat_map(|it| [(it, None), (it, Some(1e60))]) {
        let plain = student::with_nu::<true>(nu, &design).unwrap();
        let each = student::with_nu::<false>(nu, &design).unwrap();
        let of = |mut data: Pages<f64>| {
            let width = data.len() / MANY;
            if let Some(outlier) = outlier {
                data[17 * width + columns] = outlier;
            }
            data
        };
        let plain = GlmRows::new(plain.family, columns, of(plain.data)).at_level(level);
        let each = GlmRows::new(each.family, columns, of(each.data)).at_level(level);
        let (plain, each) = (all_of(&plain), all_of(&each));
        for (k, (&here, &there)) in plain.iter().zip(&each).enumerate() {
            let what = format!("{level:?} {nu:?} {outlier:?} {k}");
            assert!(near(here, there), "{what}: {here} {there}");
        }
    }
}

/// Tiles that are kept, in order or by number, tiles put together from rows, and those of chosen rows that happen to be neighbours.
#[test]
fn every_way_to_a_tile_gives_the_same_bits() {
    tiles_agree(11, 1000);
}

/// Of more than 20 MB, whose rows are asked for farther ahead: next and far, far alone, and too wide for either.
#[test]
fn every_way_to_a_tile_of_a_large_table_gives_the_same_bits() {
    for (columns, len) in [(20, 132_000), (100, 26_400), (700, 3_768)] {
        tiles_agree(columns, len);
    }
}

/// Of `len` rows, a multiple of a block's.
fn tiles_agree(columns: usize, len: usize) {
    use crate::families::bernoulli::SignedBernoulli;
    let number = |i: usize| ((i * 7919 % 1009) as f64 / 504.0 - 1.0) * 0.7;
    let data: Vec<f64> = (0..columns * (len + 1)).map(number).collect();
    let u: Vec<f64> = (0..columns).map(|j| 0.3 * number(j + 5)).collect();
    let centre: Vec<f64> = (0..=len).map(|i| 0.1 * number(3 * i)).collect();
    let start = 1;
    let picks: Vec<u32> = (0..len as u32).collect();
    let blocks: Vec<u32> = (0..(len / BLOCK_ROWS) as u32).collect();
    let every = Storage::ALL.iter().flat_map(|&storage| {
        let levels = SimdLevel::available().into_iter();
        levels.map(move |level| (storage, level))
    });
    for (storage, level) in every {
        // The rows from 1 on are no whole blocks; without the first they are.
        let rows = |data: &[f64]| {
            let rows = GlmRows::new(SignedBernoulli, columns, data.into());
            rows.stored_as(storage).at_level(level)
        };
        let (shifted, aligned) = (rows(&data), rows(&data[columns..]));
        let of = |rows: &GlmRows<_>, which: Rows<'_>, centre: &[f64]| {
            let (mut scratch, mut grad) = (rows.scratch(), vec![0.0; 2 * columns]);
            let (first, second) = grad.split_at_mut(columns);
            let value = rows.value_gradient(&u, which, &mut scratch, first);
            rows.gradient_difference(&u, which, centre, &mut scratch, second);
            grad.push(value);
            grad
        };
        let expected = of(&shifted, Rows::Span { start, len }, &centre);
        assert!(
            expected
                .iter()
                .all(|number| number.is_finite() && *number != 0.0)
        );
        for has_tiles in [false, true] {
            assert_eq!(aligned.tiled.store.has_blocks(), has_tiles);
            for which in [Rows::All, Rows::Pick(&picks), Rows::Blocks(&blocks)] {
                let found = of(&aligned, which, &centre[1..]);
                assert_eq!(found, expected, "{storage:?} {level:?} {has_tiles}");
            }
        }
    }
}

/// Compares rows in single precision with rows of rounded covariates.
struct Rounded(usize, SimdLevel);

impl RowUse for Rounded {
    type Made = ();

    fn of<F: RowFamily>(self, rows: FamilyRows<F>) {
        let Self(columns, level) = self;
        let mut data = rows.data[..].to_vec();
        for row in data.chunks_exact_mut(columns + F::EXTRA) {
            for x in &mut row[..columns] {
                *x = f64::from(*x as f32);
            }
        }
        assert_ne!(data[..], rows.data[..]);
        let expected = all_of(&GlmRows::new(rows.family, columns, data[..].into()).at_level(level));
        let stored = GlmRows::new(rows.family, columns, rows.data).stored_as(Storage::F32);
        assert_eq!(all_of(&stored.at_level(level)), expected, "{level:?}");
    }
}

/// Everything that is computed of rows.
fn all_of<F: RowFamily>(rows: &GlmRows<F>) -> Vec<f64> {
    let (n, dim, width) = (rows.num_obs(), rows.dim(), rows.width());
    let mut scratch = rows.scratch();
    let mut u: Vec<f64> = (0..dim).map(|j| 0.2 - 0.15 * j as f64).collect();
    u[rows.num_columns()..].fill(0.35);
    let centre: Vec<f64> = (0..n * width).map(|k| 0.01 * (k % 17) as f64).collect();
    let picks: Vec<u32> = (0..n as u32)
        .map(|i| i * 7 % n as u32)
        .chain(8..24)
        .collect();
    let (mut out, mut parts) = (Vec::new(), Vec::new());
    let spans = [(0, 16), (3, 29)].map(|(start, len)| Rows::Span { start, len });
    // Row by row before there are blocks, and after.
    let blocks = Rows::Blocks(&[2, 4, 2, 0, 3]);
    for which in [
        spans[0],
        spans[1],
        Rows::Pick(&picks),
        blocks,
        Rows::All,
        spans[0],
        blocks,
    ] {
        let len = which.len(n);
        let mut part = vec![0.0; 3 * dim + dim * dim + len * (1 + width + dim)];
        let (gradients, rest) = part.split_at_mut(3 * dim);
        let (hessian, rest) = rest.split_at_mut(dim * dim);
        let (values, rest) = rest.split_at_mut(len);
        let (residuals, scores) = rest.split_at_mut(len * width);
        rows.pointwise(&u, which, &mut scratch, values);
        rows.residuals(&u, which, &mut scratch, residuals);
        rows.scores(&u, which, Some(&centre), &mut scratch, scores);
        rows.add_neg_hessian(&u, which, &mut scratch, hessian);
        rows.gradient(&u, which, &mut scratch, &mut gradients[..dim]);
        let value = rows.value_gradient(&u, which, &mut scratch, &mut gradients[dim..2 * dim]);
        rows.gradient_difference(&u, which, &centre, &mut scratch, &mut gradients[2 * dim..]);
        out.extend_from_slice(&part);
        parts.push(part);
        let (mut sum, mut products) = (vec![0.0; dim], vec![0.0; dim * dim]);
        rows.score_moments(&u, which, &mut scratch, &mut sum, &mut products);
        out.extend(sum);
        out.extend(products);
        out.push(value);
    }
    assert_eq!(parts[0], parts[5], "blocks are other rows");
    assert_eq!(parts[3], parts[6], "blocks are other rows");
    if rows.num_aux() == 0 {
        let mut sum = vec![0.0; dim];
        for i in 0..n {
            let z = rows.predictor(i, &u);
            out.push(z);
            out.extend(rows.derivatives(i, z));
            rows.covariates(i).add_to(z, &mut sum);
            out.extend(rows.covariates(i).to_vec());
        }
        out.extend(sum);
    }
    out
}

#[test]
fn single_precision_rounds_covariates_and_nothing_else() {
    for &family in Family::ALL {
        let shape = Shape {
            offset: true,
            weights: true,
            trials: family == Family::Binomial,
            ..Shape::default()
        };
        let design = design_of(family, shape, ROWS);
        for level in SimdLevel::available() {
            family
                .rows(&design, Rounded(design.terms.len(), level))
                .unwrap();
        }
    }
    let plain = design(Shape::default(), ROWS);
    for level in SimdLevel::available() {
        let rows = crate::families::bernoulli::signed(&plain).unwrap();
        Rounded(plain.terms.len(), level).of(rows);
    }
}

#[test]
fn single_precision_takes_half_the_memory_of_covariates() {
    let design = design(Shape::default(), ROWS);
    let rows = crate::families::bernoulli::signed(&design).unwrap();
    let bytes = [Storage::F64, Storage::F32].map(|storage| {
        let rows =
            GlmRows::new(rows.family, design.terms.len(), rows.data[..].into()).stored_as(storage);
        let mut grad = vec![0.0; rows.dim()];
        let mut after_passes = |count: usize| {
            for _ in 0..count {
                rows.gradient(&[0.1; 4], Rows::All, &mut rows.scratch(), &mut grad);
            }
            rows.tiled.store.bytes()
        };
        // Few passes make no tiles.
        assert_eq!(after_passes(WORTH_KEEPING)[1], 0);
        after_passes(1)
    });
    assert!(bytes[0].iter().all(|&bytes| bytes > 0));
    assert_eq!(bytes[0].map(|bytes| bytes / 2), bytes[1]);
}

#[test]
fn hessians_of_many_coordinates_are_sums_over_rows() {
    /// More than there are sums at once, and more rows than a stretch, neither in whole tiles.
    const COLUMNS: usize = 70;
    const MANY: usize = 1045;
    let data: Vec<f64> = (0..MANY * COLUMNS)
        .map(|k| (0.37 * k as f64).sin())
        .collect();
    let u: Vec<f64> = (0..COLUMNS).map(|j| 0.02 * (j % 5) as f64).collect();
    let mut expected = vec![0.0; COLUMNS * COLUMNS];
    for x in data.chunks_exact(COLUMNS) {
        let chance = 1.0 / (1.0 + (-ergodic_base::linalg::dot(x, &u)).exp());
        for (line, x_i) in expected.chunks_exact_mut(COLUMNS).zip(x) {
            ergodic_base::linalg::axpy(chance * (1.0 - chance) * x_i, x, line);
        }
    }
    let rows = GlmRows::new(SignedBernoulli, COLUMNS, data[..].into());
    let picks: Vec<u32> = (0..MANY as u32).rev().collect();
    for which in [Rows::All, Rows::Pick(&picks)] {
        let mut hessian = vec![0.0; COLUMNS * COLUMNS];
        rows.add_neg_hessian(&u, which, &mut rows.scratch(), &mut hessian);
        for (got, expected) in hessian.iter().zip(&expected) {
            assert!((got - expected).abs() < 1e-11, "{got} {expected}");
        }
    }
}

/// A family whose terms are called, whether they are within loops otherwise or not.
#[derive(Clone, Copy, Debug)]
struct AlwaysCalled<F>(F);

impl<F: RowFamily> RowFamily for AlwaysCalled<F> {
    const EXTRA: usize = F::EXTRA;
    const OFFSET: bool = F::OFFSET;
    const FACTORS: Factors = F::FACTORS;
    type Aux = F::Aux;
    type Shared = F::Shared;

    fn num_aux(&self) -> usize {
        self.0.num_aux()
    }

    fn shared(&self, aux: &[f64]) -> F::Shared {
        self.0.shared(aux)
    }

    fn of_log(shared: &F::Shared) -> OfLog {
        F::of_log(shared)
    }

    fn terms<A: Arithmetic, const VALUE: bool>(
        z: &Lane,
        extra: [&Lane; 4],
        shared: &F::Shared,
    ) -> TermsWith<F::Aux> {
        F::terms::<A, VALUE>(z, extra, shared)
    }

    fn curvature<A: Arithmetic>(
        z: &Lane,
        extra: [&Lane; 4],
        shared: &F::Shared,
    ) -> CurvatureWith<F::Aux> {
        F::curvature::<A>(z, extra, shared)
    }

    fn outcome(&self, shared: &F::Shared) -> Outcome {
        self.0.outcome(shared)
    }
}

/// Compares loops that have the terms of a family within them with loops that call these; the number of families that have such loops.
struct CalledOrWithin(usize, SimdLevel);

impl RowUse for CalledOrWithin {
    type Made = usize;

    fn of<F: RowFamily>(self, rows: FamilyRows<F>) -> usize {
        if !F::WITHIN_LOOPS {
            return 0;
        }
        let Self(columns, level) = self;
        let called = GlmRows::new(AlwaysCalled(rows.family), columns, rows.data[..].into());
        let own = GlmRows::new(rows.family, columns, rows.data);
        assert_eq!(
            all_of(&own.at_level(level)),
            all_of(&called.at_level(level)),
            "{level:?}"
        );
        1
    }
}

#[test]
fn calling_terms_changes_no_bit() {
    for level in SimdLevel::available() {
        let count = Family::ALL.iter().map(|&family| {
            let shape = Shape {
                trials: family == Family::Binomial,
                ..Shape::default()
            };
            let design = design_of(family, shape, ROWS);
            let of = CalledOrWithin(design.terms.len(), level);
            family.rows(&design, of).unwrap()
        });
        assert_eq!(count.sum::<usize>() > 0, MANY_LOOPS);
        let rows = signed(&design_of(Family::Bernoulli, Shape::default(), ROWS)).unwrap();
        let columns = rows.data.len() / ROWS;
        assert_eq!(CalledOrWithin(columns, level).of(rows), 1);
        let design = design_of(Family::Student, Shape::default(), ROWS);
        let rows = student::with_nu::<true>(None, &design).unwrap();
        let of = CalledOrWithin(design.terms.len(), level).of(rows);
        assert_eq!(of, usize::from(MANY_LOOPS));
    }
}

/// Compares rows that keep shared numbers once with rows of which one more differs from all others, so that none are shared.
struct Shared(usize, SimdLevel);

impl RowUse for Shared {
    type Made = ();

    fn of<F: RowFamily>(self, rows: FamilyRows<F>) {
        let Self(columns, level) = self;
        let width = columns + F::EXTRA;
        let n = rows.data.len() / width;
        let mut apart = rows.data[..].to_vec();
        apart.extend_from_within(..width);
        for number in &mut apart[n * width + columns..] {
            *number += 0.5;
        }
        let which = Rows::Span { start: 0, len: n };
        let of = |data: &[f64], storage: Storage| {
            let rows = GlmRows::new(rows.family, columns, data.into()).stored_as(storage);
            let rows = rows.at_level(level);
            let (mut scratch, dim) = (rows.scratch(), rows.dim());
            let mut u: Vec<f64> = (0..dim).map(|j| 0.2 - 0.15 * j as f64).collect();
            u[columns..].fill(0.35);
            let mut out = vec![0.0; dim + dim * dim + n];
            let (gradient, rest) = out.split_at_mut(dim);
            let (hessian, values) = rest.split_at_mut(dim * dim);
            let value = rows.value_gradient(&u, which, &mut scratch, gradient);
            rows.add_neg_hessian(&u, which, &mut scratch, hessian);
            rows.pointwise(&u, which, &mut scratch, values);
            out.push(value);
            let numbers = (0..n).flat_map(|i| rows.extra(i));
            out.extend(numbers);
            (out, rows.tiled.store.bytes()[0])
        };
        for storage in [Storage::F64, Storage::F32] {
            let (found, bytes) = of(&rows.data, storage);
            let (expected, bytes_apart) = of(&apart, storage);
            assert_eq!(found, expected, "{level:?}");
            let rows_apart = bytes_apart / (n + 1);
            assert!(F::EXTRA < 2 || bytes < n * rows_apart, "{bytes}");
        }
    }
}

#[test]
fn numbers_that_all_rows_share_are_kept_once() {
    for &family in Family::ALL {
        let shape = Shape {
            trials: family == Family::Binomial,
            ..Shape::default()
        };
        let design = design_of(family, shape, ROWS);
        for level in SimdLevel::available() {
            family
                .rows(&design, Shared(design.terms.len(), level))
                .unwrap();
        }
    }
}
