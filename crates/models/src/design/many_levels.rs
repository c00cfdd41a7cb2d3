//! Predictors with so many levels that they had better be groups: said before a run, which they would make slow.

use ergodic_base::Reporter;

use super::matrix::Design;
use super::remark::Remark;
use super::response::ResponseKind;

/// Levels of a predictor from which a group is the better place for it: the spread of this many effects is well known, and with
/// it each of them better than alone.
const MANY: usize = 20;
/// Levels with fewer rows than this are rare; a predictor with many such is reported for them already.
const FEW_ROWS: usize = 5;

/// Hints at predictors of many levels, where the outcome is one that groups can have effects on.
pub(super) fn check(design: &Design, reporter: &mut Reporter) {
    if matches!(
        design.response.kind,
        ResponseKind::Absent | ResponseKind::Categories { .. } | ResponseKind::Unordered { .. }
    ) {
        return;
    }
    for (name, _) in &design.reference_levels {
        let own =
            |j: &usize| (design.terms[*j].category()).is_some_and(|(column, _)| column == name);
        let columns: Vec<usize> = (0..design.num_columns()).filter(own).collect();
        let levels = columns.len() + 1;
        let grouped = design.groups.iter().any(|group| group.name == *name);
        if levels < MANY || grouped {
            continue;
        }
        let rare = |&&j: &&usize| {
            let column = design.x.column(j);
            let highest = column.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            column.iter().filter(|value| **value == highest).count() < FEW_ROWS
        };
        if columns.iter().filter(rare).count() >= MANY {
            continue;
        }
        reporter.report(Remark::ManyLevels {
            column: name.clone(),
            levels,
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::design::checks::check;
    use crate::design::columns::{MemoryColumns, Values};
    use crate::design::matrix::{Design, ModelFrame};
    use crate::design::response::ResponseUse;

    #[test]
    fn a_predictor_of_many_levels_could_be_a_group() {
        let found = |levels: usize, formula: &str| {
            let texts = (0..600).map(|i| Some(format!("c{}", i % levels)));
            let columns = vec![
                (
                    "y".to_owned(),
                    Values::Numbers((0..600).map(|i| f64::from(i * 37 % 101) + 0.5).collect()),
                ),
                ("county".to_owned(), Values::Texts(texts.collect())),
            ];
            let table = MemoryColumns::new("t", columns).unwrap();
            let mut frame = ModelFrame::new(formula.parse().unwrap());
            frame.response_use = ResponseUse::Number;
            let (design, _) = Design::build(&table, &frame).unwrap();
            let warnings = check(&design).warnings;
            let about = warnings.iter().find(|it| it.code == "many-levels");
            about.map(ToString::to_string)
        };
        let words = found(60, "y ~ county").unwrap();
        assert!(words.contains("`county` has 60 values") && words.contains("(1 | county)"));
        assert_eq!(found(12, "y ~ county"), None);
        // Rare levels have their own remark.
        assert_eq!(found(300, "y ~ county"), None);
        assert_eq!(found(60, "y ~ 1 + (1 | county)"), None);
    }
}
