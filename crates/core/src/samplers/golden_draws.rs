//! First draws of every sampler, pinned, so that no change of draws goes unnoticed: same seed, same chain is a promise
//! to users, and breaking it belongs in the changelog.
//!
//! Set `ERGODIC_UPDATE_GOLDEN=1` and run `cargo test golden_draws` to rewrite the file after an intended change.
//!
//! Numbers are compared to 1e-10, not bit for bit: row loops and factorisations use fused multiply-add where the processor has
//! it, and the system's exponential and logarithm differ in the last bit between platforms. Within one machine the
//! conformance tests compare bits. The file has the draws of row loops without fused multiply-add; those with it are
//! compared too, where the machine has it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::testing::{Run, exact_oracle, suitable_target};
use super::{REGISTRY, SamplerEntry};
use crate::models::arithmetic::Class;

const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/reference/golden_draws.txt"
);
const HEADER: &str = "\
# First four draws after 100 iterations of warm-up: sampler, draw, bits of each coordinate in hexadecimal.
# Target: the small target of samplers/testing.rs that suits the sampler; chain seed 1.
# Written by ERGODIC_UPDATE_GOLDEN=1 cargo test golden_draws
";
const WARMUP: u64 = 100;
const DRAWS: usize = 4;
const TOLERANCE: f64 = 1e-10;

fn draws_of(entry: &SamplerEntry) -> Vec<Vec<f64>> {
    let (model, centre) = suitable_target(entry);
    let dim = model.dim();
    let chain = Run::new(entry.spec.id).go(exact_oracle(model, centre), WARMUP, DRAWS);
    chain.draws.chunks_exact(dim).map(<[f64]>::to_vec).collect()
}

fn written() -> String {
    Class::choose(Some(Class::Separate));
    let mut text = HEADER.to_owned();
    for entry in REGISTRY {
        for (k, draw) in draws_of(entry).iter().enumerate() {
            write!(text, "{} {}", entry.spec.id, k + 1).unwrap();
            for u in draw {
                write!(text, " {:016x}", u.to_bits()).unwrap();
            }
            text.push('\n');
        }
    }
    text
}

fn read(text: &str) -> BTreeMap<String, Vec<Vec<f64>>> {
    let mut draws: BTreeMap<String, Vec<Vec<f64>>> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let id = words.next().unwrap().to_owned();
        let draw = words
            .skip(1)
            .map(|bits| f64::from_bits(u64::from_str_radix(bits, 16).unwrap()))
            .collect();
        draws.entry(id).or_default().push(draw);
    }
    draws
}

#[test]
fn golden_draws() {
    if std::env::var_os("ERGODIC_UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        std::fs::write(FILE, written()).unwrap();
    }
    let text = std::fs::read_to_string(FILE).unwrap();
    let pinned = read(&text);
    let registered: Vec<&str> = REGISTRY.iter().map(|entry| entry.spec.id).collect();
    for id in pinned.keys() {
        assert!(
            registered.contains(&id.as_str()),
            "{id} is no longer registered; set ERGODIC_UPDATE_GOLDEN=1"
        );
    }
    for entry in REGISTRY {
        let id = entry.spec.id;
        let pinned = pinned
            .get(id)
            .unwrap_or_else(|| panic!("{id} has no golden draws; set ERGODIC_UPDATE_GOLDEN=1"));
        assert_eq!(pinned.len(), DRAWS);
        for class in Class::ALL {
            Class::choose(Some(class));
            for (k, (draw, pinned)) in draws_of(entry).iter().zip(pinned).enumerate() {
                for (a, b) in draw.iter().zip(pinned) {
                    assert!(
                        (a - b).abs() <= TOLERANCE * b.abs(),
                        "draw {} of {id} ({class:?}) changed: {a} was {b}; if that is intended, set ERGODIC_UPDATE_GOLDEN=1 \
                         and say so in the changelog",
                        k + 1
                    );
                }
            }
        }
    }
}
