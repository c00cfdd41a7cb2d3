//! What is known of numbers: priors, outcomes and other summands of the log density.

use std::collections::HashSet;

use super::{ElementSum, Lowering, Pick, Picks, Section, position, shape_words};
use crate::columns::CONSTANTS;
use crate::distributions::{Distribution, Support};
use crate::functions::Function;
use crate::graph::{Id, Node};
use crate::limits::{Limited, Limits, What};
use crate::place::{Fault, Span};
use crate::syntax::{Binary, Declaration, Expr, ExprKind, Law, Statement};

/// Vectors of at most this many elements are written out element by element, longer ones are summed over in blocks.
const MOST_WRITTEN_OUT: usize = 16;

impl Lowering<'_> {
    /// The prior of parameter `at`.
    pub(super) fn prior(
        &mut self,
        at: usize,
        declaration: &Declaration,
        terms: &mut Vec<Id>,
        sums: &mut Vec<ElementSum>,
    ) -> Result<(), Fault> {
        let Some(law) = &declaration.law else {
            return Ok(());
        };
        let (sizes, count) = (self.parameters[at].sizes(), self.parameters[at].len());
        let name = Expr {
            kind: ExprKind::Name(declaration.name.text.clone()),
            span: declaration.name.span,
        };
        let distribution = self.check_law(law)?;
        let known = self.priors.len();
        if count > MOST_WRITTEN_OUT && distribution.tree().is_some() {
            self.check_shapes(law, &sizes)?;
            // Where a vector is spread over groups, the element whose turn it is is not that of both.
            if !self.is_spread(law, &sizes)?
                && let Ok(term) = self.element((&name, count), law, distribution)
            {
                sums.push(ElementSum { count, term });
                return self.check_priors(known, &name, law);
            }
        }
        self.relation(&name, law, terms)?;
        self.check_priors(known, &name, law)
    }

    /// Refuses priors, from the one numbered `from` on, that depend on what they are the prior of.
    fn check_priors(&self, from: usize, name: &Expr, law: &Law) -> Result<(), Fault> {
        for prior in &self.priors[from..] {
            let elements = prior.first..prior.first + prior.count;
            let (mut open, mut seen) = (prior.numbers.clone(), HashSet::new());
            while let Some(id) = open.pop() {
                let is_own = match *self.graph.node(id) {
                    Node::Parameter(at) => elements.contains(&at),
                    Node::Element { offset } => offset == prior.first,
                    _ => false,
                };
                if is_own {
                    let ExprKind::Name(name) = &name.kind else {
                        return Ok(());
                    };
                    let message = format!(
                        "The prior of `{name}` depends on `{name}` itself and so says nothing of it; give it numbers or other parameters"
                    );
                    return Err(Fault::new(law.span, message));
                }
                if seen.insert(id) {
                    open.extend(self.graph.children(id));
                }
            }
        }
        Ok(())
    }

    /// The term of the element whose turn it is.
    fn element(
        &mut self,
        (outcome, count): (&Expr, usize),
        law: &Law,
        distribution: &'static Distribution,
    ) -> Result<Id, Fault> {
        let y = self.number(outcome, &Picks::Element)?;
        let mut numbers = Vec::new();
        for argument in &law.arguments {
            numbers.push(self.part(argument, &Picks::Element)?);
        }
        let term = self.density(distribution, y, &numbers, law.span)?;
        self.note_prior(distribution, (y, count), numbers);
        Ok(term)
    }

    /// A line of `rows` or `target`.
    pub(super) fn statement(&mut self, line: &Statement, terms: &mut Vec<Id>) -> Result<(), Fault> {
        match line {
            Statement::Definition(_) => Ok(()),
            Statement::Relation(outcome, law) => self.relation(outcome, law, terms),
            Statement::Term(term) => {
                let sizes = self.shape(term)?;
                if !sizes.is_empty() {
                    let message = format!(
                        "The log density is a number, but this is {}; take its sum",
                        shape_words(&sizes)
                    );
                    return Err(Fault::new(term.span, message));
                }
                terms.push(self.number(term, &Picks::none())?);
                Ok(())
            }
        }
    }

    /// Whether a parameter of a distribution is a vector along the last dimension of a matrix that has it.
    fn is_spread(&mut self, law: &Law, sizes: &[usize]) -> Result<bool, Fault> {
        for argument in &law.arguments {
            let own = self.shape(argument)?;
            if !own.is_empty() && own.len() < sizes.len() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Parameters of a distribution are numbers, or have the shape of what it is of, or that of its last dimension: one each.
    fn check_shapes(&mut self, law: &Law, sizes: &[usize]) -> Result<(), Fault> {
        for argument in &law.arguments {
            let own = self.shape(argument)?;
            let is_last = own.len() == 1 && own.last() == sizes.last();
            if !own.is_empty() && own != sizes && !is_last {
                let message = format!(
                    "This is {}, but what has the distribution is {}{}",
                    shape_words(&own),
                    shape_words(sizes),
                    self.of_the_row(argument)?
                );
                return Err(Fault::new(argument.span, message));
            }
        }
        Ok(())
    }

    /// `outcome ~ law`, element by element.
    fn relation(&mut self, outcome: &Expr, law: &Law, terms: &mut Vec<Id>) -> Result<(), Fault> {
        let distribution = self.check_law(law)?;
        let sizes = self.shape(outcome)?;
        if distribution.support.is_of_levels() {
            let of = (outcome, &law.arguments[..]);
            let level = self.level(distribution, of, &Picks::none(), law.span)?;
            if distribution.support == Support::Levels {
                let levels = level.numbers.len();
                let said = format!("{} thresholds part levels that are", levels - 1);
                self.check_levels(level.y, (levels, &said), outcome.span)?;
            }
            terms.push(level.log_p);
            self.note_law(distribution, outcome, level.y, level.numbers);
            return Ok(());
        }
        if distribution.tree().is_none() {
            return self.dirichlet((outcome, &sizes), (law, distribution), terms);
        }
        self.check_shapes(law, &sizes)?;
        let total: usize = sizes.iter().product();
        for at in 0..total {
            let picks = position(at, &sizes);
            let y = self.number(outcome, &picks)?;
            let mut numbers = Vec::new();
            for argument in &law.arguments {
                let own = self.shape(argument)?.len();
                numbers.push(self.part(argument, &picks.last(own))?);
            }
            self.check_values(distribution, y, &numbers, outcome.span)?;
            terms.push(self.density(distribution, y, &numbers, law.span)?);
            self.note_prior(distribution, (y, 1), numbers.clone());
            self.note_law(distribution, outcome, y, numbers);
        }
        Ok(())
    }

    /// Refuses values of columns, and constants, that the distribution never has.
    fn check_values(
        &mut self,
        distribution: &Distribution,
        y: Id,
        numbers: &[Id],
        span: Span,
    ) -> Result<(), Fault> {
        if self.section != Section::Rows && self.graph.as_constant(y).is_none() {
            return Ok(());
        }
        let columns = self.columns;
        let Some(values) = self.evaluated.of(&self.graph, columns, y) else {
            return Ok(());
        };
        // A constant outside of rows is one value.
        let one = self.graph.as_constant(y).map(|value| vec![value]);
        let values = one.unwrap_or_else(|| values.to_vec());
        let limits = match (distribution.support, numbers.first()) {
            (Support::Trials, Some(trials)) => match self.graph.as_constant(*trials) {
                Some(trials) => Some(vec![trials; values.len()]),
                None => (self.evaluated.of(&self.graph, columns, *trials)).map(<[f64]>::to_vec),
            },
            _ => None,
        };
        for (row, &value) in values.iter().enumerate() {
            let most = limits.as_ref().and_then(|limits| limits.get(row));
            if !distribution.support.holds(value, most.copied()) {
                let message = format!(
                    "`{}` is of {}, but this is {value}",
                    distribution.name,
                    distribution.support.words()
                );
                let fault = Fault::new(span, message);
                return Err(if values.len() > 1 {
                    fault.in_row(row)
                } else {
                    fault
                });
            }
        }
        Ok(())
    }

    /// Σ (α_k − 1) log p_k + log Γ(Σ α) − Σ log Γ(α_k), along the last dimension.
    fn dirichlet(
        &mut self,
        (outcome, sizes): (&Expr, &[usize]),
        (law, distribution): (&Law, &'static Distribution),
        terms: &mut Vec<Id>,
    ) -> Result<(), Fault> {
        let Some((&shares, groups)) = sizes.split_last() else {
            let message = "`dirichlet` is of a vector of shares";
            return Err(Fault::new(outcome.span, message));
        };
        let alpha = &law.arguments[0];
        let of_alpha = self.shape(alpha)?;
        if !of_alpha.is_empty() && of_alpha != [shares] {
            let message = format!(
                "This is {}, but there are {} shares",
                shape_words(&of_alpha),
                shares
            );
            return Err(Fault::new(alpha.span, message));
        }
        let total: usize = groups.iter().product();
        for group in 0..total {
            let Picks::Each(before) = position(group, groups) else {
                continue;
            };
            let (mut alphas, mut sum, mut first) = (Vec::new(), Vec::new(), None);
            for share in 0..shares {
                let mut at = before.clone();
                at.push(Pick::At(share));
                let p = self.number(outcome, &Picks::Each(at))?;
                first = first.or(Some(p));
                let a = self.part(alpha, &Picks::Each(vec![Pick::At(share)]))?;
                self.graph.place = law.span;
                let one = self.graph.constant(1.0);
                let power = self.graph.binary(Binary::Sub, a, one);
                let log_p = self.graph.call(Function::Log, p);
                sum.push(self.graph.binary(Binary::Mul, power, log_p));
                let log_gamma = self.graph.call(Function::Lgamma, a);
                sum.push(self.graph.negate(log_gamma));
                alphas.push(a);
            }
            let all = self.graph.sum(&alphas);
            sum.push(self.graph.call(Function::Lgamma, all));
            terms.push(self.graph.sum(&sum));
            if let Some(first) = first {
                self.note_prior(distribution, (first, shares), alphas);
            }
        }
        Ok(())
    }

    /// log p(y) of a distribution with these parameters.
    pub(super) fn density(
        &mut self,
        distribution: &'static Distribution,
        y: Id,
        numbers: &[Id],
        span: Span,
    ) -> Result<Id, Fault> {
        self.note_limits(distribution, (y, numbers), span)?;
        let zero = distribution
            .parameters
            .iter()
            .position(|name| *name == "zero");
        if let Some(at) = zero
            && self.graph.as_constant(numbers[at]) != Some(0.0)
        {
            let message = format!(
                "`{}` is half of a distribution around 0; write 0 as its location",
                distribution.name
            );
            return Err(Fault::new(span, message));
        }
        let Some(tree) = distribution.tree() else {
            let message = format!("`{}` is of vectors", distribution.name);
            return Err(Fault::new(span, message));
        };
        let mut names = vec![("y", y)];
        names.extend(distribution.named(numbers));
        self.graph.place = span;
        let log_p = self.formula(tree, &names, span)?;
        Ok(self.within_support(distribution, (y, numbers), log_p))
    }

    /// Notes numbers whose limits parameters may leave, and refuses constants out of them.
    pub(super) fn note_limits(
        &mut self,
        distribution: &'static Distribution,
        (y, numbers): (Id, &[Id]),
        span: Span,
    ) -> Result<(), Fault> {
        let parameters = (0..).map(What::Parameter);
        let all = [(What::Value, y)].into_iter();
        for (what, number) in all.chain(parameters.zip(numbers.iter().copied())) {
            if let (What::Parameter(at), Some(value)) = (what, self.graph.as_constant(number)) {
                let (name, limits) = (distribution.parameters[at], distribution.limits[at]);
                if !limits.hold(value) && limits != Limits::Finite {
                    let message = format!(
                        "`{name}` of `{}` has to be {}, but this is {value}",
                        distribution.name,
                        limits.words()
                    );
                    return Err(Fault::new(span, message));
                }
            }
            self.limited.push(Limited {
                number,
                what,
                distribution,
                span,
            });
        }
        Ok(())
    }

    /// The number of a density's formula, in which `names` stand for numbers. Errors point at the use of the density.
    pub(super) fn formula(
        &mut self,
        e: &Expr,
        names: &[(&str, Id)],
        span: Span,
    ) -> Result<Id, Fault> {
        self.count_step(span)?;
        let wrong = || Fault::new(span, "The density of this distribution is not understood");
        Ok(match &e.kind {
            ExprKind::Number(value) => self.graph.constant(*value),
            ExprKind::Name(name) => {
                let constant = CONSTANTS.iter().find(|(known, _)| known == name);
                match (names.iter().find(|(known, _)| known == name), constant) {
                    (Some((_, id)), _) => *id,
                    (None, Some((_, value))) => self.graph.constant(*value),
                    (None, None) => return Err(wrong()),
                }
            }
            ExprKind::Negate(inner) => {
                let inner = self.formula(inner, names, span)?;
                self.graph.negate(inner)
            }
            ExprKind::Binary(operation, a, b) => {
                let a = self.formula(a, names, span)?;
                let b = self.formula(b, names, span)?;
                match operation {
                    Binary::Mul => self.times(a, b),
                    _ => self.graph.binary(*operation, a, b),
                }
            }
            ExprKind::Call(name, arguments) if name.text == "where" => {
                let [condition, a, b] = arguments.as_slice() else {
                    return Err(wrong());
                };
                let condition = self.formula(condition, names, span)?;
                let a = self.formula(a, names, span)?;
                let b = self.formula(b, names, span)?;
                self.graph.select(condition, a, b)
            }
            ExprKind::Call(name, arguments) if name.text == "lgamma_rise" => {
                let [x, more] = arguments.as_slice() else {
                    return Err(wrong());
                };
                let x = self.formula(x, names, span)?;
                let more = self.formula(more, names, span)?;
                self.lgamma_rise(x, more)
            }
            ExprKind::Call(name, arguments) => {
                let function = Function::find(&name.text).ok_or_else(wrong)?;
                let inner = self.formula(arguments.first().ok_or_else(wrong)?, names, span)?;
                self.graph.call(function, inner)
            }
            _ => return Err(wrong()),
        })
    }
}
