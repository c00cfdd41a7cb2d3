//! Rows of a table, known and new, as a program reads them: expected outcomes, draws and log densities under draws of the posterior.
//!
//! The log density of a row is the one that is sampled, with all of its summands. An outcome is expected and drawn where the rows have
//! one line `outcome ~ distribution(…)` and nothing else. New rows have the categories of the fit.

use std::fmt;
use std::sync::Arc;

use ergodic_base::ChainRng;
use ergodic_base::special::softplus;
use ergodic_core::arithmetic::{SimdLevel, run_loop};
use ergodic_core::design::{
    ObservationModel, ObservationRows, Predictor, ReadError, ResponseInfo, ResponseKind,
};

use crate::across::Across;
use crate::code::{Code, RowCode, Store};
use crate::columns::{ColumnUse, Columns, Evaluated};
use crate::distributions::{Draw, Support};
use crate::graph::{Graph, Id, Node};
use crate::lower::{Left, Lowered, Parameter, RowLaw};
use crate::machine::{BLOCK, ONE, Registers, run_once};
use crate::place::Fault;
use crate::workspace::Pool;

/// Numbers of rows under draws.
struct Sheet {
    code: RowCode,
    /// Place of the first output of the head among the numbers of a draw.
    first_head: usize,
    pool: Pool<Registers<BLOCK>>,
}

impl Sheet {
    fn num_heads(&self) -> usize {
        self.code.head.as_ref().map_or(0, |head| head.outputs.len())
    }

    fn run(
        &self,
        level: SimdLevel,
        store: &Store,
        at: (usize, &[Vec<f64>], usize),
        out: &mut [f64],
    ) {
        let (row, draws, first) = at;
        let body = &self.code.body;
        let make = || Registers::of(body, store.numbers.len());
        self.pool.lend(make, |registers| {
            run_loop(
                level,
                Across {
                    code: body,
                    store,
                    row,
                    elements: draws,
                    heads: &draws[self.first_head..],
                    first,
                    registers,
                    out,
                },
            );
        });
    }
}

/// What is known of the only outcome of the rows.
struct Known {
    law: RowLaw,
    /// The outcome as it stands in its column.
    observed: Id,
    /// Numbers of trials, which columns alone say.
    trials: Option<Id>,
}

/// How outcomes are expected and drawn.
struct Law {
    /// The expected outcome, and the parameters of the distribution.
    sheet: Sheet,
    draw: Draw,
}

struct Parts {
    graph: Graph,
    uses: Vec<ColumnUse>,
    /// The log density of a row.
    density: Sheet,
    known: Option<Known>,
    law: Option<Law>,
    refusal: Option<String>,
    response: ResponseInfo,
    outcome_columns: Vec<String>,
    /// Columns that the expected outcome is made of.
    predictors: Vec<String>,
    /// Elements of all parameters, with which the reported quantities begin.
    num_parameters: usize,
    level: SimdLevel,
}

/// What a program says of rows.
pub(crate) struct Observation(Arc<Parts>);

impl fmt::Debug for Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Observation")
            .field(&self.0.response)
            .finish()
    }
}

impl Observation {
    /// What the program `text` says of rows, if it has some; `num_quantities` are reported of a draw.
    pub fn of(
        lowered: &Lowered,
        columns: &Columns,
        (uses, text): (&[ColumnUse], &str),
        num_quantities: usize,
    ) -> Result<Option<Self>, Fault> {
        let Some(row) = lowered.row else {
            return Ok(None);
        };
        let graph = &lowered.graph;
        let known = known(lowered, columns);
        let response = match &known {
            Some(known) => response(known, graph, columns, text),
            None => ResponseInfo {
                name: String::new(),
                kind: ResponseKind::Absent,
                counts: Vec::new(),
            },
        };
        let refusal = refusal(lowered, known.as_ref(), &response);
        let sheet = |outputs: &[Id], first_head: usize| Sheet {
            code: RowCode::of(graph, outputs),
            first_head,
            pool: Pool::default(),
        };
        let density = sheet(&[row], num_quantities);
        let (mut outcome_columns, mut predictors) = (Vec::new(), Vec::new());
        let law = match (&known, lowered.outcome.mean, &refusal) {
            (Some(known), Some(mean), None) => {
                let mut outputs = vec![mean];
                outputs.extend(&known.law.numbers);
                outcome_columns = columns_of(graph, columns, &outputs, false);
                predictors = columns_of(graph, columns, &[mean], true);
                let first_head = num_quantities + density.num_heads();
                known.law.distribution.draw.map(|draw| Law {
                    sheet: sheet(&outputs, first_head),
                    draw,
                })
            }
            _ => None,
        };
        Ok(Some(Self(Arc::new(Parts {
            graph: graph.clone(),
            uses: uses.to_vec(),
            density,
            known,
            law,
            refusal,
            response,
            outcome_columns,
            predictors,
            num_parameters: lowered.parameters.iter().map(Parameter::len).sum(),
            level: SimdLevel::detect(),
        }))))
    }
}

/// The outcome of the rows, where they have one that columns say.
fn known(lowered: &Lowered, columns: &Columns) -> Option<Known> {
    let [law] = lowered.outcome.laws.as_slice() else {
        return None;
    };
    let graph = &lowered.graph;
    let observed = match law.left {
        // The column itself stands in the graph, because the function of it does.
        Left::Function(_, _, column) => {
            (0..graph.len() as Id).find(|&id| *graph.node(id) == Node::Column(column))?
        }
        _ => law.y,
    };
    let is_data = |id: Id| !graph.depends(id).parameters;
    let trials = match law.distribution.support {
        Support::Trials => law.numbers.first().copied().filter(|&id| is_data(id)),
        _ => None,
    };
    let is_outcome = graph.is_data(law.y) && columns.num_rows > 0;
    is_outcome.then(|| Known {
        law: law.clone(),
        observed,
        trials,
    })
}

/// Names of the columns that `outputs` read, or do not.
fn columns_of(graph: &Graph, columns: &Columns, outputs: &[Id], read: bool) -> Vec<String> {
    let mut numbers = vec![false; columns.numbers.len()];
    let mut groups = vec![false; columns.groups.len()];
    graph.mark_columns(outputs, &mut numbers, &mut groups);
    let numbers = columns.numbers.iter().map(|(name, _)| name).zip(numbers);
    let groups = columns.groups.iter().map(|group| &group.name).zip(groups);
    let found = numbers
        .chain(groups)
        .filter(|(_, is_read)| *is_read == read);
    found.map(|(name, _)| name.clone()).collect()
}

/// The outcome as people call it, and what its values are.
fn response(known: &Known, graph: &Graph, columns: &Columns, text: &str) -> ResponseInfo {
    let Known { law, .. } = known;
    let mut evaluated = Evaluated::default();
    let mut of = |id: Id| (evaluated.of(graph, columns, id)).map_or(Vec::new(), <[f64]>::to_vec);
    let y = of(law.y);
    let written = text.get(law.span.start..law.span.end).unwrap_or_default();
    let name = match &law.left {
        Left::Column(name) | Left::Level(name, _) | Left::Categories(name) => name.clone(),
        Left::Function(function, column, _) => format!("{}({column})", function.name()),
        Left::Other => {
            let words: Vec<&str> = written.split_whitespace().collect();
            let words = words.join(" ");
            let inner = words.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
            // Brackets around all of it, not two pairs of which the first opens and the last closes.
            match inner {
                Some(inner) if !inner.contains(['(', ')']) => inner.to_owned(),
                _ => words,
            }
        }
    };
    let total: f64 = y.iter().sum();
    let (kind, counts) = match law.distribution.support {
        Support::Binary => {
            let (success, failure) = match &law.left {
                Left::Level(column, code) => levels_of(columns, column, *code),
                _ => ("1".to_owned(), "0".to_owned()),
            };
            let counts = vec![
                (failure.clone(), y.len() - total as usize),
                (success.clone(), total as usize),
            ];
            (ResponseKind::Binary { success, failure }, counts)
        }
        Support::Trials => {
            let trials: f64 = known.trials.map_or(Vec::new(), &mut of).iter().sum();
            let counts = vec![
                ("failures".to_owned(), (trials - total).max(0.0) as usize),
                ("successes".to_owned(), total as usize),
            ];
            (ResponseKind::Successes, counts)
        }
        Support::Counts => {
            let largest = y.iter().copied().fold(0.0, f64::max);
            (ResponseKind::Count { total, largest }, Vec::new())
        }
        Support::Levels | Support::Categories => {
            let levels = names_of_levels(law, columns);
            let mut rows = vec![0; levels.len()];
            for &y in &y {
                // Rows without an outcome are no level.
                if let Some(rows) = rows.get_mut((y as usize).wrapping_sub(1)) {
                    *rows += 1;
                }
            }
            let counts = levels.iter().cloned().zip(rows).collect();
            let kind = match law.distribution.support {
                Support::Levels => ResponseKind::Ordered { levels },
                _ => ResponseKind::Unordered { levels },
            };
            (kind, counts)
        }
        Support::Real
        | Support::Positive
        | Support::Above
        | Support::Unit
        | Support::Between
        | Support::Simplex => {
            let mean = total / y.len() as f64;
            let squares: f64 = y.iter().map(|y| (y - mean).powi(2)).sum();
            let function = match &law.left {
                Left::Function(function, column, _) => Some((*function, column.clone())),
                _ => None,
            };
            let kind = ResponseKind::Number {
                mean,
                sd: (squares / (y.len().max(2) - 1) as f64).sqrt(),
                range: [
                    y.iter().copied().fold(f64::INFINITY, f64::min),
                    y.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                ],
                function,
            };
            (kind, Vec::new())
        }
    };
    ResponseInfo { name, kind, counts }
}

/// The levels of an outcome: categories by their names, others by their numbers.
fn names_of_levels(law: &RowLaw, columns: &Columns) -> Vec<String> {
    let named = match &law.left {
        Left::Categories(name) => columns.groups.iter().find(|group| group.name == *name),
        _ => None,
    };
    match named {
        Some(group) => group.levels.clone(),
        None => (1..=law.numbers.len()).map(|it| it.to_string()).collect(),
    }
}

/// The category that counts as success, and what is none.
fn levels_of(columns: &Columns, name: &str, code: usize) -> (String, String) {
    let found = columns.groups.iter().find(|group| group.name == name);
    let levels = found.map_or(&[][..], |group| &group.levels);
    let success = levels.get(code).cloned().unwrap_or_default();
    let failure = match levels {
        [first, second] => if code == 0 { second } else { first }.clone(),
        _ => format!("not {success}"),
    };
    (success, failure)
}

/// Why no outcome can be expected or drawn.
fn refusal(lowered: &Lowered, known: Option<&Known>, response: &ResponseInfo) -> Option<String> {
    let outcome = &lowered.outcome;
    let name = &response.name;
    let Some(known) = known else {
        return Some(match outcome.laws.as_slice() {
            [] => "The rows of this model have no line `outcome ~ distribution(…)`, so what outcomes they expect is not known"
                .to_owned(),
            [_] => "What stands before `~` in the rows of this model is made of no column alone, so it is no outcome to predict"
                .to_owned(),
            laws => format!(
                "The rows of this model have {} outcomes, and predictions are of one",
                laws.len()
            ),
        });
    };
    let distribution = known.law.distribution;
    if outcome.has_terms {
        return Some(format!(
            "The rows of this model have summands besides the line of `{name}`, so how its outcomes come about is not known"
        ));
    }
    if distribution.support == Support::Trials && known.trials.is_none() {
        return Some(format!(
            "The number of trials of `{name}` depends on parameters, so there are no shares of them to expect"
        ));
    }
    if outcome.mean.is_none() {
        return Some(format!(
            "The distribution `{}` has no mean, so nothing is expected of `{name}`",
            distribution.name
        ));
    }
    if distribution.draw.is_none() {
        return Some(format!(
            "Nobody has said how `{}` is drawn, so there are no outcomes `{name}` to predict",
            distribution.name
        ));
    }
    None
}

impl ObservationModel for Observation {
    fn response(&self) -> &ResponseInfo {
        &self.0.response
    }

    fn refusal(&self) -> Option<&str> {
        self.0.refusal.as_deref()
    }

    fn is_whole(&self) -> bool {
        let known = self.0.known.as_ref();
        known.is_some_and(|known| known.law.distribution.support.is_discrete())
    }

    fn outcome_columns(&self) -> &[String] {
        &self.0.outcome_columns
    }

    fn predictors(&self) -> &[String] {
        &self.0.predictors
    }

    fn num_parameters(&self) -> usize {
        self.0.num_parameters
    }

    fn prepare(&self, mut draws: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        let count = draws.first().map_or(0, Vec::len);
        let sheets = [
            Some(&self.0.density),
            self.0.law.as_ref().map(|law| &law.sheet),
        ];
        for sheet in sheets.into_iter().flatten() {
            let Some(head) = &sheet.code.head else {
                continue;
            };
            draws.extend(heads(self.0.level, head, &draws, count));
        }
        draws
    }

    fn code(
        &self,
        columns: &[(String, Predictor)],
        has_outcome: &[bool],
    ) -> Result<Arc<dyn ObservationRows>, ReadError> {
        let parts = &self.0;
        let num_rows = has_outcome.len();
        let made = || -> Result<RowsOf, Fault> {
            let columns = Columns::of(&parts.uses, columns, num_rows, &[])?;
            let mut evaluated = Evaluated::default();
            let mut of = |id: Id| {
                (evaluated.of(&parts.graph, &columns, id)).map_or(Vec::new(), <[f64]>::to_vec)
            };
            let known = parts.known.as_ref();
            let trials = known.and_then(|known| known.trials).map(&mut of);
            let mut observed = known.map_or(vec![f64::NAN; num_rows], |known| of(known.observed));
            let y = known.map_or(Vec::new(), |known| of(known.law.y));
            for (observed, has) in observed.iter_mut().zip(has_outcome) {
                if !has {
                    *observed = f64::NAN;
                }
            }
            if let Some(Known { law, .. }) = known {
                check(law, (&y, has_outcome), trials.as_deref())?;
            }
            // Rows without an outcome have no log density that anybody asks for.
            let all = has_outcome.iter().all(|has| *has);
            Ok(RowsOf {
                density: parts.density.code.store(&parts.graph, &columns, all)?,
                law: match &parts.law {
                    Some(law) => law.sheet.code.store(&parts.graph, &columns, true)?,
                    None => Store::default(),
                },
                observed,
                trials,
                parts: Arc::clone(parts),
            })
        };
        let made = made().map_err(|fault| ReadError {
            message: fault.message,
            row: fault.row,
        })?;
        Ok(Arc::new(made))
    }
}

/// Outputs of a head under all draws, one vector per output.
fn heads(level: SimdLevel, head: &Code, draws: &[Vec<f64>], count: usize) -> Vec<Vec<f64>> {
    let mut registers: Registers<ONE> = Registers::of(head, 0);
    let mut theta = vec![0.0; draws.len()];
    let mut outputs = vec![Vec::with_capacity(count); head.outputs.len()];
    for s in 0..count {
        for (theta, draws) in theta.iter_mut().zip(draws) {
            *theta = draws[s];
        }
        run_once(level, head, &theta, &mut registers, None);
        for (output, values) in head.outputs.iter().zip(&mut outputs) {
            values.push(registers.output(*output));
        }
    }
    outputs
}

/// Refuses outcomes that the distribution never has.
fn check(law: &RowLaw, (y, has): (&[f64], &[bool]), trials: Option<&[f64]>) -> Result<(), Fault> {
    let support = law.distribution.support;
    let levels = law.numbers.len() as f64;
    for (row, &y) in y.iter().enumerate().filter(|(row, _)| has[*row]) {
        let most = trials.and_then(|trials| trials.get(row).copied());
        let is_level = !support.is_of_levels() || y.fract() == 0.0 && (1.0..=levels).contains(&y);
        if !support.holds(y, most) || !is_level {
            let message = format!(
                "`{}` is of {}, but the outcome is {y}",
                law.distribution.name,
                support.words()
            );
            return Err(Fault::new(law.span, message).in_row(row));
        }
    }
    Ok(())
}

/// Rows of a table as a program reads them.
struct RowsOf {
    parts: Arc<Parts>,
    density: Store,
    law: Store,
    observed: Vec<f64>,
    trials: Option<Vec<f64>>,
}

impl fmt::Debug for RowsOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.observed.len();
        f.debug_struct("RowsOf")
            .field("rows", &rows)
            .finish_non_exhaustive()
    }
}

impl ObservationRows for RowsOf {
    fn observed(&self) -> &[f64] {
        &self.observed
    }

    fn trials(&self) -> Option<&[f64]> {
        self.trials.as_deref()
    }

    fn width(&self) -> usize {
        let law = self.parts.law.as_ref();
        law.map_or(0, |law| law.sheet.code.body.outputs.len())
    }

    fn distribution(&self, i: usize, draws: &[Vec<f64>], first: usize, out: &mut [f64]) {
        if let Some(law) = &self.parts.law {
            law.sheet
                .run(self.parts.level, &self.law, (i, draws, first), out);
        }
    }

    fn draw(&self, distribution: &[f64], rng: &mut ChainRng, out: &mut [f64]) {
        let Some(law) = &self.parts.law else {
            return out.fill(f64::NAN);
        };
        let len = out.len();
        let mut numbers = vec![0.0; self.width() - 1];
        for (s, out) in out.iter_mut().enumerate() {
            for (k, number) in numbers.iter_mut().enumerate() {
                *number = distribution[(k + 1) * len + s];
            }
            *out = (law.draw)(&numbers, rng);
        }
    }

    fn chance(&self, distribution: &[f64], level: usize, out: &mut [f64]) {
        let len = out.len();
        // Behind the expected outcome stand the linear predictor and the thresholds.
        let number = |k: usize, s: usize| distribution[k * len + s];
        let last = self.width() - 2;
        for (s, out) in out.iter_mut().enumerate() {
            let z = number(1, s);
            let below = (level > 1).then(|| number(level, s) - z);
            let above = (level <= last).then(|| number(level + 1, s) - z);
            let log_p = match (below, above) {
                (None, None) => 0.0,
                (None, Some(above)) => -softplus(-above),
                (Some(below), None) => -softplus(below),
                (Some(below), Some(above)) => {
                    (-(below - above).exp_m1()).ln() - softplus(-above) - softplus(below)
                }
            };
            *out = log_p.exp();
        }
    }

    fn log_density(&self, i: usize, draws: &[Vec<f64>], first: usize, out: &mut [f64]) {
        let density = &self.parts.density;
        density.run(self.parts.level, &self.density, (i, draws, first), out);
    }
}
