//! From tokens to a tree, by recursive descent.
//!
//! A section begins with its name on a line of its own. Operators bind as usual: `^` (from the right), then a sign, `*` and
//! `/`, `+` and `-`, and comparisons, which give 1 or 0.

use crate::foreign;
use crate::place::{Fault, Span, hint};
use crate::syntax::{
    Binary, Chosen, Declaration, Definition, Expr, ExprKind, Kind, Law, Name, Part, Size,
    Statement, Tree, Vector,
};
use crate::tokens::{Token, tokens};
use crate::vectors::numbered;

/// Expressions may stand this deep in each other: what reads them is recursive.
const MAX_DEPTH: usize = 200;

/// Names of sections.
pub(crate) const SECTIONS: [&str; 5] = ["data", "parameters", "rows", "target", "report"];

/// Reads a program.
pub(crate) fn parse(text: &str) -> Result<Tree, Fault> {
    let tokens = tokens(text)?;
    if let Some(open) = unclosed(&tokens) {
        // What follows it runs over the ends of lines, and would be found wrong far from here.
        return Err(Fault::new(open, "This bracket is not closed"));
    }
    let mut parser = Parser {
        text,
        tokens,
        at: 0,
        depth: 0,
    };
    parser.program()
}

/// The last bracket that is never closed.
fn unclosed(tokens: &[(Token, Span)]) -> Option<Span> {
    let mut open = Vec::new();
    for (token, span) in tokens {
        match token {
            Token::Symbol("(" | "[") => open.push(*span),
            Token::Symbol(")" | "]") => {
                open.pop();
            }
            _ => {}
        }
    }
    open.pop()
}

/// Reads one expression, for densities that are written in the language.
pub(crate) fn parse_expression(text: &str) -> Result<Expr, Fault> {
    let mut parser = Parser {
        text,
        tokens: tokens(text)?,
        at: 0,
        depth: 0,
    };
    let value = parser.expression()?;
    parser.end_of_line()?;
    Ok(value)
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(Token, Span)>,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn peek_second(&self) -> &Token {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0
    }

    fn peek_third(&self) -> &Token {
        &self.tokens[(self.at + 2).min(self.tokens.len() - 1)].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    /// The place of the token before.
    fn before(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].1
    }

    fn step(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn takes(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek(), Token::Symbol(it) if *it == symbol);
        if found {
            self.step();
        }
        found
    }

    fn takes_name(&mut self, name: &str) -> bool {
        let found = matches!(self.peek(), Token::Name(it) if it == name);
        if found {
            self.step();
        }
        found
    }

    fn expect(&mut self, symbol: &str, place: &str) -> Result<Span, Fault> {
        if self.takes(symbol) {
            return Ok(self.before());
        }
        self.fault(&format!("`{symbol}` {place}"))
    }

    fn fault<T>(&self, expected: &str) -> Result<T, Fault> {
        let message = format!("Expected {expected}, found {}", self.peek().words());
        Err(Fault::new(self.span(), message))
    }

    fn name(&mut self, what: &str) -> Result<Name, Fault> {
        let Token::Name(text) = self.peek().clone() else {
            return self.fault(what);
        };
        let span = self.span();
        self.step();
        Ok(Name { text, span })
    }

    fn end_of_line(&mut self) -> Result<(), Fault> {
        match self.peek() {
            Token::Newline => {
                self.step();
                Ok(())
            }
            Token::End => Ok(()),
            Token::Symbol(")" | "]") => self.fault("the end of the line, for no bracket is open"),
            _ => self.fault("an operator or the end of the line"),
        }
    }

    fn program(&mut self) -> Result<Tree, Fault> {
        let mut tree = Tree::default();
        let mut seen: Vec<&str> = Vec::new();
        loop {
            while *self.peek() == Token::Newline {
                self.step();
            }
            if *self.peek() == Token::End {
                return Ok(tree);
            }
            let section = self.section()?;
            if seen.contains(&section) {
                let message = format!("There is a section `{section}` already; join the two");
                return Err(Fault::new(self.before(), message));
            }
            seen.push(section);
            self.end_of_line()?;
            loop {
                while *self.peek() == Token::Newline {
                    self.step();
                }
                if *self.peek() == Token::End || self.is_section() {
                    break;
                }
                self.line(section, &mut tree)?;
                self.end_of_line()?;
            }
        }
    }

    /// Whether a line begins here that names a section.
    fn is_section(&self) -> bool {
        matches!(self.peek(), Token::Name(name) if SECTIONS.contains(&name.as_str()))
            && *self.peek_second() == Token::Newline
    }

    fn section(&mut self) -> Result<&'static str, Fault> {
        let span = self.span();
        if let Token::Name(name) = self.peek() {
            if let Some(section) = SECTIONS.iter().find(|section| *section == name) {
                self.step();
                return Ok(section);
            }
            let message = format!(
                "Expected a section ({}), found `{name}`{}",
                SECTIONS.join(", "),
                match foreign::beginning(name) {
                    Some(advice) => format!("; {advice}"),
                    None => hint(name, SECTIONS),
                }
            );
            return Err(Fault::new(span, message));
        }
        self.fault(&format!("a section ({})", SECTIONS.join(", ")))
    }

    fn line(&mut self, section: &str, tree: &mut Tree) -> Result<(), Fault> {
        if section == "data" {
            let vector = self.vector()?;
            tree.vectors.push(vector);
            return Ok(());
        }
        self.check_foreign(section)?;
        let defines =
            matches!(self.peek(), Token::Name(_)) && *self.peek_second() == Token::Symbol("=");
        if defines {
            let definition = self.definition()?;
            match section {
                "parameters" => tree.definitions.push(definition),
                "rows" => tree.rows.push(Statement::Definition(definition)),
                "target" => tree.target.push(Statement::Definition(definition)),
                _ => tree.report.push(definition),
            }
            return Ok(());
        }
        match section {
            "parameters" => {
                let declaration = self.declaration()?;
                tree.declarations.push(declaration);
            }
            "rows" => {
                let statement = self.statement()?;
                tree.rows.push(statement);
            }
            "target" => {
                let statement = self.statement()?;
                tree.target.push(statement);
            }
            _ => {
                let shown = self.shown()?;
                tree.report.push(shown);
            }
        }
        Ok(())
    }

    /// The name of a definition alone, as if it were written `name = name`.
    fn shown(&mut self) -> Result<Definition, Fault> {
        let what = "a line `name = expression`, or the name of a definition";
        if *self.peek_second() != Token::Newline {
            return self.fault(what);
        }
        let name = self.name(what)?;
        let value = Expr {
            kind: ExprKind::Name(name.text.clone()),
            span: name.span,
        };
        Ok(Definition { name, value })
    }

    /// Refuses a line that means something in other languages and nothing here.
    fn check_foreign(&self, section: &str) -> Result<(), Fault> {
        let Token::Name(word) = self.peek() else {
            return Ok(());
        };
        let span = self.span();
        let (second, third) = (self.peek_second(), self.peek_third());
        let arrow = (Token::Symbol("<"), Token::Symbol("-"));
        if (second, third) == (&arrow.0, &arrow.1) {
            let [less, minus] = [1, 2].map(|after| self.tokens[self.at + after].1);
            if less.end == minus.start {
                let message =
                    format!("`<-` defines nothing here; a definition is written `{word} = …`");
                return Err(Fault::new(less.to(minus), message));
            }
        }
        let is_declaration = section == "parameters";
        let is_foreign = match second {
            Token::Name(name) => name != "in",
            Token::Number(_) => true,
            Token::Newline | Token::Symbol("<") => is_declaration,
            Token::Symbol("[") => is_declaration && matches!(third, Token::Number(_)),
            Token::Symbol("(") => ["for", "while", "if"].contains(&word.as_str()),
            _ => false,
        };
        match foreign::beginning(word).filter(|_| is_foreign) {
            None => Ok(()),
            Some(advice) => {
                let message = format!("`{word}` begins no line here; {advice}");
                Err(Fault::new(span, message))
            }
        }
    }

    fn vector(&mut self) -> Result<Vector, Fault> {
        let name = self.name("the name of a vector of columns")?;
        if self.takes(":") && !self.takes_name("vector") {
            return self.fault("`vector`, which is what columns make");
        }
        self.expect("=", "and columns, as in x: vector = [age, fee]")?;
        let mut parts = Vec::new();
        if !self.takes("[") {
            parts.push(self.columns()?);
            return Ok(Vector { name, parts });
        }
        loop {
            parts.push(self.columns()?);
            if !self.takes(",") {
                break;
            }
        }
        self.expect("]", "or `,`")?;
        Ok(Vector { name, parts })
    }

    /// A column, a range of columns, or a pattern: names, stars and digits after these, without space between them.
    fn columns(&mut self) -> Result<Part, Fault> {
        let start = self.span();
        let (mut pieces, mut end) = (vec![String::new()], start.start);
        while self.span().start == end {
            match (self.peek(), pieces.as_mut_slice()) {
                (Token::Name(name), [.., piece]) => piece.push_str(name),
                (Token::Symbol("*"), _) => pieces.push(String::new()),
                (Token::Number(_), [_, .., piece]) => {
                    let span = self.span();
                    piece.push_str(&self.text[span.start..span.end]);
                }
                _ => break,
            }
            end = self.span().end;
            self.step();
        }
        let mut span = start.to(self.before());
        if end == start.start {
            return self
                .fault("a column, a range such as pixel1..pixel9, or a pattern such as px_*");
        }
        if pieces.len() > 1 {
            let columns = Chosen::Like(pieces);
            return Ok(Part { columns, span });
        }
        if self.takes("..") {
            let last = self.name("the last column of the range")?;
            span = start.to(last.span);
            pieces = numbered(&pieces[0], &last.text, span)?;
        }
        let columns = Chosen::Named(pieces);
        Ok(Part { columns, span })
    }

    fn definition(&mut self) -> Result<Definition, Fault> {
        let name = self.name("a name")?;
        self.expect("=", "after the name")?;
        let value = self.expression()?;
        Ok(Definition { name, value })
    }

    fn statement(&mut self) -> Result<Statement, Fault> {
        let left = self.expression()?;
        if self.takes("~") {
            return Ok(Statement::Relation(left, self.law()?));
        }
        let is_comparison = match left.kind {
            ExprKind::Not(_) => true,
            ExprKind::Binary(operation, ..) => {
                matches!(operation, Binary::Less | Binary::LessEqual | Binary::Equal)
            }
            _ => false,
        };
        if is_comparison {
            let message = "A comparison alone adds 1 or 0 to the log density; a definition is written `x = …`, and what is known of an outcome `y ~ …`";
            return Err(Fault::new(left.span, message));
        }
        Ok(Statement::Term(left))
    }

    fn declaration(&mut self) -> Result<Declaration, Fault> {
        let name = self.name("the name of a parameter")?;
        let mut index = Vec::new();
        if self.takes("[") {
            loop {
                index.push(self.name("a column that says which one a row has")?);
                if !self.takes(",") {
                    break;
                }
            }
            self.expect("]", "after the columns")?;
        }
        let kind = if self.takes(":") {
            Some(self.kind()?)
        } else {
            None
        };
        let bounds = if self.takes_name("in") {
            Some(self.bounds()?)
        } else {
            None
        };
        let law = if self.takes("~") {
            Some(self.law()?)
        } else {
            None
        };
        if kind.is_none() && bounds.is_none() && law.is_none() {
            let what = "`~` and a prior, `:` and a type, or `in` and bounds";
            return self.fault(&format!("{what} for the parameter `{}`", name.text));
        }
        Ok(Declaration {
            name,
            index,
            kind,
            bounds,
            law,
        })
    }

    fn kind(&mut self) -> Result<Kind, Fault> {
        let name = self.name("a type: real, positive, vector(n), matrix(n, m) or simplex(n)")?;
        let mut sizes = Vec::new();
        match self.peek() {
            Token::Symbol("[") => {
                let message = "Sizes stand in round brackets, as in `w: vector(3)`";
                return Err(Fault::new(self.span(), message));
            }
            Token::Symbol("<") => {
                let message = "Bounds stand after `in`, as in `s: real in (0, inf)`";
                return Err(Fault::new(self.span(), message));
            }
            _ => {}
        }
        if self.takes("(") {
            loop {
                let span = self.span();
                match *self.peek() {
                    Token::Number(size) if size >= 1.0 && size.fract() == 0.0 && size < 1e9 => {
                        sizes.push((Size::Number(size as usize), span));
                        self.step();
                    }
                    Token::Name(_) if *self.peek_second() != Token::Symbol("(") => {
                        let name = self.name("a size")?;
                        sizes.push((Size::Defined(name), span));
                    }
                    Token::Name(ref word) if word == "length" => {
                        self.step();
                        self.expect("(", "and a vector of columns")?;
                        let vector = self.name("a vector of columns")?;
                        self.expect(")", "after the vector")?;
                        sizes.push((Size::Length(vector), span.to(self.before())));
                    }
                    _ => {
                        return self.fault(
                            "a size: a whole number from 1, a definition that is one, or the length of a vector of columns, as in length(x)",
                        );
                    }
                }
                if !self.takes(",") {
                    break;
                }
            }
            self.expect(")", "after the sizes")?;
        }
        Ok(Kind { name, sizes })
    }

    fn bounds(&mut self) -> Result<(Expr, Expr), Fault> {
        self.expect("(", "before the bounds, as in (0, 1) or (0, inf)")?;
        let lower = self.expression()?;
        self.expect(",", "between the bounds")?;
        let upper = self.expression()?;
        self.expect(")", "after the bounds")?;
        Ok((lower, upper))
    }

    fn law(&mut self) -> Result<Law, Fault> {
        let name = self.name("a distribution such as normal(0, 1)")?;
        self.expect("(", "after the name of the distribution")?;
        let arguments = self.list(")")?;
        let span = name.span.to(self.before());
        if matches!(self.peek(), Token::Name(it) if it == "T")
            && *self.peek_second() == Token::Symbol("[")
        {
            let message = "There is no `T[…]`, which cuts a distribution off; a parameter has bounds, as in `s in (0, 10) ~ normal(0, 1)`, and a row a summand for what is cut off";
            return Err(Fault::new(self.span(), message));
        }
        Ok(Law {
            name,
            arguments,
            span,
        })
    }

    /// Expressions with commas up to the bracket `close`, which is taken.
    fn list(&mut self, close: &str) -> Result<Vec<Expr>, Fault> {
        let mut items = Vec::new();
        if self.takes(close) {
            return Ok(items);
        }
        loop {
            items.push(self.expression()?);
            // As in Stan, what a density is of may be parted from its parameters by a bar.
            let goes_on = self.takes(",") || items.len() == 1 && self.takes("|");
            if !goes_on {
                break;
            }
        }
        self.expect(close, "or `,`")?;
        Ok(items)
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.too_deep());
        }
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn too_deep(&self) -> Fault {
        let message = format!(
            "There are more than {MAX_DEPTH} operations within each other; give some of them a name on a line of their own"
        );
        Fault::new(self.span(), message)
    }

    fn expression(&mut self) -> Result<Expr, Fault> {
        self.deeper(|parser| {
            let left = parser.sum()?;
            let Token::Symbol(symbol) = *parser.peek() else {
                return Ok(left);
            };
            if !["<", "<=", ">", ">=", "==", "!="].contains(&symbol) {
                return Ok(left);
            }
            parser.step();
            let right = parser.sum()?;
            let span = left.span.to(right.span);
            let (a, b) = match symbol {
                ">" | ">=" => (right, left),
                _ => (left, right),
            };
            let operation = match symbol {
                "<" | ">" => Binary::Less,
                "<=" | ">=" => Binary::LessEqual,
                _ => Binary::Equal,
            };
            let compared = binary(operation, a, b, span);
            Ok(match symbol {
                "!=" => Expr {
                    kind: ExprKind::Not(Box::new(compared)),
                    span,
                },
                _ => compared,
            })
        })
    }

    /// Terms joined by operators of one strength, from the left.
    fn joined(
        &mut self,
        operators: [(&str, Binary); 2],
        part: impl Fn(&mut Self) -> Result<Expr, Fault>,
    ) -> Result<Expr, Fault> {
        let mut left = part(self)?;
        let depth = self.depth;
        loop {
            let found = operators.iter().find(|(symbol, _)| self.takes(symbol));
            let Some((_, operation)) = found else {
                self.depth = depth;
                return Ok(left);
            };
            // A chain of operators is a tree as deep as it is long.
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return Err(self.too_deep());
            }
            let right = part(self)?;
            let span = left.span.to(right.span);
            left = binary(*operation, left, right, span);
        }
    }

    fn sum(&mut self) -> Result<Expr, Fault> {
        self.joined([("+", Binary::Add), ("-", Binary::Sub)], Self::product)
    }

    fn product(&mut self) -> Result<Expr, Fault> {
        self.joined([("*", Binary::Mul), ("/", Binary::Div)], Self::signed)
    }

    fn signed(&mut self) -> Result<Expr, Fault> {
        let span = self.span();
        if self.takes("-") {
            let inner = self.deeper(Self::signed)?;
            let span = span.to(inner.span);
            return Ok(match inner.kind {
                ExprKind::Number(number) => Expr {
                    kind: ExprKind::Number(-number),
                    span,
                },
                _ => Expr {
                    kind: ExprKind::Negate(Box::new(inner)),
                    span,
                },
            });
        }
        if self.takes("+") {
            return self.deeper(Self::signed);
        }
        self.power()
    }

    fn power(&mut self) -> Result<Expr, Fault> {
        let base = self.postfix()?;
        if !self.takes("^") {
            return Ok(base);
        }
        let exponent = self.deeper(Self::signed)?;
        let span = base.span.to(exponent.span);
        Ok(binary(Binary::Pow, base, exponent, span))
    }

    fn postfix(&mut self) -> Result<Expr, Fault> {
        let mut base = self.atom()?;
        while self.takes("[") {
            let open = self.before();
            let items = self.list("]")?;
            if items.is_empty() {
                return Err(Fault::new(
                    open.to(self.before()),
                    "There is no index between the brackets",
                ));
            }
            let span = base.span.to(self.before());
            let kind = match base.kind {
                ExprKind::Index(inner, mut earlier) => {
                    earlier.extend(items);
                    ExprKind::Index(inner, earlier)
                }
                kind => {
                    let inner = Expr {
                        kind,
                        span: base.span,
                    };
                    ExprKind::Index(Box::new(inner), items)
                }
            };
            base = Expr { kind, span };
        }
        Ok(base)
    }

    fn atom(&mut self) -> Result<Expr, Fault> {
        let span = self.span();
        let kind = match self.peek().clone() {
            Token::Number(number) => ExprKind::Number(number),
            Token::Text(text) => ExprKind::Text(text),
            Token::Name(text) => {
                self.step();
                if !self.takes("(") {
                    return Ok(Expr {
                        kind: ExprKind::Name(text),
                        span,
                    });
                }
                let arguments = self.list(")")?;
                return Ok(Expr {
                    kind: ExprKind::Call(Name { text, span }, arguments),
                    span: span.to(self.before()),
                });
            }
            Token::Symbol("(") => {
                self.step();
                let inner = self.expression()?;
                let end = self.expect(")", "to close the bracket")?;
                return Ok(Expr {
                    kind: inner.kind,
                    span: span.to(end),
                });
            }
            Token::Symbol("[") => {
                self.step();
                let items = self.list("]")?;
                let span = span.to(self.before());
                if items.is_empty() {
                    return Err(Fault::new(span, "There is nothing between the brackets"));
                }
                return Ok(Expr {
                    kind: ExprKind::List(items),
                    span,
                });
            }
            _ => return self.fault("a number, a name or a bracket"),
        };
        self.step();
        Ok(Expr { kind, span })
    }
}

fn binary(operation: Binary, a: Expr, b: Expr, span: Span) -> Expr {
    Expr {
        kind: ExprKind::Binary(operation, Box::new(a), Box::new(b)),
        span,
    }
}
