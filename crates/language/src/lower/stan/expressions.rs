//! Expressions at a position.

use super::code::{At, Bind, Code, fixed, index, number};
use super::{Writer, num_written_out};
use crate::distributions;
use crate::functions::Function;
use crate::lower::products::{MATMUL, has_product};
use crate::lower::{Entity, Pick, Section, tails};
use crate::place::{Fault, Span};
use crate::syntax::{Binary, Expr, ExprKind, Law, Name};

impl Writer<'_, '_> {
    /// All elements of a vector or matrix of these sizes, in rows.
    pub(super) fn elements(&mut self, e: &Expr, sizes: &[usize]) -> Result<Vec<Code>, Fault> {
        (0..num_written_out(sizes, e.span)?)
            .map(|at| self.code(e, &fixed(at, sizes)))
            .collect()
    }

    /// The elements of a vector as text, between commas.
    pub(super) fn written_out(&mut self, e: &Expr, sizes: &[usize]) -> Result<String, Fault> {
        let all: Vec<String> = (self.elements(e, sizes)?.into_iter())
            .map(|it| it.text)
            .collect();
        Ok(all.join(", "))
    }

    /// A part of something computed element by element.
    pub(super) fn part(&mut self, e: &Expr, at: &[At]) -> Result<Code, Fault> {
        if at.is_empty() || !self.low.shape(e)?.is_empty() {
            self.code(e, at)
        } else {
            self.code(e, &[])
        }
    }

    /// An expression at a position.
    pub(super) fn code(&mut self, e: &Expr, at: &[At]) -> Result<Code, Fault> {
        match &e.kind {
            ExprKind::Number(value) => Ok(Code::atom(number(*value))),
            ExprKind::Text(_) => Err(Fault::new(e.span, "A text stands where a number is needed")),
            ExprKind::Name(name) => self.named(name, e.span, at),
            ExprKind::List(items) => match at.split_first() {
                Some((At::Fixed(k), rest)) if (1..=items.len()).contains(k) => {
                    self.code(&items[k - 1], rest)
                }
                _ => Err(Fault::new(
                    e.span,
                    "A list stands where Stan needs a number",
                )),
            },
            ExprKind::Index(base, items) => {
                let mut all = Vec::new();
                for pick in self.low.picks(base, items)? {
                    all.push(match pick {
                        Pick::At(at) => At::Fixed(at + 1),
                        Pick::Code(column) => {
                            self.note(Entity::Group(column));
                            let name = self.low.columns.groups[column].name.clone();
                            At::Code(format!("{}[n]", self.name(&name)))
                        }
                    });
                }
                all.extend(at.iter().cloned());
                self.code(base, &all)
            }
            ExprKind::Negate(inner) => Ok(Code {
                text: format!("-{}", self.part(inner, at)?.within(Bind::Sign)),
                bind: Bind::Sign,
            }),
            ExprKind::Not(inner) => Ok(Code {
                text: format!("1 - {}", self.part(inner, at)?.within(Bind::Product)),
                bind: Bind::Sum,
            }),
            ExprKind::Binary(operation, a, b) => self.both(*operation, (a, b), at),
            ExprKind::Call(name, arguments) => self.call(name, arguments, e.span, at),
        }
    }

    fn named(&mut self, name: &str, span: Span, at: &[At]) -> Result<Code, Fault> {
        match self.low.entity(name, span)? {
            Entity::Constant(value) if value.is_infinite() => Ok(Code::atom("positive_infinity()")),
            Entity::Constant(_) => Ok(Code::atom("pi()")),
            Entity::Number(column) => {
                self.note(Entity::Number(column));
                let text = format!("{}[n]", self.name(name));
                // Whole numbers divide as whole numbers in Stan.
                Ok(match self.whole.contains_key(&column) {
                    true => Code {
                        text: format!("1.0 * {text}"),
                        bind: Bind::Product,
                    },
                    false => Code::atom(text),
                })
            }
            Entity::Vector(which) => {
                self.note(Entity::Vector(which));
                let text = self.element_of(name, at);
                Ok(match self.whole_vectors.contains_key(&which) {
                    true => Code {
                        text: format!("1.0 * {text}"),
                        bind: Bind::Product,
                    },
                    false => Code::atom(text),
                })
            }
            Entity::Group(_) => Err(Fault::new(
                span,
                "Categories stand where a number is needed",
            )),
            Entity::Parameter(_) => Ok(Code::atom(format!("{}{}", self.name(name), index(at)))),
            Entity::Definition(which) => {
                if at.is_empty() || self.is_variable(which) {
                    return Ok(Code::atom(format!("{}{}", self.name(name), index(at))));
                }
                let value = self.low.defined[which].definition.value.clone();
                self.part(&value, at)
            }
        }
    }

    /// Whether a definition that is a vector is a variable of the code, not written out where it is used: those of parameters, and those
    /// with products of matrices, which would become too long.
    pub(super) fn is_variable(&self, which: usize) -> bool {
        let defined = &self.low.defined[which];
        matches!(defined.section, Section::Parameters | Section::Report)
            || has_product(&defined.definition.value)
    }

    /// An element of a product of matrices: of vectors where Stan has both as such, otherwise written out.
    fn product(&mut self, arguments: &[Expr], span: Span, at: &[At]) -> Result<Code, Fault> {
        let [(a, of_a), (b, of_b)] = self.low.factors(arguments, span)?;
        let (row, column) = at.split_at((of_a.len() - 1).min(at.len()));
        if let ([row], []) = (row, column)
            && let Some(of_row) = self.row(a, row)?
            && let Some(vector) = self.vector(b)?
        {
            return Ok(Code::atom(format!("dot_product({of_row}, {vector})")));
        }
        let mut products = Vec::new();
        for k in 1..=num_written_out(&[of_b[0]], span)? {
            let inner = [At::Fixed(k)];
            let a = self.code(a, &[row, &inner[..]].concat())?;
            let b = self.code(b, &[&inner[..], column].concat())?;
            products.push(format!(
                "{} * {}",
                a.within(Bind::Product),
                b.within(Bind::Sign)
            ));
        }
        Ok(Code {
            text: products.join(" + "),
            bind: Bind::Sum,
        })
    }

    /// A row of a matrix that Stan has as a vector: of a parameter, or of a definition that is a variable.
    fn row(&mut self, e: &Expr, row: &At) -> Result<Option<String>, Fault> {
        let ExprKind::Name(name) = &e.kind else {
            return Ok(None);
        };
        let is_one = match self.low.entity(name, e.span)? {
            Entity::Parameter(_) => true,
            Entity::Definition(which) => self.is_variable(which),
            _ => false,
        };
        let at = std::slice::from_ref(row);
        Ok(is_one.then(|| format!("{}{}", self.name(name), index(at))))
    }

    /// An element of a vector of columns in a row.
    pub(super) fn element_of(&self, name: &str, at: &[At]) -> String {
        let all: Vec<String> = (std::iter::once("n".to_owned()))
            .chain(at.iter().map(At::text))
            .collect();
        format!("{}[{}]", self.name(name), all.join(", "))
    }

    /// A vector that Stan has as one: columns, a parameter, or a definition of parameters.
    pub(super) fn vector(&mut self, e: &Expr) -> Result<Option<String>, Fault> {
        let name = match &e.kind {
            ExprKind::Name(name) => name,
            ExprKind::Index(base, _) => match &base.kind {
                ExprKind::Name(name) => name,
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        let is_one = match self.low.entity(name, e.span)? {
            Entity::Vector(at) => !self.whole_vectors.contains_key(&at),
            Entity::Parameter(_) => true,
            Entity::Definition(at) => self.is_variable(at),
            _ => false,
        };
        if !is_one || self.low.shape(e)?.len() != 1 {
            return Ok(None);
        }
        self.code(e, &[]).map(|code| Some(code.text))
    }

    /// The vectors as Stan has them, if one of them at least is made of columns.
    fn vectors(&mut self, parts: &[Expr]) -> Result<Option<Vec<String>>, Fault> {
        let is_of_columns = |e: &Expr| match &e.kind {
            ExprKind::Name(name) => {
                matches!(self.low.entities.get(name), Some(Entity::Vector(_)))
            }
            _ => false,
        };
        if !parts.iter().any(is_of_columns) {
            return Ok(None);
        }
        parts.iter().map(|part| self.vector(part)).collect()
    }

    /// The code of a condition as Stan's truth, where `e` is one.
    fn condition(&mut self, e: &Expr, at: &[At]) -> Result<Option<String>, Fault> {
        let ExprKind::Binary(operation, a, b) = &e.kind else {
            return Ok(None);
        };
        let sign = match operation {
            Binary::Less => "<",
            Binary::LessEqual => "<=",
            Binary::Equal => "==",
            _ => return Ok(None),
        };
        for (column, text) in [(a, b), (b, a)] {
            if let (ExprKind::Name(name), ExprKind::Text(level)) = (&column.kind, &text.kind)
                && let Entity::Group(which) = self.low.entity(name, column.span)?
            {
                self.note(Entity::Group(which));
                let levels = &self.low.columns.groups[which].levels;
                let code = levels
                    .iter()
                    .position(|it| it == level)
                    .map_or(0, |k| k + 1);
                return Ok(Some(format!("{}[n] == {code}", self.name(name))));
            }
        }
        let (a, b) = (
            self.part(a, at)?.within(Bind::Sum),
            self.part(b, at)?.within(Bind::Sum),
        );
        Ok(Some(format!("{a} {sign} {b}")))
    }

    fn both(
        &mut self,
        operation: Binary,
        (a, b): (&Expr, &Expr),
        at: &[At],
    ) -> Result<Code, Fault> {
        if matches!(operation, Binary::Less | Binary::LessEqual | Binary::Equal) {
            let whole = Expr {
                kind: ExprKind::Binary(operation, Box::new(a.clone()), Box::new(b.clone())),
                span: a.span.to(b.span),
            };
            let condition = self.condition(&whole, at)?.unwrap_or_default();
            return Ok(Code {
                text: format!("1.0 * ({condition})"),
                bind: Bind::Product,
            });
        }
        let (a, b) = (self.part(a, at)?, self.part(b, at)?);
        let (sign, bind, right) = match operation {
            Binary::Add => (" + ", Bind::Sum, Bind::Sum),
            Binary::Sub => (" - ", Bind::Sum, Bind::Product),
            Binary::Mul => (" * ", Bind::Product, Bind::Product),
            Binary::Div => (" / ", Bind::Product, Bind::Sign),
            _ => ("^", Bind::Power, Bind::Atom),
        };
        // A power binds more tightly than the sign before its base, and to the right.
        let left = if bind == Bind::Power {
            Bind::Atom
        } else {
            bind
        };
        Ok(Code {
            text: format!("{}{sign}{}", a.within(left), b.within(right)),
            bind,
        })
    }

    fn call(
        &mut self,
        name: &Name,
        arguments: &[Expr],
        span: Span,
        at: &[At],
    ) -> Result<Code, Fault> {
        if let Some(function) = Function::find(&name.text) {
            let inner = self.part(&arguments[0], at)?.text;
            // Stan's own has no sign between what it is of and nothing.
            if function == Function::LogPhi {
                return Ok(Code::atom(format!("normal_lcdf({inner} | 0, 1)")));
            }
            return Ok(Code::atom(format!("{}({inner})", stan_function(function))));
        }
        let is_vector = arguments.len() == 1;
        match name.text.as_str() {
            "length" => {
                let sizes = self.low.shape(&arguments[0])?;
                let length = sizes.first().copied().unwrap_or_default();
                Ok(Code::atom(number(length as f64)))
            }
            "dot" => {
                if let Some(vectors) = self.vectors(arguments)? {
                    return Ok(Code::atom(format!("dot_product({})", vectors.join(", "))));
                }
                let sizes = self.low.shape(&arguments[0])?;
                let products: Vec<String> = (self.elements(&arguments[0], &sizes)?.into_iter())
                    .zip(self.elements(&arguments[1], &sizes)?)
                    .map(|(a, b)| format!("{} * {}", a.within(Bind::Product), b.within(Bind::Sign)))
                    .collect();
                Ok(Code {
                    text: products.join(" + "),
                    bind: Bind::Sum,
                })
            }
            MATMUL => self.product(arguments, span, at),
            "sum" | "mean" | "log_sum_exp" | "min" | "max" if is_vector => {
                if let Some(vector) = self.vectors(arguments)? {
                    return Ok(Code::atom(format!("{}({})", name.text, vector.join(", "))));
                }
                let sizes = self.low.shape(&arguments[0])?;
                let all = self.written_out(&arguments[0], &sizes)?;
                Ok(Code::atom(format!("{}({{{}}})", name.text, all)))
            }
            "where" => {
                let condition = match self.condition(&arguments[0], at)? {
                    Some(condition) => condition,
                    None => format!("{} != 0", self.part(&arguments[0], at)?.within(Bind::Sum)),
                };
                let a = self.part(&arguments[1], at)?.text;
                let b = self.part(&arguments[2], at)?.text;
                Ok(Code::atom(format!("({condition} ? {a} : {b})")))
            }
            tail if tails::find(tail).is_some() => {
                let all = (arguments.iter().map(|it| Ok(self.part(it, at)?.text)))
                    .collect::<Result<Vec<String>, Fault>>()?;
                Ok(Code::atom(format!(
                    "{tail}({} | {})",
                    all[0],
                    all[1..].join(", ")
                )))
            }
            "min" | "max" | "log_sum_exp" | "log_mix" | "logit" | "log_diff_exp" => {
                let mut all = Vec::new();
                for argument in arguments {
                    all.push(self.part(argument, at)?.text);
                }
                Ok(Code::atom(match name.text.as_str() {
                    "log_mix" | "logit" | "log_diff_exp" => {
                        format!("{}({})", name.text, all.join(", "))
                    }
                    other => format!("{other}({{{}}})", all.join(", ")),
                }))
            }
            other => {
                let stem = distributions::stem(other);
                let Some((stem, (y, rest))) = stem.zip(arguments.split_first()) else {
                    let message = format!("Stan has no function `{other}`");
                    return Err(Fault::new(span, message));
                };
                let law = Law {
                    name: Name {
                        text: stem.to_owned(),
                        span: name.span,
                    },
                    arguments: rest.to_vec(),
                    span,
                };
                let text = match distributions::find(stem).map(|it| it.support) {
                    Some(support) if support.is_discrete() => self.whole_number(y, support, at)?,
                    _ => self.part(y, at)?.text,
                };
                Ok(Code::atom(self.possible_density(&law, (y, &text), at)?))
            }
        }
    }
}

fn stan_function(function: Function) -> &'static str {
    match function {
        Function::Exp => "exp",
        Function::Log => "log",
        Function::Log1p => "log1p",
        Function::Expm1 => "expm1",
        Function::Sqrt => "sqrt",
        Function::Square => "square",
        Function::Abs => "abs",
        Function::Logistic => "inv_logit",
        Function::Softplus => "log1p_exp",
        Function::Sin => "sin",
        Function::Cos => "cos",
        Function::Tanh => "tanh",
        Function::Atan => "atan",
        Function::Lgamma => "lgamma",
        Function::Floor => "floor",
        Function::Erf => "erf",
        Function::Erfc => "erfc",
        Function::Phi => "Phi",
        Function::LogPhi => "std_normal_lcdf",
        Function::Log1mExp => "log1m_exp",
    }
}
