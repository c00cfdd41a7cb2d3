// Hidden units have no order, so chains disagree about their numbers: compare only what does not depend on these.
data {
  int<lower=1> N;
  matrix[N, 2] x;  // x, z
  array[N] int<lower=1, upper=3> y;  // a, b, c
  vector<lower=0>[N] weight;
}
parameters {
  // weights in units of their prior standard deviation
  matrix[3, 2] hidden;  // weights of predictors in hidden units
  vector[2] hidden_bias_2;  // intercepts of hidden units of layer 2
  matrix[2, 3] hidden_2;  // weights of hidden units of layer 1 in those of layer 2
  vector[3] output_bias;  // intercepts of levels
  matrix[3, 2] output;  // weights of hidden units in levels
  real<lower=0> precision_hidden;
  real<lower=0> precision_hidden_bias_2;
  real<lower=0> precision_hidden_2;
  real<lower=0> precision_output_bias;
  real<lower=0> precision_output;
}
model {
  matrix[N, 3] s = x * hidden' / sqrt(precision_hidden);
  to_vector(hidden) ~ std_normal();
  hidden_bias_2 ~ std_normal();
  to_vector(hidden_2) ~ std_normal();
  output_bias ~ std_normal();
  to_vector(output) ~ std_normal();
  precision_hidden ~ gamma(1, 1);
  precision_hidden_bias_2 ~ gamma(1, 1);
  precision_hidden_2 ~ lognormal(0, 0.5);
  precision_output_bias ~ gamma(1, 1);
  precision_output ~ gamma(1, 1);
  for (i in 1:N) {
    vector[3] h = tanh(s[i]');
    vector[2] h2 = tanh(hidden_bias_2 / sqrt(precision_hidden_bias_2) + hidden_2 * h / sqrt(precision_hidden_2));
    vector[3] r = output_bias / sqrt(precision_output_bias) + output * h2 / sqrt(precision_output);
    target += weight[i] * categorical_logit_lpmf(y[i] | r);
  }
}
