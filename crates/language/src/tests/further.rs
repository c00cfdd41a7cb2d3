//! Tails of the normal distribution, further distributions, categories, and gamma functions of large numbers.
//!
//! Numbers are those of mpmath with 60 digits: `erfc(-x/sqrt(2))/2` for Φ, `loggamma` and `beta` in the densities as they are defined;
//! SciPy's `skewnorm`, `pareto` and `betabinom` have the same in 15.

use super::*;
use ergodic_core::design::ResponseKind;

/// The value of `expression` of `y` and its slope.
fn at(expression: &str, y: f64) -> [f64; 2] {
    let text = format!("parameters\n y: real\ntarget\n {expression}\n");
    let (value, grad) = density(model(&text, &[]).as_ref(), &[y]);
    [value, grad[0]]
}

#[track_caller]
fn close(got: f64, wanted: f64, tolerance: f64, what: &str) {
    let is_close = (got - wanted).abs() <= tolerance * wanted.abs();
    assert!(is_close, "{what}: {got} for {wanted}");
}

#[test]
fn normal_tails_keep_their_digits() {
    // x, Φ, log Φ and φ/Φ.
    for [x, below, log, mills] in [
        [
            -8.0,
            6.220_960_574_271_784e-16,
            -35.013_437_159_914_55,
            8.121_368_112_236_112,
        ],
        [
            -3.0,
            0.001_349_898_031_630_094_6,
            -6.607_726_221_510_35,
            3.283_098_654_930_436_4,
        ],
        [
            -0.5,
            0.308_537_538_725_986_9,
            -1.175_911_761_593_618_5,
            1.141_077_770_368_064_6,
        ],
        [0.0, 0.5, -std::f64::consts::LN_2, 0.797_884_560_802_865_4],
        [
            0.7,
            0.758_036_347_776_927,
            -0.277_023_942_277_131_23,
            0.411_924_750_419_290_66,
        ],
        [
            3.0,
            0.998_650_101_968_369_9,
            -0.001_350_809_964_748_193_8,
            0.004_437_839_042_125_664,
        ],
        [
            9.0,
            1.0,
            -1.128_588_405_953_840_5e-19,
            1.027_977_357_166_891_5e-18,
        ],
    ] {
        let phi = f64::exp(-0.5 * x * x) * 0.398_942_280_401_432_7;
        for (expression, wanted) in [
            ("Phi(y)", [below, phi]),
            ("std_normal_lcdf(y)", [log, mills]),
            ("normal_cdf(3 + 2 * y, 3, 2)", [below, phi]),
            ("normal_lcdf(3 + 2 * y | 3, 2)", [log, mills]),
            ("normal_lccdf(3 - 2 * y | 3, 2)", [log, mills]),
        ] {
            let got = at(expression, x);
            for (got, wanted) in got.into_iter().zip(wanted) {
                close(got, wanted, 1e-14, &format!("{expression} at {x}"));
            }
        }
    }
    // Where Φ itself is no number any more.
    let [log, mills] = at("std_normal_lcdf(y)", -40.0);
    close(log, -804.608_442_013_753_8, 4e-15, "log Φ(-40)");
    close(mills, 40.024_968_847_207_26, 4e-15, "φ/Φ(-40)");
    let [log, mills] = at("std_normal_lcdf(y)", -1e8);
    close(log, -5e15, 1e-14, "log Φ(-1e8)");
    close(mills, 1e8, 1e-14, "φ/Φ(-1e8)");
}

/// SciPy's `logcdf` and `logsf` of `lognorm(0.8, scale=e^0.3)`, `logistic(0.3, 0.8)`, `expon(scale=1/1.3)` and `weibull_min(1.4, scale=2)`, with
/// slopes from its `logpdf`.
#[test]
fn tails_of_other_distributions_have_their_values() {
    for (call, y, below, above) in [
        (
            "lognormal_# (y | 0.3, 0.8)",
            0.7,
            [-1.580_521_756_810_722_2, 2.470_719_849_991_649],
            [-0.230_505_153_193_575_17, -0.640_499_423_199_320_4],
        ),
        (
            "lognormal_# (y | 0.3, 0.8)",
            30.0,
            [-5.298_702_116_022_103_6e-5, 9.069_868_302_594_628e-6],
            [-9.845_490_051_564_088, -0.171_166_972_844_921_72],
        ),
        (
            "logistic_# (y | 0.3, 0.8)",
            0.7,
            [-0.474_076_984_180_106_7, 0.471_925_835_997_681_8],
            [-0.974_076_984_180_106_7, -0.778_074_164_002_318_2],
        ),
        (
            "logistic_# (y | 0.3, 0.8)",
            30.0,
            [-7.530_388_099_325_974e-17, 9.412_985_124_157_467e-17],
            [-37.125, -1.25],
        ),
        (
            "exponential_# (y | 1.3)",
            0.7,
            [-0.515_041_538_314_042, 0.875_820_430_372_035_5],
            [-0.91, -1.3],
        ),
        (
            "exponential_# (y | 1.3)",
            30.0,
            [-1.154_822_417_301_578_6e-17, 1.501_269_142_492_052_4e-17],
            [-39.0, -1.3],
        ),
        (
            "weibull_# (y | 1.4, 2)",
            0.7,
            [-1.582_539_483_650_274_4, 1.778_824_833_263_279_2],
            [-0.229_982_749_671_914_32, -0.459_965_499_343_828_7],
        ),
        (
            "weibull_# (y | 1.4, 2)",
            30.0,
            [-5.691_920_845_957_113e-20, 1.177_045_891_146_803_8e-19],
            [-44.312_654_085_941_65, -2.067_923_857_343_933],
        ),
    ] {
        for (tail, wanted) in [("lcdf", below), ("lccdf", above)] {
            let call = call.replace("# ", tail);
            for (got, wanted) in at(&call, y).into_iter().zip(wanted) {
                close(got, wanted, 1e-11, &format!("{call} at {y}"));
            }
        }
    }
}

#[test]
fn error_functions_and_differences_of_logarithms_have_their_values() {
    for [x, erf, erfc] in [
        [-0.5, -0.520_499_877_813_046_5, 1.520_499_877_813_046_5],
        [0.7, 0.677_801_193_837_418_5, 0.322_198_806_162_581_5],
        [3.0, 0.999_977_909_503_001_4, 2.209_049_699_858_544e-5],
        [9.0, 1.0, 4.137_031_746_513_81e-37],
    ] {
        let slope = f64::exp(-x * x) * std::f64::consts::FRAC_2_SQRT_PI;
        for (expression, wanted) in [("erf(y)", [erf, slope]), ("erfc(y)", [erfc, -slope])] {
            for (got, wanted) in at(expression, x).into_iter().zip(wanted) {
                close(got, wanted, 1e-13, &format!("{expression} at {x}"));
            }
        }
    }
    for [x, value, slope] in [
        [-30.0, -9.357_622_968_840_612e-14, -9.357_622_968_841_05e-14],
        [-2.0, -0.145_413_457_868_859_06, -0.156_517_642_749_665_65],
        [-0.6, -0.795_870_368_346_319_6, -1.216_369_215_160_870_7],
        [-0.1, -2.352_168_461_044_09, -9.508_331_944_775_05],
        [-1e-10, -23.025_850_929_990_458, -9_999_999_999.5],
    ] {
        for (expression, more) in [("log1m_exp(y)", 0.0), ("log_diff_exp(2, 2 + y)", 2.0)] {
            let got = at(expression, x);
            // 2 + y has lost digits of a small y already.
            let tolerance = if more > 0.0 { 1e-5 } else { 1e-14 };
            close(got[0], value + more, tolerance, expression);
            close(got[1], slope, tolerance, expression);
        }
    }
    // The probability of an interval far out, where differences of probabilities are 0.
    let [value, slope] = at(
        "log_diff_exp(normal_lcdf(y + 0.01 | 0, 1), normal_lcdf(y | 0, 1))",
        -40.0,
    );
    close(value, -805.317_469_269_835_6, 1e-14, "interval");
    close(slope, 39.994_667_594_620_84, 1e-10, "interval");
}

#[test]
fn further_densities_have_their_values() {
    for (expression, y, wanted) in [
        (
            "skew_normal_lpdf(y | -0.3, 1.5, 2)",
            0.4,
            -0.932_909_979_827_473_4,
        ),
        (
            "skew_normal_lpdf(y | -0.3, 1.5, 8)",
            -6.0,
            -474.265_716_754_432_84,
        ),
        ("pareto_lpdf(y | 1.2, 2.5)", 3.0, -2.473_048_386_479_342),
        (
            "beta_binomial_lpmf(y | 12, 1.7, 0.6)",
            3.0,
            -3.444_890_562_874_171_3,
        ),
        (
            "beta_binomial_lpmf(y | 5, 0.2, 3)",
            0.0,
            -0.213_510_098_249_971_66,
        ),
        (
            "beta_binomial_lpmf(y | 100, 4e6, 6e6)",
            40.0,
            -2.510_609_283_766_404,
        ),
        (
            "beta_binomial_lpmf(y | 100, 4e11, 6e11)",
            40.0,
            -2.510_604_283_841_14,
        ),
        (
            "std_normal_lpdf(y)",
            1.5,
            -0.5 * 2.25 - 0.918_938_533_204_672_7,
        ),
        ("double_exponential_lpdf(y, 1, 2)", 4.0, -1.5 - 4.0_f64.ln()),
    ] {
        close(at(expression, y)[0], wanted, 2e-12, expression);
    }
    // Nothing lies below the bound, which is that of the parameter too.
    assert_eq!(at("pareto_lpdf(y | 1.2, 2.5)", 1.1)[0], f64::NEG_INFINITY);
    let bounded = model("parameters\n y ~ pareto(1.2, 2.5)\n", &[]);
    let mut theta = [0.0];
    bounded.constrain(&[-0.4], &mut theta);
    near(&theta, &[1.2 + (-0.4_f64).exp()], 1e-14, "pareto");
    assert!(
        refusal("parameters\n m ~ exponential(1)\n y ~ pareto(m, 2)\n", &[])
            .contains("needs a fixed one below it")
    );
}

#[test]
fn gamma_functions_of_large_numbers_lose_no_digits() {
    // φ or ν; then the tolerance: below 1e5 logarithms near 1e6 are subtracted.
    for (large, tolerance, of_counts, of_log, of_t) in [
        (
            9e4,
            1e-9,
            -2.496_623_750_915_396,
            -2.506_854_088_213_193,
            -1.622_581_532_417_824_3,
        ),
        (
            1e8,
            1e-12,
            -2.496_619_587_381_496,
            -2.506_850_434_694_03,
            -1.622_577_168_820_458_4,
        ),
        (
            1e10,
            1e-12,
            -2.496_619_583_668_996,
            -2.506_850_431_436_384_4,
            -1.622_577_164_928_988_4,
        ),
        (
            1e15,
            1e-12,
            -2.496_619_583_631_496,
            -2.506_850_431_403_479_6,
            -1.622_577_164_889_681,
        ),
    ] {
        for (expression, wanted) in [
            ("neg_binomial_2_lpmf(7 | 4.5, y)", of_counts),
            ("neg_binomial_2_log_lpmf(7 | 1.5, y)", of_log),
            ("student_t_lpdf(1.3 | y, 0.3, 1.7)", of_t),
        ] {
            // As a number of the text, and as a parameter.
            let constant = expression.replace('y', &format!("{large:?}"));
            let constant = at(&format!("0 * y + {constant}"), 1.0)[0];
            let [value, slope] = at(expression, large);
            close(constant, wanted, tolerance, expression);
            close(value, wanted, tolerance, expression);
            assert!(
                slope.abs() <= 10.0 / large,
                "{expression} at {large}: {slope}"
            );
        }
    }
    // d/dφ = 0.37505…/φ².
    let [_, slope] = at("neg_binomial_2_lpmf(7 | 4.5, y)", 2e5);
    close(slope, 0.375_049_997_233_313_2 / 4e10, 1e-4, "slope");
    // Both ways of it are one where they meet.
    for expression in [
        "neg_binomial_2_lpmf(7 | 4.5, y)",
        "neg_binomial_2_log_lpmf(7 | 1.5, y)",
        "student_t_lpdf(1.3 | 2 * y, 0.3, 1.7)",
        "beta_binomial_lpmf(4 | 9, y, y)",
    ] {
        let (below, above) = (at(expression, 99_999.999_999), at(expression, 100_000.0));
        close(below[0], above[0], 1e-8, expression);
    }
}

fn categories() -> Vec<(String, Predictor)> {
    let rows = [0.4, -1.1, 2.0, 0.3, -0.6];
    vec![
        numbers("x", &rows),
        group("plan", &["basic", "plus", "pro"], &[2, 0, 1, 2, 1]),
        numbers("place", &[3.0, 1.0, 2.0, 3.0, 2.0]),
    ]
}

#[test]
fn categories_have_the_probabilities_of_a_softmax() {
    let text = |outcome: &str, law: &str| {
        format!("parameters\n a ~ normal(0, 1)\n b ~ normal(0, 1)\nrows\n {outcome} ~ {law}\n")
    };
    let of = |outcome: &str| {
        let law = "categorical_logit([0, a + b * x, 0.5 - b * x])";
        model(&text(outcome, law), &categories())
    };
    let u = [0.3, -0.8];
    let (named, numbered) = (of("plan"), of("place"));
    let (value, grad) = density(named.as_ref(), &u);
    assert_eq!(density(numbered.as_ref(), &u), (value, grad.clone()));
    let prior = -0.5 * (0.09 + 0.64) - 2.0 * 0.918_938_533_204_672_7;
    let rows = [(0.4, 3), (-1.1, 1), (2.0, 2), (0.3, 3), (-0.6, 2)];
    let by_hand: f64 = (rows.iter())
        .map(|&(x, k): &(f64, usize)| {
            let logits = [0.0, u[0] + u[1] * x, 0.5 - u[1] * x];
            logits[k - 1] - logits.iter().map(|it| it.exp()).sum::<f64>().ln()
        })
        .sum();
    near(&[value], &[prior + by_hand], 1e-14, "softmax");
    near(
        &grad,
        &slopes(&u, |u| density(named.as_ref(), u).0),
        1e-8,
        "slopes",
    );
    // The names of the categories are those of the column, of numbers these.
    for (model, first) in [(&named, "basic"), (&numbered, "1")] {
        let observation = model.observation().unwrap();
        let ResponseKind::Unordered { levels } = &observation.response().kind else {
            panic!("{:?}", observation.response());
        };
        assert_eq!((levels.len(), levels[0].as_str()), (3, first));
        assert!(observation.refusal().unwrap().contains("has no mean"));
        let counts: Vec<usize> = observation
            .response()
            .counts
            .iter()
            .map(|it| it.1)
            .collect();
        assert_eq!(counts, [1, 2, 2]);
    }
    // Probabilities as they are.
    let shares = model(&text("plan", "categorical([0.2, 0.5, 0.3])"), &categories());
    let wanted = 0.2_f64.ln() + 2.0 * 0.5_f64.ln() + 2.0 * 0.3_f64.ln();
    near(
        &[density(shares.as_ref(), &u).0],
        &[prior + wanted],
        1e-14,
        "shares",
    );
    let [value, _] = at("categorical_lpmf(2, [0.2, 0.5, 0.3]) + 0 * y", 0.0);
    near(&[value], &[0.5_f64.ln()], 1e-15, "one");
}

#[test]
fn categories_that_do_not_go_with_their_vector_are_refused() {
    let refused = |rows: &str| {
        let text = format!("parameters\n a ~ normal(0, 1)\nrows\n {rows}\n");
        let program = Program::parse(&text);
        let made = program.and_then(|program| program.model_of(&categories(), 5));
        made.err().map(|error| error.message).unwrap_or_default()
    };
    for (rows, wanted) in [
        (
            "plan ~ categorical_logit([0, a])",
            "`plan` has 3 categories, but 2 numbers are given for them; give one for each, in the order basic, plus, pro",
        ),
        (
            "place ~ categorical_logit([0, a])",
            "Here are 2 categories, which are numbered from 1 to 2, but this is 3",
        ),
        (
            "plan ~ categorical_logit(a)",
            "A vector with a number for each category is needed here",
        ),
        (
            "plan ~ categorical([0.2, 0.5, 0.4])",
            "Probabilities are at least 0 and sum to 1, but the sum of these is 1.1",
        ),
        ("x ~ categorical_logit([0, a, 1])", "Here are 3 categories"),
        (
            "x ~ normal(a * (plan == \"pro\"), 1)\n plan ~ categorical_logit([0, a, 1])",
            "`plan` is used as",
        ),
        (
            "x ~ normal(normal_cdf(x, a, -1), 1)",
            "`sigma` of `normal` has to be above 0, but this is -1",
        ),
    ] {
        assert!(
            refused(rows).starts_with(wanted),
            "{rows}: {}",
            refused(rows)
        );
    }
}

/// A row that is known to lie above a limit alone, and a probit.
#[test]
fn censored_outcomes_and_probits_can_be_written() {
    let table = [
        numbers("y", &[0.4, 2.0, 1.1, 2.0]),
        numbers("censored", &[0.0, 1.0, 0.0, 1.0]),
        numbers("yes", &[1.0, 0.0, 0.0, 1.0]),
    ];
    let text = "parameters\n m: real\n s: positive\nrows\n where(censored, normal_lccdf(y | m, s), normal_lpdf(y | m, s))\n yes ~ bernoulli(Phi(m + y))\n";
    let model = model(text, &table);
    let u = [0.7, 0.2];
    let (value, grad) = density(model.as_ref(), &u);
    let (m, s) = (0.7, 0.2_f64.exp());
    let below = |x: f64| 0.5 * statrs::function::erf::erfc(-x / std::f64::consts::SQRT_2);
    let seen = |y: f64| -0.5 * ((y - m) / s).powi(2) - 0.2 - 0.918_938_533_204_672_7;
    let beyond = below((m - 2.0) / s).ln();
    let probit =
        below(m + 0.4).ln() + below(-m - 2.0).ln() + below(-m - 1.1).ln() + below(m + 2.0).ln();
    // The coordinate of a number above 0 brings its Jacobian.
    near(
        &[value],
        &[seen(0.4) + seen(1.1) + 2.0 * beyond + probit + 0.2],
        1e-12,
        "value",
    );
    near(
        &grad,
        &slopes(&u, |u| density(model.as_ref(), u).0),
        1e-8,
        "slopes",
    );
}

#[test]
fn stan_has_them_by_its_names() {
    let text = "parameters
  a ~ std_normal()
  d ~ double_exponential(0, 1)
  m ~ pareto(1.5, 3)
  k ~ skew_normal(0, 1, 2)
rows
  plan ~ categorical_logit([0, a, d * x])
  place ~ categorical([0.25, 0.25, 0.5])
  std_normal_lcdf(a) + normal_lccdf(x | a, m) + log_diff_exp(a, k) + erf(a) + Phi(k)
  weibull_lccdf(m | 2, m) + exponential_lcdf(m | m)
";
    let stan = Program::parse(text)
        .unwrap()
        .stan_of(&categories(), 5)
        .unwrap();
    for line in [
        "a ~ std_normal();",
        "d ~ double_exponential(0.0, 1.0);",
        "m ~ pareto(1.5, 3.0);",
        "k ~ skew_normal(0.0, 1.0, 2.0);",
        "plan[n] ~ categorical_logit([0.0, a, d * x[n]]');",
        "place[n] ~ categorical([0.25, 0.25, 0.5]');",
        "array[N] int<lower=1> place;",
        "array[N] int<lower=1, upper=3> plan;  // 1 basic, 2 plus, 3 pro",
        "normal_lcdf(a | 0, 1) + normal_lccdf(x[n] | a, m) + log_diff_exp(a, k) + erf(a) + Phi(k)",
        "weibull_lccdf(m | 2.0, m) + exponential_lcdf(m | m)",
        "real<lower=1.5> m;",
    ] {
        assert!(stan.contains(line), "{line}\n{stan}");
    }
}

/// Draws of categories have their probabilities, of either kind.
#[test]
fn drawn_categories_have_their_probabilities() {
    use ergodic_base::{Purpose, stream};
    const DRAWS: usize = 40_000;
    let shares: [f64; 3] = [0.2, 0.5, 0.3];
    let logits = shares.map(|share| 3.0 + share.ln());
    for (name, numbers) in [("categorical", shares), ("categorical_logit", logits)] {
        let draw = crate::distributions::find(name).unwrap().draw.unwrap();
        let mut rng = stream(5, 0, Purpose::Predictive);
        let mut counts = [0_usize; 3];
        for _ in 0..DRAWS {
            counts[draw(&numbers, &mut rng) as usize - 1] += 1;
        }
        for (count, share) in counts.into_iter().zip(shares) {
            let error = (share * (1.0 - share) / DRAWS as f64).sqrt();
            let found = count as f64 / DRAWS as f64;
            assert!(
                (found - share).abs() < 4.0 * error,
                "{name}: {found} {share}"
            );
        }
    }
}
