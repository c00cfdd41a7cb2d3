//! Draws as the R package posterior's `draws_df`: `.chain,.iteration,.draw` (1-based), then the variables.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use super::Results;
use super::number::{parse, shortest};
use crate::base::draws::DrawList;

/// The columns before the variables.
pub const INDEX_COLUMNS: [&str; 3] = [".chain", ".iteration", ".draw"];

/// Kept draws, chain after chain.
///
/// # Errors
/// The writer fails.
pub fn write(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    table(&results.variables, &results.draws, out)
}

/// The sampler's information columns for the kept draws.
///
/// # Errors
/// The writer fails.
pub fn write_info(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    table(&results.info_names, &results.info, out)
}

fn table(names: &[String], chains: &[DrawList], out: &mut dyn Write) -> io::Result<()> {
    let mut out = csv::WriterBuilder::new().from_writer(out);
    let header = INDEX_COLUMNS
        .iter()
        .copied()
        .chain(names.iter().map(String::as_str));
    out.write_record(header).map_err(io_error)?;
    let mut draw: u64 = 0;
    for (chain, draws) in chains.iter().enumerate() {
        let mut iteration: u64 = 0;
        for chunk in draws.chunks() {
            for i in 0..chunk.len() {
                iteration += 1;
                draw += 1;
                out.write_field((chain + 1).to_string()).map_err(io_error)?;
                out.write_field(iteration.to_string()).map_err(io_error)?;
                out.write_field(draw.to_string()).map_err(io_error)?;
                for j in 0..chunk.width() {
                    out.write_field(shortest(chunk.column(j)[i]))
                        .map_err(io_error)?;
                }
                out.write_record(None::<&[u8]>).map_err(io_error)?;
            }
        }
    }
    out.flush()
}

fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// Draws read from a table: names and one list per chain, in order of `.chain`.
#[derive(Debug)]
pub struct ReadDraws {
    /// Variables.
    pub names: Vec<String>,
    /// One list per chain.
    pub chains: Vec<DrawList>,
}

/// Reads a `draws_df` table. Without a `.chain` column all rows are one chain; `.iteration` and `.draw` are not needed,
/// rows keep their order.
///
/// # Errors
/// A sentence naming line and column of what is wrong.
pub fn read(input: impl Read) -> Result<ReadDraws, String> {
    let (names, chains) = read_by_chain(input)?;
    if chains.is_empty() {
        return Err("The table has a header and no draws".to_owned());
    }
    Ok(ReadDraws {
        names,
        chains: chains.into_values().collect(),
    })
}

/// The same for the `count` chains of a run, some of which may have no draws.
///
/// # Errors
/// As [`read`].
pub fn read_chains(input: impl Read, count: usize) -> Result<ReadDraws, String> {
    let (names, mut chains) = read_by_chain(input)?;
    let width = names.len();
    let take = |chain| {
        chains
            .remove(&chain)
            .unwrap_or_else(|| DrawList::new(width))
    };
    Ok(ReadDraws {
        chains: (1..=count as u64).map(take).collect(),
        names,
    })
}

/// Names, and draws by the number of their chain.
fn read_by_chain(input: impl Read) -> Result<(Vec<String>, BTreeMap<u64, DrawList>), String> {
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .from_reader(input);
    let header = reader
        .headers()
        .map_err(|error| format!("The draws are not a CSV table ({error})"))?
        .clone();
    let chain_column = header.iter().position(|name| name == ".chain");
    let columns: Vec<usize> = (0..header.len())
        .filter(|&column| !INDEX_COLUMNS.contains(&&header[column]))
        .collect();
    let names: Vec<String> = columns
        .iter()
        .map(|&column| header[column].to_owned())
        .collect();
    if names.is_empty() {
        return Err("The draws have no variables".to_owned());
    }
    let mut chains: BTreeMap<u64, DrawList> = BTreeMap::new();
    let mut row = vec![0.0; names.len()];
    let mut record = csv::StringRecord::new();
    loop {
        let line = reader.position().line();
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                return Err(format!(
                    "Line {line} of the draws is not understood ({error})"
                ));
            }
        }
        let line = record.position().map_or(line, csv::Position::line);
        let chain = match chain_column {
            None => 1,
            Some(column) => record[column].parse().map_err(|_err| {
                format!(
                    "Line {line} has the chain `{}`, which is not a whole number",
                    &record[column]
                )
            })?,
        };
        for (value, &column) in row.iter_mut().zip(&columns) {
            *value = parse(&record[column]).ok_or_else(|| {
                format!(
                    "Line {line} has `{}` in column `{}`, which is not a number",
                    &record[column], &header[column]
                )
            })?;
        }
        chains
            .entry(chain)
            .or_insert_with(|| DrawList::new(names.len()))
            .push(&row);
    }
    Ok((names, chains))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back_bit_for_bit() {
        let mut chains = vec![DrawList::new(2), DrawList::new(2)];
        for i in 0..2500 {
            chains[0].push(&[f64::from(i) / 3.0, 1e-300]);
            chains[1].push(&[-f64::from(i), f64::NAN]);
        }
        let names = vec!["b[x]".to_owned(), "Sigma[1,2]".to_owned()];
        let mut bytes = Vec::new();
        table(&names, &chains, &mut bytes).unwrap();
        let text = std::str::from_utf8(&bytes).unwrap();
        assert!(text.starts_with(".chain,.iteration,.draw,b[x],\"Sigma[1,2]\"\n1,1,1,0,1e-300\n"));
        let back = read(bytes.as_slice()).unwrap();
        assert_eq!(back.names, names);
        assert_eq!(back.chains[0].column(0), chains[0].column(0));
        assert!(back.chains[1].column(1).iter().all(|value| value.is_nan()));
    }

    #[test]
    fn a_wrong_cell_is_named() {
        let error = read(".chain,x\n1,0.5\n1,oops\n".as_bytes()).unwrap_err();
        assert!(
            error.contains("Line 3") && error.contains("oops") && error.contains("`x`"),
            "{error}"
        );
        assert!(
            read(".chain,x\n".as_bytes())
                .unwrap_err()
                .contains("no draws")
        );
    }
}
