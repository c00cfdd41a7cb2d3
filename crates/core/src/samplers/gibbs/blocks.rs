//! Blocks that are chosen by the names of parameters.
//!
//! ```text
//! b[Intercept]: slice; b[age], b[plan=*]: hmc; sigma: metropolis
//! b[*]: sgld-cv(batch=200, step_size=0.02); sigma: conjugate
//! ```
//!
//! Semicolons stand between blocks, commas between names (neither within brackets nor within double quotes, which a name with
//! odd brackets needs), and the sampler of a block after its colon, with settings of its own in parentheses; `*` stands for any
//! characters. A parameter goes where its name is written out, else where a pattern matches it;
//! what nothing names is a last block. Where parameters are not coordinates, as effects of groups, the names of the model's
//! blocks take their place ([`crate::models::parts`]).

use super::BlockSampler;
use crate::models::Block;
use ergodic_base::settings::{SettingError, Settings, Value};

/// Names in a refusal.
const MOST_NAMED: usize = 8;
/// Any characters.
const ANY: char = '*';

/// A block as it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    names: Vec<String>,
    kernel: ChosenKernel,
}

/// The sampler of a block, and its settings that are not left to defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct ChosenKernel {
    /// The sampler.
    pub sampler: BlockSampler,
    /// Its settings.
    pub settings: Settings,
}

impl From<BlockSampler> for ChosenKernel {
    fn from(sampler: BlockSampler) -> Self {
        Self {
            sampler,
            settings: Settings::default(),
        }
    }
}

impl Chosen {
    /// The sampler of the block.
    pub fn kernel(&self) -> &ChosenKernel {
        &self.kernel
    }
}

/// A block of a model: coordinates in order, and the sampler, where one is named.
pub type Division = (Vec<usize>, Option<ChosenKernel>);

/// Reads the notation, whose samplers are among `allowed`.
///
/// # Errors
/// What is missing, or a sampler that blocks cannot use.
pub fn read(text: &str, allowed: &[&str]) -> Result<Vec<Chosen>, SettingError> {
    let mut all = Vec::new();
    for block in split(text, ';') {
        let (names, kernel) = match split(block, ':').as_slice() {
            [names, kernel] => (*names, *kernel),
            _ => {
                return Err(refusal(format!(
                    "needs names, a colon and a sampler in each block, such as `b[*]: hmc`, not `{block}`"
                )));
            }
        };
        let unquoted = |name: &str| {
            let inside = name.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
            inside.unwrap_or(name).to_owned()
        };
        let names: Vec<String> = split(names, ',').into_iter().map(unquoted).collect();
        let (word, settings) = match kernel.split_once('(') {
            Some((word, rest)) => (word.trim_end(), rest.strip_suffix(')')),
            None => (kernel, Some("")),
        };
        let known = BlockSampler::from_word(word).filter(|_| allowed.contains(&word));
        let (Some(sampler), false) = (known, names.is_empty()) else {
            return Err(refusal(format!(
                "takes blocks of names with one of the samplers {}, not `{block}`",
                allowed.join(", ")
            )));
        };
        let settings = settings.and_then(read_settings).ok_or_else(|| {
            refusal(format!(
                "takes settings of a block's sampler as in `sgld(batch=200, step_size=0.1)`, not `{kernel}`"
            ))
        })?;
        let kernel = ChosenKernel { sampler, settings };
        all.push(Chosen { names, kernel });
    }
    Ok(all)
}

/// `batch=200, step_size=0.1`.
fn read_settings(text: &str) -> Option<Settings> {
    let mut settings = Settings::default();
    for one in text.split(',').map(str::trim).filter(|one| !one.is_empty()) {
        let (key, value) = one.split_once('=')?;
        settings.set(key.trim(), Value::parse(value.trim()));
    }
    Some(settings)
}

/// The blocks of a model with these `parts`.
///
/// # Errors
/// A name that the model does not have, or that two blocks have; a block without parameters.
pub fn divide(chosen: &[Chosen], parts: &[Block]) -> Result<Vec<Division>, SettingError> {
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
            return Err(unknown(name, parts));
        }
        for (_, owner) in fits {
            if owner.replace(block).is_some() {
                return Err(twice(name));
            }
        }
    }
    let by_name = owners.clone();
    for (block, pattern) in written(false) {
        let fits: Vec<usize> = (0..parts.len())
            .filter(|&part| matches(pattern, &parts[part].name))
            .collect();
        if fits.is_empty() {
            return Err(unknown(pattern, parts));
        }
        for part in fits {
            match owners[part] {
                None => owners[part] = Some(block),
                Some(other) if other != block && by_name[part].is_none() => {
                    return Err(twice(&parts[part].name));
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
            return Err(refusal(format!(
                "leaves nothing for `{}`: its parameters are named in other blocks",
                one.names.join(", ")
            )));
        }
        blocks.push((own, Some(one.kernel.clone())));
    }
    let rest = coordinates(None);
    if !rest.is_empty() {
        blocks.push((rest, None));
    }
    Ok(blocks)
}

fn refusal(why: String) -> SettingError {
    let key = "blocks";
    SettingError::Unfit { key, why }
}

fn twice(name: &str) -> SettingError {
    refusal(format!("has `{name}` in two places; name it once"))
}

fn unknown(name: &str, parts: &[Block]) -> SettingError {
    let known: Vec<String> = parts
        .iter()
        .map(|part| format!("`{}`", part.name))
        .collect();
    let more = match known.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let known = known[..known.len().min(MOST_NAMED)].join(", ");
    refusal(format!(
        "names `{name}`, which the model does not have; it has {known}{more}"
    ))
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
fn matches(pattern: &str, name: &str) -> bool {
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

    fn parts(names: &[&str]) -> Vec<Block> {
        let one = |(j, name): (usize, &&str)| Block {
            name: (*name).into(),
            coordinates: j..j + 1,
        };
        names.iter().enumerate().map(one).collect()
    }

    fn blocks(text: &str) -> Result<Vec<Division>, String> {
        let parts = parts(&[
            "b[Intercept]",
            "b[age]",
            "b[age:plan=a; b, c]",
            "b[plan=pro]",
            "sigma",
        ]);
        read(text, BlockSampler::WORDS)
            .and_then(|chosen| divide(&chosen, &parts))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn blocks_are_chosen_by_names_and_patterns() {
        let (slice, hmc) = (Some(BlockSampler::Slice), Some(BlockSampler::Hmc));
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
            let expected: Vec<Division> = (expected.into_iter())
                .map(|(block, kernel)| (block, kernel.map(ChosenKernel::from)))
                .collect();
            assert_eq!(blocks(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn samplers_of_blocks_have_settings_in_parentheses() {
        let found = blocks("b[*]: sgld-cv(batch=200, step_size=0.02); sigma: conjugate()").unwrap();
        let mut settings = Settings::default();
        settings.set("batch", Value::Int(200));
        settings.set("step_size", Value::Real(0.02));
        let kernel = ChosenKernel {
            sampler: BlockSampler::SgldCv,
            settings,
        };
        assert_eq!(found[0], (vec![0, 1, 2, 3], Some(kernel)));
        assert_eq!(found[1].1, Some(BlockSampler::Conjugate.into()));
    }

    #[test]
    fn names_with_odd_brackets_stand_in_quotes() {
        let parts = parts(&["b[x]", "b[a]; b]"]);
        let found = divide(
            &read("\"b[a]; b]\": slice; *: hmc", BlockSampler::WORDS).unwrap(),
            &parts,
        )
        .unwrap();
        assert_eq!(
            found,
            [
                (vec![1], Some(BlockSampler::Slice.into())),
                (vec![0], Some(BlockSampler::Hmc.into()))
            ]
        );
    }

    #[test]
    fn terms_of_one_grouping_go_together() {
        let parts = parts(&["b[x]", "r[g]", "r[g]"]);
        let found = divide(&read("r[g]: hmc", BlockSampler::WORDS).unwrap(), &parts).unwrap();
        assert_eq!(
            found,
            [
                (vec![1, 2], Some(BlockSampler::Hmc.into())),
                (vec![0], None)
            ]
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
                "one of the samplers nuts, hmc, mala, slice, metropolis, sgld, sgld-cv, sghmc, sghmc-cv, conjugate, not `b[age]: gibbs`",
            ),
            (
                "b[age]: sgld(batch)",
                "takes settings of a block's sampler as in",
            ),
            (
                "b[age]: sgld(batch=2",
                "takes settings of a block's sampler as in",
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
