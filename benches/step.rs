//! Steps of minibatch samplers and full gradients on synthetic logistic data.
//!
//! `cargo bench --bench step` runs N = 100,000, D = 10; with `ERGODIC_BENCH_LARGE=1` also N = 1,000,000, D = 20.
//! One item is one step, so that the throughput column reads steps per second; for full gradients it is rows.

use std::sync::OnceLock;

use divan::Bencher;
use divan::counter::ItemsCount;
use ergodic_base::settings::{Kind, Value};
use ergodic_core::samplers::{self, Phase, Tick};
use ergodic_core::synthetic;

#[path = "support/case.rs"]
mod case;

use case::Case;

fn main() {
    divan::main();
}

fn small() -> &'static Case {
    static CASE: OnceLock<Case> = OnceLock::new();
    CASE.get_or_init(|| Case::new(synthetic::logit_n1e5_d10(), "logistic"))
}

/// The large set, where it was asked for: it takes 160 MB and a while to make.
fn large() -> Option<&'static Case> {
    static CASE: OnceLock<Option<Case>> = OnceLock::new();
    CASE.get_or_init(|| {
        std::env::var_os("ERGODIC_BENCH_LARGE")
            .map(|_| Case::new(synthetic::logit_n1e6_d20(), "logistic"))
    })
    .as_ref()
}

/// Choices of rows that are compared.
const SCHEMES: [&str; 3] = ["iid", "blocks", "differences"];

/// Sampler, rows per step, choice of rows.
type Step = (&'static str, i64, &'static str);

/// Every registered sampler that takes minibatches of the logistic model.
fn steps() -> Vec<Step> {
    let model = small().model.as_ref();
    let mut all = Vec::new();
    for entry in samplers::REGISTRY {
        let has = |key: &str| entry.spec.fields.iter().any(|field| field.key == key);
        if !has("batch") || (entry.suits)(model).is_err() {
            continue;
        }
        let scheme = entry.spec.fields.iter().find(|field| field.key == "scheme");
        let schemes: Vec<&str> = match scheme.map(|field| field.kind) {
            // Not every sampler has every scheme.
            Some(Kind::Choice(words)) => (words.iter().copied())
                .filter(|word| SCHEMES.contains(word))
                .collect(),
            _ => vec!["own"],
        };
        for batch in [100, 1000, 10_000] {
            all.extend(schemes.iter().map(|scheme| (entry.spec.id, batch, *scheme)));
        }
    }
    all
}

fn bench_steps(bencher: Bencher<'_, '_>, case: &Case, (id, batch, scheme): Step) {
    let mut settings = vec![("batch", Value::Int(batch))];
    if scheme != "own" {
        settings.push(("scheme", Value::Text(scheme.to_owned())));
    }
    let (mut kernel, mut oracle, mut streams, num_info) = case.kernel(id, &settings);
    let mut info = vec![0.0; num_info];
    let mut iter = 0;
    bencher.counter(ItemsCount::new(1_u32)).bench_local(|| {
        let at = Tick {
            iter,
            phase: Phase::Draw,
        };
        iter += 1;
        kernel
            .step(at, &mut oracle, &mut streams, &mut info)
            .expect("a step from the mode succeeds");
    });
}

#[divan::bench(args = steps())]
fn step_n1e5_d10(bencher: Bencher<'_, '_>, which: Step) {
    bench_steps(bencher, small(), which);
}

#[divan::bench(args = steps(), ignore = std::env::var_os("ERGODIC_BENCH_LARGE").is_none())]
fn step_n1e6_d20(bencher: Bencher<'_, '_>, which: Step) {
    if let Some(case) = large() {
        bench_steps(bencher, case, which);
    }
}

fn bench_gradient(bencher: Bencher<'_, '_>, case: &Case) {
    let centre = case.centre();
    let mut oracle = case.oracle(None);
    let mut grad = vec![0.0; case.model.dim()];
    bencher
        .counter(ItemsCount::new(case.model.num_obs()))
        .bench_local(|| oracle.exact(&centre.u, &mut grad));
}

/// Value and gradient over all rows on one thread: the unit of work of NUTS.
#[divan::bench]
fn full_gradient_n1e5_d10(bencher: Bencher<'_, '_>) {
    bench_gradient(bencher, small());
}

#[divan::bench(ignore = std::env::var_os("ERGODIC_BENCH_LARGE").is_none())]
fn full_gradient_n1e6_d20(bencher: Bencher<'_, '_>) {
    if let Some(case) = large() {
        bench_gradient(bencher, case);
    }
}

/// One transition of NUTS from the mode, step size as at the start of warm-up.
#[divan::bench(sample_count = 10)]
fn nuts_transition_n1e5_d10(bencher: Bencher<'_, '_>) {
    let (mut kernel, mut oracle, mut streams, num_info) = small().kernel("nuts", &[]);
    let mut info = vec![0.0; num_info];
    let mut iter = 0;
    bencher.bench_local(|| {
        let phase = Phase::Warmup { length: Some(1000) };
        let at = Tick { iter, phase };
        iter += 1;
        kernel
            .step(at, &mut oracle, &mut streams, &mut info)
            .expect("a transition from the mode succeeds");
    });
}
