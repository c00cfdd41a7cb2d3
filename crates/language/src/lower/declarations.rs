//! What parameters are: their shape, their bounds and their names.

use super::{Entity, Lowering, Picks, Section};
use crate::distributions::{self, Support};
use crate::foreign;
use crate::place::{Fault, Span, hint};
use crate::syntax::{Declaration, Expr, ExprKind, Kind, Name, Size, Tree};
use std::cmp::Ordering;

/// Most elements of all parameters.
const MAX_ELEMENTS: usize = 200_000;

/// Where a parameter lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bounds {
    /// Anywhere.
    Real,
    /// Above a number.
    Above(f64),
    /// Below a number.
    Below(f64),
    /// Between two.
    Between(f64, f64),
    /// Shares of a whole, along the last dimension.
    Simplex,
    /// Each above the one before, along the last dimension.
    Ordered,
}

impl Bounds {
    /// Whether a number may lie there by itself.
    pub fn holds(self, value: f64) -> bool {
        match self {
            Self::Above(lower) => value > lower && value < f64::INFINITY,
            Self::Below(upper) => value < upper && value > f64::NEG_INFINITY,
            Self::Between(lower, upper) => value > lower && value < upper,
            Self::Real | Self::Simplex | Self::Ordered => value.is_finite(),
        }
    }
}

/// One dimension of a parameter.
#[derive(Clone, Debug)]
pub(crate) struct Dimension {
    /// Column, or vector of columns, that it has a position for each category, or column, of; none where it has a number.
    pub column: Option<String>,
    /// Name of each position: a category, a column, or its number from 1.
    pub labels: Vec<String>,
}

/// A declared parameter.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub name: String,
    pub dimensions: Vec<Dimension>,
    pub bounds: Bounds,
    /// First of its elements among those of all parameters.
    pub offset: usize,
}

impl Parameter {
    /// Sizes of its dimensions.
    pub fn sizes(&self) -> Vec<usize> {
        self.dimensions.iter().map(|it| it.labels.len()).collect()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.sizes().iter().product()
    }

    /// Distances of neighbours in each dimension.
    pub fn strides(&self) -> Vec<usize> {
        let sizes = self.sizes();
        let after = |at: usize| sizes[at + 1..].iter().product();
        (0..sizes.len()).map(after).collect()
    }
}

impl Lowering<'_> {
    /// Shapes and bounds of all parameters.
    pub(super) fn declare(&mut self, tree: &Tree) -> Result<(), Fault> {
        let mut offset = 0;
        for declaration in &tree.declarations {
            let dimensions = self.dimensions(declaration)?;
            let bounds = self.bounds(declaration, &dimensions)?;
            let sizes = dimensions.iter().map(|it| it.labels.len());
            let len = sizes.fold(1_usize, usize::saturating_mul);
            if len.saturating_add(offset) > MAX_ELEMENTS {
                let message =
                    format!("The parameters have more than {MAX_ELEMENTS} elements together");
                return Err(Fault::new(declaration.name.span, message));
            }
            self.parameters.push(Parameter {
                name: declaration.name.text.clone(),
                dimensions,
                bounds,
                offset,
            });
            offset += len;
        }
        Ok(())
    }

    fn dimensions(&mut self, declaration: &Declaration) -> Result<Vec<Dimension>, Fault> {
        let mut dimensions = Vec::new();
        for index in &declaration.index {
            let Entity::Group(at) = self.entity(&index.text, index.span)? else {
                let message = format!("`{}` is no column of the data", index.text);
                return Err(Fault::new(index.span, message));
            };
            let group = &self.columns.groups[at];
            dimensions.push(Dimension {
                column: Some(group.name.clone()),
                labels: group.levels.clone(),
            });
        }
        if let Some(kind) = &declaration.kind {
            for (size, span) in kind_sizes(kind)? {
                let size = match size {
                    Size::Number(size) => size,
                    Size::Defined(name) => self.defined_size(&name)?,
                    Size::Length(vector) => {
                        dimensions.push(self.dimension_of(&vector)?);
                        continue;
                    }
                };
                if size > MAX_ELEMENTS {
                    let message = format!("At most {MAX_ELEMENTS} elements can be kept");
                    return Err(Fault::new(span, message));
                }
                let labels = (1..=size).map(|at| at.to_string()).collect();
                dimensions.push(Dimension {
                    column: None,
                    labels,
                });
            }
        }
        if dimensions.len() > 2 {
            let message = "A parameter has at most two dimensions, those of its type and its columns together";
            return Err(Fault::new(declaration.name.span, message));
        }
        Ok(dimensions)
    }

    /// A definition that is a whole number from 1.
    fn defined_size(&mut self, name: &Name) -> Result<usize, Fault> {
        let e = Expr {
            kind: ExprKind::Name(name.text.clone()),
            span: name.span,
        };
        let size = self.constant(&e).ok();
        let is_size = |size: &f64| *size >= 1.0 && size.fract() == 0.0 && *size < 1e9;
        size.filter(is_size).map(|size| size as usize).ok_or_else(|| {
            let message = format!(
                "`{}` is no whole number from 1 that is known, which a size is; define it, as in `{0} = 3`",
                name.text
            );
            Fault::new(name.span, message)
        })
    }

    /// A position for each column of a vector.
    fn dimension_of(&self, vector: &Name) -> Result<Dimension, Fault> {
        let Entity::Vector(at) = self.entity(&vector.text, vector.span)? else {
            let message = format!(
                "`{}` is no vector of the section `data`, whose length could be a size",
                vector.text
            );
            return Err(Fault::new(vector.span, message));
        };
        let columns = self.columns.vectors[at].iter();
        let labels = columns.map(|&column| self.columns.numbers[column].0.clone());
        Ok(Dimension {
            column: Some(vector.text.clone()),
            labels: labels.collect(),
        })
    }

    fn bounds(
        &mut self,
        declaration: &Declaration,
        dimensions: &[Dimension],
    ) -> Result<Bounds, Fault> {
        let word = declaration
            .kind
            .as_ref()
            .map(|kind| kind.name.text.as_str());
        let law = declaration.law.as_ref();
        let support = match law {
            Some(law) => Some(self.check_law(law)?.support),
            None => None,
        };
        let name = &declaration.name;
        if let (Some(law), Some(support)) = (law, support)
            && support.is_discrete()
        {
            let message = format!(
                "`{}` is of {}, but parameters are numbers with a density; sum over its values in `rows` or `target` instead",
                law.name.text,
                support.words()
            );
            return Err(Fault::new(law.name.span, message));
        }
        let is_simplex = word == Some("simplex");
        if is_simplex != (support == Some(Support::Simplex))
            && (law.is_some() || !is_simplex)
            && support.is_some()
        {
            let message = match is_simplex {
                true => format!(
                    "A simplex has a prior such as dirichlet(1); `{}` gives it another",
                    name.text
                ),
                false => format!(
                    "`dirichlet` is of shares of a whole; write `{}: simplex(n) ~ …`",
                    name.text
                ),
            };
            return Err(Fault::new(name.span, message));
        }
        if is_simplex {
            if let Some((lower, _)) = &declaration.bounds {
                return Err(Fault::new(
                    lower.span,
                    "A simplex has its bounds already; leave these out",
                ));
            }
            if dimensions.last().is_none_or(|it| it.labels.len() < 2) {
                return Err(Fault::new(name.span, "A simplex has at least two shares"));
            }
            return Ok(Bounds::Simplex);
        }
        if word == Some("ordered") {
            if let Some((lower, _)) = &declaration.bounds {
                return Err(Fault::new(
                    lower.span,
                    "Ordered numbers bound each other; leave these bounds out",
                ));
            }
            if let (Some(law), Some(support)) = (law, support)
                && support != Support::Real
            {
                let message = format!(
                    "`{}` is of {}, but ordered numbers are anywhere; give them a prior of numbers such as `student_t(3, 0, 2.5)`",
                    law.name.text,
                    support.words()
                );
                return Err(Fault::new(law.name.span, message));
            }
            if dimensions.last().is_none_or(|it| it.labels.is_empty()) {
                return Err(Fault::new(name.span, "At least one number can be ordered"));
            }
            return Ok(Bounds::Ordered);
        }
        let mut limits = match (word, &declaration.bounds) {
            (Some("positive"), Some((lower, _))) => {
                return Err(Fault::new(
                    lower.span,
                    "`positive` has bounds already; write `real` to give others",
                ));
            }
            (Some("positive"), None) => Some((0.0, f64::INFINITY)),
            (_, Some((lower, upper))) => {
                let at = lower.span.to(upper.span);
                let bounds = (self.constant(lower)?, self.constant(upper)?);
                // NaN is below nothing.
                if bounds.0.partial_cmp(&bounds.1) != Some(Ordering::Less) {
                    return Err(Fault::new(at, "The lower bound is not below the upper one"));
                }
                Some(bounds)
            }
            (_, None) => None,
        };
        let natural = match (support, law) {
            (Some(Support::Positive), _) => Some((0.0, f64::INFINITY)),
            (Some(Support::Unit), _) => Some((0.0, 1.0)),
            (Some(Support::Above), Some(law)) => match self.constant(&law.arguments[0]).ok() {
                Some(least) if least > 0.0 => Some((least, f64::INFINITY)),
                // A constant that is none of its limits is refused where the density is read.
                Some(_) => Some((0.0, f64::INFINITY)),
                None if limits.is_some() => limits,
                None => {
                    let message = "A bound that is a parameter needs a fixed one below it: `x in (1, inf) ~ pareto(…)`";
                    return Err(Fault::new(law.span, message));
                }
            },
            (Some(Support::Between), Some(law)) => {
                let known = [&law.arguments[0], &law.arguments[1]].map(|it| self.constant(it).ok());
                match (known, limits) {
                    ([Some(a), Some(b)], _) if a < b => Some((a, b)),
                    ([Some(_), Some(_)], _) => {
                        return Err(Fault::new(
                            law.span,
                            "The lower bound is not below the upper one",
                        ));
                    }
                    (_, Some(limits)) => Some(limits),
                    (_, None) => {
                        let message = "Bounds that are parameters need fixed ones around them: `x in (0, 1) ~ uniform(…)`";
                        return Err(Fault::new(law.span, message));
                    }
                }
            }
            _ => None,
        };
        if let (Some(natural), Some(law)) = (natural, law) {
            match limits {
                Some(given) if given.0 < natural.0 || given.1 > natural.1 => {
                    let message = format!(
                        "`{}` may leave the values of `{}`; leave its bounds out, which then are those of the prior",
                        name.text, law.name.text
                    );
                    return Err(Fault::new(name.span, message));
                }
                Some(_) => {}
                None => limits = Some(natural),
            }
        }
        Ok(match limits.unwrap_or((f64::NEG_INFINITY, f64::INFINITY)) {
            (lower, upper) if lower.is_finite() && upper.is_finite() => {
                Bounds::Between(lower, upper)
            }
            (lower, _) if lower.is_finite() => Bounds::Above(lower),
            (_, upper) if upper.is_finite() => Bounds::Below(upper),
            _ => Bounds::Real,
        })
    }

    /// The first name in `e` that stands for no constant, or definition of constants among the parameters.
    fn unknown_name(&self, e: &Expr, seen: &mut Vec<usize>) -> Option<Span> {
        let (mut definitions, mut unknown) = (Vec::new(), None);
        e.walk(&mut |it| {
            if let ExprKind::Name(name) = &it.kind {
                match self.entities.get(name) {
                    Some(Entity::Constant(_)) => {}
                    Some(Entity::Definition(at)) => definitions.push((*at, it.span)),
                    _ => unknown = unknown.or(Some(it.span)),
                }
            }
        });
        for (at, span) in definitions {
            // One that is defined by itself is found where it is read.
            if !seen.contains(&at) {
                seen.push(at);
                let defined = &self.defined[at];
                let is_known = defined.section == Section::Parameters
                    && self.unknown_name(&defined.definition.value, seen).is_none();
                unknown = unknown.or((!is_known).then_some(span));
            }
        }
        unknown
    }

    fn constant(&mut self, e: &Expr) -> Result<f64, Fault> {
        // Parameters that are not declared yet have no shape: only constants may stand here.
        let id = match self.unknown_name(e, &mut Vec::new()) {
            Some(span) => return Err(Fault::new(span, "A bound is a number that is known")),
            None => self.number(e, &Picks::none())?,
        };
        let value = self.graph.as_constant(id).filter(|value| !value.is_nan());
        value.ok_or_else(|| Fault::new(e.span, "A bound is a number that is known"))
    }

    /// The distribution of a law, with as many parameters as it has.
    pub(super) fn check_law(
        &self,
        law: &crate::syntax::Law,
    ) -> Result<&'static distributions::Distribution, Fault> {
        let name = &law.name.text;
        let Some(distribution) = distributions::find(name) else {
            let known = distributions::DISTRIBUTIONS.iter().map(|it| it.name);
            let advice = foreign::distribution(name).unwrap_or_else(|| hint(name, known));
            let message = format!("There is no distribution `{name}`{advice}");
            return Err(Fault::new(law.name.span, message));
        };
        if law.arguments.len() != distribution.parameters.len() {
            let message = format!(
                "`{name}` takes {} parameter{}, {}, but {} given",
                distribution.parameters.len(),
                if distribution.parameters.len() == 1 {
                    ""
                } else {
                    "s"
                },
                distribution.signature(),
                super::are(law.arguments.len())
            );
            return Err(Fault::new(law.span, message));
        }
        Ok(distribution)
    }
}

/// The sizes that a type says, after a check of how many it takes.
fn kind_sizes(kind: &Kind) -> Result<Vec<(Size, Span)>, Fault> {
    const KINDS: [(&str, usize); 6] = [
        ("real", 0),
        ("positive", 0),
        ("vector", 1),
        ("matrix", 2),
        ("simplex", 1),
        ("ordered", 1),
    ];
    let word = kind.name.text.as_str();
    let Some((_, wanted)) = KINDS.iter().find(|(known, _)| *known == word) else {
        let message = format!(
            "There is no type `{word}`{}",
            hint(word, KINDS.iter().map(|(known, _)| *known))
        );
        return Err(Fault::new(kind.name.span, message));
    };
    if kind.sizes.len() != *wanted {
        let message = format!(
            "`{word}` takes {wanted} size{}, but {} given",
            if *wanted == 1 { "" } else { "s" },
            super::are(kind.sizes.len())
        );
        return Err(Fault::new(kind.name.span, message));
    }
    Ok(kind.sizes.clone())
}
