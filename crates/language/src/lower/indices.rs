//! Indices: by a column of categories, by a name, or by a whole number.
//!
//! A position of a dimension that a column, or a vector of columns, makes has a name, under which its element is reported: `b["north"]` is
//! the reported b[north]. `b[2]` is the second, unless names are numbers that say otherwise: of the categories 0, 1 and 2 a 1 could be the
//! first or the second.

use super::declarations::Dimension;
use super::products::MATMUL;
use super::{Entity, Lowering, Pick, Picks, Section};
use crate::distributions;
use crate::place::{Fault, Span, hint};
use crate::syntax::{Expr, ExprKind};

/// The dimension of a parameter that says how the positions of a dimension are named; none where they are numbered.
type Axis = Option<(usize, usize)>;

impl Lowering<'_> {
    /// The positions that `items` say in the first dimensions of `base`.
    pub(super) fn picks(&mut self, base: &Expr, items: &[Expr]) -> Result<Vec<Pick>, Fault> {
        let sizes = self.shape(base)?;
        if items.len() > sizes.len() {
            return Err(Fault::new(
                base.span,
                "This has fewer indices than are given",
            ));
        }
        let mut picks = Vec::new();
        for (at, (item, &size)) in items.iter().zip(&sizes).enumerate() {
            picks.push(match self.category(item, size)? {
                Some(pick) => pick,
                None => {
                    let axes = self.axes(base)?;
                    let axis = axes.get(at).copied().flatten();
                    self.known_position(item, axis, size)?
                }
            });
        }
        Ok(picks)
    }

    /// The position that the category of a row is, where `item` is a column.
    fn category(&self, item: &Expr, size: usize) -> Result<Option<Pick>, Fault> {
        let ExprKind::Name(name) = &item.kind else {
            return Ok(None);
        };
        let Entity::Group(column) = self.entity(name, item.span)? else {
            return Ok(None);
        };
        if self.section != Section::Rows {
            let message =
                format!("`{name}` is a column, which has values in the section `rows` alone");
            return Err(Fault::new(item.span, message));
        }
        let levels = self.columns.groups[column].levels.len();
        if levels != size {
            let message = format!(
                "`{name}` has {levels} categories, but what it indexes has {size} elements"
            );
            return Err(Fault::new(item.span, message));
        }
        Ok(Some(Pick::Code(column)))
    }

    /// The position with a name, or a number.
    fn known_position(&mut self, item: &Expr, axis: Axis, size: usize) -> Result<Pick, Fault> {
        if let ExprKind::Text(text) = &item.kind {
            let Some((column, labels)) = self.labels(axis) else {
                let message = "This has no names for its positions; its index is a whole number";
                return Err(Fault::new(item.span, message));
            };
            let found = labels.iter().position(|label| label == text);
            return found.map(Pick::At).ok_or_else(|| {
                let known = labels.iter().map(String::as_str);
                let message = format!("`{column}` has no \"{text}\"{}", hint(text, known));
                Fault::new(item.span, message)
            });
        }
        let id = self.number(item, &Picks::none())?;
        let Some(number) = self.graph.as_constant(id) else {
            return Err(Fault::new(
                item.span,
                "An index is a column of categories, a name such as \"north\" or a whole number",
            ));
        };
        self.check_number(number, axis, item.span)?;
        if number.fract() == 0.0 && number >= 1.0 && number <= size as f64 {
            return Ok(Pick::At(number as usize - 1));
        }
        let message = format!("The index {number} is not one of 1 to {size}");
        Err(Fault::new(item.span, message))
    }

    /// Refuses a number where names are numbers too and it is the name of another position, or another name that of its own.
    fn check_number(&self, number: f64, axis: Axis, span: Span) -> Result<(), Fault> {
        let Some((column, labels)) = self.labels(axis) else {
            return Ok(());
        };
        let is_number = |label: &String| label.parse() == Ok(number);
        let place = (labels.iter().enumerate())
            .find(|(at, _)| (*at + 1) as f64 == number)
            .map(|(_, label)| label);
        let named = labels.iter().find(|label| is_number(label));
        let is_whole = |label: &String| label.parse::<i64>().is_ok();
        let message = match (place, named) {
            (Some(place), Some(named)) if place != named => format!(
                "{number} could be the position of \"{place}\" or the `{column}` named so; write [\"{place}\"] or [\"{named}\"]"
            ),
            (Some(place), None) if is_whole(place) => format!(
                "{number} is the position of \"{place}\", and there is no `{column}` named so; write [\"{place}\"] if it is meant"
            ),
            (None, Some(named)) => format!(
                "{number} is no position, of which there are {}, but the name of a `{column}`; write [\"{named}\"]",
                labels.len()
            ),
            _ => return Ok(()),
        };
        Err(Fault::new(span, message))
    }

    /// The column, or vector of columns, that names the positions of a dimension, and their names.
    fn labels(&self, axis: Axis) -> Option<(&str, &[String])> {
        let (parameter, dimension) = axis?;
        let dimension = &self.parameters[parameter].dimensions[dimension];
        Some((dimension.column.as_deref()?, &dimension.labels))
    }

    /// "; write `b[g]` …" where `e` is a parameter with an element for each category of a column.
    pub(super) fn of_the_row(&mut self, e: &Expr) -> Result<String, Fault> {
        let ExprKind::Name(name) = &e.kind else {
            return Ok(String::new());
        };
        let column = match self.axes(e)?.as_slice() {
            [axis @ Some(_)] => self.labels(*axis).map(|(column, _)| column),
            _ => None,
        };
        let column = column.filter(|it| matches!(self.entities.get(*it), Some(Entity::Group(_))));
        Ok(match column {
            Some(column) if self.section == Section::Rows => {
                format!("; write `{name}[{column}]` for that of the row")
            }
            _ => String::new(),
        })
    }

    /// What names the positions in each dimension of `e`, whose shape is known to be right.
    fn axes(&mut self, e: &Expr) -> Result<Vec<Axis>, Fault> {
        self.count_step(e.span)?;
        Ok(match &e.kind {
            ExprKind::Name(name) => match self.entity(name, e.span)? {
                Entity::Parameter(at) => {
                    let dimensions = self.parameters[at].dimensions.iter().enumerate();
                    let axis = |(k, it): (usize, &Dimension)| it.column.as_ref().map(|_| (at, k));
                    dimensions.map(axis).collect()
                }
                Entity::Definition(at) if self.defined[at].number.is_none() => {
                    self.within(at, e.span, |it, value| it.axes(value))?
                }
                Entity::Vector(_) => vec![None],
                _ => Vec::new(),
            },
            ExprKind::Number(_) | ExprKind::Text(_) => Vec::new(),
            ExprKind::List(items) => {
                let mut axes = vec![None];
                axes.extend(self.axes(&items[0])?);
                axes
            }
            ExprKind::Index(base, items) => {
                let axes = self.axes(base)?;
                axes.into_iter().skip(items.len()).collect()
            }
            ExprKind::Negate(inner) | ExprKind::Not(inner) => self.axes(inner)?,
            ExprKind::Binary(_, a, b) => self.common_axes([&**a, &**b])?,
            ExprKind::Call(name, arguments) => match name.text.as_str() {
                "sum" | "mean" | "dot" | "length" | MATMUL => Vec::new(),
                "log_sum_exp" | "min" | "max" if arguments.len() == 1 => Vec::new(),
                density if distributions::is_of_levels(density) => Vec::new(),
                _ => self.common_axes(arguments)?,
            },
        })
    }

    /// What names the positions of what is computed element by element: the first part that has names does.
    fn common_axes<'e>(
        &mut self,
        parts: impl IntoIterator<Item = &'e Expr>,
    ) -> Result<Vec<Axis>, Fault> {
        let mut common: Vec<Axis> = Vec::new();
        for part in parts {
            let axes = self.axes(part)?;
            common.resize(common.len().max(axes.len()), None);
            for (axis, own) in common.iter_mut().zip(axes) {
                *axis = axis.or(own);
            }
        }
        Ok(common)
    }
}
