//! Energies along trajectories from where the chains of a run ended.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "other tests use the rest")]
mod support;

use std::sync::Arc;

use ergodic_analysis::Job;
use ergodic_base::Control;
use ergodic_core::engine::checkpoint::{ChainMark, Marks};
use ergodic_core::engine::trajectories::{
    FromChain, MOMENTA, STEPS, TrajectoryError, trajectories,
};
use ergodic_core::samplers::REGISTRY;
use support::{job, start};

/// A finished run of three chains: the job, and where its chains ended.
fn ran(sampler: &str) -> (Arc<Job>, Marks) {
    let mut run = start(job(sampler, 60, |_| {}));
    let marks = run.join().to_vec();
    (Arc::clone(run.job()), marks)
}

fn follow((job, marks): &(Arc<Job>, Marks)) -> Result<Vec<FromChain>, TrajectoryError> {
    let marks: Vec<Option<&ChainMark>> = marks.iter().map(Option::as_ref).collect();
    trajectories(job.as_ref(), &marks, &Control::default())
}

#[test]
fn every_sampler_with_trajectories_follows_them_from_its_last_draws() {
    let follows = REGISTRY.iter().filter(|entry| entry.follows);
    let ids: Vec<&str> = follows.map(|entry| entry.spec.id).collect();
    for wanted in ["hmc", "nuts", "hmc-ecs", "hmc-ecs-signed", "nuts-ecs"] {
        assert!(ids.contains(&wanted), "{wanted}: {ids:?}");
    }
    for id in ids {
        let run = ran(id);
        let found = follow(&run).unwrap();
        let chains: Vec<usize> = found.iter().map(|it| it.chain).collect();
        assert_eq!(chains, [0, 1, 2], "{id}");
        for it in found.iter().flat_map(|it| &it.trajectories) {
            assert!(it.step_size > 0.0 && it.step_size < 3.0, "{id}");
            // A step that warm-up adapted to the target does not diverge on a posterior that is nearly normal.
            assert_eq!((it.errors.len(), it.errors[0]), (STEPS + 1, 0.0), "{id}");
            assert!(it.errors.iter().any(|error| error.abs() > 1e-9), "{id}");
            assert_eq!(it.of_all_rows.is_some(), id.contains("ecs"), "{id}");
            if let Some(exact) = &it.of_all_rows {
                assert_eq!((exact.len(), exact[0]), (STEPS + 1, 0.0), "{id}");
                assert_ne!(exact, &it.errors, "{id}");
                assert!(exact.iter().all(|error| error.abs() < 50.0), "{id}");
            }
        }
        assert!(found.iter().all(|it| it.trajectories.len() == MOMENTA));
        assert!(found.iter().all(|it| it.largest() < 50.0), "{id}");
        // Each chain has momenta of its own, and the same ones every time.
        assert_ne!(found[0].trajectories, found[1].trajectories, "{id}");
        assert_eq!(follow(&run).unwrap(), found, "{id}");
    }
}

#[test]
fn why_there_are_none() {
    let found = follow(&ran("metropolis"));
    assert!(matches!(found, Err(TrajectoryError::Sampler(_))));
    let (job, marks) = ran("nuts");
    let none = follow(&(Arc::clone(&job), vec![None; 3]));
    assert!(matches!(none, Err(TrajectoryError::NoPlace)));
    let of_another = follow(&(ran("hmc").0, marks.clone()));
    assert!(matches!(of_another, Err(TrajectoryError::Chain(_))));
    let control = Control::default();
    control.cancel();
    let marks: Vec<Option<&ChainMark>> = marks.iter().map(Option::as_ref).collect();
    let cancelled = trajectories(job.as_ref(), &marks, &control);
    assert!(matches!(cancelled, Err(TrajectoryError::Cancelled)));
}
