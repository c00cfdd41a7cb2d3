//! A program as Stan code. Vectors are written out or looped over element by element, as they are computed here; a relation is one of
//! Stan's, so that both densities agree up to a constant. What Stan must have as whole numbers, outcomes of counts and trials, is
//! data, with the expression that it is made of beside it.

mod code;
mod expressions;
mod order;
mod values;

use std::collections::HashMap;

use code::{At, Bind, fixed, index, number};
use values::{picks, whole_type};

use super::products::has_product;
use super::{Entity, Lowering, Picks, Section};
use crate::columns::Columns;
use crate::distributions::{self, Support};
use crate::functions::Function;
use crate::lower::declarations::{Bounds, Dimension, Parameter};
use crate::place::{Fault, Span};
use crate::syntax::{Definition, Expr, ExprKind, Law, Statement, Tree, Vector};
use ergodic_core::models::translation::Program;

/// Vectors of at most this many elements are written out where Stan has no function of them.
const MOST_WRITTEN_OUT: usize = 1000;
/// Categories, or columns of a vector, that a comment lists.
const LEVELS_LISTED: usize = 12;

/// Words that Stan or C++ have taken, as far as they come to mind as names.
const RESERVED: &str = "N n i j for in while repeat until if then else break continue return int real complex vector row_vector matrix \
    complex_vector complex_row_vector complex_matrix array tuple void ordered positive_ordered simplex unit_vector sum_to_zero_vector \
    sum_to_zero_matrix cholesky_factor_corr cholesky_factor_cov corr_matrix cov_matrix column_stochastic_matrix row_stochastic_matrix \
    functions data transformed parameters model generated quantities target lower upper offset multiplier truncate true false print \
    reject fatal_error profile jacobian get_lp lp__ fvar STAN_MAJOR STAN_MINOR STAN_PATCH STAN_MATH_MAJOR STAN_MATH_MINOR \
    STAN_MATH_PATCH var row col alignas alignof and and_eq asm auto bitand bitor bool case catch char char16_t char32_t class compl \
    const constexpr const_cast decltype default delete do double dynamic_cast enum explicit export extern float friend goto inline long \
    mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast short signed \
    sizeof static static_assert static_cast struct switch template this thread_local throw try typedef typeid typename union unsigned \
    using virtual volatile wchar_t xor xor_eq";

/// Whole numbers as data that an expression of columns makes.
struct Made {
    /// Name in Stan.
    name: String,
    /// The expression of columns as it is written here.
    expression: String,
    /// Type in Stan.
    values: &'static str,
}

/// What is written while a program is read.
struct Writer<'a, 'b> {
    low: &'b mut Lowering<'a>,
    source: &'b str,
    vectors: &'b [Vector],
    /// Names in Stan, by names here.
    names: HashMap<String, String>,
    /// Columns of numbers that Stan has as whole numbers, with their limits.
    whole: HashMap<usize, Support>,
    /// Vectors of columns of which the same holds.
    whole_vectors: HashMap<usize, Support>,
    /// Columns that code names, in order of appearance.
    used: Vec<Entity>,
    /// Whole numbers that are made of expressions.
    made: Vec<Made>,
}

/// Stan code for `tree`, whose text is `source`, with these columns.
pub(crate) fn stan(tree: &Tree, source: &str, columns: &Columns) -> Result<String, Fault> {
    let mut low = Lowering::new(columns);
    low.name_everything(tree)?;
    low.declare(tree)?;
    let mut writer = Writer {
        names: names(tree, columns),
        low: &mut low,
        source,
        vectors: &tree.vectors,
        whole: HashMap::new(),
        whole_vectors: HashMap::new(),
        used: Vec::new(),
        made: Vec::new(),
    };
    writer.find_whole(tree);
    let mut program = Program::default();
    for at in 0..tree.declarations.len() {
        let parameter = writer.low.parameters[at].clone();
        let line = writer.declaration(&parameter);
        program.parameters.push(line);
    }
    for definition in order::definitions(&tree.definitions) {
        let lines = writer.defined(definition)?;
        program.transformed_parameters.extend(lines);
    }
    for (at, declaration) in tree.declarations.iter().enumerate() {
        if let Some(law) = &declaration.law {
            let parameter = writer.low.parameters[at].clone();
            let name = Expr {
                kind: ExprKind::Name(declaration.name.text.clone()),
                span: declaration.name.span,
            };
            program.model.extend(writer.prior(&parameter, &name, law)?);
        }
    }
    writer.low.section = Section::Target;
    for line in order::statements(&tree.target) {
        program.model.extend(writer.statement(line)?);
    }
    writer.low.section = Section::Rows;
    let mut rows = Vec::new();
    for line in order::statements(&tree.rows) {
        rows.extend(writer.statement(line)?);
    }
    if !rows.is_empty() {
        program.model.push("for (n in 1:N) {".to_owned());
        program
            .model
            .extend(rows.iter().map(|line| format!("  {line}")));
        program.model.push("}".to_owned());
    }
    writer.low.section = Section::Report;
    // What is defined elsewhere is written there.
    let reported = tree.report.iter().filter(|it| !it.is_shown());
    for definition in order::definitions(reported) {
        program.generated.extend(writer.defined(definition)?);
    }
    program.data = writer.data();
    Ok(program.text())
}

/// Names in Stan: letters, digits and underscores, none of Stan's own, each once.
fn names(tree: &Tree, columns: &Columns) -> HashMap<String, String> {
    let lines = tree.rows.iter().chain(&tree.target);
    let defined = lines.filter_map(|line| match line {
        Statement::Definition(definition) => Some(&definition.name.text),
        _ => None,
    });
    let others = tree.definitions.iter().chain(&tree.report);
    let all = (tree.declarations.iter().map(|it| &it.name.text))
        .chain(others.map(|it| &it.name.text))
        .chain(defined)
        .chain(tree.vectors.iter().map(|it| &it.name.text))
        .chain(columns.numbers.iter().map(|(name, _)| name))
        .chain(columns.groups.iter().map(|group| &group.name));
    let mut names: HashMap<String, String> = HashMap::new();
    let mut taken: Vec<String> = RESERVED.split_whitespace().map(str::to_owned).collect();
    for name in all {
        if names.contains_key(name) {
            continue;
        }
        let safe = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut text: String = name.chars().map(safe).collect();
        if !text.starts_with(|c: char| c.is_ascii_alphabetic()) {
            text.insert(0, 'x');
        }
        let is_taken = |text: &String| taken.contains(text) || distributions::find(text).is_some();
        // Names that end in two underscores are Stan's.
        while is_taken(&text) || text.ends_with("__") || Function::find(&text).is_some() {
            text = format!("{}_2", text.trim_end_matches('_'));
        }
        taken.push(text.clone());
        names.insert(name.clone(), text);
    }
    names
}

impl Writer<'_, '_> {
    fn name(&self, name: &str) -> String {
        self.names.get(name).map_or(name, String::as_str).to_owned()
    }

    /// Columns that are outcomes of counts, or numbers of trials, as they stand.
    fn find_whole(&mut self, tree: &Tree) {
        for line in tree.rows.iter() {
            self.find_whole_vectors(line);
            let Statement::Relation(outcome, law) = line else {
                continue;
            };
            let Some(distribution) = distributions::find(&law.name.text) else {
                continue;
            };
            let mut note = |e: &Expr, support: Support| {
                let ExprKind::Name(name) = &e.kind else {
                    return;
                };
                match self.low.entities.get(name) {
                    Some(Entity::Number(at)) => self.whole.insert(*at, support),
                    Some(Entity::Vector(at)) => self.whole_vectors.insert(*at, support),
                    _ => None,
                };
            };
            if distribution.support.is_discrete() {
                note(outcome, distribution.support);
            }
            if distribution.support == Support::Trials {
                note(&law.arguments[0], Support::Counts);
            }
        }
    }

    /// Vectors of columns that a line has the log density of counts of, or that are the trials of one.
    fn find_whole_vectors(&mut self, line: &Statement) {
        let parts: Vec<&Expr> = match line {
            Statement::Definition(definition) => vec![&definition.value],
            Statement::Relation(outcome, law) => {
                std::iter::once(outcome).chain(&law.arguments).collect()
            }
            Statement::Term(term) => vec![term],
        };
        for part in parts {
            part.walk(&mut |e| {
                let ExprKind::Call(name, arguments) = &e.kind else {
                    return;
                };
                let Some(law) = distributions::stem(&name.text).and_then(distributions::find)
                else {
                    return;
                };
                // The outcome, and the trials after it.
                let whole = match law.support {
                    Support::Trials => [Some(Support::Trials), Some(Support::Counts)],
                    support => [support.is_discrete().then_some(support), None],
                };
                for (argument, support) in arguments.iter().zip(whole) {
                    if let Some(support) = support
                        && let ExprKind::Name(name) = &argument.kind
                        && let Some(Entity::Vector(at)) = self.low.entities.get(name)
                    {
                        self.whole_vectors.insert(*at, support);
                    }
                }
            });
        }
    }

    /// The block `data`.
    fn data(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let groups = &self.low.columns.groups;
        let mut counted: Vec<&str> = Vec::new();
        let dimensions = self.low.parameters.iter().flat_map(|it| &it.dimensions);
        counted.extend(dimensions.filter_map(|it| it.column.as_deref()));
        for group in groups
            .iter()
            .filter(|it| counted.contains(&it.name.as_str()))
        {
            lines.push(format!("int<lower=1> {};", self.levels_of(&group.name)));
        }
        for (at, vector) in self.vectors.iter().enumerate() {
            let name = &vector.name.text;
            let is_used = |it: &Entity| matches!(it, Entity::Vector(used) if *used == at);
            if counted.contains(&name.as_str()) || self.used.iter().any(is_used) {
                lines.push(format!("int<lower=1> {};", self.levels_of(name)));
            }
        }
        if self.used.is_empty() && self.made.is_empty() {
            return lines;
        }
        lines.insert(0, "int<lower=1> N;  // rows".to_owned());
        for entity in &self.used {
            match *entity {
                Entity::Number(at) => {
                    let (name, _) = &self.low.columns.numbers[at];
                    let code = self.name(name);
                    let line = match self.whole.get(&at) {
                        Some(support) => {
                            let range = self.range(&[at]);
                            format!("array[N] {} {code};", whole_type(*support, range))
                        }
                        None => format!("vector[N] {code};"),
                    };
                    lines.push(noted(line, name, &code));
                }
                Entity::Group(at) => {
                    let group = &groups[at];
                    let levels: Vec<String> = (group.levels.iter().take(LEVELS_LISTED).enumerate())
                        .map(|(k, level)| format!("{} {}", k + 1, level.replace('\n', " ")))
                        .collect();
                    let more = if group.levels.len() > LEVELS_LISTED {
                        ", …"
                    } else {
                        ""
                    };
                    lines.push(format!(
                        "array[N] int<lower=1, upper={}> {};  // {}{more}",
                        if counted.contains(&group.name.as_str()) {
                            self.levels_of(&group.name)
                        } else {
                            group.levels.len().to_string()
                        },
                        self.name(&group.name),
                        levels.join(", ")
                    ));
                }
                Entity::Vector(at) => {
                    let columns = &self.low.columns.vectors[at];
                    let listed: Vec<String> = (columns.iter().take(LEVELS_LISTED))
                        .map(|&column| self.low.columns.numbers[column].0.replace('\n', " "))
                        .collect();
                    let more = if columns.len() > LEVELS_LISTED {
                        ", …"
                    } else {
                        ""
                    };
                    let name = &self.vectors[at].name.text;
                    let (code, size) = (self.name(name), self.levels_of(name));
                    let declared = match self.whole_vectors.get(&at) {
                        Some(support) => {
                            let values = whole_type(*support, self.range(columns));
                            format!("array[N, {size}] {values} {code};")
                        }
                        None => format!("matrix[N, {size}] {code};"),
                    };
                    lines.push(format!("{declared}  // {}{more}", listed.join(", ")));
                }
                Entity::Parameter(_) | Entity::Definition(_) | Entity::Constant(_) => {}
            }
        }
        lines.extend(
            self.made
                .iter()
                .map(|it| format!("array[N] {} {};  // {}", it.values, it.name, it.expression)),
        );
        lines
    }

    /// The numbers between which columns of numbers are.
    fn range(&self, columns: &[usize]) -> [f64; 2] {
        let all = columns
            .iter()
            .flat_map(|&at| &self.low.columns.numbers[at].1);
        all.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], &x| {
            [a.min(x), b.max(x)]
        })
    }

    /// The number of categories of a column, or of columns of a vector.
    fn levels_of(&self, column: &str) -> String {
        format!("K_{}", self.name(column))
    }

    fn size(&self, dimension: &Dimension) -> String {
        match &dimension.column {
            Some(column) => self.levels_of(column),
            None => dimension.labels.len().to_string(),
        }
    }

    /// The declaration of a parameter.
    fn declaration(&self, parameter: &Parameter) -> String {
        let bounds = match parameter.bounds {
            Bounds::Real | Bounds::Simplex | Bounds::Ordered => String::new(),
            Bounds::Above(a) => format!("<lower={}>", number(a)),
            Bounds::Below(b) => format!("<upper={}>", number(b)),
            Bounds::Between(a, b) => format!("<lower={}, upper={}>", number(a), number(b)),
        };
        let word = match parameter.bounds {
            Bounds::Simplex => "simplex",
            Bounds::Ordered => "ordered",
            _ => "vector",
        };
        let sizes: Vec<String> = parameter
            .dimensions
            .iter()
            .map(|it| self.size(it))
            .collect();
        let name = self.name(&parameter.name);
        match sizes.as_slice() {
            [] => format!("real{bounds} {name};"),
            [size] => format!("{word}{bounds}[{size}] {name};"),
            [rows, columns, ..] => format!("array[{rows}] {word}{bounds}[{columns}] {name};"),
        }
    }

    /// The prior of a parameter.
    fn prior(
        &mut self,
        parameter: &Parameter,
        name: &Expr,
        law: &Law,
    ) -> Result<Vec<String>, Fault> {
        let sizes: Vec<String> = parameter
            .dimensions
            .iter()
            .map(|it| self.size(it))
            .collect();
        self.low.section = Section::Parameters;
        let mut has_vectors = false;
        for argument in &law.arguments {
            has_vectors |= !self.low.shape(argument)?.is_empty();
        }
        if parameter.bounds == Bounds::Simplex {
            let shares = sizes.last().cloned().unwrap_or_default();
            let count = parameter.sizes().last().copied().unwrap_or(0);
            let alpha = &law.arguments[0];
            let alpha = if has_vectors {
                format!("[{}]'", self.written_out(alpha, &[count])?)
            } else {
                format!("rep_vector({}, {shares})", self.code(alpha, &[])?.text)
            };
            let name = self.name(&parameter.name);
            return Ok(vec![match sizes.as_slice() {
                [groups, _] => format!("for (i in 1:{groups}) {name}[i] ~ dirichlet({alpha});"),
                _ => format!("{name} ~ dirichlet({alpha});"),
            }]);
        }
        match sizes.as_slice() {
            [] => self.relation(name, law, &[]),
            // One statement for all elements.
            [_] if !has_vectors => {
                let law = self.law(law, &[])?;
                Ok(vec![format!("{} ~ {law};", self.name(&parameter.name))])
            }
            [rows, _] if !has_vectors => {
                let law = self.law(law, &[])?;
                let name = self.name(&parameter.name);
                Ok(vec![format!("for (i in 1:{rows}) {name}[i] ~ {law};")])
            }
            _ => self.each(name, law),
        }
    }

    /// A relation for every element of what has it.
    fn each(&mut self, outcome: &Expr, law: &Law) -> Result<Vec<String>, Fault> {
        let sizes = self.low.shape(outcome)?;
        let mut lines = Vec::new();
        let mut has_lists = self.has_list(outcome);
        has_lists |= law.arguments.iter().any(|part| self.has_list(part));
        // Whole numbers are not read from variables, which are none in Stan.
        if let (Some(support), ExprKind::Name(_)) = (support_of(law), &outcome.kind)
            && support.is_discrete()
        {
            has_lists |= self.is_constant(outcome, &sizes);
        }
        if has_lists {
            for at in 0..num_written_out(&sizes, outcome.span)? {
                lines.extend(self.relation(outcome, law, &fixed(at, &sizes))?);
            }
            return Ok(lines);
        }
        let (at, head) = loops(&sizes);
        for line in self.relation(outcome, law, &at)? {
            lines.push(format!("{head}{line}"));
        }
        Ok(lines)
    }

    /// Whether a list is written out in it, or in a definition that is written out in its place. Elements that are picked from one are no
    /// list.
    fn has_list(&self, e: &Expr) -> bool {
        let (mut found, mut named, mut picked) = (false, Vec::new(), Vec::new());
        e.walk(&mut |it| match &it.kind {
            ExprKind::List(_) => found = true,
            ExprKind::Name(name) => named.push((name, it.span)),
            ExprKind::Index(base, _) => picked.push(base.span),
            _ => {}
        });
        let whole = (named.into_iter()).filter(|(_, span)| !picked.contains(span));
        let mut entities = whole.filter_map(|(name, _)| self.low.entities.get(name).copied());
        found
            || entities.any(|entity| match entity {
                Entity::Definition(at) if !self.is_variable(at) => {
                    self.has_list(&self.low.defined[at].definition.value)
                }
                _ => false,
            })
    }

    /// Whether the first element of a vector of these sizes is a number that is known.
    fn is_constant(&mut self, e: &Expr, sizes: &[usize]) -> bool {
        self.constant(e, &fixed(0, sizes)).is_some()
    }

    /// The number at a fixed position, where it is known.
    fn constant(&mut self, e: &Expr, at: &[At]) -> Option<f64> {
        let id = self.low.part(e, &picks(at)?).ok()?;
        self.low.graph.as_constant(id)
    }

    /// A definition as a variable of its own.
    fn defined(&mut self, definition: &Definition) -> Result<Vec<String>, Fault> {
        let section = match self
            .low
            .entity(&definition.name.text, definition.name.span)?
        {
            Entity::Definition(at) => self.low.defined[at].section,
            _ => self.low.section,
        };
        self.low.section = section;
        let sizes = self.low.shape(&definition.value)?;
        let name = self.name(&definition.name.text);
        if sizes.is_empty() {
            let value = self.code(&definition.value, &[])?.text;
            return Ok(vec![format!("real {name} = {value};")]);
        }
        let mut lines = vec![match sizes.as_slice() {
            [size] => format!("vector[{size}] {name};"),
            [rows, columns, ..] => format!("array[{rows}] vector[{columns}] {name};"),
            [] => String::new(),
        }];
        if self.has_list(&definition.value) {
            for at in 0..num_written_out(&sizes, definition.value.span)? {
                let at = fixed(at, &sizes);
                let value = self.code(&definition.value, &at)?.text;
                lines.push(format!("{name}{} = {value};", index(&at)));
            }
            return Ok(lines);
        }
        let (at, head) = loops(&sizes);
        let value = self.code(&definition.value, &at)?.text;
        lines.push(format!("{head}{name}{} = {value};", index(&at)));
        Ok(lines)
    }

    /// A line of `rows` or `target`. Vectors that are defined there are written out where they are used.
    fn statement(&mut self, line: &Statement) -> Result<Vec<String>, Fault> {
        match line {
            Statement::Definition(definition) => {
                // A number, or a vector that is too long to be written out where it is used.
                if self.low.shape(&definition.value)?.is_empty() || has_product(&definition.value) {
                    self.defined(definition)
                } else {
                    Ok(Vec::new())
                }
            }
            Statement::Relation(outcome, law) => {
                if self.low.shape(outcome)?.is_empty() {
                    self.relation(outcome, law, &[])
                } else {
                    self.each(outcome, law)
                }
            }
            Statement::Term(term) => Ok(vec![format!("target += {};", self.code(term, &[])?.text)]),
        }
    }

    /// `outcome ~ law` at a position.
    fn relation(&mut self, outcome: &Expr, law: &Law, at: &[At]) -> Result<Vec<String>, Fault> {
        let support = support_of(law);
        let left = match support {
            Some(support) if support.is_discrete() => self.whole_number(outcome, support, at)?,
            _ => self.part(outcome, at)?.text,
        };
        let is_variable = support.is_some_and(Support::is_discrete)
            || matches!(outcome.kind, ExprKind::Name(_) | ExprKind::Index(..));
        // Distributions that are no halves in Stan do not end where they do here.
        let goes_on = is_half(law) && self.may_be_impossible(law, outcome, at);
        if is_variable && !goes_on {
            return Ok(vec![format!("{left} ~ {};", self.law(law, at)?)]);
        }
        // A relation of an expression would look as if it had a Jacobian.
        let density = self.possible_density(law, (outcome, &left), at)?;
        Ok(vec![format!("target += {density};")])
    }

    /// The distribution with its arguments.
    fn law(&mut self, law: &Law, at: &[At]) -> Result<String, Fault> {
        let (name, arguments) = self.law_parts(law, at)?;
        Ok(format!("{name}({})", arguments.join(", ")))
    }

    /// The log density at `y`, complete.
    fn log_density(&mut self, law: &Law, y: &str, at: &[At]) -> Result<String, Fault> {
        let (name, arguments) = self.law_parts(law, at)?;
        let is_discrete =
            distributions::find(&law.name.text).is_some_and(|it| it.support.is_discrete());
        let ending = if is_discrete { "lpmf" } else { "lpdf" };
        let density = format!("{name}_{ending}({y} | {})", arguments.join(", "));
        Ok(match is_half(law) {
            true => format!("(log(2) + {density})"),
            false => density,
        })
    }

    fn law_parts(&mut self, law: &Law, at: &[At]) -> Result<(String, Vec<String>), Fault> {
        let name = law.name.text.as_str();
        let is_trials = distributions::find(name).is_some_and(|it| it.support == Support::Trials);
        let mut arguments = Vec::new();
        for (k, argument) in law.arguments.iter().enumerate() {
            // A vector may be along the last dimension of a matrix.
            let own = self.low.shape(argument)?.len();
            let at = &at[at.len() - own.min(at.len())..];
            arguments.push(match (is_trials, name, k) {
                (true, _, 0) => self.whole_number(argument, Support::Counts, at)?,
                (_, "ordered_logistic", 1) | (_, "categorical" | "categorical_logit", 0) => {
                    self.thresholds(argument)?
                }
                _ => self.part(argument, at)?.text,
            });
        }
        let name = match name {
            "half_normal" | "half_cauchy" => {
                arguments.insert(0, "0".to_owned());
                name.trim_start_matches("half_")
            }
            "half_student_t" => "student_t",
            "laplace" => "double_exponential",
            // The number of failures before the first success.
            "geometric" => {
                let p = self.part(&law.arguments[0], at)?.within(Bind::Power);
                arguments = vec!["1".to_owned(), format!("{p} / (1 - {p})")];
                "neg_binomial"
            }
            other => other,
        };
        Ok((name.to_owned(), arguments))
    }

    /// A vector as Stan has it, or written out.
    fn thresholds(&mut self, e: &Expr) -> Result<String, Fault> {
        let sizes = self.low.shape(e)?;
        let is_columns = match &e.kind {
            ExprKind::Name(name) => matches!(self.low.entities.get(name), Some(Entity::Vector(_))),
            _ => false,
        };
        // A row of a matrix of columns is no vector in Stan.
        if !is_columns && let Some(vector) = self.vector(e)? {
            return Ok(vector);
        }
        Ok(format!("[{}]'", self.written_out(e, &sizes)?))
    }

    /// A whole number: a column that is one, a constant, or data made of an expression.
    fn whole_number(&mut self, e: &Expr, support: Support, at: &[At]) -> Result<String, Fault> {
        if let Some(value) = self.constant(e, at).filter(|value| value.fract() == 0.0) {
            return Ok(format!("{value}"));
        }
        match &e.kind {
            ExprKind::List(items) => match at.split_first() {
                Some((At::Fixed(k), rest)) if (1..=items.len()).contains(k) => {
                    self.whole_number(&items[k - 1], support, rest)
                }
                _ => self.made_of(e, support),
            },
            ExprKind::Name(name) => match self.low.entity(name, e.span)? {
                Entity::Number(at) if self.whole.contains_key(&at) => {
                    self.note(Entity::Number(at));
                    Ok(format!("{}[n]", self.name(name)))
                }
                Entity::Vector(which) if self.whole_vectors.contains_key(&which) => {
                    self.note(Entity::Vector(which));
                    Ok(self.element_of(name, at))
                }
                // The outcome of a distribution of categories.
                Entity::Group(at) => {
                    self.note(Entity::Group(at));
                    Ok(format!("{}[n]", self.name(name)))
                }
                _ => self.made_of(e, support),
            },
            _ => self.made_of(e, support),
        }
    }

    /// Data made of an expression, one number per row.
    fn made_of(&mut self, e: &Expr, support: Support) -> Result<String, Fault> {
        if self.low.section != Section::Rows {
            let message = "Stan needs a whole number that is known here";
            return Err(Fault::new(e.span, message));
        }
        if !self.low.shape(e)?.is_empty() {
            let message = "Stan needs whole numbers of this vector as data; name the columns in the section `data`";
            return Err(Fault::new(e.span, message));
        }
        let words = self.source[e.span.start..e.span.end].split_whitespace();
        let expression = words.collect::<Vec<_>>().join(" ");
        if let Some(known) = self.made.iter().find(|it| it.expression == expression) {
            return Ok(format!("{}[n]", known.name));
        }
        let mut name = format!("y{}", self.made.len() + 1);
        while self.names.values().any(|known| *known == name) {
            name.push('_');
        }
        let code = format!("{name}[n]");
        let id = self.low.part(e, &Picks::none())?;
        self.made.push(Made {
            name,
            expression,
            values: whole_type(support, self.low.range_of(id)),
        });
        Ok(code)
    }

    fn note(&mut self, entity: Entity) {
        let known = |it: &Entity| match (it, &entity) {
            (Entity::Number(a), Entity::Number(b))
            | (Entity::Group(a), Entity::Group(b))
            | (Entity::Vector(a), Entity::Vector(b)) => a == b,
            _ => false,
        };
        if !self.used.iter().any(known) {
            self.used.push(entity);
        }
    }
}

/// Positions within a vector of these sizes that loops count, and the loops.
fn loops(sizes: &[usize]) -> (Vec<At>, String) {
    let counted = || sizes.iter().zip(["i", "j"]);
    let at = counted().map(|(_, name)| At::Code(name.to_owned()));
    let heads = counted().map(|(size, name)| format!("for ({name} in 1:{size}) "));
    (at.collect(), heads.collect())
}

/// The number of elements of a vector or matrix of these sizes, unless they are too many to be written out.
fn num_written_out(sizes: &[usize], span: Span) -> Result<usize, Fault> {
    let count: usize = sizes.iter().product();
    if count > MOST_WRITTEN_OUT {
        let message = "The vector is too long to be written out in Stan";
        return Err(Fault::new(span, message));
    }
    Ok(count)
}

/// Whether a distribution is the half above 0 of one around 0, which is the one that Stan has.
fn is_half(law: &Law) -> bool {
    law.name.text.starts_with("half_")
}

/// The values of a distribution.
fn support_of(law: &Law) -> Option<Support> {
    distributions::find(&law.name.text).map(|it| it.support)
}

/// A declaration with the name of the column where Stan has it otherwise.
fn noted(line: String, name: &str, code: &str) -> String {
    if name == code {
        line
    } else {
        format!("{line}  // {}", name.replace('\n', " "))
    }
}
