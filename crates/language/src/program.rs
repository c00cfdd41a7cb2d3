//! A program: its text, read and checked.

use std::sync::Arc;

use ergodic_core::design::{ColumnKind, Columns as Table, Design, Predictor};
use ergodic_core::formula::quote_name;
use ergodic_core::models::Model;

use crate::columns::{ColumnUse, Columns, KnownColumns, Role, no_number, unknown, uses};
use crate::equation::equation;
use crate::lower::{lower, stan};
use crate::model::ProgramModel;
use crate::parser::parse;
use crate::place::{Fault, ProgramError};
use crate::syntax::{ExprKind, Statement, Tree};
use crate::vectors::{VectorColumns, columns_of};

/// A model as text, whose grammar is right and whose columns are known by name.
#[derive(Clone, Debug)]
pub struct Program {
    text: String,
    tree: Tree,
    /// Columns that the text names; patterns of vectors choose others once there is a table.
    uses: Vec<ColumnUse>,
}

/// What a program reads of a table.
struct Reads {
    uses: Vec<ColumnUse>,
    vectors: Vec<VectorColumns>,
}

impl Program {
    /// Reads a program.
    ///
    /// # Errors
    /// The first thing that is wrong with its grammar, or a column that is used as a number and as categories.
    pub fn parse(text: &str) -> Result<Self, ProgramError> {
        // Some editors begin a file with a mark of its byte order, which nobody sees.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let read = || {
            let tree = parse(text)?;
            let uses = uses(&tree, &columns_of(&tree, None)?)?;
            Ok((tree, uses))
        };
        let (tree, uses) = read().map_err(|fault: Fault| ProgramError::of(fault, text))?;
        Ok(Self {
            text: text.to_owned(),
            tree,
            uses,
        })
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Columns of the data that it names, in order of appearance; those that patterns of vectors choose are not among them.
    pub fn columns(&self) -> &[ColumnUse] {
        &self.uses
    }

    /// Whether the program says nothing of rows of data and needs none.
    pub fn needs_no_data(&self) -> bool {
        self.tree.rows.is_empty() && self.uses.is_empty() && self.tree.vectors.is_empty()
    }

    /// Whether the program says how likely rows are.
    pub fn has_rows(&self) -> bool {
        (self.tree.rows.iter()).any(|line| !matches!(line, Statement::Definition(_)))
    }

    /// Whether the rows have one line `outcome ~ distribution(…)` and nothing else, so that outcomes may be predicted.
    pub fn has_one_outcome(&self) -> bool {
        let lines = self.tree.rows.iter();
        let mut said = lines.filter(|line| !matches!(line, Statement::Definition(_)));
        matches!(
            (said.next(), said.next()),
            (Some(Statement::Relation(..)), None)
        )
    }

    /// The first column that is named before the first `~` of the rows, if one is: the outcome.
    pub fn outcome_column(&self) -> Option<&str> {
        let outcome = self.tree.rows.iter().find_map(|line| match line {
            Statement::Relation(outcome, _) => Some(outcome),
            Statement::Definition(_) | Statement::Term(_) => None,
        })?;
        let mut names: Vec<&str> = Vec::new();
        outcome.walk(&mut |part| {
            if let ExprKind::Name(name) = &part.kind {
                names.push(name);
            }
        });
        let is_column = |name: &&str| self.uses.iter().any(|column| column.name == *name);
        names.into_iter().find(is_column)
    }

    /// Names that it declares or defines.
    fn declared(&self) -> Vec<&str> {
        let declared = self
            .tree
            .declarations
            .iter()
            .map(|it| it.name.text.as_str());
        let defined = self.tree.definitions.iter().map(|it| it.name.text.as_str());
        let vectors = self.tree.vectors.iter().map(|it| it.name.text.as_str());
        declared.chain(defined).chain(vectors).collect()
    }

    /// What the program reads of a table whose columns have these names.
    fn reads<'a>(&self, names: impl Iterator<Item = &'a str>) -> Result<Reads, Fault> {
        let names: Vec<&str> = names.collect();
        let vectors = columns_of(&self.tree, Some(&names))?;
        let uses = uses(&self.tree, &vectors)?;
        Ok(Reads { uses, vectors })
    }

    fn error(&self, fault: Fault) -> ProgramError {
        ProgramError::of(fault, &self.text)
    }

    /// Refuses columns that `table` does not have, or has as text where numbers are needed.
    ///
    /// # Errors
    /// Names the place where the column is used.
    pub fn check_columns(&self, table: &dyn Table) -> Result<(), ProgramError> {
        let reads = self
            .reads(table.names())
            .map_err(|fault| self.error(fault))?;
        for wanted in &reads.uses {
            let fault = match (table.column(&wanted.name), wanted.role) {
                (None, _) => unknown(wanted, table.names().chain(self.declared())),
                (Some(column), Role::Number) if column.kind != ColumnKind::Number => {
                    no_number(wanted)
                }
                _ => continue,
            };
            return Err(self.error(fault));
        }
        Ok(())
    }

    /// Refuses what no values of the rows of `table` could make a model: besides columns ([`Self::check_columns`]) names without meaning,
    /// numbers of arguments, and shapes that do not go together. As quick as the text is short: of rows no more than the categories of
    /// columns is read, and `known` keeps these for the next text, which is to be checked against the same table.
    ///
    /// # Errors
    /// Names the first place that is wrong.
    pub fn check(&self, table: &dyn Table, known: &mut KnownColumns) -> Result<(), ProgramError> {
        self.check_columns(table)?;
        let lowered = self.reads(table.names()).and_then(|reads| {
            let columns = known.of(&reads.uses, table);
            lower(&self.tree, &columns.with_vectors(&reads.vectors))
        });
        match lowered {
            Ok(_) => Ok(()),
            Err(fault) => Err(self.error(fault)),
        }
    }

    /// Names of the columns of `table` that it reads, in order of appearance: those that patterns choose are among them.
    ///
    /// # Errors
    /// The table has none of the columns that a vector chooses, or a pattern chooses the outcome.
    pub fn columns_for(&self, table: &dyn Table) -> Result<Vec<String>, ProgramError> {
        let reads = self
            .reads(table.names())
            .map_err(|fault| self.error(fault))?;
        Ok(reads.uses.into_iter().map(|it| it.name).collect())
    }

    /// The formula whose design has the columns that the text names, and no outcome.
    pub fn formula(&self) -> String {
        formula_of(self.uses.iter().map(|it| it.name.as_str()))
    }

    /// The formula whose design has the columns of this program, and no outcome: those of `table` that patterns choose are among them.
    ///
    /// # Errors
    /// See [`Self::columns_for`].
    pub fn formula_for(&self, table: &dyn Table) -> Result<String, ProgramError> {
        let columns = self.columns_for(table)?;
        Ok(formula_of(columns.iter().map(String::as_str)))
    }

    /// Priors of its parameters, as they are written.
    fn priors(&self) -> Vec<String> {
        let declarations = self.tree.declarations.iter();
        let prior = declarations.map(|it| match &it.law {
            Some(law) => {
                let text = &self.text[law.span.start..law.span.end];
                text.split_whitespace().collect::<Vec<_>>().join(" ")
            }
            None => "flat".to_owned(),
        });
        prior.collect()
    }

    /// The program in the notation of papers, one line each: `y[i] ~ Normal(α + β × x[i], σ)`. `num_rows` is N, if it is known.
    pub fn equation(&self, num_rows: Option<usize>) -> String {
        equation(&self.tree, num_rows)
    }

    /// Names of the parameters.
    pub(crate) fn parameters(&self) -> Vec<&str> {
        let declarations = self.tree.declarations.iter();
        declarations.map(|it| it.name.text.as_str()).collect()
    }

    /// What the program reads of `columns`, N rows.
    fn columns_among(
        &self,
        columns: &[(String, Predictor)],
        num_rows: usize,
    ) -> Result<(Columns, Vec<ColumnUse>), Fault> {
        let Reads { uses, vectors } = self.reads(columns.iter().map(|(name, _)| name.as_str()))?;
        let columns = Columns::of(&uses, columns, num_rows, &self.declared())?;
        Ok((columns.with_vectors(&vectors), uses))
    }

    /// The posterior for these columns, N rows.
    ///
    /// # Errors
    /// A name without meaning, shapes that do not go together, values that a distribution does not have.
    pub fn model_of(
        &self,
        columns: &[(String, Predictor)],
        num_rows: usize,
    ) -> Result<Arc<dyn Model>, ProgramError> {
        self.model_of_rows(columns, num_rows, |row| row)
    }

    /// [`Self::model_of`] for rows of which `origin` says which of the data they are.
    fn model_of_rows(
        &self,
        columns: &[(String, Predictor)],
        num_rows: usize,
        origin: impl Fn(usize) -> usize,
    ) -> Result<Arc<dyn Model>, ProgramError> {
        let make = || {
            if self.tree.declarations.is_empty() {
                let message = "The model has no parameters; a section `parameters` declares them";
                return Err(Fault::new(crate::place::Span::default(), message));
            }
            let (columns, uses) = self.columns_among(columns, num_rows)?;
            let lowered = lower(&self.tree, &columns)?;
            let read = (uses.as_slice(), self.text.as_str());
            ProgramModel::new(&lowered, &columns, read, &self.priors())
        };
        let model = make().map_err(|fault| self.error(fault.with_its_row(origin)))?;
        Ok(Arc::new(model))
    }

    /// A Stan program with the same density for these columns, N rows, up to a constant.
    ///
    /// # Errors
    /// A name without meaning, shapes that do not go together, or what Stan cannot say.
    pub fn stan_of(
        &self,
        columns: &[(String, Predictor)],
        num_rows: usize,
    ) -> Result<String, ProgramError> {
        let make = || {
            let (columns, _) = self.columns_among(columns, num_rows)?;
            stan(&self.tree, &self.text, &columns)
        };
        make().map_err(|fault| self.error(fault))
    }

    /// The posterior for the columns of a design.
    ///
    /// # Errors
    /// See [`Self::model_of`].
    pub fn model(&self, design: &Design) -> Result<Arc<dyn Model>, ProgramError> {
        let origin = |row: usize| design.row.get(row).map_or(row, |&of_data| of_data as usize);
        self.model_of_rows(&design.columns, design.num_obs(), origin)
    }
}

/// The formula of these columns, without an outcome.
fn formula_of<'a>(columns: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = columns.map(quote_name).collect();
    match names.is_empty() {
        true => "~ 1".to_owned(),
        false => format!("~ {}", names.join(" + ")),
    }
}
