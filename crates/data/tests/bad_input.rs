//! Each kind of bad data gets one clear sentence, and nothing panics.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::PathBuf;

use ergodic_base::{Control, Reporter};
use ergodic_core::design::{Columns as _, Design, DesignError, ModelFrame, checks};
use ergodic_data::{ColumnKindOverride, DataError, ImportOptions, Loaded, Table, load, preview};
use tempfile::TempDir;

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

fn read(name: &str, bytes: &[u8], options: &ImportOptions) -> Result<Loaded, DataError> {
    load(
        &Folder::new().file(name, bytes),
        options,
        &Control::default(),
    )
}

/// The sentence that refuses `bytes`, from the load and from the preview alike.
fn refused(name: &str, bytes: &[u8]) -> String {
    let folder = Folder::new();
    let path = folder.file(name, bytes);
    let sentence = load(&path, &ImportOptions::default(), &Control::default())
        .unwrap_err()
        .to_string();
    assert_eq!(
        preview(&path, &ImportOptions::default())
            .unwrap_err()
            .to_string(),
        sentence
    );
    assert!(
        !sentence.contains('\n') && !sentence.ends_with('.'),
        "{sentence}"
    );
    sentence
}

fn accepted(bytes: &[u8]) -> (Table, Vec<String>) {
    let Loaded {
        table, reporter, ..
    } = read("x.csv", bytes, &ImportOptions::default()).unwrap();
    (table, messages(&reporter))
}

fn messages(reporter: &Reporter) -> Vec<String> {
    reporter
        .warnings
        .iter()
        .map(|warning| warning.message.clone())
        .collect()
}

fn design(bytes: &[u8], formula: &str) -> Result<(Design, Reporter), DesignError> {
    let table = read("x.csv", bytes, &ImportOptions::default())
        .unwrap()
        .table;
    Design::build(&table, &ModelFrame::new(formula.parse()?))
}

fn design_error(bytes: &[u8], formula: &str) -> String {
    design(bytes, formula).unwrap_err().to_string()
}

#[test]
fn files_that_are_not_there_or_not_readable() {
    let folder = Folder::new();
    let missing = folder.0.path().join("none.csv");
    let sentence = |path: &std::path::Path| {
        load(path, &ImportOptions::default(), &Control::default())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        sentence(&missing),
        format!(
            "The data file does not exist; check the path: {}",
            missing.display()
        )
    );
    assert_eq!(
        sentence(folder.0.path()),
        format!(
            "The path is a directory, not a data file; choose a file in it: {}",
            folder.0.path().display()
        )
    );
}

#[test]
fn files_without_data() {
    let empty = "x.csv is empty; choose a file with a header line and at least one row of data";
    assert_eq!(refused("x.csv", b""), empty);
    assert_eq!(refused("x.csv", b"\n\n  \n"), empty);
    assert_eq!(refused("x.csv", b"\xEF\xBB\xBF"), empty);
    assert_eq!(
        refused("x.csv", b"a,b,c\n"),
        "x.csv has a header line with 3 columns but no rows of data; if that line is data, choose Header: none (data.import.header = false)"
    );
}

#[test]
fn rows_of_the_wrong_length_are_named_by_line() {
    let mut text = String::from("a,b,c\n");
    for i in 0..4180 {
        text.push_str(&format!("{i},2,3\n"));
    }
    let sentence = |row: &str| {
        let text = format!("{text}{row}\n1,2,3\n");
        read("x.csv", text.as_bytes(), &ImportOptions::default())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        sentence("1,2,3,4,5"),
        "Line 4182 has 5 values, the header has 3; look for a missing quote or delimiter there, choose another delimiter than comma, or let such lines be joined or skipped (data.import.ragged)"
    );
    assert!(sentence("1").starts_with("Line 4182 has 1 value, the header has 3"));
    assert!(
        refused("x.csv", b"a,b\r\n\"x\r\ny\",2\r\n3\r\n")
            .starts_with("Line 4 has 1 value, the header has 2")
    );
}

#[test]
fn files_that_are_not_text() {
    assert_eq!(
        refused("x.csv", b"a,b\n1,2\n3,\0\n"),
        "x.csv is not a text table: line 3 has a NUL byte; remove the NUL bytes, or choose a CSV or Parquet file"
    );
    assert_eq!(
        refused("x.xlsx", b"PK\x03\x04\x14\0\0\0"),
        "x.xlsx is not a text table: it is a zip archive or an Excel workbook; unpack it, or save the sheet as CSV"
    );
    assert!(refused("x.png", b"\x89PNG\r\n\x1a\n\0\0").contains("it is a PNG image"));
    assert!(refused("x.parquet", b"PAR1 and then nothing").contains("cannot be read as Parquet"));
    assert_eq!(
        refused("x.csv", b"a,b\n1,\"x\n2,y\n"),
        "The quote opened in line 2 is never closed; add the closing quote or remove the opening one"
    );
    let packed = b"\x1f\x8b\x08\0\0\0\0\0\0\0\xff\xff\xff";
    assert!(
        read("x.csv.gz", packed, &ImportOptions::default())
            .unwrap_err()
            .to_string()
            .starts_with("x.csv.gz cannot be decompressed")
    );
}

#[test]
fn latin_1_bytes_are_read_and_said() {
    let (table, messages) = accepted(b"name,x\nGr\xFC\xDFe,1\n");
    assert_eq!(table.cell_text(0, 0), "Grüße");
    assert_eq!(
        messages,
        ["x.csv is not UTF-8 (line 2 has the byte 0xFC), so it was read as windows-1252 (Latin-1)"]
    );
}

#[test]
fn integers_beyond_64_bits_stay_text() {
    let (table, messages) = accepted(b"id,x\n123456789012345678901234567890,1\n5,2\n");
    assert_eq!(table.cell_text(0, 0), "123456789012345678901234567890");
    assert!(table.numbers(0).is_none() && table.numbers(1).is_some());
    assert_eq!(
        messages,
        [
            "1 whole number in `id` would lose digits beyond 9007199254740992 (first in line 2), so the column is kept as text"
        ]
    );
}

#[test]
fn duplicate_and_empty_names_are_made_unique_and_said() {
    let (table, messages) = accepted(b"a,,a\n1,2,3\n");
    assert_eq!(table.names().collect::<Vec<_>>(), ["a", "column_2", "a.2"]);
    assert_eq!(
        messages,
        [
            "Column 2 has no name in the header and is called `column_2`",
            "The name `a` occurs more than once in the header, so column 3 is called `a.2`, and `a` is the first",
        ]
    );
}

#[test]
fn text_in_a_column_of_numbers_is_named_and_can_be_set_aside() {
    let bytes = b"x,y\n1,0\n2,1\noops,1\n4,0\n";
    let (table, messages) = accepted(bytes);
    assert!(table.numbers(0).is_none());
    assert_eq!(
        messages,
        [
            "1 of 4 values of `x` is not a number (first `oops` in line 4), so the column is kept as text"
        ]
    );
    let mut options = ImportOptions::default();
    options
        .column_types
        .insert("x".into(), ColumnKindOverride::Number);
    let forced = read("x.csv", bytes, &options).unwrap();
    assert!(forced.table.numbers(0).unwrap()[2].is_nan());
    assert_eq!(forced.table.cell_text(2, 0), "oops");
    assert_eq!(
        self::messages(&forced.reporter),
        ["In `x` 1 value is not a number (first in line 4) and treated as missing"]
    );

    options
        .column_types
        .insert("z".into(), ColumnKindOverride::Number);
    let unknown = read("x.csv", bytes, &options).unwrap_err().to_string();
    assert!(
        unknown.starts_with("The list of column types names the column `z`"),
        "{unknown}"
    );
    // As a weight the text is refused.
    assert_eq!(
        design_error(bytes, "y | weights(x) ~ 1"),
        "The weight `x` holds text; give the column the type number on import, or choose another column"
    );
}

#[test]
fn responses_that_are_not_yes_or_no() {
    assert_eq!(
        design_error(b"y,x\n1,1\n1,2\n1,3\n", "y ~ x"),
        "The outcome `y` has the single value `1` in all 3 rows used, so there is nothing to explain; choose another outcome"
    );
    assert_eq!(
        design_error(b"y,x\na,1\nb,2\nc,3\n", "y ~ x"),
        "The outcome `y` has 3 different values (`a`, `b`, `c`) but a yes-no model needs exactly two; choose template `multinomial`, or template `ordered` with model.levels from lowest to highest, or an outcome with two values, or name the number of trials as `y | trials(n)` if it is a count"
    );
}

#[test]
fn rows_that_are_all_missing_and_columns_that_are_not_there() {
    assert_eq!(
        design_error(b"y,x,z\n1,,1\n0,,2\n1,,3\n", "y ~ x + z"),
        "None of the 3 rows has a value in every used column (3 have no `x`); leave a column out or choose other missing-value codes"
    );
    assert_eq!(
        design_error(b"y,age\n1,1\n0,2\n", "y ~ aeg"),
        "The formula names the column `aeg`, which the table does not have; it has `y`, `age`"
    );
    assert_eq!(
        design_error(b"y,income\n1,1\n0,2\n", "y ~ incme"),
        "The formula names the column `incme`, which the table does not have; did you mean `income`?"
    );
    assert_eq!(
        design_error(b"y,x\n1,1\n0,2\n", "y ~ x +"),
        "The formula cannot be read at character 8: expected a column name, found the end"
    );
}

#[test]
fn more_predictors_than_rows_is_a_warning() {
    let (design, _) = design(b"y,a,b,c\n1,1,5,2\n0,2,3,7\n1,4,4,1\n", "y ~ a + b + c").unwrap();
    let report = checks::check(&design);
    assert_eq!(
        report.warnings[0].message,
        "There are 4 coefficients but only 3 rows, which leave some of them undetermined"
    );
}

#[test]
fn too_many_levels_are_refused_before_memory_is_used() {
    let mut text = String::from("y,id\n");
    for i in 0..1500 {
        text.push_str(&format!("{},id{i}\n", i % 2));
    }
    assert!(
        design_error(text.as_bytes(), "y ~ id")
            .starts_with("The predictor `id` has 1500 different values, more than the 1000")
    );
}

#[test]
fn lines_of_another_length_are_joined_or_left_out_on_request_and_counted() {
    use ergodic_data::RaggedRows;
    // Enough rows for several pieces, with lines of another length in all of them.
    let mut text = String::from("id;word;note\n");
    let mut odd = 0;
    for i in 0..150_000 {
        if i % 40_000 == 7 {
            text.push_str(&format!("{i};w{};asked; then left; angry\n", i % 3));
            odd += 1;
        } else {
            text.push_str(&format!("{i};w{};fine\n", i % 3));
        }
    }
    let error = read("x.csv", text.as_bytes(), &ImportOptions::default()).unwrap_err();
    let sentence = error.to_string();
    assert!(
        sentence
            .starts_with("Line 9 has 5 values, the header has 3, and 3 other lines differ too; "),
        "{sentence}"
    );
    let DataError::Ragged { lines, .. } = error else {
        panic!("{sentence}");
    };
    assert_eq!(
        (lines.num_longer, lines.num_shorter, lines.num_rows),
        (odd, 0, 150_000 - odd)
    );
    let with = |rule: RaggedRows| {
        let options = ImportOptions {
            ragged: Some(rule),
            ..ImportOptions::default()
        };
        let loaded = read("x.csv", text.as_bytes(), &options).unwrap();
        // A recipe replays how the file was read.
        assert_eq!(loaded.guesses.to_options(&options).ragged, Some(rule));
        loaded
    };
    let remark = |loaded: &Loaded| loaded.reporter.warnings[0].message.clone();
    let joined = with(RaggedRows::Join);
    assert_eq!(joined.table.num_rows(), 150_000);
    assert_eq!(joined.table.cell_text(7, 2), "asked; then left; angry");
    assert_eq!(
        joined.table.labels(2).levels,
        ["asked; then left; angry", "fine"]
    );
    assert_eq!(
        remark(&joined),
        "In 4 lines with more values than the header the surplus was joined into the last column; the first is line 9"
    );
    let skipped = with(RaggedRows::Skip);
    assert_eq!(skipped.table.num_rows(), 150_000 - odd);
    assert_eq!(skipped.table.cell_text(7, 0), "8");
    assert_eq!(
        remark(&skipped),
        "4 lines were left out for having another number of values than the header; the first is line 9"
    );
    // What is written again is what was read.
    let mut out = Vec::new();
    skipped.table.write_csv(&mut out).unwrap();
    assert_eq!(
        out.iter().filter(|&&byte| byte == b'\n').count(),
        150_000 - odd + 1
    );
    // A line that is too short has nothing to join.
    let options = ImportOptions {
        ragged: Some(RaggedRows::Join),
        ..ImportOptions::default()
    };
    let short = read("x.csv", b"a,b\n1,2\n3\n", &options)
        .unwrap_err()
        .to_string();
    assert!(
        short.starts_with("Line 3 has 1 value, the header has 2; "),
        "{short}"
    );
}

#[test]
fn draws_of_stan_are_named() {
    let text = b"# stan_version_major = 2\n# method = sample (Default)\nlp__,accept_stat__,theta.1\n-3.1,0.9,1.2\n";
    assert_eq!(
        refused("output.csv", text),
        "output.csv is a Stan CSV, so it holds draws and no data; write it as CSV with `as_draws_df` of the R package posterior \
         and open that, or choose the file of the data"
    );
}
