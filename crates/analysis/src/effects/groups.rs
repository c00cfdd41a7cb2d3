//! Grouping factors, whose groups are compared and whose expected outcomes are told as those of the levels of a predictor are.

use ergodic_core::design::CodedColumn;
use ergodic_core::design::Columns as _;

use super::{EffectsError, EffectsOptions};
use crate::predict::Fitted;

impl Fitted {
    /// Whether effects vary by the groups of a column that is no predictor itself.
    pub fn is_grouping(&self, name: &str) -> bool {
        let alone = |group: &[String]| matches!(group, [column] if column == name);
        let columns = self.coding.coded_columns();
        self.model.observation().is_none()
            && (self.coding.formula().groups.iter()).any(|term| alone(&term.group))
            && !columns.iter().any(|column| column.name == name)
    }

    /// Names of the grouping factors whose groups can be compared and set, in the order of the formula.
    pub fn groupings(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for term in &self.coding.formula().groups {
            if let [name] = term.group.as_slice()
                && self.is_grouping(name)
                && !names.contains(name)
            {
                names.push(name.clone());
            }
        }
        names
    }

    /// The columns that can be set or compared: predictors, then grouping factors with the groups of the fit as levels.
    pub(super) fn columns_with_groups(&self) -> Vec<CodedColumn> {
        let mut columns = self.coding.coded_columns();
        for term in &self.coding.formula().groups {
            let [name] = term.group.as_slice() else {
                continue;
            };
            if !self.is_grouping(name) || columns.iter().any(|column| column.name == *name) {
                continue;
            }
            let Some(col) = self.table.position(name) else {
                continue;
            };
            let labels = self.table.labels(col);
            let mut is_used = vec![false; labels.levels.len()];
            for &row in &self.rows {
                let code = labels.codes[row as usize] as usize;
                is_used
                    .get_mut(code)
                    .into_iter()
                    .for_each(|used| *used = true);
            }
            let known = labels.levels.into_iter().zip(is_used);
            let levels = known.filter(|(_, used)| *used).map(|(level, _)| level);
            columns.push(CodedColumn {
                name: name.clone(),
                levels: Some((levels.collect(), 0)),
                is_fixed: false,
            });
        }
        columns
    }

    /// Refuses what grouping factors cannot be asked for: an effect of their own, and groups that do not differ.
    pub(super) fn check_groupings(
        &self,
        predictor: Option<&str>,
        options: &EffectsOptions,
    ) -> Result<(), EffectsError> {
        let is_grouping = |name: &&String| self.is_grouping(name);
        let mut alone = (options.of.iter()).filter(|name| !options.pairs.contains(name));
        if let Some(name) = alone.find(is_grouping) {
            return Err(EffectsError::Grouping(name.clone()));
        }
        let named = options.pairs.iter().chain(&options.by).map(String::as_str);
        let mut named = named.chain(predictor);
        match named.find(|name| self.is_grouping(name)) {
            Some(name) if !options.with_groups => Err(EffectsError::NoGroups(name.to_owned())),
            _ => Ok(()),
        }
    }
}
