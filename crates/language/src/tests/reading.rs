//! What is refused, where and how.

use super::*;
use ergodic_core::design::{MemoryColumns, Values};

fn columns() -> Vec<(String, Predictor)> {
    vec![
        numbers("y", &[0.0, 1.0, 1.0, 2.0]),
        numbers("x", &[0.5, -1.0, 0.0, 3.0]),
        group("g", &["a", "b"], &[0, 1, 1, 0]),
    ]
}

/// A mark of the byte order, as some editors write it, is no part of the text.
#[test]
fn a_byte_order_mark_is_left_out() {
    let program = Program::parse("\u{feff}parameters\n a ~ normal(0, 1)\n").unwrap();
    assert_eq!(program.text(), "parameters\n a ~ normal(0, 1)\n");
}

#[test]
fn errors_say_where_and_what_to_write() {
    for (text, wanted) in [
        (
            "parameter\n a ~ normal(0, 1)",
            "1:1: Expected a section (data, parameters, rows, target, report), found `parameter`; did you mean `parameters`?",
        ),
        (
            "parameters\n a ~ norml(0, 1)",
            "2:6: There is no distribution `norml`; did you mean `normal`?",
        ),
        (
            "parameters\n a ~ normal(0)",
            "2:6: `normal` takes 2 parameters, normal(mu, sigma), but 1 is given",
        ),
        (
            "parameters\n a ~ normal(0, 1",
            "2:12: This bracket is not closed",
        ),
        (
            "parameters\n a",
            "2:3: Expected `~` and a prior, `:` and a type, or `in` and bounds for the parameter `a`, found the end of the line",
        ),
        (
            "parameters\n a ~ poisson(1)",
            "2:6: `poisson` is of whole numbers from 0, but parameters are numbers with a density; sum over its values in `rows` or `target` instead",
        ),
        (
            "parameters\n a: vectr(3)",
            "2:5: There is no type `vectr`; did you mean `vector`?",
        ),
        (
            "parameters\n a: vector",
            "2:5: `vector` takes 1 size, but 0 are given",
        ),
        (
            "parameters\n a ~ normal(0, 1)\n a ~ normal(0, 2)",
            "3:2: There is a `a` already; choose another name",
        ),
        (
            "parameters\n a ~ normal(0, 1)\nrows\n y ~ bernoulli_logit(a)",
            "4:2: `bernoulli_logit` is of 0 or 1, but this is 2 in row 4 of the data",
        ),
        (
            "parameters\n a ~ normal(0, 1)\nrows\n y ~ poisson_log(b)",
            "4:18: There is no parameter, definition or column `b`",
        ),
        (
            "parameters\n alpha ~ normal(0, 1)\nrows\n y ~ poisson_log(alpa)",
            "4:18: There is no parameter, definition or column `alpa`; did you mean `alpha`?",
        ),
        (
            "parameters\n a: vector(3) ~ normal(0, 1)\nrows\n y ~ poisson_log(a[g])",
            "4:20: `g` has 2 categories, but what it indexes has 3 elements",
        ),
        (
            "parameters\n a: vector(3) ~ normal(0, 1)\nrows\n y ~ poisson_log(a)",
            "4:18: This is a vector of 3, but what has the distribution is a number",
        ),
        (
            "parameters\n a: vector(3) ~ normal(0, 1)\ntarget\n a[4]",
            "4:4: The index 4 is not one of 1 to 3",
        ),
        (
            "parameters\n a ~ normal(0, 1)\ntarget\n x * a",
            "4:2: `x` is a column, which has values in the section `rows` alone",
        ),
        (
            "parameters\n a ~ normal(0, 1)\nrows\n y ~ poisson_log(a * g + a[g])",
            "4:28: `g` is used as categories here and as a number elsewhere; a column is one or the other",
        ),
        (
            "parameters\n a ~ normal(0, 1)\nrows\n z = y",
            "4:2: The rows need a line `outcome ~ distribution(…)` that says how likely they are",
        ),
        (
            "parameters\n a ~ normal(0, 1)\ntarget\n sqr(a)",
            "4:2: There is no function `sqr`; did you mean `sqrt`?",
        ),
        (
            "parameters\n a ~ normal(0, 1)\ntarget\n normal(a, 0, 1)",
            "4:2: There is no function `normal`; the log density is `normal_lpdf`",
        ),
        (
            "parameters\n a ~ normal(0, 1)\ntarget\n exp(a, a)",
            "4:2: `exp` takes 1 argument, but 2 are given",
        ),
        (
            "parameters\n a: real in (1, 0)",
            "2:14: The lower bound is not below the upper one",
        ),
        (
            "parameters\n a: real in (-1, 1) ~ gamma(1, 1)",
            "2:2: `a` may leave the values of `gamma`; leave its bounds out, which then are those of the prior",
        ),
        (
            "parameters\n a ~ dirichlet(1)",
            "2:2: `dirichlet` is of shares of a whole; write `a: simplex(n) ~ …`",
        ),
        (
            "parameters\n a ~ normal(0, 1)\n b = b + 1",
            "3:6: `b` is defined by itself",
        ),
        (
            "parameters\n a ~ normal(0, 1)\nrows\n y ~ normal(a, log(x))",
            "4:16: A finite number is needed, but this is NaN in row 2 of the data",
        ),
        (
            "parameters\n a ~ normal(0, 1) $",
            "2:19: `$` has no meaning here; names that hold it go into backticks",
        ),
        (
            "parameters\n a ~ normal(0, 1)\nrows\n y ~ poisson_log(a * (g == \"c\"))",
            "4:28: `g` is never \"c\"",
        ),
        (
            "parameters\n a ~ half_student_t(3, 1, 2)",
            "2:6: `half_student_t` is half of a distribution around 0; write 0 as its location",
        ),
        (
            "rows\n y ~ poisson(1)",
            "1:1: The model has no parameters; a section `parameters` declares them",
        ),
    ] {
        let found = refusal(text, &columns());
        assert_eq!(found, wanted, "{text}");
    }
}

#[test]
fn the_mark_stands_below_what_is_meant() {
    let error = Program::parse("parameters\n\ta ~ nörmal(0, 1)\n b : vectr(2)")
        .and_then(|program| program.model_of(&[], 0))
        .err()
        .unwrap();
    assert_eq!(error.excerpt(), "\ta ~ nörmal(0, 1)\n\t    ^^^^^^");
}

#[test]
fn columns_are_checked_against_a_table() {
    let table = MemoryColumns::new(
        "t",
        vec![
            ("age".to_owned(), Values::Numbers(vec![1.0, 2.0])),
            (
                "town".to_owned(),
                Values::Texts(vec![Some("a".to_owned()), None]),
            ),
        ],
    )
    .unwrap();
    let check = |row: &str| {
        let program =
            Program::parse(&format!("parameters\n a ~ normal(0, 1)\nrows\n {row}\n")).unwrap();
        program
            .check_columns(&table)
            .err()
            .map(|error| error.message)
    };
    assert_eq!(check("age ~ normal(a * (town == \"a\"), 1)"), None);
    assert_eq!(
        check("agee ~ normal(a, 1)").unwrap(),
        "There is no parameter, definition or column `agee`; did you mean `age`?"
    );
    assert!(
        check("age ~ normal(a * town, 1)")
            .unwrap()
            .contains("holds text")
    );
    let program = Program::parse(
        "parameters\n a[`old town`] ~ normal(0, 1)\nrows\n x ~ normal(a[`old town`], 1)",
    )
    .unwrap();
    assert_eq!(program.formula(), "~ `old town` + x");
}

/// Words that programs are made of, so that random texts get far into the parser.
const WORDS: &[&str] = &[
    "parameters",
    "rows",
    "target",
    "report",
    "\n",
    "\n",
    " ",
    " ",
    "a",
    "b",
    "x",
    "y",
    "g",
    "~",
    "=",
    "+",
    "-",
    "*",
    "/",
    "^",
    "(",
    ")",
    "[",
    "]",
    ",",
    ":",
    "in",
    "normal",
    "dirichlet",
    "simplex",
    "vector",
    "matrix",
    "(0, 1)",
    "0",
    "1",
    "2.5",
    "1e999",
    "exp",
    "dot",
    "matmul",
    "sum",
    "log_sum_exp",
    "normal_lpdf",
    "|",
    "<",
    "==",
    "\"a\"",
    "`",
    "#",
    "inf",
    "ä",
    "$",
    "\r\n",
    "\t",
    "_lpdf",
    "a ~ normal(0, 1)\n",
    "b[g] ~ normal(0, 1)\n",
    "y ~ poisson_log(",
    "p: simplex(3)",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_text_makes_the_reader_panic(
        picks in proptest::collection::vec(0..WORDS.len(), 0..60),
        noise in ".{0,20}",
        at in 0..60_usize,
    ) {
        let mut text: String = picks.iter().map(|&k| WORDS[k]).collect();
        let place = text.char_indices().map(|(k, _)| k).nth(at).unwrap_or(text.len());
        text.insert_str(place, &noise);
        let made = Program::parse(&text).and_then(|program| program.model_of(&columns(), 4));
        match made {
            Ok(model) => {
                let u = vec![0.1; model.dim()];
                density(model.as_ref(), &u);
            }
            Err(error) => {
                prop_assert!(error.line >= 1 && error.line <= 1 + text.matches('\n').count());
                let line = text.split('\n').nth(error.line - 1).unwrap_or_default();
                prop_assert!(error.column >= 1 && error.column <= 1 + line.chars().count());
                prop_assert!(!error.message.is_empty() && !error.message.contains('\n') || text.contains('`') || text.contains('"'));
                error.excerpt();
            }
        }
    }
}

#[test]
fn deep_and_long_texts_are_refused_and_do_not_overflow() {
    for text in [
        format!("target\n {}", "(".repeat(100_000)),
        format!("target\n {}", "-".repeat(100_000)),
        format!("target\n {}1", "1+".repeat(100_000)),
        format!("target\n {}1", "1^".repeat(100_000)),
        format!("target\n a{}", "[1]".repeat(100_000)),
    ] {
        let error = Program::parse(&text).err();
        let model = Program::parse(&text)
            .and_then(|program| program.model_of(&[], 0))
            .err();
        assert!(error.or(model).is_some());
    }
    // Each line doubles what it is made of.
    let mut text = "parameters\n a: vector(2)\n d0 = a\n".to_owned();
    for k in 1..60 {
        text.push_str(&format!(" d{k} = d{} + d{}\n", k - 1, k - 1));
    }
    text.push_str("target\n sum(d59)\n");
    assert!(refusal(&text, &[]).contains("too large"));
}

#[test]
fn the_reference_has_every_distribution_and_function() {
    let page = include_str!("../../../../docs/models-as-text.md");
    for it in DISTRIBUTIONS {
        assert!(page.contains(&it.signature()), "{}", it.signature());
    }
    for (name, _) in crate::functions::FUNCTIONS {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
    let others = crate::lower::OTHER_FUNCTIONS.into_iter();
    for name in others.chain(crate::lower::TAILS.map(|(name, ..)| name)) {
        let is_told = page.contains(&format!("`{name}`")) || page.contains(&format!("`{name}("));
        assert!(is_told, "{name}");
    }
}
