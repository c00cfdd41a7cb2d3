//! Chains that sit in different modes: each has settled, but not where others have.

use ergodic_base::ParamId;
use ergodic_base::draws::DrawList;
use ergodic_base::names::listed;

use super::findings::Finding;
use super::remark::Remark;
use super::rhat::rhat;
use super::summary::SummaryRow;
use super::verdict::{Limits, RHAT_BAD, Verdict};
use super::{quantiles, sentence::Phrase};

/// Share of a chain's draws by which it is told where it sits; what is beyond may be a visit.
const SHARE: f64 = 0.9;

/// Groups of chains that sit in different modes, found in the variable on which chains disagree most.
#[derive(Clone, Debug, PartialEq)]
pub struct Parted {
    /// The variable.
    pub variable: ParamId,
    /// Numbers of chains from 1 by group; groups in the order of their lowest number.
    pub groups: Vec<Vec<usize>>,
}

impl Parted {
    /// Looks at `chains`, which have draws and numbers from 1, where `rows` says that they disagree: each chain must have settled by
    /// itself (split R-hat of at most 1.05), and the central 90 % of draws of one group must not meet that of another.
    pub fn of(rows: &[SummaryRow], limits: &Limits, chains: &[(usize, &DrawList)]) -> Option<Self> {
        let worst = rows.iter().enumerate();
        let worst = worst.filter(|(_, row)| {
            (limits.decides)(row) && row.rhat.is_some_and(|rhat| rhat > RHAT_BAD)
        });
        let (j, row) = worst.max_by(|a, b| {
            a.1.rhat
                .partial_cmp(&b.1.rhat)
                .unwrap_or(std::cmp::Ordering::Equal)
        })?;
        let mut seats = Vec::new();
        for (number, draws) in chains {
            let mut values = draws.column(j);
            if !rhat(&[&values]).is_ok_and(|rhat| rhat <= RHAT_BAD) {
                return None;
            }
            values.sort_unstable_by(f64::total_cmp);
            let [low, high] =
                [0.5 - SHARE / 2.0, 0.5 + SHARE / 2.0].map(|p| quantiles::of_sorted(&values, p));
            seats.push((low, high, *number));
        }
        seats.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut reach = f64::NEG_INFINITY;
        for (low, high, number) in seats {
            match groups.last_mut() {
                Some(group) if low <= reach => group.push(number),
                _ => groups.push(vec![number]),
            }
            reach = reach.max(high);
        }
        for group in &mut groups {
            group.sort_unstable();
        }
        groups.sort_by_key(|group| group[0]);
        (groups.len() > 1).then(|| Self {
            variable: row.variable.clone(),
            groups,
        })
    }

    /// The groups in words: "(1, 3), 2 and 4".
    pub(super) fn words(groups: &[Vec<usize>]) -> String {
        let groups = groups.iter().map(|group| {
            let numbers: Vec<String> = group.iter().map(usize::to_string).collect();
            match numbers.len() {
                1 => numbers.concat(),
                _ => format!("({})", numbers.join(", ")),
            }
        });
        listed(groups, usize::MAX)
    }

    /// What the parting means for the run: its draws describe modes, and not how probable each is.
    pub fn finding(self) -> Finding {
        let words = format!(
            "chains {} sit in different modes",
            Self::words(&self.groups)
        );
        let phrase = Phrase::plain(words).or("", "chains sit in different modes");
        let Self { variable, groups } = self;
        let finding = Finding::of(Verdict::Bad, Remark::Parted { variable, groups }, phrase).next(
            "look at the modes in the trace",
            "Look at the modes in the trace; more draws do not help, but priors that exclude the modes that make no sense do, or fewer \
             parameters",
        );
        finding.explaining()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::summarise;
    use ergodic_base::{Purpose, stream};
    use rand::RngExt as _;
    use rand_distr::StandardNormal;

    fn lists(centres: &[f64]) -> Vec<DrawList> {
        let mut rng = stream(1, 0, Purpose::Data);
        let mut noise = move || -> f64 { rng.sample(StandardNormal) };
        let list = |centre: &f64| {
            let mut list = DrawList::new(2);
            for _ in 0..500 {
                list.push(&[noise(), centre + noise()]);
            }
            list
        };
        centres.iter().map(list).collect()
    }

    fn parted(centres: &[f64]) -> Option<Vec<Vec<usize>>> {
        let lists = lists(centres);
        let names: Vec<ParamId> = ["a", "b"].map(Into::into).to_vec();
        let refs: Vec<&DrawList> = lists.iter().collect();
        let rows = summarise(&names, &refs, &[], 1.0);
        let limits = Limits::of(centres.len());
        let numbered: Vec<(usize, &DrawList)> = refs
            .iter()
            .enumerate()
            .map(|(k, list)| (k + 1, *list))
            .collect();
        let found = Parted::of(&rows, &limits, &numbered)?;
        assert_eq!(found.variable, *"b");
        Some(found.groups)
    }

    #[test]
    fn chains_that_settled_apart_are_named_by_group() {
        assert_eq!(
            parted(&[5.0, -5.0, 5.0, -5.0]),
            Some(vec![vec![1, 3], vec![2, 4]])
        );
        assert_eq!(
            parted(&[0.0, 5.0, -5.0]),
            Some(vec![vec![1], vec![2], vec![3]])
        );
        assert_eq!(parted(&[0.0, 0.0, 0.0, 0.0]), None);
        // Chains that disagree but overlap have not found different modes.
        assert_eq!(parted(&[0.0, 1.0, 2.0, 3.0]), None);
        let words = |groups: &[&[usize]]| {
            let groups: Vec<Vec<usize>> = groups.iter().map(|group| group.to_vec()).collect();
            Parted::words(&groups)
        };
        assert_eq!(words(&[&[1, 3], &[2, 4]]), "(1, 3) and (2, 4)");
        assert_eq!(words(&[&[1], &[2, 4], &[3]]), "1, (2, 4) and 3");
    }
}
