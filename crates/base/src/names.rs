//! Names of parameters, shortened where there is little room.

/// Shortens `Intercept` to `Int…` and `region=north` to `reg…=north`: the level distinguishes.
pub fn shorten_term(term: &str, letters: usize) -> String {
    let (word, level) = term.split_at(term.find('=').unwrap_or(term.len()));
    if word.chars().count() <= letters + 1 {
        return term.to_owned();
    }
    let kept: String = word.chars().take(letters).collect();
    format!("{kept}…{level}")
}

#[cfg(test)]
mod tests {
    use super::shorten_term;

    #[test]
    fn terms_lose_letters_and_keep_their_levels() {
        assert_eq!(shorten_term("Intercept", 3), "Int…");
        assert_eq!(shorten_term("region=north", 3), "reg…=north");
        assert_eq!(shorten_term("plan=a_long_level", 3), "plan=a_long_level");
        assert_eq!(shorten_term("age", 3), "age");
    }
}
