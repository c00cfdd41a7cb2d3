//! What a run keeps of the labels that a sampler gives to units: those of at most [`MOST_UNITS`] of them, a fixed random subset,
//! in at most [`MOST_DRAWS`] draws.

use crate::models::Model;
use ergodic_base::draws::{ChainDraws, LabelList, Labels};
use ergodic_base::{Purpose, stream};
use ergodic_diagnostics::partition::numbered;

/// Most units whose labels are kept.
pub const MOST_UNITS: usize = 2000;
/// Most draws whose labels are kept, all chains together.
pub const MOST_DRAWS: usize = 200;

/// Which of `count` units have their labels kept, in order.
pub fn units_kept(count: usize) -> Vec<u32> {
    some_of(count, MOST_UNITS)
}

/// Names of the units of `model` whose labels are kept; none where units get none.
pub fn names_kept(model: &dyn Model) -> Vec<String> {
    model.partition().map_or_else(Vec::new, |mixture| {
        let units = units_kept(mixture.num_units()).into_iter();
        units
            .map(|unit| mixture.unit_names[unit as usize].clone())
            .collect()
    })
}

/// At most `most` of `count` positions, in order; the same ones always.
pub(super) fn some_of(count: usize, most: usize) -> Vec<u32> {
    let mut rng = stream(0, 0, Purpose::Diagnostics);
    let most = most.min(count);
    let mut picked: Vec<u32> = rand::seq::index::sample(&mut rng, count, most)
        .into_iter()
        .map(|index| index as u32)
        .collect();
    picked.sort_unstable();
    picked
}

/// The list of one of `chains` chains.
pub fn label_list(chains: usize) -> LabelList {
    LabelList::new(MOST_DRAWS / chains.max(1))
}

/// The draws with a list that holds labels of as many draws as a chain may keep.
pub(super) fn with_room(mut draws: ChainDraws, chains: usize) -> ChainDraws {
    let mut labels = label_list(chains);
    for (number, kept) in draws.labels.iter() {
        labels.push(number, kept.clone());
    }
    draws.labels = labels;
    draws
}

/// Labels of the units kept, numbered by first appearance among them.
pub(crate) fn labels_of(labels: &[u32], units: &[u32]) -> Labels {
    let kept: Vec<u32> = units.iter().map(|&unit| labels[unit as usize]).collect();
    numbered(&kept).0.into()
}
