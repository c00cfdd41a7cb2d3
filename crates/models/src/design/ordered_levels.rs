//! The order of the levels of a column: by their numbers, as words that people put on scales, or as the user writes it.

/// Words on scales from low to high; those in one place of a scale mean the same.
const SCALES: &[&[&[&str]]] = &[
    &[
        &["none", "no"],
        &["very low", "minimal"],
        &["low"],
        &["mid", "medium", "middle", "moderate", "average"],
        &["high"],
        &["very high"],
    ],
    &[
        &["none", "no", "absent"],
        &["minimal"],
        &["mild", "slight", "some"],
        &["moderate"],
        &["marked"],
        &["severe"],
        &["very severe"],
    ],
    &[
        &["never"],
        &["rarely", "seldom"],
        &["sometimes", "occasionally"],
        &["often", "frequently", "usually"],
        &["always"],
    ],
    &[
        &["strongly disagree"],
        &["disagree"],
        &["somewhat disagree", "slightly disagree"],
        &[
            "neutral",
            "neither",
            "neither agree nor disagree",
            "undecided",
        ],
        &["somewhat agree", "slightly agree"],
        &["agree"],
        &["strongly agree"],
    ],
    &[
        &["terrible", "awful"],
        &["very poor", "very bad"],
        &["poor", "bad"],
        &["fair", "average", "ok", "okay"],
        &["good"],
        &["very good"],
        &["excellent"],
    ],
    &[
        &["very dissatisfied"],
        &["dissatisfied"],
        &["neutral", "neither"],
        &["satisfied"],
        &["very satisfied"],
    ],
    &[
        &["very unlikely"],
        &["unlikely"],
        &["neutral", "neither"],
        &["somewhat likely"],
        &["likely"],
        &["very likely"],
    ],
    &[
        &["xs", "extra small"],
        &["s", "small"],
        &["m", "medium"],
        &["l", "large"],
        &["xl", "extra large"],
    ],
    &[&["short"], &["medium"], &["long"]],
    &[&["bronze"], &["silver"], &["gold"], &["platinum"]],
    &[&["first"], &["second"], &["third"], &["fourth"], &["fifth"]],
];

/// The places of `levels` in their order, lowest first: by the numbers that they are or begin with, or as words of one scale;
/// `None` where neither says.
pub fn order(levels: &[String]) -> Option<Vec<usize>> {
    by_numbers(levels).or_else(|| SCALES.iter().find_map(|scale| on_scale(levels, scale)))
}

/// The places of `levels` sorted by `key`, which must tell all of them apart.
fn sorted<K: PartialOrd>(levels: &[String], key: impl Fn(&str) -> Option<K>) -> Option<Vec<usize>> {
    let keys: Vec<K> = levels
        .iter()
        .map(|level| key(level.trim()))
        .collect::<Option<_>>()?;
    let mut places: Vec<usize> = (0..levels.len()).collect();
    places.sort_by(|&a, &b| {
        let order = keys[a].partial_cmp(&keys[b]);
        order.unwrap_or(std::cmp::Ordering::Equal)
    });
    let apart = |pair: &[usize]| keys[pair[0]] < keys[pair[1]];
    places.windows(2).all(apart).then_some(places)
}

fn by_numbers(levels: &[String]) -> Option<Vec<usize>> {
    sorted(levels, |level| {
        let end = level
            .char_indices()
            .find(|&(at, c)| !(c.is_ascii_digit() || c == '.' || (at == 0 && c == '-')))
            .map_or(level.len(), |(at, _)| at);
        let number: f64 = level[..end].trim_end_matches('.').parse().ok()?;
        number.is_finite().then_some(number)
    })
}

fn on_scale(levels: &[String], scale: &[&[&str]]) -> Option<Vec<usize>> {
    sorted(levels, |level| {
        let level = level.to_lowercase().replace(['_', '-'], " ");
        scale
            .iter()
            .position(|words| words.contains(&level.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_words_of_one_scale_have_an_order_and_others_do_not() {
        let ordered = |levels: &[&str]| {
            let levels: Vec<String> = levels.iter().map(|it| (*it).to_owned()).collect();
            let places = order(&levels)?;
            let names: Vec<&str> = places.iter().map(|&place| levels[place].as_str()).collect();
            Some(names.join(" < "))
        };
        for (levels, expected) in [
            (&["10", "2", "1"][..], Some("1 < 2 < 10")),
            (&["-1", "0.5", "0"], Some("-1 < 0 < 0.5")),
            (
                &["3 - good", "1 - bad", "2 - fair"],
                Some("1 - bad < 2 - fair < 3 - good"),
            ),
            (&["high", "low", "mid"], Some("low < mid < high")),
            (&["High", "Low", "Medium"], Some("Low < Medium < High")),
            (
                &["Agree", "Strongly_agree", "neutral"],
                Some("neutral < Agree < Strongly_agree"),
            ),
            (&["severe", "none", "mild"], Some("none < mild < severe")),
            // Two words for one place, and words of no scale.
            (&["mid", "medium", "low"], None),
            (&["red", "green", "blue"], None),
            (&["1", "two"], None),
        ] {
            assert_eq!(ordered(levels).as_deref(), expected, "{levels:?}");
        }
    }
}
