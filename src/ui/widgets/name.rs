//! Variable names that fit a column.

/// `names` shortened to at most about `max_chars` characters each: terms inside brackets keep three letters and
/// an ellipsis, the end of the name stays. A name whose short form another name also has keeps its full form.
pub fn short_names(names: &[&str], max_chars: usize) -> Vec<String> {
    let short: Vec<String> = names.iter().map(|name| shorten(name, max_chars)).collect();
    let mut sorted: Vec<&str> = short.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    let shared = |text: &str| {
        let at = sorted.partition_point(|other| *other < text);
        sorted.get(at + 1) == Some(&text)
    };
    names
        .iter()
        .zip(&short)
        .map(|(full, short)| {
            if shared(short) {
                (*full).to_owned()
            } else {
                short.clone()
            }
        })
        .collect()
}

/// One name shortened as [`short_names`] does; alone it cannot coincide with another.
pub fn shorten(name: &str, max_chars: usize) -> String {
    if name.chars().count() <= max_chars {
        return name.to_owned();
    }
    let Some((head, rest)) = name.split_once('[') else {
        return name.to_owned();
    };
    let Some(inside) = rest.strip_suffix(']') else {
        return name.to_owned();
    };
    let terms: Vec<&str> = inside.split(',').collect();
    let joined = |terms: Vec<String>| format!("{head}[{}]", terms.join(","));
    let cut_to = |letters: usize| joined(terms.iter().map(|t| shorten_term(t, letters)).collect());
    // As many letters as there is room for.
    let longest = inside.chars().count();
    let fits = |name: &String| name.chars().count() <= max_chars;
    // Effects of groups differ by the group, which stands in the middle: it stays as long as it can.
    if let [factor, group, coefficient] = terms[..] {
        let around = |letters: usize| {
            let cut = |term| shorten_term(term, letters);
            joined(vec![cut(factor), group.to_owned(), cut(coefficient)])
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

/// Shortens `Intercept` to `Int…` and `region=north` to `reg…=north`: the level distinguishes.
fn shorten_term(term: &str, letters: usize) -> String {
    let (word, level) = term.split_at(term.find('=').unwrap_or(term.len()));
    if word.chars().count() <= letters + 1 {
        return term.to_owned();
    }
    let kept: String = word.chars().take(letters).collect();
    format!("{kept}…{level}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_inside_brackets_are_cut_and_the_end_stays() {
        assert_eq!(shorten("Sigma[Intercept,age]", 15), "Sigma[Int…,age]");
        assert_eq!(shorten("b[region=north]", 12), "b[reg…=north]");
        assert_eq!(shorten("b[age]", 16), "b[age]");
        assert_eq!(shorten("r[region,north,Intercept]", 14), "r[r…,north,I…]");
        assert_eq!(shorten("r[school,17,Intercept]", 11), "r[s…,17,I…]");
        assert_eq!(shorten("r[g,a long level,b]", 14), "r[g,a long…,b]");
        // No more is cut than there is need for.
        assert_eq!(shorten("b[tenure_months]", 14), "b[tenure_mon…]");
        assert_eq!(
            shorten("a_very_long_name_without_brackets", 10),
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
    fn names_that_would_coincide_stay_whole() {
        let names = [
            "Sigma[Intercept,Intercept]",
            "Sigma[Interest,Intercept]",
            "Sigma[Intercept,tenure]",
        ];
        let short = short_names(&names, 16);
        assert_eq!(short, [names[0], names[1], "Sigma[Int…,ten…]"]);
    }
}
