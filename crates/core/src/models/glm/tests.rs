//! The rows of a family against the density that it has for one response.

use super::*;
use crate::design::matrix::Design;
use crate::design::response::ResponseUse;
use crate::families::Family;
use crate::families::rows::{FamilyRows, RowUse, value_or};
use crate::models::conformance::{Shape, design, measured_design};

const ROWS: usize = 40;
/// By how much the intercept is moved to compare values.
const MOVE: f64 = 0.3;

/// Compares all rows of the design.
struct Against<'a>(&'a Design, SimdLevel);

fn near(here: f64, there: f64) -> bool {
    (here - there).abs() < 1e-9 * (1.0 + there.abs())
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
        u.extend([0.4, 0.3].iter().take(F::AUX));
        let outcome = rows.family().outcome(&rows.shared(&u));
        let width = 1 + F::AUX;
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
            let offset = value_or(&design.offset, i, 0.0);
            let trials = value_or(&design.trials, i, 1.0);
            let (z, y) = if scale.identity {
                (z[i], (design.y[i] - offset - scale.centre) / scale.scale)
            } else {
                (z[i] + offset, design.y[i])
            };
            let (at, after) = (outcome.at(z, y, trials), outcome.at(z + MOVE, y, trials));
            let what = format!("{outcome:?} row {i}");
            assert!(near(slopes[i * width], at.score), "{what}: {at:?}");
            assert!(near(weights[i], at.weight), "{what}: {at:?}");
            assert!(near(moved[i] - values[i], after.log_p - at.log_p), "{what}");
            // Rows of trials leave out the number of their orders.
            if trials == 1.0 {
                let constant = outcome.constant(y, trials) - scale.scale.ln();
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
        let design = match family.definition().response {
            ResponseUse::Number => measured_design(false, shape, ROWS),
            ResponseUse::Count => measured_design(true, shape, ROWS),
            _ => design(shape, ROWS),
        };
        for level in SimdLevel::available() {
            family.rows(&design, Against(&design, level)).unwrap();
        }
    }
}

/// Tiles that are kept, tiles put together from rows, and those of chosen rows that happen to be neighbours.
#[test]
fn every_way_to_a_tile_gives_the_same_bits() {
    use crate::families::bernoulli::SignedBernoulli;
    const COLUMNS: usize = 11;
    const LEN: usize = 1000;
    let number = |i: usize| ((i * 7919 % 1009) as f64 / 504.0 - 1.0) * 0.7;
    let data: Vec<f64> = (0..COLUMNS * (LEN + 1)).map(number).collect();
    let u: Vec<f64> = (0..COLUMNS).map(|j| 0.3 * number(j + 5)).collect();
    let centre: Vec<f64> = (0..=LEN).map(|i| 0.1 * number(3 * i)).collect();
    // The rows from 1 on are no whole blocks; without the first they are.
    let shifted = GlmRows::new(SignedBernoulli, COLUMNS, data.clone());
    let aligned = GlmRows::new(SignedBernoulli, COLUMNS, data[COLUMNS..].to_vec());
    let (start, len) = (1, LEN);
    let picks: Vec<u32> = (0..LEN as u32).collect();
    for level in SimdLevel::available() {
        let of = |rows: &GlmRows<_>, which: Rows<'_>, centre: &[f64]| {
            let rows = rows.clone().at_level(level);
            let (mut scratch, mut grad) = (rows.scratch(), vec![0.0; 2 * COLUMNS]);
            let (first, second) = grad.split_at_mut(COLUMNS);
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
        for which in [Rows::All, Rows::Pick(&picks)] {
            assert_eq!(of(&aligned, which, &centre[1..]), expected, "{level:?}");
        }
    }
}
