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
struct Against<'a>(&'a Design);

fn near(here: f64, there: f64) -> bool {
    (here - there).abs() < 1e-9 * (1.0 + there.abs())
}

impl RowUse for Against<'_> {
    type Made = ();

    fn of<F: RowFamily>(self, rows: FamilyRows<F>) {
        let design = self.0;
        let columns = design.terms.len();
        let scale = rows.response;
        let rows = GlmRows::new(rows.family, columns, rows.data);
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
            F::curvature,
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
        family.rows(&design, Against(&design)).unwrap();
    }
}
