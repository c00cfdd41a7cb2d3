//! What is remarkable about a design, alone or beside its fit at the mode.
//!
//! [`Severity::Bad`](ergodic_base::Severity::Bad) means that a column says nothing at all, so that its coefficient is
//! its prior; `Watch` that the prior, not the data, will decide something.

use super::design_term::DesignTerm;
use super::lump_levels::{MergedLevels, OTHER, TOP};
use crate::formula::{Term, term_label};
use ergodic_base::names::listed;
use ergodic_base::numerals::{every, plural};

/// Most names that a sentence has.
pub(super) const MAX_NAMES: usize = 6;
/// What is wrong with outcomes that predictors separate.
const NO_MAXIMUM: &str = "The likelihood has no finite maximum, so only a prior bounds";

ergodic_base::remarks! {
    /// One thing that is remarkable.
    pub enum Remark {
        /// Rows with missing values were left out.
        MissingValues {
            /// Rows that are used.
            used: usize,
            /// All rows.
            rows: usize,
            /// Columns with missing values, and in how many rows.
            missing: Vec<(String, usize)>,
            /// Of these the one that most rows lack among those that the model could do without: predictors and groups.
            dispensable: Option<String>,
            /// Whether all that is missing is the outcome.
            outcome_only: bool,
        }
        Watch "missing-values" ("Using {used} of {rows} rows; {}", missing_words(missing)) about (most_missing(missing))
        advice ("{}", match (dispensable, outcome_only) {
            (Some(column), _) => format!(
                "Rows with a missing value in a used column are left out; leave `{column}` out to use more of them"
            ),
            (None, true) => "Rows without an outcome cannot be fitted; the fit can predict them".to_owned(),
            (None, false) => {
                "Rows with a missing value in a used column are left out; enter what is missing to use them".to_owned()
            }
        });

        /// Rows are kept out of the fit, as was asked for.
        HeldOut {
            /// Rows that are held out.
            held_out: usize,
            /// All rows.
            rows: usize,
        }
        Info "held-out" ("{held_out} of {rows} rows are held out of the fit, to score its predictions by")
        advice ("Leave out `model.hold_out` to use all rows");

        /// Some outcomes are known only to be beyond a value.
        Censored {
            /// The column that says so.
            column: String,
            /// Outcomes that are larger.
            right: usize,
            /// Outcomes that are smaller.
            left: usize,
            /// Rows that are used.
            rows: usize,
            /// How the column writes of an outcome that is larger and of one that was seen.
            written: Option<[String; 2]>,
        }
        Info "censored" (
            "Of {} in `{column}`, {right} are known only to be larger (right-censored){}", plural(*rows, "outcome"),
            if *left > 0 { format!(" and {left} only to be smaller (left-censored)") } else { String::new() }
        ) about (column)
        advice ("If it is the other way round, turn the column{}", match written {
            Some([right, seen]) => format!(": `{right}` is for outcomes that were not seen, `{seen}` for those that were"),
            None => String::new(),
        });

        /// A setting about levels of a column that is taken as a number.
        UnusedSetting {
            /// Key of the setting in the recipe's `model` section.
            key: &'static str,
            /// The column.
            column: String,
        }
        Info "unused-setting" ("`model.{key}.{column}` does nothing, because `{column}` is taken as a number") about (column)
        advice ("List `{column}` in `model.categorical`, or leave the setting out");

        /// Numbers of long data that look like counts or measurements, where every column is one of categories.
        NumbersAsCategories {
            /// The column.
            column: String,
            /// Different numbers.
            levels: usize,
        }
        Watch "numbers-as-categories" (
            "`{column}` holds numbers and is read as {levels} categories, as every column of long data is"
        ) about (column)
        advice ("If `{column}` counts rows, repeat each row as often and leave `{column}` out; numbers of units belong into a table with one \
                 row per unit");

        /// Rare levels were merged, as was asked for.
        MergedLevels {
            /// The levels that were merged.
            levels: MergedLevels,
            /// All rows.
            rows: usize,
        }
        Info "merged-levels" (
            "Of `{}` the {} most frequent values are kept, and {} others, {:.1} % of rows, are one value `{OTHER}`",
            levels.column, levels.kept.len(), levels.merged, 100.0 * levels.rows as f64 / *rows as f64
        ) about (&levels.column)
        advice ("Leave out `model.top_levels.{}` to use all values", levels.column);

        /// Many levels of a predictor have few rows.
        RareLevels {
            /// The predictor.
            column: String,
            /// Levels of the predictor.
            levels: usize,
            /// Levels that are rare.
            rare: usize,
            /// Rows that a level needs not to be rare.
            fewest_rows: usize,
        }
        Watch "rare-levels" (
            "`{column}` has {levels} values, of which {rare} have fewer than {fewest_rows} rows each, so each of their coefficients \
             rests on few rows"
        ) about (column)
        advice ("Merge rare values (`model.top_levels.{column} = {TOP}`), or use `{column}` as a group");

        /// A predictor with so many levels that it had better be a group.
        ManyLevels {
            /// The predictor.
            column: String,
            /// Levels of the predictor.
            levels: usize,
        }
        Info "many-levels" (
            "`{column}` has {levels} values, each with a coefficient of its own, which is slow and tells little about each"
        ) about (column)
        advice ("Use `{column}` as a group, `(1 | {column})`, so that each value learns from the others");

        /// A numeric predictor that looks like codes of categories.
        Codes {
            /// The predictor.
            column: String,
            /// Largest value; the others are the whole numbers from 1 on.
            largest: usize,
        }
        Info "codes" ("`{column}` has {largest} values, 1 to {largest}, and is taken as a number with one slope") about (column)
        advice ("If its values are categories, say so (`model.categorical = [\"{column}\"]`)");

        /// A numeric outcome that looks like a rating.
        Rating {
            /// The outcome.
            response: String,
            /// Largest value; the others are the whole numbers from 1 on.
            largest: usize,
            /// Whether the outcome is taken as a count, otherwise as a number.
            count: bool,
        }
        Info "rating" (
            "`{response}` has {largest} values, 1 to {largest}, as a rating has, and is taken as a {}",
            if *count { "count" } else { "number" }
        ) about (response)
        advice (
            "If it {}; if its values are levels with an order, `ordered`, or without one, `categorical`",
            if *count { "is a rating, choose the template `linear`" } else { "counts something, choose the template `poisson`" }
        );

        /// More coefficients than rows.
        MoreColumnsThanRows {
            /// Coefficients.
            columns: usize,
            /// Rows.
            rows: usize,
        }
        Watch "more-predictors-than-rows" (
            "There are {columns} coefficients but only {}, which leave some of them undetermined", plural(*rows, "row")
        ) advice ("Leave predictors out; only a prior can decide about all of them");

        /// A column that is the same in every row.
        ConstantColumn {
            /// Term of the column.
            column: DesignTerm,
            /// Value in every row.
            value: f64,
            /// Rows.
            rows: usize,
        }
        Bad "constant-column" ("`{column}` is {value} in {}, so it carries no information", every(*rows, "row")) about (column)
        advice ("Leave `{column}` out");

        /// A term that is the same in every row and was left out of the model.
        ConstantLeftOut {
            /// The term.
            term: Term,
            /// Value in every row, or the only level of a category.
            value: String,
            /// Rows.
            rows: usize,
        }
        Info "constant-column" (
            "`{}` is {value} in {}, so it carries no information and is left out of the model",
            term_label(term), every(*rows, "row")
        ) about (term_label(term))
        advice ("Leave it out of the formula too");

        /// A column that is a combination of others.
        Collinear {
            /// Term of the column.
            column: DesignTerm,
            /// Columns that it is a combination of; none if it is the same as the intercept.
            others: Vec<String>,
        }
        Watch "collinear" ("`{column}` is {}", combination(others)) about (column)
        advice ("Leave `{column}` or one of the others out; the data do not say how they share the effect");

        /// More columns that are combinations of others.
        MoreCollinear {
            /// Terms of the columns.
            columns: Vec<String>,
        }
        Watch "collinear" ("{} are combinations of other columns as well", quoted(columns))
        advice ("Leave some of them out; the data do not say how they share their effects");

        /// Columns that are nearly combinations of each other.
        NearlyCollinear {
            /// Terms of the columns, the weakest first.
            columns: Vec<DesignTerm>,
            /// Condition number of the scaled columns.
            condition: f64,
        }
        Watch "nearly-collinear" (
            "{} are nearly collinear (condition number {condition:.0}), so their separate effects are poorly known",
            quoted(columns)
        ) about (columns.first().map_or("", DesignTerm::as_str))
        advice ("Leave one of them out if the separate effects matter");

        /// Collinearity was not looked at.
        CollinearityUnchecked {
            /// Columns.
            columns: usize,
            /// Most that are looked at.
            most: usize,
        }
        Info "collinearity-skipped" (
            "Collinearity was not checked, because there are {columns} columns, more than {most}"
        );

        /// A column one value of which occurs with one outcome alone.
        ValueSeparates {
            /// Term of the column.
            column: DesignTerm,
            /// The value; `None` for the level that the term names.
            value: Option<f64>,
            /// Rows with that value.
            rows: usize,
            /// The outcome.
            response: String,
            /// Value of the outcome in these rows.
            outcome: String,
        }
        Watch "separation" ("{} {response} = {outcome}", rows_with(column, *value, *rows)) about (column)
        advice ("{NO_MAXIMUM} `b[{column}]`; choose one that you mean, or leave the term out");

        /// A column that predicts the outcome by being above or below a number.
        CutSeparates {
            /// Term of the column.
            column: DesignTerm,
            /// The outcome.
            response: String,
            /// Value of the outcome on one side of the number.
            outcome: String,
            /// Whether that side is above the number, otherwise below.
            above: bool,
            /// The number.
            cut: f64,
            /// Whether both outcomes occur at the number itself.
            shared: bool,
        }
        Watch "separation" (
            "`{column}` alone predicts {response}: it is {outcome} at and {} {} and never otherwise, {}",
            if *above { "above" } else { "below" }, round(*cut), if *shared { "except at that value" } else { "exactly" }
        ) about (column)
        advice ("{NO_MAXIMUM} `b[{column}]`; choose one that you mean, or leave the term out");

        /// Many levels of a column with one outcome each.
        LevelsSeparate {
            /// The column.
            column: String,
            /// One of the levels, as its term.
            example: DesignTerm,
            /// Levels with one outcome.
            separated: usize,
            /// All levels.
            levels: usize,
            /// The outcome.
            response: String,
        }
        Watch "separation" (
            "In {separated} of the {levels} levels of `{column}`, such as `{example}`, all rows have the same {response}"
        ) about (column)
        advice (
            "{NO_MAXIMUM} these coefficients; leave `{column}` out, join rare levels, or read it as numbers if that is what it \
             holds"
        );

        /// Columns that together predict the outcome.
        TogetherSeparate {
            /// Terms of the columns.
            columns: Vec<String>,
            /// The outcome.
            response: String,
        }
        Watch "separation" (
            "{} together predict {response} without error in all rows that they decide", quoted(columns)
        ) advice ("{NO_MAXIMUM} these coefficients; choose one that you mean");

        /// Separation by several columns was not looked at.
        SeparationUnchecked {}
        Info "separation-skipped" (
            "Separation by several columns together was not checked, because there are too many"
        );

        /// The predictors fit a numeric outcome to the last digit.
        ExactFit {
            /// The outcome.
            response: String,
        }
        Watch "exact-fit" (
            "The predictors fit `{response}` exactly: nothing is left over, so the residual standard deviation goes to 0 and \
             chains cannot follow it, however long they run"
        ) about (response)
        advice (
            "Leave out the predictor that `{response}` was made from; if it is exact by nature, there is nothing to estimate"
        );

        /// A grouping with a single group.
        OneGroup {
            /// The grouping.
            group: String,
            /// Level of the single group.
            level: String,
        }
        Bad "few-groups" ("`{group}` has the single group `{level}`, so nothing varies by group") about (group)
        advice ("Leave the group terms of `{group}` out");

        /// A grouping with few groups.
        FewGroups {
            /// The grouping.
            group: String,
            /// Groups of the grouping.
            groups: usize,
        }
        Watch "few-groups" ("`{group}` has only {groups} groups, which say little about how much groups differ") about (group)
        advice ("Leave the group terms of `{group}` out, or use it as a predictor");

        /// A column that does not vary within groups, and whose effect is to vary by them.
        ConstantInGroups {
            /// Term of the column.
            column: String,
            /// The grouping.
            group: String,
        }
        Watch "constant-in-groups" (
            "`{column}` is the same in all rows of each `{group}`, so its effect cannot vary by group"
        ) about (column)
        advice ("Leave `{column}` out of the group term of `{group}`");

        /// Groups of one row each.
        OneRowGroups {
            /// The grouping.
            group: String,
            /// Whether the outcome is a number, otherwise one of two outcomes.
            number: bool,
        }
        Watch "one-row-groups" (
            "Each group of `{group}` has one row, so effects of groups cannot be told from the {}",
            if *number { "residual" } else { "chance in each row" }
        ) about (group)
        advice ("Leave the group terms of `{group}` out");

        /// A number that does not vary within groups, so that no residual is left.
        NoResidualInGroups {
            /// The outcome.
            response: String,
            /// The grouping.
            group: String,
        }
        Bad "constant-response-in-groups" (
            "`{response}` is the same in all rows of each `{group}`, so nothing is left for the residual, whose standard \
             deviation falls to 0"
        ) about (group)
        advice ("Leave the group terms of `{group}` out, or use one row per group");

        /// An outcome that does not vary within groups.
        ConstantResponseInGroups {
            /// The outcome.
            response: String,
            /// The grouping.
            group: String,
        }
        Watch "constant-response-in-groups" (
            "`{response}` is the same in all rows of each `{group}`, so groups alone predict it and the data set no limit to how \
             much they differ"
        ) about (group)
        advice ("Leave the group terms of `{group}` out, or use one row per group");

        /// More effects of groups than rows.
        MoreEffectsThanRows {
            /// The grouping.
            group: String,
            /// Effects of each group.
            each: usize,
            /// Effects of all groups.
            effects: usize,
            /// Rows.
            rows: usize,
        }
        Watch "more-effects-than-rows" (
            "The groups of `{group}` have {effects} effects together ({each} each) but there are only {}, which leave many of \
             them undetermined",
            plural(*rows, "row")
        ) about (group)
        advice ("Let only the intercept vary by `{group}`");

        /// Counts that vary more than Poisson counts.
        Overdispersed {
            /// The outcome.
            response: String,
            /// Variance of the counts, as a multiple of that of Poisson counts.
            ratio: f64,
        }
        Watch "overdispersion" (
            "The counts `{response}` vary {ratio:.1} times as much as Poisson counts would, so intervals are too narrow"
        ) about (response)
        advice ("Choose template `negative-binomial`");

        /// Rows too far from the fit for normal noise.
        Outliers {
            /// The outcome.
            response: String,
            /// How many.
            far: usize,
            /// All rows.
            rows: usize,
            /// Residual standard deviations of the nearest of them.
            distance: f64,
            /// Residual standard deviations that one data set in a hundred goes beyond.
            limit: f64,
        }
        Watch "outliers" (
            "{far} of {} {} residual standard deviations from the fit of `{response}`, and such rows decide the fit; with normal \
             noise one data set in a hundred has a row beyond {limit:.1}",
            plural(*rows, "row"),
            if *far == 1 { format!("lies {distance:.0}") } else { format!("lie {distance:.0} or more") }
        ) about (response)
        advice ("Look at these rows, or choose template `student`, in which they count less");

        /// A predictor along which the outcome bends.
        Bend {
            /// The outcome.
            response: String,
            /// The predictor's term.
            column: String,
            /// Share of the residual variance that the column's square would explain.
            share: f64,
        }
        Watch "bend" (
            "`{response}` bends along `{column}`: its square would explain {:.0} % of what the straight line leaves",
            100.0 * share
        ) about (column)
        advice ("Add the square of `{column}`, or a function of it");
    }
}

/// Names in a sentence; of many the first few and how many more there are.
fn quoted(names: &[impl AsRef<str>]) -> String {
    let quoted = names.iter().map(|name| format!("`{}`", name.as_ref()));
    listed(quoted, MAX_NAMES)
}

/// What a column that is a combination of `others` is.
fn combination(others: &[String]) -> String {
    match others {
        [] => "the same as the intercept".to_owned(),
        [only] => format!("`{only}` on another scale, so the data cannot tell the two apart"),
        _ => format!(
            "a combination of {}, so the data cannot tell them apart",
            quoted(others)
        ),
    }
}

/// "All 3 rows with `x=a` have", "The only row where `x` is 1 has".
fn rows_with(column: &str, value: Option<f64>, rows: usize) -> String {
    let which = match value {
        None => format!("with `{column}`"),
        Some(value) => format!("where `{column}` is {}", round(value)),
    };
    match rows {
        1 => format!("The only row {which} has"),
        _ => format!("All {rows} rows {which} have"),
    }
}

/// How many rows lack which columns.
pub(super) fn missing_words(missing: &[(String, usize)]) -> String {
    let words = missing.iter().map(|(name, count)| {
        let have = if *count == 1 { "has" } else { "have" };
        format!("{count} {have} no `{name}`")
    });
    words.collect::<Vec<_>>().join(", ")
}

/// The column that most rows lack.
pub fn most_missing(missing: &[(String, usize)]) -> &str {
    let most = missing.iter().max_by_key(|(_, count)| *count);
    most.map_or("", |(name, _)| name)
}

/// A number as a person would write it, nine digits of it.
fn round(value: f64) -> f64 {
    let digits = 10_f64.powi(9 - value.abs().max(1e-9).log10().ceil() as i32);
    (value * digits).round() / digits
}
