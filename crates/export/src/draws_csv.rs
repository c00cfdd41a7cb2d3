//! Draws as the R package posterior's `draws_df`: `.chain,.iteration,.draw` (1-based), then the variables.
//!
//! Draws with unequal weights have a last column `weight`, so that the file alone says how to average them. It is not a
//! variable; a table of other origin with a column of this name is read in the same way, and one with the column `.log_weight`, which
//! posterior reserves for logarithms of weights.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use super::Results;
use super::number::{parse, shortest};
use ergodic_base::ParamId;
use ergodic_base::draws::DrawList;
use ergodic_core::samplers::{WEIGHT, weight_column};

/// The columns before the variables.
pub(crate) const INDEX_COLUMNS: [&str; 3] = [".chain", ".iteration", ".draw"];

/// The column of logarithms of weights in tables of the R package posterior; none is a variable.
const LOG_WEIGHT: &str = ".log_weight";

/// Kept draws, chain after chain.
///
/// # Errors
/// The writer fails.
pub fn write(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    if let Some(column) = weight_column(&results.info_names)
        && results.is_weighted()
    {
        let mut names = results.variables.clone();
        names.push(WEIGHT.into());
        let chains: Vec<DrawList> = results
            .draws
            .iter()
            .zip(&results.info)
            .map(|(draws, info)| with_column(draws, info, column))
            .collect();
        return table(&names, &chains, out);
    }
    table(&results.variables, &results.draws, out)
}

/// The draws with column `column` of `info` behind them.
fn with_column(draws: &DrawList, info: &DrawList, column: usize) -> DrawList {
    let mut both = DrawList::new(draws.width() + 1);
    let mut row = vec![0.0; draws.width() + 1];
    for i in 0..draws.len() {
        for (j, value) in row.iter_mut().enumerate() {
            *value = if j < draws.width() {
                draws.value(i, j)
            } else {
                info.value(i, column)
            };
        }
        both.push(&row);
    }
    both
}

/// The sampler's information columns for the kept draws.
///
/// # Errors
/// The writer fails.
pub(crate) fn write_info(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    table(&results.info_names, &results.info, out)
}

/// Where the chains started: one row per chain, in the columns of the draws.
///
/// # Errors
/// The writer fails.
pub(crate) fn write_starts(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    table(&results.variables, &results.starts, out)
}

fn table<N: AsRef<str>>(names: &[N], chains: &[DrawList], out: &mut dyn Write) -> io::Result<()> {
    let mut out = csv::WriterBuilder::new().from_writer(out);
    let header = INDEX_COLUMNS
        .iter()
        .copied()
        .chain(names.iter().map(AsRef::as_ref));
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

/// Why a table of draws cannot be read; the sentence says where.
#[derive(Debug, thiserror::Error)]
pub enum DrawsError {
    /// No header of CSV.
    #[error("The draws are not a CSV table ({0})")]
    Header(csv::Error),
    /// No column of a variable.
    #[error("The draws have no variables")]
    NoVariables,
    /// No row.
    #[error("The table has a header and no draws")]
    NoDraws,
    /// A line that is not one of CSV.
    #[error("Line {0} of the draws is not understood ({1})")]
    Line(u64, csv::Error),
    /// A line with another chain than a whole number.
    #[error("Line {0} has the chain `{1}`, which is not a whole number")]
    Chain(u64, String),
    /// A value that is no number.
    #[error("Line {line} has `{text}` in column `{column}`, which is not a number")]
    Number {
        /// Line of the file.
        line: u64,
        /// What stands there.
        text: String,
        /// Name of the column.
        column: String,
    },
}

/// Draws read from a table: names and one list per chain, in order of `.chain`.
#[derive(Debug)]
pub struct ReadDraws {
    /// Variables.
    pub names: Vec<ParamId>,
    /// One list per chain.
    pub chains: Vec<DrawList>,
    /// Weights, one list of one column per chain, if the table has them.
    pub weights: Option<Vec<DrawList>>,
    /// The logarithm of the weight that stands as 1 among them, where the table has logarithms.
    log_unit: Option<f64>,
}

impl ReadDraws {
    /// Takes the column of weights, if there is one, out of the variables of `chains`.
    fn new(mut names: Vec<ParamId>, chains: Vec<DrawList>) -> Self {
        let log_column = names.iter().position(|name| name.as_ref() == LOG_WEIGHT);
        let column = log_column.or(weight_column(&names));
        let Some(column) = column.filter(|_| names.len() > 1) else {
            return Self {
                names,
                chains,
                weights: None,
                log_unit: None,
            };
        };
        let log_unit = log_column.map(|column| largest(&chains, column));
        names.remove(column);
        let split = |chain: &DrawList| {
            let (mut draws, mut weights) = (DrawList::new(names.len()), DrawList::new(1));
            let mut row = Vec::with_capacity(chain.width());
            for i in 0..chain.len() {
                row.clear();
                row.extend((0..chain.width()).map(|j| chain.value(i, j)));
                let weight = row.remove(column);
                weights.push(&[log_unit.map_or(weight, |unit| (weight - unit).exp())]);
                draws.push(&row);
            }
            (draws, weights)
        };
        let (chains, weights) = chains.iter().map(split).unzip();
        Self {
            names,
            chains,
            weights: Some(weights),
            log_unit,
        }
    }

    /// Adds the chains of another table, whose weights keep their ratio to those here. False, with nothing added, where it has other
    /// variables or weights of another kind.
    pub fn add(&mut self, more: Self) -> bool {
        let is_like = self.names == more.names
            && self.weights.is_some() == more.weights.is_some()
            && self.log_unit.is_some() == more.log_unit.is_some();
        if !is_like {
            return false;
        }
        self.chains.extend(more.chains);
        let (Some(mine), Some(theirs)) = (&mut self.weights, more.weights) else {
            return true;
        };
        let count = mine.len();
        mine.extend(theirs);
        if let (Some(unit), Some(their_unit)) = (&mut self.log_unit, more.log_unit) {
            let common = unit.max(their_unit);
            let [here, there] = [*unit, their_unit].map(|unit| (unit - common).exp());
            for (chain, list) in mine.iter_mut().enumerate() {
                let by = if chain < count { here } else { there };
                *list = scaled(list, by);
            }
            *unit = common;
        }
        true
    }
}

/// The largest number of a column that is finite; 0 where none is.
fn largest(chains: &[DrawList], column: usize) -> f64 {
    let all = chains.iter().flat_map(|chain| chain.column(column));
    let all = all.filter(|value| value.is_finite());
    all.reduce(f64::max).unwrap_or(0.0)
}

/// A list of one column with its numbers multiplied.
fn scaled(list: &DrawList, by: f64) -> DrawList {
    let mut all = DrawList::new(1);
    for value in list.column(0) {
        all.push(&[by * value]);
    }
    all
}

/// Reads a `draws_df` table. Without a `.chain` column all rows are one chain; `.iteration` and `.draw` are not needed,
/// rows keep their order.
///
/// # Errors
/// The table has no draws, or a line is not understood.
pub fn read(input: impl Read) -> Result<ReadDraws, DrawsError> {
    let (names, chains) = read_variables(input)?;
    if chains.is_empty() {
        return Err(DrawsError::NoDraws);
    }
    Ok(ReadDraws::new(names, chains.into_values().collect()))
}

/// Reads the draws of the `count` chains of a run, some of which may have no draws.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_chains(input: impl Read, count: usize) -> Result<ReadDraws, DrawsError> {
    let (names, chains) = read_variables(input)?;
    let chains = in_order(chains, names.len(), count);
    Ok(ReadDraws::new(names, chains))
}

/// The sampler's information columns of the `count` chains of a run: names, if there are any, and one list per chain.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_info(
    input: impl Read,
    count: usize,
) -> Result<(Vec<String>, Vec<DrawList>), DrawsError> {
    let (names, chains) = read_by_chain(input)?;
    let chains = in_order(chains, names.len(), count);
    Ok((names, chains))
}

/// The chains 1 to `count`; those without draws have an empty list.
fn in_order(mut chains: BTreeMap<u64, DrawList>, width: usize, count: usize) -> Vec<DrawList> {
    let take = |chain| {
        chains
            .remove(&chain)
            .unwrap_or_else(|| DrawList::new(width))
    };
    (1..=count as u64).map(take).collect()
}

/// Draws by chain, from 1, as [`read_by_chain`] finds them, of a table that has variables.
fn read_variables(input: impl Read) -> Result<(Vec<ParamId>, BTreeMap<u64, DrawList>), DrawsError> {
    let (names, chains) = read_by_chain(input)?;
    if names.is_empty() {
        return Err(DrawsError::NoVariables);
    }
    Ok((names.into_iter().map(ParamId::from).collect(), chains))
}

/// Bytes in which every line ends with a line feed alone: lines after a carriage return would be counted one short.
struct LineFeeds<R> {
    input: R,
    after_return: bool,
}

impl<R: Read> Read for LineFeeds<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.input.read(out)?;
            let mut kept = 0;
            for place in 0..read {
                let byte = out[place];
                let is_second = byte == b'\n' && self.after_return;
                self.after_return = byte == b'\r';
                if !is_second {
                    out[kept] = if self.after_return { b'\n' } else { byte };
                    kept += 1;
                }
            }
            // Nothing would mean the end.
            if kept > 0 || read == 0 {
                return Ok(kept);
            }
        }
    }
}

/// Names, and draws by the number of their chain.
fn read_by_chain(input: impl Read) -> Result<(Vec<String>, BTreeMap<u64, DrawList>), DrawsError> {
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .from_reader(LineFeeds {
            input,
            after_return: false,
        });
    let header = reader.headers().map_err(DrawsError::Header)?.clone();
    let chain_column = header.iter().position(|name| name == ".chain");
    let columns: Vec<usize> = (0..header.len())
        .filter(|&column| !INDEX_COLUMNS.contains(&&header[column]))
        .collect();
    let names: Vec<String> = columns
        .iter()
        .map(|&column| header[column].to_owned())
        .collect();
    let mut chains: BTreeMap<u64, DrawList> = BTreeMap::new();
    let mut row = vec![0.0; names.len()];
    let mut record = csv::StringRecord::new();
    loop {
        let line = reader.position().line();
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => return Err(DrawsError::Line(line, error)),
        }
        let line = record.position().map_or(line, csv::Position::line);
        let chain = match chain_column {
            None => 1,
            Some(column) => record[column]
                .parse()
                .map_err(|_err| DrawsError::Chain(line, record[column].to_owned()))?,
        };
        for (value, &column) in row.iter_mut().zip(&columns) {
            *value = parse(&record[column]).ok_or_else(|| DrawsError::Number {
                line,
                text: record[column].to_owned(),
                column: header[column].to_owned(),
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
        let names: Vec<ParamId> = vec!["b[x]".into(), "Sigma[1,2]".into()];
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
    fn weights_that_differ_are_written_beside_the_draws_and_read_back() {
        let lists = |weight: fn(usize) -> f64| {
            let (mut draws, mut info) = (DrawList::new(1), DrawList::new(2));
            for i in 0..1100 {
                draws.push(&[i as f64]);
                info.push(&[0.5, weight(i)]);
            }
            let info_names = vec!["step_size".to_owned(), WEIGHT.to_owned()];
            Results::new(
                vec!["b[x]".into()],
                vec![draws],
                (info_names, vec![info]),
                0.0,
            )
        };
        let weighted = lists(|i| {
            if i % 3 == 0 {
                -1.0
            } else {
                1.0 / (i + 1) as f64 + 1.0
            }
        });
        let mut bytes = Vec::new();
        write(&weighted, &mut bytes).unwrap();
        assert!(bytes.starts_with(b".chain,.iteration,.draw,b[x],weight\n1,1,1,0,-1\n"));
        let back = Results::of_draws(read(bytes.as_slice()).unwrap());
        assert_eq!(back.variables, ["b[x]"]);
        assert_eq!(back.info_names, [WEIGHT]);
        assert_eq!(back.info[0].column(0), weighted.info[0].column(1));
        assert_eq!(back.summary, weighted.summary);
        assert!(back.is_weighted());
        // Of equal weights nothing is to be seen.
        let mut plain = Vec::new();
        write(&lists(|_| 2.5), &mut plain).unwrap();
        assert!(plain.starts_with(b".chain,.iteration,.draw,b[x]\n1,1,1,0\n"));
    }

    #[test]
    fn logarithms_of_weights_weigh_as_the_weights_do() {
        let of = |name: &str, weight: fn(i32) -> f64| -> ReadDraws {
            let rows: String = (0..200)
                .map(|i| format!("{},{},{}\n", i % 2 + 1, i * 37 % 101, weight(i)))
                .collect();
            read(format!(".chain,x,{name}\n{rows}").as_bytes()).unwrap()
        };
        // Far below what has an exponential.
        let log = of(LOG_WEIGHT, |i| -2000.0 - f64::from(i % 4) * 2.0_f64.ln());
        let plain = of(WEIGHT, |i| 0.5_f64.powi(i % 4));
        assert_eq!(log.names, plain.names);
        assert_eq!(log.chains[1].column(0), plain.chains[1].column(0));
        let mut both = of(LOG_WEIGHT, |i| -2000.0 - f64::from(i % 4) * 2.0_f64.ln());
        let [log, plain] = [log, plain].map(Results::of_draws);
        assert!(log.is_weighted());
        assert_eq!(log.variables, ["x"]);
        let numbers = |results: &Results| -> Vec<f64> {
            let row = &results.summary[0];
            [row.mean, row.sd].map(Option::unwrap).into()
        };
        for (log, plain) in numbers(&log).iter().zip(numbers(&plain)) {
            assert!((log - plain).abs() < 1e-9 * plain.abs(), "{log} {plain}");
        }
        // Another file's weights keep their ratio to these.
        assert!(both.add(of(LOG_WEIGHT, |_| -2000.0 + 3.0_f64.ln())));
        let weights = both.weights.unwrap();
        assert_eq!((weights.len(), both.chains.len()), (4, 4));
        assert_eq!(weights[2].value(0, 0), 1.0);
        assert!((weights[0].value(0, 0) - 1.0 / 3.0).abs() < 1e-9);
        // Logarithms and weights have no ratio.
        let mut other = of(WEIGHT, |_| 1.0);
        assert!(!other.add(of(LOG_WEIGHT, |_| 0.0)) && other.chains.len() == 2);
    }

    #[test]
    fn a_wrong_cell_is_named() {
        for end in ["\n", "\r\n", "\r"] {
            let text = [".chain,x", "1,0.5", "1,oops", ""].join(end);
            let error = read(text.as_bytes()).unwrap_err();
            let sentence = "Line 3 has `oops` in column `x`, which is not a number";
            assert_eq!(error.to_string(), sentence, "{end:?}");
        }
        let empty = read(".chain,x\n".as_bytes());
        assert!(matches!(empty, Err(DrawsError::NoDraws)), "{empty:?}");
    }
}
