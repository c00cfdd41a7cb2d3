//! Designs of small tables.

use super::*;
use crate::design::columns::{MemoryColumns, Values};
use crate::design::error::{
    BadLevel, BadNumber, BadRows, NotNumbers, NumberAt, Place, Unmade, Unvarying,
};
use crate::design::terms::Predictor;
use crate::formula::Elementwise;

fn texts(cells: &[&str]) -> Values {
    Values::Texts(
        cells
            .iter()
            .map(|cell| (!cell.is_empty()).then(|| (*cell).to_owned()))
            .collect(),
    )
}

fn table() -> MemoryColumns {
    let columns = vec![
        ("y", texts(&["yes", "no", "no", "yes", "no", "yes"])),
        (
            "x",
            Values::Numbers(vec![1.0, 2.0, 3.0, 4.0, 5.0, f64::NAN]),
        ),
        ("f", texts(&["b", "a", "c", "a", "b", "c"])),
        ("n", Values::Numbers(vec![3.0, 1.0, 2.0, 5.0, 4.0, 1.0])),
        ("k", Values::Numbers(vec![0.0, 1.0, 2.0, 2.0, 4.0, 1.0])),
        ("empty", Values::Numbers(vec![f64::NAN; 6])),
        ("day", texts(&["d", "", "d", "d", "d", "d"])),
    ];
    MemoryColumns::new(
        "t",
        columns
            .into_iter()
            .map(|(name, values)| (name.to_owned(), values))
            .collect(),
    )
    .unwrap()
}

fn build(formula: &str) -> Result<(Design, Reporter), DesignError> {
    Design::build(&table(), &ModelFrame::new(formula.parse().unwrap()))
}

/// Raw value of column `j` for data row `row`.
fn raw(design: &Design, row: u32, j: usize) -> f64 {
    let i = design.row.iter().position(|r| *r == row).unwrap();
    design.x[[i, j]] * design.raw_scale[j] + design.raw_center[j]
}

#[test]
fn rows_are_dropped_shuffled_and_traceable() {
    let (design, reporter) = build("y ~ x + f").unwrap();
    assert_eq!(design.terms, ["Intercept", "x", "f=b", "f=c"]);
    assert_eq!((design.rows_total, design.rows_used), (6, 5));
    assert_eq!(design.dropped, [("x".to_owned(), 1)]);
    assert_eq!(
        reporter.warnings[0].message,
        "Using 5 of 6 rows; 1 has no `x`"
    );
    let mut rows = design.row.clone();
    assert_ne!(rows, [0, 1, 2, 3, 4], "the shuffle moves rows");
    rows.sort_unstable();
    assert_eq!(rows, [0, 1, 2, 3, 4]);
    for (row, (x, f)) in [(1.0, "b"), (2.0, "a"), (3.0, "c"), (4.0, "a"), (5.0, "b")]
        .into_iter()
        .enumerate()
    {
        assert!((raw(&design, row as u32, 1) - x).abs() < 1e-12);
        assert!((raw(&design, row as u32, 2) - f64::from(u8::from(f == "b"))).abs() < 1e-12);
    }
    let successes: Vec<u32> = design
        .row
        .iter()
        .zip(&design.y)
        .filter(|(_, y)| **y == 1.0)
        .map(|(r, _)| *r)
        .collect();
    assert!(successes.iter().all(|row| [0, 3].contains(row)) && successes.len() == 2);
    assert_eq!(design.response.sentence(), "success = yes, 2 of 5");
    assert_eq!(design.reference_levels, [("f".to_owned(), "a".to_owned())]);
    assert!(design.x.is_standard_layout());
}

#[test]
fn columns_have_mean_zero_and_unit_population_sd() {
    let (design, _) = build("y ~ x*f").unwrap();
    assert_eq!(
        design.terms,
        ["Intercept", "x", "f=b", "f=c", "x:f=b", "x:f=c"]
    );
    let n = design.num_obs() as f64;
    for j in 1..design.num_columns() {
        let column = design.x.column(j);
        assert!(column.sum().abs() < 1e-12 && (column.dot(&column) / n - 1.0).abs() < 1e-12);
    }
    assert!(design.x.column(0).iter().all(|value| *value == 1.0));
}

#[test]
fn without_an_intercept_columns_keep_their_centre_and_the_first_factor_all_levels() {
    let (design, _) = build("y ~ 0 + f + x").unwrap();
    assert_eq!(design.terms, ["f=a", "f=b", "f=c", "x"]);
    assert_eq!(design.raw_center, [0.0; 4]);
    assert!((raw(&design, 4, 3) - 5.0).abs() < 1e-12);
    assert!((design.raw_scale[3] - 2.0_f64.sqrt()).abs() < 1e-12);
}

#[test]
fn reference_success_and_categorical_numbers_can_be_chosen() {
    let mut frame = ModelFrame::new("y ~ f + k".parse().unwrap());
    frame.references.insert("f".into(), "c".into());
    frame.success = Some("no".into());
    frame.categorical.insert("k".into());
    let (design, _) = Design::build(&table(), &frame).unwrap();
    assert_eq!(
        design.terms,
        ["Intercept", "f=a", "f=b", "k=1", "k=2", "k=4"]
    );
    assert_eq!(design.response.sentence(), "success = no, 3 of 6");
    frame.references.insert("f".into(), "z".into());
    let error = Design::build(&table(), &frame).unwrap_err().to_string();
    assert_eq!(
        error,
        "The reference level `z` is not a value of `f`, which has `a`, `b`, `c`; choose one of these"
    );
}

#[test]
fn counts_offsets_weights_and_groups_are_read() {
    let (design, _) =
        build("k | trials(7) + weights(n) ~ x + offset(log(n)) + (1 | f) + (1 | f:y)").unwrap();
    assert_eq!(design.trials, Some(vec![7.0; 5]));
    for (i, &row) in design.row.iter().enumerate() {
        let n = [3.0, 1.0, 2.0, 5.0, 4.0][row as usize];
        assert_eq!(design.weights.as_ref().unwrap()[i], n);
        assert_eq!(design.offset.as_ref().unwrap()[i], f64::ln(n));
        let group = &design.groups[1];
        assert_eq!(
            group.levels[group.index[i] as usize],
            ["b:yes", "a:no", "c:no", "a:yes", "b:no"][row as usize]
        );
    }
    assert_eq!(design.groups[0].levels, ["a", "b", "c"]);
    assert_eq!(design.response.sentence(), "9 successes in 35 trials");
    let error = build("n | trials(k) ~ f").unwrap_err().to_string();
    assert_eq!(
        error,
        "The number of trials `k` must be whole and at least 1, but it is 0 in row 1; correct that row or choose another column"
    );
}

#[test]
fn numbers_counts_and_formulas_without_a_response_are_read() {
    let read = |formula: &str, response_use| {
        let frame = ModelFrame {
            response_use,
            ..ModelFrame::new(formula.parse().unwrap())
        };
        Design::build(&table(), &frame).map(|(design, _)| design)
    };
    let design = read("x ~ f", ResponseUse::Number).unwrap();
    for (&y, &row) in design.y.iter().zip(&design.row) {
        assert_eq!(y, [1.0, 2.0, 3.0, 4.0, 5.0][row as usize]);
    }
    assert_eq!(design.response.sentence(), "mean 3, sd 1.581, from 1 to 5");
    let design = read("k ~ f", ResponseUse::Count).unwrap();
    assert_eq!(design.response.sentence(), "counts from 0 to 4, 10 in all");
    let design = read("~ x + f", ResponseUse::Absent).unwrap();
    assert_eq!((design.y.len(), design.num_obs()), (0, 5));
    assert_eq!(design.num_columns(), 1);
    let [
        (x, Predictor::Numeric(values)),
        (f, Predictor::Categorical { codes, .. }),
    ] = &design.columns[..]
    else {
        panic!("a number and a category");
    };
    assert_eq!((x.as_str(), f.as_str()), ("x", "f"));
    for (i, &row) in design.row.iter().enumerate() {
        assert_eq!(values[i], f64::from(row) + 1.0);
        assert_eq!(codes[i], [1, 0, 2, 0, 1][row as usize]);
    }
    // Categories that are kept as codes may be many.
    let many = (0..1500).map(|i| Some(format!("g{i}"))).collect();
    let table = MemoryColumns::new("t", vec![("g".into(), Values::Texts(many))]).unwrap();
    let frame = ModelFrame {
        response_use: ResponseUse::Absent,
        ..ModelFrame::new("~ g".parse().unwrap())
    };
    let (many, _) = Design::build(&table, &frame).unwrap();
    assert!(
        matches!(&many.columns[..], [(_, Predictor::Categorical { levels, .. })] if levels.len() == 1500)
    );
    // Rows of long data are items, whatever their type.
    let design = read("~ x + (1 | f)", ResponseUse::Absent).unwrap();
    assert!(
        matches!(&design.columns[..], [(_, Predictor::Categorical { levels, .. })] if levels.len() == 5)
    );
    for (formula, response_use, sentence) in [
        (
            "f ~ x",
            ResponseUse::Number,
            "The outcome `f` has 3 different values (`a`, `b`, `c`) but this model explains numbers; choose template `multinomial`",
        ),
        (
            "f ~ x + (1 | day)",
            ResponseUse::Count,
            "The outcome `f` has 3 different values (`a`, `b`, `c`) but this model explains counts; choose template `mixed`",
        ),
        (
            "x | trials(3) ~ f",
            ResponseUse::Count,
            "The outcome `x` is not a number of successes",
        ),
        (
            "x ~ f",
            ResponseUse::Absent,
            "The formula has the outcome `x` but this model explains none",
        ),
        ("~ x", ResponseUse::Number, "The formula has no outcome"),
        (
            "~ x + x:f",
            ResponseUse::Absent,
            "The term x:f is an interaction",
        ),
    ] {
        let error = read(formula, response_use).unwrap_err().to_string();
        assert!(error.starts_with(sentence), "{formula}: {error}");
    }
    let table =
        MemoryColumns::new("t", vec![("c".into(), Values::Numbers(vec![1.0, -2.0]))]).unwrap();
    let frame = ModelFrame {
        response_use: ResponseUse::Count,
        ..ModelFrame::new("c ~ 1".parse().unwrap())
    };
    assert_eq!(
        Design::build(&table, &frame).unwrap_err().to_string(),
        "The outcome `c` must be a whole number from 0, but it is -2 in row 2; choose template `linear` if it is no count, \
         or correct that row"
    );
}

#[test]
fn group_terms_have_columns_that_are_scaled_but_not_centred() {
    let (design, _) = build("y ~ x + (1 + x | f) + (0 + n || day) + (0 + f | day)").unwrap();
    let [slopes, alone, levels] = &design.group_terms[..] else {
        panic!("three group terms");
    };
    assert_eq!(slopes.names, ["Intercept", "x"]);
    assert!(slopes.correlated && !alone.correlated);
    assert_eq!((slopes.factor, alone.factor, levels.factor), (0, 1, 1));
    assert_eq!(levels.names, ["f=a", "f=b", "f=c"]);
    for (i, &row) in design.row.iter().enumerate() {
        assert_eq!(slopes.z[[i, 0]], 1.0);
        let x = [1.0, 2.0, 3.0, 4.0, 5.0][row as usize];
        assert!((slopes.z[[i, 1]] * slopes.scale[1] - x).abs() < 1e-12);
        let n = [3.0, 1.0, 2.0, 5.0, 4.0][row as usize];
        assert!((alone.z[[i, 0]] * alone.scale[0] - n).abs() < 1e-12);
    }
}

#[test]
fn refusals_name_the_column_and_what_to_do() {
    for (formula, sentence) in [
        (
            "y ~ z",
            "The formula names the column `z`, which the table does not have; it has `y`, `x`",
        ),
        (
            "f ~ x",
            "The outcome `f` has 3 different values (`a`, `b`, `c`) but a yes-no model needs exactly two",
        ),
        (
            "day ~ x",
            "The outcome `day` has the single value `d` in all 4 rows used",
        ),
        (
            "y ~ empty",
            "None of the 6 rows has a value in every used column (6 have no `empty`)",
        ),
        ("y | weights(f) ~ x", "The weight `f` holds text"),
        (
            "k | trials(3) ~ x",
            "The outcome `k` must be a whole number from 0 to 3, the number of trials, but it is 4 in row 5",
        ),
        (
            "y ~ x + offset(log(k))",
            "log(k) needs values above 0, but `k` is 0 in row 1",
        ),
    ] {
        let error = build(formula).unwrap_err().to_string();
        assert!(error.starts_with(sentence), "{formula}: {error}");
    }
}

#[test]
fn refusals_are_kinds_with_what_they_found_and_where() {
    let number = |column, value, row: u32| {
        let words = format!("row {}", row + 1);
        NumberAt::new(column, value, Place { row, words })
    };
    let refused = |formula: &str| build(formula).unwrap_err();
    let bad = |formula: &str| match refused(formula) {
        DesignError::Number(bad) => *bad,
        other => panic!("{formula}: {other}"),
    };
    assert_eq!(
        bad("k | trials(3) ~ x"),
        BadNumber::Successes(number("k", 4.0, 4), 3.0)
    );
    assert!(matches!(
        bad("y ~ x + offset(log(k))"),
        BadNumber::Domain(k, Elementwise::Log, ..) if k == number("k", 0.0, 0)
    ));
    assert!(matches!(
        refused("day ~ x"),
        DesignError::Constant(Unvarying::Outcome(name, value, 4)) if [name.as_str(), &value] == ["day", "d"]
    ));
    assert!(matches!(
        refused("y | weights(f) ~ x"),
        DesignError::NotNumbers(NotNumbers::Text("weight", name)) if name == "f"
    ));
    assert!(matches!(
        refused("y ~ empty"),
        DesignError::Rows(BadRows::Incomplete { rows: 6, held_out: 0, missing }) if missing == [("empty".to_owned(), 6)]
    ));
    assert!(matches!(
        refused("y ~ poly(k, 9)"),
        DesignError::Function(Unmade::Values {
            needed: 10,
            found: 4,
            ..
        })
    ));
    let mut frame = ModelFrame::new("y ~ x".parse().unwrap());
    frame.success = Some("maybe".to_owned());
    assert!(matches!(
        Design::build(&table(), &frame).unwrap_err(),
        DesignError::Level(BadLevel::Success(_, level, known)) if level == "maybe" && known == ["no", "yes"]
    ));
}

#[test]
fn the_same_seed_gives_the_same_order_and_another_seed_another() {
    let order = |seed| {
        let frame = ModelFrame {
            shuffle_seed: seed,
            ..ModelFrame::new("y ~ f".parse().unwrap())
        };
        Design::build(&table(), &frame).unwrap().0.row
    };
    assert_eq!(order(1), order(1));
    assert!((0..9).any(|seed| order(seed) != order(1)));
}

#[test]
fn constant_predictors_are_left_out_as_r_does() {
    let mut columns = Vec::new();
    for (name, values) in [
        ("y", [0.0, 1.0, 0.0, 1.0]),
        ("x", [1.0, 2.0, 4.0, 3.0]),
        ("d", [7.0; 4]),
        ("zero", [0.0; 4]),
    ] {
        columns.push((name.to_owned(), Values::Numbers(values.to_vec())));
    }
    let group = ["a", "a", "b", "b"].map(|level| Some(level.to_owned()));
    columns.push(("g".to_owned(), Values::Texts(group.to_vec())));
    let table = MemoryColumns::new("t", columns).unwrap();
    let built = |formula: &str| {
        let frame = ModelFrame::new(formula.parse().unwrap());
        let (design, reporter) = Design::build(&table, &frame).unwrap();
        let codes: Vec<String> = reporter.warnings.iter().map(|it| it.code.clone()).collect();
        let formula = design.formula_of(&frame.formula).to_string();
        (design.terms.join(" "), formula, codes.join(" "), reporter)
    };
    let (terms, formula, codes, reporter) = built("y ~ d + x + log(d):zero + (1 + d | g)");
    assert_eq!(terms, "Intercept x");
    assert_eq!(formula, "y ~ x + (1 | g)");
    assert_eq!(codes, "constant-column constant-column");
    assert_eq!(
        reporter.warnings[0].message,
        "`d` is 7 in all 4 rows, so it carries no information and is left out of the model"
    );
    assert_eq!(reporter.warnings[0].subject.as_deref(), Some("d"));
    let (terms, formula, ..) = built("y ~ d");
    assert_eq!((terms.as_str(), formula.as_str()), ("Intercept", "y ~ 1"));
    // It takes the place of an intercept that is not there.
    let (terms, _, codes, _) = built("y ~ 0 + d + x + zero");
    assert_eq!((terms.as_str(), codes.as_str()), ("d x", "constant-column"));
}

/// A category with one level is left out as a number is that does not vary: nothing can be compared with it.
#[test]
fn categories_with_one_level_are_left_out() {
    let texts = |labels: [&str; 4]| Values::Texts(labels.map(|it| Some(it.to_owned())).to_vec());
    let table = MemoryColumns::new(
        "t",
        vec![
            ("y".to_owned(), Values::Numbers(vec![0.0, 1.0, 0.0, 1.0])),
            ("x".to_owned(), Values::Numbers(vec![1.0, 2.0, 4.0, 3.0])),
            ("f".to_owned(), texts(["a", "b", "b", "a"])),
            ("k".to_owned(), texts(["same"; 4])),
            ("g".to_owned(), texts(["u", "u", "v", "v"])),
        ],
    )
    .unwrap();
    let built = |formula: &str| {
        let frame = ModelFrame::new(formula.parse().unwrap());
        let (design, reporter) = Design::build(&table, &frame).unwrap();
        let formula = design.formula_of(&frame.formula).to_string();
        let said: Vec<String> = (reporter.warnings.iter())
            .filter(|it| it.code == "constant-column")
            .map(|it| it.message.clone())
            .collect();
        (design.terms.join(" "), formula, said, design)
    };
    let (terms, formula, said, design) = built("y ~ x + f + k + x:k + (1 + k | g)");
    assert_eq!(terms, "Intercept x f=b");
    assert_eq!(formula, "y ~ x + f + (1 | g)");
    assert_eq!(
        said,
        [
            "`k` is `same` in all 4 rows, so it carries no information and is left out of the model",
            "`x:k` is the same as without `k`, which is `same` in all 4 rows, so it carries no information and is left out of the \
             model",
        ]
    );
    let references: Vec<&str> = (design.reference_levels.iter())
        .map(|(column, _)| column.as_str())
        .collect();
    assert_eq!(references, ["f"]);
    // A term that groups alone have.
    let (_, formula, said, _) = built("y ~ x + (1 + k | g)");
    assert_eq!((formula.as_str(), said.len()), ("y ~ x + (1 | g)", 1));
    // It takes the place of an intercept that is not there.
    let (terms, _, said, _) = built("y ~ 0 + k + x");
    assert_eq!((terms.as_str(), said.len()), ("k=same x", 0));
}

/// What may be left out to use more rows is a predictor or a group, not the outcome or what belongs to it.
#[test]
fn advice_on_missing_values_fits_what_is_missing() {
    let numbers = |values: [f64; 6]| Values::Numbers(values.to_vec());
    let nan = f64::NAN;
    let table = MemoryColumns::new(
        "t",
        vec![
            ("y".to_owned(), numbers([0.0, nan, nan, 1.0, 0.0, 1.0])),
            ("x".to_owned(), numbers([nan, 2.0, 4.0, 3.0, 1.0, 2.0])),
            ("w".to_owned(), numbers([1.0, 1.0, nan, 2.0, 1.0, 3.0])),
            ("z".to_owned(), numbers([1.0, 5.0, 2.0, 4.0, 3.0, 2.0])),
        ],
    )
    .unwrap();
    let advice = |formula: &str| {
        let frame = ModelFrame::new(formula.parse().unwrap());
        let (_, reporter) = Design::build(&table, &frame).unwrap();
        reporter.warnings[0].advice.clone().unwrap()
    };
    assert_eq!(
        advice("y ~ z"),
        "Rows without an outcome cannot be fitted; the fit can predict them"
    );
    assert_eq!(
        advice("y ~ x"),
        "Rows with a missing value in a used column are left out; leave `x` out to use more of them"
    );
    assert_eq!(
        advice("y | weights(w) ~ z"),
        "Rows with a missing value in a used column are left out; enter what is missing to use them"
    );
}
