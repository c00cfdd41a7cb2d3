use super::*;
use ergodic_diagnostics::SummaryRow;

fn row(name: &str, rhat: f64, ess: f64) -> SummaryRow {
    SummaryRow {
        variable: name.into(),
        mean: Some(ess),
        mcse_mean: Some(0.1),
        sd: Some(1.0),
        mad: Some(1.0),
        q5: Some(-1.0),
        q50: Some(0.0),
        q95: Some(1.0),
        ess_bulk: Some(ess),
        ess_tail: Some(ess),
        ess_bulk_per_s: None,
        rhat: Some(rhat),
        rhat_nested: None,
        missing: None,
    }
}

#[test]
fn worst_comes_first_by_either_limit() {
    let rows = [
        row("fine", 1.001, 4000.0),
        row("few", 1.002, 90.0),
        row("apart", 1.2, 900.0),
    ];
    let mut order = [0, 1, 2];
    let rows = &rows;
    let by = |sort| {
        move |a: &usize, b: &usize| {
            compare(
                Line::of(&rows[*a]),
                Line::of(&rows[*b]),
                sort,
                &Limits::of(4),
            )
        }
    };
    order.sort_by(by(Sort::Worst));
    assert_eq!(order, [2, 1, 0]);
    order.sort_by(by(Sort::By(Column::EssBulk, true)));
    assert_eq!(order, [1, 2, 0]);
}

/// The variable that the verdict names is the one that the table begins with, and its figures are the same.
#[test]
fn the_first_row_is_the_one_that_the_verdict_names() {
    use ergodic_diagnostics::{VerdictInputs, judge};
    let mut tail = row("tail", 1.006, 1200.0);
    tail.ess_tail = Some(150.9);
    for (other, shown) in [
        (row("apart", 1.0148, 900.0), "tail"),
        (row("apart", 1.0351, 900.0), "apart"),
    ] {
        let mut rows = [row("fine", 1.001, 4000.0), other, tail.clone()];
        let judgement = judge(&VerdictInputs::of(&rows, 1000, 4));
        rows.sort_by(|a, b| compare(Line::of(a), Line::of(b), Sort::Worst, &Limits::of(4)));
        assert_eq!(rows[0].variable, shown);
        let column = match shown {
            "tail" => Column::EssTail,
            _ => Column::Rhat,
        };
        let (text, message) = (&judgement.sentence, &judgement.findings[0].message);
        assert_eq!(text.split('`').nth(1), Some(shown), "{text}");
        assert_eq!(message.split('`').nth(1), Some(shown), "{message}");
        assert!(
            message.contains(&column.text(Line::of(&rows[0]))),
            "{message}"
        );
    }
    let shown = super::columns(Depth::Standard, 364.0, (false, true), NAME_MIN);
    assert!(shown.contains(&Column::EssTail), "{shown:?}");
}

#[test]
fn narrow_tables_lose_the_interval_first_and_keep_mean_and_rhat() {
    let columns =
        |depth, width, corrected| super::columns(depth, width, (corrected, false), NAME_MIN);
    let wide = columns(Depth::Standard, 560.0, false);
    assert!(wide.contains(&Column::Interval) && wide.contains(&Column::Mcse));
    assert!(!wide.contains(&Column::Q5));
    assert!(columns(Depth::Standard, 700.0, false).contains(&Column::Q95));
    let usual = columns(Depth::Standard, 364.0, false);
    assert_eq!(
        usual,
        [Column::Mean, Column::Sd, Column::Rhat, Column::EssBulk]
    );
    assert_eq!(
        columns(Depth::Standard, 200.0, false),
        [Column::Mean, Column::Rhat]
    );
    assert_eq!(
        columns(Depth::Standard, 200.0, true),
        [Column::CorrectedMean, Column::Gain, Column::Rhat]
    );
    assert_eq!(columns(Depth::Everything, 200.0, false).len(), 12);
    assert_eq!(columns(Depth::Everything, 200.0, true).len(), 16);
}

#[test]
fn names_are_whole_before_the_last_columns_come() {
    let short = columns(Depth::Standard, 560.0, (false, false), NAME_MIN);
    let long = columns(Depth::Standard, 560.0, (false, false), 180.0);
    assert!(long.len() < short.len(), "{long:?}");
    assert!(long.contains(&Column::Sd) && long.contains(&Column::EssBulk));
    let taken: f32 = long.iter().map(|column| column.width()).sum();
    assert!(560.0 - ICON - EDGE - taken >= 180.0, "{long:?}");
    assert_eq!(
        columns(Depth::Standard, 364.0, (false, false), 180.0).len(),
        4
    );
}

#[test]
fn numbers_fit_their_columns() {
    let mut many = row("b[Intercept]", 1.002, 110_668.4);
    many.ess_bulk_per_s = Some(99_999.0);
    many.mean = Some(-1.234_56);
    many.mcse_mean = Some(0.000_51);
    let mut harness = crate::ui::testing::harness([200.0, 80.0], (), move |ui, ()| {
        let shown = super::columns(Depth::Everything, 800.0, (false, false), NAME_MIN);
        let bar = |column: &Column| *column == Column::Interval;
        for column in shown.into_iter().filter(|column| !bar(column)) {
            let text = column.text(Line::of(&many));
            let color = Palette::of(ui).text_primary;
            let galley = paint::line(ui, &text, Text::NumberStrong, color, f32::INFINITY);
            let room = column.width() - 2.0 * tokens().space.x1;
            assert!(
                galley.size().x <= room,
                "{text} in {column:?}: {}",
                galley.size().x
            );
        }
    });
    harness.run();
}
