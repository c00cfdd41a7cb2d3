//! Fewer points for the same picture: the smallest and the largest draw of each column of it.

/// Points (place, value) of `values` in at most `columns` columns; all of them where there are at most two for each. Within a
/// column both extremes stay, in the order in which they were drawn, so that no spike is lost, and the first and the last draw of
/// all stay. Where a value is not finite the point is (place, NaN): lines break there.
///
/// The window thins the same way while draws come (`ui::plots::decimate`), chunk by chunk.
pub fn extremes(values: &[f64], columns: usize) -> Vec<[f64; 2]> {
    let count = values.len();
    let point = |i: usize| [i as f64, values[i]];
    if count <= 2 * columns.max(1) {
        return (0..count).map(point).collect();
    }
    let mut kept: Vec<usize> = vec![0];
    for column in 0..columns {
        let range = column * count / columns..(column + 1) * count / columns;
        let finite = || range.clone().filter(|&i| values[i].is_finite());
        let low = finite().min_by(|&a, &b| values[a].total_cmp(&values[b]));
        let high = finite().max_by(|&a, &b| values[a].total_cmp(&values[b]));
        let gap = range.clone().find(|&i| !values[i].is_finite());
        let mut found: Vec<usize> = [low, high, gap].into_iter().flatten().collect();
        found.sort_unstable();
        kept.extend(found);
    }
    kept.push(count - 1);
    kept.dedup();
    kept.into_iter().map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_draws_are_all_there_and_many_keep_their_extremes() {
        let few = [3.0, 1.0, 2.0];
        assert_eq!(extremes(&few, 2), [[0.0, 3.0], [1.0, 1.0], [2.0, 2.0]]);
        let mut many: Vec<f64> = (0..10_000).map(|i| f64::from(i * 7919 % 1000)).collect();
        many[4321] = 5e3;
        many[8765] = -5e3;
        let thinned = extremes(&many, 300);
        assert!(thinned.len() <= 602, "{}", thinned.len());
        assert!(thinned.contains(&[4321.0, 5e3]) && thinned.contains(&[8765.0, -5e3]));
        assert!(thinned.is_sorted_by(|a, b| a[0] < b[0]));
        assert_eq!(
            (thinned[0][0], thinned[thinned.len() - 1][0]),
            (0.0, 9999.0)
        );
        for column in 0..300 {
            let range = column * 10_000 / 300..(column + 1) * 10_000 / 300;
            let low = many[range.clone()]
                .iter()
                .copied()
                .fold(f64::INFINITY, f64::min);
            let there = |point: &[f64; 2]| range.contains(&(point[0] as usize)) && point[1] == low;
            assert!(thinned.iter().any(there), "column {column}");
        }
    }

    #[test]
    fn gaps_stay_gaps() {
        let mut values = vec![0.0; 1000];
        values[500] = f64::NAN;
        assert!(extremes(&values, 10).iter().any(|point| point[1].is_nan()));
    }
}
