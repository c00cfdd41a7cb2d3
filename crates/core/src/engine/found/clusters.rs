//! What a run says about clusters: the point partition with its profiles, and how often units were together.
//!
//! Chains keep the clusters of some units in some draws ([`crate::engine::labels`]). The point
//! partition is made from these; units outside the subset join the cluster that predicts them best, size included.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Summary;
use crate::engine::labels::{self, some_of};
use crate::engine::{RunView, Sampling};
use crate::models::Mixture;
use crate::samplers::CLUSTERS;
use ergodic_base::draws::ChainDraws;
use ergodic_base::{Class, ParamId};
use ergodic_diagnostics::partition::{co_clustering, point_partition};
use ergodic_diagnostics::{Finding, Limits, SummaryRow, Verdict};

pub mod predictive;

use predictive::{Predictive, predictive};

/// Most units of the matrix of common clusters.
const MOST_PAIRED: usize = 400;
/// Most units of the scatter plot.
const MOST_POINTS: usize = 2000;
/// Levels of a profile.
const LEVELS: usize = 5;
/// Mean share of all units below which a cluster does not decide about a run: it is not there in most draws, so that its
/// weight is nearly always 0 and neither R-hat nor effective draws say much about it.
const NEGLIGIBLE_SHARE: f64 = 0.01;

/// Whether a variable of a run that draws partitions counts for the verdict.
fn decides(row: &SummaryRow) -> bool {
    row.variable.class() != Class::ClusterShare
        || row.mean.is_none_or(|mean| mean >= NEGLIGIBLE_SHARE)
}

ergodic_base::remarks! {
    /// What is remarkable about clusters.
    pub enum Remark {
        /// Weights of clusters too small to count for the verdict.
        Negligible {
            /// The largest of these weights.
            variable: String,
            /// How many more there are.
            more: usize,
        }
        Info "negligible-clusters" (
            "`{variable}` {} not count for the verdict: a cluster of less than 1 % of the units is missing from most draws, which \
             chains cannot agree on",
            if *more == 0 { "does".to_owned() } else { format!("and {more} smaller do") }
        );
    }
}

/// Clusters of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clusters {
    /// Names of the units: data rows, or levels of the group.
    pub units: Vec<String>,
    /// Cluster of each unit in the point partition, from 0, largest first.
    pub partition: Vec<u32>,
    /// Mean share of draws in which the unit was together with the others of its cluster; `None` where that was not kept.
    pub together: Vec<Option<f32>>,
    /// Mean variation of information between the point partition and the draws, natural units.
    pub distance: f64,
    /// Draws that it is made from.
    pub draws: usize,
    /// One per cluster.
    pub profiles: Vec<Profile>,
    /// How often units were together.
    pub pairs: Pairs,
    /// The first two numeric columns, if there are.
    pub scatter: Option<Scatter>,
    /// Where a further unit would lie, for each of the first numeric columns.
    #[serde(default)]
    pub densities: Vec<Predictive>,
}

/// A cluster of the point partition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Units.
    pub size: usize,
    /// Numeric columns.
    pub numbers: Vec<NumberProfile>,
    /// Categories: the most frequent levels of each column.
    pub levels: Vec<LevelProfile>,
}

impl Profile {
    /// The profile in one line: means ± standard deviations, then the most frequent levels with their share here and, in
    /// brackets, everywhere.
    pub fn sentence(&self) -> String {
        let numbers = self.numbers.iter().map(|number| {
            let (mean, sd) = (number.mean, number.sd);
            if sd == 0.0 {
                return format!("{} {mean}", number.column);
            }
            let digits = (1.0 - sd.max(1e-300).log10().floor()).clamp(0.0, 9.0) as usize;
            format!("{} {mean:.digits$} ± {sd:.digits$}", number.column)
        });
        let levels = self.levels.iter().map(|level| {
            let (share, overall) = (level.share, level.overall);
            format!("{}={} {share:.2} ({overall:.2})", level.column, level.level)
        });
        numbers.chain(levels).collect::<Vec<_>>().join(", ")
    }
}

/// A numeric column within a cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NumberProfile {
    /// Name.
    pub column: String,
    /// Mean of the cluster's units.
    pub mean: f64,
    /// Standard deviation of the cluster's units (divisor n).
    pub sd: f64,
}

/// A level within a cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LevelProfile {
    /// Name of the column.
    pub column: String,
    /// The level.
    pub level: String,
    /// Share of the level among the cluster's observations.
    pub share: f64,
    /// Share of the level among all observations.
    pub overall: f64,
}

/// Shares of draws in which two units had the same cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pairs {
    /// Positions of the units, by cluster of the point partition.
    pub units: Vec<u32>,
    /// Row-major, units × units.
    pub shares: Vec<f32>,
}

/// Two numeric columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scatter {
    /// Names of the two columns.
    pub columns: [String; 2],
    /// Positions of the units shown.
    pub units: Vec<u32>,
    /// Values of the two columns for the units shown.
    pub points: Vec<[f64; 2]>,
}

impl Summary for Clusters {
    const OUTPUT: &'static str = CLUSTERS;
    const FILE: Option<&'static str> = Some("clusters.json");
    /// Not weights of clusters that are not there.
    const DECIDES: Option<fn(&SummaryRow) -> bool> = Some(decides);

    fn of(job: &dyn Sampling, view: &RunView) -> Option<Self> {
        let mixture = job.model().partition()?;
        let is_alpha = |name: &ParamId| *name == "alpha";
        let alpha = job.variables().iter().position(is_alpha);
        // Its draws are wanted and are not there.
        let lacks_alpha = job.unkept_variables().iter().any(is_alpha);
        let draws: Vec<predictive::Draw<'_>> = view
            .usable()
            .flat_map(|chain| {
                let ChainDraws { draws, labels, .. } = &chain.draws;
                let alpha = move |number: u64| {
                    alpha.map_or(mixture.alpha.mean(), |j| draws.value(number as usize, j))
                };
                labels
                    .iter()
                    .filter(|(number, _)| *number < draws.len() as u64)
                    .map(move |(number, labels)| (labels.as_ref(), alpha(number)))
            })
            .collect();
        let partitions: Vec<&[u32]> = draws.iter().map(|(labels, _)| *labels).collect();
        let kept = labels::units_kept(mixture.num_units());
        let clusters = Self::new(mixture, &kept, &partitions)?;
        let densities = match lacks_alpha {
            true => Vec::new(),
            false => predictive(mixture, &kept, &draws),
        };
        Some(Self {
            densities,
            ..clusters
        })
    }

    /// Without the data, profiles are sizes alone.
    fn of_labels(units: &[String], draws: &[&[u32]]) -> Option<Self> {
        let point = point_partition(draws)?;
        let all: Vec<u32> = (0..units.len() as u32).collect();
        let pairs = Pairs::of(&all, &point.labels, draws);
        let size = |cluster| {
            point
                .labels
                .iter()
                .filter(|&&label| label == cluster)
                .count()
        };
        let profile = |cluster| Profile {
            size: size(cluster),
            numbers: Vec::new(),
            levels: Vec::new(),
        };
        Some(Self {
            units: units.to_vec(),
            together: together(&point.labels, draws),
            distance: point.distance,
            draws: draws.len(),
            profiles: (0..point.clusters as u32).map(profile).collect(),
            pairs,
            scatter: None,
            densities: Vec::new(),
            partition: point.labels,
        })
    }

    /// A remark on weights of clusters that would have decided if they counted.
    fn finding(&self, rows: &[SummaryRow], chains: usize) -> Option<Finding> {
        let all = Limits::of(chains);
        let mut left_out = rows
            .iter()
            .filter(|row| !decides(row) && all.verdict(row) != Verdict::Good);
        let first = left_out.next()?;
        let remark = Remark::Negligible {
            variable: first.variable.to_string(),
            more: left_out.count(),
        };
        Some(Finding::new(Verdict::Good, "", None, Some(remark.into())))
    }
}

impl Clusters {
    /// The clusters of `mixture` from `draws` with one label for each of the units `kept`.
    fn new(mixture: &Mixture, kept: &[u32], draws: &[&[u32]]) -> Option<Self> {
        let point = point_partition(draws)?;
        let partition = spread(mixture, kept, &point.labels, point.clusters);
        let records = records(mixture, &partition, point.clusters);
        let pairs = Pairs::of(kept, &point.labels, draws);
        let mut of_all = vec![None; partition.len()];
        for (&unit, share) in kept.iter().zip(together(&point.labels, draws)) {
            of_all[unit as usize] = share;
        }
        Some(Self {
            units: mixture.unit_names[..mixture.num_units()].to_vec(),
            together: of_all,
            distance: point.distance,
            draws: draws.len(),
            profiles: records
                .iter()
                .map(|record| profile(mixture, record, &records))
                .collect(),
            pairs,
            scatter: scatter(mixture),
            densities: Vec::new(),
            partition,
        })
    }

    /// Whether the data told what the clusters are like ([`Summary::of_labels`]).
    pub fn has_profiles(&self) -> bool {
        let told = |profile: &Profile| !profile.numbers.is_empty() || !profile.levels.is_empty();
        self.profiles.iter().any(told)
    }
}

/// Records of the clusters of a partition of all units.
fn records(mixture: &Mixture, partition: &[u32], clusters: usize) -> Vec<Vec<f64>> {
    let mut records = vec![vec![0.0; mixture.width()]; clusters];
    for (unit, &label) in partition.iter().enumerate() {
        mixture.add(unit, &mut records[label as usize]);
    }
    records
}

/// The point partition of the units kept, spread to all units.
fn spread(mixture: &Mixture, kept: &[u32], labels: &[u32], clusters: usize) -> Vec<u32> {
    let mut partition = vec![u32::MAX; mixture.num_units()];
    let mut records = vec![vec![0.0; mixture.width()]; clusters];
    for (&unit, &label) in kept.iter().zip(labels) {
        partition[unit as usize] = label;
        mixture.add(unit as usize, &mut records[label as usize]);
    }
    for record in &mut records {
        mixture.settle(record);
    }
    for (unit, label) in partition.iter_mut().enumerate() {
        if *label == u32::MAX {
            let density = |record: &Vec<f64>| record[0].ln() + mixture.log_predictive(unit, record);
            *label = (0..clusters)
                .max_by(|&a, &b| density(&records[a]).total_cmp(&density(&records[b])))
                .unwrap_or(0) as u32;
        }
    }
    partition
}

/// Profile of the cluster `record` among all `records`.
fn profile(mixture: &Mixture, record: &[f64], records: &[Vec<f64>]) -> Profile {
    let size = record[0] as usize;
    let numbers = mixture.numeric.as_ref().map_or_else(Vec::new, |part| {
        let values = mixture.numeric_part(record);
        let columns = part.names.iter().enumerate();
        columns
            .map(|(j, column)| {
                let [mean, sd] = part.profile(j, record[0], values);
                NumberProfile {
                    column: column.clone(),
                    mean,
                    sd,
                }
            })
            .collect()
    });
    let mut levels = Vec::new();
    if let Some(part) = &mixture.counts {
        let items = part.num_items();
        let share = |record: &[f64], item: usize, block: usize| {
            let counts = mixture.counts_part(record);
            (counts[item], counts[items + block])
        };
        for (b, block) in part.blocks.iter().enumerate() {
            let mut order: Vec<usize> = block.items.clone().collect();
            order.sort_by(|&x, &y| share(record, y, b).0.total_cmp(&share(record, x, b).0));
            for item in order.into_iter().take(LEVELS) {
                let (count, total) = share(record, item, b);
                if count == 0.0 {
                    break;
                }
                let everywhere = records.iter().map(|record| share(record, item, b));
                let (all, of) =
                    everywhere.fold((0.0, 0.0), |sum, next| (sum.0 + next.0, sum.1 + next.1));
                levels.push(LevelProfile {
                    column: block.name.clone(),
                    level: block.levels[item - block.items.start].clone(),
                    share: count / total,
                    overall: all / of,
                });
            }
        }
    }
    Profile {
        size,
        numbers,
        levels,
    }
}

impl Pairs {
    /// Of some of the units `kept`, whose labels in the point partition are `point`.
    fn of(kept: &[u32], point: &[u32], draws: &[&[u32]]) -> Self {
        let mut shown: Vec<usize> = some_of(kept.len(), MOST_PAIRED)
            .into_iter()
            .map(|k| k as usize)
            .collect();
        shown.sort_by_key(|&k| point[k]);
        Self {
            shares: co_clustering(draws, &shown),
            units: shown.iter().map(|&k| kept[k]).collect(),
        }
    }
}

/// For each of `units`, whose labels in the point partition are `point`, the mean share of `draws` in which it was together
/// with the others of its cluster; `None` for one that is alone there.
fn together(point: &[u32], draws: &[&[u32]]) -> Vec<Option<f32>> {
    let mut sizes: BTreeMap<u32, u32> = BTreeMap::new();
    for &cluster in point {
        *sizes.entry(cluster).or_default() += 1;
    }
    let mut sums = vec![0.0; point.len()];
    for draw in draws {
        let mut met: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        let units = || point.iter().copied().zip(draw.iter().copied());
        for both in units() {
            *met.entry(both).or_default() += 1;
        }
        for (sum, both) in sums.iter_mut().zip(units()) {
            *sum += f64::from(met[&both] - 1);
        }
    }
    let others = point.iter().map(|cluster| sizes[cluster] - 1);
    let shares = sums.iter().zip(others).map(|(sum, others)| {
        let pairs = f64::from(others) * draws.len() as f64;
        (others > 0).then(|| (sum / pairs) as f32)
    });
    shares.collect()
}

fn scatter(mixture: &Mixture) -> Option<Scatter> {
    let part = mixture.numeric.as_ref().filter(|part| part.dim() >= 2)?;
    let units = some_of(mixture.num_units(), MOST_POINTS);
    let points = units
        .iter()
        .map(|&unit| {
            let x = part.unit(unit as usize);
            [0, 1].map(|j| part.center[j] + part.scale[j] * x[j])
        })
        .collect();
    Some(Scatter {
        columns: [0, 1].map(|j| part.names[j].clone()),
        units,
        points,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::found::{criterion, kinds_of};
    use crate::models::dp_mixture::AlphaPrior;
    use crate::samplers::find;
    use crate::samplers::names::{DP_GIBBS, NUTS};
    use crate::testing::mixtures::{counts, names, numeric};
    use ergodic_base::draws::DrawList;
    use ergodic_diagnostics::{VerdictInputs, judge, summarise};

    /// A row of each of two chains that disagree about everything.
    fn rows(names: [&str; 4], means: [f64; 4]) -> Vec<SummaryRow> {
        let chains = [0.5, 1.5].map(|side| {
            let mut list = DrawList::new(4);
            for k in 0..100 {
                let wave = 1.0 + 0.1 * f64::from(k).sin();
                list.push(&means.map(|mean| mean * side * wave));
            }
            list
        });
        let chains: Vec<&DrawList> = chains.iter().collect();
        summarise(&names.map(ParamId::from), &chains, &[], 0.0)
    }

    #[test]
    fn weights_of_clusters_that_are_mostly_missing_do_not_decide_and_are_told() {
        let names = ["alpha", "weight[1]", "weight[2]", "weight[3]"];
        let rows = rows(names, [0.001, 0.5, 0.005, 0.002]);
        let deciding = |sampler| {
            let kinds = kinds_of(find(sampler).unwrap());
            rows.iter().map(criterion(kinds)).collect()
        };
        let (with, without): (Vec<bool>, Vec<bool>) = (deciding(DP_GIBBS), deciding(NUTS));
        assert_eq!(with, [true, true, false, false]);
        assert_eq!(without, [true; 4]);
        let clusters = Clusters::of_labels(&["a".to_owned()], &[&[0]]).unwrap();
        let told = |rows: &[SummaryRow]| {
            let others: Vec<Finding> = clusters.finding(rows, 2).into_iter().collect();
            let inputs = VerdictInputs {
                others: &others,
                ..VerdictInputs::of(rows, 100, 2)
            };
            let mut findings = judge(&inputs).findings.into_iter();
            let found = findings.find(|it| it.code == "negligible-clusters")?;
            Some(found.to_string())
        };
        let why = "a cluster of less than 1 % of the units is missing from most draws, which chains cannot agree on";
        let one = format!("`weight[2]` does not count for the verdict: {why}");
        let two = format!("`weight[2]` and 1 smaller do not count for the verdict: {why}");
        assert_eq!(told(&rows[..3]), Some(one));
        assert_eq!(told(&rows), Some(two));
        assert_eq!(told(&rows[..2]), None);
    }

    #[test]
    fn units_that_were_not_kept_join_the_cluster_that_predicts_them() {
        let rows: Vec<[f64; 2]> = (0..20)
            .map(|unit| {
                let side = if unit < 12 { -1.0 } else { 1.0 };
                [side + 0.01 * f64::from(unit), side]
            })
            .collect();
        let rows: Vec<&[f64]> = rows.iter().map(<[f64; 2]>::as_slice).collect();
        let wide: Vec<Vec<u32>> = (0..20).map(|unit| vec![u32::from(unit >= 12)]).collect();
        let wide: Vec<&[u32]> = wide.iter().map(Vec::as_slice).collect();
        let mixture = Mixture::new(
            names(20),
            0,
            Some(numeric(&rows, false)),
            Some(counts(&[2], 0.5, &wide)),
            AlphaPrior::Constant(1.0),
        );
        // Units 3 and 4 were together, and so were 17 and 19; one draw errs.
        let kept = [3, 4, 17, 19];
        let draws: [&[u32]; 4] = [&[0, 0, 1, 1], &[0, 0, 1, 1], &[0, 0, 1, 2], &[0, 0, 1, 1]];
        let found = Clusters::new(&mixture, &kept, &draws).unwrap();
        let expected: Vec<u32> = (0..20).map(|unit| u32::from(unit >= 12)).collect();
        assert_eq!(found.partition, expected);
        assert_eq!((found.profiles[0].size, found.profiles[1].size), (12, 8));
        assert!((found.profiles[1].numbers[1].mean - 1.0).abs() < 1e-9);
        let level = &found.profiles[0].levels[0];
        assert_eq!(
            (level.level.as_str(), level.share, level.overall),
            ("1", 1.0, 0.6)
        );
        assert_eq!(found.together[17], Some(0.75));
        assert_eq!(found.together[0], None);
        assert_eq!(found.pairs.units, [3, 4, 17, 19]);
        assert_eq!(found.scatter.unwrap().points[3], [-0.97, -1.0]);
        assert_eq!(
            labels::labels_of(&[7, 7, 5, 9, 5], &[1, 2, 4]).as_ref(),
            [0, 1, 1]
        );
    }

    #[test]
    fn what_does_not_vary_in_a_cluster_has_no_spread() {
        let number = |column: &str, mean, sd| NumberProfile {
            column: column.to_owned(),
            mean,
            sd,
        };
        let profile = Profile {
            size: 2,
            numbers: vec![number("length", 3.4, 0.0), number("width", 1.25, 0.5)],
            levels: Vec::new(),
        };
        assert_eq!(profile.sentence(), "length 3.4, width 1.25 ± 0.50");
    }
}
