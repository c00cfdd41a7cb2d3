//! Variable names that fit a column.

use std::collections::BTreeMap;

use ergodic_base::ParamId;
use ergodic_base::names::shorten_term;

/// `names` in forms of at most `max_chars` characters, no two alike: terms inside brackets keep three letters and an
/// ellipsis, the end of the name stays; what would then coincide is cut where the names are the same and shows where
/// they differ. Names can be told apart this way from about 8 characters on.
pub fn short_names(names: &[&ParamId], max_chars: usize) -> Vec<String> {
    let cut = |name: &&ParamId| {
        let short = shorten(name, max_chars);
        if short.chars().count() <= max_chars {
            short
        } else {
            fit(name, max_chars)
        }
    };
    let mut short: Vec<String> = names.iter().map(cut).collect();
    for group in alike(&short, 0..names.len()) {
        let chars = group.iter().map(|&at| names[at].chars().collect());
        let chars: Vec<Vec<char>> = chars.collect();
        for (&at, form) in group.iter().zip(told_apart(&chars, max_chars)) {
            short[at] = form;
        }
    }
    // A form may be that of a name of another group: the full name is no one else's.
    for group in alike(&short, 0..names.len()) {
        for at in group.into_iter().skip(1) {
            names[at].as_str().clone_into(&mut short[at]);
        }
    }
    short
}

/// `names` in the longest such forms, of at least `fewest` characters, for which `fits` says that there is room.
pub fn longest_names(
    names: &[&ParamId],
    fewest: usize,
    fits: impl Fn(&[String]) -> bool,
) -> Vec<String> {
    let longest = names.iter().map(|name| name.chars().count()).max();
    let (mut least, mut most) = (fewest, longest.unwrap_or(0).max(fewest));
    while least < most {
        let middle = (least + most).div_ceil(2);
        if fits(&short_names(names, middle)) {
            least = middle;
        } else {
            most = middle - 1;
        }
    }
    short_names(names, least)
}

/// Groups of two or more among `which` that have the same form, in order.
fn alike(forms: &[String], which: impl Iterator<Item = usize>) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for at in which {
        groups.entry(&forms[at]).or_default().push(at);
    }
    groups
        .into_values()
        .filter(|group| group.len() > 1)
        .collect()
}

/// Forms of names that agree in much: a beginning, an ellipsis, and what follows the part that all have in common.
fn told_apart(names: &[Vec<char>], max_chars: usize) -> Vec<String> {
    let first = &names[0];
    let agrees = |at: usize| names.iter().all(|name| name.get(at) == first.get(at));
    let shared = (0..first.len()).take_while(|&at| agrees(at)).count();
    let forms: Vec<String> = names
        .iter()
        .map(|name| from(name, shared, max_chars))
        .collect();
    let mut told = forms.clone();
    for group in alike(&forms, 0..names.len()) {
        // Fewer names agree in more, unless they are the same name.
        if group.len() < names.len() {
            let fewer: Vec<Vec<char>> = group.iter().map(|&at| names[at].clone()).collect();
            for (&at, form) in group.iter().zip(told_apart(&fewer, max_chars)) {
                told[at] = form;
            }
        }
    }
    told
}

/// `name` in at most `max_chars` characters, with what stands from `shared` on as far as there is room for it.
fn from(name: &[char], shared: usize, max_chars: usize) -> String {
    let text = |chars: &[char]| chars.iter().collect::<String>();
    let rest = name.len() - shared;
    if name.len() <= max_chars || max_chars < 6 {
        return fit(&text(name), max_chars);
    }
    // The end stays too where something must be cut after the difference.
    const END: usize = 2;
    if rest + 3 <= max_chars {
        let head = (max_chars - 1 - rest).min(shared);
        return format!("{}…{}", text(&name[..head]), text(&name[shared..]));
    }
    let head = shared.min(max_chars / 3);
    let marks = if shared > head { 2 } else { 1 };
    let window = max_chars - head - marks - END;
    let mark = if shared > head { "…" } else { "" };
    format!(
        "{}{mark}{}…{}",
        text(&name[..head]),
        text(&name[shared..shared + window]),
        text(&name[name.len() - END..])
    )
}

/// One name with its terms shortened; alone it cannot coincide with another.
pub fn shorten(name: &ParamId, max_chars: usize) -> String {
    // As many letters as there is room for.
    let longest = name.chars().count();
    if longest <= max_chars || name.keys().is_empty() {
        return name.to_string();
    }
    let cut_to = |letters: usize| name.with_keys(|_, key| shorten_term(key, letters));
    let fits = |name: &String| name.chars().count() <= max_chars;
    // Effects of groups differ by the group, which stands in the middle: it stays as long as it can.
    if name.keys().len() == 3 {
        let around = |letters: usize| {
            name.with_keys(|k, key| match k {
                1 => key.to_owned(),
                _ => shorten_term(key, letters),
            })
        };
        if let Some(name) = (0..longest).rev().map(around).find(fits) {
            return name;
        }
    }
    (LETTERS..longest)
        .rev()
        .map(cut_to)
        .find(fits)
        .unwrap_or_else(|| cut_to(LETTERS))
}

/// Letters of a term that stay at least.
const LETTERS: usize = 3;

/// `name` with its middle replaced by an ellipsis if it has more than `max_chars` characters.
pub fn fit(name: &str, max_chars: usize) -> String {
    let chars: Vec<char> = name.chars().collect();
    if chars.len() <= max_chars || max_chars < 3 {
        return name.to_owned();
    }
    let tail = (max_chars - 1).div_ceil(2);
    let head = max_chars - 1 - tail;
    let (head, tail) = (&chars[..head], &chars[chars.len() - tail..]);
    head.iter()
        .chain(std::iter::once(&'…'))
        .chain(tail)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(names: &[&str], max_chars: usize) -> Vec<String> {
        let names: Vec<ParamId> = names.iter().map(|&name| name.into()).collect();
        short_names(&names.iter().collect::<Vec<_>>(), max_chars)
    }

    #[test]
    fn names_are_as_long_as_there_is_room() {
        let names: [ParamId; 2] = ["effect_of_first_group".into(), "b[age]".into()];
        let names: Vec<&ParamId> = names.iter().collect();
        let letters = |forms: &[String]| forms.iter().map(|it| it.chars().count()).sum::<usize>();
        for room in [0, 14, 20, 26, 27, 100] {
            let forms = longest_names(&names, 8, |forms| letters(forms) <= room);
            assert_eq!(letters(&forms), room.clamp(14, 27), "{forms:?}");
        }
    }

    #[test]
    fn terms_inside_brackets_are_cut_and_the_end_stays() {
        assert_eq!(
            shorten(&"Sigma[Intercept,age]".into(), 15),
            "Sigma[Int…,age]"
        );
        assert_eq!(shorten(&"b[region=north]".into(), 12), "b[reg…=north]");
        assert_eq!(shorten(&"b[age]".into(), 16), "b[age]");
        assert_eq!(
            shorten(&"r[region,north,Intercept]".into(), 14),
            "r[r…,north,I…]"
        );
        assert_eq!(shorten(&"r[school,17,Intercept]".into(), 11), "r[s…,17,I…]");
        assert_eq!(shorten(&"r[g,a long level,b]".into(), 14), "r[g,a long…,b]");
        // No more is cut than there is need for.
        assert_eq!(shorten(&"b[tenure_months]".into(), 14), "b[tenure_mon…]");
        assert_eq!(
            shorten(&"a_very_long_name_without_brackets".into(), 10),
            "a_very_long_name_without_brackets"
        );
    }

    #[test]
    fn a_name_that_does_not_fit_keeps_both_ends() {
        assert_eq!(fit("r[school,17,Intercept]", 12), "r[sch…rcept]");
        assert_eq!(fit("b[age]", 12), "b[age]");
        assert_eq!(fit("abcdef", 4), "a…ef");
        assert_eq!(fit("abcdef", 0), "abcdef");
    }

    #[test]
    fn no_two_short_names_are_alike() {
        let long = "b[the very long name of a column of a survey";
        let columns = ["one]", "two]", "three, which goes on for a while]"];
        let columns = columns.map(|end| format!("{long} {end}"));
        let covariances = [
            "Sigma[Intercept,female]",
            "Sigma[Intercept,female_black]",
            "Sigma[Intercept,female:black]",
            "Sigma[Intercept,Intercept]",
            "Sigma[Interest,Intercept]",
            "Sigma[Intercept,tenure]",
            "b[age]",
        ];
        let groups = [
            "r[county,*,Intercept]",
            "r[county,*,floor]",
            "r[county,*,Interior]",
        ];
        for width in [8, 10, 12, 16, 20] {
            let names: Vec<&str> = columns.iter().map(String::as_str).collect();
            for names in [&names[..], &covariances[..], &groups[..]] {
                let short = short(names, width);
                let mut unique = short.clone();
                unique.sort();
                unique.dedup();
                assert_eq!(unique.len(), names.len(), "{width}: {short:?}");
                for form in &short {
                    assert!(form.chars().count() <= width, "{width}: {form}");
                }
            }
        }
        let names: Vec<&str> = columns.iter().map(String::as_str).collect();
        assert_eq!(short(&names[..2], 14), ["b[the ver…one]", "b[the ver…two]"]);
    }

    #[test]
    fn names_that_differ_in_what_is_cut_are_cut_elsewhere() {
        let names = [
            "Sigma[Intercept,Intercept]",
            "Sigma[Interest,Intercept]",
            "Sigma[Intercept,tenure]",
        ];
        let short = short(&names, 16);
        assert_eq!(short[2], "Sigma[Int…,ten…]");
        assert!(
            short[0].contains("cept,") && short[1].contains("est,"),
            "{short:?}"
        );
        // Two of the same name cannot be told apart, and nothing hangs.
        assert_eq!(super::tests::short(&["a[b]", "a[b]"], 3), ["a…]", "a[b]"]);
    }
}
