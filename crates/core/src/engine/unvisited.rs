//! Modes that were found before a run and that no chain visits: its draws agree, and leave out a part of the posterior.

use super::remark::Remark;
use super::sampling::Sampling;
use ergodic_base::Warning;
use ergodic_base::draws::DrawList;
use ergodic_diagnostics::{Finding, Verdict};

/// How many of the modes that chains start in lie outside of what `chains` have seen, in some reported quantity
/// whose draws are kept.
pub fn count(job: &dyn Sampling, chains: &[&DrawList]) -> usize {
    let modes = job.modes().iter();
    let model = job.model();
    let mut theta = vec![0.0; model.params().len()];
    let keep = job.keep();
    let is_outside = |(j, value): (usize, &f64)| {
        let chunks = chains.iter().flat_map(|draws| draws.chunks());
        let (least, most) = chunks.fold(
            (f64::INFINITY, f64::NEG_INFINITY),
            |(least, most), chunk| {
                let (low, high) = chunk.extremes(j);
                (least.min(low), most.max(high))
            },
        );
        *value < least || *value > most
    };
    modes
        .filter(|mode| {
            model.constrain(&mode.u, &mut theta);
            let kept = keep.kept().iter().map(|&j| &theta[j]);
            kept.enumerate().any(is_outside)
        })
        .count()
}

/// What to tell of `unvisited` modes of all that the job knows; `None` where there are none.
pub fn finding(job: &dyn Sampling, unvisited: usize) -> Option<Finding> {
    let modes = job.modes().len();
    if unvisited == 0 {
        return None;
    }
    let words = format!("no chain visits {unvisited} of {modes} modes");
    let warning = Warning::from(Remark::ModesUnvisited { unvisited, modes });
    Some(Finding::new(
        Verdict::Bad,
        &words,
        Some("run more chains"),
        Some(warning),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fit;
    use crate::models::density_of;

    #[test]
    fn a_mode_counts_as_visited_where_draws_surround_it() {
        // Half N(−5, 1) and half N(5, 1).
        let density = density_of(1, |u: &[f64], grad: &mut [f64]| {
            let z = 5.0 * u[0];
            grad[0] = 5.0 * z.tanh() - u[0];
            z.abs() + (-2.0 * z.abs()).exp().ln_1p() - 0.5 * u[0] * u[0]
        });
        let job = Fit::new(density).plan().unwrap();
        let around = |centre: f64| {
            let mut list = DrawList::new(1);
            for k in 0..100 {
                list.push(&[centre + 0.02 * f64::from(k) - 1.0]);
            }
            list
        };
        let (left, right) = (around(-5.0), around(5.0));
        assert_eq!(count(&job, &[&left, &right]), 0);
        assert_eq!(count(&job, &[&right, &right]), 1);
        assert_eq!(finding(&job, 1).unwrap().verdict, Verdict::Bad);
        assert_eq!(finding(&job, 0), None);
    }
}
