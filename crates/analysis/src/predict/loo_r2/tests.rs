//! LOO-R² against another program and a closed form, and where there is none.

use super::*;
use crate::predict::testing::{REFERENCE_MODELS, list, opened, reference, reference_draws};

fn loo_r2(fitted: &Fitted, draws: &[Vec<f64>]) -> Option<LooR2> {
    let draws = list(draws);
    fitted.loo_r2(&[&draws], &[], &Control::default()).unwrap()
}

/// The six models of `tests/reference/loo_r2.py`: errors of rows to rounding, mean and standard deviation of R² within the Monte
/// Carlo error of 4,000 sets of weights.
#[test]
fn errors_and_their_share_of_variance_are_those_of_another_program() {
    let read = |name: &str| std::fs::read_to_string(reference(name)).unwrap();
    let (all_draws, errors, expected) = (
        read("loo_r2_draws.csv"),
        read("loo_r2_errors.csv"),
        read("loo_r2.csv"),
    );
    let mut compared = 0;
    for [name, template, formula] in REFERENCE_MODELS {
        let fitted = opened(&reference("r2_data.csv"), template, formula);
        let draws = reference_draws(&fitted, &all_draws, name, 40);
        let draws = list(&draws);
        let control = Control::default();
        let (rows, used) = fitted.left_out(&[&draws], &[], &control).unwrap().unwrap();
        assert_eq!((rows.len(), used), (14, 40));
        for line in errors.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            if cells[0] == name {
                let error = rows[cells[1].parse::<usize>().unwrap()].error;
                let exact: f64 = cells[2].parse().unwrap();
                assert!((error - exact).abs() < 1e-10, "{line}: {error}");
                compared += 1;
            }
        }
        let found = fitted.loo_r2(&[&draws], &[], &control).unwrap().unwrap();
        let line = expected
            .lines()
            .find(|line| line.starts_with(name))
            .unwrap();
        let numbers: Vec<f64> = line
            .split(',')
            .skip(1)
            .map(|x| x.parse().unwrap())
            .collect();
        let (mean, sd) = (numbers[0], numbers[1]);
        let count = found.values.len() as f64;
        assert_eq!(found.values.len(), SETS);
        let average = found.values.iter().sum::<f64>() / count;
        let squares = |power: i32| {
            let off = found
                .values
                .iter()
                .map(|value| (value - average).powi(power));
            off.sum::<f64>() / count
        };
        let error = sd / count.sqrt();
        assert!((average - mean).abs() < 4.0 * error, "{line}: {average}");
        // The standard error of a variance is by the fourth moment.
        let error = ((squares(4) - squares(2).powi(2)) / count).sqrt();
        assert!(
            (squares(2) - sd * sd).abs() < 5.0 * error,
            "{line}: {}",
            squares(2)
        );
    }
    assert_eq!(compared, 6 * 14);
}

/// A line that goes through all rows predicts each of them, whatever their weights; one that is off by much more than the outcome
/// varies explains nothing, although its errors do not vary.
#[test]
fn predictions_without_error_explain_all_and_those_off_by_a_constant_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv");
    std::fs::write(&path, "x,y,level\n0,1,a\n1,3,b\n2,5,c\n3,7,a\n").unwrap();
    let fitted = opened(&path, "linear", "y ~ x");
    let exact = loo_r2(&fitted, &vec![vec![1.0, 2.0, 1.0]; 20]).unwrap();
    assert!(exact.values.iter().all(|value| (value - 1.0).abs() < 1e-12));
    assert_eq!(exact.doubtful, 0);
    assert_eq!(
        exact.sentence(),
        "LOO-R² of y: 1.000 (90 % interval 1.000 to 1.000), the share of the variance of rows left out that predictions explain"
    );
    let off = loo_r2(&fitted, &vec![vec![101.0, 2.0, 1.0]; 20]).unwrap();
    assert!(off.values.iter().all(|value| *value == RANGE[0]));
    // Nothing is to be explained of what does not vary, and levels have no variance.
    let same = LeftOut {
        observed: 0.1,
        error: 0.5,
        k: 0.0,
    };
    let values = bootstrap(&[same; 7], &Control::default()).unwrap();
    assert!(values.iter().all(|value| value.is_nan()));
    let mut overflowing = [same; 7];
    (overflowing[0].observed, overflowing[1].error) = (2.0, f64::INFINITY);
    let values = bootstrap(&overflowing, &Control::default()).unwrap();
    assert!(values.iter().all(|value| value.is_nan()));
    let levels = opened(&path, "multinomial", "level ~ x");
    let draw = vec![0.1; levels.model.params().len()];
    assert_eq!(loo_r2(&levels, &vec![draw; 20]), None);
}
