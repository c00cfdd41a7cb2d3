//! Time of the summary of 4 chains × 10,000 draws × 100 parameters, draws of an AR(1) process with coefficient 0.9.

use ergodic_base::ParamId;
use ergodic_base::draws::DrawList;
use ergodic_base::{Purpose, stream};
use ergodic_diagnostics::{density, rhat, summarise};
use rand::RngExt as _;
use rand_distr::StandardNormal;

const CHAINS: usize = 4;
const DRAWS: usize = 10_000;
const PARAMS: usize = 100;
const COEFFICIENT: f64 = 0.9;

fn main() {
    divan::main();
}

fn chains(params: usize) -> Vec<DrawList> {
    let innovation = (1.0 - COEFFICIENT * COEFFICIENT).sqrt();
    (0..CHAINS)
        .map(|chain| {
            let mut rng = stream(1, chain, Purpose::Diagnostics);
            let mut state: Vec<f64> = (0..params).map(|_| rng.sample(StandardNormal)).collect();
            let mut list = DrawList::new(params);
            for _ in 0..DRAWS {
                for x in &mut state {
                    *x = COEFFICIENT * *x + innovation * rng.sample::<f64, _>(StandardNormal);
                }
                list.push(&state);
            }
            list
        })
        .collect()
}

#[divan::bench(sample_count = 10)]
fn summary_4x10000x100(bencher: divan::Bencher<'_, '_>) {
    let lists = chains(PARAMS);
    let lists: Vec<&DrawList> = lists.iter().collect();
    let names: Vec<ParamId> = (0..PARAMS).map(|j| format!("b[{j}]").into()).collect();
    bencher.bench_local(|| summarise(&names, divan::black_box(&lists), &[], 1.0));
}

#[divan::bench(sample_count = 20)]
fn rhat_4x10000(bencher: divan::Bencher<'_, '_>) {
    let columns: Vec<Vec<f64>> = chains(1).iter().map(|list| list.column(0)).collect();
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    bencher.bench_local(|| rhat(divan::black_box(&columns)));
}

#[divan::bench(sample_count = 20)]
fn density_4x10000(bencher: divan::Bencher<'_, '_>) {
    let columns: Vec<Vec<f64>> = chains(1).iter().map(|list| list.column(0)).collect();
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    bencher.bench_local(|| density(divan::black_box(&columns), &[], None));
}
