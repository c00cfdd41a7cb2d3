//! Models as text that have no rows, by a sampler of minibatches that does without them.

use super::*;
use ergodic_core::Fit;

/// Precision (2, −1; −1, 1) around (1, 1): variances 1 and 2.
#[test]
fn a_target_alone_is_sampled_by_fisher_scoring() {
    let model = model(
        "parameters\n a: real\n b: real\ntarget\n -0.5 * ((a - 1)^2 + (b - a)^2)\n",
        &[],
    );
    let fit = Fit::of_model(model).sampler_called("osgfs-cv").unwrap();
    let fit = fit.chains(4).draws(4000).run().unwrap();
    for (row, variance) in fit.summary().rows().iter().zip([1.0_f64, 2.0]) {
        let (mean, sd) = (row.mean.unwrap(), row.sd.unwrap());
        let error = row.mcse_mean.unwrap();
        assert!((mean - 1.0).abs() < 4.0 * error, "{row:?}");
        // Draws are normal: the sd of an estimated sd is sd/sqrt(2 ESS) at most.
        let ess = row.ess_bulk.unwrap().min(row.ess_tail.unwrap());
        let allowed = 4.0 * variance.sqrt() / (2.0 * ess).sqrt();
        assert!(
            (sd - variance.sqrt()).abs() < allowed && allowed < 0.1,
            "{row:?}"
        );
    }
}
