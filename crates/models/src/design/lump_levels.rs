//! Rare levels of a column merged into one level `other`: a column of very many values as a predictor.

use super::columns::Labels;

/// The level that rare ones become; one of that name that is there already joins them.
pub const OTHER: &str = "other";
/// Default number of levels that are kept: few enough to read, and the rest of a long tail has few rows each.
pub const TOP: usize = 20;

/// A column whose rare levels were merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedLevels {
    /// Name of the column.
    pub column: String,
    /// Levels kept as they are, in order.
    pub kept: Vec<String>,
    /// How many others there are.
    pub merged: usize,
    /// Rows of these.
    pub rows: usize,
}

/// `labels` with all but the `top` levels that most of `rows` have merged into [`OTHER`], which stands last; of equally frequent
/// levels the first is kept. `None` where that would merge fewer than two.
pub(super) fn merge(
    column: &str,
    labels: &Labels,
    rows: &[u32],
    top: usize,
) -> Option<(Labels, MergedLevels)> {
    let mut counts = vec![0_usize; labels.levels.len()];
    for &row in rows {
        counts[labels.codes[row as usize] as usize] += 1;
    }
    let seen = counts.iter().filter(|&&count| count > 0).count();
    let mut order: Vec<usize> = (0..counts.len())
        .filter(|&level| counts[level] > 0 && labels.levels[level] != OTHER)
        .collect();
    order.sort_by_key(|&level| std::cmp::Reverse(counts[level]));
    order.truncate(top);
    let merged = seen - order.len();
    if merged < 2 {
        return None;
    }
    order.sort_unstable();
    let mut code_of = vec![order.len() as u32; counts.len()];
    for (new, &old) in order.iter().enumerate() {
        code_of[old] = new as u32;
    }
    let code = |&code: &u32| code_of.get(code as usize).copied();
    let codes: Vec<u32> = (labels.codes.iter())
        .map(|old| code(old).unwrap_or(Labels::MISSING))
        .collect();
    let kept: Vec<String> = order
        .iter()
        .map(|&old| labels.levels[old].clone())
        .collect();
    let kept_rows: usize = order.iter().map(|&old| counts[old]).sum();
    let mut levels = kept.clone();
    levels.push(OTHER.to_owned());
    let merged = MergedLevels {
        column: column.to_owned(),
        kept,
        merged,
        rows: rows.len() - kept_rows,
    };
    Some((Labels { levels, codes }, merged))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(values: &[&str]) -> Labels {
        let mut levels: Vec<String> = values.iter().map(|&value| value.to_owned()).collect();
        levels.sort_unstable();
        levels.dedup();
        levels.retain(|level| !level.is_empty());
        let code = |value: &&str| levels.iter().position(|level| level == value);
        let codes = values
            .iter()
            .map(|value| code(value).map_or(Labels::MISSING, |code| code as u32));
        Labels {
            codes: codes.collect(),
            levels,
        }
    }

    #[test]
    fn frequent_levels_stay_and_others_become_one() {
        let labels = labels(&["d", "b", "b", "a", "c", "c", "other", "", "e", "d"]);
        // Row 9 takes no part, so `d` is as rare as `a`, which comes first; `other` never counts.
        let rows = [0, 1, 2, 3, 4, 5, 6, 8];
        let (new, merged) = merge("f", &labels, &rows, 3).unwrap();
        assert_eq!(new.levels, ["a", "b", "c", "other"]);
        assert_eq!(new.codes, [3, 1, 1, 0, 2, 2, 3, Labels::MISSING, 3, 3]);
        assert_eq!(merged.kept, ["a", "b", "c"]);
        assert_eq!((merged.merged, merged.rows), (3, 3));
        // A single rare level keeps its name.
        assert_eq!(merge("f", &labels, &rows, 5), None);
        assert_eq!(merge("f", &labels, &rows, 4).unwrap().1.merged, 2);
    }
}
