//! From the tree of a program to its numbers: names, shapes and indices are resolved, and what is left is a graph.
//!
//! A vector is never a number itself: an expression is asked for the number at a position. Asking `mu + tau * z` for the element
//! that `school` says in a row gives `mu + tau * z[school]`, so vectors of parameters are indexed by columns however they are
//! written, and only elements that somebody needs exist.

use std::collections::HashMap;

use crate::columns::{CONSTANTS, Columns, Evaluated};
use crate::distributions;
use crate::graph::{Graph, Id, Node};
use crate::limits::Limited;
use crate::place::{Fault, Span, hint};
use crate::syntax::{Binary, Definition, Expr, ExprKind, Name, Statement, Tree};

mod calls;
mod categories;
mod declarations;
mod indeterminate;
mod indices;
mod levels;
mod outcome;
mod products;
mod relations;
mod rise;
mod stan;
mod support;
mod tails;

pub(crate) use calls::OTHER_FUNCTIONS;
pub(crate) use declarations::{Bounds, Parameter};
pub(crate) use outcome::{Left, Outcome, PriorLaw, RowLaw};
pub(crate) use stan::stan;
pub(crate) use tails::TAILS;

/// Expressions read, each as often as it is needed: a program of definitions within definitions could ask for more than there is
/// time.
const MAX_STEPS: usize = 4_000_000;

/// Sections of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Parameters,
    Rows,
    Target,
    Report,
}

/// A position in one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Pick {
    /// The code of the row in a group column.
    Code(usize),
    /// Fixed, 0-based.
    At(usize),
}

/// A position in a vector or matrix.
#[derive(Clone, Debug)]
enum Picks {
    /// One pick per dimension.
    Each(Vec<Pick>),
    /// The one whose turn it is in a sum over all elements.
    Element,
}

impl Picks {
    fn none() -> Self {
        Self::Each(Vec::new())
    }

    /// The position in the last `count` dimensions, or in all where there are not as many.
    fn last(&self, count: usize) -> Self {
        match self {
            Self::Each(each) => Self::Each(each[each.len().saturating_sub(count)..].to_vec()),
            Self::Element => Self::Element,
        }
    }
}

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
enum Entity {
    Parameter(usize),
    Definition(usize),
    Number(usize),
    Group(usize),
    /// A vector of columns.
    Vector(usize),
    Constant(f64),
}

struct Defined<'a> {
    definition: &'a Definition,
    section: Section,
    /// Whether the definition is being read, and so may not be asked for.
    open: bool,
    /// Number that the definition is, where it is one and was asked for.
    number: Option<Id>,
}

/// A quantity of the `report` section.
#[derive(Clone, Debug)]
pub(crate) struct Reported {
    pub name: String,
    /// Positions in each dimension; none of a number.
    pub sizes: Vec<usize>,
    pub elements: Vec<Id>,
}

/// A sum over the elements of a vector.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ElementSum {
    pub count: usize,
    pub term: Id,
}

/// Which summands of the log density are the prior of a parameter that depends on no other parameter.
#[derive(Clone, Debug, Default)]
pub(crate) struct OwnPriors {
    /// One for each of the first terms; those of `target` are none.
    pub terms: Vec<bool>,
    /// One for each sum.
    pub sums: Vec<bool>,
}

/// A program whose names are resolved.
#[derive(Debug)]
pub(crate) struct Lowered {
    pub graph: Graph,
    pub parameters: Vec<Parameter>,
    /// Summands of the log density that are the same for all rows.
    pub terms: Vec<Id>,
    /// Whether there are others than priors among these.
    pub has_target: bool,
    /// Sums over elements of vectors.
    pub sums: Vec<ElementSum>,
    pub own: OwnPriors,
    /// Priors of the parameters that have one.
    pub priors: Vec<PriorLaw>,
    /// Numbers of distributions, which have limits, in the order of the text.
    pub limited: Vec<Limited>,
    /// The log density of a row.
    pub row: Option<Id>,
    /// What the rows say of an outcome.
    pub outcome: Outcome,
    pub reported: Vec<Reported>,
}

/// Resolves the names of `tree`, given the columns that it uses.
pub(crate) fn lower(tree: &Tree, columns: &Columns) -> Result<Lowered, Fault> {
    let mut lowering = Lowering::new(columns);
    lowering.name_everything(tree)?;
    lowering.declare(tree)?;
    let (mut terms, mut sums) = (Vec::new(), Vec::new());
    let mut own = OwnPriors::default();
    for (at, declaration) in tree.declarations.iter().enumerate() {
        let noted = lowering.priors.len();
        lowering.prior(at, declaration, &mut terms, &mut sums)?;
        let laws = &lowering.priors[noted..];
        let mut numbers = laws.iter().flat_map(|law| &law.numbers);
        let graph = &lowering.graph;
        let is_own = !laws.is_empty() && numbers.all(|&id| !graph.depends(id).parameters);
        own.terms.resize(terms.len(), is_own);
        own.sums.resize(sums.len(), is_own);
    }
    lowering.section = Section::Target;
    for line in &tree.target {
        lowering.statement(line, &mut terms)?;
    }
    lowering.section = Section::Rows;
    let mut of_row = Vec::new();
    for line in &tree.rows {
        lowering.statement(line, &mut of_row)?;
    }
    let row = (!of_row.is_empty()).then(|| lowering.graph.sum(&of_row));
    if let (None, Some(line)) = (row, tree.rows.last()) {
        let Statement::Definition(definition) = line else {
            return Err(Fault::new(Span::default(), "The rows say nothing"));
        };
        let message =
            "The rows need a line `outcome ~ distribution(…)` that says how likely they are";
        return Err(Fault::new(definition.name.span, message));
    }
    lowering.section = Section::Report;
    let mut reported = Vec::new();
    for definition in &tree.report {
        if definition.is_shown() {
            lowering.check_shown(&definition.name, &reported)?;
        }
        let sizes = lowering.shape(&definition.value)?;
        reported.push(Reported {
            name: definition.name.text.clone(),
            elements: lowering.elements(&definition.value, &sizes)?,
            sizes,
        });
    }
    // Definitions that nothing uses are checked too.
    for at in 0..lowering.defined.len() {
        let Defined {
            definition,
            section,
            ..
        } = lowering.defined[at];
        lowering.section = section;
        let sizes = lowering.shape(&definition.value)?;
        if sizes.is_empty() {
            lowering.number_of_definition(at)?;
        }
    }
    let outcome = lowering.outcome(tree)?;
    Ok(Lowered {
        graph: lowering.graph,
        parameters: lowering.parameters,
        terms,
        has_target: !tree.target.is_empty(),
        own,
        sums,
        priors: lowering.priors,
        limited: lowering.limited,
        row,
        outcome,
        reported,
    })
}

struct Lowering<'a> {
    columns: &'a Columns,
    evaluated: Evaluated,
    graph: Graph,
    entities: HashMap<String, Entity>,
    parameters: Vec<Parameter>,
    defined: Vec<Defined<'a>>,
    section: Section,
    steps: usize,
    /// Lines `outcome ~ distribution(…)` of the rows, one per element.
    laws: Vec<RowLaw>,
    priors: Vec<PriorLaw>,
    limited: Vec<Limited>,
    /// Elements of products of matrices that were asked for.
    products: HashMap<products::Element, Id>,
}

impl<'a> Lowering<'a> {
    fn new(columns: &'a Columns) -> Self {
        Self {
            columns,
            evaluated: Evaluated::default(),
            graph: Graph::default(),
            entities: HashMap::new(),
            parameters: Vec::new(),
            defined: Vec::new(),
            section: Section::Parameters,
            steps: 0,
            laws: Vec::new(),
            priors: Vec::new(),
            limited: Vec::new(),
            products: HashMap::new(),
        }
    }

    /// Gives every name its meaning; two things of one name are refused.
    fn name_everything(&mut self, tree: &'a Tree) -> Result<(), Fault> {
        for (name, value) in CONSTANTS {
            let entity = Entity::Constant(value);
            self.entities.insert(name.to_owned(), entity);
        }
        for (at, vector) in tree.vectors.iter().enumerate() {
            self.name(&vector.name, Entity::Vector(at))?;
        }
        for (at, declaration) in tree.declarations.iter().enumerate() {
            self.name(&declaration.name, Entity::Parameter(at))?;
        }
        let of_lines = |section: Section, lines: &'a [Statement]| {
            lines.iter().filter_map(move |line| match line {
                Statement::Definition(definition) => Some((section, definition)),
                _ => None,
            })
        };
        let reported = tree.report.iter().filter(|it| !it.is_shown());
        let all = (tree.definitions.iter())
            .map(|definition| (Section::Parameters, definition))
            .chain(of_lines(Section::Rows, &tree.rows))
            .chain(of_lines(Section::Target, &tree.target))
            .chain(reported.map(|it| (Section::Report, it)));
        for (section, definition) in all {
            self.name(&definition.name, Entity::Definition(self.defined.len()))?;
            self.defined.push(Defined {
                definition,
                section,
                open: false,
                number: None,
            });
        }
        // What is declared may have the name of a column that only a vector takes in.
        let numbers = self.columns.numbers.iter().enumerate();
        let numbers = numbers.map(|(at, (name, _))| (name, Entity::Number(at)));
        let groups = self.columns.groups.iter().enumerate();
        let groups = groups.map(|(at, group)| (&group.name, Entity::Group(at)));
        for (name, entity) in numbers.chain(groups) {
            self.entities.entry(name.clone()).or_insert(entity);
        }
        Ok(())
    }

    fn name(&mut self, name: &Name, entity: Entity) -> Result<(), Fault> {
        match self.entities.insert(name.text.clone(), entity) {
            None => Ok(()),
            Some(Entity::Constant(_)) => Err(Fault::new(
                name.span,
                format!("`{}` is a constant; choose another name", name.text),
            )),
            Some(_) => Err(Fault::new(
                name.span,
                format!("There is a `{}` already; choose another name", name.text),
            )),
        }
    }

    /// Refuses the name of what is reported already.
    fn check_shown(&self, name: &Name, reported: &[Reported]) -> Result<(), Fault> {
        let is_parameter = matches!(self.entity(&name.text, name.span)?, Entity::Parameter(_));
        if is_parameter || reported.iter().any(|it| it.name == name.text) {
            let message = format!("`{}` is reported already; leave this line out", name.text);
            return Err(Fault::new(name.span, message));
        }
        Ok(())
    }

    fn entity(&self, name: &str, span: Span) -> Result<Entity, Fault> {
        match self.entities.get(name) {
            Some(entity) => Ok(*entity),
            None => {
                let known = self.entities.keys().map(String::as_str);
                let message = format!(
                    "There is no parameter, definition or column `{name}`{}",
                    hint(name, known)
                );
                Err(Fault::new(span, message))
            }
        }
    }

    fn count_step(&mut self, span: Span) -> Result<(), Fault> {
        self.steps += 1;
        if self.steps > MAX_STEPS || self.graph.is_full() {
            let message = "The model is too large from here on; use columns and indices in place of long lists";
            return Err(Fault::new(span, message));
        }
        Ok(())
    }

    /// Refuses a definition of another section than those that may be used here.
    fn definition(&self, at: usize, span: Span) -> Result<&'a Definition, Fault> {
        let defined = &self.defined[at];
        let name = &defined.definition.name.text;
        if defined.open {
            let message = format!("`{name}` is defined by itself");
            return Err(Fault::new(span, message));
        }
        if ![self.section, Section::Parameters].contains(&defined.section) {
            let message = format!(
                "`{name}` is defined in another section; define it among the parameters to use it here"
            );
            return Err(Fault::new(span, message));
        }
        Ok(defined.definition)
    }

    /// Does `read` for a definition, in its own section.
    fn within<T>(
        &mut self,
        at: usize,
        span: Span,
        read: impl FnOnce(&mut Self, &'a Expr) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let definition = self.definition(at, span)?;
        let before = std::mem::replace(&mut self.section, self.defined[at].section);
        self.defined[at].open = true;
        let result = read(self, &definition.value);
        self.defined[at].open = false;
        self.section = before;
        result
    }

    fn number_of_definition(&mut self, at: usize) -> Result<Id, Fault> {
        if let Some(id) = self.defined[at].number {
            return Ok(id);
        }
        let span = self.defined[at].definition.name.span;
        let id = self.within(at, span, |it, value| it.number(value, &Picks::none()))?;
        self.defined[at].number = Some(id);
        Ok(id)
    }

    /// Sizes of the dimensions of `e`; none of a number.
    fn shape(&mut self, e: &Expr) -> Result<Vec<usize>, Fault> {
        self.count_step(e.span)?;
        match &e.kind {
            ExprKind::Number(_) => Ok(Vec::new()),
            ExprKind::Text(_) => Err(Fault::new(
                e.span,
                "A text stands where a number is needed; texts are compared with columns, as in region == \"north\"",
            )),
            ExprKind::Name(name) => match self.entity(name, e.span)? {
                Entity::Parameter(at) => Ok(self.parameters[at].sizes()),
                Entity::Definition(at) => {
                    if self.defined[at].number.is_some() {
                        self.definition(at, e.span)?;
                        return Ok(Vec::new());
                    }
                    self.within(at, e.span, |it, value| it.shape(value))
                }
                Entity::Vector(at) => Ok(vec![self.columns.vectors[at].len()]),
                Entity::Number(_) | Entity::Group(_) | Entity::Constant(_) => Ok(Vec::new()),
            },
            ExprKind::List(items) => {
                let inner = self.shape(&items[0])?;
                for item in &items[1..] {
                    if self.shape(item)? != inner {
                        let message = "The parts of a list have different shapes";
                        return Err(Fault::new(item.span, message));
                    }
                }
                if inner.len() > 1 {
                    return Err(Fault::new(
                        e.span,
                        "A list of matrices is more than a matrix",
                    ));
                }
                Ok([vec![items.len()], inner].concat())
            }
            ExprKind::Index(base, items) => {
                let mut sizes = self.shape(base)?;
                if sizes.len() < items.len() {
                    let what = match sizes.len() {
                        0 => "is a number and has no index".to_owned(),
                        count => format!("has {count} index{}", if count == 1 { "" } else { "es" }),
                    };
                    let message = format!("This {what}, but {} given", are(items.len()));
                    return Err(Fault::new(e.span, message));
                }
                Ok(sizes.split_off(items.len()))
            }
            ExprKind::Negate(inner) | ExprKind::Not(inner) => self.shape(inner),
            ExprKind::Binary(Binary::Equal, a, b)
                if matches!(a.kind, ExprKind::Text(_)) || matches!(b.kind, ExprKind::Text(_)) =>
            {
                Ok(Vec::new())
            }
            ExprKind::Binary(_, a, b) => self.common_shape(&[a, b], e.span),
            ExprKind::Call(name, arguments) => match name.text.as_str() {
                "sum" | "mean" | "dot" | "length" => Ok(Vec::new()),
                products::MATMUL => self.shape_of_product(arguments, e.span),
                "log_sum_exp" | "min" | "max" if arguments.len() == 1 => Ok(Vec::new()),
                density if distributions::is_of_levels(density) => Ok(Vec::new()),
                _ => self.common_shape(&arguments.iter().collect::<Vec<_>>(), e.span),
            },
        }
    }

    /// The shape of what is computed element by element: numbers go with every shape.
    fn common_shape(&mut self, parts: &[&Expr], span: Span) -> Result<Vec<usize>, Fault> {
        let mut common = Vec::new();
        for part in parts {
            let sizes = self.shape(part)?;
            if common.is_empty() {
                common = sizes;
            } else if !sizes.is_empty() && sizes != common {
                let hint = match products::product_shape(&common, &sizes) {
                    Some(_) => "; their product as matrices is `matmul(…, …)`",
                    None => "",
                };
                let message = format!(
                    "{} and {} do not go together{hint}",
                    shape_words(&common),
                    shape_words(&sizes)
                );
                return Err(Fault::new(span, message));
            }
        }
        Ok(common)
    }

    /// All elements of `e`, whose shape is known.
    fn elements(&mut self, e: &Expr, sizes: &[usize]) -> Result<Vec<Id>, Fault> {
        let total: usize = sizes.iter().product();
        let mut found = Vec::new();
        for at in 0..total {
            let picks = position(at, sizes);
            found.push(self.number(e, &picks)?);
        }
        Ok(found)
    }

    /// The number of `e` at a position; a number is the same at every position.
    fn number(&mut self, e: &Expr, picks: &Picks) -> Result<Id, Fault> {
        self.count_step(e.span)?;
        self.graph.place = e.span;
        match &e.kind {
            ExprKind::Number(value) => Ok(self.graph.constant(*value)),
            ExprKind::Text(_) => self.shape(e).map(|_shape| 0),
            ExprKind::Name(name) => self.named(name, e.span, picks),
            ExprKind::List(items) => {
                let Picks::Each(each) = picks else {
                    return Err(Fault::new(e.span, "A list has no element that varies"));
                };
                match each.split_first() {
                    Some((Pick::At(at), rest)) => {
                        self.number(&items[*at], &Picks::Each(rest.to_vec()))
                    }
                    Some((Pick::Code(_), _)) => Err(Fault::new(
                        e.span,
                        "A list cannot be indexed by a column; make it a column of the data",
                    )),
                    None => Err(self.no_number(e)),
                }
            }
            ExprKind::Index(base, items) => {
                let Picks::Each(rest) = picks else {
                    return Err(Fault::new(
                        base.span,
                        "A part of a vector has no element that varies",
                    ));
                };
                let mut each = self.picks(base, items)?;
                each.extend(rest);
                self.number(base, &Picks::Each(each))
            }
            ExprKind::Negate(inner) => {
                let inner = self.number(inner, picks)?;
                Ok(self.graph.negate(inner))
            }
            ExprKind::Not(inner) => {
                let inner = self.number(inner, picks)?;
                Ok(self.graph.not(inner))
            }
            ExprKind::Binary(Binary::Equal, a, b) => match (&a.kind, &b.kind) {
                (_, ExprKind::Text(text)) => self.level_is(a, text, b.span),
                (ExprKind::Text(text), _) => self.level_is(b, text, a.span),
                _ => self.both(Binary::Equal, a, b, e.span, picks),
            },
            ExprKind::Binary(operation, a, b) => self.both(*operation, a, b, e.span, picks),
            ExprKind::Call(name, arguments) => self.called(name, arguments, e.span, picks),
        }
    }

    fn no_number(&self, e: &Expr) -> Fault {
        Fault::new(
            e.span,
            "A vector stands where a number is needed; index it, or take its sum",
        )
    }

    fn both(
        &mut self,
        operation: Binary,
        a: &Expr,
        b: &Expr,
        span: Span,
        picks: &Picks,
    ) -> Result<Id, Fault> {
        let (a, b) = (self.part(a, picks)?, self.part(b, picks)?);
        self.graph.place = span;
        Ok(self.graph.binary(operation, a, b))
    }

    /// The number of a part of something computed element by element.
    fn part(&mut self, e: &Expr, picks: &Picks) -> Result<Id, Fault> {
        let is_number = matches!(picks, Picks::Each(each) if each.is_empty());
        if is_number || !self.shape(e)?.is_empty() {
            return self.number(e, picks);
        }
        self.number(e, &Picks::none())
    }

    fn named(&mut self, name: &str, span: Span, picks: &Picks) -> Result<Id, Fault> {
        let entity = self.entity(name, span)?;
        let in_rows = self.section == Section::Rows;
        match entity {
            Entity::Constant(value) => Ok(self.graph.constant(value)),
            Entity::Number(column) if in_rows => Ok(self.graph.leaf(Node::Column(column))),
            Entity::Group(_) if in_rows => Err(Fault::new(
                span,
                format!("`{name}` holds categories, but a number is needed here"),
            )),
            Entity::Vector(at) if in_rows => self.column_of(at, (name, span), picks),
            Entity::Vector(_) => Err(Fault::new(
                span,
                format!(
                    "`{name}` is a vector of columns, which have values in the section `rows` alone"
                ),
            )),
            Entity::Number(_) | Entity::Group(_) => Err(Fault::new(
                span,
                format!("`{name}` is a column, which has values in the section `rows` alone"),
            )),
            Entity::Definition(at) => match picks {
                Picks::Each(each) if each.is_empty() => {
                    self.definition(at, span)?;
                    if !self
                        .within(at, span, |it, value| it.shape(value))?
                        .is_empty()
                    {
                        let message = format!("`{name}` is a vector; index it, or take its sum");
                        return Err(Fault::new(span, message));
                    }
                    self.number_of_definition(at)
                }
                _ => self.within(at, span, |it, value| it.part(value, picks)),
            },
            Entity::Parameter(at) => {
                let parameter = &self.parameters[at];
                let (offset, strides) = (parameter.offset, parameter.strides());
                match picks {
                    Picks::Element => Ok(self.graph.leaf(Node::Element { offset })),
                    Picks::Each(each) if each.len() == strides.len() => {
                        let (mut offset, mut codes) = (offset, Vec::new());
                        for (pick, stride) in each.iter().zip(strides) {
                            match pick {
                                Pick::At(at) => offset += at * stride,
                                Pick::Code(column) => codes.push((stride, *column)),
                            }
                        }
                        Ok(self.graph.leaf(match codes.is_empty() {
                            true => Node::Parameter(offset),
                            false => Node::Gather {
                                offset,
                                picks: codes,
                            },
                        }))
                    }
                    Picks::Each(_) => {
                        let message = format!(
                            "`{name}` is {}; index it, or take its sum",
                            shape_words(&self.parameters[at].sizes())
                        );
                        Err(Fault::new(span, message))
                    }
                }
            }
        }
    }

    /// The column at a position of a vector.
    fn column_of(
        &mut self,
        at: usize,
        (name, span): (&str, Span),
        picks: &Picks,
    ) -> Result<Id, Fault> {
        let columns = &self.columns.vectors[at];
        match picks {
            Picks::Each(each) => match each.as_slice() {
                [Pick::At(at)] => Ok(self.graph.leaf(Node::Column(columns[*at]))),
                [] => {
                    let words = shape_words(&[columns.len()]);
                    let message = format!("`{name}` is {words}; index it, or take its sum");
                    Err(Fault::new(span, message))
                }
                _ => {
                    let message =
                        format!("`{name}` is a vector of columns, whose index is a number");
                    Err(Fault::new(span, message))
                }
            },
            Picks::Element => {
                let message = format!(
                    "`{name}` is a vector of columns, which have values in the section `rows` alone"
                );
                Err(Fault::new(span, message))
            }
        }
    }

    fn level_is(&mut self, column: &Expr, text: &str, span: Span) -> Result<Id, Fault> {
        let found = match &column.kind {
            ExprKind::Name(name) => Some(self.entity(name, column.span)?),
            _ => None,
        };
        let Some(Entity::Group(at)) = found else {
            let message = "Only a column of the data can be compared with a text";
            return Err(Fault::new(column.span, message));
        };
        if self.section != Section::Rows {
            let message = "A column has values in the section `rows` alone";
            return Err(Fault::new(column.span, message));
        }
        let group = &self.columns.groups[at];
        match group.levels.iter().position(|level| level == text) {
            Some(code) => Ok(self.graph.leaf(Node::LevelIs {
                column: at,
                code: code as u32,
            })),
            None => {
                let known = group.levels.iter().map(String::as_str);
                let message = format!("`{}` is never \"{text}\"{}", group.name, hint(text, known));
                Err(Fault::new(span, message))
            }
        }
    }
}

/// "1 is", "3 are".
fn are(count: usize) -> String {
    match count {
        1 => "1 is".to_owned(),
        _ => format!("{count} are"),
    }
}

/// A shape in words.
fn shape_words(sizes: &[usize]) -> String {
    match sizes {
        [] => "a number".to_owned(),
        [length] => format!("a vector of {length}"),
        [rows, columns] => format!("a {rows} × {columns} matrix"),
        _ => "a table of more than two dimensions".to_owned(),
    }
}

/// The position of element `at`, in rows.
fn position(mut at: usize, sizes: &[usize]) -> Picks {
    let mut each = vec![Pick::At(0); sizes.len()];
    for (pick, size) in each.iter_mut().zip(sizes).rev() {
        *pick = Pick::At(at % size);
        at /= size;
    }
    Picks::Each(each)
}
