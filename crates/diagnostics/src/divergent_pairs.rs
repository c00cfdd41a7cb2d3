//! Pairs of parameters that go along with divergent transitions.

use super::kolmogorov::distance_between;
use ergodic_base::draws::DrawList;

/// Values that are looked at: more would not change which parameters stand out, and sorting them would be felt in a frame of the window.
const LOOKED_AT: usize = 200_000;
/// Draws of a parameter that are looked at, of each kind, at least and at most.
const DRAWS: (usize, usize) = (100, LOOKED_AT / 10);
/// Parameters of which pairs are made: with the first alone they are more pairs than anybody asks for.
const CANDIDATES: usize = 12;
/// Rank correlation from which on a parameter follows from another one, as a share of variance does from a standard deviation: their
/// picture is a line, wherever the divergent draws are.
const FOLLOWS: f64 = 0.98;

/// Two parameters that go along with divergent transitions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DivergentPair {
    /// Positions of both, the one whose divergent draws are farther from the others first.
    pub parameters: [usize; 2],
    /// Of each: the largest distance between the distribution functions of its divergent draws and of the others, from 0 to 1.
    pub distances: [f64; 2],
}

/// The pairs that go most along with divergent transitions, the worst first, at most `most`; none where no draw or every draw is
/// divergent.
///
/// `draws` holds a list per chain with a column per parameter; `divergent` says chain and position of each draw that ended a divergent
/// transition. A parameter counts by the two-sample Kolmogorov-Smirnov distance between its divergent draws and the others
/// (Massey 1951), which sees location and spread and is the same on every scale, such as that of the logarithm: of a centred funnel the
/// scale stands out because divergent draws of it are small, effects because theirs are close together (Betancourt and Girolami 2015,
/// arXiv 1312.0906). A pair counts by the sum of both distances. Pairs of which one nearly follows from the other
/// (rank correlation of 0.98 or more) are passed over, and so are parameters with values that are not finite. Of long runs and many
/// parameters evenly thinned draws are looked at, of both kinds apart. Weights of draws do not matter, for the question is where the sampler was.
pub fn worst_pairs(
    draws: &[&DrawList],
    divergent: &[(usize, usize)],
    most: usize,
) -> Vec<DivergentPair> {
    let width = draws.iter().map(|list| list.width()).min().unwrap_or(0);
    let [divergent, others] = both_kinds(draws, divergent, width);
    let values = |places: &[(usize, usize)], parameter: usize| -> Vec<f64> {
        let value = |&(chain, draw): &(usize, usize)| draws[chain].value(draw, parameter);
        places.iter().map(value).collect()
    };
    let distance = |parameter: usize| {
        let [one, other] = [&divergent, &others].map(|places| values(places, parameter));
        distance_between((&one, &[]), (&other, &[])).ok()
    };
    let mut found: Vec<(usize, f64)> = (0..width)
        .filter_map(|parameter| Some((parameter, distance(parameter)?)))
        // What does not vary is the same in both.
        .filter(|&(_, distance)| distance > 0.0)
        .collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    found.truncate(CANDIDATES);
    let ranks: Vec<Vec<f64>> = (found.iter())
        .map(|&(parameter, _)| {
            let mut all = values(&divergent, parameter);
            all.extend(values(&others, parameter));
            centred_ranks(&all)
        })
        .collect();
    let sides = 0..found.len();
    let mut pairs: Vec<[usize; 2]> = sides
        .flat_map(|i| (i + 1..found.len()).map(move |j| [i, j]))
        .collect();
    let sum = |[i, j]: &[usize; 2]| found[*i].1 + found[*j].1;
    pairs.sort_by(|a, b| sum(b).total_cmp(&sum(a)));
    pairs
        .into_iter()
        .filter(|&[i, j]| correlation(&ranks[i], &ranks[j]).abs() < FOLLOWS)
        .map(|pair| DivergentPair {
            parameters: pair.map(|k| found[k].0),
            distances: pair.map(|k| found[k].1),
        })
        .take(most)
        .collect()
}

/// Chain and position of divergent draws and of others that are looked at.
fn both_kinds(
    draws: &[&DrawList],
    divergent: &[(usize, usize)],
    width: usize,
) -> [Vec<(usize, usize)>; 2] {
    let most = (LOOKED_AT / width.max(1)).clamp(DRAWS.0, DRAWS.1);
    let is_there =
        |&(chain, draw): &(usize, usize)| draws.get(chain).is_some_and(|list| draw < list.len());
    let mut all: Vec<(usize, usize)> = divergent.iter().copied().filter(is_there).collect();
    all.sort_unstable();
    let total: usize = draws.iter().map(|list| list.len()).sum();
    let step = total.div_ceil(most).max(1);
    let others = draws.iter().enumerate().flat_map(|(chain, list)| {
        let kept = (0..list.len()).step_by(step);
        kept.map(move |draw| (chain, draw))
    });
    let others = others
        .filter(|place| all.binary_search(place).is_err())
        .collect();
    let step = all.len().div_ceil(most).max(1);
    [all.iter().step_by(step).copied().collect(), others]
}

/// Ranks around their mean; equal values share one.
fn centred_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&i, &j| values[i].total_cmp(&values[j]));
    let mut ranks = vec![0.0; values.len()];
    let (middle, mut below) = (0.5 * values.len() as f64, 0);
    for tied in order.chunk_by(|&i, &j| values[i] == values[j]) {
        let rank = below as f64 + 0.5 * tied.len() as f64;
        for &i in tied {
            ranks[i] = rank - middle;
        }
        below += tied.len();
    }
    ranks
}

/// Correlation of two series whose means are 0; 0 where one does not vary.
fn correlation(x: &[f64], y: &[f64]) -> f64 {
    let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let squares = product(x, x) * product(y, y);
    if squares > 0.0 {
        product(x, y) / squares.sqrt()
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ergodic_base::{Purpose, stream};
    use rand::RngExt as _;
    use rand_distr::StandardNormal;

    /// Parameters of the funnel: its scale, a share of variance that follows from the scale, effects of groups, and two that have nothing
    /// to do with either.
    const NAMES: [&str; 7] = ["sd", "share", "r1", "r2", "r3", "mean", "sigma"];

    /// Independent draws from a centred funnel, four chains of 1,000 with columns in `order`, where every third draw below a small scale
    /// counts as divergent.
    fn funnel(order: &[usize; 7]) -> (Vec<DrawList>, Vec<(usize, usize)>) {
        let (mut lists, mut divergent) = (Vec::new(), Vec::new());
        for chain in 0..4 {
            let mut rng = stream(5, chain, Purpose::Diagnostics);
            let mut normal = || rng.sample::<f64, _>(StandardNormal);
            let mut list = DrawList::new(NAMES.len());
            for draw in 0..1000 {
                let sd = (1.5 * normal()).exp();
                let share = sd * sd / (sd * sd + 1.0);
                let effects = [(); 3].map(|()| sd * normal());
                let [r1, r2, r3] = effects;
                let row = [sd, share, r1, r2, r3, normal(), normal()];
                list.push(&order.map(|k| row[k]));
                if sd < 0.2 && draw % 3 == 0 {
                    divergent.push((chain, draw));
                }
            }
            lists.push(list);
        }
        (lists, divergent)
    }

    #[test]
    fn a_funnel_is_proposed_as_its_scale_with_effects_whatever_the_order() {
        for order in [
            [0, 1, 2, 3, 4, 5, 6],
            [6, 5, 4, 3, 2, 1, 0],
            [5, 3, 1, 6, 0, 4, 2],
        ] {
            let (lists, divergent) = funnel(&order);
            let lists: Vec<&DrawList> = lists.iter().collect();
            let found = worst_pairs(&lists, &divergent, 3);
            assert_eq!(found.len(), 3);
            for pair in &found {
                let [first, second] = pair.parameters.map(|column| NAMES[order[column]]);
                // The share has the same ranks as the scale, and never stands beside it.
                assert!(["sd", "share"].contains(&first), "{first}, {order:?}");
                assert!(second.starts_with('r'), "{second}, {order:?}");
                // Divergent draws are below the quantile of 0.2, which is Φ(-1.07) of all.
                assert!(pair.distances[0] > 0.8, "{pair:?}");
            }
            let sums: Vec<f64> = found.iter().map(|it| it.distances.iter().sum()).collect();
            assert!(sums.is_sorted_by(|a, b| a >= b), "{sums:?}");
        }
    }

    #[test]
    fn distances_are_those_of_the_two_samples() {
        let mut list = DrawList::new(4);
        for k in 0..10 {
            let x = f64::from(k);
            // The second column is constant, the third has a value that is no number, the fourth turns back and forth.
            let broken = if k == 3 { f64::NAN } else { x };
            list.push(&[x, 1.0, broken, f64::from(k * 7 % 10)]);
        }
        let found = worst_pairs(&[&list], &[(0, 1), (0, 0)], 3);
        let [pair] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!(pair.parameters, [0, 3]);
        // 0 and 1 lie below all others. 0 and 7 among 1, 2, 3, 4, 5, 6, 8, 9: at 6 half against 6/8, at 0 half against none.
        assert_eq!(pair.distances, [1.0, 0.5]);
    }

    #[test]
    fn without_divergent_draws_or_without_others_there_is_nothing_to_propose() {
        let (lists, _) = funnel(&[0, 1, 2, 3, 4, 5, 6]);
        let lists: Vec<&DrawList> = lists.iter().collect();
        assert!(worst_pairs(&lists, &[], 3).is_empty());
        let all: Vec<(usize, usize)> = (0..4)
            .flat_map(|chain| (0..1000).map(move |draw| (chain, draw)))
            .collect();
        assert!(worst_pairs(&lists, &all, 3).is_empty());
        assert!(worst_pairs(&[], &[], 3).is_empty());
    }
}
