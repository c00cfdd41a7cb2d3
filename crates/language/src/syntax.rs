//! The tree of a program.

use crate::place::Span;

/// A name with its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Name {
    pub text: String,
    pub span: Span,
}

/// An operation on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Less,
    LessEqual,
    Equal,
}

/// An expression with its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ExprKind {
    Number(f64),
    Text(String),
    Name(String),
    List(Vec<Expr>),
    Index(Box<Expr>, Vec<Expr>),
    Call(Name, Vec<Expr>),
    Negate(Box<Expr>),
    Not(Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
}

impl Expr {
    /// Calls `visit` for this and everything in it.
    pub fn walk<'a>(&'a self, visit: &mut impl FnMut(&'a Self)) {
        visit(self);
        match &self.kind {
            ExprKind::Number(_) | ExprKind::Text(_) | ExprKind::Name(_) => {}
            ExprKind::List(items) | ExprKind::Call(_, items) => {
                items.iter().for_each(|item| item.walk(visit));
            }
            ExprKind::Index(base, items) => {
                base.walk(visit);
                items.iter().for_each(|item| item.walk(visit));
            }
            ExprKind::Negate(inner) | ExprKind::Not(inner) => inner.walk(visit),
            ExprKind::Binary(_, a, b) => {
                a.walk(visit);
                b.walk(visit);
            }
        }
    }
}

/// A distribution with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Law {
    pub name: Name,
    pub arguments: Vec<Expr>,
    pub span: Span,
}

/// A size in the brackets of a type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Size {
    Number(usize),
    /// A definition that is a constant.
    Defined(Name),
    /// `length(x)`, of a vector of columns.
    Length(Name),
}

/// What a parameter is: `matrix(5, 2) in (0, 1)`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Kind {
    pub name: Name,
    /// What stands in the brackets.
    pub sizes: Vec<(Size, Span)>,
}

/// Columns that a part of a vector chooses.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Chosen {
    /// By their names.
    Named(Vec<String>),
    /// All whose names have these pieces in this order, between stars.
    Like(Vec<String>),
}

/// A part of a vector of columns: a column, a range or a pattern.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    pub columns: Chosen,
    pub span: Span,
}

/// A line of `data`, a vector of columns: `name: vector = [part, …]`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Vector {
    pub name: Name,
    pub parts: Vec<Part>,
}

/// `name[index]: kind in (lower, upper) ~ law`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Declaration {
    pub name: Name,
    /// Columns that it is indexed by.
    pub index: Vec<Name>,
    pub kind: Option<Kind>,
    pub bounds: Option<(Expr, Expr)>,
    pub law: Option<Law>,
}

/// `name = value`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Definition {
    pub name: Name,
    pub value: Expr,
}

/// A line of `rows` or `target`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Statement {
    Definition(Definition),
    /// `outcome ~ law`.
    Relation(Expr, Law),
    /// A summand of the log density.
    Term(Expr),
}

/// A program by its sections, lines in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tree {
    /// Vectors of columns.
    pub vectors: Vec<Vector>,
    pub declarations: Vec<Declaration>,
    /// Definitions among the parameters.
    pub definitions: Vec<Definition>,
    pub rows: Vec<Statement>,
    pub target: Vec<Statement>,
    pub report: Vec<Definition>,
}

impl Definition {
    /// Whether it is a name alone in `report`: what is defined elsewhere is reported under its own name.
    pub fn is_shown(&self) -> bool {
        matches!(&self.value.kind, ExprKind::Name(name) if *name == self.name.text)
    }
}

impl Tree {
    /// Names that are declared or defined, in whatever section.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let lines = self.rows.iter().chain(&self.target);
        let defined = lines.filter_map(|line| match line {
            Statement::Definition(definition) => Some(&definition.name),
            _ => None,
        });
        let reported = self.report.iter().filter(|it| !it.is_shown());
        let definitions = self.definitions.iter().chain(reported);
        (self.vectors.iter().map(|it| &it.name))
            .chain(self.declarations.iter().map(|it| &it.name))
            .chain(definitions.map(|it| &it.name))
            .chain(defined)
            .map(|name| name.text.as_str())
    }
}
