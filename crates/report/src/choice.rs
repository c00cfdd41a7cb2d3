//! Which parameters a picture is of: those that somebody named, or those that say most about a model.

use super::ReportError;
use ergodic_base::names::nearest;
use ergodic_base::{Class, ParamId};

/// The parameters that `wanted` names, in its order, each once. A text names one parameter or several with commas between them;
/// `b` stands for all of `b[…]`, and `theta[*,age]` for the vector that these are of. Commas inside names need no quotes.
///
/// # Errors
/// There is no such parameter.
pub fn choose(names: &[ParamId], wanted: &[String]) -> Result<Vec<usize>, ReportError> {
    let mut chosen: Vec<usize> = Vec::new();
    for text in wanted {
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (found, length) = leading(names, rest)?;
            for index in found {
                if !chosen.contains(&index) {
                    chosen.push(index);
                }
            }
            rest = rest[length..].trim_start_matches([',', ' ']);
        }
    }
    Ok(chosen)
}

/// The parameters that the longest name at the beginning of `text` stands for, and its length.
fn leading(names: &[ParamId], text: &str) -> Result<(Vec<usize>, usize), ReportError> {
    let starts = |name: &str| {
        let rest = text.strip_prefix(name);
        !name.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(','))
    };
    let mut best: (usize, Vec<usize>) = (0, Vec::new());
    for (index, name) in names.iter().enumerate() {
        let vector = name.vector();
        let patterns = [Some(name.as_str()), vector.as_deref(), Some(name.word())];
        for pattern in patterns.into_iter().flatten().filter(|it| starts(it)) {
            if pattern.len() > best.0 {
                best = (pattern.len(), Vec::new());
            }
            if pattern.len() == best.0 && best.1.last() != Some(&index) {
                best.1.push(index);
            }
        }
    }
    if !best.1.is_empty() {
        return Ok((best.1, best.0));
    }
    let unknown = unknown_name(text);
    Err(ReportError::UnknownParameter {
        name: unknown.to_owned(),
        nearest: nearest(unknown, names.iter().map(ParamId::as_str)).map(str::to_owned),
    })
}

/// What stands before the first comma outside of brackets.
fn unknown_name(text: &str) -> &str {
    let mut depth = 0_i32;
    let end = text.char_indices().find(|(_, c)| {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        *c == ',' && depth <= 0
    });
    text[..end.map_or(text.len(), |(at, _)| at)].trim_end()
}

/// How early a parameter of a class is shown: what the model says first, then how much groups differ, effects of groups last.
fn rank(name: &ParamId) -> u8 {
    match name.class() {
        Class::Coefficient
        | Class::LevelCoefficient
        | Class::CutPoint
        | Class::Mean
        | Class::Probability => 0,
        Class::Sd | Class::Correlation | Class::Covariance | Class::VarianceShare => 1,
        Class::Other | Class::ClusterShare => 2,
        Class::Bend
        | Class::Effect
        | Class::GroupCoefficient
        | Class::HiddenWeight
        | Class::OutputWeight => 3,
    }
}

/// At most `most` parameters, those that say most about a model first.
pub fn telling(names: &[ParamId], most: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&index| rank(&names[index]));
    order.truncate(most);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<ParamId> {
        [
            "r[g,a, b,x]",
            "b[Intercept]",
            "b[age]",
            "sd[g,x]",
            "sigma",
            "r[g,c,x]",
        ]
        .map(ParamId::from)
        .to_vec()
    }

    fn chosen(wanted: &[&str]) -> Result<Vec<usize>, ReportError> {
        let wanted: Vec<String> = wanted.iter().map(|&text| text.to_owned()).collect();
        choose(&names(), &wanted)
    }

    #[test]
    fn names_with_commas_words_and_vectors_are_understood() {
        assert_eq!(chosen(&["sd[g,x],b[age], sigma"]).unwrap(), [3, 2, 4]);
        assert_eq!(chosen(&["r[g,a, b,x]", "b"]).unwrap(), [0, 1, 2]);
        assert_eq!(chosen(&["r[g,*,x],r[g,c,x]"]).unwrap(), [0, 5]);
        assert_eq!(chosen(&[]).unwrap(), [0_usize; 0]);
    }

    #[test]
    fn what_is_not_there_is_told_with_what_is_like_it() {
        let error = chosen(&["sigma,b[agee],sd[g,x]"]).unwrap_err().to_string();
        assert!(
            error.contains("no parameter `b[agee]` (is it `b[age]`?)"),
            "{error}"
        );
        let error = chosen(&["sd[g,zz9],sigma"]).unwrap_err().to_string();
        assert!(error.contains("`sd[g,zz9]`"), "{error}");
    }

    #[test]
    fn coefficients_come_first_and_effects_last() {
        assert_eq!(telling(&names(), 4), [1, 2, 3, 4]);
        assert_eq!(telling(&names(), 9), [1, 2, 3, 4, 0, 5]);
    }
}
