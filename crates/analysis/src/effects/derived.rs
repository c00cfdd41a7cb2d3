//! Quantities derived from draws, with what the draws and their chains say of them.

use ergodic_base::ParamId;
use ergodic_base::draws::DrawList;
use ergodic_diagnostics::{SummaryRow, mcse_quantile, quantiles, summarise, weights};

use super::EffectsOptions;

/// A number that each draw has, over the draws.
#[derive(Clone, Debug, PartialEq)]
pub struct Derived {
    /// Mean, median, standard deviation, Monte Carlo error of the mean, effective sample sizes and R-hat.
    pub summary: SummaryRow,
    /// Quantiles that leave the same probability on both sides.
    pub interval: [f64; 2],
    /// Monte Carlo standard errors of these; `None` where they are not known, and of weighted draws.
    pub interval_mcse: [Option<f64>; 2],
    /// Probability that the value is above zero; of a ratio that it is above one.
    pub above: f64,
    /// Probability that the value is practically zero, where the user said what that is.
    pub in_rope: Option<f64>,
}

impl Derived {
    /// Mean over draws; NaN where a draw is not finite.
    pub fn mean(&self) -> f64 {
        self.summary.mean.unwrap_or(f64::NAN)
    }

    /// Probability of its direction: that of the side on which most draws lie, 0.5 to 1.
    pub fn direction(&self) -> f64 {
        self.above.max(1.0 - self.above)
    }
}

/// Which draws derived quantities have: the same number of every chain, chain after chain.
pub(super) struct Layout {
    chains: usize,
    per_chain: usize,
    /// Draws there are in the chains.
    pub all: usize,
    /// Weights of the draws used, one vector per chain, or none.
    weights: Vec<Vec<f64>>,
}

impl Layout {
    /// At most `most` of all draws, evenly spaced in every chain; chains are cut to the shortest.
    pub fn of(draws: &[&DrawList], weights: &[Vec<f64>], most: usize) -> Self {
        let shortest = draws.iter().map(|chain| chain.len()).min().unwrap_or(0);
        let chains = draws.len();
        let per_chain = shortest.min((most / chains.max(1)).max(1));
        let mut layout = Self {
            chains,
            per_chain,
            all: draws.iter().map(|chain| chain.len()).sum(),
            weights: Vec::new(),
        };
        let thinned = weights.iter().map(|all| {
            let of = |k| all.get(layout.draw(shortest, k)).copied();
            (0..per_chain).map(|k| of(k).unwrap_or(f64::NAN)).collect()
        });
        layout.weights = thinned.collect();
        layout
    }

    /// The place in a chain of `len` draws of the `k`-th that is used.
    fn draw(&self, len: usize, k: usize) -> usize {
        k * len / self.per_chain.max(1)
    }

    /// Chain and draw of each that is used.
    pub fn places(&self, draws: &[&DrawList]) -> Vec<(usize, usize)> {
        let shortest = draws.iter().map(|chain| chain.len()).min().unwrap_or(0);
        (0..self.chains)
            .flat_map(|chain| (0..self.per_chain).map(move |k| (chain, k)))
            .map(|(chain, k)| (chain, self.draw(shortest, k)))
            .collect()
    }

    /// Draws used.
    pub fn len(&self) -> usize {
        self.chains * self.per_chain
    }

    /// What the draws of quantities, one value per draw used, say of each; `zero` is the value of no effect. `None` where weights
    /// cancel.
    pub fn derive(
        &self,
        values: &[(ParamId, Vec<f64>)],
        zero: f64,
        options: &EffectsOptions,
    ) -> Option<Vec<Derived>> {
        let relative = match weights::relative(&self.weights, self.per_chain) {
            None => None,
            Some(relative) => Some(relative.ok()?),
        };
        let names: Vec<ParamId> = values.iter().map(|(name, _)| name.clone()).collect();
        let mut row = vec![0.0; values.len()];
        let chain = |chain: usize| {
            let mut list = DrawList::new(values.len());
            for k in 0..self.per_chain {
                for (out, (_, values)) in row.iter_mut().zip(values) {
                    *out = values[chain * self.per_chain + k];
                }
                list.push(&row);
            }
            list
        };
        let lists: Vec<DrawList> = (0..self.chains).map(chain).collect();
        let lists: Vec<&DrawList> = lists.iter().collect();
        let summaries = summarise(&names, &lists, &self.weights, 0.0);
        let with = summaries.into_iter().zip(values);
        let made = with.map(|(summary, (_, values))| {
            let share = |holds: &dyn Fn(f64) -> bool| share(values, relative.as_deref(), holds);
            Derived {
                interval: interval(values, relative.as_deref(), options.interval),
                interval_mcse: match relative {
                    None => interval_mcse(values, self.per_chain, options.interval),
                    Some(_) => [None; 2],
                },
                above: share(&|value| value > zero),
                in_rope: options
                    .rope
                    .map(|[low, high]| share(&|value| (low..=high).contains(&value))),
                summary,
            }
        });
        Some(made.collect())
    }
}

/// The share of draws of which something holds; signed weights may not take it beyond 0 and 1. NaN where a draw has no value.
fn share(values: &[f64], weights: Option<&[f64]>, holds: &dyn Fn(f64) -> bool) -> f64 {
    if values.iter().any(|value| value.is_nan()) {
        return f64::NAN;
    }
    let weight = |s: usize| weights.map_or(1.0, |weights| weights[s]);
    let held = (0..values.len()).filter(|&s| holds(values[s])).map(weight);
    // An empty sum is a negative zero.
    (held.sum::<f64>() / values.len() as f64).clamp(0.0, 1.0) + 0.0
}

/// The ends of a central interval, as probabilities of being below them.
fn tails(probability: f64) -> [f64; 2] {
    [0.5 - 0.5 * probability, 0.5 + 0.5 * probability]
}

/// Monte Carlo standard errors of the quantiles of `values`, of which each chain has `per_chain`, that leave the same probability on
/// both sides.
fn interval_mcse(values: &[f64], per_chain: usize, probability: f64) -> [Option<f64>; 2] {
    let chains: Vec<&[f64]> = values.chunks(per_chain.max(1)).collect();
    tails(probability).map(|prob| mcse_quantile(&chains, prob).ok())
}

/// Quantiles that leave the same probability on both sides; NaN where a draw is not finite.
fn interval(values: &[f64], relative: Option<&[f64]>, probability: f64) -> [f64; 2] {
    if !values.iter().all(|value| value.is_finite()) {
        return [f64::NAN; 2];
    }
    let probs = tails(probability);
    let mut sorted = values.to_vec();
    let Some(relative) = relative else {
        sorted.sort_unstable_by(f64::total_cmp);
        return probs.map(|prob| quantiles::of_sorted(&sorted, prob));
    };
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    order.sort_unstable_by(|a, b| values[*a as usize].total_cmp(&values[*b as usize]));
    let mut cdf = Vec::new();
    weights::cdf(relative, &order, &mut cdf);
    sorted.sort_unstable_by(f64::total_cmp);
    probs.map(|prob| weights::quantile(&sorted, &cdf, prob))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of numpy, by `tests/reference/shares.py`.
    #[test]
    fn probabilities_above_zero_and_in_a_range_are_those_of_numpy() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/");
        let table = |file: &str| -> Vec<Vec<String>> {
            let text = std::fs::read_to_string(format!("{folder}{file}")).unwrap();
            let lines = text.lines().filter(|line| !line.starts_with('#'));
            let cells = |line: &str| line.split(',').map(str::to_owned).collect();
            lines.map(cells).collect()
        };
        let known = table("shares.csv");
        assert_eq!(known.len(), 1 + 2 * 9);
        for line in &known[1..] {
            let number = |k: usize| -> f64 { line[k].parse().unwrap() };
            let rows = table(&format!("draws_{}.csv", line[0]));
            let width = rows[0].len();
            let mut lists = vec![DrawList::new(1); width];
            let mut draw_weights = vec![Vec::new(); width];
            for (i, row) in rows.iter().enumerate() {
                for (k, cell) in row.iter().enumerate() {
                    lists[k].push(&[cell.parse().unwrap()]);
                    draw_weights[k].push(1.0 + ((i * width + k) % 7) as f64 / 4.0);
                }
            }
            if number(1) == 0.0 {
                draw_weights.clear();
            }
            let columns: Vec<f64> = lists.iter().flat_map(|list| list.column(0)).collect();
            let lists: Vec<&DrawList> = lists.iter().collect();
            let layout = Layout::of(&lists, &draw_weights, usize::MAX);
            let options = EffectsOptions {
                rope: Some([number(3), number(4)]),
                ..EffectsOptions::default()
            };
            let values = [(ParamId::named("b"), columns)];
            let found = layout.derive(&values, 0.0, &options).unwrap().remove(0);
            for (found, expected) in [
                (found.above, number(2)),
                (found.in_rope.unwrap(), number(5)),
            ] {
                assert!((found - expected).abs() < 1e-12, "{line:?}: {found}");
            }
        }
    }
}
