use rand::RngExt as _;
use rand_distr::StandardNormal;

use super::*;
use ergodic_base::{Purpose, stream};

/// Autocorrelated draws of N(μ, Σ) in two dimensions with sd 2 and 0.5 and correlation 0.6, and their gradients.
struct Normal {
    chains: Vec<DrawList>,
    points: Vec<Points>,
}

const MEAN: [f64; 2] = [3.0, -1.0];
const SD: [f64; 2] = [2.0, 0.5];
const CORRELATION: f64 = 0.6;

impl Normal {
    /// `noise` is the sd of the error of the gradients.
    fn new(seed: u64, chains: usize, draws: usize, noise: f64) -> Self {
        let mut this = Self {
            chains: Vec::new(),
            points: Vec::new(),
        };
        for chain in 0..chains {
            let mut rng = stream(seed, chain, Purpose::Diagnostics);
            let mut normal = || -> f64 { rng.sample(StandardNormal) };
            let (mut list, mut points) = (DrawList::new(2), Points::default());
            let mut z = [normal(), normal()];
            for _ in 0..draws {
                for z in &mut z {
                    *z = 0.6 * *z + 0.8 * normal();
                }
                let rest = (1.0 - CORRELATION * CORRELATION).sqrt();
                let x = [z[0], CORRELATION * z[0] + rest * z[1]];
                let u = [MEAN[0] + SD[0] * x[0], MEAN[1] + SD[1] * x[1]];
                let pull = [
                    (CORRELATION * x[1] - x[0]) / (rest * rest),
                    (CORRELATION * x[0] - x[1]) / (rest * rest),
                ];
                list.push(&u);
                points.positions.extend(u);
                points
                    .gradients
                    .extend([0, 1].map(|j| pull[j] / SD[j] + noise * normal()));
            }
            this.chains.push(list);
            this.points.push(points);
        }
        this
    }

    fn correct(&self, order: Order, weights: &[Vec<f64>]) -> ZeroVariance {
        let lists: Vec<&DrawList> = self.chains.iter().collect();
        let names = ["a".into(), "b".into()];
        correct(&names, &lists, weights, &self.points, 2, order).unwrap()
    }
}

#[test]
fn linear_controls_leave_no_error_in_means_and_quadratic_ones_none_in_variances() {
    let normal = Normal::new(1, 2, 500, 0.0);
    let linear = normal.correct(Order::Linear, &[]);
    let quadratic = normal.correct(Order::Quadratic, &[]);
    assert_eq!((linear.controls, quadratic.controls), (2, 5));
    for j in 0..2 {
        for row in [&linear.rows[j], &quadratic.rows[j]] {
            assert!((row.mean.unwrap() - MEAN[j]).abs() < 1e-8, "{row:?}");
            assert!(row.mcse_mean.unwrap() < 1e-8, "{row:?}");
            assert!(row.gain.unwrap() > 1e10);
        }
        let (first, second) = (&linear.rows[j], &quadratic.rows[j]);
        assert!((second.sd.unwrap() - SD[j]).abs() < 1e-8, "{second:?}");
        assert!(second.mcse_sd.unwrap() < 1e-8);
        // Linear controls know nothing of spread.
        assert!(first.mcse_sd.unwrap() > 0.01 * SD[j]);
        assert!(first.gain_sd.unwrap() < 2.0);
    }
}

/// The draws of another distribution under weights: the zero variance remains, also for signed ones.
#[test]
fn weights_keep_the_exactness() {
    let normal = Normal::new(2, 2, 400, 0.0);
    let weights: Vec<Vec<f64>> = (0..2)
        .map(|c| {
            (0..400)
                .map(|i| {
                    if (i + c) % 5 == 0 {
                        -0.5
                    } else {
                        1.0 + (i % 7) as f64
                    }
                })
                .collect()
        })
        .collect();
    let quadratic = normal.correct(Order::Quadratic, &weights);
    for (j, row) in quadratic.rows.iter().enumerate() {
        assert!((row.mean.unwrap() - MEAN[j]).abs() < 1e-7, "{row:?}");
        assert!((row.sd.unwrap() - SD[j]).abs() < 1e-7, "{row:?}");
    }
}

#[test]
fn running_moments_are_those_of_the_whole_and_merge() {
    let mut rng = stream(3, 0, Purpose::Diagnostics);
    let (p, r, n) = (7, 3, 150);
    let rows: Vec<(f64, Vec<f64>, Vec<f64>)> = (0..n)
        .map(|_| {
            let mut draw = |len: usize| -> Vec<f64> {
                (0..len)
                    .map(|_| rng.sample::<f64, _>(StandardNormal))
                    .collect()
            };
            let (h, noise) = (draw(p), draw(r));
            let f: Vec<f64> = (0..r).map(|q| 2.0 * h[q] - h[q + 1] + noise[q]).collect();
            (0.5 + rng.random::<f64>(), h, f)
        })
        .collect();
    let of = |rows: &[(f64, Vec<f64>, Vec<f64>)]| {
        let mut moments = Moments::new(p, r);
        for (w, h, f) in rows {
            moments.push(*w, h, f);
        }
        moments
    };
    let (mut whole, mut part) = (of(&rows), of(&rows[..61]));
    part.add(&mut of(&rows[61..]));
    let (whole, merged) = (whole.coefficients(0.0), part.coefficients(0.0));
    // The same in one batch: centred normal equations, two passes.
    let total: f64 = rows.iter().map(|row| row.0).sum();
    type Row = (f64, Vec<f64>, Vec<f64>);
    let mean = |value: &dyn Fn(&Row) -> f64| {
        rows.iter().map(|row| row.0 * value(row)).sum::<f64>() / total
    };
    let centre: Vec<f64> = (0..p).map(|j| mean(&|row| row.1[j])).collect();
    let mut matrix = vec![0.0; p * p];
    for j in 0..p {
        for k in 0..p {
            matrix[j * p + k] = mean(&|row| (row.1[j] - centre[j]) * (row.1[k] - centre[k]));
        }
    }
    let factor = Cholesky::of(&matrix, p).unwrap();
    for q in 0..r {
        let middle = mean(&|row| row.2[q]);
        let mut b: Vec<f64> = (0..p)
            .map(|j| mean(&|row| (row.1[j] - centre[j]) * (row.2[q] - middle)))
            .collect();
        factor.solve(&mut b);
        for j in 0..p {
            assert!((whole[q * p + j] - b[j]).abs() < 1e-9);
            assert!((merged[q * p + j] - b[j]).abs() < 1e-9);
        }
    }
}

/// ψ(4) and sqrt(ψ'(4)): mean and sd of u = log x with x ~ Gamma(4).
const LOG_GAMMA: (f64, f64) = (1.256_117_668_431_800_5, 0.532_750_368_118_107);

/// Draws of u, whose gradient is 4 - x plus noise: nothing is exact, everything is to be unbiased.
fn log_gamma(seed: u64, chains: usize, draws: usize, noise: f64) -> (Vec<DrawList>, Vec<Points>) {
    let shape = 4.0;
    let gamma = rand_distr::Gamma::new(shape, 1.0).unwrap();
    (0..chains)
        .map(|chain| {
            let mut rng = stream(seed, chain, Purpose::Diagnostics);
            let (mut list, mut points) = (DrawList::new(1), Points::default());
            for _ in 0..draws {
                let x: f64 = rng.sample(gamma);
                let error: f64 = rng.sample(StandardNormal);
                list.push(&[x.ln()]);
                points.positions.push(x.ln());
                points.gradients.push(shape - x + noise * error);
            }
            (list, points)
        })
        .unzip()
}

fn corrected(seed: u64, draws: usize, noise: f64, order: Order) -> ZeroVarianceRow {
    let (lists, points) = log_gamma(seed, 2, draws, noise);
    let lists: Vec<&DrawList> = lists.iter().collect();
    let names = ["x".into()];
    let all = correct(&names, &lists, &[], &points, 1, order).unwrap();
    all.rows.into_iter().next().unwrap()
}

/// Means over many short runs, with exact and with noisy gradients: no bias, and errors that cover. The floors lie three
/// standard errors below the coverage that an independent program finds for these cases.
#[test]
fn corrected_means_are_unbiased_and_their_errors_cover() {
    let seeds = 500;
    for (noise, draws, floors) in [
        (0.0, 60, [0.84, 0.83]),
        (2.0, 60, [0.915, 0.87]),
        (0.0, 200, [0.90, 0.89]),
    ] {
        let rows: Vec<ZeroVarianceRow> = (0..seeds)
            .map(|seed| corrected(1000 + seed, draws, noise, Order::Quadratic))
            .collect();
        let means: Vec<f64> = rows.iter().map(|row| row.mean.unwrap()).collect();
        let (mean, variance) = mean_and_variance(&means);
        let error = (variance / seeds as f64).sqrt();
        assert!(
            (mean - LOG_GAMMA.0).abs() < 4.0 * error,
            "{noise}: {mean} ± {error}"
        );
        let share = |inside: &dyn Fn(&ZeroVarianceRow) -> bool| {
            rows.iter().filter(|row| inside(row)).count() as f64 / seeds as f64
        };
        let covers = |value: Option<f64>, error: Option<f64>, truth: f64| {
            value
                .zip(error)
                .is_some_and(|(value, error)| (value - truth).abs() < 1.96 * error)
        };
        let of_mean = share(&|row| covers(row.mean, row.mcse_mean, LOG_GAMMA.0));
        let of_sd = share(&|row| covers(row.sd, row.mcse_sd, LOG_GAMMA.1));
        assert!(of_mean > floors[0], "{noise}, {draws}: mean {of_mean}");
        assert!(of_sd > floors[1], "{noise}, {draws}: sd {of_sd}");
    }
}

#[test]
fn gains_are_those_of_the_correlation_and_noise_in_gradients_lowers_them() {
    let gain = |noise, order| corrected(7, 4000, noise, order).gain.unwrap();
    // Cov(log x, x) = 1 and Var(x) = 4, so that linear controls explain 1 / (ψ'(4) (4 + noise²)) of the variance.
    for noise in [0.0, 2.0, 100.0] {
        let explained = 1.0 / (LOG_GAMMA.1.powi(2) * (4.0 + noise * noise));
        let linear = gain(noise, Order::Linear);
        assert!(
            (linear * (1.0 - explained) - 1.0).abs() < 0.15,
            "{noise}: {linear}"
        );
    }
    assert!(gain(0.0, Order::Quadratic) > 3.0 * gain(0.0, Order::Linear));
    assert!(gain(100.0, Order::Quadratic) > 0.95);
}

#[test]
fn few_draws_are_said_and_too_few_refused() {
    let normal = Normal::new(4, 2, 40, 0.1);
    assert_eq!(normal.correct(Order::Quadratic, &[]).ridge, None);
    let short = Normal::new(4, 1, 20, 0.1);
    let quadratic = short.correct(Order::Quadratic, &[]);
    assert_eq!(quadratic.ridge, Some(5.0 / 10.0));
    assert!(quadratic.rows.iter().all(|row| row.gain.unwrap() > 1.0));
    assert_eq!(short.correct(Order::Linear, &[]).ridge, None);
    let lists: Vec<&DrawList> = normal.chains.iter().collect();
    let names = ["a".into(), "b".into()];
    let few = Normal::new(4, 2, 19, 0.1);
    let few_lists: Vec<&DrawList> = few.chains.iter().collect();
    assert_eq!(
        correct(&names, &few_lists, &[], &few.points, 2, Order::Linear),
        Err(ZeroVarianceError::TooFew(19))
    );
    let mut broken = normal.points.clone();
    broken[1].gradients[2 * 7 + 1] = f64::NAN;
    assert_eq!(
        correct(&names, &lists, &[], &broken, 2, Order::Linear),
        Err(ZeroVarianceError::NotFinite { chain: 2, draw: 8 })
    );
    assert!(matches!(
        correct(&names, &lists, &[], &normal.points, 100, Order::Quadratic),
        Err(ZeroVarianceError::TooMany(100, 5150))
    ));
}
