//! Looking at a design before a run: what would make the result useless or hang on the prior alone.
//!
//! A run may start all the same: under proper priors the posterior stays proper.

use faer::{Mat, Side};

use ergodic_base::{INTERCEPT, Reporter};

use super::matrix::Design;
use super::remark::{MAX_NAMES, Remark};
use super::response::ResponseKind;
use super::separation::{separated_columns, separated_together};
use super::{codes, exact_fit, many_levels};

/// A column is a combination of earlier ones if they leave less than this share of its variance.
pub(super) const EXACT: f64 = 1e-9;
/// Condition number of the scaled columns from which near collinearity is reported (Belsley, Kuh and Welsch 1980).
const LARGE_CONDITION: f64 = 30.0;
/// Most columns whose collinearity is looked at; the work grows with their cube.
const MAX_COLUMNS: usize = 1000;
/// Groups from which the spread of groups can hardly be told: below five its posterior follows the prior (Gelman 2006,
/// section 5.2).
const FEW_GROUPS: usize = 4;
/// Runs all checks. The report is empty if nothing was found.
pub fn check(design: &Design) -> Reporter {
    let mut reporter = Reporter::default();
    few_rows(design, &mut reporter);
    codes::check(design, &mut reporter);
    many_levels::check(design, &mut reporter);
    // Without a response groups are units, which may be few and have one row each.
    if design.response.kind != ResponseKind::Absent {
        groups(design, &mut reporter);
        within_groups(design, &mut reporter);
    }
    let constant = constant_columns(design, &mut reporter);
    let dependent = collinear_columns(design, &constant, &mut reporter);
    if exact_fit::is_exact(design) {
        reporter.report(Remark::ExactFit {
            response: design.response.name.clone(),
        });
    }
    let two_outcomes = matches!(design.response.kind, ResponseKind::Binary { .. });
    if two_outcomes && !separated_columns(design, &constant, &mut reporter) {
        let skipped: Vec<bool> = constant
            .iter()
            .zip(&dependent)
            .map(|(a, b)| *a || *b)
            .collect();
        separated_together(design, &skipped, &mut reporter);
    }
    reporter
}

fn few_rows(design: &Design, reporter: &mut Reporter) {
    let bends = design.terms.iter().filter(|term| term.bend().is_some());
    let (rows, columns) = (design.num_obs(), design.num_columns() - bends.count());
    if columns > rows {
        reporter.report(Remark::MoreColumnsThanRows { columns, rows });
    }
}

/// Reports groupings whose rows cannot tell the groups' effects from what varies within groups. Standard errors that are known say what
/// varies there, so that one row is enough, as in a meta-analysis.
fn within_groups(design: &Design, reporter: &mut Reporter) {
    let n = design.num_obs();
    for term in &design.group_terms {
        let group = &design.groups[term.factor];
        let (name, levels, each) = (&group.name, group.levels.len(), term.names.len());
        // One group is reported as such.
        if levels < 2 {
            continue;
        }
        let mut first = vec![f64::NAN; levels];
        let varies = (design.y.iter().zip(&group.index).enumerate()).any(|(i, (y, &level))| {
            let share = design.trials.as_ref().map_or(*y, |trials| y / trials[i]);
            let first = &mut first[level as usize];
            if first.is_nan() {
                *first = share;
            }
            *first != share
        });
        let number = matches!(design.response.kind, ResponseKind::Number { .. });
        let is_known = design.se.is_some();
        let binary = matches!(design.response.kind, ResponseKind::Binary { .. });
        let intercept = term.names.iter().any(|effect| effect == INTERCEPT);
        if levels == n && intercept && !is_known && (number || binary) {
            reporter.report(Remark::OneRowGroups {
                group: name.clone(),
                number,
            });
        } else if !varies && intercept && !is_known && levels < n {
            let (response, group) = (design.response.name.clone(), name.clone());
            reporter.report(match number {
                true => Remark::NoResidualInGroups { response, group },
                false => Remark::ConstantResponseInGroups { response, group },
            });
        }
        if each > 1 && each * levels >= n {
            reporter.report(Remark::MoreEffectsThanRows {
                group: name.clone(),
                each,
                effects: each * levels,
                rows: n,
            });
        }
    }
}

/// Reports groupings that say nothing about how groups differ, and effects that cannot be told from the group's level.
fn groups(design: &Design, reporter: &mut Reporter) {
    for group in &design.groups {
        let name = group.name.clone();
        reporter.report(match group.levels.as_slice() {
            [level] => Remark::OneGroup {
                group: name,
                level: level.clone(),
            },
            [_, _, ..] if group.levels.len() <= FEW_GROUPS => Remark::FewGroups {
                group: name,
                groups: group.levels.len(),
            },
            _ => continue,
        });
    }
    for term in &design.group_terms {
        let group = &design.groups[term.factor];
        for (j, name) in term
            .names
            .iter()
            .enumerate()
            .filter(|(_, name)| *name != INTERCEPT)
        {
            let column = term.z.column(j);
            let mut first = vec![f64::NAN; group.levels.len()];
            let varies = column.iter().zip(&group.index).any(|(&value, &level)| {
                let first = &mut first[level as usize];
                if first.is_nan() {
                    *first = value;
                }
                *first != value
            });
            if !varies {
                reporter.report(Remark::ConstantInGroups {
                    column: name.clone(),
                    group: group.name.clone(),
                });
            }
        }
    }
}

/// Reports columns that are the same in every row, and says which they are; and which are not to be looked at, because they bend
/// smooth curves: a spread of their own keeps their coefficients small.
fn constant_columns(design: &Design, reporter: &mut Reporter) -> Vec<bool> {
    let first = usize::from(design.has_intercept);
    let mut constant = vec![false; design.num_columns()];
    for j in first..design.num_columns() {
        if design.terms[j].bend().is_some() {
            constant[j] = true;
            continue;
        }
        let column = design.x.column(j);
        // Without an intercept a constant other than zero takes its place, once.
        let takes_place = !design.has_intercept && column[0] != 0.0 && !constant.contains(&true);
        constant[j] = column.iter().all(|value| *value == column[0]);
        if constant[j] && !takes_place {
            reporter.report(Remark::ConstantColumn {
                column: design.terms[j].clone(),
                value: design.raw_center[j] + design.raw_scale[j] * column[0],
                rows: design.num_obs(),
            });
        }
    }
    constant
}

/// Correlations of the columns (cosines without intercept), intercept left out.
fn correlations(design: &Design) -> Mat<f64> {
    let gram = design.x.t().dot(&design.x);
    let norm: Vec<f64> = (0..gram.nrows())
        .map(|j| gram[[j, j]].sqrt().max(f64::MIN_POSITIVE))
        .collect();
    Mat::from_fn(gram.nrows(), gram.ncols(), |i, j| {
        gram[[i, j]] / (norm[i] * norm[j])
    })
}

/// Reports columns that are combinations of earlier ones, or nearly so, and says which are exact ones.
fn collinear_columns(design: &Design, constant: &[bool], reporter: &mut Reporter) -> Vec<bool> {
    let p = design.num_columns();
    let mut dependent = vec![false; p];
    if p > MAX_COLUMNS {
        reporter.report(Remark::CollinearityUnchecked {
            columns: p,
            most: MAX_COLUMNS,
        });
        return dependent;
    }
    let correlation = correlations(design);
    let mut kept: Vec<usize> = Vec::new();
    // Rows of the Cholesky factor of the kept columns.
    let mut factor: Vec<Vec<f64>> = Vec::new();
    let mut unnamed: Vec<String> = Vec::new();
    for j in (0..p).filter(|&j| !constant[j] || (j == 0 && design.has_intercept)) {
        let mut row: Vec<f64> = Vec::with_capacity(kept.len() + 1);
        for (i, &k) in kept.iter().enumerate() {
            let inner: f64 = (0..i).map(|l| row[l] * factor[i][l]).sum();
            row.push((correlation[(j, k)] - inner) / factor[i][i]);
        }
        let left = 1.0 - row.iter().map(|value| value * value).sum::<f64>();
        if left < EXACT {
            dependent[j] = true;
            if dependent.iter().filter(|&&is| is).count() <= MAX_NAMES {
                report_dependent(design, j, &kept, &factor, &row, reporter);
            } else {
                unnamed.push(design.terms[j].to_string());
            }
        } else {
            row.push(left.sqrt());
            factor.push(row);
            kept.push(j);
        }
    }
    if !unnamed.is_empty() {
        reporter.report(Remark::MoreCollinear { columns: unnamed });
    }
    near_collinear(design, &kept, &correlation, reporter);
    dependent
}

fn report_dependent(
    design: &Design,
    column: usize,
    kept: &[usize],
    factor: &[Vec<f64>],
    row: &[f64],
    reporter: &mut Reporter,
) {
    // Back substitution gives the combination; small coefficients are rounding.
    let mut coefficients = row.to_vec();
    for i in (0..coefficients.len()).rev() {
        let inner: f64 = (i + 1..coefficients.len())
            .map(|l| factor[l][i] * coefficients[l])
            .sum();
        coefficients[i] = (coefficients[i] - inner) / factor[i][i];
    }
    let is_intercept = |j: usize| j == 0 && design.has_intercept;
    let others = kept
        .iter()
        .zip(&coefficients)
        .filter(|(j, value)| value.abs() > 1e-4 && !is_intercept(**j))
        .map(|(j, _)| design.terms[*j].to_string())
        .collect();
    let column = design.terms[column].clone();
    reporter.report(Remark::Collinear { column, others });
}

/// Reports a large condition number of the kept columns, naming those in the weakest direction.
fn near_collinear(
    design: &Design,
    kept: &[usize],
    correlation: &Mat<f64>,
    reporter: &mut Reporter,
) {
    let kept: Vec<usize> = kept
        .iter()
        .copied()
        .filter(|&j| !(design.has_intercept && j == 0))
        .collect();
    if kept.len() < 2 {
        return;
    }
    let part = Mat::from_fn(kept.len(), kept.len(), |i, j| {
        correlation[(kept[i], kept[j])]
    });
    // Eigenvalues of a finite symmetric matrix exist; if the iteration fails there is nothing to say.
    let Ok(eigen) = part.self_adjoint_eigen(Side::Lower) else {
        return;
    };
    let values = eigen.S().column_vector();
    let (smallest, largest) = (values[0].max(f64::EPSILON), values[kept.len() - 1]);
    let condition = (largest / smallest).sqrt();
    if condition < LARGE_CONDITION {
        return;
    }
    let direction = eigen.U().col(0);
    let mut shares: Vec<(usize, f64)> = kept
        .iter()
        .enumerate()
        .map(|(i, &j)| (j, direction[i].abs()))
        .collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    let columns = shares
        .iter()
        .filter(|(_, share)| *share > 0.3)
        .take(5)
        .map(|(j, _)| design.terms[*j].clone())
        .collect();
    reporter.report(Remark::NearlyCollinear { columns, condition });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::columns::{MemoryColumns, Values};
    use crate::design::matrix::ModelFrame;
    use crate::design::response::ResponseUse;
    use ergodic_base::{Purpose, stream};
    use rand::RngExt as _;

    fn numbers(values: Vec<f64>) -> Values {
        Values::Numbers(values)
    }

    fn report(columns: Vec<(&str, Values)>, formula: &str) -> Vec<(String, String)> {
        let columns = columns
            .into_iter()
            .map(|(name, values)| (name.to_owned(), values))
            .collect();
        let table = MemoryColumns::new("t", columns).unwrap();
        let (design, _) =
            Design::build(&table, &ModelFrame::new(formula.parse().unwrap())).unwrap();
        check(&design)
            .warnings
            .into_iter()
            .map(|warning| (warning.code, warning.message))
            .collect()
    }

    /// Uniform numbers in (-1, 1) and a fair coin, independent of each other.
    fn noise(n: usize, seed: u64) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let mut rng = stream(seed, 0, Purpose::Data);
        let mut column = || {
            (0..n)
                .map(|_| 2.0 * rng.random::<f64>() - 1.0)
                .collect::<Vec<f64>>()
        };
        let (a, b, c) = (column(), column(), column());
        (
            a,
            b,
            c.into_iter()
                .map(|value| f64::from(u8::from(value > 0.0)))
                .collect(),
        )
    }

    #[test]
    fn healthy_data_give_an_empty_report() {
        let (a, b, y) = noise(200, 1);
        assert_eq!(
            report(
                vec![("a", numbers(a)), ("b", numbers(b)), ("y", numbers(y))],
                "y ~ a*b"
            ),
            []
        );
    }

    #[test]
    fn constant_and_collinear_columns_are_named() {
        let (a, b, y) = noise(200, 2);
        let sum: Vec<f64> = a.iter().zip(&b).map(|(a, b)| 3.0 * a - b + 7.0).collect();
        let twice: Vec<f64> = a.iter().map(|a| 2.0 * a + 1.0).collect();
        let near: Vec<f64> = b.iter().zip(&a).map(|(b, a)| b + 1e-3 * a * a).collect();
        let found = report(
            vec![
                ("a", numbers(a)),
                ("b", numbers(b)),
                ("sum", numbers(sum)),
                ("twice", numbers(twice)),
                ("near", numbers(near)),
                ("one", numbers(vec![4.5; 200])),
                ("y", numbers(y)),
            ],
            "y ~ a + b + sum + twice + near + one",
        );
        let codes: Vec<&str> = found.iter().map(|(code, _)| code.as_str()).collect();
        // The constant one has been left out of the design.
        assert_eq!(codes, ["collinear", "collinear", "nearly-collinear"]);
        assert!(
            found[0]
                .1
                .starts_with("`sum` is a combination of `a` and `b`")
        );
        assert!(found[1].1.starts_with("`twice` is `a` on another scale"));
        assert!(
            found[2].1.contains("`b`") && found[2].1.contains("`near`"),
            "{}",
            found[2].1
        );
    }

    #[test]
    fn a_cell_without_rows_is_named() {
        let word = |of: &dyn Fn(usize) -> &'static str| {
            Values::Texts((0..60).map(|i| Some(of(i).to_owned())).collect())
        };
        let columns = vec![
            (
                "y",
                numbers((0..60).map(|i| f64::from(i * 37 % 2)).collect()),
            ),
            ("f", word(&|i| ["f0", "f1"][usize::from(i % 3 == 0)])),
            ("g", word(&|i| ["g0", "g1"][usize::from(i % 3 == 1)])),
        ];
        let found = report(columns, "y ~ f*g");
        assert_eq!(found[0].0, "constant-column", "{found:?}");
        assert_eq!(
            found[0].1,
            "`f=f1:g=g1` is 0 in all 60 rows, so it carries no information"
        );
    }

    #[test]
    fn separation_by_a_number_or_a_level_is_named() {
        let (a, _, _) = noise(100, 3);
        let y: Vec<f64> = a.iter().map(|a| f64::from(u8::from(*a > 0.2))).collect();
        let found = report(vec![("a", numbers(a)), ("y", numbers(y))], "y ~ a");
        assert_eq!(found.len(), 1);
        assert!(
            found[0]
                .1
                .starts_with("`a` alone predicts y: it is 1 at and above 0.2"),
            "{}",
            found[0].1
        );

        let (b, _, mut y) = noise(100, 4);
        let region: Vec<Option<String>> = (0..100)
            .map(|i| Some(["e", "n", "s"][i % 3].to_owned()))
            .collect();
        for i in (0..100).filter(|i| i % 3 == 2) {
            y[i] = 0.0;
        }
        let found = report(
            vec![
                ("b", numbers(b)),
                ("region", Values::Texts(region)),
                ("y", numbers(y)),
            ],
            "y ~ b + region",
        );
        assert_eq!(
            found,
            [(
                "separation".to_owned(),
                "All 33 rows with `region=s` have y = 0".to_owned()
            )]
        );
    }

    /// Most rows say nothing of a rare value; where some overlap along a number, no cut of the others is taken for one of all.
    #[test]
    fn separation_in_many_rows_is_that_of_all() {
        const MANY: usize = 20_000;
        let (a, _, coin) = noise(MANY, 9);
        let rare = |i: usize| i.is_multiple_of(10_000);
        let y = (0..MANY).map(|i| if rare(i) { 1.0 } else { coin[i] });
        let columns = vec![
            (
                "rare",
                numbers((0..MANY).map(|i| f64::from(u8::from(rare(i)))).collect()),
            ),
            ("a", numbers(a)),
            ("y", numbers(y.collect())),
        ];
        let found = report(columns, "y ~ a + rare");
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].1, "All 2 rows where `rare` is 1 have y = 1");
    }

    #[test]
    fn separation_by_two_columns_together_is_found_and_overlap_is_not() {
        let (a, b, coin) = noise(400, 5);
        let y = |flip: f64| -> Vec<f64> {
            a.iter()
                .zip(&b)
                .zip(&coin)
                .map(|((a, b), coin)| {
                    let side = a + b;
                    if side.abs() < flip {
                        *coin
                    } else {
                        f64::from(u8::from(side > 0.0))
                    }
                })
                .collect()
        };
        let columns = |y: Vec<f64>| {
            vec![
                ("a", numbers(a.clone())),
                ("b", numbers(b.clone())),
                ("y", numbers(y)),
            ]
        };
        let found = report(columns(y(0.0)), "y ~ a + b");
        assert_eq!(found.len(), 1);
        assert!(
            found[0].1.starts_with("`a` and `b` together predict y"),
            "{}",
            found[0].1
        );
        // A narrow band of coin tosses is enough for a finite maximum.
        assert_eq!(report(columns(y(0.1)), "y ~ a + b"), []);
    }

    /// The first rows that are looked at lack the cell, along which they say nothing.
    #[test]
    fn quasi_separation_in_a_rare_cell_is_found() {
        const MANY: usize = 20_000;
        let (a, _, coin) = noise(MANY, 10);
        let is_rare = |i: usize| i.is_multiple_of(MANY / 4);
        let f = |i: usize| f64::from(u8::from(is_rare(i) || i % 2 == 1));
        let g = |i: usize| f64::from(u8::from(!i.is_multiple_of(4)));
        // Either alone has both signs where outcomes are 1; their sum is positive.
        let rare_number = |i: usize, sign: f64| match is_rare(i) {
            true => {
                1.0 + sign
                    * if i.is_multiple_of(MANY / 2) {
                        2.0
                    } else {
                        -2.0
                    }
            }
            false => 0.0,
        };
        let numbers_of = |of: &dyn Fn(usize) -> f64| numbers((0..MANY).map(of).collect());
        let columns = vec![
            ("a", numbers(a)),
            ("f", numbers_of(&f)),
            ("g", numbers_of(&g)),
            ("u", numbers_of(&|i| rare_number(i, 1.0))),
            ("v", numbers_of(&|i| rare_number(i, -1.0))),
            ("y", numbers_of(&|i| if is_rare(i) { 1.0 } else { coin[i] })),
        ];
        // Once among columns that are the same but in the cell, once as two columns of zeros that rows outside the cell have.
        for formula in ["y ~ a + f*g", "y ~ 0 + a + u + v"] {
            let found = report(columns.clone(), formula);
            let is_told = |(_code, words): &(String, String)| words.contains("together predict y");
            assert!(found.iter().any(is_told), "{formula}: {found:?}");
        }
    }

    #[test]
    fn quasi_separation_in_a_cell_of_an_interaction_is_found() {
        let (a, _, coin) = noise(300, 6);
        let word = |i: usize, levels: [&str; 2], by: usize| Some(levels[(i / by) % 2].to_owned());
        let f: Vec<Option<String>> = (0..300).map(|i| word(i, ["f0", "f1"], 1)).collect();
        let g: Vec<Option<String>> = (0..300).map(|i| word(i, ["g0", "g1"], 2)).collect();
        // The cell f0, g0 has successes only; no single column separates.
        let y: Vec<f64> = (0..300)
            .map(|i| if i % 4 == 0 { 1.0 } else { coin[i] })
            .collect();
        let columns = vec![
            ("a", numbers(a)),
            ("f", Values::Texts(f)),
            ("g", Values::Texts(g)),
            ("y", numbers(y)),
        ];
        let found = report(columns, "y ~ a + f*g");
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].0, "separation");
    }

    /// Where standard errors are known there is no residual that effects of groups could be taken for.
    #[test]
    fn known_errors_tell_groups_of_one_row_from_chance() {
        let (values, _, _) = noise(15, 8);
        let word =
            |by: usize| Values::Texts((0..30).map(|i| Some(format!("level{}", i / by))).collect());
        let columns = [
            ("y", numbers((0..30).map(|i| values[i / 2]).collect())),
            ("error", numbers(vec![0.2; 30])),
            ("study", word(1)),
            ("lab", word(2)),
        ];
        let columns = columns.map(|(name, values)| (name.to_owned(), values));
        let table = MemoryColumns::new("t", columns.into()).unwrap();
        let has = |formula: &str, code: &str| {
            let mut frame = ModelFrame::new(formula.parse().unwrap());
            frame.response_use = ResponseUse::Number;
            let (design, _) = Design::build(&table, &frame).unwrap();
            check(&design).warnings.iter().any(|it| it.code == code)
        };
        for (group, code) in [
            ("study", "one-row-groups"),
            ("lab", "constant-response-in-groups"),
        ] {
            assert!(has(&format!("y ~ (1 | {group})"), code), "{code}");
            let known = format!("y | se(error) ~ (1 | {group})");
            assert!(!has(&known, code), "{code}");
        }
    }

    #[test]
    fn more_columns_than_rows_is_said() {
        let (a, b, _) = noise(3, 7);
        let found = report(
            vec![
                ("a", numbers(a)),
                ("b", numbers(b)),
                ("y", numbers(vec![0.0, 1.0, 0.0])),
            ],
            "y ~ a*b",
        );
        assert_eq!(found[0].0, "more-predictors-than-rows");
        assert!(found[0].1.contains("4 coefficients but only 3 rows"));
    }
}
