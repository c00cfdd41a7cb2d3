//! Outcomes that are categories without an order: `categorical`, given their probabilities, and `categorical_logit`, given logits η, of which
//! category k has the probability e^η_k / Σ e^η_j.

use super::levels::{Level, MOST_LEVELS};
use super::{Entity, Lowering, Pick, Picks, Section, shape_words};
use crate::distributions::Distribution;
use crate::functions::Function;
use crate::graph::{Id, Node};
use crate::limits::{Limited, Limits, What};
use crate::place::{Fault, Span};
use crate::syntax::{Binary, Expr, ExprKind};

/// How far from 1 the sum of probabilities that are written down may be, as Stan has it.
const MOST_MISSING: f64 = 1e-8;

impl Lowering<'_> {
    /// log p of a category, given a vector of probabilities or logits.
    pub(super) fn log_category(
        &mut self,
        distribution: &'static Distribution,
        (outcome, arguments): (&Expr, &[Expr]),
        picks: &Picks,
        span: Span,
    ) -> Result<Level, Fault> {
        let name = distribution.name;
        let [vector] = arguments else {
            let message = format!("`{name}` takes one vector, with a number for each category");
            return Err(Fault::new(span, message));
        };
        self.check_single(outcome, "A category")?;
        let sizes = self.shape(vector)?;
        let &[count] = &sizes[..] else {
            let message = format!(
                "A vector with a number for each category is needed here, such as [0, a, b] for three, but this is {}",
                shape_words(&sizes)
            );
            return Err(Fault::new(vector.span, message));
        };
        if !(2..=MOST_LEVELS).contains(&count) {
            let message =
                format!("An outcome has 2 to {MOST_LEVELS} categories, but here are {count}");
            return Err(Fault::new(vector.span, message));
        }
        let y = self.category_number(outcome, count, picks)?;
        let mut numbers = Vec::new();
        for k in 0..count {
            numbers.push(self.number(vector, &Picks::Each(vec![Pick::At(k)]))?);
        }
        self.graph.place = span;
        let own = self.one_of(y, &numbers);
        let log_p = if distribution.limits == [Limits::Share] {
            self.check_shares(distribution, &numbers, vector.span)?;
            self.graph.call(Function::Log, own)
        } else {
            let all = self.log_sum_exp(numbers[0], &numbers[1..]);
            self.graph.binary(Binary::Sub, own, all)
        };
        Ok(Level { log_p, y, numbers })
    }

    /// The number of a category, from 1: a number as it stands, of a column of categories its place among them.
    fn category_number(
        &mut self,
        outcome: &Expr,
        count: usize,
        picks: &Picks,
    ) -> Result<Id, Fault> {
        let found = match &outcome.kind {
            ExprKind::Name(name) => Some(self.entity(name, outcome.span)?),
            _ => None,
        };
        let Some(Entity::Group(column)) = found else {
            let y = self.part(outcome, picks)?;
            let said = format!("Here are {count} categories, which are");
            self.check_levels(y, (count, &said), outcome.span)?;
            return Ok(y);
        };
        if self.section != Section::Rows {
            let message = "A column has values in the section `rows` alone";
            return Err(Fault::new(outcome.span, message));
        }
        let group = &self.columns.groups[column];
        let levels = group.levels.len();
        if levels != count {
            let message = format!(
                "`{}` has {levels} categories, but {count} numbers are given for them; give one for each, in the order {}",
                group.name,
                group
                    .levels
                    .iter()
                    .take(5)
                    .map(String::as_str)
                    .collect::<Vec<_>>()
                    .join(", ")
            );
            return Err(Fault::new(outcome.span, message));
        }
        self.graph.place = outcome.span;
        let mut places = Vec::new();
        for code in 0..count as u32 {
            let is = self.graph.leaf(Node::LevelIs { column, code });
            let place = self.graph.constant(f64::from(code) + 1.0);
            places.push(self.graph.binary(Binary::Mul, place, is));
        }
        Ok(self.graph.sum(&places))
    }

    /// The one of `numbers` whose place, from 1, is `y`.
    fn one_of(&mut self, y: Id, numbers: &[Id]) -> Id {
        let last = numbers.len() - 1;
        let mut own = numbers[last];
        for k in (0..last).rev() {
            let above = self.graph.constant(k as f64 + 2.0);
            let is_at_most = self.graph.binary(Binary::Less, y, above);
            own = self.graph.select(is_at_most, numbers[k], own);
        }
        own
    }

    /// Notes that probabilities are such, and refuses known ones that are not.
    fn check_shares(
        &mut self,
        distribution: &'static Distribution,
        numbers: &[Id],
        span: Span,
    ) -> Result<(), Fault> {
        for &number in numbers {
            self.limited.push(Limited {
                number,
                what: What::Parameter(0),
                distribution,
                span,
            });
        }
        let known = numbers.iter().map(|&it| self.graph.as_constant(it));
        let Some(known) = known.collect::<Option<Vec<f64>>>() else {
            return Ok(());
        };
        let sum: f64 = known.iter().sum();
        // A number that is none is far from everything.
        let is_whole =
            (sum - 1.0).abs() <= MOST_MISSING && known.iter().all(|it| Limits::Share.hold(*it));
        if is_whole {
            return Ok(());
        }
        let message =
            format!("Probabilities are at least 0 and sum to 1, but the sum of these is {sum}");
        Err(Fault::new(span, message))
    }
}
