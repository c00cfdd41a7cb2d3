//! Numbers that a distribution never has: constants, and parameters where a chain would start.

use super::*;

#[test]
fn a_start_without_a_density_names_its_line_and_number() {
    let columns = [
        numbers("x", &[1.0, 2.0, 3.0]),
        numbers("y", &[1.0, 3.0, 2.0]),
    ];
    for (text, u, sentence) in [
        (
            "parameters\n a ~ normal(0, 1)\n s ~ normal(0, 1)\nrows\n y ~ normal(a, s)\n",
            &[0.5, -0.4][..],
            "`sigma` of `normal` is -0.4 where the chain would start, but has to be above 0; declare `s: positive` (line 5",
        ),
        (
            "parameters\n a ~ normal(0, 1)\nrows\n y ~ student_t(a - 1, 0, 1)\n",
            &[0.5],
            "`nu` of `student_t` is -0.5 where the chain would start, but has to be above 0; give what it is made of bounds",
        ),
        (
            "parameters\n a ~ normal(0, 1)\nrows\n y / 3 ~ normal(a / 0, 1)\n",
            &[0.5],
            "`mu` of `normal` is inf where the chain would start, but has to be a finite number (line 4",
        ),
        (
            "parameters\n p ~ normal(0, 1)\ntarget\n binomial_lpmf(2, 3, p)\n",
            &[1.5],
            "`p` of `binomial` is 1.5 where the chain would start, but has to be between 0 and 1; declare `p in (0, 1)` (line 4",
        ),
        (
            "parameters\n c: vector(3) ~ normal(0, 1)\nrows\n y ~ ordered_logistic(0, c)\n",
            &[0.0, 1.0, 0.5],
            "The 3rd threshold of `ordered_logistic` is not above the one before",
        ),
        (
            "parameters\n a ~ normal(0, 1)\ntarget\n log(a)\n",
            &[-0.5],
            "The log density of this line is not a finite number where the chain would start",
        ),
        (
            "parameters\n s ~ normal(0, 1)\nrows\n y ~ normal(0, s * x)\n",
            &[-0.4],
            "The log density of this line is not a finite number where the chain would start",
        ),
    ] {
        let model = model(text, &columns);
        let at_start = model.density().unwrap();
        let why = at_start.why_undefined(u).unwrap();
        assert!(why.contains(sentence), "{why}");
        assert!(why.contains("(line 4") || why.contains("(line 5"), "{why}");
    }
    let fine = model("parameters\n a ~ normal(0, 1)\n", &[]);
    assert_eq!(fine.density().unwrap().why_undefined(&[0.3]), None);
}

#[test]
fn constants_out_of_a_parameters_limits_are_refused() {
    let y = [numbers("y", &[1.0, 0.0, 1.0, 0.0])];
    for (line, sentence) in [
        (
            "y ~ normal(a, -1)",
            "4:6: `sigma` of `normal` has to be above 0, but this is -1",
        ),
        (
            "y ~ normal(a, 0)",
            "`sigma` of `normal` has to be above 0, but this is 0",
        ),
        (
            "y ~ bernoulli(1.5)",
            "`p` of `bernoulli` has to be between 0 and 1, but this is 1.5",
        ),
        (
            "gamma_lpdf(exp(a), -2, 1)",
            "`shape` of `gamma` has to be above 0, but this is -2",
        ),
    ] {
        let text = format!("parameters\n a ~ normal(0, 1)\nrows\n {line}\n");
        let why = refusal(&text, &y);
        assert!(why.contains(sentence), "{why}");
    }
    let why = refusal("parameters\n a ~ normal(0, -1)\n", &[]);
    assert!(why.contains("`sigma` of `normal`"), "{why}");
}
