//! What to write instead of functions that formulas do not have, or have otherwise.

use super::factor::{Elementwise, Function};
use super::tokens::Token;
use ergodic_base::names::nearest;
use ergodic_base::shown::shortened;

/// Functions of R, and of packages that go with it, that people write: name, and what works here.
const R_FUNCTIONS: [(&str, &str); 17] = [
    ("ln", "the natural logarithm is `log(x)`"),
    ("te", SMOOTH),
    ("ti", SMOOTH),
    ("t2", SMOOTH),
    ("lo", SMOOTH),
    ("pspline", SMOOTH),
    ("rcs", SMOOTH),
    ("as.numeric", NUMBER),
    ("as.integer", NUMBER),
    ("as.character", CATEGORY),
    ("ordered", CATEGORY),
    ("relevel", REFERENCE),
    (
        "cut",
        "a condition is `I(x > 2)`, and a smooth curve `s(x)`",
    ),
    ("ifelse", "a condition is `I(x > 2)`"),
    ("mo", CATEGORY),
    (
        "logit",
        "the family of the template has a link of its own, so it needs no transformed shares",
    ),
    (
        "offset",
        "an offset stands by itself: `y ~ x + offset(log(e))`",
    ),
];
const SMOOTH: &str = "smooth curves are `s(x)`, `ns(x, 4)` and `bs(x, 6)`, each of one column";
const NUMBER: &str = "a column of numbers is taken as numbers by itself";
const CATEGORY: &str = "categories are `factor(x)`";
const REFERENCE: &str =
    "the level that others are compared with is the setting `model.reference.NAME`";

/// The sentence for a function that there is not.
pub(super) fn unknown(name: &str) -> String {
    let shown = shortened(name);
    let hint = R_FUNCTIONS.iter().find(|(known, _)| *known == name);
    let hint = match hint {
        Some((_, hint)) => format!("; {hint}"),
        None => {
            let elementwise = Elementwise::ALL.iter().map(|function| function.name());
            let others = [
                "scale",
                "poly",
                "ns",
                "bs",
                "s",
                "factor",
                "as.factor",
                "offset",
            ];
            match nearest(name, elementwise.chain(others)) {
                Some(near) => format!("; did you mean `{near}()`?"),
                None => format!(
                    "; there are {}, or add a column with its values to the data",
                    Function::KNOWN
                ),
            }
        }
    };
    format!("the function `{shown}()` is not known here{hint}")
}

/// The sentence for a function of the response that there is not; `works` says which there are.
pub(super) fn unknown_of_response(name: &str, works: &str) -> String {
    let shown = shortened(name);
    let hint = R_FUNCTIONS.iter().find(|(known, _)| *known == name);
    let near = nearest(
        name,
        Elementwise::ALL
            .iter()
            .map(|function| function.name())
            .chain(["cbind"]),
    );
    let hint = match (hint, near) {
        (Some((_, hint)), _) => format!("{hint}; {works}"),
        (None, Some(near)) => format!("did you mean `{near}()`? {works}"),
        (None, None) => format!("{works}, or add a column with the values to the data"),
    };
    format!("the function `{shown}()` of an outcome is not known here; {hint}")
}

/// What to write instead of more than a column in a call of `function`, before the tokens `next` and `after`.
pub(super) fn instead_of(function: &str, next: &Token, after: Option<&Token>) -> Option<String> {
    let Token::Symbol(sign @ ("+" | "-" | "*" | "/" | "^")) = next else {
        return None;
    };
    let number = match after {
        Some(Token::Number(number)) => shortened(number),
        _ => {
            return Some(format!(
                "`{function}()` takes one column here; add a column with the result of the calculation to the data"
            ));
        }
    };
    Some(match (function, *sign, number.as_ref()) {
        ("log", "+", "1") => "`log()` takes one column here; log(x + 1) is `log1p(x)`".to_owned(),
        (_, "^", _) => format!(
            "`{function}()` takes one column here; write the power as `{function}(I(x^{number}))`"
        ),
        _ => format!(
            "`{function}()` takes one column here; write the calculation as `{function}(I(x {sign} {number}))`"
        ),
    })
}
