//! Names of the quantities that belong to one group.

/// A variable that belongs to one group: `theta[17,age]` of hierarchical models, `r[school,17,age]` of mixed ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect<'a> {
    /// The grouping, where the name tells it.
    pub factor: &'a str,
    /// The group.
    pub level: &'a str,
    /// The term.
    pub term: &'a str,
}

/// What `name` says, if it is that of an effect. A group's name may have commas, a term's may not.
pub fn effect_of(name: &str) -> Option<Effect<'_>> {
    let (class, rest) = name.split_once('[')?;
    let inside = rest.strip_suffix(']')?;
    let (before, term) = inside.rsplit_once(',')?;
    match class {
        "theta" => Some(Effect {
            factor: "",
            level: before,
            term,
        }),
        "r" => {
            let (factor, level) = before.split_once(',')?;
            Some(Effect {
                factor,
                level,
                term,
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_effects_are_read() {
        let effect = |factor, level, term| {
            Some(Effect {
                factor,
                level,
                term,
            })
        };
        for (name, expected) in [
            ("theta[17,age]", effect("", "17", "age")),
            (
                "theta[St. Ives, upper,age:dose]",
                effect("", "St. Ives, upper", "age:dose"),
            ),
            (
                "r[school,17,Intercept]",
                effect("school", "17", "Intercept"),
            ),
            ("mu[age]", None),
            ("Sigma[age,dose]", None),
            ("sd[school,age]", None),
            ("lp__", None),
        ] {
            assert_eq!(effect_of(name), expected, "{name}");
        }
    }
}
