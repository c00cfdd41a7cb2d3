//! Against prcomp of R (tests/reference/components.R), and what lines are drawn.

use super::*;

const DRAWS: &str = include_str!("../../../../tests/reference/components_draws.csv");
const EXPECTED: &str = include_str!("../../../../tests/reference/components.csv");

/// The draws of a run, by chain.
fn run(number: &str) -> Vec<DrawList> {
    let mut chains = vec![DrawList::new(4), DrawList::new(4)];
    for line in DRAWS.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        if cells[0] == number {
            let values: Vec<f64> = cells[2..]
                .iter()
                .map(|cell| cell.parse().unwrap())
                .collect();
            chains[cells[1].parse::<usize>().unwrap() - 1].push(&values);
        }
    }
    chains
}

fn expected(quantity: &str) -> Vec<f64> {
    let lines = EXPECTED.lines().map(|line| line.split(',').collect());
    let found = lines.filter(|cells: &Vec<&str>| cells[0] == quantity);
    found.map(|cells| cells[2].parse().unwrap()).collect()
}

fn close(found: &[f64], quantity: &str) {
    let expected = expected(quantity);
    assert_eq!(found.len(), expected.len(), "{quantity}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            (found - expected).abs() < 1e-8,
            "{quantity}: {found} {expected}"
        );
    }
}

#[test]
fn components_and_projections_are_those_of_prcomp() {
    let (one, two) = (run("1"), run("2"));
    let (one, two): (Vec<&DrawList>, Vec<&DrawList>) = (one.iter().collect(), two.iter().collect());
    let all = [0, 1, 2, 3];
    let found = Components::of(&one, &all, None).unwrap();
    close(&found.directions[0], "largest");
    close(&found.directions[1], "smallest");
    close(&found.variances, "variances");
    for (number, lists) in [("1", &one), ("2", &two)] {
        let projected = found.project(lists, &all, None).unwrap();
        close(&projected.mean, &format!("mean{number}"));
        close(&projected.covariance, &format!("covariance{number}"));
        // Every point of the ellipse is three standard deviations from the mean.
        let [xx, xy, yy] = projected.covariance;
        for point in &projected.ellipse {
            let [x, y] = [0, 1].map(|k| point[k] - projected.mean[k]);
            let square = (yy * x * x - 2.0 * xy * x * y + xx * y * y) / (xx * yy - xy * xy);
            assert!((square.sqrt() - ELLIPSE_SDS).abs() < 1e-9);
        }
        assert_eq!(projected.points.len(), 150);
    }
    // A draw that weighs twice counts as two, up to the divisor of variances.
    let mut twice = run("1");
    let copy = twice.clone();
    for (list, copied) in twice.iter_mut().zip(&copy) {
        for i in 0..20 {
            let values: Vec<f64> = all.iter().map(|&j| copied.value(i, j)).collect();
            list.push(&values);
        }
    }
    let twice: Vec<&DrawList> = twice.iter().collect();
    let weights: Vec<f64> = (0..150)
        .map(|s| if s % 75 < 20 { 2.0 } else { 1.0 })
        .collect();
    let mean = weights.iter().sum::<f64>() / 150.0;
    let relative: Vec<f64> = weights.iter().map(|weight| weight / mean).collect();
    let by_weight = Components::of(&one, &all, Some(&relative)).unwrap();
    let by_copies = Components::of(&twice, &all, None).unwrap();
    for k in 0..2 {
        for (a, b) in by_weight.directions[k].iter().zip(&by_copies.directions[k]) {
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
        assert!((by_weight.variances[k] - by_copies.variances[k]).abs() < 1e-9);
    }
}

#[test]
fn lines_are_draws_in_standard_deviations_and_divergent_ones_stand_apart() {
    let one = run("1");
    let lists: Vec<&DrawList> = one.iter().collect();
    let mut flags = vec![vec![false; 75], vec![false; 75]];
    flags[0][3] = true;
    flags[1][74] = true;
    let found = Parallel::of(&lists, &[1, 3], Some(&flags), 10).unwrap();
    assert_eq!(
        (found.plain.len(), found.divergent.len(), found.divergences),
        (10, 2, 2)
    );
    let column = |j: usize| -> Vec<f64> { lists.iter().flat_map(|list| list.column(j)).collect() };
    for (place, j) in [1, 3].into_iter().enumerate() {
        let values = column(j);
        let mean = values.iter().sum::<f64>() / 150.0;
        let sd = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 149.0).sqrt();
        assert!((found.divergent[0][place] - (values[3] - mean) / sd).abs() < 1e-9);
        assert!((found.divergent[1][place] - (values[149] - mean) / sd).abs() < 1e-9);
        assert!((found.plain[0][place] - (values[0] - mean) / sd).abs() < 1e-9);
    }
    let none = Parallel::of(&lists, &[0], None, 500).unwrap();
    assert_eq!((none.plain.len(), none.divergences), (150, 0));
}

#[test]
fn what_does_not_move_is_said() {
    let mut list = DrawList::new(3);
    for i in 0..9 {
        list.push(&[f64::from(i), 2.0, if i == 4 { f64::NAN } else { 1.0 }]);
    }
    let trouble = |parameters: &[usize]| Components::of(&[&list], parameters, None).unwrap_err();
    assert_eq!(
        trouble(&[0, 1]),
        Trouble {
            place: 1,
            missing: Missing::Constant
        }
    );
    assert_eq!(
        trouble(&[2, 0]),
        Trouble {
            place: 0,
            missing: Missing::NotFinite
        }
    );
    let short = DrawList::new(3);
    let few = Parallel::of(&[&short], &[0], None, 5).unwrap_err();
    assert_eq!(few.missing, Missing::TooFew);
    // What follows from another parameter has no spread of its own.
    let twins = Components::of(&[&list], &[0, 0], None).unwrap();
    assert!(twins.variances[1] < 1e-12);
    let projected = twins.project(&[&list], &[0, 0], None).unwrap();
    assert!(projected.ellipse.iter().all(|point| point[1].abs() < 1e-6));
}
