use std::collections::BTreeMap;
use std::sync::Arc;

use super::split_merge::Workspace;
use super::*;
use crate::oracle::Oracle;
use crate::samplers::testing::{Run, estimate, exact_oracle};
use crate::samplers::{Phase, Tick, find};
use crate::testing::mixtures::{counts, names, partitions, posterior, records, small};
use ergodic_base::settings::{Declared as _, Settings, Value};
use ergodic_base::{Purpose, Streams, stream};

/// Fails unless the partitions that `chains` visited (by label vector) have their posterior probabilities, each within
/// four and a half Monte Carlo standard errors: there are hundreds of comparisons.
pub fn assert_frequencies(what: &str, mixture: &Mixture, chains: &[Vec<Vec<u32>>]) {
    let all = partitions(mixture.num_units());
    let expected = posterior(mixture, &all);
    let check = |labels: &[&Vec<u32>], p: f64| {
        let share = |chain: &Vec<Vec<u32>>| -> Vec<f64> {
            let seen = chain.iter().map(|draw| labels.contains(&draw));
            seen.map(|seen| f64::from(u8::from(seen))).collect()
        };
        let series: Vec<Vec<f64>> = chains.iter().map(share).collect();
        let (found, mcse) = estimate(&series);
        assert!(
            (found - p).abs() < 4.5 * mcse,
            "{what} {labels:?}: {found} against {p}, mcse {mcse}"
        );
        assert!(mcse < 0.25 * p, "{what} {labels:?}: mcse {mcse} of {p}");
    };
    // Of partitions that are seen a few times only the standard error is not known; they are checked together.
    let (common, rare): (Vec<_>, Vec<_>) = all.iter().zip(&expected).partition(|(_, p)| **p > 0.02);
    for (labels, p) in common {
        check(&[labels], *p);
    }
    let (labels, p): (Vec<_>, Vec<f64>) = rare.into_iter().unzip();
    if !labels.is_empty() {
        check(&labels, p.iter().sum());
    }
}

/// Few units with items.
pub fn small_items(n: usize, alpha: AlphaPrior) -> Mixture {
    small(n, alpha).remove(3).1
}

/// Labels after each of `draws` iterations.
fn visited(
    id: &'static str,
    mixture: &Mixture,
    seed: u64,
    split_merge: f64,
    draws: usize,
) -> Vec<Vec<u32>> {
    let run = Run::new(id)
        .seed(seed)
        .set("split_merge", Value::Real(split_merge));
    let mut session = run.start(exact_oracle(mixture.clone().into_model(), None));
    for _ in 0..50 {
        session.warm_up(50).unwrap();
    }
    (0..draws)
        .map(|_| {
            session.draw().unwrap();
            session.kernel.labels().unwrap().to_vec()
        })
        .collect()
}

fn enumerate(id: &'static str, split_merge: f64, alpha: AlphaPrior, n: usize, draws: usize) {
    for (words, mixture) in small(n, alpha) {
        let chains: Vec<_> = (1..=2)
            .map(|seed| visited(id, &mixture, seed, split_merge, draws))
            .collect();
        assert_frequencies(&format!("{id} {words}"), &mixture, &chains);
    }
}

const KNOWN: AlphaPrior = AlphaPrior::Constant(0.8);
const UNKNOWN: AlphaPrior = AlphaPrior::Gamma {
    shape: 2.0,
    rate: 1.5,
};

#[test]
fn gibbs_visits_partitions_as_often_as_their_posterior_says() {
    enumerate("dp-gibbs", 0.0, KNOWN, 5, 12_000);
}

#[test]
fn gibbs_with_split_merge_and_unknown_concentration_does_too() {
    enumerate("dp-gibbs", 1.5, UNKNOWN, 5, 12_000);
}

#[test]
fn the_slice_sampler_does_too() {
    enumerate("dp-slice", 0.0, KNOWN, 5, 12_000);
}

#[test]
fn the_slice_sampler_with_split_merge_and_unknown_concentration_does_too() {
    enumerate("dp-slice", 0.6, UNKNOWN, 5, 12_000);
}

#[test]
fn six_units_have_203_partitions() {
    let mixture = small(6, UNKNOWN).remove(4).1;
    for id in ["dp-gibbs", "dp-slice"] {
        let chains = [visited(id, &mixture, 3, 1.0, 40_000)];
        assert_frequencies(id, &mixture, &chains);
    }
}

#[test]
fn splits_and_mergers_alone_leave_the_posterior_unchanged() {
    for (words, mixture) in small(5, KNOWN) {
        let start = Start {
            start: First::One,
            start_clusters: 1,
        };
        let mut rng = stream(5, 0, Purpose::Noise);
        let mut partition = Partition::start(&mixture, start, 9, &mut rng);
        let mut workspace = Workspace::new(5);
        let mut accepted = 0;
        let chain: Vec<Vec<u32>> = (0..40_000)
            .map(|_| {
                partition.ready(&mixture);
                accepted += usize::from(workspace.propose(&mixture, &mut partition, &mut rng));
                partition.finish(&mixture);
                partition.labels.clone()
            })
            .collect();
        assert!(accepted > 4_000, "{words}: {accepted}");
        assert_frequencies(words, &mixture, &[chain]);
    }
}

#[test]
fn the_concentration_has_its_conditional_distribution() {
    // p(α | K, N) ∝ p(α) α^K Γ(α)/Γ(α + N), by quadrature.
    let (k, n) = (4, 20);
    let grid: Vec<f64> = (1..40_000).map(|i| f64::from(i) * 2e-4).collect();
    let weight = |alpha: f64| {
        let sizes = [17.0, 1.0, 1.0, 1.0].into_iter();
        (UNKNOWN.log_density(alpha)
            + crate::models::dp_mixture::concentration::log_partition(alpha, sizes))
        .exp()
    };
    let total: f64 = grid.iter().map(|&a| weight(a)).sum();
    let mean = grid.iter().map(|&a| a * weight(a)).sum::<f64>() / total;
    let variance = grid
        .iter()
        .map(|&a| (a - mean).powi(2) * weight(a))
        .sum::<f64>()
        / total;
    let mut rng = stream(6, 0, Purpose::Noise);
    let mut alpha = 1.0;
    let chain: Vec<f64> = (0..40_000)
        .map(|_| {
            alpha = draw_alpha(&UNKNOWN, alpha, k, n, &mut rng);
            alpha
        })
        .collect();
    crate::samplers::testing::assert_moments("alpha", &[chain], mean, variance);
    assert_eq!(draw_alpha(&KNOWN, 0.8, k, n, &mut rng), 0.8);
}

/// Carries a state from one kernel to another.
#[derive(Default)]
struct Carry {
    values: Vec<f64>,
    reading: bool,
    next: usize,
}

impl StateVisitor for Carry {
    fn slice(&mut self, _name: &'static str, values: &mut [f64]) {
        if self.reading {
            values.copy_from_slice(&self.values[self.next..self.next + values.len()]);
            self.next += values.len();
        } else {
            self.values.extend_from_slice(values);
        }
    }
    fn counter(&mut self, _name: &'static str, _value: &mut u64) {}
}

/// Geweke (2004): alternating draws of the partition given data and of data given the partition leave both priors unchanged.
#[test]
fn draws_of_data_and_partition_by_turns_keep_the_prior() {
    const UNITS: usize = 6;
    const LEVELS: u32 = 3;
    for id in ["dp-gibbs", "dp-slice"] {
        let mut rng = stream(7, 0, Purpose::Data);
        let mut streams = Streams::new(8, 0);
        let mut items: Vec<Vec<u32>> = vec![vec![0, 1]; UNITS];
        let mut carry: Option<Carry> = None;
        let mut found: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for iter in 0..24_000 {
            let slices: Vec<&[u32]> = items.iter().map(Vec::as_slice).collect();
            let part = counts(&[LEVELS as usize], 0.5, &slices);
            let mixture = Mixture::new(names(UNITS), 0, None, Some(part), UNKNOWN);
            let model = mixture.clone().into_model();
            let mut oracle = Oracle::new(Arc::clone(&model), None, false, Arc::default());
            let entry = find(id).unwrap();
            let target = crate::samplers::Target::new(&model, None);
            let u = vec![0.0; model.dim()];
            let mut kernel =
                (entry.build)(&Settings::default(), &target, &u, &mut oracle, &mut streams)
                    .unwrap();
            if let Some(mut carry) = carry.take() {
                carry.reading = true;
                kernel.visit(&mut carry);
            }
            let at = Tick {
                iter,
                phase: Phase::Draw,
            };
            kernel
                .step(at, &mut oracle, &mut streams, &mut [0.0])
                .unwrap();
            let mut now = Carry::default();
            kernel.visit(&mut now);
            let labels = kernel.labels().unwrap().to_vec();
            found.entry("k").or_default().push(kernel.position()[0]);
            found.entry("alpha").or_default().push(kernel.position()[1]);
            carry = Some(now);
            // New data: each cluster's items are an urn.
            let mut urns = [[0.5; LEVELS as usize]; UNITS];
            for (unit, label) in labels.iter().enumerate() {
                let urn = &mut urns[*label as usize];
                items[unit].clear();
                for _ in 0..2 {
                    let item = pick(urn, &mut rng);
                    urn[item] += 1.0;
                    items[unit].push(item as u32);
                }
            }
        }
        // α ~ Gamma(2, 1.5); E[K] under the Chinese restaurant, α integrated out.
        let all = partitions(UNITS);
        let empty = Mixture::new(names(UNITS), 0, None, None, UNKNOWN);
        let prior = posterior(&empty, &all);
        let clusters = |labels: &[u32]| records(&empty, labels).len() as f64;
        let moment = |power: i32, centre: f64| -> f64 {
            let terms = all.iter().zip(&prior);
            terms
                .map(|(labels, p)| p * (clusters(labels) - centre).powi(power))
                .sum()
        };
        let mean = moment(1, 0.0);
        let moments = crate::samplers::testing::assert_moments;
        moments(id, &[found["k"].clone()], mean, moment(2, mean));
        moments(id, &[found["alpha"].clone()], 2.0 / 1.5, 2.0 / 2.25);
    }
}

#[test]
fn chains_start_from_one_cluster_and_from_many() {
    let (_, mixture) = small(6, KNOWN).remove(1);
    for (chain, clusters) in [(0, 1), (1, 6), (2, 1), (3, 6)] {
        let mut rng = stream(1, chain, Purpose::Noise);
        let start = Start::read(&Settings::default()).unwrap();
        let partition = Partition::start(&mixture, start, 9, &mut rng);
        assert_eq!(partition.clusters.len(), clusters, "chain {chain}");
        assert_eq!(partition.position[0], clusters as f64);
    }
}

#[test]
fn what_is_reported_does_not_depend_on_labels() {
    let (_, mixture) = small(6, UNKNOWN).remove(4);
    let mut rng = stream(1, 0, Purpose::Noise);
    let start = Start::read(&Settings::default()).unwrap();
    let mut partition = Partition::start(&mixture, start, 9, &mut rng);
    let mut reported = Vec::new();
    for labels in [[0, 1, 0, 1, 2, 0], [5, 2, 5, 2, 9, 5]] {
        partition.labels.copy_from_slice(&labels);
        partition.finish(&mixture);
        assert_eq!(partition.labels, [0, 1, 0, 1, 2, 0]);
        reported.push(partition.position.clone());
    }
    assert_eq!(reported[0], reported[1]);
    let shares = [3.0_f64 / 6.0, 2.0 / 6.0, 1.0 / 6.0];
    let entropy: f64 = shares.iter().map(|p| -p * p.ln()).sum();
    assert_eq!(reported[0][0], 3.0);
    assert!((reported[0][2] - entropy).abs() < 1e-12);
    assert_eq!(
        reported[0][4..9],
        [shares[0], shares[1], shares[2], 0.0, 0.0]
    );
}
