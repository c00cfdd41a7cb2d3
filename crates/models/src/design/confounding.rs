//! Columns of fixed effects that the effects of groups can take over.
//!
//! Where x_i'd = z_i'a_g for all rows i of every group g, β + δ d and r_g − δ a_g give the same predictors: intercepts
//! and slopes that vary by group, and columns that are constant within groups. Whoever moves coefficients and effects
//! in turn needs such directions, along which both can move at once.

/// Relative difference that still counts as equal.
const EQUAL: f64 = 1e-9;

/// The columns of a group term.
#[derive(Clone, Copy, Debug)]
pub struct GroupColumns<'a> {
    /// Group of each row (N).
    pub index: &'a [u32],
    /// Row-major N×q.
    pub z: &'a [f64],
    /// q.
    pub width: usize,
    /// G.
    pub levels: usize,
}

/// One direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Direction {
    /// d (P).
    pub direction: Vec<f64>,
    /// a_g, row-major G×q.
    pub by_group: Vec<f64>,
}

/// All directions of the P columns that `row` gives of each row.
pub fn directions<'x>(
    row: &dyn Fn(usize) -> &'x [f64],
    p: usize,
    group: &GroupColumns<'_>,
) -> Vec<Direction> {
    let (num_obs, q) = (group.index.len(), group.width);
    let is_one = |value: f64| (value - 1.0).abs() < EQUAL;
    let intercept = (0..p).find(|&j| (0..num_obs).all(|i| is_one(row(i)[j])));
    let ones = (0..q).find(|&k| (0..num_obs).all(|i| is_one(group.z[i * q + k])));
    let mut found = Vec::new();
    for j in 0..p {
        let mut direction = vec![0.0; p];
        direction[j] = 1.0;
        let mut by_group = vec![0.0; group.levels * q];
        let column = |i: usize| row(i)[j];
        if let (Some(one), Some(constants)) = (ones, constants(group, &column)) {
            for (a, constant) in by_group.chunks_exact_mut(q).zip(constants) {
                a[one] = constant;
            }
        } else if let Some((k, slope, rest)) = line(group, &column) {
            for a in by_group.chunks_exact_mut(q) {
                a[k] = slope;
                if let Some(one) = ones {
                    a[one] = rest;
                }
            }
            match (ones, intercept) {
                (Some(_), _) => {}
                _ if rest == 0.0 => {}
                (None, Some(intercept)) => direction[intercept] -= rest,
                (None, None) => continue,
            }
        } else {
            continue;
        }
        found.push(Direction {
            direction,
            by_group,
        });
    }
    found
}

/// The value of `column` in each group, where it has one; 0 for groups without rows.
fn constants(group: &GroupColumns<'_>, column: &dyn Fn(usize) -> f64) -> Option<Vec<f64>> {
    let mut values = vec![f64::NAN; group.levels];
    for (i, &level) in group.index.iter().enumerate() {
        let (value, here) = (&mut values[level as usize], column(i));
        if value.is_nan() {
            *value = here;
        }
        if (*value - here).abs() > EQUAL * value.abs().max(1.0) {
            return None;
        }
    }
    for value in &mut values {
        if value.is_nan() {
            *value = 0.0;
        }
    }
    Some(values)
}

/// (k, s, c) with `column` = s z_k + c in all rows.
fn line(group: &GroupColumns<'_>, column: &dyn Fn(usize) -> f64) -> Option<(usize, f64, f64)> {
    let num_obs = group.index.len();
    (0..group.width).find_map(|k| {
        let z = |i: usize| group.z[i * group.width + k];
        let other = (1..num_obs).find(|&i| (z(i) - z(0)).abs() > EQUAL)?;
        let slope = (column(other) - column(0)) / (z(other) - z(0));
        let rest = column(0) - slope * z(0);
        let fits = |i: usize| {
            let (value, along) = (column(i), slope * z(i));
            (value - along - rest).abs() < EQUAL * (1.0 + value.abs() + along.abs())
        };
        (slope != 0.0 && (0..num_obs).all(fits)).then_some((k, slope, rest))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Intercept, x, and w that is constant within groups; effects of intercept and x, of x alone, of the intercept
    /// alone.
    #[test]
    fn directions_leave_predictors_as_they_are() {
        let index = [0, 0, 0, 1, 1, 2, 2, 2];
        let raw: Vec<f64> = (0..8).map(|i| 5.0 + f64::from(i * i)).collect();
        let x: Vec<f64> = raw
            .iter()
            .zip(index)
            .flat_map(|(raw, g)| [1.0, (raw - 11.0) / 4.0, f64::from(g) - 0.7])
            .collect();
        let both: Vec<f64> = raw.iter().flat_map(|raw| [1.0, raw / 3.0]).collect();
        let slope: Vec<f64> = raw.iter().map(|raw| raw / 3.0).collect();
        let ones = vec![1.0; 8];
        for (z, width, expected) in [(&both, 2, 3), (&slope, 1, 1), (&ones, 1, 2)] {
            let group = GroupColumns {
                index: &index,
                z,
                width,
                levels: 3,
            };
            let found = directions(&|i| &x[3 * i..3 * i + 3], 3, &group);
            assert_eq!(found.len(), expected);
            for Direction {
                direction,
                by_group,
            } in found
            {
                for (i, g) in index.into_iter().enumerate() {
                    let dot =
                        |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                    let fixed = dot(&x[3 * i..3 * i + 3], &direction);
                    let own = &by_group[g as usize * width..][..width];
                    let varying = dot(&z[i * width..][..width], own);
                    assert!((fixed - varying).abs() < 1e-9, "{fixed} {varying}");
                }
            }
        }
    }
}
