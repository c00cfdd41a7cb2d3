//! Tests of which rows are held out, and of how that is written.

use super::*;
use crate::Recipe;
use ergodic_core::design::{MemoryColumns, Values};

fn table() -> MemoryColumns {
    let texts = [
        "train", "test", "train", "", "test", "train", "val", "train",
    ];
    let texts = texts.map(|text| (!text.is_empty()).then(|| text.to_owned()));
    let columns = vec![
        ("split".to_owned(), Values::Texts(texts.to_vec())),
        (
            "a=b".to_owned(),
            Values::Numbers((0..8).map(f64::from).collect()),
        ),
    ];
    MemoryColumns::new("t", columns).unwrap()
}

fn rows(text: &str, seed: u64) -> Vec<u32> {
    text.parse::<HoldOut>()
        .unwrap()
        .rows(&table(), seed)
        .unwrap()
}

#[test]
fn a_column_says_which_rows() {
    assert_eq!(rows("split=test", 1), [1, 4]);
    assert_eq!(rows("split = val", 9), [6]);
    assert_eq!(rows("`a=b`=3", 1), [3]);
    let refused = |text: &str| {
        let hold_out: HoldOut = text.parse().unwrap();
        hold_out.rows(&table(), 1).unwrap_err().to_string()
    };
    assert!(refused("split=tset").contains("it has `test`, `train`, `val`"));
    assert!(refused("splt=test").contains("did you mean `split`?"));
    assert!(refused("0.01").contains("holds out no row of 8"));
    assert!(refused("0.99").contains("holds out every row of 8"));
}

#[test]
fn rows_are_named_by_number() {
    assert_eq!(rows("rows 5, 2", 1), [1, 4]);
    let named: HoldOut = "rows 5,2,5".parse().unwrap();
    assert_eq!(named.to_string(), "rows 2, 5");
    assert!(!named.is_drawn());
    assert!("rows 0".parse::<HoldOut>().is_err() && "rows".parse::<HoldOut>().is_err());
    let beyond: HoldOut = "rows 9".parse().unwrap();
    let refused = beyond.rows(&table(), 1).unwrap_err();
    assert!(matches!(refused, NotHeldOut::Beyond(_, 9, 8)));
    let refused = refused.to_string();
    assert!(
        refused.contains("names row 9, and there are 8 rows"),
        "{refused}"
    );
    // A column of that name is a column.
    assert!(matches!(
        "rows=3".parse::<HoldOut>(),
        Ok(HoldOut::Where { .. })
    ));
}

#[test]
fn shares_are_drawn_by_the_seed_and_parts_share_no_row() {
    let share = rows("0.25", 3);
    assert_eq!(share.len(), 2);
    assert!(share[0] < share[1]);
    assert_eq!(share, rows("0.25", 3));
    let others: Vec<Vec<u32>> = (0..20).map(|seed| rows("0.25", seed)).collect();
    assert!(others.iter().any(|other| *other != share));
    // A larger share holds the smaller one.
    assert!(share.iter().all(|row| rows("0.5", 3).contains(row)));
    let mut all: Vec<u32> = (1..=3).flat_map(|k| rows(&format!("{k}/3"), 5)).collect();
    all.sort_unstable();
    assert_eq!(all, [0, 1, 2, 3, 4, 5, 6, 7]);
    // Every row is as probable as any other: 8 rows, shares of a quarter, 4,000 seeds.
    let mut counts = [0_u32; 8];
    for seed in 0..4000 {
        rows("0.25", seed)
            .iter()
            .for_each(|&row| counts[row as usize] += 1);
    }
    let error = (4000.0_f64 * 0.25 * 0.75).sqrt();
    for count in counts {
        assert!(
            (f64::from(count) - 1000.0).abs() < 4.5 * error,
            "{counts:?}"
        );
    }
}

#[test]
fn what_is_written_is_read_again() {
    for text in [
        "0.2",
        "3/10",
        "split=test",
        "`a=b`=3",
        "`my split`=held out",
    ] {
        let hold_out: HoldOut = text.parse().unwrap();
        assert_eq!(hold_out.to_string(), text);
        let recipe = Recipe::new("a.csv", "logistic", "y ~ x");
        let recipe = recipe.changed(&[format!("model.hold_out={text}")]).unwrap();
        assert_eq!(recipe.model.hold_out, Some(hold_out));
        assert_eq!(Recipe::parse(&recipe.to_toml(), &[]).unwrap(), recipe);
    }
    for text in [
        "", "1", "1.5", "-0.1", "0", "0/3", "4/3", "1/1", "=test", "split=", "20 %", "split", "nan",
    ] {
        let error = text.parse::<HoldOut>().unwrap_err().to_string();
        assert!(error.contains("COLUMN=VALUE"), "{text}: {error}");
    }
    let written = "[data]\nsource = \"a.csv\"\n[model]\ntemplate = \"logistic\"\nhold_out = true\n";
    let error = Recipe::parse(written, &[]).unwrap_err().to_string();
    assert!(
        error.contains("`model.hold_out` takes a share of rows"),
        "{error}"
    );
}

#[test]
fn a_recipe_without_the_key_is_written_as_before() {
    let text = Recipe::new("a.csv", "logistic", "y ~ x").to_toml();
    assert!(!text.contains("hold_out"), "{text}");
}
