//! Terms in the order of a formula, each once, however many there are.

use std::collections::{BTreeMap, HashMap};

use super::{Factor, Term};

/// Terms sorted by the number of their factors, then as they were added; the order of factors makes no other term.
#[derive(Clone, Debug, Default)]
pub(crate) struct TermSet {
    terms: BTreeMap<(usize, usize), Term>,
    /// Where a term stands, by its factors in order.
    places: HashMap<Term, (usize, usize)>,
    added: usize,
}

impl TermSet {
    /// Adds `term` unless it is there.
    pub fn insert(&mut self, term: Term) {
        let place = (term.len(), self.added);
        if let std::collections::hash_map::Entry::Vacant(entry) = self.places.entry(sorted(&term)) {
            entry.insert(place);
            self.terms.insert(place, term);
            self.added += 1;
        }
    }

    /// Takes `term` out if it is there.
    pub fn remove(&mut self, term: &[Factor]) {
        if let Some(place) = self.places.remove(&sorted(term)) {
            self.terms.remove(&place);
        }
    }

    /// Whether `term` is there.
    pub fn contains(&self, term: &[Factor]) -> bool {
        self.places.contains_key(&sorted(term))
    }

    /// Terms in their order.
    pub fn iter(&self) -> impl Iterator<Item = &Term> {
        self.terms.values()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Terms in their order.
    pub fn into_terms(self) -> Vec<Term> {
        self.terms.into_values().collect()
    }
}

impl FromIterator<Term> for TermSet {
    fn from_iter<T: IntoIterator<Item = Term>>(terms: T) -> Self {
        let mut set = Self::default();
        terms.into_iter().for_each(|term| set.insert(term));
        set
    }
}

fn sorted(term: &[Factor]) -> Term {
    let mut term = term.to_vec();
    term.sort_unstable();
    term
}
