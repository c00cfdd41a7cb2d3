//! Expressions of reported quantities: `exp(10*b[age])`, draw by draw.
//!
//! ```text
//! sum     = product (("+" | "-") product)*
//! product = signed (("*" | "/") signed)*
//! signed  = ("-" | "+") signed | power
//! power   = atom ("^" signed)?           so that -2^2 is -4 and 2^3^2 is 512, as in R
//! atom    = number | quantity | function "(" sum ")" | "(" sum ")"
//! ```
//!
//! Quantities are written as they are reported; the longest name that fits is meant.

use super::derived::Layout;
use super::{Derived, EffectsError, EffectsOptions};
use ergodic_base::ParamId;
use ergodic_base::draws::DrawList;
use ergodic_base::shown::shortened;
use ergodic_core::design::name_hint;

/// Deepest nesting, far beyond any that people write: the reader goes down a few calls for each.
const MAX_NESTING: usize = 100;

/// Why an expression cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The expression cannot be read at character {position}: {message}")]
pub struct ExpressionError {
    /// 1-based character of the expression.
    pub position: usize,
    /// What was found and what is expected.
    pub message: String,
}

/// An expression and what the draws say of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpressionValue {
    /// The expression as it was written.
    pub text: String,
    /// Value of the expression.
    pub value: Derived,
}

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Function {
    Exp,
    Log,
    Sqrt,
    Abs,
    InvLogit,
    Logit,
}

impl Function {
    const ALL: [(&'static str, Self); 6] = [
        ("exp", Self::Exp),
        ("log", Self::Log),
        ("sqrt", Self::Sqrt),
        ("abs", Self::Abs),
        ("invlogit", Self::InvLogit),
        ("logit", Self::Logit),
    ];

    fn at(self, x: f64) -> f64 {
        match self {
            Self::Exp => x.exp(),
            Self::Log => x.ln(),
            Self::Sqrt => x.sqrt(),
            Self::Abs => x.abs(),
            Self::InvLogit => ergodic_base::special::logistic(x),
            Self::Logit => x.ln() - (-x).ln_1p(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Plus,
    Minus,
    Times,
    Divide,
    Power,
}

impl Operator {
    fn at(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Plus => a + b,
            Self::Minus => a - b,
            Self::Times => a * b,
            Self::Divide => a / b,
            Self::Power => a.powf(b),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(f64),
    /// A column of draws.
    Quantity(usize),
    Negative(Box<Self>),
    Call(Function, Box<Self>),
    Both(Operator, Box<[Self; 2]>),
}

impl Node {
    fn at(&self, quantity: &dyn Fn(usize) -> f64) -> f64 {
        match self {
            Self::Number(value) => *value,
            Self::Quantity(j) => quantity(*j),
            Self::Negative(of) => -of.at(quantity),
            Self::Call(function, of) => function.at(of.at(quantity)),
            Self::Both(operator, of) => operator.at(of[0].at(quantity), of[1].at(quantity)),
        }
    }
}

/// What `texts` are over `draws` of the reported quantities `names` (one list per chain) with `weights` (one vector per chain, or
/// empty).
///
/// # Errors
/// A text that is no expression of these quantities; there are no draws, or their weights cancel.
pub fn expressions(
    texts: &[String],
    names: &[ParamId],
    draws: &[&DrawList],
    weights: &[Vec<f64>],
    options: &EffectsOptions,
) -> Result<Vec<ExpressionValue>, EffectsError> {
    options.check()?;
    let nodes = texts.iter().map(|text| read(text, names));
    let nodes = nodes.collect::<Result<Vec<Node>, ExpressionError>>()?;
    let layout = Layout::of(draws, weights, options.draws.unwrap_or(usize::MAX));
    let places = layout.places(draws);
    if places.is_empty() {
        return Err(EffectsError::NoDraws);
    }
    let values: Vec<(ParamId, Vec<f64>)> = (texts.iter().zip(&nodes))
        .map(|(text, node)| {
            let at = |&(chain, i): &(usize, usize)| node.at(&|j| draws[chain].value(i, j));
            (ParamId::named(text), places.iter().map(at).collect())
        })
        .collect();
    let derived = layout.derive(&values, 0.0, options);
    let derived = derived.ok_or(EffectsError::Weights)?.into_iter();
    Ok(texts
        .iter()
        .zip(derived)
        .map(|(text, value)| ExpressionValue {
            text: text.clone(),
            value,
        })
        .collect())
}

/// Whether `text` is an expression of the quantities `names`.
///
/// # Errors
/// It is none.
pub fn check_expression(text: &str, names: &[ParamId]) -> Result<(), ExpressionError> {
    read(text, names).map(|_| ())
}

/// Reads an expression of the quantities `names`.
fn read(text: &str, names: &[ParamId]) -> Result<Node, ExpressionError> {
    let mut reader = Reader {
        text,
        at: 0,
        depth: 0,
        names,
    };
    let node = reader.sum()?;
    match reader.next() {
        None => Ok(node),
        Some(')') => Err(reader.error("this parenthesis is never opened")),
        Some(_) => Err(reader.error("expected an operator: + - * / ^")),
    }
}

struct Reader<'a> {
    text: &'a str,
    /// Byte that is read next.
    at: usize,
    depth: usize,
    names: &'a [ParamId],
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The next character that is no space.
    fn next(&mut self) -> Option<char> {
        self.at += self.rest().len() - self.rest().trim_start().len();
        self.rest().chars().next()
    }

    fn takes(&mut self, c: char) -> bool {
        let found = self.next() == Some(c);
        self.at += if found { c.len_utf8() } else { 0 };
        found
    }

    fn error(&self, message: impl Into<String>) -> ExpressionError {
        ExpressionError {
            position: self.text[..self.at].chars().count() + 1,
            message: message.into(),
        }
    }

    fn sum(&mut self) -> Result<Node, ExpressionError> {
        let mut node = self.product()?;
        loop {
            let operator = match self.next() {
                Some('+') => Operator::Plus,
                Some('-') => Operator::Minus,
                _ => return Ok(node),
            };
            self.at += 1;
            node = Node::Both(operator, Box::new([node, self.product()?]));
        }
    }

    fn product(&mut self) -> Result<Node, ExpressionError> {
        let mut node = self.signed()?;
        loop {
            let operator = match self.next() {
                Some('*') => Operator::Times,
                Some('/') => Operator::Divide,
                _ => return Ok(node),
            };
            self.at += 1;
            node = Node::Both(operator, Box::new([node, self.signed()?]));
        }
    }

    fn signed(&mut self) -> Result<Node, ExpressionError> {
        self.deeper(|reader| {
            if reader.takes('-') {
                Ok(Node::Negative(Box::new(reader.signed()?)))
            } else if reader.takes('+') {
                reader.signed()
            } else {
                reader.power()
            }
        })
    }

    fn power(&mut self) -> Result<Node, ExpressionError> {
        let base = self.atom()?;
        if !self.takes('^') {
            return Ok(base);
        }
        let power = self.signed()?;
        Ok(Node::Both(Operator::Power, Box::new([base, power])))
    }

    fn atom(&mut self) -> Result<Node, ExpressionError> {
        match self.next() {
            None => Err(self.error("expected a number or a quantity, found the end")),
            Some('(') => {
                self.at += 1;
                self.inside()
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => self.name(),
            Some(c) => Err(self.error(format!(
                "expected a number or a quantity, found `{}`",
                c.escape_debug()
            ))),
        }
    }

    /// What stands in parentheses, the first of which was read.
    fn inside(&mut self) -> Result<Node, ExpressionError> {
        let node = self.sum()?;
        if self.takes(')') {
            return Ok(node);
        }
        Err(self.error("expected `)`"))
    }

    fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, ExpressionError>,
    ) -> Result<T, ExpressionError> {
        if self.depth == MAX_NESTING {
            return Err(self.error(format!("it is nested more than {MAX_NESTING} deep")));
        }
        self.depth += 1;
        let made = read(self);
        self.depth -= 1;
        made
    }

    fn number(&mut self) -> Result<Node, ExpressionError> {
        let rest = self.rest().as_bytes();
        let digits = |from: usize| {
            rest[from..]
                .iter()
                .take_while(|c| c.is_ascii_digit())
                .count()
        };
        let mut len = digits(0);
        if rest.get(len) == Some(&b'.') {
            len += 1 + digits(len + 1);
        }
        if let Some(b'e' | b'E') = rest.get(len) {
            let sign = usize::from(matches!(rest.get(len + 1), Some(b'+' | b'-')));
            let power = rest
                .get(len + 1 + sign..)
                .map_or(0, |_| digits(len + 1 + sign));
            len += if power > 0 { 1 + sign + power } else { 0 };
        }
        match self.rest()[..len].parse::<f64>() {
            Ok(value) if value.is_finite() => {
                self.at += len;
                Ok(Node::Number(value))
            }
            _ => Err(self.error("this is no number")),
        }
    }

    /// A function with its argument, or a quantity.
    fn name(&mut self) -> Result<Node, ExpressionError> {
        let rest = self.rest();
        let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        let word = &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())];
        let after = rest[word.len()..].trim_start();
        if after.starts_with('(') {
            let known = Function::ALL.iter().find(|(name, _)| *name == word);
            let Some((_, function)) = known else {
                let names = Function::ALL.map(|(name, _)| name);
                return Err(self.error(format!(
                    "there is no function `{}`; there are {}",
                    shortened(word),
                    names.join(", ")
                )));
            };
            self.at += rest.len() - after.len() + 1;
            return Ok(Node::Call(*function, Box::new(self.inside()?)));
        }
        let fitting = self.names.iter().enumerate().filter_map(|(place, name)| {
            let len = written_len(rest, name.as_str())?;
            let ends = name.as_str().ends_with(']') || !rest[len..].starts_with(is_name);
            ends.then_some((name.as_str().len(), len, place))
        });
        // Of two that are the same text the first is meant.
        if let Some((_, len, place)) = fitting.max_by_key(|it| (it.0, std::cmp::Reverse(it.2))) {
            self.at += len;
            return Ok(Node::Quantity(place));
        }
        let keys = after.starts_with('[').then(|| rest.find(']')).flatten();
        let name = keys.map_or(word, |end| &rest[..=end]);
        let known = self.names.iter().map(ParamId::as_str);
        Err(self.error(format!(
            "the run reports no `{}`; {}",
            shortened(name),
            name_hint(name, known)
        )))
    }
}

/// How long `name` is where `rest` begins with it, as it is reported or, as models as text have it, with quotes around what stands in its
/// brackets: `m["0"]` is m[0], `w["a", 2]` is w[a,2].
fn written_len(rest: &str, name: &str) -> Option<usize> {
    if rest.starts_with(name) {
        return Some(name.len());
    }
    let (mut wanted, mut is_inside, mut last) = (name.chars().peekable(), false, ' ');
    for (at, c) in rest.char_indices() {
        let is_between = c == '"' || c == ' ' && last == ',';
        if is_inside && is_between && wanted.peek() != Some(&c) {
            continue;
        }
        if wanted.next() != Some(c) {
            return None;
        }
        if wanted.peek().is_none() {
            return Some(at + c.len_utf8());
        }
        is_inside |= c == '[';
        last = c;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<ParamId> {
        let names = [
            "b[x]",
            "b[x:f=a b]",
            "sigma",
            "sigma2",
            "r[g,a], b,Intercept]",
        ];
        names.map(ParamId::from).into()
    }

    fn value(text: &str) -> f64 {
        let quantity = |j: usize| [2.0, 3.0, 5.0, 7.0, 11.0][j];
        read(text, &names()).unwrap().at(&quantity)
    }

    #[test]
    fn expressions_have_the_values_that_r_gives_them() {
        let logistic = |x: f64| 1.0 / (1.0 + (-x).exp());
        for (text, expected) in [
            ("1 + 2*3", 7.0),
            ("-2^2", -4.0),
            ("2^3^2", 512.0),
            ("2^-1", 0.5),
            ("8/4/2", 1.0),
            ("1 - 2 - 3", -4.0),
            ("--3 + +1", 4.0),
            ("(1 + 2)*1.5e1", 45.0),
            (".5e-1*2E+1", 1.0),
            ("exp(b[x])", 2.0_f64.exp()),
            ("b[x:f=a b] - b[x]", 1.0),
            ("sigma2/sigma", 1.4),
            ("r[g,a], b,Intercept]*2", 22.0),
            ("invlogit(b[x]) - abs(-1)", logistic(2.0) - 1.0),
            ("logit( invlogit (sqrt(4)) )", 2.0),
            ("log(exp(3))", 3.0),
            ("b[\"x\"] + 1", 3.0),
            ("sigma * b[\"x:f=a b\"]", 15.0),
            ("r[\"g\", \"a], b\",\"Intercept\"] - b[\"x\"]", 9.0),
            ("2e", f64::NAN),
        ] {
            if expected.is_nan() {
                assert!(read(text, &names()).is_err(), "{text}");
                continue;
            }
            assert!(
                (value(text) - expected).abs() < 1e-12,
                "{text}: {}",
                value(text)
            );
        }
    }

    #[test]
    fn errors_point_to_the_place() {
        let deep = "(".repeat(200);
        for (text, position, said) in [
            ("", 1, "found the end"),
            ("1 +", 4, "found the end"),
            ("2 * (b[x] + 1", 14, "expected `)`"),
            ("2)", 2, "never opened"),
            (
                "b[y] + 1",
                1,
                "the run reports no `b[y]`; did you mean `b[x]`?",
            ),
            ("1 + sigm", 5, "did you mean `sigma`?"),
            (
                "sin(1)",
                1,
                "there is no function `sin`; there are exp, log",
            ),
            ("2 3", 3, "expected an operator"),
            ("ä + 1", 1, "the run reports no `ä`"),
            ("1 + ?", 5, "found `?`"),
            ("1e999", 1, "no number"),
            (".", 1, "no number"),
            (deep.as_str(), 101, "more than 100 deep"),
        ] {
            let error = read(text, &names()).unwrap_err();
            assert!(error.message.contains(said), "{text}: {error}");
            assert_eq!(error.position, position, "{text}: {error}");
        }
    }

    #[test]
    fn an_expression_has_the_summary_of_its_draws() {
        let mut lists = Vec::new();
        for chain in 0..2 {
            let mut list = DrawList::new(5);
            for i in 0..50 {
                let x = f64::from((i * 37 + chain) % 50) / 50.0;
                list.push(&[x, 1.0, 1.0, 1.0, 1.0]);
            }
            lists.push(list);
        }
        let lists: Vec<&DrawList> = lists.iter().collect();
        let options = EffectsOptions {
            rope: Some([0.0, 0.5]),
            ..EffectsOptions::default()
        };
        let of = |text: &str| expressions(&[text.to_owned()], &names(), &lists, &[], &options);
        let told = of("2*b[x] - 1").unwrap().remove(0);
        let plain = ergodic_diagnostics::summarise(&names()[..1], &lists, &[], 0.0).remove(0);
        assert!((told.value.mean() - (2.0 * plain.mean.unwrap() - 1.0)).abs() < 1e-12);
        assert!(
            (told.value.summary.ess_bulk.unwrap() / plain.ess_bulk.unwrap() - 1.0).abs() < 1e-9
        );
        assert!((told.value.above - 0.48).abs() < 0.021 && told.value.in_rope.unwrap() > 0.2);
        assert!(
            of("b[z]")
                .unwrap_err()
                .to_string()
                .contains("at character 1")
        );
        // Of numbers that are not there no probability is known either.
        let logs = of("log(-b[x] - 1)").unwrap().remove(0).value;
        assert!(logs.above.is_nan() && logs.in_rope.unwrap().is_nan());
        let none: [&DrawList; 0] = [];
        assert!(expressions(&["1".to_owned()], &names(), &none, &[], &options).is_err());
    }
}
