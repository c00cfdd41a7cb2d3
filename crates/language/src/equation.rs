//! A program in the notation of papers: distributions by their names, columns with the index of their row, Greek letters.

use std::collections::HashSet;

use crate::columns::CONSTANTS;
use crate::distributions;
use crate::functions::Function;
use crate::syntax::{
    Binary, Chosen, Declaration, Definition, Expr, ExprKind, Law, Size, Statement, Tree, Vector,
};
use ergodic_core::formula::quote_name;

/// Letters by their names; with a capital the name is of the capital letter.
const GREEK: [(&str, char, char); 24] = [
    ("alpha", 'α', 'Α'),
    ("beta", 'β', 'Β'),
    ("gamma", 'γ', 'Γ'),
    ("delta", 'δ', 'Δ'),
    ("epsilon", 'ε', 'Ε'),
    ("zeta", 'ζ', 'Ζ'),
    ("eta", 'η', 'Η'),
    ("theta", 'θ', 'Θ'),
    ("iota", 'ι', 'Ι'),
    ("kappa", 'κ', 'Κ'),
    ("lambda", 'λ', 'Λ'),
    ("mu", 'μ', 'Μ'),
    ("nu", 'ν', 'Ν'),
    ("xi", 'ξ', 'Ξ'),
    ("omicron", 'ο', 'Ο'),
    ("pi", 'π', 'Π'),
    ("rho", 'ρ', 'Ρ'),
    ("sigma", 'σ', 'Σ'),
    ("tau", 'τ', 'Τ'),
    ("upsilon", 'υ', 'Υ'),
    ("phi", 'φ', 'Φ'),
    ("chi", 'χ', 'Χ'),
    ("psi", 'ψ', 'Ψ'),
    ("omega", 'ω', 'Ω'),
];

/// How tightly what an expression is made of holds together, from the loosest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    Comparison,
    Sum,
    Product,
    Sign,
    Power,
    Atom,
}

/// The lines of a program: what is said of rows and of the log density, then of parameters, then what is reported. `num_rows` is N, where it
/// is known.
pub(crate) fn equation(tree: &Tree, num_rows: Option<usize>) -> String {
    let writer = Writer::new(tree);
    let mut lines: Vec<String> = tree.vectors.iter().map(|it| writer.vector(it)).collect();
    let of_row = "log density of row i";
    lines.extend(tree.rows.iter().map(|it| writer.statement(it, of_row)));
    lines.extend(
        tree.target
            .iter()
            .map(|it| writer.statement(it, "log density")),
    );
    lines.extend(tree.declarations.iter().map(|it| writer.declaration(it)));
    lines.extend(tree.definitions.iter().map(|it| writer.definition(it)));
    let reported = tree.report.iter().filter(|it| !it.is_shown());
    lines.extend(reported.map(|it| writer.definition(it)));
    if !tree.rows.is_empty() {
        let last = num_rows.map_or_else(|| "N".to_owned(), |count| count.to_string());
        lines.push(format!("i = 1 … {last}"));
    }
    lines.join("\n")
}

struct Writer<'a> {
    /// What is declared or defined; other names are columns.
    declared: HashSet<&'a str>,
    /// What is declared or defined and has a value in each row.
    of_rows: HashSet<&'a str>,
}

impl<'a> Writer<'a> {
    fn new(tree: &'a Tree) -> Self {
        let mut declared: HashSet<&str> = tree.names().collect();
        declared.extend(CONSTANTS.iter().map(|(name, _)| *name));
        let vectors = tree.vectors.iter().map(|it| it.name.text.as_str());
        let defined = tree.rows.iter().filter_map(|line| match line {
            Statement::Definition(definition) => Some(definition.name.text.as_str()),
            _ => None,
        });
        Self {
            declared,
            of_rows: vectors.chain(defined).collect(),
        }
    }

    /// A vector of columns by its parts; of many columns the first and the last.
    fn vector(&self, vector: &Vector) -> String {
        let column = |name: &String| format!("{}[i]", quote_name(name));
        let parts = vector.parts.iter().map(|part| match &part.columns {
            Chosen::Like(pieces) => format!("columns {}", pieces.join("*")),
            Chosen::Named(names) => match names.as_slice() {
                [first, _, .., last] => format!("{}, …, {}", column(first), column(last)),
                names => names.iter().map(column).collect::<Vec<_>>().join(", "),
            },
        });
        let name = self.name(&vector.name.text, &[]);
        format!("{name} = [{}]", parts.collect::<Vec<_>>().join(", "))
    }

    fn statement(&self, line: &Statement, of: &str) -> String {
        match line {
            Statement::Definition(definition) => self.definition(definition),
            Statement::Relation(outcome, law) => {
                format!("{} ~ {}", self.at(outcome, Strength::Sum), self.law(law))
            }
            Statement::Term(term) => format!("{of}: {}", self.any(term)),
        }
    }

    fn definition(&self, definition: &Definition) -> String {
        let name = self.name(&definition.name.text, &[]);
        format!("{name} = {}", self.any(&definition.value))
    }

    /// The prior of a parameter, and which values it may have, where its prior does not say it.
    fn declaration(&self, declaration: &Declaration) -> String {
        let columns: Vec<String> = declaration
            .index
            .iter()
            .map(|it| quote_name(&it.text))
            .collect();
        let mut name = self.symbol(&declaration.name.text);
        if !columns.is_empty() {
            name = format!("{name}[{}]", columns.join(","));
        }
        let mut line = match &declaration.law {
            Some(law) => format!("{name} ~ {}", self.law(law)),
            None => String::new(),
        };
        let mut add = |what: String| {
            if !line.is_empty() {
                line.push_str(", ");
            }
            line.push_str(&what);
        };
        let kind = declaration.kind.as_ref();
        let word = kind.map_or("real", |kind| kind.name.text.as_str());
        let sizes = kind.iter().flat_map(|kind| &kind.sizes);
        let sizes: Vec<String> = sizes.map(|(size, _)| self.size(size)).collect();
        match word {
            "positive" => add(format!("{name} > 0")),
            "real" if declaration.law.is_some() || declaration.bounds.is_some() => {}
            "real" => add(format!("{name} real")),
            "simplex" => add(format!("{name} a simplex of {}", sizes.join(" × "))),
            "ordered" => add(format!("{name} a vector of {} in order", sizes.join(" × "))),
            _ if sizes.len() == 1 => add(format!("{name} a vector of {}", sizes[0])),
            _ => add(format!("{name} a matrix of {}", sizes.join(" × "))),
        }
        if let Some((lower, upper)) = &declaration.bounds {
            let [lower, upper] = [lower, upper].map(|it| self.at(it, Strength::Sum));
            add(format!("{lower} < {name} < {upper}"));
        }
        if !columns.is_empty() {
            add(format!("for each {}", columns.join(" and ")));
        }
        line
    }

    fn size(&self, size: &Size) -> String {
        match size {
            Size::Number(size) => size.to_string(),
            Size::Defined(name) => self.symbol(&name.text),
            Size::Length(vector) => format!("length({})", self.symbol(&vector.text)),
        }
    }

    /// A distribution; those of a transformed parameter are written with its inverse link.
    fn law(&self, law: &Law) -> String {
        let arguments: Vec<String> = law.arguments.iter().map(|it| self.any(it)).collect();
        self.distribution(&law.name.text, arguments, "")
    }

    /// `given` stands before the parameters.
    fn distribution(&self, name: &str, mut arguments: Vec<String>, given: &str) -> String {
        let (name, link) = match name {
            "bernoulli_logit" => ("Bernoulli".to_owned(), Some((0, "logit⁻¹"))),
            "binomial_logit" => ("Binomial".to_owned(), Some((1, "logit⁻¹"))),
            "poisson_log" => ("Poisson".to_owned(), Some((0, "exp"))),
            "neg_binomial_2" => ("Negative-Binomial".to_owned(), None),
            "neg_binomial_2_log" => ("Negative-Binomial".to_owned(), Some((0, "exp"))),
            "student_t" => ("Student-t".to_owned(), None),
            "half_student_t" => ("Half-Student-t".to_owned(), None),
            "inv_gamma" => ("Inverse-Gamma".to_owned(), None),
            other => (capitals(other), None),
        };
        if let Some((at, link)) = link
            && let Some(argument) = arguments.get_mut(at)
        {
            *argument = format!("{link}({argument})");
        }
        format!("{name}({given}{})", arguments.join(", "))
    }

    /// A name with the index of the row, where it has a value in each, and further indices.
    fn name(&self, name: &str, indices: &[String]) -> String {
        let is_column = !self.declared.contains(name);
        let mut all = Vec::new();
        if is_column || self.of_rows.contains(name) {
            all.push("i".to_owned());
        }
        all.extend_from_slice(indices);
        let symbol = match is_column {
            true => quote_name(name),
            false => self.symbol(name),
        };
        match all.is_empty() {
            true => symbol,
            false => format!("{symbol}[{}]", all.join(",")),
        }
    }

    /// A name that begins with that of a Greek letter, alone or before a digit or `_`, with the letter, unless something else is called so.
    fn symbol(&self, name: &str) -> String {
        if name == "inf" {
            return "∞".to_owned();
        }
        let end = name
            .find(|c: char| !c.is_alphabetic())
            .unwrap_or(name.len());
        let (word, rest) = name.split_at(end);
        let letter = GREEK.iter().find_map(|&(known, small, capital)| {
            let (first, tail) = word.split_at_checked(1)?;
            let is_capital = first.chars().all(|c| c.is_ascii_uppercase());
            let is_known = known[..1].eq_ignore_ascii_case(first) && known[1..] == *tail;
            is_known.then_some(if is_capital { capital } else { small })
        });
        let in_greek = letter.map(|letter| format!("{letter}{rest}"));
        match in_greek.filter(|it| !self.declared.contains(it.as_str())) {
            Some(symbol) => symbol,
            None => quote_name(name),
        }
    }

    fn any(&self, e: &Expr) -> String {
        self.at(e, Strength::Comparison)
    }

    /// An expression, in brackets where it holds together less than `least`.
    fn at(&self, e: &Expr, least: Strength) -> String {
        let (text, strength) = self.written(e);
        match strength < least {
            true => format!("({text})"),
            false => text,
        }
    }

    fn written(&self, e: &Expr) -> (String, Strength) {
        match &e.kind {
            ExprKind::Number(number) if *number < 0.0 => (self.number(*number), Strength::Sign),
            ExprKind::Number(number) => (self.number(*number), Strength::Atom),
            ExprKind::Text(text) => (format!("\"{text}\""), Strength::Atom),
            ExprKind::Name(name) => (self.name(name, &[]), Strength::Atom),
            ExprKind::List(items) => (format!("[{}]", self.list(items)), Strength::Atom),
            ExprKind::Index(base, items) => {
                let items: Vec<String> = items.iter().map(|it| self.any(it)).collect();
                let text = match &base.kind {
                    ExprKind::Name(name) => self.name(name, &items),
                    _ => format!("{}[{}]", self.at(base, Strength::Atom), items.join(",")),
                };
                (text, Strength::Atom)
            }
            ExprKind::Call(name, arguments) => self.call(&name.text, arguments),
            ExprKind::Negate(inner) => (
                format!("−{}", self.at(inner, Strength::Power)),
                Strength::Sign,
            ),
            ExprKind::Not(inner) => match &inner.kind {
                ExprKind::Binary(Binary::Equal, a, b) => self.joined(a, "≠", b),
                _ => (
                    format!("not {}", self.at(inner, Strength::Atom)),
                    Strength::Comparison,
                ),
            },
            ExprKind::Binary(operation, a, b) => self.binary(*operation, a, b),
        }
    }

    /// A comparison.
    fn joined(&self, a: &Expr, sign: &str, b: &Expr) -> (String, Strength) {
        let [a, b] = [a, b].map(|it| self.at(it, Strength::Sum));
        (format!("{a} {sign} {b}"), Strength::Comparison)
    }

    fn binary(&self, operation: Binary, a: &Expr, b: &Expr) -> (String, Strength) {
        let (sign, own, right) = match operation {
            Binary::Less => return self.joined(a, "<", b),
            Binary::LessEqual => return self.joined(a, "≤", b),
            Binary::Equal => return self.joined(a, "=", b),
            Binary::Pow => return self.power(a, b),
            Binary::Add => ("+", Strength::Sum, Strength::Sum),
            Binary::Sub => ("−", Strength::Sum, Strength::Product),
            Binary::Mul => ("×", Strength::Product, Strength::Product),
            Binary::Div => ("/", Strength::Product, Strength::Sign),
        };
        let (a, b) = (self.at(a, own), self.at(b, right));
        (format!("{a} {sign} {b}"), own)
    }

    fn power(&self, base: &Expr, exponent: &Expr) -> (String, Strength) {
        let base = self.at(base, Strength::Atom);
        let text = match exponent.kind {
            ExprKind::Number(2.0) => format!("{base}²"),
            ExprKind::Number(3.0) => format!("{base}³"),
            _ => format!("{base}^{}", self.at(exponent, Strength::Atom)),
        };
        (text, Strength::Power)
    }

    fn call(&self, name: &str, arguments: &[Expr]) -> (String, Strength) {
        if let (Some(function), [inner]) = (Function::find(name), arguments) {
            let any = || self.any(inner);
            let text = match function {
                Function::Square => {
                    let base = self.at(inner, Strength::Atom);
                    return (format!("{base}²"), Strength::Power);
                }
                Function::Abs => format!("|{}|", any()),
                Function::Lgamma => format!("log Γ({})", any()),
                Function::Sqrt => format!("√({})", any()),
                Function::Logistic => format!("logit⁻¹({})", any()),
                Function::Log => format!("log({})", any()),
                _ => format!("{name}({})", any()),
            };
            return (text, Strength::Atom);
        }
        let text = match (name, arguments) {
            ("dot" | "matmul", [a, b]) => {
                let (a, b) = (self.at(a, Strength::Atom), self.at(b, Strength::Atom));
                return (format!("{a} · {b}"), Strength::Product);
            }
            (_, [outcome, rest @ ..]) if distributions::stem(name).is_some() => {
                let stem = distributions::stem(name).unwrap_or(name);
                let rest = rest.iter().map(|it| self.any(it)).collect();
                let given = format!("{} | ", self.any(outcome));
                format!("log {}", self.distribution(stem, rest, &given))
            }
            _ => format!("{name}({})", self.list(arguments)),
        };
        (text, Strength::Atom)
    }

    fn list(&self, items: &[Expr]) -> String {
        let items: Vec<String> = items.iter().map(|it| self.any(it)).collect();
        items.join(", ")
    }

    fn number(&self, number: f64) -> String {
        match number.is_infinite() {
            true => "∞".to_owned(),
            false => number.to_string().replace('-', "−"),
        }
    }
}

/// `half_normal` as Half-Normal.
fn capitals(name: &str) -> String {
    let words = name.split('_').map(|word| {
        let mut letters = word.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        first.chain(letters).collect::<String>()
    });
    words.collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser::{parse, parse_expression};

    fn written(text: &str, num_rows: Option<usize>) -> Vec<String> {
        let equation = equation(&parse(text).unwrap(), num_rows);
        equation.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_regression_is_written_as_in_papers() {
        let text = include_str!("../../../examples/models/churn.model");
        let wanted = [
            "years[i] = tenure_months[i] / 12",
            "(churned[i] = \"yes\") ~ Bernoulli(logit⁻¹(a + b[region[i]] + w[plan[i]] · [years[i], support_calls[i]]))",
            "a ~ Normal(0, 2.5)",
            "s ~ Half-Student-t(3, 0, 2.5)",
            "b[region] ~ Normal(0, s), for each region",
            "w[plan] ~ Normal(0, 1), w[plan] a vector of 2, for each plan",
            "odds = exp(a)",
            "i = 1 … 400",
        ];
        assert_eq!(written(text, Some(400)), wanted);
    }

    #[test]
    fn names_of_letters_are_letters() {
        let text = include_str!("../../../examples/models/eight_schools.model");
        let lines = written(text, None);
        assert_eq!(
            lines[0],
            "[28, 8, −3, 7, −1, 1, 18, 12] ~ Normal(θ, [15, 10, 16, 11, 9, 11, 10, 18])"
        );
        assert_eq!(
            lines[1..4],
            [
                "μ ~ Normal(0, 5)",
                "τ ~ Half-Cauchy(5)",
                "z ~ Normal(0, 1), z a vector of 8"
            ]
        );
        assert_eq!(lines[4], "θ = μ + τ × z");
        // Columns keep their names, and so do names that are no letter's.
        let text = "parameters\n Sigma: positive\n sigma_y in (0, inf) ~ gamma(2, 1)\n beta1: real\n etas: real\n α: real\n alpha: real\nrows\n mu ~ normal(Sigma + etas + α, sigma_y * beta1)\n -2 * alpha\n";
        let wanted = [
            "mu[i] ~ Normal(Σ + etas + α, σ_y × β1)",
            "log density of row i: −2 × alpha",
            "Σ > 0",
            "σ_y ~ Gamma(2, 1), 0 < σ_y < ∞",
            "β1 real",
            "etas real",
            "α real",
            "alpha real",
            "i = 1 … N",
        ];
        assert_eq!(written(text, None), wanted);
    }

    #[test]
    fn vectors_of_columns_are_told_by_their_parts() {
        let text = "data\n x: vector = [age, px1..px9, lag_*]\nparameters\n w: vector(length(x)) ~ normal(0, 1)\nrows\n y ~ poisson_log(dot(w, x) + x[1])\n";
        let wanted = [
            "x[i] = [age[i], px1[i], …, px9[i], columns lag_*]",
            "y[i] ~ Poisson(exp(w · x[i] + x[i,1]))",
            "w ~ Normal(0, 1), w a vector of length(x)",
            "i = 1 … N",
        ];
        assert_eq!(written(text, None), wanted);
    }

    #[test]
    fn brackets_stand_where_the_tree_has_them() {
        let text = "parameters\n a: real\n b: real\ntarget\n a\n";
        let tree = parse(text).unwrap();
        let writer = Writer::new(&tree);
        for (text, wanted) in [
            ("a - (b - 1)", "a − (b − 1)"),
            ("a - b - 1", "a − b − 1"),
            ("a / (b * 2)", "a / (b × 2)"),
            ("-(a + b)^2", "−(a + b)²"),
            ("(-a)^b", "(−a)^b"),
            ("a^(b + 1)", "a^(b + 1)"),
            ("2 * (a > b)", "2 × (b < a)"),
            ("1 - (a != b)", "1 − (a ≠ b)"),
            ("sqrt(a) * abs(b - 1)", "√(a) × |b − 1|"),
            ("square(a + b) / inv_logit(b)", "(a + b)² / logit⁻¹(b)"),
            ("normal_lpdf(a, b, pi)", "log Normal(a | b, π)"),
        ] {
            let e = parse_expression(text).unwrap();
            assert_eq!(writer.any(&e), wanted, "{text}");
        }
    }
}
