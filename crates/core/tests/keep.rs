//! Runs that keep draws of some quantities only: these are those of a run that keeps all, and the moments of the others are exact,
//! interrupted or not.

use std::sync::Arc;

use ergodic_base::RunningMoments;
use ergodic_core::Fit;
use ergodic_core::engine::{Run, Sampling as _, checkpoint};
use ergodic_core::models::density_of;
use ergodic_diagnostics::SummaryRow;

/// Normal coordinates u[1] to u[3] with standard deviations 1, 2 and 3, correlated by the chain's own steps alone.
fn fit(keep: &str, draws: u64) -> Fit {
    let density = density_of(3, |u: &[f64], grad: &mut [f64]| {
        let mut log_density = 0.0;
        for (j, (u, grad)) in u.iter().zip(grad).enumerate() {
            let precision = 1.0 / ((j + 1) as f64).powi(2);
            *grad = -precision * (u - 100.0);
            log_density -= 0.5 * precision * (u - 100.0) * (u - 100.0);
        }
        log_density
    });
    let fit = Fit::new(density).chains(2).warmup(50).draws(draws).seed(3);
    fit.keep(keep)
}

#[test]
fn kept_draws_are_those_of_a_run_that_keeps_all_and_moments_are_those_of_its_draws() {
    let whole = fit("all", 400).run().unwrap();
    let some = fit("u[2]", 400).run().unwrap();
    assert_eq!(some.variables(), ["u[2]"]);
    assert_eq!(some.draws("u[2]"), whole.draws("u[2]"));
    assert_eq!(some.draws("u[1]"), None);
    assert_eq!(some.array().dim(), (2, 400, 1));
    // Memory falls: nothing of the others is there, not even of the warm-up, but their moments.
    for (chain, full) in some.view().chains.iter().zip(&whole.view().chains) {
        let draws = &chain.draws;
        assert_eq!((draws.draws.width(), draws.warmup.width()), (1, 1));
        assert_eq!(draws.warmup.column(0), full.draws.warmup.column(1));
        assert_eq!((draws.unkept.draws(), draws.unkept.width()), (400, 2));
        assert_eq!(full.draws.unkept.width(), 0);
        assert_eq!(chain.started_at.as_ref().unwrap().len(), 1);
    }
    let (found, rows) = (&some.report().estimates, whole.summary().rows());
    assert_eq!(found.len(), 2);
    assert!(whole.report().estimates.is_empty());
    for (estimate, row) in found.iter().zip([&rows[0], &rows[2]]) {
        assert_eq!((&estimate.variable, estimate.draws), (&row.variable, 800));
        for (estimate, exact) in [(estimate.mean, row.mean), (estimate.sd, row.sd)] {
            let (estimate, exact) = (estimate.unwrap(), exact.unwrap());
            assert!((estimate / exact - 1.0).abs() < 1e-12, "{estimate} {exact}");
        }
        assert!(estimate.rhat_unsplit.unwrap() < 1.1);
    }
    // Kept or not, a chain that moves does not stand still.
    assert!(some.view().chains.iter().all(|it| it.unmoved.unwrap() < 20));
    // The verdict says what it does not speak of.
    let warnings = &some.report().warnings;
    assert!(warnings.iter().any(|it| it.code == "not-kept"));
    // How many draws are effective in a second is another matter.
    let timeless = |row: &SummaryRow| SummaryRow {
        ess_bulk_per_s: None,
        ..row.clone()
    };
    let of_some: Vec<SummaryRow> = some.summary().rows().iter().map(timeless).collect();
    assert_eq!(of_some, [timeless(&rows[1])]);
}

#[test]
fn a_continued_run_has_the_moments_of_a_longer_one_to_the_last_bit() {
    let moments = |run: &Run<_>| -> Vec<RunningMoments> {
        let chains = &run.view().chains;
        let moments = chains.iter().map(|it| it.draws.unkept.as_ref().clone());
        moments.collect()
    };
    let mut whole = fit("u[2]", 300).start().unwrap();
    whole.join();
    let mut first = fit("u[2]", 110).start().unwrap();
    let mut continuation = first.continuation();
    assert_eq!(moments(&first)[0].draws(), 110);
    // As a file has them.
    let bytes = checkpoint::encode("job", &continuation.marks).unwrap();
    let (_, marks) = checkpoint::decode(&bytes).unwrap();
    assert_eq!(marks, continuation.marks);
    continuation.marks = marks;
    let plan = Arc::new(fit("u[2]", 300).plan().unwrap());
    let mut more = Run::start(plan, Some(continuation), None).unwrap();
    more.join();
    assert_eq!(moments(&more), moments(&whole));
    assert_eq!(moments(&more)[0].draws(), 300);
    let column = |run: &Run<_>| run.view().chains[1].draws.draws.column(0);
    assert_eq!(column(&more), column(&whole));
    assert_eq!(more.job().unkept_variables(), ["u[1]", "u[3]"]);
}

#[test]
fn names_that_the_model_does_not_have_are_refused_before_a_run() {
    let refused = fit("u[2], v", 10).run().err().unwrap().to_string();
    assert!(refused.contains("`run.keep` names `v`"), "{refused}");
}
