use super::super::tokens::{MAX_LEN, MAX_NESTING};
use super::*;
use proptest::prelude::*;

/// Letters that were moved to read `text`, which must be a formula.
fn work(text: &str) -> usize {
    let mut parser = Parser::new(tokenize(text).unwrap());
    let mut formula = Formula {
        response: None,
        intercept: true,
        terms: Vec::new(),
        left_out: Vec::new(),
        offsets: Vec::new(),
        groups: Vec::new(),
    };
    let mut terms = TermSet::default();
    while *parser.peek() != Token::End {
        parser.item(&mut formula, &mut terms, false).unwrap();
        parser.take_if("+");
    }
    parser.letters
}

fn many(piece: impl Fn(usize) -> String, count: usize, between: &str) -> String {
    (0..count).map(piece).collect::<Vec<_>>().join(between)
}

#[test]
fn work_grows_with_the_length_of_a_formula() {
    let families: [fn(usize) -> String; 6] = [
        |n| many(|i| format!("x{i:06}"), n, " + "),
        |n| many(|i| format!("x{i:06}:z"), n, " + "),
        |n| many(|i| format!("x{i:06}*z"), n, " + "),
        |n| many(|_| "same".to_owned(), n, " + "),
        |n| format!("({})", many(|i| format!("log(x{i:06})"), n, " + ")),
        |n| many(|i| format!("(x{i:06} + z):w"), n, " + "),
    ];
    for family in families {
        let [once, twice] = [work(&family(400)), work(&family(800))];
        assert!(twice <= 2 * once + 20, "{once} and {twice}: {}", family(2));
    }
}

#[test]
fn formulas_of_any_size_are_read_or_refused_shortly() {
    const LONG: usize = 150_000;
    let deep = |n: usize| format!("y ~ {}a{}", "(".repeat(n), ")".repeat(n));
    deep(MAX_NESTING).parse::<Formula>().unwrap();
    let letters = ('a'..='z').map(String::from).collect::<Vec<_>>();
    // Names so long that few terms reach the bound on letters.
    let long = |n: usize| many(|i| format!("{}{i}", "x".repeat(2000)), n, "+");
    for (text, part) in [
        (deep(MAX_NESTING + 1), "nested more than"),
        (deep(LONG), "nested more than"),
        (format!("y ~ {}", "(".repeat(LONG)), "nested more than"),
        (format!("y ~ {}", "log(".repeat(LONG)), "nested"),
        (format!("y ~ {}", "`".repeat(LONG + 1)), "never closed"),
        (format!("y ~ {}", " ".repeat(MAX_LEN)), "longer than"),
        (
            format!("y ~ {}", long(26).replace('+', "*")),
            "multiplied out",
        ),
        (format!("y ~ ({})^9", long(26)), "multiplied out"),
        (format!("y ~ {}", letters.join(":")), "more than 20 columns"),
        (format!("y ~ ({0}):({0})", long(100)), "multiplied out"),
        (
            format!("y ~ {}", many(|i| format!("(1 | g{i})"), 9000, " + ")),
            "more than 100 group terms",
        ),
        (
            format!("y ~ (1 | {})", letters.join("/")),
            "more than 20 columns",
        ),
        (format!("y ~ x + {}(x)", "f".repeat(LONG)), "…"),
        (format!("y ~ x {}", "z".repeat(LONG)), "…"),
        (
            format!("`{}` ~ `{0}`", "z".repeat(LONG)),
            "also a predictor",
        ),
        (
            format!("y ~ I(x > {})", "9".repeat(LONG)),
            "expected a number",
        ),
        (format!("y ~ poly(x, {})", "9".repeat(LONG)), "whole number"),
    ] {
        let error = text.parse::<Formula>().unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
        assert!(error.chars().count() < 500, "{error}");
    }
    // Short names make very many terms; most of the way to the bound is taken as gone.
    for text in [
        format!("y ~ {}", letters.join("*")),
        format!("y ~ ({})^9", letters.join("+")),
    ] {
        let mut parser = Parser::new(tokenize(&text).unwrap());
        parser.letters = MAX_LETTERS - MAX_LETTERS / 20;
        let error = parser.formula().unwrap_err().to_string();
        assert!(error.contains("multiplied out"), "{error}");
    }
    let wide = format!("y ~ {}", many(|i| format!("column{i}"), LONG / 10, " + "));
    let formula: Formula = wide.parse().unwrap();
    assert_eq!(formula.columns().len(), 1 + LONG / 10);
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in any::<String>(), tail in "\\PC{0,40}") {
        for text in [text.clone(), format!("y ~ {text}"), format!("log({text}) ~ {tail}"), format!("y ~ I(x {tail}")] {
            if let Ok(formula) = text.parse::<Formula>() {
                prop_assert_eq!(formula.to_string().parse::<Formula>(), Ok(formula));
            }
        }
    }

    #[test]
    fn any_nesting_is_read_or_refused(
        pieces in prop::collection::vec(prop_oneof![
            Just("("), Just(")"), Just("a"), Just("+"), Just("*"), Just("/"), Just("log("), Just("I("), Just("|"), Just("^2"),
            Just("factor("), Just("(1|"), Just(">2"), Just("cbind("), Just(",")
        ], 0..300),
    ) {
        let text = format!("y ~ {}", pieces.concat());
        if let Ok(formula) = text.parse::<Formula>() {
            prop_assert_eq!(formula.to_string().parse::<Formula>(), Ok(formula));
        }
    }
}
