//! Drawn partitions: how often two units share a cluster, and one partition that stands for all.
//!
//! The distance of two partitions is the variation of information (Meilă 2007), H(a) + H(b) − 2 I(a, b) in natural units, with
//! cluster shares as probabilities: 0 if they are equal, at most ln n. The point partition has the least mean distance to the
//! draws that was found (Wade and Ghahramani 2018): the best draw, then improved by moving one unit at a time while that
//! helps. Labels mean nothing in any of this.

use std::collections::BTreeMap;

/// Draws that are tried as the point partition.
const CANDIDATES: usize = 50;
/// Best candidates that are improved.
const STARTS: usize = 3;
/// Rounds of improvement; few are ever needed.
const ROUNDS: usize = 20;
/// Most cells of contingency tables, beyond which candidates stay as they are.
const MOST_CELLS: usize = 20_000_000;

/// x ln x, 0 at 0.
fn entropy_term(count: u32) -> f64 {
    let x = f64::from(count);
    if count == 0 { 0.0 } else { x * x.ln() }
}

/// Numbers labels by first appearance; returns them and the number of clusters.
pub fn numbered(labels: &[u32]) -> (Vec<u32>, usize) {
    let mut new = BTreeMap::new();
    let labels = labels
        .iter()
        .map(|label| {
            let next = new.len() as u32;
            *new.entry(*label).or_insert(next)
        })
        .collect();
    (labels, new.len())
}

fn sizes(labels: &[u32], count: usize) -> Vec<u32> {
    let mut sizes = vec![0; count];
    for &label in labels {
        sizes[label as usize] += 1;
    }
    sizes
}

/// Variation of information between two partitions of the same units.
pub fn variation_of_information(a: &[u32], b: &[u32]) -> f64 {
    let ((a, num_a), (b, num_b)) = (numbered(a), numbered(b));
    let table = Table::of(&a, num_a, &b, num_b);
    let rows: f64 = sizes(&a, num_a).into_iter().map(entropy_term).sum();
    let columns: f64 = sizes(&b, num_b).into_iter().map(entropy_term).sum();
    // Rounding must not make equal partitions differ.
    ((rows + columns - 2.0 * table.terms()) / a.len() as f64).max(0.0)
}

/// How many units are in cluster i of one partition and k of another.
struct Table {
    columns: usize,
    cells: Vec<u32>,
}

impl Table {
    fn of(a: &[u32], rows: usize, b: &[u32], columns: usize) -> Self {
        let mut cells = vec![0; rows * columns];
        for (&i, &k) in a.iter().zip(b) {
            cells[i as usize * columns + k as usize] += 1;
        }
        Self { columns, cells }
    }

    fn terms(&self) -> f64 {
        self.cells.iter().map(|&count| entropy_term(count)).sum()
    }
}

/// Share of `draws` in which two of `units` share a cluster: row-major, units × units.
pub fn co_clustering(draws: &[&[u32]], units: &[usize]) -> Vec<f32> {
    let n = units.len();
    let mut counts = vec![0_u32; n * n];
    let mut labels = vec![0; n];
    for draw in draws {
        for (label, &unit) in labels.iter_mut().zip(units) {
            *label = draw[unit];
        }
        for (row, &mine) in counts.chunks_exact_mut(n.max(1)).zip(&labels) {
            for (count, &other) in row.iter_mut().zip(&labels) {
                *count += u32::from(mine == other);
            }
        }
    }
    let total = draws.len() as f32;
    counts.iter().map(|&count| count as f32 / total).collect()
}

/// The partition that stands for all draws.
#[derive(Clone, Debug, PartialEq)]
pub struct PointPartition {
    /// Cluster of each unit, the largest cluster first.
    pub labels: Vec<u32>,
    /// Number of clusters.
    pub clusters: usize,
    /// Mean variation of information to the draws.
    pub distance: f64,
}

/// The point partition of `draws`, each with one label per unit; `None` without draws or units.
pub fn point_partition(draws: &[&[u32]]) -> Option<PointPartition> {
    let first = draws.first().filter(|draw| !draw.is_empty())?;
    let n = first.len();
    let draws: Vec<(Vec<u32>, usize)> = draws.iter().map(|draw| numbered(draw)).collect();
    let step = draws.len().div_ceil(CANDIDATES);
    let mut candidates: Vec<(f64, usize)> = Vec::new();
    for k in (0..draws.len()).step_by(step) {
        // Draws that repeat need no second look.
        if candidates
            .iter()
            .all(|&(_, other)| draws[other].0 != draws[k].0)
        {
            candidates.push((mean_distance(&draws[k], &draws), k));
        }
    }
    candidates.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let best = candidates
        .iter()
        .take(STARTS)
        .map(|&(_, k)| improved(&draws[k], &draws))
        .map(|labels| (mean_distance(&labels, &draws), labels))
        .min_by(|a, b| a.0.total_cmp(&b.0));
    let (distance, (labels, clusters)) = best?;
    // Largest first; of equal ones that of the earlier unit.
    let sizes = sizes(&labels, clusters);
    let mut order: Vec<usize> = (0..clusters).collect();
    order.sort_by_key(|&k| std::cmp::Reverse(sizes[k]));
    let mut place = vec![0; clusters];
    for (new, &old) in order.iter().enumerate() {
        place[old] = new as u32;
    }
    debug_assert_eq!(labels.len(), n);
    Some(PointPartition {
        labels: labels.iter().map(|&label| place[label as usize]).collect(),
        clusters,
        distance,
    })
}

fn mean_distance(candidate: &(Vec<u32>, usize), draws: &[(Vec<u32>, usize)]) -> f64 {
    let (labels, count) = candidate;
    let own: f64 = sizes(labels, *count).into_iter().map(entropy_term).sum();
    let total: f64 = draws
        .iter()
        .map(|(draw, num)| {
            let other: f64 = sizes(draw, *num).into_iter().map(entropy_term).sum();
            own + other - 2.0 * Table::of(labels, *count, draw, *num).terms()
        })
        .sum();
    (total / (labels.len() * draws.len()) as f64).max(0.0)
}

/// The candidate after moving one unit at a time to where the mean distance falls most, until none does.
fn improved(candidate: &(Vec<u32>, usize), draws: &[(Vec<u32>, usize)]) -> (Vec<u32>, usize) {
    let mut labels = candidate.0.clone();
    let (n, num_draws) = (labels.len(), draws.len() as f64);
    // One cluster more than there are, so that a unit may stand alone.
    let room = candidate.1 + 1;
    let cells: usize = draws.iter().map(|(_, num)| room * num).sum();
    if cells > MOST_CELLS {
        return candidate.clone();
    }
    let term: Vec<f64> = (0..=n as u32 + 1).map(entropy_term).collect();
    let mut size = sizes(&labels, room);
    let mut tables: Vec<Table> = draws
        .iter()
        .map(|(draw, num)| Table::of(&labels, room, draw, *num))
        .collect();
    for _ in 0..ROUNDS {
        let mut moved = false;
        for unit in 0..n {
            let from = labels[unit] as usize;
            let (mut best, mut gain) = (from, 1e-9);
            // What the distance loses when the unit leaves, and gains where it goes.
            let change = |cluster: usize, leaves: bool| -> f64 {
                let less = usize::from(leaves);
                let own = size[cluster] as usize - less;
                let mut total = num_draws * (term[own + 1] - term[own]);
                for (table, (draw, _)) in tables.iter().zip(draws) {
                    let cell = cluster * table.columns + draw[unit] as usize;
                    let count = table.cells[cell] as usize - less;
                    total -= 2.0 * (term[count + 1] - term[count]);
                }
                total
            };
            let leaving = change(from, true);
            let mut empty_seen = false;
            for to in (0..room).filter(|&to| to != from) {
                // All empty clusters are the same, and a unit that is alone has no need of one.
                if size[to] == 0 && (std::mem::replace(&mut empty_seen, true) || size[from] == 1) {
                    continue;
                }
                let found = leaving - change(to, false);
                if found > gain {
                    (best, gain) = (to, found);
                }
            }
            if best != from {
                moved = true;
                labels[unit] = best as u32;
                size[from] -= 1;
                size[best] += 1;
                for (table, (draw, _)) in tables.iter_mut().zip(draws) {
                    let column = draw[unit] as usize;
                    table.cells[from * table.columns + column] -= 1;
                    table.cells[best * table.columns + column] += 1;
                }
            }
        }
        if !moved {
            break;
        }
    }
    numbered(&labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All partitions of `n` units.
    fn partitions(n: usize) -> Vec<Vec<u32>> {
        let mut all = vec![Vec::new()];
        for _ in 0..n {
            all = all
                .into_iter()
                .flat_map(|labels: Vec<u32>| {
                    let next = labels.iter().max().map_or(0, |label| label + 1);
                    (0..=next).map(move |label| [labels.clone(), vec![label]].concat())
                })
                .collect();
        }
        all
    }

    #[test]
    fn the_distance_is_that_of_the_definition() {
        let (a, b) = ([0, 0, 1, 1, 1, 2], [4, 4, 4, 7, 7, 7]);
        let share = |x: f64| -x * x.ln();
        let h_a = share(2.0 / 6.0) + share(3.0 / 6.0) + share(1.0 / 6.0);
        let h_b = 2.0 * share(0.5);
        let joint = share(2.0 / 6.0) + share(1.0 / 6.0) + share(2.0 / 6.0) + share(1.0 / 6.0);
        let expected = 2.0 * joint - h_a - h_b;
        assert!((variation_of_information(&a, &b) - expected).abs() < 1e-12);
        assert_eq!(variation_of_information(&a, &[9, 9, 3, 3, 3, 1]), 0.0);
        // One cluster against all alone: ln n.
        let apart = variation_of_information(&[0; 4], &[0, 1, 2, 3]);
        assert!((apart - f64::ln(4.0)).abs() < 1e-12);
    }

    #[test]
    fn shares_of_common_clusters_are_counted() {
        let draws: [&[u32]; 4] = [&[0, 0, 1], &[1, 1, 1], &[0, 1, 1], &[0, 0, 1]];
        let shares = co_clustering(&draws, &[2, 0, 1]);
        assert_eq!(shares, [1.0, 0.25, 0.5, 0.25, 1.0, 0.75, 0.5, 0.75, 1.0]);
    }

    /// Against the least over all partitions, also where no draw is the best.
    #[test]
    fn the_point_partition_has_the_least_mean_distance() {
        let sets: [Vec<Vec<u32>>; 3] = [
            vec![
                vec![0, 0, 0, 1, 1, 1],
                vec![0, 0, 1, 1, 1, 1],
                vec![0, 0, 0, 0, 1, 1],
                vec![0, 0, 0, 1, 1, 2],
            ],
            // Each draw errs about another unit, so that the truth is no draw.
            vec![
                vec![1, 0, 0, 1, 1, 1],
                vec![0, 1, 0, 1, 1, 1],
                vec![0, 0, 1, 1, 1, 1],
                vec![0, 0, 0, 0, 1, 1],
                vec![0, 0, 0, 1, 0, 1],
                vec![0, 0, 0, 1, 1, 0],
            ],
            vec![vec![0, 1, 2, 3, 4, 5], vec![0, 0, 1, 2, 3, 4]],
        ];
        for draws in sets {
            let slices: Vec<&[u32]> = draws.iter().map(Vec::as_slice).collect();
            let mean = |labels: &[u32]| -> f64 {
                let distances = slices.iter();
                let total: f64 = distances
                    .map(|draw| variation_of_information(labels, draw))
                    .sum();
                total / slices.len() as f64
            };
            let least = partitions(6)
                .iter()
                .map(|labels| mean(labels))
                .fold(f64::INFINITY, f64::min);
            let found = point_partition(&slices).unwrap();
            assert!((found.distance - mean(&found.labels)).abs() < 1e-12);
            assert!(
                (found.distance - least).abs() < 1e-12,
                "{found:?} against {least}"
            );
        }
    }

    #[test]
    fn clusters_are_numbered_by_size() {
        let draws: [&[u32]; 1] = [&[0, 1, 1, 2, 2, 2]];
        let found = point_partition(&draws).unwrap();
        assert_eq!(
            (found.labels, found.clusters, found.distance),
            (vec![2, 1, 1, 0, 0, 0], 3, 0.0)
        );
        assert_eq!(point_partition(&[]), None);
    }
}
