//! What the rows explain: the outcome of a line `outcome ~ distribution(…)`, and what is expected of it.

use super::{Entity, Lowering, Section};
use crate::distributions::{Distribution, Support};
use crate::functions::Function;
use crate::graph::{Id, Node};
use crate::place::{Fault, Span};
use crate::syntax::{Binary, Expr, ExprKind, Statement, Tree};
use ergodic_core::formula::Elementwise;

/// What stands left of a `~` in the rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Left {
    /// A column of numbers.
    Column(String),
    /// Whether a column of categories has this one.
    Level(String, usize),
    /// A column of categories, one of which each row has.
    Categories(String),
    /// A function of a column of numbers, whose place among these is known and to which all outcomes can be taken back.
    Function(Elementwise, String, usize),
    /// Anything else.
    Other,
}

/// A line `outcome ~ distribution(…)` of the rows, or one of its elements.
#[derive(Clone, Debug)]
pub(crate) struct RowLaw {
    pub distribution: &'static Distribution,
    pub y: Id,
    /// The parameters; of levels the linear predictor and the thresholds.
    pub numbers: Vec<Id>,
    pub left: Left,
    /// What stands left of the `~`.
    pub span: Span,
}

/// The prior of some elements of a parameter.
#[derive(Clone, Debug)]
pub(crate) struct PriorLaw {
    pub distribution: &'static Distribution,
    /// Place of the first element, and how many there are.
    pub first: usize,
    pub count: usize,
    /// Parameters of the distribution at the element whose turn it is; of shares of a whole one each.
    pub numbers: Vec<Id>,
}

/// What the rows say of an outcome.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    pub laws: Vec<RowLaw>,
    /// Whether the log density of a row has summands besides.
    pub has_terms: bool,
    /// The expected outcome of the only law, of successes their share, of a function of a column its median; none where there are
    /// several laws, or no mean.
    pub mean: Option<Id>,
}

impl Lowering<'_> {
    /// Notes a law of the rows; others are none of an outcome.
    pub(super) fn note_law(
        &mut self,
        distribution: &'static Distribution,
        outcome: &Expr,
        y: Id,
        numbers: Vec<Id>,
    ) {
        if self.section == Section::Rows {
            let left = match self.left(outcome) {
                Left::Function(function, ..) if !is_taken_back(function, distribution) => {
                    Left::Other
                }
                left => left,
            };
            self.laws.push(RowLaw {
                distribution,
                y,
                numbers,
                left,
                span: outcome.span,
            });
        }
    }

    /// Notes the prior of `count` elements from `y` on; what has another place is no parameter.
    pub(super) fn note_prior(
        &mut self,
        distribution: &'static Distribution,
        (y, count): (Id, usize),
        numbers: Vec<Id>,
    ) {
        let first = match *self.graph.node(y) {
            Node::Parameter(at) => at,
            Node::Element { offset } => offset,
            _ => return,
        };
        if self.section == Section::Parameters {
            self.priors.push(PriorLaw {
                distribution,
                first,
                count,
                numbers,
            });
        }
    }

    fn left(&self, outcome: &Expr) -> Left {
        let entity = |e: &Expr| match &e.kind {
            ExprKind::Name(name) => Some((name.clone(), *self.entities.get(name)?)),
            _ => None,
        };
        match &outcome.kind {
            ExprKind::Name(_) => match entity(outcome) {
                Some((name, Entity::Number(_))) => Left::Column(name),
                Some((name, Entity::Group(_))) => Left::Categories(name),
                Some((_, Entity::Definition(at))) => self.left(&self.defined[at].definition.value),
                _ => Left::Other,
            },
            ExprKind::Binary(Binary::Equal, a, b) => match (entity(a), &b.kind, entity(b), &a.kind)
            {
                (Some((_, Entity::Group(at))), ExprKind::Text(text), ..)
                | (_, _, Some((_, Entity::Group(at))), ExprKind::Text(text)) => {
                    let levels = &self.columns.groups[at].levels;
                    match levels.iter().position(|level| level == text) {
                        Some(code) => Left::Level(self.columns.groups[at].name.clone(), code),
                        None => Left::Other,
                    }
                }
                _ => Left::Other,
            },
            ExprKind::Call(name, arguments) => {
                // Those that grow with their argument, so that what is said of them can be taken back.
                let function = match Function::find(&name.text) {
                    Some(Function::Log) => Elementwise::Log,
                    Some(Function::Log1p) => Elementwise::Log1p,
                    Some(Function::Sqrt) => Elementwise::Sqrt,
                    Some(Function::Exp) => Elementwise::Exp,
                    _ => return Left::Other,
                };
                match arguments.first().and_then(entity) {
                    Some((column, Entity::Number(at))) => Left::Function(function, column, at),
                    _ => Left::Other,
                }
            }
            _ => Left::Other,
        }
    }

    /// What the rows of `tree` say of an outcome, once they are read.
    pub(super) fn outcome(&mut self, tree: &Tree) -> Result<Outcome, Fault> {
        let laws = std::mem::take(&mut self.laws);
        let has_terms = tree.rows.iter().any(|line| match line {
            Statement::Term(_) => true,
            // Shares of a whole have no law of one number.
            Statement::Relation(_, law) => self
                .check_law(law)
                .is_ok_and(|it| it.support == Support::Simplex),
            Statement::Definition(_) => false,
        });
        let mean = match laws.as_slice() {
            [law] => self.mean(law)?,
            _ => None,
        };
        Ok(Outcome {
            laws,
            has_terms,
            mean,
        })
    }

    fn mean(&mut self, law: &RowLaw) -> Result<Option<Id>, Fault> {
        self.graph.place = law.span;
        if law.distribution.support == Support::Levels {
            // Of levels from 1 the mean is 1 and the chances of more than each of the others.
            let (z, thresholds) = (law.numbers[0], &law.numbers[1..]);
            let mut sum = self.graph.constant(1.0);
            for &threshold in thresholds {
                let above = self.graph.binary(Binary::Sub, z, threshold);
                let chance = self.graph.call(Function::Logistic, above);
                sum = self.graph.binary(Binary::Add, sum, chance);
            }
            return Ok(Some(sum));
        }
        let tree = match law.left {
            // What is expected is taken back to the column, which medians survive and means do not.
            Left::Function(..) => law.distribution.median_tree(),
            _ => law.distribution.mean_tree(),
        };
        let Some(tree) = tree else {
            return Ok(None);
        };
        let names: Vec<(&str, Id)> = law.distribution.named(&law.numbers).collect();
        self.formula(tree, &names, law.span).map(Some)
    }
}

/// Whether what is expected and drawn of a function of a column is said of the column: by the median, where the distribution has
/// one, and of `exp` only where all outcomes are above 0.
fn is_taken_back(function: Elementwise, distribution: &Distribution) -> bool {
    let has_values = function != Elementwise::Exp || distribution.support == Support::Positive;
    has_values && !distribution.median.is_empty()
}
