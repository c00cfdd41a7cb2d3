//! The reader of formulas: tokens to terms, by recursive descent, in time that grows with the length of what is written.

use super::call_hints::{instead_of, unknown};
use super::factor::{Argument, Constant, Factor, Function, MAX_DEGREE, Operator, is_category_call};
use super::term_set::TermSet;
use super::tokens::{Placed, Token, tokenize};
use super::{ALL_OTHERS, Formula, FormulaError, GroupTerm, Response, Term};
use ergodic_base::shown::shortened;

/// Reads a formula.
pub(super) fn parse(text: &str) -> Result<Formula, FormulaError> {
    Parser::new(tokenize(text)?).formula()
}

/// Deepest nesting of functions.
const MAX_DEPTH: usize = 4;
/// Most columns in an interaction, and in the columns of a group.
const MAX_FACTORS: usize = 20;
/// Most group terms, and most offsets: each is looked for among the others.
const MAX_PARTS: usize = 100;
/// Most letters that all terms may have when products are multiplied out, each counted with [`TERM_COST`] letters more.
/// Terms count as often as they are moved, so this bounds time as well as memory: 100 MB at most.
const MAX_LETTERS: usize = 10_000_000;
/// What a term costs besides its letters.
const TERM_COST: usize = 10;

pub(super) struct Parser {
    tokens: Vec<Placed>,
    pub(super) next: usize,
    /// Letters of all terms made so far.
    letters: usize,
}

impl Parser {
    fn new(tokens: Vec<Placed>) -> Self {
        Self {
            tokens,
            next: 0,
            letters: 0,
        }
    }

    pub(super) fn peek(&self) -> &Token {
        &self.tokens[self.next].token
    }

    /// The token `ahead` of the next one.
    pub(super) fn peek_at(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.next + ahead).map(|it| &it.token)
    }

    pub(super) fn position(&self) -> usize {
        self.tokens[self.next].position
    }

    pub(super) fn take(&mut self) -> Token {
        let token = self.peek().clone();
        // `End` stays, so that reading past it is harmless.
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    pub(super) fn take_if(&mut self, symbol: &'static str) -> bool {
        let found = *self.peek() == Token::Symbol(symbol);
        if found {
            self.take();
        }
        found
    }

    pub(super) fn error<T>(&self, message: impl Into<String>) -> Result<T, FormulaError> {
        at(self.position(), message)
    }

    pub(super) fn expected<T>(&self, what: &str) -> Result<T, FormulaError> {
        self.expected_or(what, "")
    }

    /// The error that `what` does not stand here, with a clause on what to do instead.
    fn expected_or<T>(&self, what: &str, instead: &str) -> Result<T, FormulaError> {
        if let Token::Text(_) = self.peek() {
            return self.error(
                "text in quotation marks has no meaning here; a column of categories has a coefficient for each of its values by \
                 itself, so write the name of the column",
            );
        }
        let found = self.peek().shown();
        self.error(format!("expected {what}, found {found}{instead}"))
    }

    pub(super) fn expect(&mut self, symbol: &'static str) -> Result<(), FormulaError> {
        if self.take_if(symbol) {
            Ok(())
        } else {
            self.expected(&format!("`{symbol}`"))
        }
    }

    pub(super) fn name(&mut self, what: &str) -> Result<String, FormulaError> {
        match self.peek() {
            Token::Name { name, .. } => {
                let name = name.clone();
                self.take();
                Ok(name)
            }
            _ => self.expected(what),
        }
    }

    /// The word, if the next tokens are `word (`.
    pub(super) fn at_call(&self) -> Option<&str> {
        match (self.peek(), self.peek_at(1)) {
            (
                Token::Name {
                    name,
                    quoted: false,
                },
                Some(Token::Symbol("(")),
            ) => Some(name),
            _ => None,
        }
    }

    /// Puts `term` among `terms`, unless all terms together have become too many.
    fn insert(&mut self, terms: &mut TermSet, term: Term) -> Result<(), FormulaError> {
        self.letters += TERM_COST
            + term
                .iter()
                .map(|factor| factor.column().len())
                .sum::<usize>();
        if self.letters > MAX_LETTERS {
            return self.error(format!(
                "multiplied out, the formula is longer than {MAX_LETTERS} letters; write out the interactions that you mean"
            ));
        }
        if term.len() > MAX_FACTORS {
            return self.error(format!(
                "an interaction of more than {MAX_FACTORS} columns is too much for any data; write out those that you mean"
            ));
        }
        terms.insert(term);
        Ok(())
    }

    fn formula(mut self) -> Result<Formula, FormulaError> {
        let response = match self.peek() {
            Token::Symbol("~") => None,
            _ => Some(self.response()?),
        };
        self.expect("~")?;
        let mut formula = Formula {
            response,
            intercept: true,
            terms: Vec::new(),
            left_out: Vec::new(),
            offsets: Vec::new(),
            groups: Vec::new(),
        };
        let mut terms = TermSet::default();
        let mut minus = self.take_if("-");
        loop {
            self.item(&mut formula, &mut terms, minus)?;
            minus = match self.peek() {
                Token::Symbol("+") => false,
                Token::Symbol("-") => true,
                Token::End => break,
                Token::Symbol("|" | "||") => {
                    return self.error(
                        "effects that vary by group stand in parentheses, as in `y ~ x + (1 | g)`",
                    );
                }
                _ => return self.expected("`+` or the end of the formula"),
            };
            self.take();
        }
        formula.terms = terms.into_terms();
        if let Some(message) = formula.misplaced_smooth() {
            return self.error(message);
        }
        if let Some(response) = &formula.response {
            self.check_response(response, &formula)?;
        }
        if !formula.intercept && formula.terms.is_empty() && formula.groups.is_empty() {
            return self.error("nothing is left to estimate; add a predictor or the intercept `1`");
        }
        Ok(formula)
    }

    /// Refuses a response that explains itself.
    fn check_response(&self, response: &Response, formula: &Formula) -> Result<(), FormulaError> {
        for column in response.outcome_columns() {
            let mut factors = formula.terms.iter().flatten();
            if factors.any(|factor| factor.column() == column) {
                return self.error(format!(
                    "the outcome `{}` is also a predictor; remove it on the right side",
                    shortened(column)
                ));
            }
        }
        Ok(())
    }

    /// One summand of the right side.
    fn item(
        &mut self,
        formula: &mut Formula,
        terms: &mut TermSet,
        minus: bool,
    ) -> Result<(), FormulaError> {
        if let Token::Number(number) = self.peek() {
            formula.intercept = match (number.as_str(), minus) {
                ("0", false) | ("1", true) => false,
                ("1", false) => true,
                _ => return self.expected("a column name, `0` or `1`"),
            };
            self.take();
            return Ok(());
        }
        let is_offset = self.at_call() == Some("offset");
        let is_group = self.tokens[self.next].opens_group;
        if minus && (is_offset || is_group) {
            return self
                .error("offsets and group terms cannot be subtracted; leave them out instead");
        }
        if (is_offset && formula.offsets.len() == MAX_PARTS)
            || (is_group && formula.groups.len() >= MAX_PARTS)
        {
            return self.error(format!(
                "there are more than {MAX_PARTS} group terms or offsets; leave some out"
            ));
        }
        if is_offset {
            let offset = self.offset()?;
            if !formula.offsets.contains(&offset) {
                formula.offsets.push(offset);
            }
        } else if is_group {
            for group in self.group()? {
                if !formula.groups.contains(&group) {
                    formula.groups.push(group);
                }
            }
        } else {
            let taken_out = self.position();
            let product = self.product()?;
            let of_all = minus && terms.contains(&[Factor::Column(ALL_OTHERS.to_owned())]);
            for term in product.into_terms() {
                if minus {
                    terms.remove(&term);
                    match term.as_slice() {
                        [Factor::Column(name)] if of_all => formula.left_out.push(name.clone()),
                        _ if of_all => {
                            return at(taken_out, "only columns can be taken out of `.`");
                        }
                        _ => {}
                    }
                } else {
                    self.insert(terms, term)?;
                }
            }
        }
        Ok(())
    }

    fn offset(&mut self) -> Result<Factor, FormulaError> {
        self.next += 2;
        let offset = self.single("an offset", 0)?;
        self.expect(")")?;
        Ok(offset)
    }

    /// `(1 + x | g)`; a nested group `g/h` gives one term per level.
    fn group(&mut self) -> Result<Vec<GroupTerm>, FormulaError> {
        self.expect("(")?;
        let mut intercept = true;
        let mut terms = TermSet::default();
        let mut minus = self.take_if("-");
        loop {
            match self.peek() {
                Token::Number(number) => {
                    intercept = match (number.as_str(), minus) {
                        ("0", false) | ("1", true) => false,
                        ("1", false) => true,
                        _ => return self.expected("a column name, `0` or `1`"),
                    };
                    self.take();
                }
                _ if minus => {
                    return self
                        .expected("`1`, which alone can be taken out of what varies by group");
                }
                _ => {
                    for term in self.product()?.into_terms() {
                        self.insert(&mut terms, term)?;
                    }
                }
            }
            minus = self.take_if("-");
            if !minus && !self.take_if("+") {
                break;
            }
        }
        let terms = terms.into_terms();
        if !intercept && terms.is_empty() {
            return self.error("nothing varies by group here; add a column or `1`");
        }
        let correlated = match self.peek() {
            Token::Symbol("|") => true,
            Token::Symbol("||") => false,
            _ => return self.expected("`|` and the grouping column"),
        };
        self.take();
        let mut groups = vec![self.crossed_group()?];
        if let Token::Symbol("|") = self.peek() {
            return self.error(
                "names of correlations between two bars are those of brms; leave the name out, as in `(1 | g)`: effects of one term are \
                 correlated",
            );
        }
        while self.take_if("/") {
            let mut inner = groups[groups.len() - 1].clone();
            for name in self.crossed_group()? {
                if !inner.contains(&name) {
                    inner.push(name);
                }
            }
            self.check_group(&inner)?;
            groups.push(inner);
        }
        self.expect(")")?;
        let of = |group| GroupTerm {
            intercept,
            terms: terms.clone(),
            correlated,
            group,
        };
        Ok(groups.into_iter().map(of).collect())
    }

    fn crossed_group(&mut self) -> Result<Vec<String>, FormulaError> {
        let mut group = vec![self.grouping_column()?];
        while self.take_if(":") {
            let name = self.grouping_column()?;
            if !group.contains(&name) {
                group.push(name);
            }
            self.check_group(&group)?;
        }
        Ok(group)
    }

    /// `g`, or `factor(g)`, which is the same here.
    fn grouping_column(&mut self) -> Result<String, FormulaError> {
        const WHAT: &str = "a grouping column";
        let call = self.at_call();
        if call == Some("gr") {
            return self
                .error("`gr()` is of brms; write the grouping column alone, as in `(1 | g)`");
        }
        if !call.is_some_and(is_category_call) {
            return self.name(WHAT);
        }
        self.next += 2;
        let name = self.name(WHAT)?;
        self.expect(")")?;
        Ok(name)
    }

    fn check_group(&self, columns: &[String]) -> Result<(), FormulaError> {
        if columns.len() > MAX_FACTORS {
            return self.error(format!(
                "a group of more than {MAX_FACTORS} columns is too much for any data; name fewer"
            ));
        }
        Ok(())
    }

    /// `a*b`: both sides and their interaction. `a/b`: the left side, and the right one within all of it.
    fn product(&mut self) -> Result<TermSet, FormulaError> {
        let mut terms = self.interaction()?;
        loop {
            let (right, crossed) = if self.take_if("*") {
                let right = self.interaction()?;
                let crossed = self.cross(&terms, &right)?;
                (right, crossed)
            } else if self.take_if("/") {
                let right = self.interaction()?;
                let mut all = Term::new();
                for factor in terms.iter().flatten() {
                    // One more than there may be is refused below.
                    if !all.contains(factor) && all.len() <= MAX_FACTORS {
                        all.push(factor.clone());
                    }
                }
                let crossed = self.cross(&TermSet::from_iter([all]), &right)?;
                (TermSet::default(), crossed)
            } else {
                return Ok(terms);
            };
            for term in right.into_terms().into_iter().chain(crossed.into_terms()) {
                self.insert(&mut terms, term)?;
            }
        }
    }

    /// `a:b`, for which R also writes `a %in% b`.
    fn interaction(&mut self) -> Result<TermSet, FormulaError> {
        let mut terms = self.factor()?;
        while self.take_if(":") || self.take_if("%in%") {
            let right = self.factor()?;
            terms = self.cross(&terms, &right)?;
        }
        Ok(terms)
    }

    /// All interactions of a left with a right term.
    fn cross(&mut self, left: &TermSet, right: &TermSet) -> Result<TermSet, FormulaError> {
        let mut terms = TermSet::default();
        for a in left.iter() {
            for b in right.iter() {
                let mut term = a.clone();
                term.extend(b.iter().filter(|factor| !a.contains(factor)).cloned());
                self.insert(&mut terms, term)?;
            }
        }
        Ok(terms)
    }

    fn factor(&mut self) -> Result<TermSet, FormulaError> {
        if self.take_if("(") {
            let mut terms = self.product()?;
            while self.take_if("+") {
                for term in self.product()?.into_terms() {
                    self.insert(&mut terms, term)?;
                }
            }
            self.expect(")")?;
            return self.power(terms);
        }
        let factor = self.column_or_call(0)?;
        let mut terms = TermSet::default();
        self.insert(&mut terms, vec![factor])?;
        self.power(terms)
    }

    /// `(a + b)^2`: the terms and their interactions of up to two columns.
    fn power(&mut self, terms: TermSet) -> Result<TermSet, FormulaError> {
        if *self.peek() != Token::Symbol("^") {
            return Ok(terms);
        }
        if terms.len() == 1 {
            return self.error(
                "outside of `I()` a power means interactions, as in R, so `x^2` would just be `x`; write `I(x^2)` for the \
                 square of a column",
            );
        }
        self.take();
        let power = self.argument("the power")?;
        let power = super::factor::whole("the power", &power, 1, MAX_FACTORS as u32);
        let power = power.or_else(|(place, message)| at(place.unwrap_or_default(), message))?;
        let mut product = terms.clone();
        for _ in 1..power {
            for term in self.cross(&product, &terms)?.into_terms() {
                self.insert(&mut product, term)?;
            }
        }
        Ok(product)
    }

    /// A column, or a function of one, inside `depth` functions.
    fn column_or_call(&mut self, depth: usize) -> Result<Factor, FormulaError> {
        let position = self.position();
        let Some(name) = self.at_call() else {
            return Ok(Factor::Column(self.name("a column name")?));
        };
        if depth == MAX_DEPTH {
            return self.error(
                "functions are nested too deeply; add a column with the values to the data",
            );
        }
        if is_category_call(name) {
            return self.category();
        }
        let known = name == "I" || Function::from_call(name, &[]).is_some();
        if !known {
            return at(position, unknown(name));
        }
        let name = name.to_owned();
        self.next += 2;
        if name == "I" {
            let inside = self.inside(depth + 1)?;
            self.expect(")")?;
            return Ok(inside);
        }
        let of = Box::new(self.single(&format!("`{name}()`"), depth + 1)?);
        let mut args = Vec::new();
        while !self.take_if(")") {
            if !self.take_if(",") {
                return match instead_of(&name, self.peek(), self.peek_at(1)) {
                    Some(hint) => self.error(hint),
                    None => self.expected("`,` or `)`"),
                };
            }
            args.push(self.argument("an argument such as `df = 3`")?);
        }
        match Function::from_call(&name, &args) {
            Some(Ok(function)) => Ok(Factor::Call(function, of)),
            Some(Err((place, message))) => at(place.unwrap_or(position), message),
            None => self.expected("a function"),
        }
    }

    /// `factor(x)`, at its name.
    fn category(&mut self) -> Result<Factor, FormulaError> {
        let called = self.at_call().unwrap_or_default().to_owned();
        self.next += 2;
        let column = self.name("a column name")?;
        if !self.take_if(")") {
            return self.error(format!(
                "expected `)`: `{called}()` takes only a column here; the level that others are compared with is the setting \
                 `model.reference.{}`",
                shortened(&column)
            ));
        }
        Ok(Factor::Category(column))
    }

    /// What stands in `I(…)`: a power, or one column and one number with an operator between.
    fn inside(&mut self, depth: usize) -> Result<Factor, FormulaError> {
        const FORMS: &str =
            "`^`, `>`, `>=`, `<`, `<=`, `==`, `!=`, `+`, `-`, `*` or `/` and a number";
        const COLUMN: &str = "; other calculations need a column in the data";
        let number_first = match self.peek() {
            Token::Number(_) => true,
            Token::Symbol("-") => matches!(self.peek_at(1), Some(Token::Number(_))),
            _ => false,
        };
        if number_first {
            let value = self.constant()?;
            let position = self.position();
            let Token::Symbol(symbol) = *self.peek() else {
                return self.expected("an operator such as `*` and a column");
            };
            self.take();
            let of = Box::new(self.single("`I()`", depth)?);
            return match Operator::from_symbol(symbol).and_then(Operator::mirrored) {
                Some(operator) => Ok(Factor::Call(Function::Inside { operator, value }, of)),
                None => at(
                    position,
                    "a column must stand first here, as in `I(x / 2)`; other calculations need a column in the data",
                ),
            };
        }
        let of = Box::new(self.single("`I()`", depth)?);
        if self.take_if("^") {
            let power = self.argument("the power")?;
            let power = super::factor::whole("the power", &power, 1, MAX_DEGREE);
            let power = power.or_else(|(place, message)| at(place.unwrap_or_default(), message))?;
            return Ok(Factor::Call(Function::Power(power), of));
        }
        let position = self.position();
        let operator = match self.peek() {
            Token::Symbol("=") => {
                return self.error("expected `==`, which compares, found `=`");
            }
            Token::Symbol(symbol) => Operator::from_symbol(symbol),
            _ => None,
        };
        let Some(operator) = operator else {
            return self.expected_or(FORMS, COLUMN);
        };
        self.take();
        if !matches!(self.peek(), Token::Number(_) | Token::Symbol("-")) {
            let instead = match operator {
                Operator::Times => "; the product of two columns is their interaction, `x:z`",
                _ => COLUMN,
            };
            return self.expected_or("a number", instead);
        }
        let value = self.constant()?;
        if operator == Operator::Divide && value.value() == 0.0 {
            return at(position, "nothing can be divided by 0");
        }
        if *self.peek() != Token::Symbol(")") {
            return self.error(format!(
                "expected `)`, found {}: `I()` takes one column, one operator and one number; put another `I()` around it, as \
                 in `I(I(x - 2) / 10)`, or add a column with the values to the data",
                self.peek().shown()
            ));
        }
        Ok(Factor::Call(Function::Inside { operator, value }, of))
    }

    /// A number with its sign.
    fn constant(&mut self) -> Result<Constant, FormulaError> {
        let negative = self.take_if("-");
        let Token::Number(text) = self.peek() else {
            return self.expected("a number");
        };
        let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
        let Some(value) = value else {
            return self.expected("a number");
        };
        self.take();
        Ok(Constant::new(if negative { -value } else { value }))
    }

    /// A factor of one column, for `what`, which takes no other.
    fn single(&mut self, what: &str, depth: usize) -> Result<Factor, FormulaError> {
        let position = self.position();
        let factor = self.column_or_call(depth)?;
        match &factor {
            Factor::Call(function, _) if function.num_columns() > 1 => at(
                position,
                format!(
                    "`{}` gives {} columns, but {what} takes one column of numbers",
                    shortened(&factor.to_string()),
                    function.num_columns()
                ),
            ),
            Factor::Category(_) => at(
                position,
                format!(
                    "`{}` gives categories, but {what} takes one column of numbers",
                    shortened(&factor.to_string())
                ),
            ),
            _ => Ok(factor),
        }
    }

    /// `3`, `df = 3` or `raw = TRUE`.
    fn argument(&mut self, what: &str) -> Result<Argument, FormulaError> {
        let position = self.position();
        let mut name = None;
        let mut value = self.value(what)?;
        if self.take_if("=") {
            name = Some(value);
            value = self.value("a number, TRUE or FALSE")?;
        }
        Ok(Argument {
            name,
            value,
            position,
        })
    }

    fn value(&mut self, what: &str) -> Result<String, FormulaError> {
        match self.peek() {
            Token::Name { name: text, .. } | Token::Number(text) => {
                let text = text.clone();
                self.take();
                Ok(text)
            }
            _ => self.expected(what),
        }
    }
}

/// An error at a 1-based character of the formula.
pub(super) fn at<T>(position: usize, message: impl Into<String>) -> Result<T, FormulaError> {
    Err(FormulaError {
        position,
        message: message.into(),
    })
}

#[cfg(test)]
mod tests;
