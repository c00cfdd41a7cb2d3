//! Reading a data file into a [`Table`]: CSV and its relatives and LIBSVM, also packed, and Parquet.
//!
//! The text is split by the `csv` crate and typed here, because every conversion must be reportable: a row of
//! the wrong length is an error with its line, a value that is no number is named, nothing is padded or guessed
//! per cell. Pieces of the text are read in parallel and joined in order, so the result does not depend on the
//! number of threads. Progress can be read and loading cancelled from another thread through [`Control`].

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use ergodic_base::{Control, Reporter, Warning};

use super::encoding::decode;
use super::error::DataError;
use super::libsvm::{Libsvm, is_libsvm};
use super::packed::{Packing, unpack};
use super::parquet;
use super::parse::{Extent, Parse, Parsed};
use super::sniff::{Guesses, ImportOptions, SAMPLE_RECORDS};
use super::table::{Table, hex_sha256};

/// Bytes read between two looks at the cancel flag.
const READ_BLOCK: usize = 1 << 20;
/// Bytes of a file that a preview reads.
const PREVIEW_BYTES: usize = 1 << 20;

/// Bytes that may come from a packed file or from what is no file, such as a pipe, whatever its size: a table takes up to seven
/// times as much memory.
const UNASKED_BYTES: u64 = 256_000_000;
/// How many times its own size a packed file may unpack to beyond that. Tables of numbers shrink by 3 to 15.
const UNPACKED_TIMES: u64 = 25;
/// Work of a whole file in units of the work of reading its bytes.
pub(super) const SPLIT_COST: u64 = 5;
/// The stage of a [`Control`] while a file is read.
pub(crate) const READING: &str = "reading the file";
/// Bytes in a gigabyte, as disks count them.
const GIGABYTE: u64 = 1_000_000_000;

/// A table with what was guessed and remarked while it was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The table.
    pub table: Table,
    /// Guesses and given options.
    pub guesses: Guesses,
    /// What was renamed, converted or treated as missing.
    pub reporter: Reporter,
}

impl Loaded {
    /// Remarks about the file, and about those of its columns that `columns` names: what is wrong with others concerns no model
    /// without them.
    pub fn warnings_about(&self, columns: &[&str]) -> Vec<Warning> {
        let concerns = |warning: &&Warning| {
            let subject = warning.subject.as_deref();
            subject.is_none_or(|column| columns.contains(&column))
        };
        let all = self.reporter.warnings.iter();
        all.filter(concerns).cloned().collect()
    }
}

/// Reads a `.csv`, `.tsv`, `.txt` or LIBSVM file (also `.gz`, `.bz2`, `.zst`) or a Parquet file. Blocks; run it on a worker thread.
/// Errors: one sentence each, see [`DataError`].
pub fn load(path: &Path, options: &ImportOptions, control: &Control) -> Result<Loaded, DataError> {
    options.check()?;
    let bytes = read_file(path, None, options, control)?;
    let source = path.to_string_lossy();
    load_bytes(&file_name(path), &source, bytes, options, control)
}

/// The first rows of a file under `options`, quickly; column kinds and guesses may change when the whole file is
/// read, and the fingerprint is that of the part looked at.
pub fn preview(path: &Path, options: &ImportOptions) -> Result<Loaded, DataError> {
    options.check()?;
    let control = Control::default();
    let (name, source) = (file_name(path), path.to_string_lossy());
    let bytes = read_file(path, Some(PREVIEW_BYTES), options, &control)?;
    if parquet::is_parquet(&bytes) {
        let bytes = read_file(path, None, options, &control)?;
        return parquet::read(&name, &source, bytes, &control, Some(SAMPLE_RECORDS));
    }
    let extent = if bytes.len() < PREVIEW_BYTES {
        Extent::FirstRecords
    } else {
        Extent::FirstRecordsOfCut
    };
    read_text(&name, &source, bytes, options, &control, extent)
}

/// Reads a file that is in memory; `name` is for sentences, `source` is kept in the table.
pub fn load_bytes(
    name: &str,
    source: &str,
    bytes: Vec<u8>,
    options: &ImportOptions,
    control: &Control,
) -> Result<Loaded, DataError> {
    options.check()?;
    if parquet::is_parquet(&bytes) {
        return parquet::read(name, source, bytes, control, None);
    }
    read_text(name, source, bytes, options, control, Extent::All)
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}

fn read_file(
    path: &Path,
    limit: Option<usize>,
    options: &ImportOptions,
    control: &Control,
) -> Result<Vec<u8>, DataError> {
    let unreadable = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => DataError::NotFound(path.to_owned()),
        std::io::ErrorKind::IsADirectory => DataError::IsDirectory(path.to_owned()),
        _ => DataError::Unreadable {
            path: path.to_owned(),
            reason: error.to_string(),
        },
    };
    let mut file = File::open(path).map_err(unreadable)?;
    let about = file.metadata().map_err(unreadable)?;
    if about.is_dir() {
        return Err(DataError::IsDirectory(path.to_owned()));
    }
    control.enter(READING);
    // Reading is a fifth of the work; the rest is splitting what was read.
    control.expect(SPLIT_COST * about.len());
    let limit = limit.unwrap_or(usize::MAX);
    // A file says how long it is; a device or a pipe may never end.
    let most = allowed(options).unwrap_or(UNASKED_BYTES).max(about.len());
    let mut bytes = Vec::with_capacity((about.len() as usize).min(limit));
    while bytes.len() < limit {
        control.check(DataError::Cancelled)?;
        if bytes.len() as u64 > most {
            return Err(DataError::TooLarge(format!(
                "{} is no file of a known size, and reading stopped after {} MB; save the data as a file first, or allow more \
                 with `data.import.max_gigabytes`",
                path.display(),
                most / 1_000_000
            )));
        }
        let block = READ_BLOCK.min(limit - bytes.len()) as u64;
        let read = file
            .by_ref()
            .take(block)
            .read_to_end(&mut bytes)
            .map_err(unreadable)?;
        if read == 0 {
            break;
        }
        control.advance(read as u64);
    }
    Ok(bytes)
}

/// Bytes that the user allows beyond what is usual.
fn allowed(options: &ImportOptions) -> Option<u64> {
    options
        .max_gigabytes
        .map(|most| u64::from(most).saturating_mul(GIGABYTE))
}

/// Reads delimited text, unpacking and decoding it first, and hashes the bytes of the file meanwhile.
fn read_text(
    name: &str,
    source: &str,
    bytes: Vec<u8>,
    options: &ImportOptions,
    control: &Control,
    extent: Extent,
) -> Result<Loaded, DataError> {
    let mut reporter = Reporter::default();
    let (mut extent, mut original) = (extent, None);
    let plain = if let Some(packing) = Packing::of(&bytes) {
        let limit = (extent != Extent::All).then_some(PREVIEW_BYTES);
        let usual = UNASKED_BYTES.max(UNPACKED_TIMES * bytes.len() as u64);
        let most = allowed(options).unwrap_or(usual);
        let plain = unpack((&bytes, packing), name, limit, most, &|| {
            control.is_cancelled()
        })?;
        if limit.is_some_and(|limit| plain.len() >= limit) {
            extent = Extent::FirstRecordsOfCut;
        }
        original = Some(bytes);
        plain
    } else {
        bytes
    };
    let cut = extent == Extent::FirstRecordsOfCut;
    let decoded = decode(plain, name, options.encoding.as_deref(), cut, &mut reporter)?;
    let original = original.or(decoded.original);
    let text = Arc::new(decoded.text);
    let hashed = original.as_deref().unwrap_or_else(|| text.as_bytes());
    let body = &text[decoded.start..];
    // Between spaces alone there are no pairs: whoever says so means a column of times or ratios.
    if options.delimiter != Some(' ') && is_libsvm(body, extent == Extent::FirstRecordsOfCut) {
        let file = Libsvm {
            name,
            source,
            text: body,
            allowed: allowed(options),
            control,
            extent,
        };
        return file.read(hex_sha256(hashed));
    }
    let (fingerprint, parsed) = rayon::join(
        || hex_sha256(hashed),
        || {
            Parse {
                name,
                text: &text,
                start: decoded.start,
                options,
                control,
                extent,
            }
            .parse(&mut reporter)
        },
    );
    let Parsed {
        columns,
        text: records,
        guesses,
    } = parsed?;
    let table = Table::assemble(name, source, fingerprint, columns, Some(records))?;
    Ok(Loaded {
        table,
        guesses: guesses.with_encoding(decoded.encoding),
        reporter,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ergodic_core::design::Columns as _;
    use proptest::prelude::*;
    use std::io::Write as _;

    fn read(bytes: &[u8]) -> Loaded {
        load_bytes(
            "x.csv",
            "x.csv",
            bytes.to_vec(),
            &ImportOptions::default(),
            &Control::default(),
        )
        .unwrap()
    }

    /// Cells of delimited text, header first, read by the csv crate alone.
    fn cells(text: &[u8], delimiter: u8) -> Vec<Vec<String>> {
        csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(false)
            .from_reader(text)
            .into_records()
            .map(|record| record.unwrap().iter().map(str::to_owned).collect())
            .collect()
    }

    fn exported(table: &Table) -> Vec<Vec<String>> {
        let mut out = Vec::new();
        table.write_csv(&mut out).unwrap();
        cells(&out, b',')
    }

    const TRICKY: &str = "id;note;amount;when\r\n\
        007;\"a \"\"quoted\"\" word\";1,50;2024-01-31\r\n\
        008;\"two\r\nlines; and a semicolon\"; 2,5 ;\r\n\
        \"009\";  blanks  ;NA;2024-02-01\r\n\
        010;\"\";-0,0;2024-02-02\r\n\
        011;ünïcödé;1e3;2024-02-03";

    #[test]
    fn every_cell_is_written_again_as_it_was_read() {
        let wide: Vec<u8> = format!("\u{feff}{TRICKY}")
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        let latin: Vec<u8> = TRICKY
            .chars()
            .map(|c| u8::try_from(u32::from(c)).unwrap())
            .collect();
        let marked = format!("\u{feff}{TRICKY}").into_bytes();
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(TRICKY.as_bytes()).unwrap();
        let expected = cells(TRICKY.as_bytes(), b';');
        for bytes in [
            TRICKY.as_bytes().to_vec(),
            wide,
            latin,
            marked,
            packer.finish().unwrap(),
        ] {
            let Loaded { table, guesses, .. } = read(&bytes);
            assert_eq!(exported(&table), expected, "{}", guesses.encoding.value);
            for (row, record) in expected[1..].iter().enumerate() {
                for (col, cell) in record.iter().enumerate() {
                    assert_eq!(&table.cell_text(row, col), cell);
                }
            }
            assert_eq!(
                table.fingerprint(),
                hex_sha256(&bytes),
                "the hash is that of the file's bytes"
            );
            // What the cells were taken for, beside what was written.
            assert!(table.numbers(0).is_none());
            let amounts = table.numbers(2).unwrap();
            assert_eq!((amounts[0], amounts[1], amounts[4]), (1.5, 2.5, 1000.0));
            assert!(amounts[2].is_nan());
            assert_eq!(table.place(2), "line 5");
        }
    }

    proptest! {
        /// Any cells, quoted as needed, come back as they were, through as many pieces as there may be.
        #[test]
        fn any_cells_survive(rows in prop::collection::vec(prop::collection::vec("[a-c0-9,;.\"\n é-]{0,6}", 3), 1..20)) {
            let mut writer = csv::Writer::from_writer(b"first,second,third\n".to_vec());
            for row in &rows {
                writer.write_record(row).unwrap();
            }
            let bytes = writer.into_inner().unwrap();
            let options = ImportOptions { delimiter: Some(','), header: Some(true), ..ImportOptions::default() };
            let loaded = load_bytes("x", "x", bytes, &options, &Control::default()).unwrap();
            let found = exported(&loaded.table);
            prop_assert_eq!(&found[1..], &rows[..]);
        }
    }

    fn long_csv(rows: usize) -> String {
        let mut text = String::from("x,word,z\n");
        for i in 0..rows {
            text.push_str(&format!(
                "{}.{},w{},{}\n",
                i % 97,
                i % 10,
                i % 7,
                i * 31 % 1000
            ));
        }
        text
    }

    #[test]
    fn many_pieces_give_the_same_table_as_one() {
        // About 3 MB, so three pieces.
        let text = long_csv(220_000);
        let control = Control::default();
        let loaded = load_bytes(
            "x",
            "x",
            text.clone().into_bytes(),
            &ImportOptions::default(),
            &control,
        )
        .unwrap();
        let table = &loaded.table;
        assert_eq!((table.num_rows(), control.counted()), (220_000, 220_000));
        let numbers = table.numbers(0).unwrap();
        let labels = table.labels(1);
        for row in [0, 1, 99_999, 150_001, 219_999] {
            assert_eq!(
                numbers[row],
                format!("{}.{}", row % 97, row % 10).parse::<f64>().unwrap()
            );
            assert_eq!(
                labels.levels[labels.codes[row] as usize],
                format!("w{}", row % 7)
            );
            assert_eq!(table.place(row), format!("line {}", row + 2));
        }
        let options = loaded.guesses.to_options(&ImportOptions::default());
        let again = load_bytes("x", "x", text.into_bytes(), &options, &Control::default()).unwrap();
        assert_eq!(again.table.fingerprint(), table.fingerprint());
        for col in 0..table.columns().len() {
            for row in (0..table.num_rows()).step_by(101) {
                assert_eq!(again.table.cell_text(row, col), table.cell_text(row, col));
                assert_eq!(again.table.is_missing(row, col), table.is_missing(row, col));
            }
        }
    }

    #[test]
    fn loading_can_be_watched_and_cancelled_from_another_thread() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long.csv");
        std::fs::write(&path, long_csv(400_000)).unwrap();
        let control = Control::default();
        let result = std::thread::scope(|scope| {
            let worker = scope.spawn(|| load(&path, &ImportOptions::default(), &control));
            while control.fraction().unwrap_or(0.0) < 0.2 && !worker.is_finished() {
                std::thread::yield_now();
            }
            control.cancel();
            worker.join().unwrap()
        });
        assert!(matches!(result, Err(DataError::Cancelled)));
        assert!(
            control.fraction() >= Some(0.2),
            "the file was read before splitting began"
        );

        let control = Control::default();
        load(&path, &ImportOptions::default(), &control).unwrap();
        assert_eq!(
            (control.fraction(), control.counted()),
            (Some(1.0), 400_000)
        );
    }

    #[test]
    fn a_preview_shows_the_first_rows_of_plain_and_packed_files() {
        let folder = tempfile::tempdir().unwrap();
        let text = long_csv(200_000);
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(text.as_bytes()).unwrap();
        for (name, bytes) in [
            ("a.csv", text.clone().into_bytes()),
            ("a.csv.gz", packer.finish().unwrap()),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            let seen = preview(&path, &ImportOptions::default()).unwrap().table;
            assert_eq!(
                (seen.num_rows(), seen.cell_text(199, 1)),
                (SAMPLE_RECORDS, "w3".to_owned())
            );
        }
        let path = folder.path().join("short.csv");
        std::fs::write(&path, "a,b\n1,2\n3,4").unwrap();
        assert_eq!(
            preview(&path, &ImportOptions::default())
                .unwrap()
                .table
                .num_rows(),
            2
        );
        // The last record of a cut file may be half a record, so it is not shown.
        std::fs::write(
            &path,
            format!("a,b\n1,2\n3,\"{}\"\n", "long ".repeat(300_000)),
        )
        .unwrap();
        assert_eq!(
            preview(&path, &ImportOptions::default())
                .unwrap()
                .table
                .num_rows(),
            1
        );
    }

    #[test]
    fn what_unpacks_or_flows_without_end_is_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bomb.csv.gz");
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(&b"1,2\n".repeat(250_000)).unwrap();
        // Packed files one after the other are a packed file.
        std::fs::write(&path, packer.finish().unwrap().repeat(300)).unwrap();
        let read = |path: &Path, options: &ImportOptions| {
            load(path, options, &Control::default())
                .unwrap_err()
                .to_string()
        };
        let error = read(&path, &ImportOptions::default());
        assert!(
            error.starts_with("bomb.csv.gz unpacks to more than 256 MB, ")
                && error.contains("`data.import.max_gigabytes`"),
            "{error}"
        );
        assert_eq!(
            preview(&path, &ImportOptions::default())
                .unwrap()
                .table
                .num_rows(),
            SAMPLE_RECORDS
        );
        #[cfg(unix)]
        {
            let error = read(Path::new("/dev/zero"), &ImportOptions::default());
            assert!(error.contains("reading stopped after 256 MB"), "{error}");
        }
        let wide = "a,".repeat(100_001);
        let error = load_bytes(
            "wide.csv",
            "wide.csv",
            wide.into_bytes(),
            &ImportOptions::default(),
            &Control::default(),
        )
        .unwrap_err()
        .to_string();
        assert!(
            error.starts_with("wide.csv has 100002 columns, more than the 100000"),
            "{error}"
        );
    }

    #[test]
    fn cells_that_could_mean_missing_in_text_are_kept_and_said() {
        let loaded = read(b"region,x\nNA,1\neast,2\nNA,3\n");
        let labels = loaded.table.labels(0);
        assert_eq!(labels.levels, ["NA", "east"]);
        assert!(
            loaded.reporter.warnings[0]
                .message
                .contains("`NA` occurs 2 times in the text column `region`")
        );
        let loaded = read(b"region,x\nNA,1\neast,NA\nNA,3\n");
        assert_eq!(loaded.table.columns()[0].num_missing, 2);
        assert_eq!(loaded.guesses.missing.value, ["NA"]);
    }
}
