//! Blocks that are chosen by the names of parameters, each with something of its own: a sampler, or a step.
//!
//! ```text
//! b[Intercept]: slice; b[age], b[plan=*]: hmc; sigma: metropolis
//! b[*]: sgld-cv(batch=200, step_size=0.02); sigma: slice
//! ```
//!
//! Semicolons stand between blocks, commas between names (neither within brackets nor within double quotes, which a name with
//! odd brackets needs), and what a block has after its colon; `*` stands for any characters. A parameter goes where its name is written out, else where a pattern matches it;
//! what nothing names is a last block. Where parameters are not coordinates, as effects of groups, the names of the model's
//! blocks take their place ([`crate::models::parts`]).

use crate::models::Block;
use ergodic_base::ParamId;
use ergodic_base::settings::SettingError;

/// Names in a refusal.
const MOST_NAMED: usize = 8;
/// Any characters.
const ANY: char = '*';

/// What blocks have in a setting.
pub struct Notation<T> {
    /// Key of the setting.
    pub key: &'static str,
    /// What a block has, such as `a sampler`.
    pub thing: &'static str,
    /// A block as it is written.
    pub example: &'static str,
    /// What things there are, in words that can follow "with".
    pub known: fn() -> String,
    /// The thing of this text.
    pub read: fn(&str) -> Option<T>,
}

/// A block as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen<T> {
    names: Vec<String>,
    thing: T,
}

/// A block of a model: coordinates in order, and what it has, where something is written.
pub type Division<T> = (Vec<usize>, Option<T>);

impl<T> Chosen<T> {
    /// What the block has.
    pub fn thing(&self) -> &T {
        &self.thing
    }
}

impl<T: Clone> Notation<T> {
    /// Reads the notation.
    ///
    /// # Errors
    /// What is missing, or a thing that blocks cannot have.
    pub fn read(&self, text: &str) -> Result<Vec<Chosen<T>>, SettingError> {
        let mut all = Vec::new();
        for block in split(text, ';') {
            let (names, thing) = match split(block, ':').as_slice() {
                [names, thing] => (*names, *thing),
                _ => {
                    return Err(self.refusal(format!(
                        "needs names, a colon and {} in each block, such as `{}`, not `{block}`",
                        self.thing, self.example
                    )));
                }
            };
            let names = names_in(names);
            let known = (self.read)(thing);
            let (Some(thing), false) = (known, names.is_empty()) else {
                return Err(self.refusal(format!(
                    "takes blocks of names with {}, not `{block}`",
                    (self.known)()
                )));
            };
            all.push(Chosen { names, thing });
        }
        Ok(all)
    }

    /// The blocks of a model with these `parts`.
    ///
    /// # Errors
    /// A name that the model does not have, or that two blocks have; a block without parameters.
    pub fn divide(
        &self,
        chosen: &[Chosen<T>],
        parts: &[Block],
    ) -> Result<Vec<Division<T>>, SettingError> {
        let mut owners: Vec<Option<usize>> = vec![None; parts.len()];
        let written = |exact: bool| {
            chosen.iter().enumerate().flat_map(move |(block, one)| {
                let names = one.names.iter().map(move |name| (block, name));
                names.filter(move |(_, name)| name.contains(ANY) != exact)
            })
        };
        for (block, name) in written(true) {
            // Two terms of one grouping have one name.
            let fits = parts.iter().zip(&mut owners);
            let mut fits = fits.filter(|(part, _)| part.name == *name).peekable();
            if fits.peek().is_none() {
                return Err(self.unknown(name, parts));
            }
            for (_, owner) in fits {
                if owner.replace(block).is_some() {
                    return Err(self.twice(name));
                }
            }
        }
        let by_name = owners.clone();
        for (block, pattern) in written(false) {
            let fits: Vec<usize> = (0..parts.len())
                .filter(|&part| matches(pattern, &parts[part].name))
                .collect();
            if fits.is_empty() {
                return Err(self.unknown(pattern, parts));
            }
            for part in fits {
                match owners[part] {
                    None => owners[part] = Some(block),
                    Some(other) if other != block && by_name[part].is_none() => {
                        return Err(self.twice(&parts[part].name));
                    }
                    Some(_) => {}
                }
            }
        }
        let coordinates = |owner: Option<usize>| -> Vec<usize> {
            let own = parts.iter().zip(&owners).filter(|(_, of)| **of == owner);
            own.flat_map(|(part, _)| part.coordinates.clone()).collect()
        };
        let mut blocks = Vec::new();
        for (block, one) in chosen.iter().enumerate() {
            let own = coordinates(Some(block));
            if own.is_empty() {
                return Err(self.refusal(format!(
                    "leaves nothing for `{}`: its parameters are named in other blocks",
                    one.names.join(", ")
                )));
            }
            blocks.push((own, Some(one.thing.clone())));
        }
        let rest = coordinates(None);
        if !rest.is_empty() {
            blocks.push((rest, None));
        }
        Ok(blocks)
    }

    fn refusal(&self, why: String) -> SettingError {
        SettingError::Unfit { key: self.key, why }
    }

    fn twice(&self, name: &str) -> SettingError {
        self.refusal(format!("has `{name}` in two places; name it once"))
    }

    fn unknown(&self, name: &str, parts: &[Block]) -> SettingError {
        self.refusal(unknown(name, parts.iter().map(|part| &part.name)))
    }
}

/// The refusal of a name or pattern that fits none of `known`, after the name of the setting.
pub(crate) fn unknown<'a>(name: &str, known: impl ExactSizeIterator<Item = &'a ParamId>) -> String {
    let more = match known.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let known: Vec<String> = known.take(MOST_NAMED).map(|it| format!("`{it}`")).collect();
    format!(
        "names `{name}`, which the model does not have; it has {}{more}",
        known.join(", ")
    )
}

/// Names and patterns with commas between them; double quotes around one are left out.
pub(crate) fn names_in(text: &str) -> Vec<String> {
    let unquoted = |name: &str| {
        let inside = name.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
        inside.unwrap_or(name).to_owned()
    };
    split(text, ',').into_iter().map(unquoted).collect()
}

/// Pieces of `text` between `separator`s outside brackets and quotes, without blanks around them and without empty ones.
fn split(text: &str, separator: char) -> Vec<&str> {
    let (mut pieces, mut depth, mut from) = (Vec::new(), 0_usize, 0);
    let mut quoted = false;
    for (at, c) in text.char_indices() {
        match c {
            '"' if depth == 0 => quoted = !quoted,
            _ if quoted => {}
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ if c == separator && depth == 0 => {
                pieces.push(&text[from..at]);
                from = at + c.len_utf8();
            }
            _ => {}
        }
    }
    pieces.push(&text[from..]);
    let pieces = pieces.into_iter().map(str::trim);
    pieces.filter(|piece| !piece.is_empty()).collect()
}

/// Whether `name` is `pattern` with any characters for each `*`.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once(ANY) else {
        return pattern == name;
    };
    let Some(name) = name.strip_prefix(first) else {
        return false;
    };
    let starts = name.char_indices().map(|(at, _)| at);
    let mut starts = starts.chain(std::iter::once(name.len()));
    starts.any(|at| matches(rest, &name[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samplers::gibbs::PartSampler;

    const BLOCKS: Notation<PartSampler> = Notation {
        key: "blocks",
        thing: "a sampler",
        example: "b[*]: hmc",
        known: || "one of the samplers nuts, hmc".to_owned(),
        read: PartSampler::from_word,
    };

    fn parts(names: &[&str]) -> Vec<Block> {
        let one = |(j, name): (usize, &&str)| Block {
            name: (*name).into(),
            coordinates: j..j + 1,
        };
        names.iter().enumerate().map(one).collect()
    }

    fn blocks(text: &str) -> Result<Vec<Division<PartSampler>>, String> {
        let parts = parts(&[
            "b[Intercept]",
            "b[age]",
            "b[age:plan=a; b, c]",
            "b[plan=pro]",
            "sigma",
        ]);
        let notation = BLOCKS;
        notation
            .read(text)
            .and_then(|chosen| notation.divide(&chosen, &parts))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn blocks_are_chosen_by_names_and_patterns() {
        let (slice, hmc) = (Some(PartSampler::Slice), Some(PartSampler::Hmc));
        for (text, expected) in [
            // A name beats a pattern; what nobody names comes last.
            (
                "b[Intercept]: slice; b[*]: hmc",
                vec![(vec![0], slice), (vec![1, 2, 3], hmc), (vec![4], None)],
            ),
            (
                "*:hmc;sigma:slice;",
                vec![(vec![0, 1, 2, 3], hmc), (vec![4], slice)],
            ),
            // Separators within brackets belong to the name.
            (
                "b[age:plan=a; b, c], sigma : slice",
                vec![(vec![2, 4], slice), (vec![0, 1, 3], None)],
            ),
            (
                "b[age], b[age*]: hmc",
                vec![(vec![1, 2], hmc), (vec![0, 3, 4], None)],
            ),
            (
                "b[*pro], *a: slice",
                vec![(vec![3, 4], slice), (vec![0, 1, 2], None)],
            ),
        ] {
            assert_eq!(blocks(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn names_with_odd_brackets_stand_in_quotes() {
        let parts = parts(&["b[x]", "b[a]; b]"]);
        let found = BLOCKS
            .divide(&BLOCKS.read("\"b[a]; b]\": slice; *: hmc").unwrap(), &parts)
            .unwrap();
        assert_eq!(
            found,
            [
                (vec![1], Some(PartSampler::Slice)),
                (vec![0], Some(PartSampler::Hmc))
            ]
        );
    }

    #[test]
    fn terms_of_one_grouping_go_together() {
        let parts = parts(&["b[x]", "r[g]", "r[g]"]);
        let found = BLOCKS
            .divide(&BLOCKS.read("r[g]: hmc").unwrap(), &parts)
            .unwrap();
        assert_eq!(
            found,
            [(vec![1, 2], Some(PartSampler::Hmc)), (vec![0], None)]
        );
    }

    #[test]
    fn what_is_wrong_with_blocks_is_named() {
        for (text, words) in [
            (
                "b[agee]: hmc",
                "names `b[agee]`, which the model does not have; it has `b[Intercept]`, `b[age]`",
            ),
            ("c[*]: hmc", "names `c[*]`"),
            ("b[age]: hmc; b[age]: slice", "has `b[age]` in two places"),
            ("b[a*]: hmc; b[*]: slice", "has `b[age]` in two places"),
            ("sigma: slice; s*: hmc", "leaves nothing for `s*`"),
            (
                "b[age]: gibbs",
                "one of the samplers nuts, hmc, not `b[age]: gibbs`",
            ),
            ("b[age]", "a colon and a sampler in each block"),
            (": hmc", "a colon and a sampler in each block"),
            ("a: b: hmc", "a colon and a sampler in each block"),
        ] {
            let error = blocks(text).unwrap_err();
            assert!(
                error.starts_with("Setting `blocks` ") && error.contains(words),
                "{text}: {error}"
            );
        }
    }
}
