//! R² of closed forms and of another program, weights, and where there is none.

use super::*;
use crate::predict::testing::{REFERENCE_MODELS, list, opened, reference, reference_draws};

/// A model of four rows.
fn of_four(template: &str, formula: &str) -> (tempfile::TempDir, Fitted) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv");
    std::fs::write(&path, "x,y,level\n0,1,low\n1,4,high\n2,2,medium\n3,7,low\n").unwrap();
    let fitted = opened(&path, template, formula);
    (folder, fitted)
}

fn r2(fitted: &Fitted, draws: &[Vec<f64>], weights: &[Vec<f64>]) -> Option<R2> {
    let draws = list(draws);
    fitted.r2(&[&draws], weights, &Control::default()).unwrap()
}

/// x = 0, 1, 2, 3 has the variance 5/3, so that R² = β² 5/3 / (β² 5/3 + σ²).
#[test]
fn three_draws_of_a_line_through_four_rows() {
    let (_folder, fitted) = of_four("linear", "y ~ x");
    let draws = [
        vec![1.0, 2.0, 1.0],
        vec![0.0, 1.0, 2.0],
        vec![5.0, 1.0, 1.0],
    ];
    let found = r2(&fitted, &draws, &[]).unwrap();
    let exact = [20.0 / 23.0, 5.0 / 17.0, 5.0 / 8.0];
    for (value, exact) in found.values.iter().zip(exact) {
        assert!((value - exact).abs() < 1e-14, "{value} {exact}");
    }
    assert_eq!((found.values.len(), found.draws_total), (3, 3));
    let between = |from: f64, to: f64, share: f64| from + share * (to - from);
    for (value, exact) in [
        (found.median, exact[2]),
        (found.interval[0], between(exact[1], exact[2], 0.1)),
        (found.interval[1], between(exact[2], exact[0], 0.9)),
    ] {
        assert!((value - exact).abs() < 1e-14, "{value} {exact}");
    }
    assert_eq!(
        found.sentence(),
        "Bayesian R² of y: 0.625 (90 % interval 0.327 to 0.845), the share of its variance that the model explains"
    );
}

/// A draw of weight 0 is as good as none, and more draws than a thread takes at a time are all there.
#[test]
fn draws_count_as_much_as_their_weights_and_each_has_a_value() {
    let (_folder, fitted) = of_four("linear", "y ~ x");
    let draws: Vec<Vec<f64>> = (0..100)
        .map(|s| vec![0.0, 0.1 * f64::from(s), 1.0])
        .collect();
    let found = r2(&fitted, &draws, &[]).unwrap();
    for (draw, value) in draws.iter().zip(&found.values) {
        let explained = draw[1] * draw[1] * 5.0 / 3.0;
        assert!((value - explained / (explained + 1.0)).abs() < 1e-14);
    }
    let weights = (0..100).map(|s| f64::from(u8::from(s >= 98))).collect();
    let weighted = r2(&fitted, &draws, &[weights]).unwrap();
    let low = weighted.interval[0];
    assert!(low >= found.values[97] && low > found.interval[1], "{low}");
}

#[test]
fn levels_have_no_share_of_variance() {
    let (_folder, fitted) = of_four("multinomial", "level ~ x");
    let draw = vec![0.1; fitted.model.params().len()];
    assert_eq!(r2(&fitted, &[draw], &[]), None);
}

/// The six models of `tests/reference/r2.py`: normal, Student-t, yes or no, successes among trials, counts, groups.
#[test]
fn other_models_have_the_numbers_of_another_program() {
    let read = |name: &str| std::fs::read_to_string(reference(name)).unwrap();
    let (all_draws, expected) = (read("r2_draws.csv"), read("r2.csv"));
    let mut compared = 0;
    for [name, template, formula] in REFERENCE_MODELS {
        let fitted = opened(&reference("r2_data.csv"), template, formula);
        let draws = reference_draws(&fitted, &all_draws, name, 3);
        let found = r2(&fitted, &draws, &[]).unwrap();
        assert_eq!(found.has_groups, name == "mixed");
        for line in expected.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            if cells[0] == name {
                let value = found.values[cells[1].parse::<usize>().unwrap()];
                let exact: f64 = cells[2].parse().unwrap();
                assert!((value - exact).abs() < 1e-12, "{line}: {value}");
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 18);
}
