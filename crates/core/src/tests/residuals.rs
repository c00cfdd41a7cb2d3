//! Remarks on residuals at the mode.

use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

use crate::design::ResponseUse;
use crate::estimators::find_mode;
use crate::models::{DefaultPriors, ModelOptions};
use crate::testing::{built_by, table_of};
use ergodic_base::{ChainRng, Control, Purpose, Reporter, Warning, stream};

/// Remarks on y ~ x + b at the mode, y = 2 + 3x plus `more` of x and of the row.
fn remarks(n: usize, rng: &mut ChainRng, more: impl Fn(usize, f64) -> f64) -> Vec<Warning> {
    let x: Vec<f64> = (0..n).map(|_| 4.0 * rng.random::<f64>()).collect();
    let b: Vec<f64> = (0..n)
        .map(|_| f64::from(u8::from(rng.random::<bool>())))
        .collect();
    let y = x.iter().enumerate();
    let y = y.map(|(i, x)| {
        let noise: f64 = StandardNormal.sample(rng);
        2.0 + 3.0 * x + noise + more(i, *x)
    });
    let table = table_of(vec![("y", y.collect()), ("x", x.clone()), ("b", b)]);
    let options = ModelOptions {
        standardize: true,
        defaults: DefaultPriors::WeaklyInformative,
        ..ModelOptions::default()
    };
    let model = built_by("linear", &table, "y ~ x + b", ResponseUse::Number, &options).unwrap();
    let mode = find_mode(model.as_ref(), &Control::default()).unwrap();
    let mut reporter = Reporter::default();
    model.remark(&mode.centre.u, &mut reporter);
    reporter.warnings
}

/// One in a hundred for outliers and one in a hundred for a bend, which must explain a twentieth besides.
#[test]
fn normal_noise_is_rarely_remarked_on() {
    const SETS: usize = 400;
    for n in [15, 40, 200] {
        let mut rng = stream(11, n, Purpose::Data);
        let found: Vec<Warning> = (0..SETS)
            .flat_map(|_| remarks(n, &mut rng, |_, _| 0.0))
            .collect();
        let expected = 0.02 * SETS as f64;
        let limit = expected + 4.0 * expected.sqrt();
        assert!(
            (found.len() as f64) < limit,
            "{n}: {} of {SETS}",
            found.len()
        );
    }
}

#[test]
fn rows_far_from_the_fit_are_counted() {
    let mut rng = stream(12, 0, Purpose::Data);
    let far = remarks(200, &mut rng, |i, _| if i < 4 { 1e4 } else { 0.0 });
    let [warning] = &far[..] else {
        panic!("{far:?}");
    };
    assert_eq!(warning.code, "outliers");
    assert!(
        warning.message.starts_with("4 of 200 rows lie "),
        "{}",
        warning.message
    );
    // Student t noise of two degrees of freedom.
    let heavy = remarks(400, &mut rng, |i, _| {
        let u = (i as f64 + 0.5) / 400.0;
        2.0 * (2.0 * u - 1.0) / (2.0 * u * (1.0 - u)).sqrt()
    });
    assert_eq!(heavy[0].code, "outliers");
}

#[test]
fn a_bend_is_told_with_its_predictor() {
    let mut rng = stream(13, 0, Purpose::Data);
    let bent = remarks(200, &mut rng, |_, x| 1.2 * (x - 2.0).powi(2));
    let [warning] = &bent[..] else {
        panic!("{bent:?}");
    };
    assert_eq!(
        (warning.code.as_str(), warning.subject.as_deref()),
        ("bend", Some("x"))
    );
    // A bend that is certain, but of no size.
    let slight = remarks(20_000, &mut rng, |_, x| 0.1 * (x - 2.0).powi(2));
    assert!(slight.is_empty(), "{slight:?}");
}
