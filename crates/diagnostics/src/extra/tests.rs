use super::*;
use crate::ess::{Across, ess_bulk, ess_mean, ess_quantile};
use crate::mcse::{mcse_quantile, mcse_sd};
use crate::quantiles::{mean, sd};
use crate::rhat::rhat_nested;
use ergodic_base::{Purpose, stream};
use rand::RngExt as _;
use rand_distr::StandardNormal;

/// Chains of two variables: draws that remember half of the one before, and their exponentials.
fn lists(lengths: &[usize]) -> Vec<DrawList> {
    let list = |(chain, &draws): (usize, &usize)| {
        let mut rng = stream(11, chain, Purpose::Diagnostics);
        let mut list = DrawList::new(2);
        let mut x = 0.0;
        for _ in 0..draws {
            x = 0.5 * x + rng.sample::<f64, _>(StandardNormal);
            list.push(&[x, x.exp()]);
        }
        list
    };
    lengths.iter().enumerate().map(list).collect()
}

fn extras(lists: &[DrawList], weights: &[Vec<f64>]) -> Extras {
    let inputs = ExtraInputs {
        chains: &lists.iter().collect::<Vec<_>>(),
        numbers: &[1, 3, 4, 6],
        weights,
        seconds: 3.0,
        superchains: Some(2),
        interval: 0.8,
        rope: Some([-0.1, 0.1]),
    };
    Extras::of(&Extra::ALL, &inputs)
}

#[test]
fn columns_are_those_of_the_functions() {
    let lists = lists(&[300, 310, 300, 305]);
    let extras = extras(&lists, &[]);
    let names: Vec<String> = extras.columns.iter().map(|column| column.name()).collect();
    assert_eq!(names.len(), 19 + 3 * 4);
    assert_eq!(
        names[19..23],
        [
            "chain_mean[1]",
            "chain_mean[3]",
            "chain_mean[4]",
            "chain_mean[6]"
        ]
    );
    assert_eq!(extras.rows.len(), 2);
    for (j, row) in extras.rows.iter().enumerate() {
        let columns: Vec<Vec<f64>> = lists
            .iter()
            .map(|list| list.column(j)[..300].to_vec())
            .collect();
        let chains: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let of = |name: &str| row[names.iter().position(|it| it == name).unwrap()];
        assert_eq!(of("mcse_sd"), mcse_sd(&chains).ok());
        assert_eq!(of("mcse_q50"), mcse_quantile(&chains, 0.5).ok());
        assert_eq!(of("ess_q95"), ess_quantile(&chains, 0.95).ok());
        assert_eq!(of("ess_mean"), ess_mean(&chains).ok());
        assert_eq!(
            of("inefficiency"),
            Some(1200.0 / ess_mean(&chains).unwrap())
        );
        assert_eq!(
            of("computational_time"),
            Some(3.0 / ess_mean(&chains).unwrap())
        );
        assert_eq!(of("rhat_nested"), rhat_nested(&chains, 2).ok());
        let local = Across::of(&chains, &[]).unwrap().local;
        assert_eq!(
            of("ess_local"),
            local.into_iter().flatten().reduce(f64::min)
        );
        for (chain, number) in chains.iter().zip([1, 3, 4, 6]) {
            assert_eq!(of(&format!("chain_mean[{number}]")), mean(&[chain]).ok());
            assert_eq!(of(&format!("chain_sd[{number}]")), sd(&[chain]).ok());
            assert_eq!(
                of(&format!("chain_ess_bulk[{number}]")),
                ess_bulk(&[chain]).ok()
            );
        }
    }
}

/// A draw that weighs nothing is none, and equal weights are none.
#[test]
fn weights_count() {
    let plain = lists(&[300; 4]);
    let equal = vec![vec![2.5; 300]; 4];
    assert_eq!(extras(&plain, &equal), extras(&plain, &[]));
    let mut rng = stream(12, 0, Purpose::Diagnostics);
    let signed: Vec<Vec<f64>> = (0..4)
        .map(|_| {
            (0..300)
                .map(|_| if rng.random::<f64>() < 0.1 { -1.0 } else { 1.0 })
                .collect()
        })
        .collect();
    let (weighted, plain) = (extras(&plain, &signed), extras(&plain, &[]));
    for (name, (&a, &b)) in (weighted.columns.iter().map(|it| it.name()))
        .zip(weighted.rows[0].iter().zip(&plain.rows[0]))
    {
        let (a, b) = (a.unwrap(), b.unwrap());
        // An end of a shortest interval is a draw, with weights and without perhaps the same.
        let differs = a != b || name.starts_with("hdi_");
        assert!(a.is_finite() && differs, "{name}: {a} {b}");
        if name == "mcse_sd" || name == "inefficiency" {
            // A tenth of the signs is negative: errors grow by 1 / (1 - 0.2).
            assert!(a > b, "{name}: {a} {b}");
        }
    }
}

#[test]
fn what_is_not_known_is_missing() {
    let lists = lists(&[300; 3]);
    let inputs = ExtraInputs {
        chains: &lists.iter().collect::<Vec<_>>(),
        numbers: &[1, 2, 3],
        weights: &[],
        seconds: 0.0,
        superchains: None,
        interval: 0.8,
        rope: None,
    };
    let wanted = [Extra::ComputationalTime, Extra::RhatNested];
    assert_eq!(
        Extras::of(&wanted, &inputs).rows,
        [[None, None], [None, None]]
    );
    let uneven = ExtraInputs {
        superchains: Some(2),
        ..inputs
    };
    assert_eq!(
        Extras::of(&[Extra::RhatNested], &uneven).rows,
        [[None], [None]]
    );
    let none = ExtraInputs {
        chains: &[],
        numbers: &[],
        ..inputs
    };
    assert_eq!(
        Extras::of(&Extra::ALL, &none).rows,
        Vec::<Vec<Option<f64>>>::new()
    );
}

/// Numbers of ArviZ, by `tests/reference/hdi.py`.
#[test]
fn shortest_intervals_are_those_of_arviz() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/");
    let lines = |file: &str| -> Vec<String> {
        let text = std::fs::read_to_string(format!("{folder}{file}")).unwrap();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines.map(str::to_owned).collect()
    };
    for line in &lines("hdi.csv")[1..] {
        let (set, numbers) = line.split_once(',').unwrap();
        let numbers: Vec<f64> = numbers.split(',').map(|it| it.parse().unwrap()).collect();
        let mut list = DrawList::new(1);
        for row in lines(&format!("draws_{set}.csv")) {
            for cell in row.split(',') {
                list.push(&[cell.parse().unwrap()]);
            }
        }
        let inputs = ExtraInputs {
            chains: &[&list],
            numbers: &[1],
            weights: &[],
            seconds: 0.0,
            superchains: None,
            interval: numbers[0],
            rope: None,
        };
        let rows = Extras::of(&[Extra::HdiLow, Extra::HdiHigh], &inputs).rows;
        assert_eq!(rows[0], [Some(numbers[1]), Some(numbers[2])], "{line}");
    }
}

/// Numbers of numpy, by `tests/reference/shares.py`.
#[test]
fn probabilities_above_zero_and_in_a_range_are_those_of_numpy() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/");
    let lines = |file: &str| -> Vec<String> {
        let text = std::fs::read_to_string(format!("{folder}{file}")).unwrap();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines.map(str::to_owned).collect()
    };
    let known = lines("shares.csv");
    assert_eq!(known.len(), 1 + 2 * 9);
    for line in &known[1..] {
        let (set, numbers) = line.split_once(',').unwrap();
        let numbers: Vec<f64> = numbers.split(',').map(|it| it.parse().unwrap()).collect();
        let [weighted, above, from, to, within] = numbers[..] else {
            panic!("{line}");
        };
        let rows: Vec<Vec<f64>> = lines(&format!("draws_{set}.csv"))
            .iter()
            .map(|row| row.split(',').map(|cell| cell.parse().unwrap()).collect())
            .collect();
        let width = rows[0].len();
        let chain = |k: usize| {
            let mut list = DrawList::new(1);
            rows.iter().for_each(|row| list.push(&[row[k]]));
            list
        };
        let chains: Vec<DrawList> = (0..width).map(chain).collect();
        let weight = |k: usize, i: usize| 1.0 + ((i * width + k) % 7) as f64 / 4.0;
        let weights_of = |k: usize| -> Vec<f64> { (0..rows.len()).map(|i| weight(k, i)).collect() };
        let weights: Vec<Vec<f64>> = match weighted > 0.0 {
            true => (0..width).map(weights_of).collect(),
            false => Vec::new(),
        };
        let inputs = ExtraInputs {
            chains: &chains.iter().collect::<Vec<_>>(),
            numbers: &(1..=width).collect::<Vec<_>>(),
            weights: &weights,
            seconds: 0.0,
            superchains: None,
            interval: 0.9,
            rope: Some([from, to]),
        };
        let found = Extras::of(&[Extra::PPositive, Extra::InRope], &inputs);
        for (found, expected) in found.rows[0].iter().zip([above, within]) {
            let error = (found.unwrap() - expected).abs();
            assert!(error < 1e-12, "{line}: {found:?}");
        }
    }
}

#[test]
fn intervals_and_shares_are_those_of_the_draws() {
    // 1 to 1,000 cubed: the shortest interval of 60 % is the lower one, and two thirds lie above 0 if 333 are moved below.
    let mut list = DrawList::new(1);
    for i in 1..=1000_i32 {
        list.push(&[(f64::from(i) / 1000.0).powi(3) - 0.333_5_f64.powi(3)]);
    }
    let inputs = ExtraInputs {
        chains: &[&list],
        numbers: &[1],
        weights: &[],
        seconds: 0.0,
        superchains: None,
        interval: 0.6,
        rope: Some([-1.0, 0.0]),
    };
    let wanted = [
        Extra::Low,
        Extra::High,
        Extra::HdiLow,
        Extra::HdiHigh,
        Extra::PPositive,
        Extra::InRope,
    ];
    let rows = Extras::of(&wanted, &inputs).rows;
    let found: Vec<f64> = rows[0].iter().map(|value| value.unwrap()).collect();
    let at = |share: f64| share.powi(3) - 0.333_5_f64.powi(3);
    let expected = [at(0.2), at(0.8), at(0.001), at(0.6), 0.667, 0.333];
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 2e-3, "{found} {expected}");
    }
    // Of weighted draws shares follow the weights: the upper half counts three times.
    let weights: Vec<f64> = (1..=1000)
        .map(|i| if i > 500 { 3.0 } else { 1.0 })
        .collect();
    let weighted = ExtraInputs {
        weights: &[weights],
        ..inputs
    };
    let rows = Extras::of(&wanted, &weighted).rows;
    let share = rows[0][4].unwrap();
    assert!((share - (167.0 + 1500.0) / 2000.0).abs() < 1e-9, "{share}");
    // The shortest 60 % begin where values are closest together. 499 draws of the lower half and 234 of the upper one, which weigh 702,
    // and halves of the draws at both ends, 1 and 734, are 1,200 of 2,000; rounding takes the next draw.
    for (place, expected) in [(2, at(0.001)), (3, at(0.7345))] {
        let found = rows[0][place].unwrap();
        assert!((found - expected).abs() < 2e-3, "{found} {expected}");
    }
}
