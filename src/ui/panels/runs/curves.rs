//! Curves derived from draws, made again only when draws came and not too often.

use std::time::{Duration, Instant};

use eframe::egui::Ui;

use crate::app::RunEntry;
use ergodic_base::draws::DrawList;
use ergodic_core::engine::{Report, RunView};
use ergodic_core::samplers::weight_column;
use ergodic_diagnostics::energy::Energies;
use ergodic_diagnostics::running::Point;
use ergodic_diagnostics::weights::{self, influence};
use ergodic_diagnostics::{Across, BoxPlot, Missing, autocorrelation, density, rank_counts};

/// Least time between two makings while draws come.
const REFRESH: Duration = Duration::from_millis(500);
/// The making of a curve may take this share of the time at most.
const DUTY: u32 = 20;
/// Bins of a rank histogram.
const RANK_BINS: usize = 20;
/// Lags of an autocorrelation.
const MAX_LAG: usize = 50;
/// Curves of other variables that a convergence row shows; more would be one grey mass.
const OTHERS: usize = 60;
/// Points of a curve over iterations: more than its pane has pixels to tell apart.
const POINTS: usize = 400;

/// What a curve was made from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// Run.
    pub run: u64,
    /// Variable.
    pub variable: usize,
    /// Grows with the draws.
    pub version: u64,
}

/// A value with what it was made from.
pub struct Memo<T> {
    key: Option<Key>,
    made: Option<(Instant, Duration)>,
    value: T,
}

impl<T: Default> Default for Memo<T> {
    fn default() -> Self {
        Self {
            key: None,
            made: None,
            value: T::default(),
        }
    }
}

impl<T> Memo<T> {
    /// The value for `key`. Another run or variable makes it at once; more draws of the same one wait for their turn,
    /// which is asked for.
    pub fn get(&mut self, ui: &Ui, key: Key, make: impl FnOnce() -> T) -> &T {
        if self.key == Some(key) {
            return &self.value;
        }
        let same = self
            .key
            .is_some_and(|old| (old.run, old.variable) == (key.run, key.variable));
        if let (true, Some((at, cost))) = (same, self.made) {
            let wait = REFRESH.max(cost * DUTY);
            let passed = at.elapsed();
            if passed < wait {
                ui.ctx().request_repaint_after(wait - passed);
                return &self.value;
            }
        }
        let begun = Instant::now();
        self.value = make();
        self.key = Some(key);
        self.made = Some((Instant::now(), begun.elapsed()));
        &self.value
    }
}

/// What the density pane shows.
#[derive(Default)]
pub struct Densities {
    /// All chains.
    pub pooled: Vec<[f64; 2]>,
    /// Each chain.
    pub chains: Vec<Vec<[f64; 2]>>,
    /// Whether the densities are bars of width 1 about whole numbers.
    pub are_bars: bool,
    /// The prior on the same grid.
    pub prior: Option<Vec<[f64; 2]>>,
    /// The posterior on the same grid, where it is known in closed form.
    pub exact: Option<Vec<[f64; 2]>>,
    /// Why there is no curve.
    pub missing: Option<Missing>,
    /// What must be known about the curve.
    pub remark: Option<String>,
}

/// Probability cut off from a curve that is worth a remark.
const CLIPPED: f64 = 0.005;

fn columns(view: &RunView, variable: usize) -> Vec<Vec<f64>> {
    view.chains
        .iter()
        .map(|chain| chain.draws.draws.column(variable))
        .collect()
}

/// Weights of the kept draws of all chains; empty where they do not matter.
fn weights(entry: &RunEntry, view: &RunView) -> Vec<Vec<f64>> {
    let column = weight_column(&entry.info_names());
    let weights = column.map_or_else(Vec::new, |column| {
        let chains = view.chains.iter();
        chains
            .map(|chain| chain.draws.info.column(column))
            .collect()
    });
    if weights::matter(&weights) {
        weights
    } else {
        Vec::new()
    }
}

/// Densities of the kept draws of one variable.
pub fn densities(entry: &RunEntry, view: &RunView, variable: usize) -> Densities {
    let columns = columns(view, variable);
    let usable: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let weights = weights(entry, view);
    let all_weights: Vec<&[f64]> = weights.iter().map(Vec::as_slice).collect();
    let points = |parts: &[&[f64]], weights: &[&[f64]], range: Option<(f64, f64)>| {
        density(parts, weights, range).map(|curve| {
            let pairs = curve.x.iter().zip(&curve.y);
            pairs.map(|(&x, &y)| [x, y]).collect::<Vec<_>>()
        })
    };
    // First the range of the draws, then a wider one, so that the curve comes down to the axis at both ends.
    let (mut clipped, mut are_bars) = (0.0, false);
    let pooled = density(&usable, &all_weights, None).and_then(|curve| {
        clipped = curve.clipped;
        are_bars = curve.bandwidth == 0.0;
        let pad = 3.0 * curve.bandwidth;
        let low = curve.x.first().copied().unwrap_or(0.0) - pad;
        let high = curve.x.last().copied().unwrap_or(1.0) + pad;
        let points = points(&usable, &all_weights, Some((low, high)))?;
        Ok(((low, high), points))
    });
    let (range, pooled) = match pooled {
        Ok(found) => found,
        Err(why) => {
            return Densities {
                missing: Some(why),
                ..Densities::default()
            };
        }
    };
    let chains = usable
        .iter()
        .enumerate()
        .map(|(index, chain)| {
            let weights = all_weights.get(index).map_or(&[][..], std::slice::from_ref);
            points(&[chain], weights, Some(range)).unwrap_or_default()
        })
        .collect();
    let reported = entry.reported(variable);
    let prior = reported.and_then(|(model, place)| {
        pooled
            .iter()
            .map(|&[x, _]| Some([x, model.prior_density(place, x)?]))
            .collect()
    });
    let marginal = reported.and_then(|(model, place)| model.marginal(place));
    let exact = marginal.map(|marginal| {
        let places = pooled.iter().map(|&[x, _]| [x, marginal.density(x)]);
        places.filter(|point| point[1].is_finite()).collect()
    });
    Densities {
        pooled,
        chains,
        are_bars,
        prior,
        exact,
        missing: None,
        remark: (clipped > CLIPPED).then(|| {
            format!(
                "negative weights: {:.0}% below zero cut off",
                100.0 * clipped
            )
        }),
    }
}

/// Rank counts by chain and bin, or why there are none.
pub fn ranks(entry: &RunEntry, view: &RunView, variable: usize) -> Result<Vec<Vec<u32>>, Missing> {
    let columns = columns(view, variable);
    let chains: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let counts = rank_counts(&chains, &weights(entry, view), RANK_BINS)?;
    // Weighted counts are rounded to whole draws.
    let short = |count: f64| count.round() as u32;
    Ok(counts
        .into_iter()
        .map(|chain| chain.into_iter().map(short).collect())
        .collect())
}

/// Autocorrelations by chain with the half width of the band of chance, or why there are none. Of weighted draws, those
/// of the influence on the mean, which its error is made of.
pub fn autocorrelations(
    entry: &RunEntry,
    view: &RunView,
    variable: usize,
) -> Result<(Vec<Vec<f64>>, f64), Missing> {
    let mut columns = columns(view, variable);
    let weights = weights(entry, view);
    if !weights.is_empty() {
        columns = influence(&columns, &weights)?;
    }
    let mut why = None;
    let chains: Vec<Vec<f64>> = columns
        .iter()
        .map(|chain| {
            autocorrelation(chain, MAX_LAG).unwrap_or_else(|missing| {
                why = Some(missing);
                Vec::new()
            })
        })
        .collect();
    match why {
        Some(why) if chains.iter().all(Vec::is_empty) => Err(why),
        _ => {
            let draws = view.draws_per_chain().max(1) as f64;
            Ok((chains, 1.96 / draws.sqrt()))
        }
    }
}

/// Effective sample sizes across the distribution of a variable, or why there are none.
pub fn across(entry: &RunEntry, view: &RunView, variable: usize) -> Result<Across, Missing> {
    let [columns, weights] = usable(entry, view, variable);
    Across::of(&slices(&columns), &slices(&weights))
}

/// The box plot of a variable, or why there is none.
pub fn box_plot(entry: &RunEntry, view: &RunView, variable: usize) -> Result<BoxPlot, Missing> {
    let [columns, weights] = usable(entry, view, variable);
    BoxPlot::of(&slices(&columns), &slices(&weights))
}

/// Draws of a variable of the usable chains, and their weights; none where they do not matter.
fn usable(entry: &RunEntry, view: &RunView, variable: usize) -> [Vec<Vec<f64>>; 2] {
    let columns = view
        .usable()
        .map(|chain| chain.draws.draws.column(variable));
    let weights = view.weights(weight_column(&entry.info_names()));
    [columns.collect(), weights]
}

fn slices(parts: &[Vec<f64>]) -> Vec<&[f64]> {
    parts.iter().map(Vec::as_slice).collect()
}

/// The energies in the information column `column`, or why there is no density of them.
pub fn energies(view: &RunView, column: usize) -> Result<Energies, Missing> {
    let chains = view.usable().map(|chain| chain.draws.info.column(column));
    Energies::of(chains.collect())
}

/// Curves of one measure: those of the selected variable and of the others.
#[derive(Default)]
pub struct Measure {
    /// The selected variable.
    pub selected: Vec<[f64; 2]>,
    /// Others.
    pub others: Vec<Vec<[f64; 2]>>,
}

/// How the measures developed.
#[derive(Default)]
pub struct Convergence {
    /// R-hat; nested where chains begin in groups.
    pub rhat: Measure,
    /// Whether R-hat is nested.
    pub is_nested: bool,
    /// Bulk effective sample size.
    pub ess: Measure,
    /// Monte Carlo error of the mean in posterior sd.
    pub mcse: Measure,
    /// Criterion of OSGFS over iterations, the worst chain; empty where the sampler has none.
    pub criterion: Vec<[f64; 2]>,
}

/// The measures of `report` over iterations, of which the first `warmup` are warm-up.
pub fn convergence(
    view: &RunView,
    report: &Report,
    variable: usize,
    warmup: f64,
    criterion: Option<usize>,
) -> Convergence {
    let rows = &report.summary;
    let is_nested = report.limits.superchains.is_some();
    let measure = |value: &dyn Fn(usize, &Point) -> Option<f64>| -> Measure {
        let curve = |index: usize| -> Vec<[f64; 2]> {
            // The history has points at growing distances; it ends with what the summary says now.
            let row = &rows[index];
            let now = Point {
                draws: report.draws_per_chain,
                rhat: row.rhat,
                ess_bulk: row.ess_bulk,
                ess_tail: row.ess_tail,
                mcse_mean: row.mcse_mean,
                rhat_nested: row.rhat_nested,
            };
            let past = report.running.points(index).iter();
            past.filter(|point| point.draws < now.draws)
                .chain([&now])
                .filter_map(|point| Some([warmup + point.draws as f64, value(index, point)?]))
                .collect()
        };
        let step = rows.len().div_ceil(OTHERS).max(1);
        Measure {
            selected: if variable < rows.len() {
                curve(variable)
            } else {
                Vec::new()
            },
            others: (0..rows.len())
                .step_by(step)
                .filter(|&index| index != variable)
                .map(curve)
                .collect(),
        }
    };
    Convergence {
        rhat: measure(&|_, point| match is_nested {
            true => point.rhat_nested,
            false => point.rhat,
        }),
        is_nested,
        ess: measure(&|_, point| point.ess_bulk),
        mcse: measure(&|index, point| {
            let sd = rows[index].sd.filter(|sd| *sd > 0.0)?;
            Some(point.mcse_mean? / sd)
        }),
        criterion: criterion.map_or_else(Vec::new, |column| worst(view, column)),
    }
}

/// Largest value of an information column over chains, by iteration.
fn worst(view: &RunView, column: usize) -> Vec<[f64; 2]> {
    let end = view
        .usable()
        .map(|chain| chain.draws.warmup_info.len() + chain.draws.info.len())
        .min()
        .unwrap_or(0);
    let step = end.div_ceil(POINTS).max(1);
    (0..end)
        .step_by(step)
        .filter_map(|iteration| {
            view.usable()
                .filter_map(|chain| {
                    let warm = chain.draws.warmup_info.len();
                    let value = if iteration < warm {
                        chain.draws.warmup_info.value(iteration, column)
                    } else {
                        chain.draws.info.value(iteration - warm, column)
                    };
                    value.is_finite().then_some(value)
                })
                .reduce(f64::max)
                .map(|value| [iteration as f64, value])
        })
        .collect()
}

/// One information column of the sampler in short.
#[derive(Clone, Debug, Default)]
pub struct InfoLine {
    /// Mean over kept draws of all chains.
    pub mean: Option<f64>,
    /// Smallest and largest.
    pub range: Option<(f64, f64)>,
    /// Sum, for columns that count.
    pub sum: f64,
    /// Means over equal pieces of the kept draws, all chains: a small trace.
    pub trace: Vec<[f64; 2]>,
}

/// Pieces of a small trace.
const PIECES: usize = 60;

/// All information columns in short.
pub fn info_lines(view: &RunView, num_columns: usize) -> Vec<InfoLine> {
    let lists: Vec<&DrawList> = view.usable().map(|chain| &chain.draws.info).collect();
    (0..num_columns)
        .map(|column| {
            let mut line = InfoLine::default();
            let (mut count, mut low, mut high) = (0_usize, f64::INFINITY, f64::NEG_INFINITY);
            let longest = lists.iter().map(|list| list.len()).max().unwrap_or(0);
            let mut pieces = [(0.0, 0_usize); PIECES];
            for list in &lists {
                if column >= list.width() {
                    continue;
                }
                let mut at = 0;
                for chunk in list.chunks() {
                    for &value in chunk.column(column) {
                        if value.is_finite() {
                            count += 1;
                            line.sum += value;
                            low = low.min(value);
                            high = high.max(value);
                            let piece = &mut pieces[at * PIECES / longest.max(1)];
                            piece.0 += value;
                            piece.1 += 1;
                        }
                        at += 1;
                    }
                }
            }
            if count > 0 {
                line.mean = Some(line.sum / count as f64);
                line.range = Some((low, high));
                line.trace = pieces
                    .iter()
                    .enumerate()
                    .filter(|(_, (_, count))| *count > 0)
                    .map(|(i, (sum, count))| [i as f64, sum / *count as f64])
                    .collect();
            }
            line
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ergodic_core::engine::RunState;
    use ergodic_diagnostics::SummaryRow;

    #[test]
    fn curves_of_convergence_end_with_the_summary() {
        let mut report = Report::empty(1);
        report.draws_per_chain = 1000;
        report.summary.push(SummaryRow {
            variable: "b[age]".into(),
            mean: Some(1.0),
            mcse_mean: Some(0.1),
            sd: Some(2.0),
            mad: None,
            q5: None,
            q50: None,
            q95: None,
            ess_bulk: Some(6770.0),
            ess_tail: None,
            ess_bulk_per_s: None,
            rhat: Some(1.002),
            rhat_nested: None,
            missing: None,
        });
        let view = RunView {
            chains: Vec::new(),
            state: RunState::Running,
            frozen: false,
            elapsed_secs: 0.0,
            log: Vec::new(),
            version: 1,
        };
        let made = convergence(&view, &report, 0, 200.0, None);
        assert_eq!(made.rhat.selected.last(), Some(&[1200.0, 1.002]));
        assert_eq!(made.ess.selected.last(), Some(&[1200.0, 6770.0]));
        assert_eq!(made.mcse.selected.last(), Some(&[1200.0, 0.05]));
    }
}
