//! Columns of a table as a program reads them: numbers, and groups as codes.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};

use crate::distributions::{is_of_categories, stem};
use crate::graph::{Graph, Id, Node};
use crate::place::{Fault, Span, hint};
use crate::syntax::{Binary, Expr, ExprKind, Statement, Tree};
use crate::vectors::VectorColumns;
use ergodic_core::design::{Columns as Table, Predictor};

/// Constants that every program knows.
pub(crate) const CONSTANTS: [(&str, f64); 2] =
    [("pi", std::f64::consts::PI), ("inf", f64::INFINITY)];

/// How a program uses a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A number.
    Number,
    /// Categories: an index, or compared with a text.
    Group,
    /// The outcome of a distribution of categories: these, or their numbers from 1.
    Category,
}

/// A column that a program names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnUse {
    /// Name of the column.
    pub name: String,
    /// How the column is used.
    pub role: Role,
    /// Where the column is named first.
    pub span: Span,
    /// Whether it is part of a vector there.
    pub in_vector: bool,
}

/// Columns of the data: those of `vectors`, and names that are neither declared nor defined, in order of appearance.
pub(crate) fn uses(tree: &Tree, vectors: &[VectorColumns]) -> Result<Vec<ColumnUse>, Fault> {
    let mut declared: HashSet<&str> = CONSTANTS.iter().map(|(name, _)| *name).collect();
    declared.extend(tree.names());

    let mut found: Vec<ColumnUse> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (name, span) in vectors.iter().flat_map(|vector| &vector.columns) {
        let (span, name) = (*span, name.clone());
        if let Entry::Vacant(place) = places.entry(name.clone()) {
            place.insert(found.len());
            let (role, in_vector) = (Role::Number, true);
            found.push(ColumnUse {
                name,
                role,
                span,
                in_vector,
            });
        }
    }
    let mut use_of = |name: &str, span: Span, role: Role| -> Result<(), Fault> {
        if declared.contains(name) {
            return Ok(());
        }
        match places.get(name).map(|&at| &found[at]) {
            Some(known) if known.role != role => Err(Fault::new(
                span,
                format!(
                    "`{name}` is used as {} here and as {} elsewhere; a column is one or the other",
                    words(role),
                    words(known.role)
                ),
            )),
            Some(_) => Ok(()),
            None => {
                let (name, in_vector) = (name.to_owned(), false);
                places.insert(name.clone(), found.len());
                found.push(ColumnUse {
                    name,
                    role,
                    span,
                    in_vector,
                });
                Ok(())
            }
        }
    };
    for declaration in &tree.declarations {
        for index in &declaration.index {
            use_of(&index.text, index.span, Role::Group)?;
        }
    }
    let mut expressions: Vec<&Expr> = Vec::new();
    let mut categories: Vec<Span> = Vec::new();
    for declaration in &tree.declarations {
        expressions.extend(declaration.bounds.iter().flat_map(|(a, b)| [a, b]));
        expressions.extend(declaration.law.iter().flat_map(|law| &law.arguments));
    }
    expressions.extend(tree.definitions.iter().map(|it| &it.value));
    for line in tree.rows.iter().chain(&tree.target) {
        match line {
            Statement::Definition(definition) => expressions.push(&definition.value),
            Statement::Relation(left, law) => {
                expressions.push(left);
                expressions.extend(&law.arguments);
                if is_of_categories(&law.name.text) {
                    categories.push(left.span);
                }
            }
            Statement::Term(term) => expressions.push(term),
        }
    }
    expressions.extend(tree.report.iter().map(|it| &it.value));
    for expression in expressions {
        // Names in the places of groups, by their place; all others are numbers.
        let mut groups: Vec<Span> = Vec::new();
        let mut names: Vec<(&str, Span)> = Vec::new();
        expression.walk(&mut |it| match &it.kind {
            ExprKind::Index(_, items) => groups.extend(items.iter().map(|item| item.span)),
            ExprKind::Binary(Binary::Equal, a, b) => {
                for (one, other) in [(a, b), (b, a)] {
                    if matches!(other.kind, ExprKind::Text(_)) {
                        groups.push(one.span);
                    }
                }
            }
            ExprKind::Name(name) => names.push((name, it.span)),
            ExprKind::Call(name, arguments) => {
                if let (Some(outcome), Some(law)) = (arguments.first(), stem(&name.text))
                    && is_of_categories(law)
                {
                    categories.push(outcome.span);
                }
            }
            _ => {}
        });
        for (name, span) in names {
            let role = if groups.contains(&span) {
                Role::Group
            } else if categories.contains(&span) {
                Role::Category
            } else {
                Role::Number
            };
            use_of(name, span, role)?;
        }
    }
    Ok(found)
}

fn words(role: Role) -> &'static str {
    match role {
        Role::Number => "a number",
        Role::Group => "categories",
        Role::Category => "an outcome's categories",
    }
}

/// A column of categories.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub name: String,
    pub levels: Vec<String>,
    /// Position in `levels` per row.
    pub codes: Vec<u32>,
}

/// The columns that a program uses, N rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    pub numbers: Vec<(String, Vec<f64>)>,
    pub groups: Vec<Group>,
    /// Places in `numbers` of the columns of each vector.
    pub vectors: Vec<Vec<usize>>,
    pub num_rows: usize,
}

impl Columns {
    /// The columns of a design that are used.
    pub fn of(
        uses: &[ColumnUse],
        columns: &[(String, Predictor)],
        num_rows: usize,
        declared: &[&str],
    ) -> Result<Self, Fault> {
        let mut made = Self {
            num_rows,
            ..Self::default()
        };
        let known: HashMap<&str, &Predictor> = (columns.iter())
            .map(|(name, values)| (name.as_str(), values))
            .collect();
        for wanted in uses {
            let name = &wanted.name;
            match (wanted.role, known.get(name.as_str())) {
                (Role::Number | Role::Category, Some(Predictor::Numeric(values))) => {
                    made.numbers.push((name.clone(), values.clone()));
                }
                (
                    Role::Group | Role::Category,
                    Some(Predictor::Categorical { levels, codes, .. }),
                ) => {
                    made.groups.push(Group {
                        name: name.clone(),
                        levels: levels.clone(),
                        codes: codes.clone(),
                    });
                }
                (_, None) => {
                    let known = columns.iter().map(|(column, _)| column.as_str());
                    return Err(unknown(wanted, known.chain(declared.iter().copied())));
                }
                (Role::Number, Some(_)) => return Err(no_number(wanted)),
                (Role::Group | Role::Category, Some(_)) => {
                    let message = format!("`{name}` has numbers, but categories are needed here");
                    return Err(Fault::new(wanted.span, message));
                }
            }
        }
        Ok(made)
    }

    /// The columns of `table` that are used, without their rows: categories are those of rows that miss no value in any of them, which
    /// are the rows that a design has.
    pub fn without_rows(uses: &[ColumnUse], table: &dyn Table) -> Self {
        let places = uses.iter().filter_map(|wanted| {
            let place = table.position(&wanted.name)?;
            Some((wanted, place))
        });
        let mut is_complete = vec![true; table.num_rows()];
        for (_, place) in places.clone() {
            if table.columns()[place].num_missing == 0 {
                continue;
            }
            if let Some(numbers) = table.numbers(place) {
                let rows = is_complete.iter_mut().zip(numbers);
                rows.for_each(|(is, number)| *is &= !number.is_nan());
            } else if let Some(texts) = table.texts(place) {
                let rows = is_complete.iter_mut().zip(texts);
                rows.for_each(|(is, text)| *is &= text.is_some());
            }
        }
        let mut made = Self::default();
        for (wanted, place) in places {
            let name = wanted.name.clone();
            if wanted.role == Role::Number {
                made.numbers.push((name, Vec::new()));
                continue;
            }
            let labels = table.labels(place);
            let mut is_seen = vec![false; labels.levels.len()];
            for (&code, _) in labels.codes.iter().zip(&is_complete).filter(|it| *it.1) {
                if let Some(is_seen) = is_seen.get_mut(code as usize) {
                    *is_seen = true;
                }
            }
            let levels = labels.levels.into_iter().zip(is_seen);
            made.groups.push(Group {
                name,
                levels: levels.filter(|it| it.1).map(|(level, _)| level).collect(),
                codes: Vec::new(),
            });
        }
        made
    }

    /// With the places of the columns of `vectors`, all of which are there.
    pub fn with_vectors(mut self, vectors: &[VectorColumns]) -> Self {
        let numbers = self.numbers.iter().enumerate();
        let places: HashMap<&str, usize> =
            numbers.map(|(at, (name, _))| (name.as_str(), at)).collect();
        let place = |(name, _): &(String, Span)| places.get(name.as_str()).copied();
        self.vectors = (vectors.iter())
            .map(|vector| vector.columns.iter().filter_map(place).collect())
            .collect();
        self
    }
}

/// The columns of one table that texts read, without rows, kept from one check to the next: see [`crate::Program::check`].
#[derive(Debug, Default)]
pub struct KnownColumns {
    read: Vec<(String, Role)>,
    columns: Columns,
}

impl KnownColumns {
    /// The columns of `table` that are used; it is always the same table.
    pub(crate) fn of(&mut self, uses: &[ColumnUse], table: &dyn Table) -> Columns {
        let read = uses.iter().map(|it| (it.name.clone(), it.role));
        let read: Vec<(String, Role)> = read.collect();
        if read != self.read {
            self.columns = Columns::without_rows(uses, table);
            self.read = read;
        }
        self.columns.clone()
    }
}

/// The refusal of a name that nothing has.
pub(crate) fn unknown<'a>(wanted: &ColumnUse, known: impl Iterator<Item = &'a str>) -> Fault {
    let name = &wanted.name;
    let message = format!(
        "There is no parameter, definition or column `{name}`{}",
        hint(name, known)
    );
    Fault::new(wanted.span, message)
}

/// The refusal of a column of text where a number is needed.
pub(crate) fn no_number(wanted: &ColumnUse) -> Fault {
    let name = &wanted.name;
    if wanted.in_vector {
        let message = format!(
            "`{name}` holds text, but the columns of a vector are numbers; choose columns without it"
        );
        return Fault::new(wanted.span, message);
    }
    let message = format!(
        "`{name}` holds text, but a number is needed here; compare it, as in ({name} == \"yes\"), which is 1 or 0"
    );
    Fault::new(wanted.span, message)
}

/// Values of numbers that columns alone say, each computed once; columns themselves are not copied.
#[derive(Default)]
pub(crate) struct Evaluated(HashMap<Id, Vec<f64>>);

impl Evaluated {
    /// The values of `id`, N long; `None` if it depends on parameters.
    pub fn of<'a>(&'a mut self, graph: &Graph, columns: &'a Columns, id: Id) -> Option<&'a [f64]> {
        if graph.depends(id).parameters {
            return None;
        }
        // A function of a long vector is as deep as that is long, so nothing is made by recursion: what it is made of has smaller
        // ids and is made before.
        let (mut open, mut wanted) = (vec![id], BTreeSet::new());
        while let Some(at) = open.pop() {
            if self.known(graph, columns, at).is_none() && wanted.insert(at) {
                open.extend(graph.children(at));
            }
        }
        for at in wanted {
            let values = self.make(graph, columns, at)?;
            self.0.insert(at, values);
        }
        self.known(graph, columns, id)
    }

    fn known<'a>(&'a self, graph: &Graph, columns: &'a Columns, id: Id) -> Option<&'a [f64]> {
        match graph.node(id) {
            Node::Column(column) => Some(columns.numbers[*column].1.as_slice()),
            _ => self.0.get(&id).map(Vec::as_slice),
        }
    }

    /// The values of `id`, those of its parts being known.
    fn make(&self, graph: &Graph, columns: &Columns, id: Id) -> Option<Vec<f64>> {
        let of = |id: Id| self.known(graph, columns, id);
        Some(match *graph.node(id) {
            Node::Constant(bits) => vec![f64::from_bits(bits); columns.num_rows],
            Node::LevelIs { column, code } => {
                let codes = columns.groups[column].codes.iter();
                codes.map(|&it| f64::from(u8::from(it == code))).collect()
            }
            Node::Call(function, a) => of(a)?.iter().map(|&x| function.at(x)[0]).collect(),
            Node::Binary(operation, a, b) => {
                let both = of(a)?.iter().zip(of(b)?);
                both.map(|(&a, &b)| operation.of(a, b)).collect()
            }
            Node::Select(condition, a, b) => {
                let either = of(condition)?.iter().zip(of(a)?).zip(of(b)?);
                either
                    .map(|((&is, &a), &b)| if is == 0.0 { b } else { a })
                    .collect()
            }
            Node::Column(_) | Node::Parameter(_) | Node::Gather { .. } | Node::Element { .. } => {
                return None;
            }
        })
    }
}
