//! Calibration of probabilities: whether among rows with a predicted probability of 30 % three in ten are successes.
//!
//! Source: Dimitriadis, Gneiting and Jordan (2021), PNAS 118(8). The observed share as a function of the predicted probability is
//! estimated by isotonic regression, which the pool-adjacent-violators algorithm finds and which needs no choice of bins. Outcomes
//! drawn with the predicted probabilities give the consistency band, in which the curve of calibrated predictions lies, and the
//! p-value: how often the miscalibration of such outcomes is at least that observed. Miscalibration is the mean squared error of
//! the predicted probabilities less that of the curve.
//!
//! Predicted probabilities are posterior means of rows that the fit has seen.

use rayon::prelude::*;

use super::statistic::p_in_words;
use super::{Band, SURPRISING};
use ergodic_base::numerals::fixed;
use ergodic_base::{ChainRng, Control, Purpose, stream};
use rand::RngExt as _;
use rand_distr::{Binomial, Distribution as _};

/// Outcomes drawn for the band: a p-value of 0.05 then has a Monte Carlo error of 0.01.
const REPLICATIONS: usize = 500;
/// Places that the curve is shown at, evenly spaced among the rows in the order of their predictions.
const PLACES: usize = 100;

/// Rows in any order.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    /// Predicted probabilities.
    pub(super) expected: &'a [f64],
    /// Observed successes.
    pub(super) successes: &'a [f64],
    /// Trials.
    pub(super) trials: &'a [f64],
}

/// The curve at one predicted probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CalibrationPoint {
    /// Predicted probability.
    pub predicted: f64,
    /// Observed share by isotonic regression.
    pub observed: f64,
    /// Observed shares if predictions are right.
    pub consistent: Band,
}

/// The calibration curve of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// Ascending by prediction.
    pub points: Vec<CalibrationPoint>,
    /// Mean squared error of predicted probabilities less that of the curve, per trial.
    pub miscalibration: f64,
    /// Share of outcomes drawn with the predicted probabilities that are miscalibrated at least as much.
    pub p: f64,
}

/// The non-decreasing sequence nearest to `values` in squares weighted by `weights`, by pooling adjacent violators.
pub fn isotonic(values: &[f64], weights: &[f64]) -> Vec<f64> {
    // Mean, weight and length of blocks.
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    for (&value, &weight) in values.iter().zip(weights) {
        let mut block = (value, weight, 1);
        while let Some(&(mean, before, length)) = blocks.last() {
            if mean < block.0 {
                break;
            }
            blocks.pop();
            let sum = before + block.1;
            block = (
                mean + (block.0 - mean) * (block.1 / sum),
                sum,
                length + block.2,
            );
        }
        blocks.push(block);
    }
    let fitted = blocks.iter();
    fitted
        .flat_map(|&(mean, _, length)| std::iter::repeat_n(mean, length))
        .collect()
}

/// Rows of one prediction.
struct Group {
    predicted: f64,
    trials: f64,
    successes: f64,
    rows: usize,
}

/// The curve and the miscalibration of successes, one number per group.
fn curve(groups: &[Group], successes: &[f64]) -> (Vec<f64>, f64) {
    let shares: Vec<f64> = (groups.iter().zip(successes))
        .map(|(group, y)| y / group.trials)
        .collect();
    let trials: Vec<f64> = groups.iter().map(|group| group.trials).collect();
    let fitted = isotonic(&shares, &trials);
    // The error within groups is the same on both sides.
    let excess = groups.iter().zip(&shares).zip(&fitted);
    let excess: f64 = excess
        .map(|((group, share), fitted)| {
            group.trials * ((share - group.predicted).powi(2) - (share - fitted).powi(2))
        })
        .sum();
    (fitted, excess / trials.iter().sum::<f64>())
}

impl Calibration {
    /// `None` if somebody cancelled.
    pub(super) fn of(rows: &Rows<'_>, seed: u64, control: &Control) -> Option<Self> {
        let mut order: Vec<usize> = (0..rows.expected.len()).collect();
        order.sort_by(|&a, &b| rows.expected[a].total_cmp(&rows.expected[b]));
        // Rows of one prediction have one value of the curve.
        let mut groups: Vec<Group> = Vec::new();
        for i in order {
            let predicted = rows.expected[i];
            match groups.last_mut() {
                Some(group) if group.predicted == predicted => {
                    group.trials += rows.trials[i];
                    group.successes += rows.successes[i];
                    group.rows += 1;
                }
                _ => groups.push(Group {
                    predicted,
                    trials: rows.trials[i],
                    successes: rows.successes[i],
                    rows: 1,
                }),
            }
        }
        let successes: Vec<f64> = groups.iter().map(|group| group.successes).collect();
        let (fitted, miscalibration) = curve(&groups, &successes);
        let shown = places(&groups);
        control.enter("drawing calibrated outcomes");
        control.expect(REPLICATIONS as u64);
        let made: Vec<(Vec<f64>, f64)> = (0..REPLICATIONS)
            .into_par_iter()
            .map(|k| {
                if control.is_cancelled() {
                    return (Vec::new(), 0.0);
                }
                // The streams before are those of rows.
                let mut rng = stream(seed, rows.expected.len() + k, Purpose::Diagnostics);
                let successes: Vec<f64> = (groups.iter())
                    .map(|group| draw(group.predicted, group.trials, &mut rng))
                    .collect();
                let (fitted, excess) = curve(&groups, &successes);
                control.advance(1);
                (shown.iter().map(|&g| fitted[g]).collect(), excess)
            })
            .collect();
        if control.is_cancelled() {
            return None;
        }
        let points = shown.iter().enumerate().map(|(at, &g)| {
            let mut values: Vec<f64> = made.iter().map(|(curve, _)| curve[at]).collect();
            CalibrationPoint {
                predicted: groups[g].predicted,
                observed: fitted[g],
                consistent: Band::of(&mut values),
            }
        });
        let as_large = made.iter().filter(|(_, excess)| *excess >= miscalibration);
        Some(Self {
            points: points.collect(),
            miscalibration,
            p: as_large.count() as f64 / REPLICATIONS as f64,
        })
    }

    /// Whether and where predictions are not calibrated, in one sentence; `None` if they are.
    pub(super) fn finding(&self) -> Option<String> {
        if self.p >= SURPRISING {
            return None;
        }
        let gap = |point: &CalibrationPoint| (point.observed - point.predicted).abs();
        let outside = self.points.iter();
        let farthest = outside
            .filter(|point| !point.consistent.holds(point.observed))
            .max_by(|a, b| gap(a).total_cmp(&gap(b)));
        let where_ = farthest.map_or(String::new(), |point| {
            let percent = |share: f64| fixed(100.0 * share, 0);
            format!(
                "; of rows predicted at {} %, {} % are successes",
                percent(point.predicted),
                percent(point.observed)
            )
        });
        Some(format!(
            "The predicted probabilities are not calibrated ({}){where_}",
            p_in_words(self.p, REPLICATIONS)
        ))
    }

    /// Where the curve lies, in one sentence.
    pub(super) fn summary(&self) -> String {
        let inside = |point: &&CalibrationPoint| point.consistent.holds(point.observed);
        let inside = self.points.iter().filter(inside).count();
        format!(
            "Inside the 90 % band of calibrated predictions: {} % of the calibration curve ({})",
            fixed(100.0 * inside as f64 / self.points.len().max(1) as f64, 0),
            p_in_words(self.p, REPLICATIONS)
        )
    }
}

/// Successes of `trials` with this probability each.
fn draw(probability: f64, trials: f64, rng: &mut ChainRng) -> f64 {
    if trials == 1.0 {
        return f64::from(u8::from(rng.random::<f64>() < probability));
    }
    let binomial = Binomial::new(trials as u64, probability.clamp(0.0, 1.0));
    binomial.map_or(probability * trials, |binomial| binomial.sample(rng) as f64)
}

/// Groups that the curve is shown at: those of rows evenly spaced in the order of their predictions, the first and the last among
/// them.
fn places(groups: &[Group]) -> Vec<usize> {
    let rows: usize = groups.iter().map(|group| group.rows).sum();
    let (mut g, mut upto) = (0, groups.first().map_or(0, |group| group.rows));
    let mut shown: Vec<usize> = (0..PLACES.min(rows))
        .map(|k| {
            let row = k * (rows - 1) / (PLACES.min(rows) - 1).max(1);
            while upto <= row {
                g += 1;
                upto += groups[g].rows;
            }
            g
        })
        .collect();
    shown.dedup();
    shown
}
