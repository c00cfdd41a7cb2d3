//! The reader of formulas: text to tokens to terms, by recursive descent.

use super::factor::{Argument, Factor, Function, MAX_DEGREE};
use super::formula::{
    Formula, FormulaError, GroupTerm, Response, Term, Trials, insert_term, is_name_char, same_term,
};

/// Reads a formula.
pub(super) fn parse(text: &str) -> Result<Formula, FormulaError> {
    let tokens = tokenize(text)?;
    Parser { tokens, next: 0 }.formula()
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Name { name: String, quoted: bool },
    Number(String),
    Symbol(&'static str),
    End,
}

const SYMBOLS: [&str; 13] = [
    "||", "|", "~", "+", "-", ":", "*", "(", ")", "/", "^", ",", "=",
];

/// Deepest nesting of functions.
const MAX_DEPTH: usize = 4;

/// Tokens with the 1-based character where each begins, `End` last.
fn tokenize(text: &str) -> Result<Vec<(Token, usize)>, FormulaError> {
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let position = text[..text.len() - rest.len()].chars().count() + 1;
        let Some(first) = rest.chars().next() else {
            tokens.push((Token::End, position));
            return Ok(tokens);
        };
        let error = |message: String| Err(FormulaError { position, message });
        let (token, len) = if first == '`' {
            let Some((name, len)) = backtick_name(rest) else {
                return error("the backtick is never closed".to_owned());
            };
            if name.is_empty() {
                return error("there is no name between the backticks".to_owned());
            }
            (Token::Name { name, quoted: true }, len)
        } else if first.is_ascii_digit()
            || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()))
        {
            let len = rest.find(|c: char| !is_name_char(c)).unwrap_or(rest.len());
            (Token::Number(rest[..len].to_owned()), len)
        } else if is_name_char(first) {
            let len = rest.find(|c: char| !is_name_char(c)).unwrap_or(rest.len());
            (
                Token::Name {
                    name: rest[..len].to_owned(),
                    quoted: false,
                },
                len,
            )
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            (Token::Symbol(symbol), symbol.len())
        } else {
            return error(format!(
                "`{first}` has no meaning here; put column names with odd characters in backticks"
            ));
        };
        tokens.push((token, position));
        rest = &rest[len..];
    }
}

/// The name after an opening backtick and the bytes it takes; a doubled backtick stands for one.
fn backtick_name(text: &str) -> Option<(String, usize)> {
    let mut name = String::new();
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c != '`' {
            name.push(c);
        } else if chars.next_if(|(_, next)| *next == '`').is_some() {
            name.push('`');
        } else {
            return Some((name, at + 1));
        }
    }
    None
}

struct Parser {
    tokens: Vec<(Token, usize)>,
    next: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.next].0
    }

    fn position(&self) -> usize {
        self.tokens[self.next].1
    }

    fn take(&mut self) -> Token {
        let token = self.peek().clone();
        // `End` stays, so that reading past it is harmless.
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    fn take_if(&mut self, symbol: &'static str) -> bool {
        let found = *self.peek() == Token::Symbol(symbol);
        if found {
            self.take();
        }
        found
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T, FormulaError> {
        Err(FormulaError {
            position: self.position(),
            message: message.into(),
        })
    }

    fn expected<T>(&self, what: &str) -> Result<T, FormulaError> {
        let found = match self.peek() {
            Token::Name { name, .. } => format!("`{name}`"),
            Token::Number(number) => format!("`{number}`"),
            Token::Symbol(symbol) => format!("`{symbol}`"),
            Token::End => "the end".to_owned(),
        };
        self.error(format!("expected {what}, found {found}"))
    }

    fn expect(&mut self, symbol: &'static str) -> Result<(), FormulaError> {
        if self.take_if(symbol) {
            Ok(())
        } else {
            self.expected(&format!("`{symbol}`"))
        }
    }

    fn name(&mut self, what: &str) -> Result<String, FormulaError> {
        match self.peek().clone() {
            Token::Name { name, .. } => {
                self.take();
                Ok(name)
            }
            _ => self.expected(what),
        }
    }

    /// Whether the next tokens are `word (`.
    fn at_call(&self) -> Option<String> {
        match (
            self.peek(),
            self.tokens.get(self.next + 1).map(|(token, _)| token),
        ) {
            (
                Token::Name {
                    name,
                    quoted: false,
                },
                Some(Token::Symbol("(")),
            ) => Some(name.clone()),
            _ => None,
        }
    }

    fn formula(&mut self) -> Result<Formula, FormulaError> {
        let response = match self.peek() {
            Token::Symbol("~") => None,
            _ => Some(self.response()?),
        };
        self.expect("~")?;
        let mut formula = Formula {
            response,
            intercept: true,
            terms: Vec::new(),
            offsets: Vec::new(),
            groups: Vec::new(),
        };
        let mut minus = self.take_if("-");
        loop {
            self.item(&mut formula, minus)?;
            minus = match self.peek() {
                Token::Symbol("+") => false,
                Token::Symbol("-") => true,
                Token::End => break,
                _ => return self.expected("`+` or the end of the formula"),
            };
            self.take();
        }
        let mut factors = formula.terms.iter().flatten();
        if let Some(Response { column, .. }) = &formula.response
            && factors.any(|factor| factor.column() == column)
        {
            return self.error(format!(
                "the response `{column}` is also a predictor; remove it on the right side"
            ));
        }
        if !formula.intercept && formula.terms.is_empty() && formula.groups.is_empty() {
            return self.error("nothing is left to estimate; add a predictor or the intercept `1`");
        }
        Ok(formula)
    }

    fn response(&mut self) -> Result<Response, FormulaError> {
        if let Some(function) = self.at_call() {
            return self.error(format!(
                "functions of the response such as `{function}()` are not supported; add a column with the values to the data"
            ));
        }
        let column = self.name("the response, a column name")?;
        let mut response = Response {
            column,
            trials: None,
            weights: None,
        };
        if !self.take_if("|") {
            return Ok(response);
        }
        loop {
            match self.at_call().as_deref() {
                Some("trials") if response.trials.is_none() => {
                    self.next += 2;
                    response.trials = Some(self.trials()?);
                }
                Some("weights") if response.weights.is_none() => {
                    self.next += 2;
                    response.weights = Some(self.name("a column name")?);
                }
                _ => return self.expected("`trials(…)` or `weights(…)`, each once"),
            }
            self.expect(")")?;
            if !self.take_if("+") {
                return Ok(response);
            }
        }
    }

    fn trials(&mut self) -> Result<Trials, FormulaError> {
        match self.peek().clone() {
            Token::Number(number) => match number.parse() {
                Ok(count) if count >= 1 => {
                    self.take();
                    Ok(Trials::Constant(count))
                }
                _ => self.expected("a column name or a whole number of at least 1"),
            },
            _ => Ok(Trials::Column(
                self.name("a column name or a whole number of at least 1")?,
            )),
        }
    }

    /// One summand of the right side.
    fn item(&mut self, formula: &mut Formula, minus: bool) -> Result<(), FormulaError> {
        if let Token::Number(number) = self.peek().clone() {
            formula.intercept = match (number.as_str(), minus) {
                ("0", false) | ("1", true) => false,
                ("1", false) => true,
                _ => return self.expected("a column name, `0` or `1`"),
            };
            self.take();
            return Ok(());
        }
        let is_offset = self.at_call().as_deref() == Some("offset");
        let is_group = self.at_group();
        if minus && (is_offset || is_group) {
            return self
                .error("offsets and group terms cannot be subtracted; leave them out instead");
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
            for term in self.product()? {
                let dot =
                    |term: &Term| matches!(term.as_slice(), [Factor::Column(name)] if name == ".");
                if minus && formula.terms.iter().any(dot) {
                    return Err(FormulaError {
                        position: taken_out,
                        message: "nothing can be taken out of `.`; write the columns out"
                            .to_owned(),
                    });
                }
                if minus {
                    formula.terms.retain(|other| !same_term(other, &term));
                } else {
                    formula.add_term(term);
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

    /// Whether the parenthesis that opens here holds a bar at its own depth.
    fn at_group(&self) -> bool {
        if *self.peek() != Token::Symbol("(") {
            return false;
        }
        let mut depth = 0;
        for (token, _) in &self.tokens[self.next..] {
            match token {
                Token::Symbol("(") => depth += 1,
                Token::Symbol(")") => depth -= 1,
                Token::Symbol("|" | "||") if depth == 1 => return true,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        false
    }

    /// `(1 + x | g)`; a nested group `g/h` gives one term per level.
    fn group(&mut self) -> Result<Vec<GroupTerm>, FormulaError> {
        self.expect("(")?;
        let mut intercept = true;
        let mut terms = Vec::new();
        loop {
            match self.peek().clone() {
                Token::Number(number) if number == "0" || number == "1" => {
                    intercept = number == "1";
                    self.take();
                }
                Token::Number(_) => return self.expected("a column name, `0` or `1`"),
                _ => {
                    for term in self.product()? {
                        insert_term(&mut terms, term);
                    }
                }
            }
            if !self.take_if("+") {
                break;
            }
        }
        if !intercept && terms.is_empty() {
            return self.error("nothing varies by group here; add a column or `1`");
        }
        let correlated = match self.take() {
            Token::Symbol("|") => true,
            Token::Symbol("||") => false,
            _ => {
                self.next -= 1;
                return self.expected("`|` and the grouping column");
            }
        };
        let mut groups = vec![self.crossed_group()?];
        while self.take_if("/") {
            let mut inner = groups[groups.len() - 1].clone();
            for name in self.crossed_group()? {
                if !inner.contains(&name) {
                    inner.push(name);
                }
            }
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
        let mut group = vec![self.name("a grouping column")?];
        while self.take_if(":") {
            let name = self.name("a grouping column")?;
            if !group.contains(&name) {
                group.push(name);
            }
        }
        Ok(group)
    }

    /// `a*b`: both sides and their interaction.
    fn product(&mut self) -> Result<Vec<Term>, FormulaError> {
        let mut terms = self.interaction()?;
        while self.take_if("*") {
            let right = self.interaction()?;
            let crossed = cross(&terms, &right);
            for term in right.into_iter().chain(crossed) {
                insert_term(&mut terms, term);
            }
        }
        Ok(terms)
    }

    fn interaction(&mut self) -> Result<Vec<Term>, FormulaError> {
        let mut terms = self.factor()?;
        while self.take_if(":") {
            terms = cross(&terms, &self.factor()?);
        }
        Ok(terms)
    }

    fn factor(&mut self) -> Result<Vec<Term>, FormulaError> {
        if self.take_if("(") {
            let mut terms = self.product()?;
            while self.take_if("+") {
                for term in self.product()? {
                    insert_term(&mut terms, term);
                }
            }
            self.expect(")")?;
            return Ok(terms);
        }
        let factor = self.column_or_call(0)?;
        if *self.peek() == Token::Symbol("^") {
            return self.error("powers of terms are not supported; write `I(x^2)` for the power of a column, and interactions out");
        }
        Ok(vec![vec![factor]])
    }

    /// A column, or a function of one, inside `depth` functions.
    fn column_or_call(&mut self, depth: usize) -> Result<Factor, FormulaError> {
        let (Some(name), position) = (self.at_call(), self.position()) else {
            return Ok(Factor::Column(self.name("a column name")?));
        };
        if depth == MAX_DEPTH {
            return self.error(
                "functions are nested too deeply; add a column with the values to the data",
            );
        }
        let at = |position, message| FormulaError { position, message };
        let known = name == "I" || Function::from_call(&name, &[]).is_some();
        if !known {
            return Err(at(
                position,
                format!(
                    "the function `{name}()` is not known here; there are {}, or add a column with its values to the data",
                    Function::KNOWN
                ),
            ));
        }
        self.next += 2;
        let of = Box::new(self.single(&format!("`{name}()`"), depth + 1)?);
        if name == "I" {
            if !self.take_if("^") {
                return self
                    .expected("`^` and a power; other calculations need a column in the data");
            }
            let power = self.argument("the power")?;
            let power = super::factor::whole("the power", &power, 1, MAX_DEGREE);
            let power = power
                .map_err(|(at_argument, message)| at(at_argument.unwrap_or(position), message))?;
            self.expect(")")?;
            return Ok(Factor::Call(Function::Power(power), of));
        }
        let mut args = Vec::new();
        while !self.take_if(")") {
            if !self.take_if(",") {
                return self.expected("`,` or `)`");
            }
            args.push(self.argument("an argument such as `df = 3`")?);
        }
        match Function::from_call(&name, &args) {
            Some(Ok(function)) => Ok(Factor::Call(function, of)),
            Some(Err((at_argument, message))) => Err(at(at_argument.unwrap_or(position), message)),
            None => self.expected("a function"),
        }
    }

    /// A factor of one column, for `what`, which takes no other.
    fn single(&mut self, what: &str, depth: usize) -> Result<Factor, FormulaError> {
        let position = self.position();
        let factor = self.column_or_call(depth)?;
        match &factor {
            Factor::Call(function, _) if function.num_columns() > 1 => Err(FormulaError {
                position,
                message: format!(
                    "`{factor}` gives {} columns, but {what} takes one column of numbers",
                    function.num_columns()
                ),
            }),
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
        match self.peek().clone() {
            Token::Name { name: text, .. } | Token::Number(text) => {
                self.take();
                Ok(text)
            }
            _ => self.expected(what),
        }
    }
}

/// All interactions of a left with a right term.
fn cross(left: &[Term], right: &[Term]) -> Vec<Term> {
    let mut terms = Vec::new();
    for a in left {
        for b in right {
            let mut term = a.clone();
            term.extend(b.iter().filter(|factor| !a.contains(factor)).cloned());
            insert_term(&mut terms, term);
        }
    }
    terms
}
