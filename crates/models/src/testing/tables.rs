//! Tables of tests: the files of `tests/reference` and CSV written in a test.

use std::path::{Path, PathBuf};

use crate::design::{MemoryColumns, Values};

/// The folder of reference numbers of this name.
pub fn reference(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/reference")
        .join(name)
}

/// Columns of a CSV: numbers where all values are numbers, otherwise texts.
pub fn read_csv(text: &str) -> MemoryColumns {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names: Vec<String> = reader
        .headers()
        .unwrap()
        .iter()
        .map(str::to_owned)
        .collect();
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let column = |(j, name): (usize, String)| {
        let cells = || records.iter().map(move |record| record[j].to_owned());
        let numbers: Option<Vec<f64>> = cells().map(|cell| cell.parse().ok()).collect();
        let values = match numbers {
            Some(numbers) => Values::Numbers(numbers),
            None => Values::Texts(cells().map(Some).collect()),
        };
        (name, values)
    };
    MemoryColumns::new("t", names.into_iter().enumerate().map(column).collect()).unwrap()
}

/// Columns of a CSV file.
pub fn load_csv(path: &Path) -> MemoryColumns {
    read_csv(&std::fs::read_to_string(path).unwrap())
}
