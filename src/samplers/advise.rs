//! What `auto` chooses, and why, in a sentence.
//!
//! The rule: an exact sampler as long as it is affordable, then the one with the smallest bias. What is affordable is
//! decided by counting work, never by a clock, so that the same data get the same advice on every machine.

use super::Target;

/// Iterations of an ordinary run, all chains and warm-up: 4 × (1000 + 1000).
const ITERATIONS: f64 = 8000.0;
/// Gradients per NUTS transition after adaptation on a posterior that is near normal: trees of 7 or 15 leaves.
const LEAPFROGS: f64 = 10.0;
/// Cost of one row of a full gradient per column, in nanoseconds, on one core of an ordinary machine.
const COLUMN_NANOS: f64 = 0.8;
/// The same per row, whatever the number of columns.
const ROW_NANOS: f64 = 4.0;
/// Cores that an ordinary machine gives to a run.
const CORES: f64 = 4.0;
/// Longest time for an exact run, in seconds of that machine, before a stochastic-gradient sampler is recommended.
const PATIENCE_SECS: f64 = 60.0;
/// Rows per parameter from which a posterior is as good as normal for `osgfs-cv`.
const ROWS_FOR_NORMAL: f64 = 1000.0;

/// Why conjugate draws are taken where there are such.
pub const CONJUGATE: &str =
    "Conjugate draws: they are exact and independent, at one pass over the rows";

/// A sampler in order of recommendation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Identifier.
    pub sampler: &'static str,
    /// One sentence: why, or why not.
    pub reason: String,
}

/// What to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Identifier of the sampler that `auto` means.
    pub sampler: &'static str,
    /// Why, in one sentence.
    pub reason: String,
    /// The others, best first.
    pub alternatives: Vec<Candidate>,
}

/// Seconds that a NUTS run of ordinary length takes on an ordinary machine: an order of magnitude, for choosing.
pub fn nuts_secs(num_obs: usize, dim: usize) -> f64 {
    let row = ROW_NANOS + COLUMN_NANOS * dim as f64;
    ITERATIONS * LEAPFROGS * num_obs as f64 * row * 1e-9 / CORES
}

/// The sampler for `target`.
pub fn advise(target: &Target) -> Advice {
    let (n, dim) = (target.num_obs, target.dim);
    let secs = nuts_secs(n, dim);
    let rows = thousands(n);
    let affordable = secs <= PATIENCE_SECS;
    if target.simplex.is_some() {
        return Advice {
            sampler: "conjugate",
            reason: CONJUGATE.to_owned(),
            alternatives: vec![
                candidate("nuts", "exact too, and far slower"),
                candidate(
                    "scir",
                    "the paper's minibatch sampler, for comparison: close even for rare categories",
                ),
                candidate("scir-cv", "the same with control variates"),
                candidate(
                    "sgrld-simplex",
                    "what the paper compares with: wrong for rare categories",
                ),
            ],
        };
    }
    let Some(difference_rows) = target.difference_rows else {
        return Advice {
            sampler: "nuts",
            reason: "NUTS: it is exact, and no posterior mode was found, which the faster samplers start from".to_owned(),
            alternatives: vec![
                candidate("metropolis", "exact too, but slow with more than a few parameters"),
                candidate("osgfs", "needs no mode, but takes the posterior to be normal"),
            ],
        };
    };
    // Centred gradients must be better than plain ones: κ < ρ N.
    let centred_works = difference_rows < 0.1 * n as f64;
    let normal = n as f64 >= ROWS_FOR_NORMAL * dim as f64;
    let nuts_time = format!("about {} on four cores", duration(secs));
    let osgfs_cv = if normal {
        "the cheapest for so many rows, but takes the posterior to be nearly normal"
    } else {
        "takes the posterior to be nearly normal, which so few rows per parameter do not promise"
    };
    let plain = [
        candidate(
            "sgld",
            "its gradient noise overstates standard deviations by about 5 to 10 %",
        ),
        candidate(
            "osgfs",
            "takes the posterior to be normal and the model to be right; for comparison with the report",
        ),
    ];
    let exact_last = candidate(
        "metropolis",
        "exact, but needs far more passes over the rows than `nuts`",
    );
    if affordable || !centred_works {
        let reason = if affordable {
            format!("NUTS: it is exact, and with {rows} rows affordable ({nuts_time})")
        } else {
            format!(
                "NUTS: it is exact, and single rows weigh too much for minibatch gradients; with {rows} rows it takes {nuts_time}"
            )
        };
        let mut alternatives = vec![
            candidate(
                "sgld-cv",
                "faster: few rows per step; overstates standard deviations by about 2 %",
            ),
            candidate("osgfs-cv", osgfs_cv),
            exact_last,
        ];
        alternatives.extend(plain);
        return Advice {
            sampler: "nuts",
            reason,
            alternatives,
        };
    }
    let mut alternatives = vec![
        candidate("osgfs-cv", osgfs_cv),
        candidate("nuts", &format!("exact; it would take {nuts_time}")),
    ];
    alternatives.extend(plain);
    alternatives.push(exact_last);
    Advice {
        sampler: "sgld-cv",
        reason: format!(
            "SGLD with control variates: a step uses few of the {rows} rows and standard deviations come out about 2 % too \
             large, while NUTS, which is exact, would take {nuts_time}"
        ),
        alternatives,
    }
}

fn candidate(sampler: &'static str, reason: &str) -> Candidate {
    Candidate {
        sampler,
        reason: reason.to_owned(),
    }
}

/// 245057 as 245,057.
fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Seconds in words, to one figure: an estimate deserves no more.
fn duration(secs: f64) -> String {
    match secs {
        s if s < 1.0 => "a second".to_owned(),
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.0} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samplers::REGISTRY;

    fn target(num_obs: usize, dim: usize) -> Target {
        Target {
            num_obs,
            dim,
            noise_ratio: Some(1.0),
            difference_rows: Some(dim as f64 + 2.0),
            curvature_range: Some((1.0, 10.0)),
            ..Target::default()
        }
    }

    fn all_targets() -> Vec<Target> {
        let mut all = Vec::new();
        for num_obs in [50, 5000, 100_000, 1_000_000, 50_000_000] {
            for dim in [1, 10, 200] {
                all.push(target(num_obs, dim));
                all.push(Target {
                    num_obs,
                    dim,
                    ..Target::default()
                });
                all.push(Target {
                    difference_rows: Some(num_obs as f64),
                    ..target(num_obs, dim)
                });
            }
        }
        all
    }

    #[test]
    fn small_data_get_the_exact_sampler_and_tall_data_the_fast_one() {
        assert_eq!(advise(&target(5000, 10)).sampler, "nuts");
        assert_eq!(advise(&target(100_000, 3)).sampler, "nuts");
        assert_eq!(advise(&target(5_000_000, 10)).sampler, "sgld-cv");
    }

    #[test]
    fn without_a_mode_or_with_heavy_rows_it_is_nuts_whatever_it_takes() {
        let tall = target(50_000_000, 10);
        let no_mode = Target {
            num_obs: tall.num_obs,
            dim: 10,
            ..Target::default()
        };
        assert_eq!(advise(&no_mode).sampler, "nuts");
        let heavy = Target {
            difference_rows: Some(4e7),
            ..tall
        };
        let advice = advise(&heavy);
        assert_eq!(advice.sampler, "nuts");
        assert!(
            advice.reason.contains("50,000,000 rows"),
            "{}",
            advice.reason
        );
    }

    #[test]
    fn every_piece_of_advice_names_registered_samplers_once_in_one_sentence() {
        for target in all_targets() {
            let advice = advise(&target);
            let mut named = vec![advice.sampler];
            named.extend(advice.alternatives.iter().map(|other| other.sampler));
            for (k, id) in named.iter().enumerate() {
                assert!(REGISTRY.iter().any(|entry| entry.spec.id == *id), "{id}");
                assert!(!named[..k].contains(id), "{id} twice");
            }
            // A sampler that needs the mode is not offered without one.
            if target.difference_rows.is_none() {
                for id in named {
                    let entry = REGISTRY.iter().find(|entry| entry.spec.id == id).unwrap();
                    assert!(!entry.spec.needs_mode, "{id}");
                }
            }
            assert!(!advice.reason.contains(". ") && !advice.reason.ends_with('.'));
        }
    }

    #[test]
    fn probabilities_of_categories_are_drawn_directly() {
        let simplex = Some(crate::samplers::SimplexTarget {
            count_noise: 1.0,
            rate_noise: 1.0,
        });
        let advice = advise(&Target {
            simplex,
            ..target(5_000_000, 10)
        });
        assert_eq!(advice.sampler, "conjugate");
        for other in &advice.alternatives {
            assert!(crate::samplers::find(other.sampler).is_some());
        }
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(thousands(7), "7");
        assert_eq!(thousands(245_057), "245,057");
        assert_eq!(thousands(1_000_000), "1,000,000");
        assert_eq!(duration(0.2), "a second");
        assert_eq!(duration(170.0), "3 min");
        assert_eq!(duration(7300.0), "2 h");
    }
}
