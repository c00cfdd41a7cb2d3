//! What is clustered or read: rows, or the levels of a group in long data.

use rand::seq::SliceRandom as _;

use super::ModelError;
use crate::design::Design;
use ergodic_base::{INTERCEPT, Purpose, stream};

/// Units of a design, and the unit of each row.
pub struct Units {
    /// Names of the units: numbers of rows in the file, or levels of the group.
    pub names: Vec<String>,
    /// Unit of each row of the design.
    pub of_row: Vec<u32>,
}

impl Units {
    /// The levels of the only group of `design`, in order of appearance in its shuffled rows; without a group its rows.
    ///
    /// # Errors
    /// More than one group, or a group with slopes, which `template` has no use for.
    pub fn of(design: &Design, template: &'static str) -> Result<Self, ModelError> {
        let [term] = design.group_terms.as_slice() else {
            if let [_, second, ..] = design.group_terms.as_slice() {
                let why = format!(
                    "takes one group, whose levels are the units, but the formula also has `{}`; leave it out",
                    design.groups[second.factor].name
                );
                return Err(ModelError::unfit(template, why));
            }
            return Ok(Self {
                names: design.row.iter().map(|row| (row + 1).to_string()).collect(),
                of_row: (0..design.num_obs() as u32).collect(),
            });
        };
        let group = &design.groups[term.factor];
        if term.names != [INTERCEPT] {
            let why = format!(
                "has no effects that vary by group; write `(1 | {})`",
                group.name
            );
            return Err(ModelError::unfit(template, why));
        }
        let mut unit_of = vec![u32::MAX; group.levels.len()];
        let (mut names, mut of_row) = (Vec::new(), Vec::with_capacity(group.index.len()));
        for &level in &group.index {
            let unit = &mut unit_of[level as usize];
            if *unit == u32::MAX {
                *unit = names.len() as u32;
                names.push(group.levels[level as usize].clone());
            }
            of_row.push(*unit);
        }
        Ok(Self { names, of_row })
    }

    /// Numbers units at random, the same way always.
    pub fn shuffle(&mut self) {
        let mut old: Vec<u32> = (0..self.names.len() as u32).collect();
        old.shuffle(&mut stream(0, 0, Purpose::Data));
        let mut new = vec![0; old.len()];
        for (number, &unit) in old.iter().enumerate() {
            new[unit as usize] = number as u32;
        }
        for unit in &mut self.of_row {
            *unit = new[*unit as usize];
        }
        let names = old
            .iter()
            .map(|&unit| std::mem::take(&mut self.names[unit as usize]));
        self.names = names.collect();
    }
}

/// How many rows belong to units from `num_units` on, which take no part in a fit.
pub fn rows_held_out(unit_of_row: &[u32], num_units: usize) -> usize {
    let held_out = unit_of_row
        .iter()
        .filter(|&&unit| unit as usize >= num_units);
    held_out.count()
}
