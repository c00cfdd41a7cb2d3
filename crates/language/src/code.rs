//! Programs for the machine: the numbers of a graph in an order in which each is computed from earlier ones.
//!
//! Of a sum over rows three parts come apart. What columns alone say is computed once, when the model is built. What is the same
//! for all rows is computed once per pass, by a program of its own (the *head*). What is left runs over blocks of rows. Sums of
//! products of the first with the second kind, such as linear predictors, are one step ([`Op::Affine`]), however long.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use crate::columns::{Columns, Evaluated};
use crate::functions::Function;
use crate::graph::{Graph, Id, Node};
use crate::place::{Fault, Span};
use crate::syntax::Binary;

/// Where a step finds a number per row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    /// A register that depends on parameters.
    Active(usize),
    /// A register that does not: a constant.
    Fixed(usize),
    /// A column of the data.
    Column(usize),
}

/// What fills a register before the steps of a block run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Input {
    Constant(f64),
    /// An element of the parameters, the same for all rows.
    Parameter(usize),
    /// An output of the head.
    Head(usize),
    /// The element at `offset` + Σ stride × code.
    Gather {
        offset: usize,
        picks: Vec<(usize, usize)>,
    },
    /// The element at `offset` + row.
    Element(usize),
}

/// An operation of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Binary(Binary),
    /// A function, whose slopes stand in this slope register.
    Call(Function, usize),
    Select,
    /// Terms `from..to` of [`Code::terms`].
    Affine {
        from: usize,
        to: usize,
    },
}

/// One step; its result is the register after those of all steps before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub op: Op,
    pub operands: [Operand; 3],
    /// Whether the derivative that goes back to the operand is the first one that does.
    pub first: [bool; 3],
    /// Whether the output depends on it otherwise than by jumps.
    pub live: bool,
}

/// `sign` × the register `factor`, the same for all rows, × the column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    pub sign: f64,
    pub factor: usize,
    /// Whether the factor depends on parameters.
    pub active: bool,
    pub column: Option<usize>,
}

/// A program: registers are inputs and then one per step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    pub inputs: Vec<Input>,
    pub steps: Vec<Step>,
    pub terms: Vec<Term>,
    pub outputs: Vec<Operand>,
    pub num_slopes: usize,
    /// Whether steps hand derivatives to the input (affine ones do so by themselves).
    pub input_is_used: Vec<bool>,
}

impl Code {
    pub fn num_registers(&self) -> usize {
        self.inputs.len() + self.steps.len()
    }
}

/// Columns that a program over rows reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    pub numbers: Vec<Vec<f64>>,
    pub codes: Vec<Vec<u32>>,
}

/// A sum over `count` rows, or elements of a vector.
#[derive(Clone, Debug)]
pub(crate) struct Plate {
    pub count: usize,
    /// What is the same for all rows; none where that is nothing but constants and parameters.
    pub head: Option<Code>,
    pub body: Code,
    pub store: Store,
}

/// The program that computes `outputs`, which are the same for all rows.
pub(crate) fn once(graph: &Graph, outputs: &[Id]) -> Code {
    let mut builder = Builder::new(graph, outputs, false);
    builder.reach();
    builder.code(outputs)
}

/// A program for numbers of rows, before it is known of which rows.
#[derive(Clone, Debug)]
pub(crate) struct RowCode {
    /// What is the same for all rows; none where that is nothing but constants and parameters.
    pub head: Option<Code>,
    pub body: Code,
    /// The numbers that are its columns.
    columns: Vec<Id>,
    outputs: Vec<Id>,
}

/// What stands in a row for a number that nothing there depends on.
const STAND_IN: f64 = 1.0;

/// In which rows something depends on a number; none where it does in all.
type Taken = Option<Rc<[bool]>>;

impl RowCode {
    /// The program that computes `outputs` of every row.
    pub fn of(graph: &Graph, outputs: &[Id]) -> Self {
        let mut builder = Builder::new(graph, outputs, true);
        builder.reach();
        let body = builder.code(outputs);
        let heads = &builder.heads;
        Self {
            head: (!heads.is_empty()).then(|| once(graph, heads)),
            body,
            columns: builder.columns,
            outputs: outputs.to_vec(),
        }
    }

    /// The columns of the code in these rows. Numbers that are not finite are refused if `all` rows are asked for, unless the text
    /// says them, as the `-inf` of `where(y == 0, 0, -inf)`, or a condition on columns chooses others in that row.
    pub fn store(&self, graph: &Graph, columns: &Columns, all: bool) -> Result<Store, Fault> {
        let mut evaluated = Evaluated::default();
        let mut store = Store {
            numbers: Vec::new(),
            codes: columns.groups.iter().map(|it| it.codes.clone()).collect(),
        };
        let mut taken = None;
        for &id in &self.columns {
            let Some(values) = evaluated.of(graph, columns, id) else {
                return Err(Fault::new(
                    Span::default(),
                    "A column depends on parameters",
                ));
            };
            let mut values = values.to_vec();
            if values.iter().any(|value| !value.is_finite()) {
                let taken = taken.get_or_insert_with(|| self.taken(graph, columns, &mut evaluated));
                let in_rows = taken.get(&id).cloned().flatten();
                let written = written(graph, id);
                for (row, value) in values.iter_mut().enumerate() {
                    if value.is_finite() || written.contains(&value.to_bits()) {
                        continue;
                    }
                    if in_rows.as_ref().is_some_and(|rows| !rows[row]) {
                        // A derivative of 0 times an infinite number would be none.
                        *value = STAND_IN;
                    } else if all {
                        let message = format!("A finite number is needed, but this is {value}");
                        return Err(Fault::new(graph.span(id), message).in_row(row));
                    }
                }
            }
            store.numbers.push(values);
        }
        Ok(store)
    }

    /// In which rows the outputs depend on each column: conditions on columns alone choose by row.
    fn taken(
        &self,
        graph: &Graph,
        columns: &Columns,
        evaluated: &mut Evaluated,
    ) -> HashMap<Id, Taken> {
        let mut open: BTreeMap<Id, Taken> = self.outputs.iter().map(|&id| (id, None)).collect();
        let mut found = HashMap::new();
        // What a number is made of has smaller ids, so that all that depends on it has been seen before it.
        while let Some((id, taken)) = open.pop_last() {
            if graph.is_data(id) {
                found.insert(id, taken);
                continue;
            }
            let chosen = match *graph.node(id) {
                Node::Select(condition, a, b) if graph.is_data(condition) => {
                    let is = evaluated.of(graph, columns, condition);
                    is.map(|is| (condition, [(a, true), (b, false)], is))
                }
                _ => None,
            };
            let Some((condition, parts, is)) = chosen else {
                for child in graph.children(id) {
                    also(&mut open, child, taken.clone());
                }
                continue;
            };
            for (part, wanted) in parts {
                let in_row = |(row, is): (usize, &f64)| {
                    (*is != 0.0) == wanted && taken.as_ref().is_none_or(|rows| rows[row])
                };
                let rows: Rc<[bool]> = is.iter().enumerate().map(in_row).collect();
                also(&mut open, part, Some(rows));
            }
            also(&mut open, condition, taken);
        }
        found
    }
}

/// Notes that something depends on `id` in these rows too.
fn also(open: &mut BTreeMap<Id, Taken>, id: Id, rows: Taken) {
    match open.entry(id) {
        Entry::Vacant(entry) => {
            entry.insert(rows);
        }
        Entry::Occupied(mut entry) => {
            let both = match (entry.get(), rows) {
                (Some(a), Some(b)) if Rc::ptr_eq(a, &b) => return,
                (Some(a), Some(b)) => Some(a.iter().zip(&*b).map(|(a, b)| *a || *b).collect()),
                _ => None,
            };
            entry.insert(both);
        }
    }
}

/// Bits of the infinite constants among those that the number chooses from, or adds to others.
fn written(graph: &Graph, id: Id) -> HashSet<u64> {
    let (mut open, mut seen, mut found) = (vec![id], HashSet::new(), HashSet::new());
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        match *graph.node(id) {
            Node::Constant(bits) if f64::from_bits(bits).is_infinite() => {
                found.insert(bits);
            }
            Node::Select(_, a, b) | Node::Binary(Binary::Add, a, b) => open.extend([a, b]),
            Node::Constant(_)
            | Node::Parameter(_)
            | Node::Gather { .. }
            | Node::Element { .. }
            | Node::Column(_)
            | Node::LevelIs { .. }
            | Node::Call(..)
            | Node::Binary(..) => {}
        }
    }
    found
}

/// The sum over `count` rows of `term`.
pub(crate) fn plate(
    graph: &Graph,
    columns: &Columns,
    term: Id,
    count: usize,
) -> Result<Plate, Fault> {
    let code = RowCode::of(graph, &[term]);
    Ok(Plate {
        count,
        store: code.store(graph, columns, true)?,
        head: code.head,
        body: code.body,
    })
}

/// What a number is in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Nothing,
    Input,
    Column,
    Step,
    /// A step that sums affine terms: its place in [`Builder::sums`].
    Sum(usize),
    /// Part of another one's sum.
    Absorbed,
}

/// A sum as terms and what else is added.
#[derive(Default)]
struct Sum {
    terms: Vec<(f64, Id, Option<Id>)>,
    rest: Vec<(f64, Id)>,
}

struct Builder<'a> {
    graph: &'a Graph,
    /// Whether numbers that are the same for all rows, or depend on columns alone, come from elsewhere.
    split: bool,
    parts: Vec<Part>,
    sums: Vec<Sum>,
    /// Numbers that are columns.
    columns: Vec<Id>,
    /// Numbers that are outputs of the head.
    heads: Vec<Id>,
    uses: Vec<u32>,
}

impl<'a> Builder<'a> {
    fn new(graph: &'a Graph, outputs: &[Id], split: bool) -> Self {
        let mut builder = Self {
            graph,
            split,
            parts: vec![Part::Nothing; graph.len()],
            sums: Vec::new(),
            columns: Vec::new(),
            heads: Vec::new(),
            uses: vec![0; graph.len()],
        };
        for &output in outputs {
            builder.want(output);
            // An output is no part of another's sum.
            builder.uses[output as usize] += 2;
        }
        builder
    }

    /// What `id` is where it is wanted.
    fn want(&mut self, id: Id) {
        let at = id as usize;
        if self.parts[at] != Part::Nothing {
            return;
        }
        let depends = self.graph.depends(id);
        self.parts[at] = match self.graph.node(id) {
            Node::Constant(_) | Node::Parameter(_) | Node::Gather { .. } | Node::Element { .. } => {
                Part::Input
            }
            _ if self.split && self.graph.is_data(id) => Part::Column,
            _ if self.split && !depends.lane => Part::Input,
            _ => Part::Step,
        };
    }

    /// Finds everything that the outputs need: children have smaller numbers than what is made of them.
    fn reach(&mut self) {
        let wanted = self.parts.clone();
        let mut is_reached: Vec<bool> = wanted.iter().map(|it| *it != Part::Nothing).collect();
        for id in (0..self.graph.len()).rev() {
            if !is_reached[id] {
                continue;
            }
            self.want(id as Id);
            if self.parts[id] == Part::Step {
                for child in self.graph.children(id as Id) {
                    is_reached[child as usize] = true;
                    self.uses[child as usize] += 1;
                }
            }
        }
        // Once more with sums taken apart: what they absorb needs no step.
        self.parts = wanted;
        for id in (0..self.graph.len()).rev() {
            if self.parts[id] != Part::Step {
                continue;
            }
            if self.split
                && let Some(sum) = self.sum(id as Id)
            {
                let factors = sum.terms.iter();
                let needed = factors.flat_map(|(_, factor, column)| [Some(*factor), *column]);
                let needed: Vec<Id> = needed.flatten().collect();
                let rest: Vec<Id> = sum.rest.iter().map(|(_, id)| *id).collect();
                self.parts[id] = Part::Sum(self.sums.len());
                self.sums.push(sum);
                for child in needed.into_iter().chain(rest) {
                    self.want(child);
                }
                continue;
            }
            for child in self.graph.children(id as Id) {
                self.want(child);
            }
        }
    }

    fn is_sum(&self, id: Id) -> bool {
        let depends = self.graph.depends(id);
        depends.lane
            && depends.parameters
            && matches!(
                self.graph.node(id),
                Node::Binary(Binary::Add | Binary::Sub, ..)
            )
    }

    /// The number `id` as a sum with at least one product of a column; none if it is not.
    fn sum(&mut self, id: Id) -> Option<Sum> {
        if !self.is_sum(id) {
            return None;
        }
        let mut sum = Sum::default();
        let mut absorbed = Vec::new();
        let mut open = vec![(1.0, id)];
        while let Some((sign, at)) = open.pop() {
            let is_own = at == id || self.is_sum(at) && self.uses[at as usize] == 1;
            let depends = self.graph.depends(at);
            match *self.graph.node(at) {
                Node::Binary(operation, a, b) if is_own && self.is_sum(at) => {
                    absorbed.push(at);
                    let of_b = if operation == Binary::Sub {
                        -sign
                    } else {
                        sign
                    };
                    // The left part is read first, as it is written.
                    open.push((of_b, b));
                    open.push((sign, a));
                }
                Node::Binary(Binary::Mul, a, b)
                    if !self.graph.depends(a).lane && self.graph.is_data(b) =>
                {
                    sum.terms.push((sign, a, Some(b)));
                }
                _ if !depends.lane => sum.terms.push((sign, at, None)),
                _ => sum.rest.push((sign, at)),
            }
        }
        if !sum.terms.iter().any(|(.., column)| column.is_some()) {
            return None;
        }
        for at in absorbed {
            self.parts[at as usize] = Part::Absorbed;
        }
        Some(sum)
    }

    fn code(&mut self, outputs: &[Id]) -> Code {
        let mut code = Code::default();
        let mut operands: HashMap<Id, Operand> = HashMap::new();
        for id in 0..self.graph.len() as Id {
            match self.parts[id as usize] {
                Part::Input => {
                    let register = code.inputs.len();
                    let input = match self.graph.node(id) {
                        Node::Constant(bits) => Input::Constant(f64::from_bits(*bits)),
                        Node::Parameter(at) => Input::Parameter(*at),
                        Node::Gather { offset, picks } => Input::Gather {
                            offset: *offset,
                            picks: picks.clone(),
                        },
                        Node::Element { offset } => Input::Element(*offset),
                        _ => {
                            self.heads.push(id);
                            Input::Head(self.heads.len() - 1)
                        }
                    };
                    operands.insert(
                        id,
                        match input {
                            Input::Constant(_) => Operand::Fixed(register),
                            _ => Operand::Active(register),
                        },
                    );
                    code.inputs.push(input);
                }
                Part::Column => {
                    operands.insert(id, Operand::Column(self.columns.len()));
                    self.columns.push(id);
                }
                _ => {}
            }
        }
        let number = |operands: &HashMap<Id, Operand>, id: Id| {
            operands.get(&id).copied().unwrap_or(Operand::Fixed(0))
        };
        for id in 0..self.graph.len() as Id {
            let next = |code: &mut Code, op: Op, from: [Operand; 3]| {
                let register = code.num_registers();
                code.steps.push(Step {
                    op,
                    operands: from,
                    first: [false; 3],
                    live: false,
                });
                Operand::Active(register)
            };
            let none = Operand::Fixed(0);
            let result = match self.parts[id as usize] {
                Part::Step => {
                    let (op, from) = match *self.graph.node(id) {
                        Node::Call(function, a) => {
                            code.num_slopes += 1;
                            let op = Op::Call(function, code.num_slopes - 1);
                            (op, [number(&operands, a), none, none])
                        }
                        Node::Binary(operation, a, b) => (
                            Op::Binary(operation),
                            [number(&operands, a), number(&operands, b), none],
                        ),
                        Node::Select(a, b, c) => {
                            (Op::Select, [a, b, c].map(|it| number(&operands, it)))
                        }
                        _ => continue,
                    };
                    next(&mut code, op, from)
                }
                Part::Sum(at) => {
                    let from = code.terms.len();
                    let sum = &self.sums[at];
                    for &(sign, factor, column) in &sum.terms {
                        let (factor, active) = match number(&operands, factor) {
                            Operand::Active(register) => (register, true),
                            Operand::Fixed(register) | Operand::Column(register) => {
                                (register, false)
                            }
                        };
                        let column = column.and_then(|id| match number(&operands, id) {
                            Operand::Column(column) => Some(column),
                            _ => None,
                        });
                        code.terms.push(Term {
                            sign,
                            factor,
                            active,
                            column,
                        });
                    }
                    let to = code.terms.len();
                    let mut result = next(&mut code, Op::Affine { from, to }, [none; 3]);
                    for &(sign, id) in &sum.rest {
                        let operation = if sign < 0.0 { Binary::Sub } else { Binary::Add };
                        let from = [result, number(&operands, id), none];
                        result = next(&mut code, Op::Binary(operation), from);
                    }
                    result
                }
                _ => continue,
            };
            operands.insert(id, result);
        }
        code.outputs = outputs.iter().map(|id| number(&operands, *id)).collect();
        flag_first(&mut code);
        code
    }
}

/// Says of every step whether it is the first to hand a derivative to its operands, in the order in which derivatives go back
/// from the only output.
fn flag_first(code: &mut Code) {
    let inputs = code.inputs.len();
    let mut is_used = vec![false; code.num_registers()];
    for output in &code.outputs {
        if let Operand::Active(register) = output {
            is_used[*register] = true;
        }
    }
    for (at, step) in code.steps.iter_mut().enumerate().rev() {
        step.live = is_used[inputs + at];
        if !step.live {
            continue;
        }
        let count = match step.op {
            Op::Binary(Binary::Less | Binary::LessEqual | Binary::Equal) | Op::Affine { .. } => {
                0..0
            }
            Op::Binary(_) => 0..2,
            Op::Call(..) => 0..1,
            // Where it jumps depends on the first, but has no derivative.
            Op::Select => 1..3,
        };
        for k in count {
            if let Operand::Active(register) = step.operands[k] {
                step.first[k] = !is_used[register];
                is_used[register] = true;
            }
        }
    }
    is_used.truncate(inputs);
    code.input_is_used = is_used;
}
