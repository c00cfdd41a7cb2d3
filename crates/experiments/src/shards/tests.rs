//! What the small versions find, and how claims are judged.

use super::*;

fn quick() -> BenchOptions {
    BenchOptions {
        seed: 1,
        quick: true,
        ..BenchOptions::default()
    }
}

/// The numbers of `column` by method and number of parameters.
fn numbers(table: &BenchTable, column: &str) -> Vec<(u64, String, f64)> {
    let place = table.columns.iter().position(|it| *it == column).unwrap();
    let cells = table
        .rows
        .iter()
        .map(|row| match (&row[0], &row[1], &row[place]) {
            (Cell::Count(dim), Cell::Text(name), Cell::Number(x)) => (*dim, name.clone(), *x),
            other => panic!("{other:?}"),
        });
    cells.collect()
}

fn of(all: &[(u64, String, f64)], dim: u64, method: &str) -> f64 {
    let found = all.iter().find(|it| (it.0, it.1.as_str()) == (dim, method));
    found.unwrap().2
}

fn verdict(table: &BenchTable, method: &str) -> Cell {
    let row = table
        .rows
        .iter()
        .find(|row| row[1] == Cell::Text(method.to_owned()));
    row.unwrap().last().unwrap().clone()
}

fn not_certified() -> Cell {
    Cell::Text(Verdict::NotCertified.word().to_owned())
}

/// Averages of draws of a curved posterior lie where it has nothing, and the bias check says so.
#[test]
#[ignore = "long: run by .ci/long"]
fn a_curved_posterior_defeats_consensus() {
    let table = curved(&quick()).unwrap();
    crate::problem::testing::check_plots(&table);
    let kl = numbers(&table, "kl");
    assert_eq!(kl.len(), Combine::WORDS.len() + GRADIENTS.len());
    let [consensus, normal, sgld] = ["consensus", "normal", "sgld"].map(|it| of(&kl, 2, it));
    assert!(
        consensus > 0.3 && normal > 0.3 && sgld < consensus,
        "{kl:?}"
    );
    for method in ["consensus", "normal"] {
        assert_eq!(verdict(&table, method), not_certified());
    }
    assert!(table.findings[0].because.contains("consensus"));
}

/// Consensus fails for a posterior with two modes.
#[test]
#[ignore = "long: run by .ci/long"]
fn two_modes_defeat_consensus() {
    let table = two_modes(&quick()).unwrap();
    let kl = numbers(&table, "kl");
    assert!(of(&kl, 4, "consensus") > 0.3, "{kl:?}");
    assert_eq!(verdict(&table, "consensus"), not_certified());
}

/// Consensus is exact for normal posteriors; the product of kernel density estimates gets worse with every parameter. What is
/// compared has cost the same.
#[test]
#[ignore = "long: run by .ci/long"]
fn kernel_density_estimates_suffer_from_dimensions() {
    let options = quick();
    let table = dimensions(&options).unwrap();
    crate::problem::testing::check_plots(&table);
    let (done, expected) = options.control.progress();
    assert!(done > 0 && done == expected, "{done} of {expected}");
    let kl = numbers(&table, "kl");
    for dim in [2, 5] {
        assert!(of(&kl, dim, "consensus") < 0.1, "{kl:?}");
    }
    let ratio = numbers(&table, "sd_ratio_most");
    assert!(of(&ratio, 5, "nonparametric") > 1.1, "{ratio:?}");
    assert!(of(&ratio, 5, "consensus") < 1.1, "{ratio:?}");
    let because = &table.findings[0].because;
    assert!(
        because.contains(&format!("{:.3}", of(&kl, 5, "nonparametric"))),
        "{because}"
    );
    // As many passes, or those of the least number of draws.
    let passes = numbers(&table, "passes");
    let ratio = |dim, method| of(&passes, dim, method) / of(&passes, dim, "consensus");
    for dim in [2, 5] {
        for method in GRADIENTS {
            assert!(ratio(dim, method) > 0.95, "{passes:?}");
        }
    }
    assert!(ratio(5, "sghmc") < 1.05, "{passes:?}");
}

fn found(methods: &[(&'static str, [f64; 3])], absent: &[(&'static str, &str)]) -> Found {
    let methods = methods
        .iter()
        .map(|&(method, [least, kl, most])| Divergence {
            method,
            kl,
            range: [least, most],
        });
    let absent = absent.iter().map(|&(method, why)| (method, why.to_owned()));
    Found {
        parameters: 2,
        methods: methods.collect(),
        absent: absent.collect(),
    }
}

/// Nearer is who is nearer with every seed, and so much that a picture shows it.
#[test]
fn differences_within_chance_are_no_order() {
    let near = ("sghmc", [-0.05, -0.02, 0.01]);
    for (far, is_nearer) in [
        // Too little to be seen, and as near with another seed.
        ([0.02, 0.04, 0.06], false),
        ([0.0, 0.3, 0.6], false),
        ([0.02, 0.3, 0.6], true),
    ] {
        let of = found(&[near, ("sgld", far)], &[]);
        assert_eq!(of.nearer("sghmc", "sgld"), is_nearer, "{far:?}");
        assert!(!of.nearer("sgld", "sghmc"));
        let finding = of.order("a claim", &[("sghmc", "sgld")]);
        assert_eq!(finding.reproduced, is_nearer);
        let says_why = finding.because.contains("sghmc is not nearer than sgld");
        assert_eq!(says_why, !is_nearer, "{}", finding.because);
    }
}

/// What a claim needs and has no run is why it is not reproduced.
#[test]
fn methods_without_a_run_are_told() {
    let of = found(
        &[
            ("consensus", [-0.01, 0.0, 0.01]),
            ("weierstrass", [0.9, 1.0, 1.1]),
        ],
        &[("sgld", "no mode was found")],
    );
    let finding = of.order("a claim", &[("sgld", "weierstrass")]);
    assert!(!finding.reproduced);
    assert_eq!(finding.because, "sgld has no run: no mode was found");
    let finding = of.order("a claim", &[("consensus", "weierstrass")]);
    assert!(finding.reproduced, "{}", finding.because);
    let finding = of.judged("a claim", |_any| true, true, String::new());
    assert!(!finding.reproduced);
}

#[test]
#[ignore = "long: run by .ci/long"]
fn heavy_tails_defeat_nobody() {
    let table = heavy_tails(&quick()).unwrap();
    let order = &table.findings[1].because;
    assert!(
        order.contains("divergences with 2 parameters are"),
        "{order}"
    );
    // Nothing is left out without a word.
    let absent = table
        .rows
        .iter()
        .filter(|row| row.last() == Some(&Cell::Text("no run".to_owned())));
    let told = table
        .notes
        .iter()
        .filter(|note| note.contains(" has no run with "));
    assert_eq!(absent.count(), told.count());
    for (_, method, shift) in numbers(&table, "mean_shift_sd") {
        assert!(shift < 0.3, "{method}: {shift}");
    }
}
